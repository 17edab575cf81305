import type { Page } from "@playwright/test";
import { Market } from "../support/market.js";
import { signIn } from "../support/people.js";
import { Postgres } from "../support/postgres.js";
import { expect, open, shownCycle, streamState, test } from "../support/test.js";
import { Wire } from "../support/wire.js";

// The browser itself reports each refused connection, and each stream that a server refuses while it starts.
test.use({ expectedMessages: [/net::ERR_|status of 503 .*\/api\/v1\/events/] });

/** Notes the number of each event of a kind that the page receives, before the page sees it. */
async function noteEvents(page: Page, kind: "cycle" | "reset"): Promise<() => Promise<number[]>> {
  await page.addInitScript((kind) => {
    const noted: number[] = [];
    Object.assign(window, { notedEvents: noted });
    const Original = window.EventSource;
    window.EventSource = class extends Original {
      constructor(url: string | URL, init?: EventSourceInit) {
        super(url, init);
        this.addEventListener(kind, (event) => noted.push(Number((event as MessageEvent).lastEventId)));
      }
    };
  }, kind);
  return () => page.evaluate(() => (window as unknown as { notedEvents: number[] }).notedEvents);
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
  const noted = await noteEvents(page, "cycle");
  await open(page, `${wire.base}/`);
  await expect(streamState(page)).toHaveAttribute("data-state", "live");
  await expect.poll(async () => (await noted()).length).toBeGreaterThan(1);

  wire.cut();
  await expect(streamState(page)).toHaveAttribute("data-state", "reconnecting");
  await expect(streamState(page)).toContainText("Reconnecting");
  const lost = Math.max(...(await noted()));
  const current = async () => (await (await request.get("/readyz")).json()).clock.cycle as number;
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
    const noted = await noteEvents(page, "cycle");
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
    // Scripts and styles come all the same, for somebody who is signed in as well.
    const style = (await page.locator("link[rel=stylesheet]").first().getAttribute("href")) ?? "";
    expect((await page.request.get(new URL(style, market.base).href)).status()).toBe(200);

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

test("a page of a market that went back to a backup reads everything again", async ({ page }) => {
  const market = await Market.start({ history: "12h" });
  try {
    const resets = await noteEvents(page, "reset");
    await page.goto(`${market.base}/`);
    await signIn(page, "engineer");
    await expect(page.locator("html")).toHaveAttribute("data-hydrated", "");
    await expect(streamState(page)).toHaveAttribute("data-state", "live");
    await page.evaluate(() => (document.documentElement.dataset.loadedOnce = "yes"));

    await market.backUp();
    const kept = await shownCycle(page);
    // So many that the market can't have made up for them when the page comes back to it.
    await expect.poll(() => shownCycle(page), { timeout: 90_000 }).toBeGreaterThan(kept + 15);
    const before = await shownCycle(page);
    await market.restore();
    await expect.poll(async () => (await resets()).length).toBeGreaterThan(0);
    expect((await resets())[0]).toBeLessThan(before);
    await expect(page.locator("html")).toHaveAttribute("data-loaded-once", "yes");
    // What it shows is what the market has now, not what it had.
    await expect(async () => {
      const { clock, rows } = await page.evaluate(async () => (await fetch("/api/v1/market")).json());
      const prices = await page.locator('table.prices [data-label="Market price"]').allTextContents();
      expect(prices).toEqual(rows.map((row: { reference_price: string | null }) => row.reference_price ?? "–"));
      expect(await shownCycle(page)).toBe(clock.cycle);
    }).toPass();
  } finally {
    await page.close();
    await market.remove();
  }
});
