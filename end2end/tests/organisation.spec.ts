import { expect, test } from "../support/test.js";

// What an admin, a team lead and finance do on the organisation's pages. All tests of the file share a market.
test.describe.configure({ mode: "serial" });

const team = "/organisation/teams/vc-0e4a51";

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with scripts" : "without scripts", () => {
    test.use({ as: "admin", javaScriptEnabled, expectedMessages: [/status of 422/] });

    test("an admin sets an income: why is asked, what it does is shown, the log keeps it", async ({ page }) => {
      const income = javaScriptEnabled ? "110.00" : "120.00";
      await page.goto(`${team}/change`);
      await page.getByLabel("Income", { exact: true }).fill("1,000");
      await page.getByLabel("Reason").fill("more work");
      await page.getByRole("button", { name: "Go on" }).click();
      await expect(page.getByLabel("Income", { exact: true })).toHaveAttribute("aria-invalid", "true");
      await expect(page.getByLabel("Income", { exact: true })).toHaveValue("1,000");
      await expect(page.getByLabel("Reason")).toHaveValue("more work");
      await page.getByLabel("Income", { exact: true }).fill(income);
      await page.getByRole("button", { name: "Go on" }).click();
      await expect(page.getByRole("heading", { name: "Confirm the income" }).first()).toBeVisible();
      await expect(page.locator("main")).toContainText(`becomes ${income} local credits per hour`);
      await expect(page.locator("main")).toContainText("It stands in the ledger as a rebase.");
      await page.getByRole("button", { name: "Set the income" }).click();
      await expect(page).toHaveURL(new RegExp(`${team}$`));
      await expect(page.getByRole("status")).toContainText("changed from the next cycle on");
      await expect(page.locator("main")).toContainText(income);
      await page.goto("/organisation/audit?action=team.changed");
      await expect(page.locator("main")).toContainText("more work");
      await expect(page.locator("main")).toContainText("Demo admin");
    });
  });
}

test.describe("an engineer", () => {
  test.use({ as: "engineer", expectedMessages: [/status of (403|404|422)/] });

  test("sets the leverage of the own team, and nothing else", async ({ page }) => {
    await page.goto(`${team}/leverage`);
    await page.getByLabel("Leverage", { exact: true }).fill("1.5");
    await page.getByLabel("Reason").fill("spend less at once");
    await page.getByRole("button", { name: "Set the leverage" }).click();
    await expect(page.getByRole("status")).toBeVisible();
    await expect(page.locator("main")).toContainText("1.5");
    for (const [path, status] of [[`${team}/change`, 403], ["/organisation/audit", 404], ["/organisation/people", 404]] as const) {
      expect((await page.goto(path))?.status(), path).toBe(status);
    }
  });

  test("reads the own role as the list of people says it", async ({ page }) => {
    await page.goto("/account");
    await expect(page.locator(".facts div", { hasText: "Roles" })).toContainText("engineer");
  });

  test("reads the own budget down to the entries, and no other team's", async ({ page }) => {
    await page.goto("/budget");
    await expect(page.locator("main")).toContainText("The team's bids together may cost at most");
    await page.goto("/budget/ledger");
    const rows = page.locator("main table tbody tr");
    await expect(rows.first()).toBeVisible();
    await rows.first().getByRole("link").first().click();
    await expect(page).toHaveURL(/\/budget\/ledger\/\d+/);
    await expect(page.locator("main table").first()).toBeVisible();
    expect((await page.goto("/budget?team=vc-6214e9"))?.status()).toBe(404);
  });
});
