import type { Page } from "@playwright/test";
import { expect, test } from "../support/test.js";

// An admin and the supply, as one story: a cut is looked at before it is made, another one waits for its time, a file is
// mended and imported, and a what-if is kept under its link.
test.describe.configure({ mode: "serial" });
test.use({ as: "admin", expectedMessages: [/status of 422/] });

/** The row of T4's shared chips. */
const shared = (page: Page) => page.getByRole("row", { name: /T4 shared/ }).first();

/** Chips of T4 that are shared, as the page says. */
async function sharedChips(page: Page): Promise<number> {
  await page.goto("/supply");
  return Number((await shared(page).getByRole("cell").nth(1).innerText()).replace(/\D/g, ""));
}

async function setChips(page: Page, chips: string, at = ""): Promise<void> {
  await page.goto("/supply");
  await shared(page).getByRole("link", { name: "Change" }).click();
  await page.getByLabel("Chips", { exact: true }).fill(chips);
  await page.getByLabel("When").fill(at.slice(0, 16));
  await page.getByLabel("Reason").fill("less power in the hall");
  await page.getByRole("button", { name: "Show the effect" }).click();
}

test("a cut is shown with its effect, confirmed, and in force with the next cycle", async ({ page }) => {
  const before = await sharedChips(page);
  await setChips(page, "-5");
  await expect(page.getByLabel("Chips", { exact: true })).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Reason")).toHaveValue("less power in the hall");
  await setChips(page, String(before - 20));
  await expect(page.getByRole("heading", { name: "Confirm the change" }).first()).toBeVisible();
  await expect(page.locator("main")).toContainText("cleared without and with the change");
  await expect(page.getByRole("region", { name: "Teams" }).first()).toBeVisible();
  await page.getByRole("button", { name: "Set it" }).click();
  await expect(page.getByRole("status").first()).toContainText("it takes effect in cycle");
  await expect(shared(page)).toContainText((before - 20).toLocaleString("en-US"));
  // The change is on the time axis once its cycle has cleared.
  await expect(async () => {
    await page.goto("/supply?chip=T4");
    await page.getByText("Table of changes").click();
    await expect(page.getByRole("region", { name: "Changes of supply" }).getByRole("row").nth(1)).toContainText("−20 chips", { timeout: 1_000 });
  }).toPass();
  await page.goto("/organisation/audit?action=supply.changed");
  await expect(page.locator("main")).toContainText("less power in the hall");
});

test("a change at a time to come waits, and is taken back", async ({ page }) => {
  await setChips(page, "1", new Date(Date.now() + 86_400_000).toISOString());
  await page.getByRole("button", { name: "Plan it" }).click();
  const plan = page.getByRole("row", { name: /T4 shared: 1 chip/ });
  await expect(plan).toContainText("waits");
  await plan.getByRole("link", { name: "Take back" }).click();
  await page.getByLabel("Reason").fill("not needed");
  await page.getByRole("button", { name: "Take it back" }).click();
  await expect(page.getByRole("row", { name: /T4 shared: 1 chip/ })).toContainText("taken back: Demo admin: not needed");
});

test("a policy says what becomes of jobs that a cut leaves without quota", async ({ page }) => {
  await page.goto("/supply/cuts");
  await expect(page.locator("main")).toContainText("They stop with the cycle of the cut.");
  await page.getByRole("link", { name: "Change the policy" }).click();
  await page.getByLabel("Jobs that a cut leaves without quota").selectOption("reclaim");
  await page.getByLabel("Chips in a cycle at most").fill("16");
  await page.getByLabel("Reason").fill("drain gently");
  await page.getByRole("button", { name: "Set the policy" }).click();
  await expect(page.getByRole("status").first()).toContainText("The policy is set");
  await expect(page.locator("main")).toContainText("at most 16 chips in a cycle");
});

test("a file with a fault is refused with its line, and the mended one is imported", async ({ page }) => {
  const nodes = ["sn,cpu_milli,memory_mib,gpu,model", "n1,96000,786432,8,V100M32", "n2,96000,786432,-8,T4", "n3,1,1,2,A10"];
  const choose = async (lines: string[]) => {
    await page.goto("/supply/import");
    const buffer = Buffer.from(lines.join("\n"));
    await page.getByLabel("File", { exact: true }).setInputFiles({ name: "nodes.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Show what it changes" }).click();
  };
  await choose(nodes);
  await expect(page.getByRole("alert")).toContainText('Line 3 gpu is "-8"');
  await expect(page.getByRole("button", { name: "Import it" })).toHaveCount(0);
  await choose([nodes[0]!, nodes[1]!, nodes[2]!.replace("-8", "8"), nodes[3]!]);
  await expect(page.getByRole("alert")).toContainText("A10 is no chip type of this market");
  await expect(page.getByLabel("Chip type of V100M32")).toHaveValue("V100");
  await page.getByLabel("Chip type of A10").selectOption("-");
  await page.getByRole("button", { name: "Show it again" }).click();
  await expect(page.getByRole("region", { name: "The difference" }).first()).toContainText("V100");
  await page.getByLabel("Reason").fill("the new count");
  await page.getByRole("button", { name: "Import it" }).click();
  await expect(page.getByRole("status").first()).toContainText("Imported");
  expect(await sharedChips(page)).toBe(8);
});

test("a what-if is answered, sorted, and the same under its link", async ({ page }) => {
  await page.goto("/what-if");
  await page.getByLabel("Title").fill("Twice the T4");
  await page.getByLabel("Chip type", { exact: true }).selectOption("T4");
  await page.getByLabel("By", { exact: true }).fill("842");
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page).toHaveURL(/\/what-if\/[0-9a-f-]{36}$/);
  await expect(page.locator("main")).toContainText("842 more chips of NVIDIA T4, shared");
  const link = page.url();
  const gist = await page.getByRole("region", { name: "In short" }).innerText();
  await page.getByRole("link", { name: "by name" }).click();
  await expect(page.getByRole("link", { name: "by name" })).toHaveAttribute("aria-current", "true");
  await page.goto("/what-if");
  await page.getByRole("link", { name: "Twice the T4" }).click();
  expect(page.url()).toBe(link);
  expect(await page.getByRole("region", { name: "In short" }).innerText()).toBe(gist);
});
