import type { Locator, Page } from "@playwright/test";
import { expect, open, test } from "../support/test.js";

/** Goes on by the Tab key until an element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let step = 0; step < 300; step += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("Tab does not lead there");
}

/** Goes to a field and types over what it says. */
async function type(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field);
  await page.keyboard.type(text);
}

/** Goes to a button or link and presses it. */
async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press("Enter");
}

test("the first Tab offers to skip to the content", async ({ page }) => {
  await open(page, "/");
  await page.keyboard.press("Tab");
  await expect(page.locator("a.skip")).toBeFocused();
  await expect(page.locator("a.skip")).toBeInViewport();
  await page.keyboard.press("Enter");
  await expect(page.locator("main")).toBeFocused();
});

test("the question mark lists the keys, Escape closes the list", async ({ page }) => {
  await open(page, "/");
  await page.keyboard.press("?");
  await expect(page.locator("dialog#keys")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator("dialog#keys")).toBeHidden();
});

test("arrows move through the rows, Enter opens one", async ({ page }) => {
  await open(page, "/");
  const rows = page.locator("table.prices [data-row]");
  await rows.first().focus();
  await page.keyboard.press("ArrowDown");
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.press("End");
  await expect(rows.last()).toBeFocused();
  await page.keyboard.press("Home");
  await expect(rows.first()).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/[?&]chip=/);
});

test("two letters lead to each page", async ({ page }) => {
  await open(page, "/");
  for (const [letter, path] of [
    ["b", "/book"],
    ["a", "/allocations"],
    ["c", "/cycles"],
    ["m", "/"],
  ]) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await expect(page).toHaveURL(new RegExp(`${path}$`));
  }
});

test("every control shows where the focus is", async ({ page }) => {
  await open(page, "/");
  const steps = await page.locator("a[href], button, select, summary, [tabindex='0']").count();
  for (let step = 0; step < Math.min(steps, 40); step += 1) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return undefined;
      // A link that fills its row marks the whole row, by what stands after it.
      const marked = [undefined, "::after"].some((part) => {
        const style = getComputedStyle(element, part);
        return style.outlineStyle !== "none" || style.boxShadow !== "none";
      });
      return { name: element.outerHTML.slice(0, 80), marked };
    });
    if (focused) expect(focused.marked, focused.name).toBeTruthy();
  }
});

test("the chosen theme stays", async ({ page }) => {
  await open(page, "/");
  await page.locator('[data-theme-choice="dark"]').click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await open(page, "/book");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("a bid is placed, opened and ended by keys alone", async ({ page }) => {
  const name = `by keys ${Date.now().toString(36)}`;
  await open(page, "/bids/new");
  await type(page, page.getByLabel("Name", { exact: true }), name);
  await tabTo(page, page.getByLabel("Chip type", { exact: true }));
  await page.keyboard.press("ArrowDown");
  await type(page, page.getByLabel("Chips", { exact: true }), "2");
  await type(page, page.getByLabel("Limit in local credits per chip-hour"), "0.01");
  await press(page, page.getByRole("button", { name: "Place bid" }).last());
  await expect(page).toHaveURL(/\/bids\?team=/);
  // The rows are one stop of the Tab key; arrows lead from one to the other.
  await tabTo(page, page.locator("table.queue [data-row]").first());
  await page.keyboard.press("End");
  await expect(page.getByRole("link", { name, exact: true })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/bids\/[^/?]+$/);
  await expect(page.getByRole("heading", { name }).first()).toBeVisible();
  await press(page, page.getByRole("button", { name: /^Cancel/ }).first());
  await press(page, page.getByRole("button", { name: "End this bid" }));
  await expect(page.locator("table.queue tbody tr", { hasText: name })).toHaveCount(0);
  await open(page, "/bids?show=ended");
  await expect(page.locator("main tbody tr", { hasText: name })).toContainText("cancelled");
});

test.describe("as admin", () => {
  test.use({ as: "admin" });

  test("supply is changed by keys alone", async ({ page }) => {
    await page.goto("/supply");
    const row = page.getByRole("row", { name: /T4 shared/ }).first();
    const chips = Number((await row.getByRole("cell").nth(1).innerText()).replace(/\D/g, ""));
    await press(page, row.getByRole("link", { name: "Change" }));
    await expect(page.getByLabel("Chips", { exact: true })).toBeVisible();
    await type(page, page.getByLabel("Chips", { exact: true }), String(chips + 8));
    await type(page, page.getByLabel("Reason"), "eight more came");
    await press(page, page.getByRole("button", { name: "Show the effect" }));
    await expect(page.getByRole("heading", { name: "Confirm the change" }).first()).toBeVisible();
    await press(page, page.getByRole("button", { name: "Set it" }));
    await expect(page.getByRole("status").first()).toContainText("it takes effect in cycle");
    await expect(row).toContainText((chips + 8).toLocaleString("en-US"));
  });
});
