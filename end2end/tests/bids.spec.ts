import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { expect, open, shownCycle, test } from "../support/test.js";

// What an engineer does: places bids, puts them in order, changes and ends them.
test.use({ as: "engineer" });
// All tests of a file share a market and a team: one after the other, each with bids of its own.
test.describe.configure({ mode: "serial" });

let number = 0;
/** A name that no other bid has. */
const newName = (what: string) => `${what} ${Date.now().toString(36)}${(number += 1)}`;

const rowOf = (page: Page, name: string): Locator => page.locator("table.queue tbody tr", { hasText: name });

/** Fills in what every bid needs. */
async function fill(page: Page, name: string, chips = "2", limit = "0.01") {
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Chip type", { exact: true }).selectOption({ index: 1 });
  await page.getByLabel("Chips", { exact: true }).fill(chips);
  await page.getByLabel("Limit in local credits per chip-hour").fill(limit);
}

/** Places a bid by the form; the page of the queue follows. */
async function place(page: Page, name: string, chips?: string, limit?: string) {
  await open(page, "/bids/new");
  await fill(page, name, chips, limit);
  await page.getByRole("button", { name: "Place bid" }).last().click();
  await expect(page).toHaveURL(/\/bids\?team=/);
  await expect(rowOf(page, name)).toBeVisible();
}

/** The names in the queue, in its order. */
const order = (page: Page) => page.locator("table.queue tbody tr a[data-row]").allInnerTexts();

test("a bid is previewed while it is typed, placed, and says when it takes effect", async ({ page }) => {
  const name = newName("preview");
  await open(page, "/bids/new");
  await expect(page.locator("[data-preview]")).toContainText("Choose a chip type");
  await fill(page, name, "2", "1000");
  const preview = page.locator("[data-preview]");
  await expect(preview).toContainText("Chips it would get now");
  await expect(preview).toContainText("credits per hour");
  await expect(preview).toContainText("Balance lasts");
  await page.getByLabel("Work", { exact: true }).fill("3");
  await page.getByLabel("Unit of the work").selectOption("each");
  // 3 hours on 2 chips, never more by nodes.
  await expect(preview).toContainText("6 chip-hours");
  await page.getByRole("button", { name: "Place bid" }).last().click();
  await expect(page.locator("[data-notice]")).toContainText("It takes effect in the next cycle.");
  await expect(rowOf(page, name)).toContainText("1000.00");
});

test("one button puts a bid at the head of the queue", async ({ page }) => {
  const [one, other] = [newName("ahead"), newName("behind")];
  await place(page, one);
  await place(page, other);
  await rowOf(page, other).getByRole("button", { name: `Put first ${other}` }).click();
  await expect(page.locator("[data-notice]")).toContainText("The new order takes effect in the next cycle.");
  await page.mouse.move(0, 0);
  await expect.poll(async () => (await order(page))[0]).toBe(other);
  await expect(rowOf(page, other).getByRole("button", { name: /^Put first/ })).toHaveCount(0);
});

test("pressing twice places once", async ({ page }) => {
  const name = newName("twice");
  await open(page, "/bids/new");
  await fill(page, name);
  await page.getByRole("button", { name: "Place bid" }).last().dblclick();
  await expect(rowOf(page, name)).toHaveCount(1);
});

test("t106 no limit is a choice of its own, and nothing is chosen silently", async ({ page }) => {
  await open(page, "/bids/new");
  await fill(page, newName("limit"), "2", "");
  await expect(page.locator("[name=limit_kind]:checked")).toHaveCount(0);
  await page.getByRole("button", { name: "Place bid" }).last().click();
  await expect(page.locator("#fault-limit")).toContainText("choose “no limit”");
  await expect(page).toHaveURL(/\/bids\/new/);
  await page.getByLabel("No limit").check();
  await expect(page.locator("#fault-limit")).toBeEmpty();
});

test("bad input is said beside its field and stays in it", async ({ page }) => {
  await open(page, "/bids/new");
  const name = "=HYPERLINK(\"x\") \u202eabc";
  await fill(page, name);
  for (const [label, field, bad] of [
    ["Limit in local credits per chip-hour", "limit", ["-5", "NaN", "1e309", "1,000", "1000000000000000000"]],
    ["Chips", "chips.0", ["0", "9223372036854775808", "1.5", "4000000000"]],
    ["Needs at least", "min_chips.0", ["3", "-1"]],
    ["Work", "work", ["0", "-2", "1,000"]],
  ] as const) {
    const input = page.getByLabel(label, { exact: true });
    const before = await input.inputValue();
    for (const text of bad) {
      await input.fill(text);
      await expect(page.locator(`[id="fault-${field}"]`), `${field}: ${text}`).not.toBeEmpty();
      await expect(input).toHaveValue(text);
    }
    await input.fill(before);
    await expect(page.locator(`[id="fault-${field}"]`)).toBeEmpty();
  }
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue(name);
});

test("t101 rows keep their order and the focus while somebody points at them", async ({ page }) => {
  const [first, second] = [newName("held"), newName("held")];
  await place(page, first);
  await place(page, second);
  const before = await order(page);
  const idOf = (name: string) => rowOf(page, name).getByRole("checkbox").inputValue();
  const move = new URLSearchParams({ move: await idOf(second), before: await idOf(before[0] ?? first) });
  await rowOf(page, first).hover();
  // Somebody else of the team, as far as this page can tell.
  const status = await page.evaluate(async (body) => {
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify({ address: "/bids", body }) };
    return (await fetch("/pages/send-bids", request)).status;
  }, String(move));
  expect(status).toBe(200);
  const cycle = await shownCycle(page);
  await expect.poll(() => shownCycle(page)).toBeGreaterThan(cycle + 1);
  expect(await order(page)).toEqual(before);
  await page.mouse.move(5, 5);
  await expect.poll(async () => (await order(page))[0]).toBe(second);
});

test("a bid is moved by keys and by dragging, and a screen reader hears where it is", async ({ page }) => {
  const name = newName("moved");
  await place(page, name);
  const handle = rowOf(page, name).getByRole("button", { name: /^Move/ });
  await handle.focus();
  await page.keyboard.press("Home");
  await expect(handle).toBeFocused();
  await expect(page.locator("[data-moved]")).toContainText(`${name} is at place 1 of`);
  await expect(page.locator("[data-notice]")).toContainText("The new order takes effect");
  // The scripts must have taken the rows over before one is dragged.
  await open(page, page.url());
  expect((await order(page))[0]).toBe(name);
  const target = page.locator("table.queue tbody tr").nth(1);
  // Rows may still take their place on the page: each is looked for when the pointer goes there.
  await rowOf(page, name).getByRole("button", { name: /^Move/ }).hover();
  await page.mouse.down();
  const to = await target.boundingBox();
  if (!to) throw new Error("the row has no place");
  await page.mouse.move(to.x + 60, to.y + to.height / 2, { steps: 5 });
  await page.mouse.up();
  await expect.poll(async () => (await order(page))[1]).toBe(name);
  await page.mouse.move(5, 5);
  await expect(page.locator("[data-notice]")).toContainText("The new order takes effect");
  await page.reload();
  expect((await order(page))[1]).toBe(name);
});

test("an edit that meets another one shows what changed and keeps what was typed", async ({ page, context }) => {
  const name = newName("conflict");
  await place(page, name);
  await open(page, (await rowOf(page, name).getByRole("link", { name: /^Edit/ }).getAttribute("href")) ?? "");
  const limit = (on: Page) => on.getByLabel("Limit in local credits per chip-hour");
  await limit(page).fill("0.03");
  const elsewhere = await context.newPage();
  await open(elsewhere, page.url());
  await limit(elsewhere).fill("0.02");
  await elsewhere.getByRole("button", { name: "Save the change" }).last().click();
  await expect(elsewhere.locator("[data-notice]")).toContainText("takes effect in the next cycle");
  await elsewhere.close();
  await page.getByRole("button", { name: "Save the change" }).last().click();
  await expect(page.locator("[data-notice]")).toContainText("Somebody changed this bid while you typed");
  await expect(page.locator("[data-notice] tbody")).toContainText("0.02");
  await expect(limit(page)).toHaveValue("0.03");
  await page.getByRole("button", { name: "Save the change" }).last().click();
  await expect(page).toHaveURL(/\/bids\/[^?]+$/);
  await expect(page.locator("dl.terms")).toContainText("0.03");
});

test("chosen bids are paused, resumed and ended together; the end is asked for once", async ({ page }) => {
  const names = [newName("bulk"), newName("bulk")];
  for (const name of names) await place(page, name);
  const choose = async () => {
    for (const name of names) await rowOf(page, name).getByRole("checkbox").check();
  };
  const bulk = page.getByRole("group", { name: "Chosen bids" });
  await expect(bulk.getByRole("button", { name: "Pause" })).toBeDisabled();
  await choose();
  await expect(bulk).toContainText("2 chosen");
  await bulk.getByRole("button", { name: "Pause" }).click();
  await expect(page.locator("[data-notice]")).toContainText("2 bids are paused");
  for (const name of names) await expect(rowOf(page, name)).toContainText("paused");
  await choose();
  await bulk.getByRole("button", { name: "Resume" }).click();
  await expect(page.locator("[data-notice]")).toContainText("2 bids are resumed");
  await choose();
  await bulk.getByRole("button", { name: "Cancel" }).click();
  await expect(page.locator(".ask")).toContainText("can't be resumed");
  await page.getByRole("link", { name: "Keep" }).click();
  await expect(page.locator(".ask")).toHaveCount(0);
  await expect(rowOf(page, names[0])).toBeVisible();
  await choose();
  await bulk.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "End these 2 bids" }).click();
  for (const name of names) await expect(rowOf(page, name)).toHaveCount(0);
  await page.getByRole("link", { name: /^Ended/ }).click();
  await expect(page.locator("table", { hasText: names[0] })).toContainText("cancelled");
});

test.describe("without a session", () => {
  // The browser itself reports the refused request.
  test.use({ expectedMessages: [/status of 401/] });

  test("a form loses nothing when the session ends in the middle, over a reload too", async ({ page, context }) => {
    const name = newName("kept");
    await open(page, "/bids/new");
    await fill(page, name, "3", "0.07");
    const cookies = await context.cookies();
    await context.clearCookies();
    await page.getByRole("button", { name: "Place bid" }).last().click();
    await expect(page.locator("[data-notice]")).toContainText("Your session has ended");
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue(name);
    await context.addCookies(cookies);
    await open(page, page.url());
    await expect(page.locator("[data-notice]")).toContainText("What you typed here before stands in the form again");
    await expect(page.getByLabel("Name", { exact: true })).toHaveValue(name);
    await expect(page.getByLabel("Chips", { exact: true })).toHaveValue("3");
    await page.getByRole("button", { name: "Place bid" }).last().click();
    await expect(rowOf(page, name)).toHaveCount(1);
  });
});

test("a bid is placed, edited and ended with scripts off", async ({ browser, page, market }) => {
  const context = await browser.newContext({
    baseURL: market.base,
    javaScriptEnabled: false,
    storageState: await page.context().storageState(),
  });
  const plain = await context.newPage();
  const name = newName("plain");
  await plain.goto("/bids/new");
  await fill(plain, name, "x", "0.01");
  await plain.getByRole("button", { name: "Place bid" }).last().click();
  await expect(plain.locator('[id="fault-chips.0"]')).toContainText("whole number");
  await expect(plain.getByLabel("Name", { exact: true })).toHaveValue(name);
  await plain.getByLabel("Chips", { exact: true }).fill("2");
  await plain.getByRole("button", { name: "Place bid" }).last().click();
  await expect(rowOf(plain, name)).toBeVisible();
  await rowOf(plain, name).getByRole("link", { name: /^Edit/ }).click();
  await plain.getByLabel("Limit in local credits per chip-hour").fill("0.02");
  await plain.getByRole("button", { name: "Save the change" }).last().click();
  await expect(plain.locator("dl.terms")).toContainText("0.02");
  await plain.getByRole("button", { name: /^Cancel/ }).click();
  await plain.getByRole("button", { name: "End this bid" }).click();
  await expect(rowOf(plain, name)).toHaveCount(0);
  await context.close();
});

test("one bids, the other sees it in the depth with the next cycle, marked as the team's own", async ({ page, browser, market }) => {
  const context = await browser.newContext({ baseURL: market.base, storageState: await page.context().storageState() });
  const reader = await context.newPage();
  await open(reader, "/book");
  const name = newName("depth");
  await place(page, name, "7", "0.011");
  await expect(reader.locator("tr.mine", { hasText: name })).toBeVisible();
  await context.close();
});

test("t118 a time that clocks skip is refused in words", async ({ browser, page, market }) => {
  const context = await browser.newContext({
    baseURL: market.base,
    timezoneId: "Europe/Berlin",
    storageState: await page.context().storageState(),
  });
  const berlin = await context.newPage();
  await open(berlin, "/bids/new");
  await expect(berlin.locator("form [data-zone]")).toHaveText("Europe/Berlin");
  await berlin.getByLabel("Not before").fill("2027-03-28T02:30");
  await expect(berlin.locator("#fault-not_before")).toContainText("does not exist in Europe/Berlin");
  await context.close();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the pages of bids in ${colorScheme}: axe finds nothing serious, and they fit`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const name = newName("looks");
    await place(page, name);
    const bid = await rowOf(page, name).locator("a[data-row]").getAttribute("href");
    for (const [shot, path] of [
      ["bids", "/bids"],
      ["bids-over", "/bids?show=ended"],
      ["bid", bid ?? ""],
      ["bid-edit", `${bid}?edit=yes`],
      ["bid-new", "/bids/new"],
    ]) {
      for (const width of [360, 1440, 2560]) {
        await page.setViewportSize({ width, height: width < 600 ? 780 : 1000 });
        await open(page, path);
        const size = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        expect(size[0], `${path} at ${width}`).toBeLessThanOrEqual(size[1]);
        await page.screenshot({ path: `screenshots/${shot}-${width}-${colorScheme}.png`, fullPage: true });
      }
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
      expect(serious, path).toEqual([]);
    }
  });
}
