import { readFile } from "node:fs/promises";
import type { Download, Page } from "@playwright/test";
import { expect, test } from "../support/test.js";

// What leaves the program as a file, and whether the money adds up, as finance does it.
test.describe.configure({ mode: "serial" });

async function textOf(download: Download): Promise<string> {
  return readFile((await download.path()) ?? "", "utf8");
}

async function downloaded(page: Page, act: () => Promise<void>): Promise<Download> {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return download;
}

test.describe("finance", () => {
  test.use({ as: "finance" });

  test("chooses an export, reads what its columns mean, and gets the file at once or in the background", async ({ page }) => {
    await page.goto("/finance/exports");
    await page.getByLabel("Export", { exact: true }).selectOption("ledger");
    await page.getByLabel("Period", { exact: true }).fill("");
    await page.getByRole("button", { name: "Show" }).click();
    await expect(page.getByRole("row", { name: /balance_after_credits/ })).toContainText("The account's balance after the entry");
    const file = await downloaded(page, () => page.getByRole("link", { name: "Download" }).first().click());
    expect(file.suggestedFilename()).toBe("ledger-all-UTC.csv");
    const text = await textOf(file);
    expect(text).toMatch(/^transfer,entry,kind,counts_at,/);

    await page.getByRole("button", { name: "Make it in the background" }).click();
    await expect(page.getByRole("status")).toContainText("is being made");
    // Whoever leaves finds it again.
    await page.goto("/budget");
    await page.goto("/finance/exports");
    const job = page.getByRole("region", { name: "Exports in the background" }).getByRole("row").nth(1);
    await expect(job).toContainText("done", { timeout: 30_000 });
    const again = await downloaded(page, () => job.getByRole("link", { name: "Download" }).click());
    const rows = (whole: string) => whole.trimEnd().split("\r\n").length;
    expect(rows(await textOf(again))).toBeGreaterThanOrEqual(rows(text));
  });

  test("sets what a credit is worth, and exports charges as FOCUS with a column of the own choice", async ({ page }) => {
    await page.goto("/finance/exports?name=focus&period=");
    await expect(page.locator("main")).toContainText("this export needs it");
    await page.getByRole("link", { name: "Set it" }).click();
    await page.getByLabel("Currency").fill("EUR");
    await page.getByLabel("Value of a credit").fill("2.50");
    await page.getByLabel("Reason").fill("the plan of the year");
    await page.getByRole("button", { name: "Set the value" }).click();
    await expect(page.getByRole("status")).toContainText("2.50 EUR");
    await page.getByLabel(/^x_TimeZone/).check();
    await page.getByRole("button", { name: "Show" }).click();
    await expect(page.locator("main")).toContainText("A credit is worth 2.50 EUR this month.");
    const file = await downloaded(page, () => page.getByRole("link", { name: "Download" }).first().click());
    const [header, first] = (await textOf(file)).split("\r\n");
    expect(header).toMatch(/^BilledCost,BillingAccountId,.*,x_TimeZone$/);
    expect(first).toContain(",EUR,");
  });

  test("reconciles, and each check shows a difference of 0", async ({ page }) => {
    await page.goto("/finance/reconciliation");
    await page.getByRole("button", { name: "Reconcile" }).click();
    await expect(page.getByRole("status").first()).toContainText("has begun");
    await expect(page.locator("main")).toContainText("Everything adds up: the difference of each check is 0.", { timeout: 60_000 });
    const checks = page.getByRole("region", { name: "Checks and their figures" });
    await expect(checks.getByRole("row")).toHaveCount(7);
    await expect(checks).toContainText("Charges are chips used × price × time");
  });
});

test.describe("an engineer", () => {
  test.use({ as: "engineer", expectedMessages: [/status of 404/] });

  test("exports the entries of the own team, and knows of no reconciliation", async ({ page }) => {
    await page.goto("/budget/ledger");
    await page.getByRole("link", { name: "All as a file" }).click();
    const file = await downloaded(page, () => page.getByRole("link", { name: "Download" }).first().click());
    const owners = new Set((await textOf(file)).trimEnd().split("\r\n").slice(1).map((line) => line.split(",")[10]));
    expect(owners).toEqual(new Set(["team"]));
    expect((await page.goto("/finance/reconciliation"))?.status()).toBe(404);
  });
});
