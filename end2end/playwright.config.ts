import { defineConfig } from "@playwright/test";

/** Chromium as Debian installs it; `QUOTA_CHROMIUM` names another one. */
const executablePath = process.env.QUOTA_CHROMIUM ?? "/usr/bin/chromium";

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  // Each worker starts a market of its own; two keep two cores busy without starving the clearing loop.
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  retries: 0,
  // Conditions are waited for, so these limits only end a test that has failed already.
  timeout: 240_000,
  expect: { timeout: 30_000 },
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    timezoneId: "UTC",
    locale: "en-GB",
    trace: "retain-on-failure",
    launchOptions: {
      executablePath,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
