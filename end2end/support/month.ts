import { readFile } from "node:fs/promises";
import { type Browser, type Page, expect } from "@playwright/test";
import { Market } from "./market.js";
import type { People } from "./people.js";

/** A market with the last days of the month before this one in its ledger. */
export async function marketWithAMonth(database?: string): Promise<Market> {
  const history = `${new Date().getUTCDate() + 2}d`;
  return Market.start({ history, ...(database && { database }) });
}

/** The period that the page shows, as it stands in an address. */
const periodOf = (page: Page) => page.getByLabel("Period", { exact: true }).inputValue();

/** The value of a figure of the page, by its name and unit. */
const figure = (page: Page, name: string) => page.locator("dl.figures div").filter({ hasText: name }).locator("dd").first();

/** A decimal number of credits in micro-credits. */
function micros(text: string): bigint {
  const [whole = "0", decimals = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, "0"));
  return text.startsWith("-") ? -size : size;
}

/** The rows of a CSV file whose texts have no commas, by the names of its columns. */
function rowsOf(csv: string): Record<string, string>[] {
  const [header = [], ...rows] = csv.trim().split("\r\n").map((line) => line.split(","));
  return rows.map((cells) => Object.fromEntries(header.map((name, at) => [name, cells[at] ?? ""])));
}

const sum = (amounts: bigint[]) => amounts.reduce((all, amount) => all + amount, 0n);

/** Lives a month as finance does: reads spend down to the ledger, has a mistake put right by two people, closes the month,
 * prints a statement, exports the ledger, reconciles. All numbers are the same. */
export async function liveAMonth(page: Page, browser: Browser, people: People, market: Market): Promise<void> {
  // The oldest month in the ledger is over and can be closed.
  await page.goto("/finance/months");
  await page.getByRole("row").last().getByRole("link", { name: "Spend" }).click();
  const period = await periodOf(page);

  // Spend: by pool, down to a team, a day and its entries.
  await page.getByRole("region", { name: /^Spend by pool/ }).getByRole("row").nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/group=team&pool=/);
  await page.getByRole("region", { name: /^Spend by team/ }).getByRole("row").nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/group=chip_type&pool=[^&]+&team=/);
  const team = new URL(page.url()).searchParams.get("team") ?? "";
  const spent = await figure(page, "local credits of").innerText();
  const days = page.getByRole("region", { name: /^Days of/ });
  await days.getByRole("row").nth(1).getByRole("link").click();
  await expect(page).toHaveURL(/\/budget\/ledger\?team=.*kind=charge/);
  await page.locator("main table tbody tr").first().getByRole("link").first().click();
  await expect(page.locator("main")).toContainText("It covers the cycles");

  // A correction, linked to what it corrects, waits for a second person.
  await page.getByRole("link", { name: "Correct it" }).click();
  await page.getByLabel("Amount", { exact: true }).fill("5.00");
  await page.getByLabel("Reason").fill("the meter ran twice");
  await page.getByRole("button", { name: "Book", exact: true }).click();
  await expect(page.getByRole("status")).toContainText("waits for a second person");
  const booking = page.url();
  await expect(page.locator("main")).toContainText("another person has to approve");
  const context = await browser.newContext({ storageState: await people.state("admin"), baseURL: market.base });
  const admin = await context.newPage();
  await admin.goto("/finance/bookings?pending=true");
  await admin.getByRole("row").nth(1).getByRole("link").first().click();
  await admin.getByLabel("Decision").selectOption("approve");
  await admin.getByLabel("Reason").fill("seen the meter");
  await admin.getByRole("button", { name: "Decide" }).click();
  await expect(admin.getByRole("status")).toContainText("It is booked");
  await context.close();
  await page.goto(booking);
  await page.getByRole("link", { name: /^transfer/ }).last().click();
  await expect(page.locator("main")).toContainText("It corrects transfer");

  // The close, for good, by keys.
  await page.goto(`/finance/months/${period}`);
  await page.getByLabel("Reason").focus();
  await page.keyboard.type("month end");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Close the month for good" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").first()).toContainText("The month is closed");
  await expect(page.locator("main")).toContainText("The ledger says the same now");

  // The statement has a number, prints on one page, and says what the page of spend said.
  await page.goto(`/finance/statements/of?team=${team}&period=${period}`);
  await expect(page.getByRole("heading", { name: /^Statement \d/, level: 2 })).toBeVisible();
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
  expect(pdf.match(/\/Type\s*\/Page\b(?!s)/g)).toHaveLength(1);
  // Asked from the page: its cookies are for pages only.
  const address = `/api/v1/teams/${team}/statement?period=${period}&format=csv`;
  const csv = await page.evaluate(async (path) => (await fetch(path)).text(), address);
  const lines = rowsOf(csv).map(({ line, amount_credits }) => ({ line, amount: micros(amount_credits ?? "") }));
  const charged = micros(spent.replaceAll(",", "").replace("\u2212", "-"));
  expect(-sum(lines.filter(({ line }) => line === "charge").map(({ amount }) => amount))).toBe(charged);
  const [opening, closing] = [lines.at(0)?.amount ?? 0n, lines.at(-1)?.amount ?? 0n];
  expect(opening + sum(lines.slice(1, -1).map(({ amount }) => amount))).toBe(closing);

  // The month leaves as a file: its charges are those of the page.
  await page.goto(`/finance/exports?name=ledger&period=${period}`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download" }).first().click(),
  ]);
  const entries = rowsOf(await readFile((await download.path()) ?? "", "utf8"));
  const own = entries.filter((entry) => entry["kind"] === "charge" && entry["account"] === "team" && entry["owner"] === team);
  expect(-sum(own.map((entry) => micros(entry["amount_credits"] ?? "")))).toBe(charged);

  // And everything adds up.
  await page.goto("/finance/reconciliation");
  await page.getByRole("button", { name: "Reconcile" }).click();
  const verdict = "Everything adds up: the difference of each check is 0.";
  await expect(page.locator("main")).toContainText(verdict, { timeout: 120_000 });
}
