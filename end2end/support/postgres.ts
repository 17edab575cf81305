import { execFile, spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./market.js";

const run = promisify(execFile);

/** Where Debian puts the versions of the server. */
const versions = "/usr/lib/postgresql";

/** A PostgreSQL server of a test's own, on a port of this machine, that can be stopped and started. */
export class Postgres {
  private constructor(
    private readonly port: number,
    private readonly folder: string,
    private readonly binaries: string,
  ) {}

  /** Makes one and starts it. */
  static async start(): Promise<Postgres> {
    const newest = (await readdir(versions)).sort((one, two) => Number(one) - Number(two)).at(-1);
    if (!newest) throw new Error(`there is no PostgreSQL in ${versions}`);
    const folder = await mkdtemp(join(tmpdir(), "quota-postgres-"));
    // The server refuses to run as root; then it runs as the user `postgres`, who needs the folder.
    await chmod(folder, 0o777);
    const server = new Postgres(await freePort(), folder, join(versions, newest, "bin"));
    server.endWithThisProcess();
    await server.call("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "-D", server.data);
    await server.comeUp();
    return server;
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  async comeUp(): Promise<void> {
    const options = `-k ${this.folder} -c listen_addresses=127.0.0.1 -c port=${this.port} -c fsync=off`;
    await this.call("pg_ctl", "-w", "-D", this.data, "-l", join(this.folder, "log"), "-o", options, "start");
  }

  /** Ends all its connections and stops. */
  async goAway(): Promise<void> {
    await this.call("pg_ctl", "-w", "-m", "fast", "-D", this.data, "stop");
  }

  /** Stops it and removes its data. */
  async remove(): Promise<void> {
    await this.call("pg_ctl", "-w", "-m", "immediate", "-D", this.data, "stop").catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }

  private get data(): string {
    return join(this.folder, "data");
  }

  /** Program and arguments, as the user that may run the server. */
  private command(program: string, args: string[]): [string, string[]] {
    const path = join(this.binaries, program);
    return process.getuid?.() === 0 ? ["runuser", ["-u", "postgres", "--", path, ...args]] : [path, args];
  }

  private async call(program: string, ...args: string[]): Promise<void> {
    const [file, words] = this.command(program, args);
    await run(file, words);
  }

  /** Leaves a shell behind that stops the server should this process be killed. */
  private endWithThisProcess(): void {
    const [file, words] = this.command("pg_ctl", ["-m", "immediate", "-D", this.data, "stop"]);
    const script = 'parent=$1; shift; while kill -0 "$parent" 2>/dev/null; do sleep 0.5; done; "$@"';
    const shell = ["-c", script, "sh", String(process.pid), file, ...words];
    spawn("sh", shell, { detached: true, stdio: "ignore" }).unref();
  }
}
