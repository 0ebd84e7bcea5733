import { connect, createServer, type Server, type Socket } from 'node:net';

/** Minimum size in bytes of a request or response; smaller data is connection overhead. */
const LARGE_MESSAGE_MIN_BYTES = 4_096;

/**
 * Proxy between callers and a replica that simulates a killed or hung replica, or one that dies before its response.
 */
export class FaultyProxy {
  /** Number of connections that callers have opened so far. */
  connections = 0;
  private readonly sockets = new Set<Socket>();
  /** Data that the link delivers when the replica resumes. An entry without data ends the connection. */
  private readonly heldBack: { readonly to: Socket; readonly data?: Buffer }[] = [];
  private server: Server | undefined;
  private isHung = false;
  private cutsLeft = 0;

  private constructor(
    readonly port: number,
    private readonly replicaPort: number,
  ) {}

  static async openFaultyLink(port: number, replicaPort: number): Promise<FaultyProxy> {
    const link = new FaultyProxy(port, replicaPort);
    await link.acceptConnectionsAgain();
    return link;
  }

  /** Simulates a killed process: every connection ends and no new one is accepted. */
  async cutAndRefuseConnections(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  async acceptConnectionsAgain(): Promise<void> {
    const server = createServer((caller) => this.relayDataOfCaller(caller));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
  }

  /** Simulates a stopped process: connections are accepted and kept, nothing is answered, and sent data waits. */
  stopRelayingData(): void {
    this.isHung = true;
  }

  /** Delivers all waiting data at once, like a system that buffered it for a process. */
  deliverHeldBackData(): void {
    this.isHung = false;
    for (const socket of this.sockets) socket.cork();
    for (const { to, data } of this.heldBack.splice(0)) {
      if (data === undefined) to.end();
      else to.write(data);
    }
    for (const socket of this.sockets) socket.uncork();
  }

  isTextHeldByProxy(text: string): boolean {
    return this.heldBack.some(({ data }) => data?.includes(text));
  }

  /** Ends the connection instead of delivering the next large responses. */
  cutNextAnswers(count: number): void {
    this.cutsLeft = count;
  }

  private relayDataOfCaller(caller: Socket): void {
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
        const isCut = from === replica && this.cutsLeft > 0 && data.length >= LARGE_MESSAGE_MIN_BYTES;
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
