import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type Document, Timestamp } from 'bson';
import { encodeLegacyCommand, encodeMongoCommand, encodeMongoReply, MongoMessageReader } from './mongo-wire.ts';
import { MongoProxy } from './mongo-proxy.ts';
import { eventually } from './eventually.ts';

/** An engine with `hello`, `insert` and `find` on one list of documents. */
class ListEngine {
  readonly documents: Document[] = [];
  /** Callback for every write, before its reply. */
  onWrite: () => void = () => undefined;
  private readonly sockets = new Set<Socket>();
  private time = 0;
  private readonly server: Server = createServer((socket) => {
    const reader = new MongoMessageReader();
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      for (const { requestId, body, isLegacy } of reader.takeCompleteMongoMessages(bytes))
        socket.write(encodeMongoReply({ requestId: 1, responseTo: requestId, body: this.perform(body), isLegacy }));
    });
  });

  async listen(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.server.close(), 'close');
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private perform(command: Document): Document {
    const operationTime = new Timestamp({ t: 1, i: (this.time += 1) });
    if ('hello' in command || 'ismaster' in command)
      return { isWritablePrimary: true, maxWireVersion: 21, compression: ['zlib'], ok: 1 };
    if ('find' in command) return { cursor: { firstBatch: this.documents, id: 0, ns: 'd.c' }, operationTime, ok: 1 };
    this.documents.push(...(command['documents'] as Document[]));
    this.onWrite();
    return { n: 1, operationTime, ok: 1 };
  }
}

/** A connection without the logic of a driver. */
class RawClient {
  private requests = 0;
  private readonly waiting = new Map<number, (reply: Document) => void>();
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  /** Replies that continue an earlier one. */
  readonly streamed: Document[] = [];

  constructor(url: string, member = 0) {
    const port = Number(/^mongodb:..([^/]*)/.exec(url)?.[1]?.split(',')[member]?.split(':')[1]);
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
    const reader = new MongoMessageReader();
    this.socket.on('data', (bytes) => {
      for (const { body, responseTo } of reader.takeCompleteMongoMessages(bytes)) {
        const answer = this.waiting.get(responseTo);
        this.waiting.delete(responseTo);
        if (answer === undefined) this.streamed.push(body);
        else answer(body);
      }
    });
  }

  ask(body: Document, allowsExhaust = false): Promise<Document> {
    return this.send((id) => encodeMongoCommand(id, { ...body, $db: 'd' }, allowsExhaust));
  }

  askLikeOldDrivers(body: Document): Promise<Document> {
    return this.send((id) => encodeLegacyCommand(id, body));
  }

  private send(encode: (id: number) => Buffer): Promise<Document> {
    const id = (this.requests += 1);
    const answer = new Promise<Document>((resolve) => this.waiting.set(id, resolve));
    this.socket.write(encode(id));
    return answer;
  }

  insert(_id: string, more: Document = {}): Promise<Document> {
    return this.ask({ insert: 'c', documents: [{ _id }], ...more });
  }

  async find(more: Document = {}): Promise<readonly Document[]> {
    const { cursor } = (await this.ask({ find: 'c', ...more })) as {
      readonly cursor: { readonly firstBatch: Document[] };
    };
    return cursor.firstBatch;
  }
}

describe('a proxy of MongoDB', () => {
  let engine: ListEngine;
  let proxy: MongoProxy;
  const clients: RawClient[] = [];
  const connectTo = (member?: number): RawClient => {
    const client = new RawClient(proxy.buildConnectionStringOfDatabase('d'), member);
    clients.push(client);
    return client;
  };
  beforeEach(async () => {
    engine = new ListEngine();
    proxy = await MongoProxy.startMongoProxy(await engine.listen(), { members: 2 });
  });
  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await proxy.closeProxy();
    await engine.close();
  });

  test('forwards commands and replies, and shows a replica set of its own addresses', async () => {
    const seen: string[] = [];
    proxy.onCommand = (command) => seen.push(Object.keys(command)[0] ?? '');
    const [first, second] = [connectTo(0), connectTo(1)];
    const primary = await first.ask({ hello: 1, compression: ['zlib'] });
    const hosts = /^mongodb:..([^/]*)/.exec(proxy.buildConnectionStringOfDatabase('d'))?.[1]?.split(',');
    expect(primary).toMatchObject({ isWritablePrimary: true, secondary: false, setName: 'rs0', hosts, me: hosts?.[0] });
    expect(primary).not.toHaveProperty('compression');
    const secondary = await second.ask({ hello: 1 });
    expect(secondary).toMatchObject({ isWritablePrimary: false, secondary: true, primary: hosts?.[0], me: hosts?.[1] });
    expect(await second.askLikeOldDrivers({ ismaster: 1, compression: ['zlib'] })).toMatchObject({ ismaster: false });
    expect(await first.insert('a')).toMatchObject({ n: 1, ok: 1 });
    expect(await first.find()).toEqual([{ _id: 'a' }]);
    expect(seen).toEqual(['hello', 'hello', 'ismaster', 'insert', 'find']);
  });

  test('elects another primary: members report it, and a former primary refuses reads and writes', async () => {
    const [first, second] = [connectTo(0), connectTo(1)];
    const { topologyVersion, electionId } = await first.ask({ hello: 1 });
    const streaming = first.ask({ hello: 1, topologyVersion, maxAwaitTimeMS: 60_000 }, true);
    const election = proxy.simulatePrimaryElection(50);
    expect(await streaming).toMatchObject({ isWritablePrimary: false, secondary: true });
    expect(await second.insert('a')).toMatchObject({ ok: 0, code: 10_107, codeName: 'NotWritablePrimary' });
    await election;
    await eventually(() => expect(first.streamed.at(-1)).toMatchObject({ isWritablePrimary: false }));
    expect(await first.insert('a', { txnNumber: 1 })).toMatchObject({ errorLabels: ['RetryableWriteError'] });
    expect(await first.ask({ find: 'c' })).toMatchObject({ ok: 0, code: 13_435 });
    expect(await first.find({ $readPreference: { mode: 'secondaryPreferred' } })).toEqual([]);
    expect(await second.insert('a')).toMatchObject({ n: 1, ok: 1 });
    const elected = await second.ask({ hello: 1 });
    expect(elected).toMatchObject({ isWritablePrimary: true });
    expect(String(elected['electionId']) > String(electionId)).toBe(true);
  });

  test('refuses a write, loses its answer, or interrupts it', async () => {
    proxy.failNextWrites('refused', 'interrupted', 'answer lost');
    const client = connectTo();
    expect(await client.insert('a')).toMatchObject({ ok: 0, code: 10_107 });
    expect(engine.documents).toEqual([]);
    expect(await client.insert('b', { txnNumber: 1 })).toMatchObject({
      ok: 1,
      writeConcernError: { code: 11_602 },
      errorLabels: ['RetryableWriteError'],
    });
    void client.insert('c');
    await client.closed;
    expect(engine.documents).toEqual([{ _id: 'b' }, { _id: 'c' }]);
    expect(await connectTo().insert('d')).toMatchObject({ n: 1, ok: 1 });
  });

  test('interrupts a write that the primary performs while it steps down', async () => {
    let election: Promise<void> | undefined;
    engine.onWrite = () => void (election = proxy.simulatePrimaryElection(10));
    expect(await connectTo().insert('a')).toMatchObject({ ok: 1, writeConcernError: { code: 11_602 } });
    expect(engine.documents).toHaveLength(1);
    await election;
  });

  test('hangs without closing connections, and continues', async () => {
    const client = connectTo();
    await client.insert('a');
    proxy.hangConnections();
    let isAnswered = false;
    const written = client.insert('b').finally(() => (isAnswered = true));
    const late = connectTo().insert('c');
    await eventually(() => expect(proxy.connectionCount).toBe(2));
    expect(isAnswered).toBe(false);
    expect(engine.documents).toHaveLength(1);
    proxy.resumeConnections();
    await Promise.all([written, late]);
    expect(engine.documents).toHaveLength(3);
  });

  test('hangs and breaks only connections with operations', async () => {
    const [operations, monitor] = [connectTo(), connectTo()];
    await operations.insert('a');
    proxy.hangConnections('operations');
    void operations.insert('b');
    expect(await monitor.ask({ hello: 1 })).toMatchObject({ ok: 1 });
    proxy.breakConnections('end', 'hung');
    await operations.closed;
    expect(await monitor.ask({ hello: 1 })).toMatchObject({ ok: 1 });
    expect(await connectTo().find()).toHaveLength(1);
  });

  test('hangs one member, and elects another', async () => {
    const [first, second] = [connectTo(0), connectTo(1)];
    await Promise.all([first.ask({ hello: 1 }), second.ask({ hello: 1 })]);
    proxy.hangConnections('primary');
    const hung = first.insert('a');
    const late = connectTo(0).insert('b');
    await proxy.simulatePrimaryElection(10);
    expect(await second.insert('c')).toMatchObject({ n: 1, ok: 1 });
    expect(engine.documents).toEqual([{ _id: 'c' }]);
    proxy.resumeConnections();
    for (const refused of await Promise.all([hung, late])) expect(refused).toMatchObject({ code: 10_107 });
  });

  test('breaks connections, and refuses new ones while it is down', async () => {
    for (const how of ['reset', 'end'] as const) {
      const client = connectTo();
      await client.insert(how);
      proxy.breakConnections(how);
      await client.closed;
    }
    const client = connectTo();
    await client.insert('a');
    proxy.breakCurrentAndNewConnections();
    await client.closed;
    await connectTo().closed;
    proxy.acceptConnectionsAgain();
    expect(await connectTo().find()).toHaveLength(3);
  });

  test('closes connections when the engine ends', async () => {
    const client = connectTo();
    await client.insert('a');
    await engine.close();
    await client.closed;
    await connectTo().closed;
    engine = new ListEngine();
    await engine.listen();
  });

  test('shows an old snapshot to reads that do not wait for the latest write', async () => {
    const client = connectTo();
    const { operationTime } = await client.insert('a');
    proxy.hasOldSnapshot = true;
    expect(await client.find()).toEqual([]);
    expect(await client.find({ readConcern: { afterClusterTime: new Timestamp({ t: 1, i: 0 }) } })).toEqual([]);
    expect(await client.find({ readConcern: { afterClusterTime: operationTime } })).toHaveLength(1);
    proxy.endFaults();
    expect(await client.find()).toHaveLength(1);
  });

  test('reads messages that arrive in parts of any size', () => {
    const bytes = Buffer.concat([1, 2, 3].map((id) => encodeMongoCommand(id, { ping: id, $db: 'admin' })));
    for (const size of [1, 3, 16, 50, bytes.length]) {
      const reader = new MongoMessageReader();
      const read: unknown[] = [];
      for (let at = 0; at < bytes.length; at += size)
        read.push(...reader.takeCompleteMongoMessages(bytes.subarray(at, at + size)).map(({ body }) => body['ping']));
      expect(read).toEqual([1, 2, 3]);
    }
  });
});
