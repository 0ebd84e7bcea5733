import { jest } from '@jest/globals';
import { DomainError } from '@tracking/contracts';
import { BusyError, UnavailableError, type Logger } from '@tracking/ports';
import {
  type LogLine,
  RecordedMetrics,
  createCertificateAuthority,
  eventually,
  findFreePort,
  issueCertificate,
  createRecordingLogger,
  silentLogger,
  expectAssertionStaysTrue,
} from '@tracking/testing';
import { FaultyProxy } from '../../test/grpc/faulty-link.ts';
import {
  THINGS_PROTO,
  type Things,
  type ThingsOperations,
  openGrpcChannel,
  startGrpcServerForTest,
} from '../../test/grpc/grpc-subject.ts';
import type { GrpcServiceChannelOptions } from './grpc-service-channel.ts';
import type { GrpcServiceServer, GrpcServiceServerOptions } from './grpc-service-server.ts';

jest.setTimeout(60_000);

const LONG_MS = 20_000;

/** A replica of the service `things`, behind a link that can fail. */
interface Replica {
  readonly name: string;
  readonly address: string;
  readonly server: GrpcServiceServer;
  readonly link: FaultyProxy;
  /** Requests that the replica received, in order. */
  readonly done: object[];
}

let keys = 0;
/** Commands with a routing key use a stream for each replica. */
const findChangingKey = () => `key ${(keys += 1)}`;

describe.each([
  ['calls of their own', undefined],
  ['streams', findChangingKey],
])('faults of the service channel: %s', (_kind, findRoutingKey) => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    released.resolve(null);
    for (const close of closing.splice(0).reverse()) await close();
  });

  let released: PromiseWithResolvers<null>;
  /** Callers of `hold`, whose calls wait until released. */
  let held: string[];
  /** Callers of `holdFirst`, whose first call also waits. */
  let firsts: Replica[];
  beforeEach(() => {
    released = Promise.withResolvers();
    held = [];
    firsts = [];
  });

  async function startReplica(
    name: string,
    options: Partial<GrpcServiceServerOptions> = {},
    port?: number,
  ): Promise<Replica> {
    const done: object[] = [];
    const doing =
      (handler: Things['note']): Things['note'] =>
      (request = {}) => {
        done.push(request);
        return handler(request);
      };
    const things = {
      note: doing(() => Promise.resolve(name)),
      big: doing(() => Promise.resolve('x'.repeat(20_000))),
      fail: doing(() => Promise.reject(new TypeError('a fault'))),
      refuse: doing(() => Promise.reject(new DomainError('not_found', 'No such thing.'))),
      hold: doing(() => (held.push(name), released.promise.then(() => name))),
      holdFirst: doing(() => (firsts.push(replica) === 1 ? released.promise : Promise.resolve(name))),
    };
    const address = `127.0.0.1:${port ?? (await findFreePort())}`;
    const server = await startGrpcServerForTest(things, { address, ...options });
    closing.push(() => server.drainAndCloseGrpcServer());
    const link = await FaultyProxy.openFaultyLink(await findFreePort(), Number(address.split(':')[1]));
    closing.push(() => link.cutAndRefuseConnections());
    const replica: Replica = { name, address, server, link, done };
    return replica;
  }

  function channelTo(replicas: readonly Replica[], options: Partial<GrpcServiceChannelOptions> = {}) {
    return channelAt(
      replicas.map(({ link }) => link.port),
      options,
    );
  }
  function channelAt(ports: readonly number[], options: Partial<GrpcServiceChannelOptions> = {}) {
    const addresses = `ipv4:${ports.map((port) => `127.0.0.1:${port}`).join(',')}`;
    // A certificate is for one name, and each name has one port.
    const channel = openGrpcChannel(options.tls === undefined ? addresses : `dns:///localhost:${ports[0]}`, options);
    closing.push(() => channel.closeChannel());
    const clients = new Map<number, ThingsOperations>();
    const clientWith = (deadlineMs: number) => {
      const client =
        clients.get(deadlineMs) ??
        channel.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, deadlineMs, findRoutingKey);
      clients.set(deadlineMs, client);
      return client;
    };
    return {
      call: (operation: keyof Things, request: object = {}, deadlineMs = LONG_MS) =>
        clientWith(deadlineMs).things[operation](request),
    };
  }
  type Channel = ReturnType<typeof channelAt>;

  const errorOf = (call: Promise<unknown>) => call.then(() => undefined).catch((error: unknown) => error as Error);

  /** Calls until every replica has responded. */
  const untilAllAnswer = (channel: Channel, ...replicas: readonly Replica[]) =>
    eventually(async () => {
      const names = await Promise.all(replicas.map(() => channel.call('note')));
      expect(new Set(names)).toEqual(new Set(replicas.map(({ name }) => name)));
    });

  /** Connects calls with this deadline, and opens their stream if they use one. The first call waits for a connection. */
  async function connect(channel: Channel, deadlineMs: number): Promise<void> {
    for (let number = 0; number < 2; number += 1) await channel.call('note', { number }, deadlineMs);
  }

  /** Calls continuously, several at once, each with its own number. */
  function callOnAndOn(channel: Channel) {
    let last = 0;
    let isOver = false;
    const call = async () => {
      while (!isOver) await channel.call('note', { number: (last += 1) });
    };
    const calling = Promise.all([call(), call(), call(), call()]);
    return {
      made: () => last,
      async stop() {
        isOver = true;
        await calling;
      },
    };
  }
  const numbers = (...replicas: readonly Replica[]) =>
    replicas
      .flatMap(({ done }) => done.map((request) => Number((request as { number?: number }).number)))
      .sort((a, b) => a - b);
  const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

  describe('with two replicas', () => {
    let one: Replica;
    let two: Replica;
    beforeEach(async () => {
      one = await startReplica('one');
      two = await startReplica('two');
    });

    it('logs the request id and trace in every line about a call', async () => {
      const lines: LogLine[] = [];
      const traced = await startReplica('traced', { logger: createRecordingLogger(lines) });
      const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
      const origins = [
        undefined,
        ...['req_1', 'req_2', 'req_3'].map((request_id) => ({
          request_id,
          traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
        })),
      ];
      const channel = channelTo([traced], { origin: () => origins.shift() });
      await channel.call('note');
      await channel.call('note');
      await errorOf(channel.call('refuse'));
      await errorOf(channel.call('fail'));
      const about = (request_id: string) => ({ request_id, trace_id: traceId });
      const line = (request_id: string, method: string, outcome: string) => ({
        level: 'info',
        fields: { ...about(request_id), method, outcome, duration_ms: expect.any(Number) },
        message: 'call',
      });
      expect(lines).toEqual([
        line('req_1', 'Things/Note', 'answered'),
        line('req_2', 'Things/Refuse', 'refused'),
        line('req_3', 'Things/Fail', 'failed'),
        {
          level: 'error',
          fields: expect.objectContaining(about('req_3')),
          message: 'command server: an operation failed',
        },
      ]);
    });

    it('repeats calls of a killed replica on the other, and uses it again later', async () => {
      const metrics = new RecordedMetrics();
      const channel = channelTo([one, two], { metrics });
      await untilAllAnswer(channel, one, two);
      const answer = channel.call('holdFirst', { command_id: 'c1' });
      await eventually(() => expect(firsts).toHaveLength(1));
      const [killed, other] = firsts[0] === one ? [one, two] : [two, one];
      expect(metrics.getMetricValue('command_channel_calls')).toBe(1);
      await killed.link.cutAndRefuseConnections();
      expect(await answer).toBe(other.name);
      expect(killed.done.at(-1)).toEqual({ command_id: 'c1' });
      expect(other.done.at(-1)).toEqual({ command_id: 'c1' });
      expect(metrics.getMetricValue('command_channel_repeats_total{service="things"}')).toBeGreaterThanOrEqual(1);
      expect(metrics.getMetricValue('command_channel_calls')).toBe(0);
      for (let n = 0; n < 10; n += 1) expect(await channel.call('note')).toBe(other.name);
      await killed.link.acceptConnectionsAgain();
      await untilAllAnswer(channel, one, two);
    });

    it('repeats calls of a hung replica on the other, and uses it again later', async () => {
      const limits = { keepaliveMs: 200, keepaliveTimeoutMs: 200 };
      const channel = channelTo([one, two], { limits });
      await untilAllAnswer(channel, one, two);
      one.link.stopRelayingData();
      const answers = await Promise.all(Array.from({ length: 10 }, () => channel.call('note')));
      expect(new Set(answers)).toEqual(new Set(['two']));
      one.link.deliverHeldBackData();
      await untilAllAnswer(channel, one, two);
    });

    it('finishes running calls when a replica closes, and sends the rest to the other', async () => {
      const channel = channelTo([one, two]);
      await untilAllAnswer(channel, one, two);
      const answers: Promise<unknown>[] = [];
      await eventually(() => {
        answers.push(channel.call('hold'));
        expect(new Set(held)).toEqual(new Set(['one', 'two']));
      });
      const closed = one.server.drainAndCloseGrpcServer();
      await eventually(async () => {
        const names = await Promise.all(Array.from({ length: 6 }, () => channel.call('note')));
        expect(names).toEqual(Array(6).fill('two'));
      });
      released.resolve(null);
      expect((await Promise.all(answers)).toSorted()).toEqual(held.toSorted());
      await closed;
    });

    it('performs no call twice while a replica closes', async () => {
      const channel = channelTo([one, two]);
      const calls = callOnAndOn(channel);
      await eventually(() => expect(one.done.length).toBeGreaterThan(50));
      await one.server.drainAndCloseGrpcServer();
      const before = two.done.length;
      await eventually(() => expect(two.done.length).toBeGreaterThan(before + 50));
      await calls.stop();
      expect(numbers(one, two)).toEqual(upTo(calls.made()));
    });

    it('neither refuses nor repeats calls when connections reach their maximum age', async () => {
      const aging = await startReplica('aging', { limits: { connectionAgeMs: 100 } });
      const channel = channelTo([aging, two]);
      const calls = callOnAndOn(channel);
      await eventually(() => expect(aging.link.connections).toBeGreaterThan(4));
      await calls.stop();
      expect(numbers(aging, two)).toEqual(upTo(calls.made()));
    });
  });

  it('abandons calls that do not end when a server closes; another replica answers them', async () => {
    const one = await startReplica('one', { limits: { closeTimeoutMs: 200 } });
    const two = await startReplica('two', { limits: { closeTimeoutMs: 200 } });
    const channel = channelTo([one, two]);
    const answer = channel.call('holdFirst');
    await eventually(() => expect(firsts).toHaveLength(1));
    const [closed, other] = firsts[0] === one ? [one, two] : [two, one];
    await closed.server.drainAndCloseGrpcServer();
    expect(await answer).toBe(other.name);
  });

  it('waits for a replica that starts later', async () => {
    const port = await findFreePort();
    const channel = channelAt([port]);
    const soon = errorOf(channel.call('note', {}, 200));
    const patient = channel.call('note');
    expect(await soon).toBeInstanceOf(UnavailableError);
    await startReplica('late', {}, port);
    expect(await patient).toBe('late');
  });

  it('neither loses nor repeats calls across restarts on the same port', async () => {
    let replica = await startReplica('v0');
    const replicas = [replica];
    const port = Number(replica.address.split(':')[1]);
    const channel = channelAt([port]);
    const calls = callOnAndOn(channel);
    for (const name of ['v1', 'v2', 'v3']) {
      const before = replica;
      await eventually(() => expect(before.done.length).toBeGreaterThan(20));
      await replica.server.drainAndCloseGrpcServer();
      replica = await startReplica(name, {}, port);
      replicas.push(replica);
    }
    const last = replica;
    await eventually(() => expect(last.done.length).toBeGreaterThan(20));
    await calls.stop();
    expect(numbers(...replicas)).toEqual(upTo(calls.made()));
  });

  it('repeats a call whose response was lost, and returns the response to the repeat', async () => {
    const replica = await startReplica('one');
    const channel = channelTo([replica]);
    replica.link.cutNextAnswers(2);
    expect(await channel.call('big', { command_id: 'c1' })).toHaveLength(20_000);
    expect(replica.done).toEqual(Array(3).fill({ command_id: 'c1' }));
  });

  it('repeats until the deadline and not after it', async () => {
    const replica = await startReplica('one');
    const channel = channelTo([replica]);
    await connect(channel, 2_000);
    replica.link.cutNextAnswers(Infinity);
    expect(await errorOf(channel.call('big', {}, 2_000))).toBeInstanceOf(UnavailableError);
    const { length } = replica.done;
    expect(length).toBeGreaterThan(2);
    await channel.call('note');
    await expectAssertionStaysTrue(() => expect(replica.done).toHaveLength(length + 1), 1_000);
  });

  it('does not start calls whose deadline passed while the replica hung', async () => {
    const replica = await startReplica('one');
    const channel = channelTo([replica]);
    await channel.call('note');
    replica.link.stopRelayingData();
    const late = Array.from({ length: 50 }, () => errorOf(channel.call('note', { late: true }, 500)));
    for (const error of await Promise.all(late)) expect(error).toBeInstanceOf(UnavailableError);
    const answer = channel.call('note', { number: 'the last' });
    await eventually(() => expect(replica.link.isTextHeldByProxy('the last')).toBe(true));
    replica.link.deliverHeldBackData();
    await answer;
    expect(replica.done).toEqual([{}, { number: 'the last' }]);
  });

  it('does not start calls of an open stream whose cancellations wait for the flow control of a hung replica', async () => {
    const replica = await startReplica('one');
    const channel = channelTo([replica]);
    const call = (request: object) => channel.call('note', request, 2_000);
    await connect(channel, 2_000);
    replica.link.stopRelayingData();
    const late = Array.from({ length: 200 }, () => errorOf(call({ text: 'x'.repeat(4_000) })));
    for (const error of await Promise.all(late)) expect(error).toBeInstanceOf(UnavailableError);
    replica.link.deliverHeldBackData();
    await call({ number: 'the last' });
    expect(replica.done).toEqual([{ number: 0 }, { number: 1 }, { number: 'the last' }]);
  });

  it('refuses requests above the limit before sending them', async () => {
    const replica = await startReplica('one');
    const channel = channelTo([replica], { limits: { maxRequestBytes: 1_000 } });
    const error = await errorOf(channel.call('note', { text: 'x'.repeat(1_000) }));
    expect(error).toMatchObject({
      name: 'Error',
      message: 'things.Things/Note: the request is larger than 1000 bytes',
    });
    expect(await channel.call('note')).toBe('one');
    expect(replica.done).toHaveLength(1);
  });

  it('refuses requests above the server’s limit', async () => {
    const replica = await startReplica('one', { limits: { maxRequestBytes: 1_000 } });
    const channel = channelTo([replica]);
    const error = await errorOf(channel.call('note', { text: 'x'.repeat(1_000_000) }));
    expect(error).toMatchObject({ name: 'Error', message: 'things.Things/Note: RESOURCE_EXHAUSTED' });
    expect(await channel.call('note')).toBe('one');
    expect(replica.done).toHaveLength(1);
  });

  it('refuses responses above the limit', async () => {
    const errors: object[] = [];
    const logger: Logger = { ...silentLogger, error: (fields) => void errors.push(fields) };
    const channel = channelTo([await startReplica('one', { logger, limits: { maxAnswerBytes: 10_000 } })]);
    expect(await errorOf(channel.call('big'))).toMatchObject({ name: 'Error', message: 'things.Things/Big failed' });
    expect(errors).toEqual([
      {
        method: 'Things/Big',
        err: new Error('the response to this call is larger than 10000 bytes, the limit of this server'),
      },
    ]);
    expect(await channel.call('note')).toBe('one');
  });

  it('answers no caller without the token, and logs no token', async () => {
    const lines: string[] = [];
    const line = (fields: object, message: string) => void lines.push(JSON.stringify(fields) + message);
    const logger: Logger = { debug: line, info: line, warn: line, error: line };
    const replica = await startReplica('one', { logger, token: 'right-token' });
    const error = await errorOf(channelTo([replica], { logger, token: 'wrong-token' }).call('note'));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(replica.done).toEqual([]);
    expect(await channelTo([replica], { logger, token: 'right-token' }).call('note')).toBe('one');
    expect(`${lines.join()} ${error?.stack} ${JSON.stringify(error)}`).not.toMatch(/(right|wrong)-token/);
  });

  it('is busy when a server runs its maximum number of calls', async () => {
    const metrics = new RecordedMetrics();
    const replica = await startReplica('one', { metrics, limits: { maxCalls: 1 } });
    const channel = channelTo([replica]);
    const answer = channel.call('hold');
    await eventually(() => expect(metrics.getMetricValue('command_server_calls')).toBe(1));
    const error = await errorOf(channel.call('note'));
    expect(error).toBeInstanceOf(BusyError);
    expect(error).toMatchObject({ engine: 'things' });
    released.resolve(null);
    expect(await answer).toBe('one');
    expect(await channel.call('note')).toBe('one');
    expect(replica.done).toHaveLength(2);
  });

  it('is busy when a channel has its maximum number of calls', async () => {
    const replica = await startReplica('one');
    const channel = channelTo([replica], { limits: { maxCalls: 1 } });
    const answer = channel.call('hold');
    expect(await errorOf(channel.call('note'))).toBeInstanceOf(BusyError);
    released.resolve(null);
    await answer;
    expect(await channel.call('refuse').catch((error: Error) => error.name)).toBe('DomainError');
    expect(await channel.call('note')).toBe('one');
  });

  it.each(['server', 'channel'] as const)(
    'is busy when the running calls of a %s have too many bytes',
    async (side) => {
      const limits = { maxRunningBytes: 100 };
      const replica = await startReplica('one', { ...(side === 'server' && { limits }) });
      const channel = channelTo([replica], { ...(side === 'channel' && { limits }) });
      const large = { text: 'x'.repeat(200) };
      const answer = channel.call('hold', large);
      await eventually(() => expect(held).toEqual(['one']));
      expect(await errorOf(channel.call('note', large))).toBeInstanceOf(BusyError);
      released.resolve(null);
      await answer;
      expect(await channel.call('note', large)).toBe('one');
    },
  );

  it('waits for abandoned calls when it closes', async () => {
    const replica = await startReplica('one');
    const channel = channelTo([replica]);
    await connect(channel, 2_000);
    const late = errorOf(channel.call('hold', {}, 2_000));
    await eventually(() => expect(held).toEqual(['one']));
    expect(await late).toBeInstanceOf(UnavailableError);
    const ends: string[] = [];
    const closed = replica.server.drainAndCloseGrpcServer().then(() => ends.push('closed'));
    await eventually(async () => expect(await errorOf(channel.call('note', {}, 100))).toBeInstanceOf(UnavailableError));
    ends.push('released');
    released.resolve(null);
    await closed;
    expect(ends).toEqual(['released', 'closed']);
  });

  it('reports immediately that its address is in use', async () => {
    const { address } = await startReplica('one');
    await expect(startGrpcServerForTest({}, { address })).rejects.toThrow('EADDRINUSE');
  });

  describe('with TLS', () => {
    const authority = createCertificateAuthority();
    const stranger = createCertificateAuthority('Stranger');
    const own = issueCertificate({ issuer: authority });
    const ca = authority.cert;

    it('authenticates both ends by certificates', async () => {
      const replica = await startReplica('one', { tls: { ...own, ca } });
      const caller = issueCertificate({ issuer: authority, names: ['gateway'] });
      expect(await channelTo([replica], { tls: { ...caller, ca } }).call('note')).toBe('one');
      const unknown = issueCertificate({ issuer: stranger, names: ['gateway'] });
      for (const tls of [{ ca }, { ...unknown, ca }]) {
        expect(await errorOf(channelTo([replica], { tls }).call('note', {}, 500))).toBeInstanceOf(UnavailableError);
      }
      expect(replica.done).toHaveLength(1);
    });

    it('does not call a server that it does not trust', async () => {
      const warnings: object[] = [];
      const logger: Logger = { ...silentLogger, warn: (fields) => void warnings.push(fields) };
      const replica = await startReplica('one', { tls: own });
      expect(await channelTo([replica], { tls: { ca } }).call('note')).toBe('one');
      const trusts = { tls: { ca: stranger.cert }, logger };
      expect(await errorOf(channelTo([replica], trusts).call('note', {}, 500))).toBeInstanceOf(UnavailableError);
      expect(await errorOf(channelTo([replica]).call('note', {}, 500))).toBeInstanceOf(UnavailableError);
      expect(replica.done).toHaveLength(1);
      expect(warnings).toEqual([{ called: 'things', reason: expect.any(String) }]);
    });
  });
});
