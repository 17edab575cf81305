import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { IdentityProvider, client } from "../support/provider.js";
import { Market, freePort } from "../support/market.js";
import { signIn as signInByPassword } from "../support/people.js";
import { expect, test as base } from "../support/test.js";

/** What the groups of the provider are in the market. The last rule names a team that does not exist. */
const rules = [
  "quota-admins -> role:admin",
  "finance -> role:finance",
  "vision -> team:vc-0e4a51",
  "vision-leads -> lead:vc-0e4a51",
  "gone -> team:no-such-team",
].join("; ");

/** A market whose people sign in by a provider; each test has people of its own. */
const test = base.extend<object, { provider: IdentityProvider; market: Market }>({
  provider: [
    async ({}, use) => {
      const port = await freePort();
      const provider = await IdentityProvider.start(`http://127.0.0.1:${port}`);
      await use(provider);
      await provider.stop();
    },
    { scope: "worker" },
  ],
  market: [
    async ({ provider }, use) => {
      const market = await Market.start({
        history: "6h",
        port: Number(new URL(provider.market).port),
        environment: {
          QUOTA_MARKETPLACE_SERVER_PUBLIC_URL: provider.market,
          QUOTA_MARKETPLACE_OIDC_NAME: "Example ID",
          QUOTA_MARKETPLACE_OIDC_ISSUER: provider.issuer,
          QUOTA_MARKETPLACE_OIDC_CLIENT_ID: client.id,
          QUOTA_MARKETPLACE_OIDC_CLIENT_SECRET: client.secret,
          QUOTA_MARKETPLACE_OIDC_GROUPS: rules,
        },
      });
      await use(market);
      await market.remove();
    },
    { scope: "worker", timeout: 180_000 },
  ],
});

// Nobody is signed in at first. A browser reports the status of a page that says why somebody is refused.
test.use({ storageState: { cookies: [], origins: [] }, expectedMessages: [/status of (400|401|403|503)/] });

// One market and one provider for all, on one worker.
test.describe.configure({ mode: "default" });

/** Goes to the provider from the sign-in page of the market. */
async function depart(page: Page): Promise<void> {
  await page.goto("/sign-in");
  await page.getByRole("link", { name: "Sign in with Example ID" }).click();
}

/** Says at the provider who somebody is. */
async function say(page: Page, subject: string): Promise<void> {
  await page.getByRole("textbox", { name: "Who are you?" }).fill(subject);
  await page.getByRole("button", { name: "Continue" }).click();
}

async function signIn(page: Page, subject: string): Promise<void> {
  await depart(page);
  await say(page, subject);
}

async function expectSignedIn(page: Page, name: string): Promise<void> {
  await expect(page).toHaveURL("/");
  await expectViewer(page, name);
}

async function expectViewer(page: Page, name: string): Promise<void> {
  await expect(page.locator(".viewer")).toContainText(name);
}

async function expectRefused(page: Page, why: RegExp): Promise<void> {
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("You are not signed in");
  await expect(alert).toContainText(why);
  await expect(alert.getByRole("link", { name: "Back to the sign-in" })).toBeVisible();
}

async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`)).toEqual([]);
}

/** Whether the person signed in may read the audit log, and what it says last of `name`. */
async function auditedOf(page: Page, name: string) {
  const answer = await page.request.get("/api/v1/audit?action=user.mapped");
  if (answer.status() !== 200) return { status: answer.status(), after: undefined };
  const { items } = await answer.json();
  return { status: 200, after: items.find((entry: { user_name: string }) => entry.user_name === name)?.after };
}

test("a new person gets an account, with the role and the team of the groups", async ({ page, provider }) => {
  provider.change("ada", { name: "Ada Lovelace", groups: ["vision-leads", "quota-admins", "elsewhere"] });
  await page.goto("/cycles");
  await page.getByRole("link", { name: "Sign in with Example ID" }).click();
  await say(page, "ada");
  await expect(page, "back where she wanted to go").toHaveURL("/cycles");
  await expectViewer(page, "Ada Lovelace");
  const { status, after } = await auditedOf(page, "Ada Lovelace");
  expect(status, "an admin reads the audit log").toBe(200);
  expect(after).toEqual({ roles: ["admin"], teams: { "vc-0e4a51": true }, pools: [] });
});

test("who has no mapped group is refused, and whoever loses them is signed out", async ({ page, browser, provider }) => {
  provider.change("eve", { name: "Eve", groups: ["elsewhere", "gone"] });
  await signIn(page, "eve");
  await expectRefused(page, /None of your groups has a role or a team in this market/);
  await expectAccessible(page);
  await page.screenshot({ path: "screenshots/sign-in-refused.png" });

  provider.change("eve", { name: "Eve", groups: ["finance"] });
  await depart(page);
  await expectSignedIn(page, "Eve");

  provider.change("eve", { name: "Eve", groups: [] });
  const other = await browser.newPage();
  await other.goto(page.url() + "sign-in");
  await other.getByRole("link", { name: "Sign in with Example ID" }).click();
  await say(other, "eve");
  await expectRefused(other, /None of your groups/);
  await page.goto("/");
  await expect(page, "the session that she had is over").toHaveURL(/\/sign-in/);
  await other.close();
});

test("the tokens of who lost all groups end, and stay ended when a group is back", async ({ page, browser, provider }) => {
  provider.change("tom", { name: "Tom", groups: ["vision"] });
  await signIn(page, "tom");
  await expectSignedIn(page, "Tom");
  await page.goto("/account");
  await page.getByLabel("What it is for").fill("nightly jobs");
  await page.getByRole("button", { name: "Make a token" }).click();
  const headers = { Authorization: `Bearer ${await page.locator(".once").innerText()}` };
  const program = await browser.newContext({ baseURL: new URL(page.url()).origin });
  const status = async () => (await program.request.get("/api/v1/session", { headers })).status();
  expect(await status()).toBe(200);

  provider.change("tom", { name: "Tom", groups: [] });
  const other = await browser.newPage();
  await other.goto(new URL("/sign-in", page.url()).href);
  await other.getByRole("link", { name: "Sign in with Example ID" }).click();
  await say(other, "tom");
  await expectRefused(other, /None of your groups/);
  expect(await status()).toBe(401);
  provider.change("tom", { name: "Tom", groups: ["vision"] });
  await other.getByRole("link", { name: "Back to the sign-in" }).click();
  await other.getByRole("link", { name: "Sign in with Example ID" }).click();
  await expectViewer(other, "Tom");
  expect(await status(), "a token that ended stays so").toBe(401);
  await other.goto(new URL("/account", other.url()).href);
  await expect(other.getByRole("rowheader", { name: "nightly jobs" })).toHaveCount(0);
  await other.close();
  await program.close();
});

test("an account is linked by its owner, signs in by the provider, and is unlinked again", async ({ page, provider, context }) => {
  provider.change("fin", { name: "Fin of the provider", groups: ["finance"] });
  await page.goto("/account");
  await signInByPassword(page, "finance");
  await page.getByRole("button", { name: "Link to Example ID" }).click();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Continue to Example ID" }).click();
  await say(page, "fin");
  await expect(page).toHaveURL(/\/account$/);
  await expect(page.getByRole("status")).toContainText("you can sign in with Example ID now");
  await expectAccessible(page);

  // The provider still knows who she is.
  await context.clearCookies({ name: /qm_/ });
  await depart(page);
  await expect(page).toHaveURL("/");
  const who = await (await page.request.get("/api/v1/session")).json();
  expect(who.viewer.user, "the same account").toBe("finance");
  expect(who.viewer.roles).toEqual(["finance"]);

  await page.goto("/account");
  await page.getByRole("button", { name: "Take the link to Example ID away" }).click();
  await expect(page.getByRole("status")).toContainText("does not sign you in to this account any more");
  await expect(page.getByRole("button", { name: "Link to Example ID" })).toBeVisible();
  await page.getByRole("button", { name: "Sign out" }).click();
  await depart(page);
  await expect(page).toHaveURL("/");
  const stranger = await (await page.request.get("/api/v1/session")).json();
  expect(stranger.viewer.user, "to the provider's person the account is another's").not.toBe("finance");
});

test("what was typed is kept through a sign-in at the provider", async ({ page, provider, context }) => {
  provider.change("kay", { name: "Kay", groups: ["vision"] });
  await signIn(page, "kay");
  await expectSignedIn(page, "Kay");
  await page.goto("/account");
  await page.getByLabel("What it is for").fill("typed before the session ended");
  await context.clearCookies({ name: /qm_/ });
  await page.getByRole("button", { name: "Make a token" }).click();
  await expect(page.getByText("what you typed is kept")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Sign in with Example ID" }).click();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Continue to Example ID" }).click();
  await page.getByRole("button", { name: "Send it now" }).click();
  await expect(page.locator(".once")).toContainText("qm_");
  await expect(page.getByRole("rowheader", { name: "typed before the session ended" })).toBeVisible();
});

test("a provider that says no groups lets nobody in", async ({ page, provider }) => {
  provider.change("nan", { name: "Nan" });
  await signIn(page, "nan");
  await expectRefused(page, /Example ID did not say which groups you are in/);
});

test("T139: an admin who lost the group is none from the next sign-in on", async ({ page, provider, browser }) => {
  provider.change("dan", { name: "Dan", groups: ["quota-admins"] });
  await signIn(page, "dan");
  await expectSignedIn(page, "Dan");
  expect((await auditedOf(page, "Dan")).status).toBe(200);

  provider.change("dan", { name: "Dan D.", groups: ["vision"] });
  const other = await browser.newPage();
  await other.goto(page.url() + "sign-in");
  await other.getByRole("link", { name: "Sign in with Example ID" }).click();
  await say(other, "dan");
  await expectViewer(other, "Dan D.");
  expect((await auditedOf(other, "Dan")).status, "in the new session").toBe(404);
  expect((await auditedOf(page, "Dan")).status, "and in the old one").toBe(404);
  await other.close();
});

test("the provider changes its key between two sign-ins", async ({ page, provider, context }) => {
  provider.change("kim", { name: "Kim", groups: ["vision"] });
  await signIn(page, "kim");
  await expectSignedIn(page, "Kim");
  provider.rotateKeys();
  await context.clearCookies();
  await signIn(page, "kim");
  await expectSignedIn(page, "Kim");
});

test("who cancels at the provider reads so, and may begin again", async ({ page, provider }) => {
  provider.change("cam", { name: "Cam", groups: ["vision"] });
  await depart(page);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expectRefused(page, /The sign-in was cancelled or refused at Example ID/);
  await page.getByRole("link", { name: "Back to the sign-in" }).click();
  await page.getByRole("link", { name: "Sign in with Example ID" }).click();
  await say(page, "cam");
  await expectSignedIn(page, "Cam");
});

test("an answer is good once, in the browser that asked for it", async ({ page, provider, browser, context, market }) => {
  provider.change("rob", { name: "Rob", groups: ["vision"] });
  const answered = page.waitForRequest(/\/sign-in\/oidc\/callback/);
  await depart(page);
  const before = await context.cookies(market.base);
  await say(page, "rob");
  await expectSignedIn(page, "Rob");
  const url = (await answered).url();

  const other = await browser.newContext();
  const stranger = await other.newPage();
  await stranger.goto(url);
  await expectRefused(stranger, /This sign-in was not begun in this browser/);

  await other.addCookies(before);
  await stranger.goto(url);
  await expectRefused(stranger, /This sign-in was used already/);
  await other.close();
});

test("an answer with another state is refused", async ({ page, provider, market }) => {
  provider.change("sam", { name: "Sam", groups: ["vision"] });
  await depart(page);
  await page.goto(`${market.base}/sign-in/oidc/callback?code=stolen&state=another&iss=${provider.issuer}`);
  await expectRefused(page, /This answer belongs to another sign-in/);
});

test("a code that the provider did not give is refused in words", async ({ page, provider, market }) => {
  await depart(page);
  const state = new URL(await departed(page, market)).searchParams.get("state");
  await page.goto(`${market.base}/sign-in/oidc/callback?code=made-up&state=${state}&iss=${provider.issuer}`);
  await expectRefused(page, /Example ID could not sign you in/);
  await expect(page.locator("body"), "what the provider said stays in the log").not.toContainText("invalid_grant");
});

/** The address that the market sends this browser to. */
async function departed(page: Page, market: Market): Promise<string> {
  const answer = await page.request.get(`${market.base}/sign-in/oidc`, { maxRedirects: 0 });
  return answer.headers().location ?? "";
}

test("a provider that is away is said to be, and found again when it is back", async ({ page, provider, context }) => {
  provider.change("ann", { name: "Ann", groups: ["vision"] });
  await depart(page);
  await page.getByRole("textbox", { name: "Who are you?" }).fill("ann");
  provider.breakTokens(true);
  await page.getByRole("button", { name: "Continue" }).click();
  await expectRefused(page, /Example ID does not answer as it should/);
  provider.breakTokens(false);
  await context.clearCookies();
  await signIn(page, "ann");
  await expectSignedIn(page, "Ann");
});

test("signing out here offers to sign out of the provider too", async ({ page, provider }) => {
  provider.change("lea", { name: "Lea", groups: ["vision"] });
  await signIn(page, "lea");
  await expectSignedIn(page, "Lea");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByText("You are signed out of this market")).toBeVisible();
  await expect(page.locator(".viewer")).toHaveCount(0);
  await expectAccessible(page);
  await page.screenshot({ path: "screenshots/signed-out-at-provider.png" });
  expect((await page.request.get("/api/v1/market")).status()).toBe(401);
  await page.getByRole("link", { name: "Sign out of Example ID as well" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page, "the provider sends her back").toHaveURL("/sign-in");
  await depart(page);
  await expect(page.getByRole("textbox", { name: "Who are you?" }), "it asks who she is").toBeVisible();
});

test("without scripts it is the same", async ({ browser, provider, market }) => {
  provider.change("ned", { name: "Ned", groups: ["vision"] });
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: market.base });
  const page = await context.newPage();
  await signIn(page, "ned");
  await expectSignedIn(page, "Ned");
  await context.close();
});
