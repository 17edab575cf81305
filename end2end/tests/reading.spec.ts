import AxeBuilder from "@axe-core/playwright";
import { expect, open, pages, streamState, test } from "../support/test.js";

const schemes = ["light", "dark"] as const;
const widths = [360, 1440, 2560];

for (const [name, path] of pages) {
  // The page of an address that does not exist answers 404, and the browser reports it.
  test.describe(name, () => {
    if (name === "not-found") test.use({ expectedMessages: [/status of 404/] });

    for (const colorScheme of schemes) {
      test(`${name} in ${colorScheme}: axe finds nothing serious`, async ({ page }) => {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await open(page, path);
        await expect(streamState(page)).toHaveAttribute("data-state", "live");
        const { violations } = await new AxeBuilder({ page }).analyze();
        const serious = violations
          .filter(({ impact }) => impact === "serious" || impact === "critical")
          .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
        expect(serious).toEqual([]);
      });

      test(`${name} in ${colorScheme}: fits from 360 to 2560 pixels`, async ({ page }) => {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        for (const width of widths) {
          await page.setViewportSize({ width, height: width < 600 ? 780 : 1000 });
          await open(page, path);
          await expect(streamState(page)).toHaveAttribute("data-state", "live");
          for (const chart of await page.locator("qm-chart").all()) {
            await expect(chart.locator("canvas").first()).toBeVisible();
          }
          const size = await page.evaluate(() => ({
            content: document.documentElement.scrollWidth,
            window: document.documentElement.clientWidth,
          }));
          expect(size.content, `${path} at ${width}`).toBeLessThanOrEqual(size.window);
          await page.screenshot({ path: `screenshots/${name}-${width}-${colorScheme}.png`, fullPage: true });
        }
      });
    }
  });
}

test("each chart has a summary in words and a table with its numbers", async ({ page }) => {
  for (const [, path] of pages) {
    if (path === "/no-such-page") continue;
    await open(page, path);
    for (const chart of await page.locator("qm-chart, svg.depth").all()) {
      const label = (await chart.getAttribute("data-label")) ?? (await chart.getAttribute("aria-label"));
      expect(label?.length ?? 0, path).toBeGreaterThan(20);
    }
    if ((await page.locator("qm-chart, svg.depth").count()) > 0) {
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      expect(await page.locator("main table tbody tr").count(), path).toBeGreaterThan(0);
    }
  }
});
