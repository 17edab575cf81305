import { expect, open, pages, shownCycle, streamState, test } from "../support/test.js";

test("the market shows the prices that the interface for machines gives", async ({ page }) => {
  await open(page, "/");
  const rows = page.locator("table.prices tbody tr");
  // The market moves on while we look: both sides are read again until they are of the same cycle.
  await expect(async () => {
    // By the browser, which is signed in.
    const market = await page.evaluate(async () => (await fetch("/api/v1/market")).json());
    const shown = await rows.evaluateAll((rows) =>
      rows.map((row) => [
        row.querySelector("[data-row]")?.textContent?.trim(),
        row.querySelector('[data-label="Market price"]')?.textContent?.trim(),
      ]),
    );
    expect(shown.length).toBeGreaterThanOrEqual(3);
    expect(shown).toEqual(
      market.rows.map((row: { name: string; reference_price: string | null }) => [
        row.name,
        row.reference_price ?? "–",
      ]),
    );
    expect(shown.some(([, price]) => Number(price) > 0)).toBeTruthy();
    expect(await shownCycle(page)).toBe(market.clock.cycle);
  }).toPass();
});

test("a new cycle arrives without a reload", async ({ page }) => {
  await open(page, "/");
  await expect(streamState(page)).toHaveAttribute("data-state", "live");
  await page.evaluate(() => (document.documentElement.dataset.loadedOnce = "yes"));
  const before = await shownCycle(page);
  await expect.poll(() => shownCycle(page)).toBeGreaterThan(before + 1);
  await expect(page.locator("html")).toHaveAttribute("data-loaded-once", "yes");
});

test("opening a row shows its history and demand, and the address remembers it", async ({ page }) => {
  await open(page, "/");
  const second = page.locator("table.prices [data-row]").nth(1);
  const name = (await second.innerText()).trim();
  await second.click();
  await expect(page).toHaveURL(/[?&]chip=/);
  await expect(page.locator("#history-title")).toContainText(name);
  await page.reload();
  await expect(page.locator("#history-title")).toContainText(name);
  await expect(page.locator("table.prices tr.selected [data-row]")).toHaveText(name);
});

test("a cycle can be opened down to its inputs and outcome", async ({ page }) => {
  await open(page, "/cycles");
  // Which one is the first changes with each cycle.
  await page.locator('main a[href^="/cycles/"]').first().click();
  await expect(page).toHaveURL(/\/cycles\/\d+$/);
  await expect(page.locator("h1")).toContainText("Cycle");
  await expect(page.locator("main table").first()).toBeVisible();
});

test("every page can be read without scripts", async ({ browser, market, people }) => {
  const storageState = await people.state("engineer");
  const context = await browser.newContext({ javaScriptEnabled: false, baseURL: market.base, storageState });
  const page = await context.newPage();
  for (const [name, path] of pages) {
    const answer = await page.goto(path);
    expect(answer?.status(), path).toBe(name === "not-found" ? 404 : 200);
    await expect(page.locator("main"), path).not.toBeEmpty();
  }
  await page.goto("/");
  expect(await page.locator("table.prices tbody tr").count()).toBeGreaterThanOrEqual(3);
  await context.close();
});
