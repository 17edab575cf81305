import { type ChildProcess, spawn } from "node:child_process";
import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The program under test; `./test` says where it was built. */
const program = resolve(process.env.QUOTA_PROGRAM ?? "../target/debug/quota-marketplace");

/** Seconds between two clearings. */
const cycleSeconds = 2;

/** Where a market keeps what it knows, and how much history a fresh one begins with. */
type MarketOptions = {
  /** A PostgreSQL's address; without one the market has a file of its own. */
  database?: string;
  /** Enough for prices unless a test says otherwise. */
  history?: string;
  /** Where it listens; without one on a free port. */
  port?: number;
  /** Settings by the names of their variables. */
  environment?: Record<string, string>;
};

/** How long a demo may take to make its history, to listen, and to end the last minute of its history. */
const startLimitMillis = 200_000;

/** A demo market in a process of its own, with its own database, which survives a restart. */
export class Market {
  private process: ChildProcess | undefined;
  private output = "";

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly options: MarketOptions,
  ) {}

  /** Starts a market on a free port of this machine. */
  static async start(options: MarketOptions = {}): Promise<Market> {
    const folder = await mkdtemp(join(tmpdir(), "quota-market-"));
    const market = new Market(options.port ?? (await freePort()), folder, options);
    await market.run();
    return market;
  }

  get base(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts the process and waits until it clears at its own pace. */
  async run(): Promise<void> {
    const database = this.options.database ?? `sqlite:${join(this.folder, "market.sqlite")}`;
    const place = ["--listen", `127.0.0.1:${this.port}`, "--database", database];
    const history = this.options.history ?? "7d";
    const flags = ["demo", ...place, "--history", history, "--cycle", String(cycleSeconds)];
    const child = spawn(program, flags, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...this.options.environment },
    });
    this.process = child;
    let failure: Error | undefined;
    child.on("error", (error) => (failure = error));
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-20_000)));
    }
    const limit = Date.now() + startLimitMillis;
    while (!(await this.isReady())) {
      if (failure || child.exitCode !== null || Date.now() > limit) {
        throw new Error(`the market did not start: ${failure ?? `exit code ${child.exitCode}`}\n${this.output}`);
      }
      await new Promise((done) => setTimeout(done, 100));
    }
  }

  /** Ends the process at once, as a power cut would. */
  async kill(): Promise<void> {
    const child = this.process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await ended;
  }

  /** Kills the process, keeps a copy of its database and goes on. */
  async backUp(): Promise<void> {
    await this.kill();
    await cp(this.folder, `${this.folder}.backup`, { recursive: true });
    await this.run();
  }

  /** Kills the process and goes on from the copy: what happened since never did. */
  async restore(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true });
    await rename(`${this.folder}.backup`, this.folder);
    await this.run();
  }

  /** Kills the process and removes its data. */
  async remove(): Promise<void> {
    await this.kill();
    for (const folder of [this.folder, `${this.folder}.backup`]) await rm(folder, { recursive: true, force: true });
  }

  private async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.base}/readyz`);
      return answer.ok && (await answer.json()).clock.cycle_seconds === cycleSeconds;
    } catch {
      return false;
    }
  }
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === "string") throw new Error("no port to be had");
  return address.port;
}
