import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { BusyError, UnavailableError } from '@tracking/ports';
import { EMPTY, of, throwError } from 'rxjs';
import {
  createRecordingLogger,
  eventually,
  findFreePort,
  type LogLine,
  noMetrics,
  silentLogger,
  waitForSimulatedDelay,
} from '@tracking/testing';
import { FaultyProxy } from '../../test/grpc/faulty-link.ts';
import { TEST_TOKEN } from '../../test/grpc/grpc-subject.ts';
import { setBearerToken } from './grpc-options.ts';
import { GrpcServiceChannel } from './grpc-service-channel.ts';
import { GrpcServiceServer } from './grpc-service-server.ts';
import { receiveStreamedMessages } from './message-stream.ts';
import { PROJECTIONS_PROTO } from './service-protos.ts';

interface StreamedOperations {
  readonly progress: {
    follow(request: object, onMessage: (message: unknown) => Promise<void> | void, signal: AbortSignal): Promise<void>;
  };
}

const MESSAGE_TEXT = 'x'.repeat(65_536);
const FOLLOW_PATH = '/tracking.v1.Progress/Follow';
/** Milliseconds after which a message counts as not taken. A longer pause of the process makes the test wait early. */
const BLOCKED_MS = 500;
/** Exceeds the messages that the buffers of a connection hold. */
const MAX_MESSAGES = 2_000;

describe('a streamed operation', () => {
  let server: GrpcServiceServer;
  let address: string;
  let link: FaultyProxy;
  let channel: GrpcServiceChannel;
  let follow: StreamedOperations['progress']['follow'];
  /** Log lines of the server. */
  let lines: LogLine[];
  /** Running operations of the server, in the order of their calls. */
  let running: {
    readonly request: object;
    send(message: unknown): Promise<void>;
    end(error?: Error): void;
    signal: AbortSignal;
  }[];
  beforeEach(async () => {
    [running, lines] = [[], []];
    const port = await findFreePort();
    address = `127.0.0.1:${port}`;
    const common = { token: TEST_TOKEN, logger: silentLogger, metrics: noMetrics };
    server = new GrpcServiceServer({
      ...{ ...common, proto: PROJECTIONS_PROTO, address },
      logger: createRecordingLogger(lines),
    });
    server.setServedGrpcOperations<StreamedOperations>({
      progress: {
        follow: (request, send, signal) =>
          new Promise((resolve, reject) => {
            const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
            signal.addEventListener('abort', () => resolve());
            running.push({ request, send: async (message) => send(message), end, signal });
          }),
      },
    });
    await server.listenOnAddress();
    link = await FaultyProxy.openFaultyLink(await findFreePort(), port);
    channel = new GrpcServiceChannel({ ...common, services: { projections: `dns:///127.0.0.1:${link.port}` } });
    follow = channel.createGrpcClientOperations<StreamedOperations>(PROJECTIONS_PROTO, 1_000).progress.follow;
  });
  afterEach(async () => {
    await channel.closeChannel();
    await server.drainAndCloseGrpcServer();
    await link.cutAndRefuseConnections();
  });

  async function startFollowing() {
    const messages: unknown[] = [];
    const ending = new AbortController();
    const ended = follow({ from: 'a' }, (message) => void messages.push(message), ending.signal);
    ended.catch(() => undefined);
    const before = running.length;
    await eventually(() => expect(running).toHaveLength(before + 1));
    return { messages, ending, ended, operation: running.at(-1)! };
  }

  it('passes all messages on in order, longer than the deadline of calls, and ends with the operation', async () => {
    const { messages, ended, operation } = await startFollowing();
    expect(operation.request).toEqual({ from: 'a' });
    const expected = Array.from({ length: 500 }, (_, number) => ({ number }));
    for (const message of expected) void operation.send(message);
    await eventually(() => expect(messages).toEqual(expected));
    operation.end();
    expect(await ended).toBeUndefined();
  });

  it('makes the operation wait while the caller does not read, until the caller reads or is gone', async () => {
    const caller = new Client(address, credentials.createInsecure());
    const metadata = new Metadata();
    setBearerToken(metadata, TEST_TOKEN);
    const encode = () => Buffer.alloc(0);
    const stream = caller.makeServerStreamRequest(FOLLOW_PATH, encode, (bytes) => bytes, {}, metadata);
    stream.on('error', () => undefined);
    await eventually(() => expect(running).toHaveLength(1));
    const [{ send }] = running as [(typeof running)[0]];
    // A caller that has received nothing yet would not pause its connection.
    const received = new Promise((resolve) => stream.on('data', resolve));
    await send(MESSAGE_TEXT);
    await received;
    stream.pause();
    const sendUntilBlocked = async () => {
      for (let count = 0; count < MAX_MESSAGES; count += 1) {
        const sent = send(MESSAGE_TEXT).then(() => 'sent');
        if ((await Promise.race([sent, waitForSimulatedDelay(BLOCKED_MS).then(() => 'blocked')])) === 'blocked')
          return { sent };
      }
      throw new Error('the operation never waited');
    };
    const first = await sendUntilBlocked();
    stream.resume();
    expect(await first.sent).toBe('sent');
    stream.pause();
    const second = await sendUntilBlocked();
    stream.cancel();
    expect(await second.sent).toBe('sent');
    caller.close();
  });

  it('ends in the service when the caller no longer needs it', async () => {
    const { ending, ended, operation } = await startFollowing();
    ending.abort();
    expect(await ended).toBeUndefined();
    await eventually(() => expect(operation.signal.aborted).toBe(true));
  });

  it('ends with Unavailable when the connection is lost, and in the service too', async () => {
    const { ended, operation } = await startFollowing();
    await link.cutAndRefuseConnections();
    await expect(ended).rejects.toThrow(UnavailableError);
    await eventually(() => expect(operation.signal.aborted).toBe(true));
    await link.acceptConnectionsAgain();
  });

  it('ends when the server closes, which does not wait for it', async () => {
    const { ended, operation } = await startFollowing();
    await server.drainAndCloseGrpcServer();
    expect(operation.signal.aborted).toBe(true);
    await ended.catch((error: unknown) => expect(error).toBeInstanceOf(UnavailableError));
  });

  it('ends when the channel closes', async () => {
    const { ended } = await startFollowing();
    await channel.closeChannel();
    expect(await ended).toBeUndefined();
    await expect(follow({}, () => undefined, new AbortController().signal)).rejects.toThrow(UnavailableError);
  });

  it('logs one warning while the service refuses the token', async () => {
    const lines: LogLine[] = [];
    const logger = createRecordingLogger(lines);
    const stranger = new GrpcServiceChannel({
      ...{ token: 'another token', logger, metrics: noMetrics, unavailableLogLevel: 'info' },
      services: { projections: `dns:///${address}` },
    });
    const { progress } = stranger.createGrpcClientOperations<StreamedOperations>(PROJECTIONS_PROTO, 1_000);
    for (let call = 0; call < 2; call += 1) {
      const refused = progress.follow({}, () => undefined, new AbortController().signal);
      await expect(refused).rejects.toThrow('projections: the service refuses the token');
    }
    expect(lines.map(({ level }) => level)).toEqual(['warn']);
    expect(JSON.stringify(lines)).not.toContain('another token');
    await stranger.closeChannel();
  });

  it.each([
    ['info', new BusyError('storage', 'too much waits')],
    ['info', new UnavailableError('event store', 'does not answer')],
    ['error', new Error('a fault of the program')],
  ])('logs the end of an operation with level %s after %s', async (expected, error) => {
    const { ended, operation } = await startFollowing();
    operation.end(error);
    await expect(ended).rejects.toThrow();
    expect(lines.map(({ level, fields }) => [level, fields?.['method']])).toEqual([[expected, 'Progress/Follow']]);
  });

  it('rejects if the operation or the listener fails', async () => {
    const failing = await startFollowing();
    failing.operation.end(new Error('password=hunter2'));
    await expect(failing.ended).rejects.toThrow('projections: Progress/Follow ended: the operation failed');

    const ended = follow({}, () => fail(), new AbortController().signal);
    await eventually(() => expect(running).toHaveLength(2));
    void running[1]!.send({});
    await expect(ended).rejects.toThrow('the listener failed');
    await eventually(() => expect(running[1]!.signal.aborted).toBe(true));
  });
});

describe('a stream that ends at once', () => {
  it('settles, and passes on the messages before its end', async () => {
    const messages: unknown[] = [];
    const receive = (stream: Parameters<typeof receiveStreamedMessages>[0], signal = new AbortController().signal) =>
      receiveStreamedMessages(stream, (message) => void messages.push(message), signal);
    await receive(EMPTY);
    await receive(of({ json: '1' }, { json: '2' }));
    await receive(of({ json: '3' }), AbortSignal.abort());
    await expect(receive(throwError(() => new Error('the channel is closed')))).rejects.toThrow(
      'the channel is closed',
    );
    expect(messages).toEqual([1, 2]);
  });
});

function fail(): never {
  throw new Error('the listener failed');
}
