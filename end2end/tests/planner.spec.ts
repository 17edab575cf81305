import AxeBuilder from "@axe-core/playwright";
import { type Response, request } from "@playwright/test";
import { expect, test } from "../support/test.js";

// An engineer plans a job from its losses, places the bids, and lets the job report by a token: the plan follows.
test.describe.configure({ mode: "serial" });
test.use({ as: "engineer", expectedMessages: [/status of 4(12|22)/] });

/** A loss log up to a step; 20 steps take a chip-hour, and the loss comes down to 1. */
function log(from: number, to: number): string {
  const lines = ["step,loss,chip_hours"];
  for (let step = from; step <= to; step += 20) {
    lines.push(`${step},${(1 + 4 * (step / 20) ** -0.5).toFixed(5)},${step / 20}`);
  }
  return lines.join("\n");
}

/** An instant some hours from now, as a field for date and time takes it, in UTC. */
function hoursAhead(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 16);
}

let plan: string;

test("a log is refused with its line, kept, corrected and planned", async ({ page }) => {
  await page.goto("/planner");
  await page.getByLabel("Or its text").fill("step,loss,chip_hours\n20,5,1\n40,NaN,2\n");
  await page.getByLabel("Name of the job").fill("Nightly speech model");
  await page.getByLabel("Target loss").fill("1.2");
  await page.getByLabel("Deadline", { exact: true }).fill(hoursAhead(48));
  await page.getByLabel("Most chips at once").fill("16");
  await page.getByRole("button", { name: "Make the plan" }).click();
  await expect(page.getByRole("alert")).toContainText("Line 3: the loss is NaN");
  await expect(page.getByLabel("Name of the job")).toHaveValue("Nightly speech model");
  await expect(page.getByLabel("Or its text")).toHaveValue(/40,NaN,2/);
  await page.getByLabel("Loss log, as a file").setInputFiles({
    name: "losses.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(log(20, 1200)),
  });
  await page.getByRole("button", { name: "Make the plan" }).click();
  await expect(page).toHaveURL(/\/planner\/[^/]+\/[^/]+$/);
  plan = new URL(page.url()).pathname;
  await expect(page.getByRole("heading", { name: "How it stands" })).toBeVisible();
  await expect(page.locator(".verdict")).toContainText("It can finish");
  await expect(page.getByText("spoke").first()).toBeVisible();
  await expect(page.getByRole("img", { name: /Loss so far/ })).toBeVisible();
  await expect(page.getByRole("region", { name: "Chance by chips" })).toContainText("16");
  await expect(page.getByRole("heading", { name: "How the prices were foreseen" })).toBeVisible();
});

test("bids that became dearer since they were read are shown again before they are placed", async ({ page }) => {
  await page.goto(plan);
  await page.locator("input[name=seen_cost]").evaluate((input: HTMLInputElement) => { input.value = "0.01"; });
  await page.getByRole("button", { name: "Place the bids" }).click();
  await expect(page.getByRole("alert")).toContainText("The plan has become dearer since you read it, so nothing is placed");
  await expect(page.locator("input[name=seen_cost]")).not.toHaveValue("0.01");
  await expect(page.getByRole("region", { name: "Bids of the plan" })).toHaveCount(0);
});

test("one click places the bids", async ({ page }) => {
  await page.goto(plan);
  await expect(page.getByRole("region", { name: "Hours to bid for" }).locator("tbody tr")).not.toHaveCount(0);
  // The hours are foreseen again when they are bid for, and the demo's market has gone on since the page was read: where
  // they became dearer, the page shows them and asks again.
  let answer: Response;
  do {
    const answered = page.waitForResponse((response) => response.request().method() === "POST");
    await page.getByRole("button", { name: "Place the bids" }).click();
    answer = await answered;
    await page.waitForLoadState();
  } while (answer.status() === 412);
  await expect(page.getByRole("status")).toContainText(/Bids: \d+ placed/);
  const placed = Number((await page.getByRole("status").innerText()).match(/(\d+) placed/)?.[1]);
  expect(placed).toBeGreaterThan(0);
  await expect(page.getByRole("region", { name: "Bids of the plan" }).locator("tbody tr")).toHaveCount(placed);
  await expect(page.getByText("The bids fit the plan.")).toBeVisible();
});

test("the job reports by a token, and the plan and its bids follow", async ({ page, market }) => {
  await page.goto("/account");
  await page.getByLabel("What it is for").fill("nightly job");
  await page.getByRole("checkbox", { name: /^read:/ }).uncheck();
  await page.getByRole("checkbox", { name: /^losses:/ }).check();
  await page.getByRole("button", { name: "Make a token" }).click();
  const secret = (await page.locator("main").innerText()).match(/qm_[A-Za-z0-9_-]+/)?.[0];
  const [, , team, id] = plan.split("/");
  const job = await request.newContext({ baseURL: market.base, extraHTTPHeaders: { authorization: `Bearer ${secret}` } });
  const path = `/api/v1/teams/${team}/plans/${id}`;
  expect((await job.get(path)).status(), "it reads nothing").toBe(403);
  const report = { id: "done", losses: [{ step: 1400, loss: 1.19, chip_hours: 70 }] };
  const answer = await job.post(`${path}/losses`, { data: report });
  expect((await answer.json()).verdict).toBe("reached");
  await job.dispose();
  await page.goto(plan);
  await expect(page.locator(".verdict")).toContainText("was met");
  await expect(page.getByRole("heading", { name: "The bids no longer fit the plan" })).toBeVisible();
  await page.getByRole("button", { name: "Change the bids to the plan" }).click();
  await expect(page.getByRole("status")).toContainText("ended");
});

test("the pages fit every width, and axe finds nothing serious", async ({ page }) => {
  await page.goto("/planner");
  await expect(page.getByRole("link", { name: "Speech encoder, third run" }), "the demo has a plan").toBeVisible();
  for (const path of ["/planner", plan]) {
    await page.goto(path);
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(over, `${path} at ${width}`).toBeLessThanOrEqual(0);
      const { violations } = await new AxeBuilder({ page }).analyze();
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`)).toEqual([]);
    }
  }
  await page.screenshot({ path: "screenshots/plan.png", fullPage: true });
});

test.describe("without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("a plan that is there is read and closed", async ({ page }) => {
    await page.goto(plan);
    await page.getByRole("button", { name: "Close the plan" }).click();
    await expect(page.locator(".banner.done")).toContainText("The plan is closed.");
  });
});

for (const [person, heading] of [
  ["finance", "Foreseen spend of open plans"],
  ["admin", "Foreseen demand of open plans"],
] as const) {
  test.describe(`${person}`, () => {
    test.use({ as: person });

    test("sees what open plans come to", async ({ page }) => {
      await page.goto("/planner");
      await expect(page.getByRole("heading", { name: heading })).toBeVisible();
    });
  });
}
