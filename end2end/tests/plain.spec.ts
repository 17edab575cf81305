import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "../support/test.js";

// The pages that need no WebAssembly: readable by everybody, at every width.

const plainPages = [
  { name: "sign-in", path: "/sign-in", as: "nobody" },
  { name: "account", path: "/account", as: "engineer" },
  { name: "budget", path: "/budget", as: "engineer" },
  { name: "ledger", path: "/budget/ledger", as: "finance" },
  { name: "organisation", path: "/organisation", as: "admin" },
  { name: "team", path: "/organisation/teams/vc-0e4a51", as: "admin" },
  { name: "income", path: "/organisation/teams/vc-0e4a51/change", as: "admin" },
  { name: "shares", path: "/organisation/shares", as: "engineer" },
  { name: "settings", path: "/organisation/settings", as: "admin" },
  { name: "people", path: "/organisation/people", as: "admin" },
  { name: "watch-list", path: "/organisation/watch", as: "admin" },
  { name: "audit", path: "/organisation/audit", as: "admin" },
  { name: "exports", path: "/finance/exports?name=focus&period=2026", as: "finance" },
  { name: "reconciliation", path: "/finance/reconciliation", as: "finance" },
  { name: "supply", path: "/supply", as: "admin" },
  { name: "supply-chips", path: "/supply/chips?chip_type=T4", as: "admin" },
  { name: "supply-cuts", path: "/supply/cuts", as: "admin" },
  { name: "supply-import", path: "/supply/import", as: "admin" },
  { name: "what-if", path: "/what-if", as: "admin" },
  { name: "lab", path: "/lab", as: "admin" },
] as const;

async function expectsToFit(page: Page, name: string): Promise<void> {
  for (const width of [360, 1440, 2560]) {
    await page.setViewportSize({ width, height: width < 600 ? 780 : 1000 });
    const over = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    // A chart draws itself anew for its new width.
    await expect.poll(over, `${name} at ${width}`).toBeLessThanOrEqual(0);
  }
}

for (const { name, path, as } of plainPages) {
  for (const colorScheme of ["light", "dark"] as const) {
    test.describe(`${name} in ${colorScheme}`, () => {
      test.use({ as, colorScheme });

      test("axe finds nothing serious, and it fits", async ({ page }) => {
        await page.emulateMedia({ reducedMotion: "reduce" });
        await page.goto(path);
        await expectsToFit(page, name);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`)).toEqual([]);
        await page.screenshot({ path: `screenshots/${name}-${colorScheme}.png`, fullPage: true });
      });
    });
  }
}
