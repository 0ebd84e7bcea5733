import dns from 'node:dns';
import { jest } from '@jest/globals';
import { eventually, findFreePort, RecordedMetrics } from '@tracking/testing';
import { FaultyProxy } from '../../test/grpc/faulty-link.ts';
import {
  THINGS_PROTO,
  type ThingsOperations,
  openGrpcChannel,
  startGrpcServerForTest,
} from '../../test/grpc/grpc-subject.ts';
import type { GrpcLimits } from './grpc-options.ts';

jest.setTimeout(60_000);

const LONG_MS = 20_000;
const KEYS = Array.from({ length: 60 }, (_, index) => `shipment ${index}`);

interface Replica {
  readonly name: string;
  readonly link: FaultyProxy;
}

describe('routed calls', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function startReplica(name: string, linkPort?: number): Promise<Replica> {
    const port = await findFreePort();
    const server = await startGrpcServerForTest(
      { note: () => Promise.resolve(name) },
      { address: `127.0.0.1:${port}` },
    );
    closing.push(() => server.drainAndCloseGrpcServer());
    const link = await FaultyProxy.openFaultyLink(linkPort ?? (await findFreePort()), port);
    closing.push(() => link.cutAndRefuseConnections());
    return { name, link };
  }

  /** Returns a function that calls a replica and returns the name of the replica that answered. */
  function openCaller(ports: readonly number[], limits: Partial<GrpcLimits> = {}) {
    const channel = openGrpcChannel(`ipv4:${ports.map((port) => `127.0.0.1:${port}`).join(',')}`, { limits });
    closing.push(() => channel.closeChannel());
    const findRoutingKey = (request: object) => (request as { readonly key?: string }).key;
    const { things } = channel.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, LONG_MS, findRoutingKey);
    return (key?: string) => things.note({ key }) as Promise<string>;
  }
  type Call = ReturnType<typeof openCaller>;

  /** Returns the replica of each key. */
  const findReplicas = (call: Call) =>
    Promise.all(KEYS.map(async (key) => [key, await call(key)] as const)).then((pairs) => new Map(pairs));

  /** Waits until each of the replicas answers some of the keys, and returns the replica of each key. */
  const findReplicasOnceConnected = (call: Call, count: number) =>
    eventually(async () => {
      const found = await findReplicas(call);
      expect(new Set(found.values()).size).toBe(count);
      return found;
    });

  it('reach the same replica each time and from each caller, and all replicas have a share', async () => {
    const replicas = [await startReplica('one'), await startReplica('two'), await startReplica('three')];
    const ports = replicas.map(({ link }) => link.port);
    const expected = await findReplicasOnceConnected(openCaller(ports), 3);
    const other = openCaller(ports.toReversed());
    await findReplicasOnceConnected(other, 3);
    for (let round = 0; round < 3; round += 1) expect(await findReplicas(other)).toEqual(expected);
    for (const { name } of replicas)
      expect([...expected.values()].filter((one) => one === name).length).toBeGreaterThan(KEYS.length / 10);
  });

  it('move to another replica when theirs is killed, and return when it is back; other keys stay', async () => {
    const replicas = [await startReplica('one'), await startReplica('two'), await startReplica('three')];
    const call = openCaller(replicas.map(({ link }) => link.port));
    const before = await findReplicasOnceConnected(call, 3);
    await replicas[0]!.link.cutAndRefuseConnections();
    const during = await findReplicas(call);
    for (const [key, replica] of before) {
      if (replica === 'one') expect(during.get(key)).not.toBe('one');
      else expect(during.get(key)).toBe(replica);
    }
    await replicas[0]!.link.acceptConnectionsAgain();
    await eventually(async () => expect(await findReplicas(call)).toEqual(before));
  });

  it('move to another replica when theirs hangs, although its connection remains open', async () => {
    const replicas = [await startReplica('one'), await startReplica('two')];
    const ports = replicas.map(({ link }) => link.port);
    const call = openCaller(ports, { keepaliveMs: 600_000, keepaliveTimeoutMs: 600_000 });
    const before = await findReplicasOnceConnected(call, 2);
    const [key = ''] = KEYS.filter((one) => before.get(one) === 'one');
    replicas[0]!.link.stopRelayingData();
    const stuck: Promise<string>[] = [];
    await eventually(async () => {
      const answer = call(key);
      stuck.push(answer);
      const waited = new Promise((resolve) =>
        AbortSignal.timeout(200).addEventListener('abort', () => resolve('none')),
      );
      expect(await Promise.race([answer, waited])).toBe('two');
    });
    replicas[0]!.link.deliverHeldBackData();
    expect(await stuck[0]).toBe('one');
    await eventually(async () => expect(await findReplicas(call)).toEqual(before));
  });

  it('go to all replicas in turn if they have no routing key', async () => {
    const replicas = [await startReplica('one'), await startReplica('two')];
    const call = openCaller(replicas.map(({ link }) => link.port));
    await findReplicasOnceConnected(call, 2);
    const names: string[] = [];
    for (let n = 0; n < 20; n += 1) names.push(await call());
    expect(names.filter((name) => name === 'one')).toHaveLength(10);
  });

  it('use a replica whose address is added to the name of the service, and no longer one whose address is removed', async () => {
    const port = await findFreePort();
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      const server = await startGrpcServerForTest(
        { note: () => Promise.resolve(host) },
        { address: `${host}:${port}` },
      );
      closing.push(() => server.drainAndCloseGrpcServer());
    }
    let hosts = ['127.0.0.1'];
    const lookUp = jest
      .spyOn(dns.promises, 'lookup')
      .mockImplementation((() => Promise.resolve(hosts.map((address) => ({ address, family: 4 })))) as never);
    closing.push(() => Promise.resolve(lookUp.mockRestore()));
    // A channel of its own for streams, which open later, would look up the name after the channel of other calls.
    const random = jest.spyOn(Math, 'random').mockReturnValue(0);
    closing.push(() => Promise.resolve(random.mockRestore()));
    const metrics = new RecordedMetrics();
    const channel = openGrpcChannel(`dns:///things.test:${port}`, { metrics });
    closing.push(() => channel.closeChannel());
    const findRoutingKey = (request: object) => (request as { readonly key?: string }).key;
    const { things } = channel.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, LONG_MS, findRoutingKey);
    const call = (key?: string) => things.note({ key }) as Promise<string>;
    await call('first');
    random.mockReturnValue(0.99);
    await findReplicasOnceConnected(call, 1);
    hosts = ['127.0.0.1', '127.0.0.2'];
    await findReplicasOnceConnected(call, 2);
    expect(metrics.getMetricValue('command_channel_repeats_total{service="things"}')).toBe(0);
    hosts = ['127.0.0.2'];
    const left = await findReplicasOnceConnected(call, 1);
    expect([...left.values()]).toEqual(KEYS.map(() => '127.0.0.2'));
  });

  it('give a replica that starts later its share', async () => {
    const laterPort = await findFreePort();
    const replicas = [await startReplica('one'), await startReplica('two')];
    const call = openCaller([...replicas.map(({ link }) => link.port), laterPort]);
    const before = await findReplicasOnceConnected(call, 2);
    await startReplica('later', laterPort);
    const after = await findReplicasOnceConnected(call, 3);
    const moved = KEYS.filter((key) => after.get(key) !== before.get(key));
    expect(moved.map((key) => after.get(key))).toEqual(moved.map(() => 'later'));
    expect(moved.length).toBeLessThan((KEYS.length * 2) / 3);
  });
});

it('counts the running calls of all channels of a process in one gauge', async () => {
  const released = Promise.withResolvers<string>();
  const metrics = new RecordedMetrics();
  const port = await findFreePort();
  const server = await startGrpcServerForTest({ hold: () => released.promise }, { address: `127.0.0.1:${port}` });
  const channels = [1, 2].map(() => openGrpcChannel(`dns:///127.0.0.1:${port}`, { metrics }));
  const calls = channels.map((channel) =>
    channel.createGrpcClientOperations<ThingsOperations>(THINGS_PROTO, LONG_MS).things.hold(),
  );
  expect(metrics.getMetricValue('command_channel_calls')).toBe(2);
  released.resolve('done');
  await Promise.all(calls);
  expect(metrics.getMetricValue('command_channel_calls')).toBe(0);
  await Promise.all(channels.map((channel) => channel.closeChannel()));
  await server.drainAndCloseGrpcServer();
});
