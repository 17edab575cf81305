import { type BrowserContext, type Page, request } from "@playwright/test";

/** Who somebody is in a demo. */
export type Person = "engineer" | "finance" | "admin";

/** What a browser keeps of a session. */
export type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** How long a kept session serves new contexts: less than an access cookie is good for, with room for a test. */
const keptMillis = 8 * 60_000;

/** The password of a person of the demo. */
export function passwordOf(person: Person): string {
  return `${person}-demo`;
}

/** Signs people of a market in, each once in a while: attempts are limited, so tests share what a sign-in gave. */
export class People {
  private readonly kept = new Map<Person, { at: number; state: StorageState }>();

  constructor(private readonly base: string) {}

  async state(person: Person): Promise<StorageState> {
    const kept = this.kept.get(person);
    if (kept && Date.now() - kept.at < keptMillis) return kept.state;
    const browser = await request.newContext({ baseURL: this.base });
    const form = { login: person, password: passwordOf(person), next: "/sign-in" };
    const answer = await browser.post("/sign-in", { form, maxRedirects: 0 });
    if (answer.status() !== 303) throw new Error(`${person} can't sign in: ${await answer.text()}`);
    const state = await browser.storageState();
    await browser.dispose();
    this.kept.set(person, { at: Date.now(), state });
    return state;
  }

  /** Says that a person's sessions have ended, so that the next test gets a new one. */
  forget(person: Person): void {
    this.kept.delete(person);
  }
}

/** Signs in as a person does, from whatever page led to the sign-in. */
export async function signIn(page: Page, person: Person): Promise<void> {
  await page.getByLabel("Name or e-mail").fill(person);
  await page.getByLabel("Password").fill(passwordOf(person));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}
