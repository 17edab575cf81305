import AxeBuilder from "@axe-core/playwright";
import type { Market } from "../support/market.js";
import { liveAMonth, marketWithAMonth } from "../support/month.js";
import { expect, test as base } from "../support/test.js";

const test = base.extend<object, { market: Market }>({
  market: [
    async ({}, use) => {
      const market = await marketWithAMonth();
      await use(market);
      await market.remove();
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

test.describe.configure({ mode: "serial" });
test.use({ as: "finance" });

test("a month is read, corrected by two people, closed, stated, exported and reconciled", async ({ page, browser, people, market }) => {
  test.slow();
  await liveAMonth(page, browser, people, market);
});

test("the last day of the chart of spend is drawn up to its end, also where it is the only one", async ({ page }) => {
  await page.goto("/finance");
  const chart = JSON.parse((await page.locator("qm-chart").first().getAttribute("data")) ?? "null");
  const day = 86_400;
  expect(chart.x.length).toBeGreaterThan(1);
  expect(chart.x.at(-1) - chart.x.at(-2)).toBe(day);
  for (const { y } of chart.series) {
    expect(y.length).toBe(chart.x.length);
    expect(y.at(-1)).toBe(y.at(-2));
  }
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
        // A table of money is read without scrolling sideways either.
        const wide = await page.locator("main .scroll:has(table:visible)").evaluateAll((regions) =>
          regions.filter((region) => region.scrollWidth > region.clientWidth).map((region) => region.ariaLabel));
        expect(wide, `${name} at ${width}`).toEqual([]);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`), name).toEqual([]);
      }
      await page.setViewportSize({ width: 1440, height: 1000 });
      await page.screenshot({ path: `screenshots/${name}-${colorScheme}.png`, fullPage: true });
    }
  });
}

test("pages of money say what people call teams, pools and chip types; links hold the ids", async ({ page }) => {
  // The oldest month has charges also where another one has just begun.
  await page.goto("/finance/months");
  const month = await page.locator("main tbody tr").last().getByRole("link", { name: "Spend" }).getAttribute("href");
  const period = new URL(month ?? "", page.url()).searchParams.get("period");
  await page.goto(`/finance?group=team&period=${period}`);
  await page.locator("section[aria-labelledby=rows] tbody a").first().click();
  await expect(page).toHaveURL(/team=vc-/);
  await expect(page.getByRole("link", { name: /^Team Cluster \w+: show all$/ })).toBeVisible();
  await page.goto("/finance/statements");
  const pools = await page.locator("td[data-label=Pool]").allInnerTexts();
  expect(pools.length).toBeGreaterThan(0);
  expect(pools.filter((pool) => !["Language", "Products", "Research", "Vision"].includes(pool))).toEqual([]);
  await page.goto(`/finance/statements/of?team=vc-0e4a51&period=${period}`);
  await expect(page.locator("main")).toContainText("Cluster 0e4a51 · Products");
  await page.getByRole("link", { name: "Charge for NVIDIA T4" }).click();
  await expect(page).toHaveURL(/chip_type=T4/);
  await page.locator("main tbody a").first().click();
  await expect(page.getByRole("rowheader", { name: "Cluster 0e4a51" }).first()).toBeVisible();
});
