import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DistributedSystem, SERVICE_NAMES } from '@tracking/system';
import { shipment } from './api.ts';
import { drive, driveEvenly, measureMaxLag, formatRow } from './load.ts';
import { cpuSeconds } from './machine.ts';
import { runCli, runRemoteCli, startBaseline, startReceiver, startStandalone, type Server } from './server.ts';
import { receiverStats, type ReceiverStats } from './webhooks-bench-harness.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const { SERVICE_NODE_OPTIONS } = process.env;
/** Settings of measured services. `SERVICE_NODE_OPTIONS` has options of Node.js, for example `--cpu-prof`. */
export const ENV = {
  WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOKS_ALLOW_HTTP: 'true',
  RATE_LIMIT_PER_MINUTE: '1000000000',
  ...(SERVICE_NODE_OPTIONS !== undefined && { NODE_OPTIONS: SERVICE_NODE_OPTIONS }),
};
const PER_SECOND = 20;
/** Requests in progress, so many that the services are saturated. */
const SATURATING_CONNECTIONS = 96;
/** Shipments of the saturated measurement. The first thousands also pay for the compilation of the code. */
const SATURATING_SHIPMENTS = 5_000;
const IDLE_SECONDS = 10;

/** One of the two ways to run, with the parts that this suite measures. */
interface Subject {
  readonly name: string;
  /** URL for requests. */
  readonly server: Server;
  /** URLs that report the lag of the read models, and the processes by role. */
  readonly projecting: readonly { readonly managementUrl: string }[];
  readonly processes: Readonly<Record<string, readonly number[]>>;
  readonly key: string;
}

/**
 * Measures the services beside standalone in one run: writes, lag of the read models, deliveries, CPU by service,
 * takeover. `REPLICAS` is the number of replicas of each service, 2 by default.
 */
export async function benchDistributed(seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-distributed-'));
  try {
    const standalone = await startStandalone(join(folder, 'standalone'), ENV);
    const key = ['keys', 'create', '--name', 'bench', '--environment', 'test', '--role', 'developer'];
    await measureWritesAndDeliveries(seconds, {
      name: 'standalone',
      server: standalone,
      projecting: [standalone],
      processes: { standalone: [standalone.pid] },
      key: await runCli(join(folder, 'standalone'), ...key),
    });
    await standalone.stop();
    await measureBareServer(seconds);
    await services(join(folder, 'services'), seconds, key);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Measures a server that only validates requests, at the same rates. It shows how much more a request costs at a low
 * rate on this machine, because of caches and idle cores, whatever the server does.
 */
async function measureBareServer(seconds: number): Promise<void> {
  print('-- server that only validates requests');
  const server = await startBaseline();
  const cpu = () => [['bare server', cpuSeconds(server.pid)] as const];
  const load = { connections: SATURATING_CONNECTIONS, seconds: 0, amount: SATURATING_SHIPMENTS };
  await drive(server, load, shipment);
  let before = new Map(cpu());
  const paced = await driveEvenly(server, { rate: PER_SECOND, seconds }, shipment);
  printCpu(before, cpu(), paced.length, ` at ${PER_SECOND}/s`);
  before = new Map(cpu());
  await drive(server, load, shipment);
  printCpu(before, cpu(), SATURATING_SHIPMENTS, ' saturated');
  await server.stop();
}

function startServices(folder: string, replicas = 2): Promise<DistributedSystem> {
  const { EVENTSTOREDB_URL, KAFKA_BROKERS, MONGODB_URL, ENGINES_DIR = '../shared/engines' } = process.env;
  return DistributedSystem.startSystem({
    folder,
    enginesDir: ENGINES_DIR,
    eventStoreDbUrl: EVENTSTOREDB_URL,
    kafkaBrokers: KAFKA_BROKERS,
    mongoUrl: MONGODB_URL,
    replicas,
    env: ENV,
  });
}

async function services(folder: string, seconds: number, newKey: readonly string[]): Promise<void> {
  const system = await startServices(folder, Number(process.env['REPLICAS'] ?? 2));
  try {
    const { services: all, engines, administration } = system;
    const processes: Record<string, readonly number[]> = {};
    for (const service of SERVICE_NAMES) processes[service] = all[service].map(({ process: one }) => one.pid ?? 0);
    for (const name of ['eventStoreDb', 'kafka', 'mongo'] as const) {
      const pid = engines[name]?.pid;
      if (pid !== undefined) processes[engines[name]?.spec.name ?? name] = [pid];
    }
    const url = system.urls[0] ?? '';
    const key = await runRemoteCli(administration, newKey);
    await measureWritesAndDeliveries(seconds, {
      name: 'services',
      server: { url, managementUrl: administration.url, pid: processes['gateway']?.[0] ?? 0, startMs: 0, stop },
      projecting: all.projections,
      processes,
      key,
    });
    // With one replica, nothing takes over.
    if (all.webhooks.length > 1) await measureTakeovers(system, key);
  } finally {
    await system.stopSystem();
  }
}

const REPLICA_ENDPOINTS = 2;
/** Events per second, so few that no process is saturated. */
const REPLICA_RATE = 10;
const REPLICA_ROUNDS = 3;
/** Milliseconds within which shares are even after a replica started or stopped. */
const SHARES_TIMEOUT_MS = 60_000;

/**
 * Measures deliveries with one and with two replicas of the webhooks service, in turns. All other services have one
 * replica.
 */
export async function benchReplicas(seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-replicas-'));
  const system = await startServices(folder);
  const receiver = await startReceiver();
  try {
    const { administration, services: all } = system;
    const newKey = ['keys', 'create', '--name', 'bench', '--environment', 'test', '--role', 'developer'];
    const key = await runRemoteCli(administration, newKey);
    for (const service of ['shipments', 'projections', 'gateway'] as const)
      await all[service][1]?.process.stopProcess();
    const server: Server = { url: system.urls[0] ?? '', managementUrl: '', pid: 0, startMs: 0, stop };
    for (let endpoint = 1; endpoint <= REPLICA_ENDPOINTS; endpoint += 1) {
      await createEndpoint(server, receiver, key, `${receiver.url}/ok/${endpoint}`);
    }
    const second = all.webhooks[1];
    await driveEvenly(server, { rate: REPLICA_RATE, seconds: 5, key }, shipment);
    for (let round = 0; round < REPLICA_ROUNDS; round += 1) {
      await second?.process.stopProcess();
      await waitForShares(all.webhooks.slice(0, 1), [64]);
      await measureReplicas('1 replica', { server, receiver, key, seconds });
      const began = performance.now();
      await second?.process.startProcess();
      await waitForShares(all.webhooks, [32, 32]);
      print(`shards even ${((performance.now() - began) / 1_000).toFixed(1)} s after the start of the second replica`);
      await measureReplicas('2 replicas', { server, receiver, key, seconds });
      print(`deliveries for the other replica so far: ${await readWakeUps(all.webhooks)}`);
    }
  } finally {
    await receiver.stop();
    await system.stopSystem();
    await rm(folder, { recursive: true, force: true });
  }
}

interface ReplicaBenchHarness {
  readonly server: Server;
  readonly receiver: Server;
  readonly key: string;
  readonly seconds: number;
}

async function measureReplicas(name: string, { server, receiver, key, seconds }: ReplicaBenchHarness): Promise<void> {
  await fetch(`${receiver.url}/reset?new`);
  const written = await driveEvenly(server, { rate: REPLICA_RATE, seconds, key }, shipment);
  const { p50, p90, p99 } = await waitForDeliveries(receiver, written.length * REPLICA_ENDPOINTS);
  print(`created to delivered at ${REPLICA_RATE}/s, ${name.padEnd(10)}  p50 ${p50} ms  p90 ${p90} ms  p99 ${p99} ms`);
}

/** Returns how replicas reached the owners of deliveries that they recorded: by messages or by stored wake-ups. */
async function readWakeUps(replicas: readonly { readonly managementUrl: string }[]): Promise<string> {
  const texts = await Promise.all(
    replicas.map(async ({ managementUrl }) => (await fetch(`${managementUrl}/metrics`)).text()),
  );
  const count = (by: string) => {
    const pattern = new RegExp(`^webhook_owner_wake_ups_total\\{.*by="${by}".*\\} (\\d+)$`, 'm');
    return sum(texts.map((one) => Number(pattern.exec(one)?.[1] ?? 0)));
  };
  return `${count('message')} by message, ${count('store')} by store`;
}

/** Waits until the replicas of the webhooks service hold these numbers of shards. */
async function waitForShares(
  replicas: readonly { readonly managementUrl: string }[],
  expected: readonly number[],
): Promise<void> {
  const readShare = async ({ managementUrl }: { readonly managementUrl: string }) => {
    const response = await fetch(`${managementUrl}/health/ready`);
    const { leases } = (await response.json()) as { leases: { webhook_shards: { held: number } } };
    return leases.webhook_shards.held;
  };
  for (const end = Date.now() + SHARES_TIMEOUT_MS; Date.now() < end; await pause(50)) {
    const shares = await Promise.all(replicas.map(readShare));
    if (shares.join() === expected.join()) return;
  }
  throw new Error('the shards are not even after a minute');
}

const stop = () => Promise.resolve();

/**
 * Measures the time from the kill -9 of a replica to the delivery of an event written right afterwards; the maximum
 * over both replicas.
 */
async function measureTakeovers(system: DistributedSystem, key: string): Promise<void> {
  const receiver = await startReceiver();
  const url = system.urls.at(-1) ?? '';
  const server: Server = { url, managementUrl: '', pid: 0, startMs: 0, stop };
  await createEndpoint(server, receiver, key);
  let expected = 0;
  for (const service of ['shipments', 'projections', 'webhooks'] as const) {
    let worst = 0;
    for (const { process: replica } of system.services[service]) {
      await replica.killProcess();
      const began = performance.now();
      await drive(server, { connections: 1, seconds: 0, amount: 1, key }, shipment);
      await waitForDeliveries(receiver, (expected += 1));
      worst = Math.max(worst, performance.now() - began);
      await replica.startProcess();
    }
    print(
      `takeover from a killed ${service.padEnd(12)} ${(worst / 1_000).toFixed(1)} s, with the write and its delivery`,
    );
  }
  await receiver.stop();
}

/** Creates an enabled endpoint for new shipments. */
export async function createEndpoint(
  server: Pick<Server, 'url'>,
  receiver: Server,
  key: string,
  url = `${receiver.url}/ok/1`,
): Promise<void> {
  const call = async (path: string, body: object) => {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  const { id } = await call('/v1/webhook_endpoints', {
    url,
    event_types: ['shipment.created'],
  });
  await call(`/v1/webhook_endpoints/${id}/verify`, {});
  await call(`/v1/webhook_endpoints/${id}/enable`, {});
}

async function waitForDeliveries(receiver: Server, count: number): Promise<ReceiverStats> {
  for (const end = Date.now() + 120_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
    const stats = await receiverStats(receiver);
    if (stats.different >= count) return stats;
  }
  throw new Error('some events were not delivered within two minutes');
}

async function measureWritesAndDeliveries(
  seconds: number,
  { name, server, projecting, processes, key }: Subject,
): Promise<void> {
  print(`-- ${name}`);
  await drive(server, { connections: 32, seconds: 3, key }, shipment);
  const posting = drive(server, { connections: 32, seconds, key }, shipment);
  const lag = await measureMaxLag(projecting, posting);
  print(formatRow(`POST shipment, ${seconds} s`, await posting));
  print(`  maximum read-model lag              ${lag.toFixed(3)} s`);

  const receiver = await startReceiver();
  await createEndpoint(server, receiver, key);
  const cpu = () => Object.entries(processes).map(([one, pids]) => [one, sum(pids.map(cpuSeconds))] as const);
  const reset = () => fetch(`${receiver.url}/reset`);
  await driveEvenly(server, { rate: PER_SECOND, seconds: 2, key }, shipment);
  await waitForDeliveries(receiver, PER_SECOND * 2);
  await reset();
  const beforePaced = new Map(cpu());
  const paced = await driveEvenly(server, { rate: PER_SECOND, seconds, key }, shipment);
  const { p50, p99 } = await waitForDeliveries(receiver, paced.length);
  print(`created to delivered at ${PER_SECOND}/s          p50 ${p50} ms  p99 ${p99} ms`);
  printCpu(beforePaced, cpu(), paced.length);

  await pause(2_000);
  const resting = new Map(cpu());
  await pause(IDLE_SECONDS * 1_000);
  const idle = cpu().map(([one, used]) => used - (resting.get(one) ?? 0));
  print(`CPU when idle                       ${((sum(idle) * 100) / IDLE_SECONDS).toFixed(0)} % of a core`);

  await reset();
  const before = new Map(cpu());
  const [began, amount] = [Date.now(), SATURATING_SHIPMENTS];
  await drive(server, { connections: SATURATING_CONNECTIONS, seconds: 0, amount, key }, shipment);
  const { last } = await waitForDeliveries(receiver, amount);
  print(`POST to receiver, sustained         ${((amount * 1_000) / (last - began)).toFixed(0)}/s`);
  printCpu(before, cpu(), amount);
  await receiver.stop();
}

function printCpu(
  before: ReadonlyMap<string, number>,
  after: readonly (readonly [name: string, seconds: number])[],
  events: number,
  load = '',
): void {
  for (const [one, used] of after) {
    const each = ((used - (before.get(one) ?? 0)) * 1_000) / events;
    print(`  CPU of ${one.padEnd(28)} ${each.toFixed(2)} s per 1,000 events${load}`);
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
