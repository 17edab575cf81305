import { expect, open, shownCycle, test } from "../support/test.js";

// Lists are sorted by their headings; the address holds the order, and rows do not jump while somebody looks.

const names = (rows: import("@playwright/test").Locator) =>
  rows.evaluateAll((rows) => rows.filter((row) => !row.hidden).map((row) => row.cells[0].textContent?.trim() ?? ""));

const numbers = (cells: import("@playwright/test").Locator) =>
  cells.evaluateAll((cells) => cells.map((cell) => Number(cell.textContent?.replace(/[^\d.]/g, ""))));

const isFalling = (values: number[]) => values.every((value, at) => at === 0 || values[at - 1] >= value);

test("the market is sorted by a heading, stays so through cycles, and the address leads there again", async ({ page }) => {
  await open(page, "/");
  const supply = page.locator("table.prices tbody [data-label=Supply]");
  const heading = page.locator("table.prices thead th", { hasText: "Supply" });
  const own = await names(page.locator("table.prices tbody tr"));
  await heading.getByRole("button").click();
  await expect(heading).toHaveAttribute("aria-sort", "descending");
  await expect(page).toHaveURL(/[?&]sort=-supply/);
  expect(isFalling(await numbers(supply))).toBeTruthy();
  await expect(page.locator("[role=status]", { hasText: "Sorted by Supply, greatest first" })).toBeAttached();
  const cycle = await shownCycle(page);
  await expect.poll(() => shownCycle(page)).toBeGreaterThan(cycle);
  expect(isFalling(await numbers(supply))).toBeTruthy();
  // Opening a row is a step of its own in the address, which keeps the order.
  await page.locator("table.prices [data-row]").last().click();
  await expect(page).toHaveURL(/[?&]chip=/);
  await expect(page).toHaveURL(/[?&]sort=-supply/);
  await page.reload();
  await expect(heading).toHaveAttribute("aria-sort", "descending");
  expect(isFalling(await numbers(supply))).toBeTruthy();
  // By keys: the other way, then the page's own order.
  await heading.getByRole("button").focus();
  await page.keyboard.press("Enter");
  await expect(heading).toHaveAttribute("aria-sort", "ascending");
  await page.keyboard.press("Enter");
  await expect(heading).not.toHaveAttribute("aria-sort");
  await expect(page).not.toHaveURL(/sort=/);
  expect(await names(page.locator("table.prices tbody tr"))).toEqual(own);
});

test("t101: new cycles leave the focus, the scrolled place and the rows under the pointer as they are", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 500 });
  await open(page, "/?sort=-asked-for");
  const table = page.locator("table.prices");
  await expect(table.locator("[aria-sort]")).toHaveCount(1);
  const focused = table.locator("[data-row]").nth(1);
  const name = await focused.innerText();
  await focused.focus();
  await page.evaluate(() => scrollTo(0, 60));
  const cycle = await shownCycle(page);
  await expect.poll(() => shownCycle(page)).toBeGreaterThan(cycle + 1);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(name);
  expect(await page.evaluate(() => scrollY)).toBe(60);

  // A list to which each cycle adds a row holds still under the pointer, and goes on behind it.
  await open(page, "/cycles");
  const third = page.locator("main tbody tr").nth(2);
  await third.hover();
  // What was being read when the pointer came is shown still.
  const came = await shownCycle(page);
  await expect.poll(() => shownCycle(page)).toBeGreaterThan(came);
  const pointed = await third.innerText();
  const shown = await shownCycle(page);
  await expect.poll(() => shownCycle(page)).toBeGreaterThan(shown + 1);
  expect(await third.innerText()).toBe(pointed);
  await page.mouse.move(5, 5);
  await expect.poll(() => third.innerText()).not.toBe(pointed);
  const link = page.locator("main tbody tr").nth(2).locator("[data-row]");
  const focusedCycle = await link.innerText();
  await link.focus();
  const next = await shownCycle(page);
  await expect.poll(() => shownCycle(page)).toBeGreaterThan(next + 1);
  await expect(link).toBeFocused();
  expect(await link.innerText()).toBe(focusedCycle);
  await page.locator("main").focus();
  await expect.poll(() => link.innerText()).not.toBe(focusedCycle);
});

test.describe("long lists", () => {
  test.use({ as: "admin" });

  test("are searched, the search stands in the address, and amounts are sorted exactly", async ({ page }) => {
    await page.goto("/organisation");
    const teams = page.locator("table[data-sortable=teams]");
    const rows = teams.locator("tbody tr");
    const all = await rows.count();
    const wanted = (await names(rows))[3];
    const box = page.getByRole("searchbox", { name: "Find in Teams" });
    await box.fill(wanted);
    await expect(page.locator(".find")).toContainText(`1 of ${all}`);
    expect(await names(rows)).toEqual([wanted]);
    await page.reload();
    await expect(box).toHaveValue(wanted.toLowerCase());
    expect(await names(rows)).toEqual([wanted]);
    await box.fill("");
    await expect(page).not.toHaveURL(/find/);
    await teams.getByRole("button", { name: /^Income/ }).click();
    await expect(page).toHaveURL(/teams\.sort=-income/);
    expect(isFalling(await numbers(teams.locator("[data-label=Income]")))).toBeTruthy();
    // On a narrow page, where rows are cards, the headings stay.
    await page.setViewportSize({ width: 360, height: 740 });
    await teams.getByRole("button", { name: /^Leverage/ }).click();
    await expect(page).toHaveURL(/teams\.sort=-leverage/);
  });
});

test("the queue is asked for once when one goes there, and not when one leaves", async ({ page }) => {
  await open(page, "/");
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/pages/bids")) asked.push(request.url());
  });
  // A cycle in between asks once more: what counts is the least of some tries.
  const counts = { going: Infinity, inside: Infinity, leaving: Infinity };
  for (let tries = 0; tries < 3; tries += 1) {
    asked.length = 0;
    await page.locator('.rail a[href="/bids"]').click();
    await expect(page.locator("#bids-title")).toBeVisible();
    counts.going = Math.min(counts.going, asked.length);
    asked.length = 0;
    await page.locator("[data-new-bid]").click();
    await expect(page.locator("#preview-title")).toBeVisible();
    counts.inside = Math.min(counts.inside, asked.length);
    asked.length = 0;
    await page.locator('.rail a[href="/"]').click();
    await expect(page.locator("table.prices")).toBeVisible();
    counts.leaving = Math.min(counts.leaving, asked.length);
  }
  expect(counts).toEqual({ going: 1, inside: 1, leaving: 0 });
});

// A filter by time is typed and shown in the viewer's zone; links to the same rows hold instants.
for (const [name, javaScriptEnabled, zone, from] of [
  ["with scripts", true, "Europe/Berlin", "2026-11-01T00:00:00+01:00"],
  ["without scripts", false, "UTC", "2026-11-01T00:00:00Z"],
] as const) {
  test.describe(`a filter by time ${name}`, () => {
    test.use({ as: "engineer", timezoneId: "Europe/Berlin", javaScriptEnabled, expectedMessages: [/status of 422/] });

    test("names its zone, keeps what was typed, and says what is wrong beside the field", async ({ page }) => {
      await page.goto("/budget/ledger");
      await expect(page.getByText(`Times in ${zone}`, { exact: true })).toBeVisible();
      await page.getByLabel("From").fill("2026-11-01T00:00");
      await page.getByRole("button", { name: "Filter" }).click();
      await expect(page).toHaveURL(/from=2026-11-01T00/);
      await expect(page.getByLabel("From")).toHaveValue("2026-11-01T00:00");
      const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
      const instant = new URL(csv ?? "", page.url()).searchParams.get("from");
      expect(new Date(instant ?? "").getTime()).toBe(new Date(from).getTime());
      // An address that holds an instant leads to the same.
      await page.goto(`/budget/ledger?from=${instant}`);
      await expect(page.getByLabel("From")).toHaveValue("2026-11-01T00:00");
      await page.goto("/budget/ledger?from=1e309");
      await expect(page.locator(".field", { hasText: "From" })).toContainText('"1e309" is not a date and a time');
    });
  });
}

test("the heading of a panel stands in one line beside what can be done", async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await open(page, "/");
  const header = page.locator("section[aria-labelledby=depth-title] > header");
  const heights = await header.evaluate((header) => [...header.children].map((part) => part.getBoundingClientRect()));
  const centres = heights.map((box) => Math.round(box.top + box.height / 2));
  expect(Math.abs(centres[0] - centres[1])).toBeLessThanOrEqual(2);
});
