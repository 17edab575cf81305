import type { Page } from "@playwright/test";
import { Market } from "../support/market.js";
import { signIn } from "../support/people.js";
import { Postgres } from "../support/postgres.js";
import { expect, open, shownCycle, streamState, test } from "../support/test.js";
import { Wire } from "../support/wire.js";

// The browser itself reports each refused connection.
test.use({ expectedMessages: [/net::ERR_/] });

/** Notes the number of each cycle event that the page receives, before the page sees it. */
async function noteCycles(page: Page): Promise<() => Promise<number[]>> {
  await page.addInitScript(() => {
    const noted: number[] = [];
    Object.assign(window, { notedCycles: noted });
    const Original = window.EventSource;
    window.EventSource = class extends Original {
      constructor(url: string | URL, init?: EventSourceInit) {
        super(url, init);
        this.addEventListener("cycle", (event) => noted.push(Number((event as MessageEvent).lastEventId)));
      }
    };
  });
  return () => page.evaluate(() => (window as unknown as { notedCycles: number[] }).notedCycles);
}

/** Numbers missing between the first and the last. */
function gaps(cycles: number[]): number[] {
  const seen = new Set(cycles);
  const missing = [];
  for (let cycle = Math.min(...cycles); cycle < Math.max(...cycles); cycle += 1) {
    if (!seen.has(cycle)) missing.push(cycle);
  }
  return missing;
}

test("a stream that drops says so, and resumes without a gap", async ({ page, market, request }) => {
  const wire = await Wire.to(market.port);
  const noted = await noteCycles(page);
  await open(page, `${wire.base}/`);
  await expect(streamState(page)).toHaveAttribute("data-state", "live");
  await expect.poll(async () => (await noted()).length).toBeGreaterThan(1);

  wire.cut();
  await expect(streamState(page)).toHaveAttribute("data-state", "reconnecting");
  await expect(streamState(page)).toContainText("Reconnecting");
  const lost = Math.max(...(await noted()));
  const current = async () => (await (await request.get("/api/v1/market")).json()).clock.cycle as number;
  await expect.poll(current).toBeGreaterThan(lost + 2);

  wire.mend();
  await expect(streamState(page)).toHaveAttribute("data-state", "live");
  await expect.poll(() => shownCycle(page)).toBeGreaterThan(lost + 2);
  expect(gaps(await noted())).toEqual([]);
  await page.close();
  await wire.remove();
});

test("a market that is killed and started again goes on, and so does the page", async ({ page }) => {
  const market = await Market.start();
  try {
    const noted = await noteCycles(page);
    await page.goto(`${market.base}/`);
    await signIn(page, "engineer");
    await expect(page.locator("html")).toHaveAttribute("data-hydrated", "");
    await expect(streamState(page)).toHaveAttribute("data-state", "live");
    await expect.poll(async () => (await noted()).length).toBeGreaterThan(1);
    const before = await shownCycle(page);

    await market.kill();
    await expect(streamState(page)).toHaveAttribute("data-state", "reconnecting");
    await market.run();
    await expect(streamState(page)).toHaveAttribute("data-state", "live");
    await expect.poll(() => shownCycle(page)).toBeGreaterThan(before + 1);
    expect(gaps(await noted())).toEqual([]);
  } finally {
    await page.close();
    await market.remove();
  }
});

test("a market whose database goes away says that it is stale, and recovers", async ({ page }) => {
  const database = await Postgres.start();
  const market = await Market.start({ database: database.url, history: "1h" });
  try {
    await page.goto(`${market.base}/`);
    await signIn(page, "engineer");
    await expect(page.locator("html")).toHaveAttribute("data-hydrated", "");
    await expect(streamState(page)).toHaveAttribute("data-state", "live");
    const rows = await page.locator("table.prices tbody tr").count();

    await database.goAway();
    await expect(streamState(page)).toHaveAttribute("data-state", "stale");
    await expect(streamState(page)).toContainText(/Stale for \d+/);
    const banner = page.getByRole("status").filter({ hasText: "No new cycle since" });
    await expect(banner).toContainText("stay in force");
    const stalled = await shownCycle(page);
    await expect(page.locator("table.prices tbody tr")).toHaveCount(rows);

    await database.comeUp();
    await expect(streamState(page)).toHaveAttribute("data-state", "live");
    await expect(banner).toHaveCount(0);
    await expect.poll(() => shownCycle(page)).toBeGreaterThan(stalled);
  } finally {
    await page.close();
    await market.remove();
    await database.remove();
  }
});

test("a page of a market that began anew reads everything again", async ({ page, request }) => {
  const market = await Market.start({ history: "12h" });
  try {
    await page.goto(`${market.base}/`);
    await signIn(page, "engineer");
    await expect(page.locator("html")).toHaveAttribute("data-hydrated", "");
    await expect(streamState(page)).toHaveAttribute("data-state", "live");
    await page.evaluate(() => (document.documentElement.dataset.loadedOnce = "yes"));
    const before = await shownCycle(page);

    await market.beginAnew();
    await expect(streamState(page)).toHaveAttribute("data-state", "live");
    await expect.poll(() => shownCycle(page)).toBeLessThan(before);
    await expect(page.locator("html")).toHaveAttribute("data-loaded-once", "yes");
    // What it shows is the new market's, not what it had.
    await expect(async () => {
      const { clock, rows } = await (await request.get(`${market.base}/api/v1/market`)).json();
      const prices = await page.locator('table.prices [data-label="Market price"]').allTextContents();
      expect(prices).toEqual(rows.map((row: { reference_price: string | null }) => row.reference_price ?? "–"));
      expect(await shownCycle(page)).toBe(clock.cycle);
    }).toPass();
  } finally {
    await page.close();
    await market.remove();
  }
});
