import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import {
  encodeMongoReply,
  isMongoHello,
  MongoMessageReader,
  readMongoCommandName,
  type TestCertificate,
} from '@tracking/testing';
import { Long } from 'mongodb';

type Reply = Readonly<Record<string, unknown>>;
/**
 * Responds to a command, immediately or later. @returns the reply; undefined for the reply of
 * {@link MongoStub.respondAsPrimary}
 */
export type CommandHandler = (
  command: Readonly<Record<string, unknown>>,
) => Reply | undefined | Promise<Reply | undefined>;

/**
 * A server of MongoDB's protocol that stores nothing and responds as a test specifies. It shows how the adapter treats
 * responses that no engine on this machine gives. The shapes of the responses are those of MongoDB's documentation.
 */
export class MongoStub {
  private readonly sockets = new Set<Socket>();
  /** Commands that the adapter sent, without those that the driver sends by itself. */
  readonly commands: Record<string, unknown>[] = [];

  private constructor(
    private readonly server: Server,
    private readonly handle: CommandHandler,
    tls: TestCertificate | undefined,
  ) {
    server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
      this.serveMongoClientConnection(socket),
    );
    if (tls !== undefined) server.on('tlsClientError', () => undefined);
  }

  /** @param tls certificate of the server. If absent, the server does not use TLS */
  static async startMongoStub(handle: CommandHandler, tls?: TestCertificate): Promise<MongoStub> {
    const server = tls === undefined ? createServer() : createTlsServer({ ...tls });
    const stub = new MongoStub(server, handle, tls);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  private get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** @param credentials `user:password` @param options options of the connection string, such as `tls=true` */
  formatMongoConnectionString({
    credentials,
    options = '',
  }: { readonly credentials?: string; readonly options?: string } = {}): string {
    return `mongodb://${credentials === undefined ? '' : `${credentials}@`}${this.address}/tracking?${options}`;
  }

  /** Returns the commands of a name, such as `insert`. */
  listCommandsNamed(name: string): readonly Record<string, unknown>[] {
    return this.commands.filter((command) => readMongoCommandName(command) === name);
  }

  async closeMongoStub(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serveMongoClientConnection(socket: Socket): void {
    const reader = new MongoMessageReader();
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      for (const { requestId, body, isLegacy } of reader.takeCompleteMongoMessages(bytes)) {
        const respond = (reply: Reply | undefined) => {
          const message = { requestId: 0, responseTo: requestId, body: reply ?? this.respondAsPrimary(body), isLegacy };
          socket.write(encodeMongoReply(message));
        };
        const reply = this.handle(body);
        if (reply instanceof Promise) void reply.then(respond);
        else respond(reply);
      }
    });
  }

  /** Responds as the only member of a replica set. Every write matches nothing, and every query finds nothing. */
  private respondAsPrimary(command: Readonly<Record<string, unknown>>): Reply {
    if (isMongoHello(command))
      return {
        ...createMongoHelloReply(),
        setName: 'rs0',
        hosts: [this.address],
        primary: this.address,
        me: this.address,
      };
    switch (readMongoCommandName(command)) {
      case 'find':
      case 'listIndexes':
      case 'listCollections':
        this.commands.push(command);
        return createCursorReply();
      case 'endSessions':
        return { ok: 1 };
      default:
        this.commands.push(command);
        return { n: 0, nModified: 0, ok: 1 };
    }
  }
}

/** Returns the response to a query whose result consists of these documents. */
export function createCursorReply(...documents: readonly object[]): Reply {
  return { cursor: { id: Long.ZERO, ns: 'tracking.things', firstBatch: documents }, ok: 1 };
}

/** Responds to `hello` like a standalone server. */
export const respondAsStandalone: CommandHandler = (command) =>
  isMongoHello(command) ? createMongoHelloReply() : undefined;

/** Returns the response to `hello` of a primary without the fields of a replica set, as a standalone server gives it. */
export function createMongoHelloReply(): Reply {
  return {
    helloOk: true,
    isWritablePrimary: true,
    ismaster: true,
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    maxWireVersion: 21,
    readOnly: false,
    ok: 1,
  };
}
