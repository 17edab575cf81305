import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "../support/test.js";

// An admin compares policies on a short made-up trace, reads the figures and looks at a team.
test.describe.configure({ mode: "serial" });

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with scripts" : "without scripts", () => {
    test.use({ as: "admin", javaScriptEnabled, expectedMessages: [/status of 422/] });

    test("a run is started, watched and read", async ({ page }) => {
      await page.goto("/lab");
      await page.getByLabel("Trace", { exact: true }).selectOption("synthetic");
      await page.getByLabel("Seed").fill("seven");
      await page.getByLabel("Rounds", { exact: true }).fill("48");
      await page.getByRole("checkbox", { name: "Karma, α = 0.5" }).check();
      await page.getByRole("checkbox", { name: "Max-min" }).check();
      await page.getByRole("button", { name: "Start" }).click();
      await expect(page.locator("main")).toContainText("it must be a whole number");
      await expect(page.getByLabel("Seed")).toHaveValue("seven");
      await expect(page.getByRole("checkbox", { name: "Max-min" })).toBeChecked();
      await page.getByLabel("Seed").fill("7");
      await page.getByRole("button", { name: "Start" }).click();
      await expect(page).toHaveURL(/\/lab\/runs\//);
      // The page looks again by itself until the run is done.
      await expect(page.getByRole("heading", { name: "Policies side by side" })).toBeVisible({ timeout: 20_000 });
      await expect(page.locator("main")).toContainText("Pareto-distributed with tail 2 and mean 1 per team and round, seed 7");
      await expect(page.locator("main table").first().locator("tbody tr")).toHaveCount(2);
      await expect(page.locator("td.best").first()).toBeVisible();
      await page.getByRole("navigation", { name: "Teams" }).getByRole("link", { name: "team-3" }).click();
      await expect(page.getByText("team-3 under each policy")).toBeVisible();
    });
  });
}

test.describe("what envy costs", () => {
  test.use({ as: "admin" });

  test("the slider over λ marks what it gives and costs, and goes along with a run", async ({ page }) => {
    await page.goto("/lab");
    const frontier = page.getByRole("region", { name: "What envy costs" });
    await expect(frontier).toContainText("Strict, λ = 4:");
    const slider = frontier.getByRole("slider");
    await slider.focus();
    for (let step = 0; step < 3; step += 1) await page.keyboard.press("ArrowRight");
    await expect(frontier.getByText("Strict, λ = 5.5:")).toBeVisible();
    await expect(frontier.getByText("Strict, λ = 4:")).toBeHidden();
    await expect(page.getByRole("slider")).toHaveCount(2);
    for (const other of await page.getByRole("slider").all()) await expect(other).toHaveValue("5.5");
    await page.screenshot({ path: "screenshots/lab-frontier.png", fullPage: true });
    await page.getByLabel("Trace", { exact: true }).selectOption("synthetic");
    await page.getByLabel("Rounds", { exact: true }).fill("24");
    await page.locator("#start").locator("..").locator("..").getByRole("checkbox", { name: "Learned fair allocator" }).check();
    await page.getByRole("button", { name: "Start" }).click();
    await expect(page.locator("main")).toContainText("Learned fair allocator, λ = 5.5", { timeout: 20_000 });
  });
});

test.describe("the figures", () => {
  test.use({ as: "admin" });

  test("fit every width, and axe finds nothing serious", async ({ page }) => {
    await page.goto("/lab");
    await page.locator("main table tbody a").first().click();
    await expect(page.getByRole("heading", { name: "Policies side by side" })).toBeVisible();
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(over, `at ${width}`).toBeLessThanOrEqual(0);
    }
    const { violations } = await new AxeBuilder({ page }).analyze();
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`)).toEqual([]);
    await page.screenshot({ path: "screenshots/lab-run.png", fullPage: true });
  });

  test("two runs stand side by side, and a trace is uploaded", async ({ page }) => {
    await page.goto("/lab");
    for (const box of (await page.locator("input[name=run]").all()).slice(0, 2)) await box.check();
    await page.getByRole("button", { name: "Compare the marked runs" }).click();
    await expect(page.locator("main")).toContainText("run 2: Karma");
    await page.goto("/lab");
    await page.getByLabel("Name").fill("from-a-file");
    await page.getByLabel("File", { exact: true }).setInputFiles({
      name: "trace.csv",
      mimeType: "text/csv",
      buffer: Buffer.from("round,team,chips\n0,speech,4\n0,vision,9\n1,speech,2\n"),
    });
    await page.getByRole("button", { name: "Upload" }).click();
    await expect(page.getByRole("status")).toContainText("2 rounds of 2 teams");
    await expect(page.getByLabel("Trace", { exact: true })).toContainText("from-a-file");
  });
});

test.describe("an engineer", () => {
  test.use({ as: "engineer", expectedMessages: [/status of 404/] });

  test("does not know of the lab", async ({ page }) => {
    expect((await page.goto("/lab"))?.status()).toBe(404);
    await page.goto("/");
    await expect(page.getByRole("link", { name: "Lab" })).toHaveCount(0);
  });
});
