import { expect, open, test } from "../support/test.js";

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
