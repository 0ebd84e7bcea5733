import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { waitForSimulatedDelay } from './eventually.ts';

/** Bytes in one direction of a connection that the proxy holds before it stops reading. */
const MAX_BUFFERED_PROXY_BYTES = 1_048_576;

/**
 * TCP proxy that delays all bytes between clients and a server on this machine. It keeps the order of the bytes, and
 * stops reading from a side whose bytes it cannot pass on fast enough, like a slow network.
 */
export class DelayingProxy {
  /** Milliseconds by which bytes are delayed in each direction. Applies to bytes that arrive from now on. */
  delayMs = 0;
  /** Port of the server. Set it before clients connect. */
  serverPort = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (client: Socket) => this.relayConnectionWithDelay(client));
  }

  static async startDelayingTcpProxy(serverPort = 0): Promise<DelayingProxy> {
    const proxy = new DelayingProxy(createServer({ noDelay: true }));
    proxy.serverPort = serverPort;
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async closeProxy(): Promise<void> {
    const closed = once(this.server.close(), 'close');
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private relayConnectionWithDelay(client: Socket): void {
    const server = connect({ port: this.serverPort, host: '127.0.0.1', noDelay: true });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      this.forwardWithDelay(from, to);
    }
  }

  private forwardWithDelay(from: Socket, to: Socket): void {
    let held = 0;
    let lastPart = Promise.resolve();
    from.on('data', (bytes: Buffer) => {
      held += bytes.length;
      if (held > MAX_BUFFERED_PROXY_BYTES) from.pause();
      const previous = lastPart;
      const delayed = this.delayMs > 0 ? waitForSimulatedDelay(this.delayMs) : Promise.resolve();
      lastPart = Promise.all([previous, delayed]).then(async () => {
        if (to.writable && !to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
        held -= bytes.length;
        if (held <= MAX_BUFFERED_PROXY_BYTES) from.resume();
      });
    });
  }
}
