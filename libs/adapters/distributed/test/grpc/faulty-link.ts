import { connect, createServer, type Server, type Socket } from 'node:net';

/** More than what both ends say beside requests and answers. */
const LARGE_BYTES = 4_096;

/** Between callers and a replica: what callers see of one that is killed, hung, or dies before its answer. */
export class FaultyLink {
  /** Callers' connections so far. */
  connections = 0;
  private readonly sockets = new Set<Socket>();
  /** What reaches its end when the replica wakes; without data, the end of the connection. */
  private readonly heldBack: { readonly to: Socket; readonly data?: Buffer }[] = [];
  private server: Server | undefined;
  private isHung = false;
  private cutsLeft = 0;

  private constructor(
    readonly port: number,
    private readonly replicaPort: number,
  ) {}

  static async open(port: number, replicaPort: number): Promise<FaultyLink> {
    const link = new FaultyLink(port, replicaPort);
    await link.heal();
    return link;
  }

  /** As of a killed process: every connection ends, and no other can be made. */
  async cut(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  async heal(): Promise<void> {
    const server = createServer((caller) => this.relay(caller));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
  }

  /** As of a stopped process: connections stay and are taken, nothing is answered, and what was sent waits. */
  hang(): void {
    this.isHung = true;
  }

  /** What waited arrives at once, as what a system kept for a process. */
  wake(): void {
    this.isHung = false;
    for (const socket of this.sockets) socket.cork();
    for (const { to, data } of this.heldBack.splice(0)) {
      if (data === undefined) to.end();
      else to.write(data);
    }
    for (const socket of this.sockets) socket.uncork();
  }

  holdsBack(text: string): boolean {
    return this.heldBack.some(({ data }) => data?.includes(text));
  }

  /** The next large answers do not arrive: the connection ends in their place. */
  cutAnswers(count: number): void {
    this.cutsLeft = count;
  }

  private relay(caller: Socket): void {
    this.connections += 1;
    const replica = connect(this.replicaPort, '127.0.0.1');
    for (const [from, to] of [
      [caller, replica],
      [replica, caller],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => from.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        if (this.isHung) this.heldBack.push({ to });
        else to.destroy();
      });
      from.on('data', (data: Buffer) => {
        const isCut = from === replica && this.cutsLeft > 0 && data.length >= LARGE_BYTES;
        if (this.isHung) this.heldBack.push({ to, data });
        else if (!isCut) to.write(data);
        else {
          this.cutsLeft -= 1;
          from.destroy();
        }
      });
    }
  }
}
