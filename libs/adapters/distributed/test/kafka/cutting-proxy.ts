import { connect, createServer, type Server, type Socket } from 'node:net';

/** Request type numbers of Kafka's protocol. */
export const PRODUCE_API_KEY = 0;
export const OFFSET_COMMIT_API_KEY = 8;
export const FIND_COORDINATOR_API_KEY = 10;
export const SYNC_GROUP_API_KEY = 14;

/**
 * Proxy of a node that cuts the connection before or during a response: the node has performed the request, but the
 * client does not receive the response.
 */
export class CuttingProxy {
  /** Number of responses that were cut. */
  cuts = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  /** Number of bytes of a response that the proxy still delivers; undefined to deliver all bytes. */
  private bytesBeforeCut: (kind: number, bytes: number) => number | undefined = () => undefined;

  constructor(
    private readonly port: number,
    private readonly nodePort: number,
  ) {
    this.server = createServer((client) => this.relayDataOfClient(client));
  }

  async listenOnFreePort(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
  }

  /** Cuts responses to a type of request. @param every cuts each n-th response */
  cutEveryNthResponseOfType(kind: number, every: number, most = Infinity): void {
    let seen = 0;
    const end = this.cuts + most;
    this.bytesBeforeCut = (of) => (of === kind && this.cuts < end && ++seen % every === 0 ? 0 : undefined);
  }

  /** Cuts the given share of all responses, each after some of its bytes. */
  cutConnectionsDuringShareOfResponses(share: number): void {
    let state = 1;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
    this.bytesBeforeCut = (_kind, bytes) => (random() < share ? 1 + Math.floor(random() * (bytes - 1)) : undefined);
  }

  stopCuttingResponses(): void {
    this.bytesBeforeCut = () => undefined;
  }

  async closeProxy(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private relayDataOfClient(client: Socket): void {
    const node = connect(this.nodePort, '127.0.0.1');
    const kinds = new Map<number, number>();
    const end = () => {
      client.destroy();
      node.destroy();
    };
    for (const socket of [client, node]) {
      this.sockets.add(socket);
      socket.on('error', end).on('close', () => {
        this.sockets.delete(socket);
        end();
      });
    }
    client.on(
      'data',
      splitFrames((frame) => {
        kinds.set(frame.readInt32BE(8), frame.readInt16BE(4));
        node.write(frame);
      }),
    );
    node.on(
      'data',
      splitFrames((frame) => {
        const kind = kinds.get(frame.readInt32BE(4)) ?? -1;
        kinds.delete(frame.readInt32BE(4));
        const bytes = this.bytesBeforeCut(kind, frame.length);
        if (bytes === undefined) return void client.write(frame);
        this.cuts += 1;
        node.destroy();
        client.end(frame.subarray(0, bytes));
      }),
    );
  }
}

/** Yields each complete request or response with its length prefix. */
function splitFrames(each: (frame: Buffer) => void): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0);
      const frame = rest.subarray(0, end);
      rest = rest.subarray(end);
      each(frame);
    }
  };
}
