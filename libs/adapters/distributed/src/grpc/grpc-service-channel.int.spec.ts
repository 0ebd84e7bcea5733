import { DomainError, PreconditionFailedError } from '@tracking/contracts';
import { BusyError, UnavailableError } from '@tracking/ports';
import { findFreePort, silentLogger } from '@tracking/testing';
import { FaultyProxy } from '../../test/grpc/faulty-link.ts';
import {
  THINGS_PROTO,
  type ThingsOperations,
  openGrpcChannel,
  startGrpcServerForTest,
} from '../../test/grpc/grpc-subject.ts';
import type { GrpcServiceChannel } from './grpc-service-channel.ts';
import type { GrpcServiceServer } from './grpc-service-server.ts';
import { SHIPMENTS_PROTO } from './service-protos.ts';

const LONG_MS = 20_000;

describe('the service channel', () => {
  let server: GrpcServiceServer;
  let address: string;
  let channel: GrpcServiceChannel;
  let things: ThingsOperations['things'];
  let others: ThingsOperations['others'];
  const calls: unknown[] = [];
  const held = Promise.withResolvers<null>();
  const refusal = new DomainError('validation_failed', 'Two fields are wrong. ø港', [
    { param: 'legs[0].etd', code: 'invalid_timestamp', message: 'no offset' },
    { param: 'house_bill', code: 'too_long', message: 'too long' },
  ]);
  const errors: Readonly<Record<string, Error>> = {
    refusal,
    bare: new DomainError('not_found', 'No such thing.'),
    changed: new PreconditionFailedError(7),
    missing: new PreconditionFailedError(null),
    away: new UnavailableError('event store', 'does not answer'),
    busy: new BusyError('storage', 'too much waits'),
  };

  beforeAll(async () => {
    address = `127.0.0.1:${await findFreePort()}`;
    server = await startGrpcServerForTest(
      {
        echo: (request) => Promise.resolve(request),
        note: (request) => Promise.resolve(calls.push(request)),
        hold: () => held.promise,
        refuse: (request) => Promise.reject(errors[(request as { error: string }).error]!),
        fail: (request) => {
          if ((request as { atOnce: boolean }).atOnce) throw new Error('hunter2');
          return Promise.reject(new TypeError('password=hunter2 in /srv/app/secret.ts'));
        },
      },
      { address },
    );
    channel = openGrpcChannel(`dns:///${address}`);
    ({ things, others } = channel.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, LONG_MS));
  });
  afterAll(async () => {
    held.resolve(null);
    await channel.closeChannel();
    await server.drainAndCloseGrpcServer();
  });

  async function errorOf(call: Promise<unknown>): Promise<Error> {
    const outcome: unknown = await call.catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(Error);
    return outcome as Error;
  }

  it('transfers a request and its response', async () => {
    const request = {
      text: 'Ærø 港 🚢 "\\\n\u0000',
      half: '\ud83d',
      list: [1, -0.5, 1e21, 2 ** 53 - 1, null, true, []],
      deep: { er: { empty: {} } },
    };
    expect(await things.echo(request)).toStrictEqual(request);
    expect(await others.echo({})).toBe('another');
  });

  it.each([
    ['all in fields', { id: 'c1', origin: { request_id: 'req_1', traceparent: '00-1' } }],
    ['absent', { more: 1 }],
    ['empty', { id: '', origin: {} }],
    ['null', { id: null, origin: null }],
    ['of another type', { id: 7, origin: 'text' }],
    ['more than their message has', { id: 'c1', origin: { request_id: 'req_1', more: true } }],
    ['named as the rest is', { id: 'c1', json: '{"id":"another"}' }],
    ['no UTF-8', { id: '\ud83d', origin: { request_id: '\ude00' } }],
    ['of the prototype', JSON.parse('{"__proto__":{"a":1},"constructor":"b"}') as object],
  ])('transfers a request whose fields are %s', async (_, request) => {
    const fields = (of: unknown) => Object.entries(of as object).sort();
    expect(fields(await things.echo(request))).toStrictEqual(fields(request));
  });

  it('distinguishes absent from null', async () => {
    expect(await things.nothing()).toBeUndefined();
    expect(await things.echo(undefined)).toEqual({});
    held.resolve(null);
    expect(await things.hold()).toBeNull();
  });

  it('transfers large requests', async () => {
    const request = { text: 'x'.repeat(3_000_000) };
    expect(await things.echo(request)).toEqual(request);
  });

  it('carries concurrent calls, each with its own response', async () => {
    const numbers = Array.from({ length: 500 }, (_, number) => ({ number }));
    expect(await Promise.all(numbers.map((request) => things.echo(request)))).toEqual(numbers);
  });

  it('calls an operation once without failures', async () => {
    await things.note({ call: 1 });
    await things.note({ call: 2 });
    expect(calls).toEqual([{ call: 1 }, { call: 2 }]);
  });

  it.each(['refusal', 'bare'])('rethrows a refusal (%s)', async (name) => {
    const error = await errorOf(things.refuse({ error: name }));
    expect(error).toBeInstanceOf(DomainError);
    const of = ({ code, message, details }: DomainError) => ({ code, message, details });
    expect(of(error as DomainError)).toEqual(of(errors[name] as DomainError));
  });

  it.each(['changed', 'missing'])('rethrows a failed precondition with the current version (%s)', async (name) => {
    const error = await errorOf(things.refuse({ error: name }));
    expect(error).toBeInstanceOf(PreconditionFailedError);
    const of = ({ code, message, version }: PreconditionFailedError) => ({ code, message, version });
    expect(of(error as PreconditionFailedError)).toEqual(of(errors[name] as PreconditionFailedError));
  });

  it('rethrows the unavailability of an engine', async () => {
    const error = await errorOf(things.refuse({ error: 'away' }));
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).not.toBeInstanceOf(BusyError);
    expect(error).toMatchObject({ engine: 'event store', message: 'event store: does not answer' });
  });

  it('rethrows a full queue', async () => {
    const error = await errorOf(things.refuse({ error: 'busy' }));
    expect(error).toBeInstanceOf(BusyError);
    expect(error).toMatchObject({ engine: 'storage', message: 'storage: too much waits' });
  });

  /**
   * Calls `of` twice: the response to the first attempt of the first call is lost, and every later attempt throws
   * `error`.
   */
  async function errorsAfterLostAnswer(
    of: 'big' | 'read',
    error: Error,
  ): Promise<readonly [first: Error, second: Error]> {
    const replicaPort = await findFreePort();
    let calls = 0;
    const operation = () => {
      calls += 1;
      return calls === 1 ? Promise.resolve('x'.repeat(20_000)) : Promise.reject(error);
    };
    const replica = await startGrpcServerForTest({ [of]: operation }, { address: `127.0.0.1:${replicaPort}` });
    const link = await FaultyProxy.openFaultyLink(await findFreePort(), replicaPort);
    const repeating = openGrpcChannel(`dns:///127.0.0.1:${link.port}`);
    try {
      const { things: repeated } = repeating.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, LONG_MS);
      link.cutNextAnswers(1);
      const first = await errorOf(repeated[of]());
      expect(calls).toBe(2);
      return [first, await errorOf(repeated[of]())];
    } finally {
      await repeating.closeChannel();
      await link.cutAndRefuseConnections();
      await replica.drainAndCloseGrpcServer();
    }
  }

  it('reports an unknown outcome if a call was lost and its repeat finds a full queue', async () => {
    const [first, second] = await errorsAfterLostAnswer('big', errors['busy']!);
    expect(first).toBeInstanceOf(UnavailableError);
    expect(first).not.toBeInstanceOf(BusyError);
    expect(first).toMatchObject({ engine: 'storage', message: 'storage: too much waits' });
    expect(second).toBeInstanceOf(BusyError);
  });

  it('reports an unknown outcome if a command was lost and its repeat is refused', async () => {
    const [first, second] = await errorsAfterLostAnswer('big', errors['bare']!);
    expect(first).toBeInstanceOf(UnavailableError);
    expect(first).toMatchObject({ engine: 'things' });
    expect(second).toBeInstanceOf(DomainError);
  });

  it('rethrows the refusal of a query whose first attempt was lost', async () => {
    const [first] = await errorsAfterLostAnswer('read', errors['bare']!);
    expect(first).toBeInstanceOf(DomainError);
  });

  it.each([false, true])('keeps the details of other errors in the service (at once: %s)', async (atOnce) => {
    const error = await errorOf(things.fail({ atOnce }));
    expect(error.name).toBe('Error');
    expect(error).not.toBeInstanceOf(UnavailableError);
    expect(`${error.message} ${error.stack} ${String(error.cause)} ${JSON.stringify(error)}`).not.toContain('hunter2');
  });

  it.each([undefined, 'info'] as const)('logs once that a service does not respond, at level %s', async (level) => {
    const lines: [level: string, message: string][] = [];
    const logger = {
      ...silentLogger,
      info: (_: object, message: string) => void lines.push(['info', message]),
      warn: (_: object, message: string) => void lines.push(['warn', message]),
    };
    const options = { logger, ...(level && { unavailableLogLevel: level }) };
    const silent = openGrpcChannel(`dns:///127.0.0.1:${await findFreePort()}`, options);
    try {
      const { things: unreachable } = silent.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, 100);
      for (let call = 0; call < 2; call += 1)
        expect(await errorOf(unreachable.read())).toBeInstanceOf(UnavailableError);
      expect(lines).toEqual([[level ?? 'warn', 'command channel: the service does not respond; retrying']]);
    } finally {
      await silent.closeChannel();
    }
  });

  it('refuses operations that a replica does not have', async () => {
    const older = openGrpcChannel(`dns:///${address}`);
    const proto = { ...SHIPMENTS_PROTO, name: 'things' };
    const { events } = older.createGrpcClientOperations<{ events: { head(): Promise<unknown> } }>(proto, LONG_MS);
    expect(await errorOf(events.head())).toMatchObject({ name: 'Error', message: 'things.Events/Head: UNIMPLEMENTED' });
    await older.closeChannel();
  });

  it('calls no service without a configured address', () => {
    expect(() => channel.createGrpcClientOperations(SHIPMENTS_PROTO, LONG_MS)).toThrow(
      'the address of service shipments is not configured',
    );
  });

  it('serves only operations', async () => {
    const [one] = await Promise.allSettled([startGrpcServerForTest({ note: undefined as never }, { address })]);
    expect(one).toMatchObject({ status: 'rejected', reason: { message: 'Things/Note is not an operation of things' } });
  });

  it('refuses calls once closed', async () => {
    const closing = openGrpcChannel(`dns:///${address}`);
    const { things: late } = closing.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, LONG_MS);
    await late.note({ call: 3 });
    await closing.closeChannel();
    expect(await errorOf(late.note({ call: 4 }))).toBeInstanceOf(UnavailableError);
    expect(calls).not.toContainEqual({ call: 4 });
  });
});
