import type { Market } from "../support/market.js";
import { liveAMonth, marketWithAMonth } from "../support/month.js";
import { Postgres } from "../support/postgres.js";
import { test as base } from "../support/test.js";

// The month of finance once more, on PostgreSQL. A file of its own: a market belongs to a worker.
const test = base.extend<object, { market: Market }>({
  market: [
    async ({}, use) => {
      const database = await Postgres.start();
      const market = await marketWithAMonth(database.url);
      await use(market);
      await market.remove();
      await database.remove();
    },
    { scope: "worker", timeout: 260_000 },
  ],
});

test.use({ as: "finance" });

test("a month on PostgreSQL is closed, stated, exported and reconciled", async ({ page, browser, people, market }) => {
  test.slow();
  await liveAMonth(page, browser, people, market);
});
