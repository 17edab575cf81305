import { type Server, type Socket, connect, createServer } from "node:net";

/** A cable between browser and market that can be cut: it forwards bytes both ways. */
export class Wire {
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on("connection", (near) => this.forward(near));
  }

  /** Lays a cable to a port of this machine. */
  static async to(target: number): Promise<Wire> {
    const server = createServer();
    const wire = new Wire(server, target);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return wire;
  }

  /** Where the browser finds this end. */
  get base(): string {
    const address = this.server.address();
    if (address === null || typeof address === "string") throw new Error("the wire has no address");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Breaks all connections and refuses new ones. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  /** Lets connections through again. */
  mend(): void {
    this.isCut = false;
  }

  /** Takes the cable away. */
  async remove(): Promise<void> {
    this.cut();
    await new Promise((done) => this.server.close(done));
  }

  private forward(near: Socket): void {
    if (this.isCut) {
      near.destroy();
      return;
    }
    const far = connect(this.target, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      this.sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }
}
