import { type Page, test as base, expect } from "@playwright/test";
import { Market } from "./market.js";
import { People, type Person } from "./people.js";

export { expect };

type TestFixtures = {
  /** Who is signed in when a test begins. */
  as: Person | "nobody";
  /** Messages that a test expects on the console; all others fail it. */
  expectedMessages: RegExp[];
  /** Fails a test whose pages wrote an error to the console. */
  quietConsole: void;
};

type WorkerFixtures = {
  /** The market of this worker. */
  market: Market;
  /** The people of this worker's market. */
  people: People;
};

export const test = base.extend<TestFixtures, WorkerFixtures>({
  market: [
    async ({}, use) => {
      const market = await Market.start();
      await use(market);
      await market.remove();
    },
    { scope: "worker", timeout: 180_000 },
  ],
  people: [async ({ market }, use) => use(new People(market.base)), { scope: "worker" }],
  as: ["engineer", { option: true }],
  storageState: async ({ as, people }, use) => {
    await use(as === "nobody" ? { cookies: [], origins: [] } : await people.state(as));
  },
  baseURL: async ({ market }, use) => use(market.base),
  expectedMessages: [[], { option: true }],
  quietConsole: [
    async ({ context, expectedMessages }, use) => {
      const messages: string[] = [];
      context.on("weberror", (error) => messages.push(`uncaught: ${error.error().message}`));
      context.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") {
          messages.push(`${message.type()}: ${message.text()} (${message.location().url})`);
        }
      });
      await use();
      const unexpected = messages.filter((text) => !expectedMessages.some((known) => known.test(text)));
      expect(unexpected, "messages on the console").toEqual([]);
    },
    { auto: true },
  ],
});

/** The pages of the product, by the name that their screenshots get. */
export const pages: [name: string, path: string][] = [
  ["market", "/"],
  ["book", "/book"],
  ["allocations", "/allocations"],
  ["cycles", "/cycles"],
  ["cycle", "/cycles/1"],
  ["not-found", "/no-such-page"],
];

/** Opens a page and waits until the browser has taken it over from the server. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await expect(page.locator("html")).toHaveAttribute("data-hydrated", "");
}

/** The state of the stream of server events, as the page shows it. */
export function streamState(page: Page) {
  return page.locator(".live");
}

/** Number of the cycle that the page shows in its top bar. */
export async function shownCycle(page: Page): Promise<number> {
  const text = await page.locator(".clock .cycle").innerText();
  const digits = /Cycle\s+([\d\s.,\u00a0\u202f]+)/.exec(text)?.[1]?.replace(/\D/g, "");
  if (!digits) throw new Error(`no cycle in ${JSON.stringify(text)}`);
  return Number(digits);
}
