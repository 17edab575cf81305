import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { Market } from "../support/market.js";
import { expect, test as base } from "../support/test.js";

// A month as finance lives it: spend is read down to the ledger, a mistake is put right by two people, the month is closed,
// its statement printed. All numbers are the same strings.

const test = base.extend<object, { market: Market }>({
  market: [
    async ({}, use) => {
      // The month before this one is in the ledger, at least its last days.
      const market = await Market.start({ history: "32d" });
      await use(market);
      await market.remove();
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

test.describe.configure({ mode: "serial" });
test.use({ as: "finance" });

/** The period that the page shows, as it stands in an address. */
const periodOf = (page: Page) => page.getByLabel("Period", { exact: true }).inputValue();

/** The value of a figure of the page, by its name and unit. */
const figure = (page: Page, name: string) => page.locator("dl.figures div").filter({ hasText: name }).locator("dd").first();

test("a month is read, corrected by two people, closed and stated", async ({ page, browser, people, market }) => {
  // The oldest month in the ledger is over and can be closed.
  await page.goto("/finance/months");
  await page.getByRole("row").last().getByRole("link", { name: "Spend" }).click();
  const period = await periodOf(page);

  // Spend: by pool, down to a team, a day and its entries.
  await page.getByRole("region", { name: /^Spend by pool/ }).getByRole("row").nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/group=team&pool=/);
  await page.getByRole("region", { name: /^Spend by team/ }).getByRole("row").nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/group=chip_type&pool=[^&]+&team=/);
  const team = new URL(page.url()).searchParams.get("team") ?? "";
  const spent = await figure(page, "local credits of").innerText();
  const days = page.getByRole("region", { name: /^Days of/ });
  await days.getByRole("row").nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/\/budget\/ledger\?team=.*kind=charge/);
  await page.locator("main table tbody tr").first().getByRole("link").first().click();
  await expect(page.locator("main")).toContainText("It covers the cycles");

  // A correction, linked to what it corrects, waits for a second person.
  await page.getByRole("link", { name: "Correct it" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("5.00");
  await page.getByLabel("Reason").fill("the meter ran twice");
  await page.getByRole("button", { name: "Book", exact: true }).click();
  await expect(page.getByRole("status")).toContainText("waits for a second person");
  const booking = page.url();
  await expect(page.locator("main")).toContainText("another person has to approve");
  const context = await browser.newContext({ storageState: await people.state("admin"), baseURL: market.base });
  const admin = await context.newPage();
  await admin.goto("/finance/bookings?pending=true");
  await admin.getByRole("row").nth(1).getByRole("link").first().click();
  await admin.getByLabel("Decision").selectOption("approve");
  await admin.getByLabel("Reason").fill("seen the meter");
  await admin.getByRole("button", { name: "Decide" }).click();
  await expect(admin.getByRole("status")).toContainText("It is booked");
  await context.close();
  await page.goto(booking);
  await page.getByRole("link", { name: /^transfer/ }).last().click();
  await expect(page.locator("main")).toContainText("It corrects transfer");

  // The close, for good.
  await page.goto(`/finance/months/${period}`);
  await page.getByLabel("Reason").fill("month end");
  await page.getByRole("button", { name: "Close the month for good" }).click();
  await expect(page.getByRole("status").first()).toContainText("The month is closed");
  await expect(page.locator("main")).toContainText("The ledger says the same now");

  // The statement has a number, prints on one page, and says what the page of spend said.
  await page.goto(`/finance/statements/of?team=${team}&period=${period}`);
  await expect(page.getByRole("heading", { name: /^Statement \d/, level: 2 })).toBeVisible();
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
  expect(pdf.match(/\/Type\s*\/Page\b(?!s)/g)).toHaveLength(1);
  // Asked from the page: its cookies are for pages only.
  const address = `/api/v1/teams/${team}/statement?period=${period}&format=csv`;
  const csv = await page.evaluate(async (path) => (await fetch(path)).text(), address);
  const rows = csv.trim().split("\r\n").map((line) => line.split(","));
  const micros = (text: string) => {
    const [whole = "0", decimals = ""] = text.replace("-", "").split(".");
    const size = BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, "0"));
    return text.startsWith("-") ? -size : size;
  };
  const amounts = rows.slice(1).map((row) => ({ line: row[4], amount: micros(row[9] ?? "0") }));
  const charges = amounts.filter(({ line }) => line === "charge").reduce((sum, { amount }) => sum - amount, 0n);
  expect(charges).toBe(micros(spent.replaceAll(",", "").replace("\u2212", "-")));
  const [opening, closing] = [amounts.at(0)?.amount ?? 0n, amounts.at(-1)?.amount ?? 0n];
  expect(amounts.slice(1, -1).reduce((sum, { amount }) => sum + amount, opening)).toBe(closing);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the pages of finance in ${colorScheme}: axe finds nothing serious, and they fit`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.goto("/finance/statements");
    const statement = await page.locator("main tbody").getByRole("link").first().getAttribute("href");
    const paths = [
      ["finance", "/finance"],
      ["finance-teams", "/finance?group=team"],
      ["finance-budgets", "/finance/budgets"],
      ["finance-months", "/finance/months"],
      ["finance-bookings", "/finance/bookings"],
      ["finance-booking", "/finance/bookings/new"],
      ["finance-statements", "/finance/statements"],
      ["finance-statement", statement ?? ""],
    ];
    for (const [name, path] of paths) {
      await page.goto(path ?? "");
      const over = () =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      for (const width of [2560, 360]) {
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(over, `${name} at ${width}`).toBeLessThanOrEqual(0);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`), name).toEqual([]);
      }
      await page.setViewportSize({ width: 1440, height: 1000 });
      await page.screenshot({ path: `screenshots/${name}-${colorScheme}.png`, fullPage: true });
    }
  });
}
