import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  DistributedSystem,
  SERVICE_NAMES,
  startDatabaseAndBrokerProcesses,
  type TestEngineAddressesAndProcesses,
} from '@tracking/system';
import { DelayingProxy } from '@tracking/testing';
import { shipment } from './api.ts';
import { ENV, createEndpoint } from './distributed.ts';
import { computeMedian, computeQuantile, drive, driveEvenly, type Figures, type LoadRequest } from './load.ts';
import { cpuSeconds, machineCpuSeconds } from './machine.ts';
import { runRemoteCli, startReceiver, type Server } from './server.ts';
import { receiverStats, type ReceiverStats } from './webhooks-bench-harness.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const REPLICAS = [1, 2, 4] as const;
/** Milliseconds that the proxies add to each round trip to an engine, unless `ENGINE_DELAYS_MS` lists others. */
const DEFAULT_DELAYS_MS = '0,5';
/** Workspaces with one endpoint each, so that all replicas of webhooks attempt deliveries. */
const WORKSPACES = 16;
/** Requests in progress while the rate is saturated, divided among the gateways. */
const CONNECTIONS = 96;
const WARM_UP_SECONDS = 3;
/**
 * Load under which waiting limits the rate: each replica of the gateway has few requests in progress, and each round
 * trip takes so long that the cores are mostly idle. The rate is proportional to the replicas if no part of the system
 * makes the requests of one replica wait for those of another.
 */
const WAITING_LOAD = { delayMs: 100, connectionsPerReplica: 2, duration: 2 };
/** Milliseconds that a round trip takes while round trips are counted. */
const ROUND_TRIP_DELAY_MS = 200;
const ROUND_TRIP_LOAD = { rate: 2, seconds: 10 };
/** Parts of the saturated rate at which latencies are measured. */
const LOADS = [0.2, 0.5, 1] as const;
/** Rate at which latencies are measured with each number of replicas, in shipments a second. */
const COMMON_RATE = 20;
/** Milliseconds without a further delivery after which the missing deliveries count as lost. */
const DELIVERY_TIMEOUT_MS = 30_000;

/** Engines of this machine behind proxies that delay them. */
interface DelayedEngines {
  readonly running: TestEngineAddressesAndProcesses;
  readonly proxies: Readonly<Record<'event store' | 'kafka' | 'mongo', DelayingProxy>>;
  /** Addresses of the proxies, as options of a system. */
  readonly addresses: { readonly eventStoreDbUrl: string; readonly kafkaBrokers: string; readonly mongoUrl: string };
}

/** Conditions under which a number of replicas is measured. */
interface CapacityBenchHarness {
  readonly system: DistributedSystem;
  readonly engines: DelayedEngines;
  readonly receiver: Server;
  /** API keys, one for each workspace. */
  readonly keys: readonly string[];
  readonly replicas: number;
  readonly seconds: number;
}

/**
 * Measures the rate of created and delivered shipments, and latencies at parts of it, with one, two and four replicas of
 * each service. Proxies delay the engines, so that waiting limits the rate and not the cores that all processes share.
 */
export async function benchCapacity(seconds: number): Promise<void> {
  const delays = (process.env['ENGINE_DELAYS_MS'] ?? DEFAULT_DELAYS_MS).split(',').filter(Boolean).map(Number);
  const folder = await mkdtemp(join(tmpdir(), 'bench-capacity-'));
  const receiver = await startReceiver();
  const engines = await startDelayedEngines(folder);
  try {
    const rates: CapacityRates[] = [];
    let keys: readonly string[] = [];
    for (const replicas of REPLICAS) {
      const options = { ...engines.addresses, folder: join(folder, 'services'), enginesDir: undefined, env: ENV };
      const system = await DistributedSystem.startSystem({ ...options, replicas });
      try {
        keys = keys.length > 0 ? keys : await createWorkspaces(system, receiver);
        rates.push(await measureLoads({ system, engines, receiver, keys, replicas, seconds }, delays));
      } finally {
        setDelay(engines, 0);
        await system.stopSystem();
      }
    }
    for (const name of Object.keys(rates[0] ?? {})) {
      const ratios = rates.map((each) => ((each[name] ?? NaN) / (rates[0]?.[name] ?? NaN)).toFixed(2));
      print(`${name}: rates with ${REPLICAS.join(', ')} replicas as multiples of the first: ${ratios.join(', ')}`);
    }
  } finally {
    const { eventStoreDb, kafka, mongo } = engines.running;
    await Promise.all([eventStoreDb?.stopProcess(), kafka?.stopProcess(), mongo?.stopProcess()]);
    await Promise.all(Object.values(engines.proxies).map((proxy) => proxy.closeProxy()));
    await receiver.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rates of created and delivered shipments, by the name of the load. */
type CapacityRates = Readonly<Record<string, number>>;

/** Measures each load with one number of replicas. */
async function measureLoads(harness: CapacityBenchHarness, delays: readonly number[]): Promise<CapacityRates> {
  const { engines, replicas, seconds } = harness;
  if (replicas === 1) await measureRoundTrips(harness);
  const rates: Record<string, number> = {};
  const { delayMs: waitingMs, connectionsPerReplica, duration } = WAITING_LOAD;
  const waiting = `${connectionsPerReplica} requests in progress for each replica, ${waitingMs} ms`;
  printCase(replicas, waiting);
  setDelay(engines, waitingMs);
  rates[waiting] = await measureRate(harness, { connections: connectionsPerReplica, seconds: duration * seconds });
  for (const delayMs of delays) {
    const saturated = `saturated, ${delayMs} ms`;
    printCase(replicas, saturated);
    setDelay(engines, delayMs);
    const rate = await measureRate(harness, { connections: CONNECTIONS / replicas, seconds });
    rates[saturated] = rate;
    await measureLatencies(harness, rate);
  }
  return rates;
}

const printCase = (replicas: number, load: string) =>
  print(`-- ${replicas} of each service, ${load}, load average ${loadavg()[0]?.toFixed(1)}`);

function setDelay({ proxies }: DelayedEngines, roundTripMs: number): void {
  for (const proxy of Object.values(proxies)) proxy.delayMs = roundTripMs / 2;
}

async function startDelayedEngines(folder: string): Promise<DelayedEngines> {
  const broker = await DelayingProxy.startDelayingTcpProxy();
  await mkdir(join(folder, 'kafka'), { recursive: true });
  // Clients of Kafka connect to the address that the broker advertises.
  const advertised = `advertised.listeners=PLAINTEXT://127.0.0.1:${broker.port}\n`;
  await writeFile(join(folder, 'kafka', 'extra.properties'), advertised);
  const running = await startDatabaseAndBrokerProcesses({
    folder,
    enginesDir: process.env['ENGINES_DIR'] ?? '../shared/engines',
  });
  broker.serverPort = readPort(running.kafkaBrokers);
  const eventStore = await DelayingProxy.startDelayingTcpProxy(readPort(running.eventStoreDbUrl));
  const documentStore = await DelayingProxy.startDelayingTcpProxy(readPort(running.mongoUrl));
  return {
    running,
    proxies: { 'event store': eventStore, kafka: broker, mongo: documentStore },
    addresses: {
      eventStoreDbUrl: `esdb://127.0.0.1:${eventStore.port}?tls=false`,
      kafkaBrokers: `127.0.0.1:${broker.port}`,
      // Without a direct connection, the driver would connect to the address that the server announces.
      mongoUrl: `mongodb://127.0.0.1:${documentStore.port}/tracking?directConnection=true`,
    },
  };
}

const readPort = (address: string) => Number(/127\.0\.0\.1:(\d+)/.exec(address)?.[1]);

/** Creates workspaces with an enabled endpoint each. Returns a key of each workspace. */
async function createWorkspaces({ administration, urls }: DistributedSystem, receiver: Server): Promise<string[]> {
  const server = { url: urls[0] ?? '' };
  const keys: string[] = [];
  for (let number = 1; number <= WORKSPACES; number += 1) {
    const name = `bench-${number}`;
    await runRemoteCli(administration, ['workspaces', 'create', '--name', name]);
    const key = ['--name', 'bench', '--environment', 'test', '--role', 'developer', '--workspace', name];
    keys.push(await runRemoteCli(administration, ['keys', 'create', ...key]));
    await createEndpoint(server, receiver, keys.at(-1) ?? '', `${receiver.url}/ok/${number}`);
  }
  return keys;
}

/**
 * Delays one engine after the other, and prints how many of its round trips a write and a delivery wait for. The delay
 * is much longer than the delays that other work on the machine causes, so that these hardly change the result.
 */
async function measureRoundTrips({ system, engines, receiver, keys }: CapacityBenchHarness): Promise<void> {
  const next = createRequests(keys);
  const servers = system.urls.map((url) => ({ url }));
  const measure = async () => {
    await fetch(`${receiver.url}/reset?new`);
    const paced = await driveEvenly(servers, ROUND_TRIP_LOAD, next);
    const { p50 } = await waitForDeliveries(receiver, paced.length);
    return { write: computeMedian(paced.map(({ ms }) => ms)), delivery: p50 };
  };
  await driveEvenly(servers, ROUND_TRIP_LOAD, next);
  for (const [name, proxy] of Object.entries(engines.proxies)) {
    const base = await measure();
    proxy.delayMs = ROUND_TRIP_DELAY_MS / 2;
    const slow = await measure();
    proxy.delayMs = 0;
    print(`without delays: write p50 ${base.write.toFixed(1)} ms  created to delivered p50 ${base.delivery} ms`);
    const write = (slow.write - base.write) / ROUND_TRIP_DELAY_MS;
    const delivery = (slow.delivery - base.delivery) / ROUND_TRIP_DELAY_MS;
    print(`  round trips to ${name.padEnd(12)} write ${write.toFixed(1)}  created to delivered ${delivery.toFixed(1)}`);
  }
}

interface ClosedLoad {
  /** Number of requests in progress at each gateway. */
  readonly connections: number;
  readonly seconds: number;
}

/** Returns the rate of created and delivered shipments, after a short load of the same kind. */
async function measureRate(harness: CapacityBenchHarness, load: ClosedLoad): Promise<number> {
  await createAndDeliver(harness, { ...load, seconds: WARM_UP_SECONDS });
  const before = readCpu(harness);
  const { rate, writeRate, p50, requests, failures } = await createAndDeliver(harness, load);
  print(
    `  ${rate.toFixed(1)}/s created and delivered, ${writeRate.toFixed(1)} writes/s, ` +
      `write p50 ${p50.toFixed(0)} ms, ${failures} failures`,
  );
  printCpu(before, readCpu(harness), requests);
  return rate;
}

async function createAndDeliver({ system, receiver, keys }: CapacityBenchHarness, load: ClosedLoad) {
  const next = createRequests(keys);
  await fetch(`${receiver.url}/reset?new`);
  const began = Date.now();
  const driven = await Promise.all(system.urls.map((url) => drive({ url, pid: 0 }, load, next)));
  const sum = (of: (figures: Figures) => number) => driven.reduce((total, one) => total + of(one), 0);
  const [requests, failures] = [sum((one) => one.requests), sum((one) => one.failures)];
  const { last } = await waitForDeliveries(receiver, requests - failures);
  return {
    ...{ requests, failures, writeRate: sum((one) => one.rate), p50: Math.max(...driven.map((one) => one.p50)) },
    rate: (requests * 1_000) / (last - began),
  };
}

/** Measures latencies at the common rate, and at parts of a rate. */
async function measureLatencies(harness: CapacityBenchHarness, rate: number): Promise<void> {
  const { system, receiver, keys, seconds } = harness;
  const servers = system.urls.map((url) => ({ url }));
  for (const target of [COMMON_RATE, ...LOADS.map((part) => Math.max(1, part * rate))]) {
    await pause(1_000);
    await fetch(`${receiver.url}/reset?new`);
    const before = readCpu(harness);
    const paced = await driveEvenly(servers, { rate: target, seconds }, createRequests(keys));
    const sorted = paced.map(({ ms }) => ms).sort((a, b) => a - b);
    const [median, high] = [computeQuantile(sorted, 0.5), computeQuantile(sorted, 0.99)];
    const { p50, p99 } = await waitForDeliveries(receiver, paced.length);
    print(
      `  at ${target.toFixed(1).padStart(6)}/s  write p50 ${median.toFixed(1)} ms  p99 ${high.toFixed(1)} ms  ` +
        `created to delivered p50 ${p50} ms  p99 ${p99} ms`,
    );
    printCpu(before, readCpu(harness), paced.length);
  }
}

/** Returns a function that creates a shipment in each workspace in turn. */
function createRequests(keys: readonly string[]): () => LoadRequest {
  let serial = 0;
  return () => ({
    ...shipment(),
    headers: { authorization: `Bearer ${keys[(serial += 1) % keys.length]}`, 'content-type': 'application/json' },
  });
}

/** @throws Error if some events are not delivered */
async function waitForDeliveries(receiver: Server, count: number): Promise<ReceiverStats> {
  for (let progressAt = Date.now(), before = 0; Date.now() - progressAt < DELIVERY_TIMEOUT_MS; await pause(100)) {
    const delivered = Number(await (await fetch(`${receiver.url}/count`)).text());
    if (delivered >= count) return receiverStats(receiver);
    if (delivered > before) [progressAt, before] = [Date.now(), delivered];
  }
  throw new Error('some events were not delivered');
}

interface CpuReading {
  readonly at: number;
  /** CPU seconds by the name of a service, an engine or this benchmark. */
  readonly used: ReadonlyMap<string, number>;
  /** Busy seconds of all cores of the machine, including other work. */
  readonly machine: number;
}

function readCpu({ system, engines, receiver }: CapacityBenchHarness): CpuReading {
  const { eventStoreDb, kafka, mongo } = engines.running;
  const processes: Readonly<Record<string, readonly (number | undefined)[]>> = {
    ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, system.services[name].map((one) => one.process.pid)])),
    'event store': [eventStoreDb?.pid],
    kafka: [kafka?.pid],
    mongo: [mongo?.pid],
    'load, proxies, receiver': [process.pid, receiver.pid],
  };
  const used = Object.entries(processes).map(
    ([name, pids]) => [name, pids.reduce<number>((sum, pid) => sum + cpuSeconds(pid ?? 0), 0)] as const,
  );
  return { at: performance.now(), used: new Map(used), machine: machineCpuSeconds() };
}

function printCpu(before: CpuReading, after: CpuReading, shipments: number): void {
  const seconds = (after.at - before.at) / 1_000;
  const used = [...after.used].map(([name, total]) => [name, total - (before.used.get(name) ?? 0)] as const);
  const each = used.map(([name, cpu]) => `${name} ${((cpu * 1_000) / shipments).toFixed(1)}`).join(', ');
  const all = used.reduce((sum, [, cpu]) => sum + cpu, 0) / seconds;
  const machine = (after.machine - before.machine) / seconds;
  print(`    cores used ${all.toFixed(2)}, with other work ${machine.toFixed(2)}; CPU s per 1,000: ${each}`);
}
