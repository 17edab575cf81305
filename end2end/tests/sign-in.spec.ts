import { signIn } from "../support/people.js";
import { expect, test } from "../support/test.js";

for (const javaScriptEnabled of [true, false]) {
  test.describe(javaScriptEnabled ? "with scripts" : "without scripts", () => {
    test.use({ as: "nobody", javaScriptEnabled, expectedMessages: [/status of (401|404|422)/] });

    test("a person signs in, gets to the page asked for, and signs out", async ({ page }) => {
      await page.goto("/cycles?limit=5");
      await expect(page).toHaveURL(/\/sign-in\?next=/);
      await page.getByLabel("Name or e-mail").fill("engineer");
      await page.getByLabel("Password").fill("not the password");
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await expect(page.getByRole("alert")).toContainText("No account has this name and this password");
      await expect(page.getByLabel("Name or e-mail")).toHaveValue("engineer");
      await signIn(page, "engineer");
      await expect(page).toHaveURL(/\/cycles\?limit=5$/);
      await expect(page.locator(".viewer")).toContainText("Demo engineer");
      await page.getByRole("button", { name: "Sign out" }).click();
      await expect(page).toHaveURL(/\/sign-in$/);
      await expect(page.getByRole("status")).toContainText("signed out on this device");
      await page.goto("/");
      await expect(page).toHaveURL(/\/sign-in/);
    });

    test("a token is made, used, and revoked", async ({ page, request }) => {
      await page.goto("/account");
      await signIn(page, "engineer");
      await page.getByLabel("What it is for").fill("nightly jobs");
      await page.getByRole("button", { name: "Make a token" }).click();
      const secret = await page.locator(".once").innerText();
      expect(secret).toMatch(/^qm_[0-9a-f]{64}$/);
      const headers = { Authorization: `Bearer ${secret}` };
      const who = await (await request.get("/api/v1/session", { headers })).json();
      expect([who.viewer.user, who.scopes]).toEqual(["engineer", ["read"]]);
      await page.goto("/account");
      await expect(page.getByText(secret)).toHaveCount(0);
      await page.getByRole("button", { name: "Revoke nightly jobs" }).click();
      await expect(page.getByRole("status")).toContainText("revoked");
      expect((await request.get("/api/v1/session", { headers })).status()).toBe(401);
    });

    test("a session that ended in the middle of a form loses nothing", async ({ page, context }) => {
      // Both kinds of browser use the same account.
      const typed = javaScriptEnabled ? "typed with scripts" : "typed without scripts";
      await page.goto("/account");
      await signIn(page, "finance");
      await page.getByLabel("What it is for").fill(typed);
      await context.clearCookies();
      await page.getByRole("button", { name: "Make a token" }).click();
      await expect(page.getByText("what you typed is kept")).toBeVisible();
      await signIn(page, "finance");
      await page.getByRole("button", { name: "Send it now" }).click();
      await expect(page.locator(".once")).toContainText("qm_");
      await expect(page.getByRole("rowheader", { name: typed })).toBeVisible();
    });
  });
}

test("signing out everywhere else ends the other browser's session, and not this one", async ({ browser, market, people }) => {
  const [here, there] = await Promise.all([0, 1].map(() => browser.newContext({ baseURL: market.base, storageState: { cookies: [], origins: [] } })));
  const [page, other] = [await here.newPage(), await there.newPage()];
  for (const one of [page, other]) {
    await one.goto("/account");
    await signIn(one, "admin");
    await expect(one.getByRole("row").filter({ hasText: "this one" })).toHaveCount(1);
  }
  await page.reload();
  await page.getByRole("button", { name: "Sign out everywhere else" }).click();
  people.forget("admin");
  await expect(page.getByRole("status")).toContainText("signed out everywhere else");
  await other.goto("/");
  await expect(other).toHaveURL(/\/sign-in/);
  await page.goto("/");
  await expect(page.locator(".viewer")).toContainText("Demo admin");
  await here.close();
  await there.close();
});

test("who is signed in is not asked again", async ({ page }) => {
  await page.goto("/sign-in?next=/book");
  await expect(page).toHaveURL(/\/book$/);
});
