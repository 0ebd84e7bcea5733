import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EventStoreDbEventStore, MongoConnection, MongoDocumentStore, MongoLeases } from '@tracking/distributed';
import type { DocumentStore, EventStore, LeaseSource } from '@tracking/ports';
import {
  CatchUpSubscription,
  CheckpointWriter,
  createPartitionOfStreamPrefixes,
  type StreamPartition,
} from '@tracking/subscriptions';
import { startDatabaseAndBrokerProcesses } from '@tracking/system';
import { noMetrics, silentLogger } from '@tracking/testing';
import { cpuSeconds } from './machine.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const NAME_CHARACTERS = [...'abcdefghijklmnopqrstuvwxyz234567'];
const PARTITIONS = 16;
const ROUNDS = 3;
const SLOW_RATE = 20;
/** Number of events of a burst, of events in one append, and of appends in progress. Each append creates a stream. */
const BURST = { events: 20_000, eventsPerAppend: 10, writers: 32 };
const IDLE_INTERVAL_MS = 500;

interface Engines {
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly leases: LeaseSource;
  readonly mongoPid: number;
  readonly eventStorePid: number;
  openEventStore(): EventStore;
}

interface SubscriberCase {
  readonly name: string;
  readonly partitions: number;
  /** True if each partition has its own subscription to new events. */
  readonly hasOwnSubscriptions?: boolean;
  /** Milliseconds until idle positions are stored, with those of other partitions; by default, all are stored at once. */
  readonly idleIntervalMs?: number;
}
const CASES: readonly SubscriberCase[] = [
  { name: 'no subscriber', partitions: 0 },
  { name: '1 partition', partitions: 1 },
  {
    name: '16, idle positions stored every 500 ms',
    partitions: PARTITIONS,
    idleIntervalMs: IDLE_INTERVAL_MS,
  },
  { name: '16, all positions stored immediately', partitions: PARTITIONS },
  {
    name: '16, each with its own live subscription',
    partitions: PARTITIONS,
    hasOwnSubscriptions: true,
    idleIntervalMs: IDLE_INTERVAL_MS,
  },
];

/**
 * Measures what partitions of a subscriber cost in one process, which handles events without any work of its own. The
 * process also writes the events.
 */
export async function benchPartitions(seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-partitions-'));
  const { ENGINES_DIR = '../shared/engines', EVENTSTOREDB_URL, MONGODB_URL } = process.env;
  const started = await startDatabaseAndBrokerProcesses({
    ...{ folder, enginesDir: ENGINES_DIR, eventStoreDbUrl: EVENTSTOREDB_URL, mongoUrl: MONGODB_URL },
    kafkaBrokers: 'not used',
  });
  if (started.eventStoreDb) print('event store: the stand-in, not EventStoreDB');
  const connection = new MongoConnection({ url: started.mongoUrl, metrics: noMetrics });
  const documentStore = new MongoDocumentStore(connection);
  const leases = new MongoLeases(documentStore, noMetrics);
  const openEventStore = () =>
    new EventStoreDbEventStore({ url: started.eventStoreDbUrl, logger: silentLogger, metrics: noMetrics });
  const eventStore = openEventStore();
  const engines: Engines = {
    ...{ eventStore, documentStore, leases, openEventStore },
    mongoPid: started.mongo?.pid ?? 0,
    eventStorePid: started.eventStoreDb?.pid ?? 0,
  };
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      print(`-- round ${round}`);
      for (const subscriber of CASES) await measureCase(engines, subscriber, seconds);
    }
  } finally {
    await Promise.all([eventStore.close(), leases.close()]);
    await connection.closeConnection();
    await Promise.all([started.eventStoreDb, started.mongo].map(async (engine) => engine?.stopProcess()));
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureCase(engines: Engines, subscriber: SubscriberCase, seconds: number): Promise<void> {
  const prefix = `bench${randomUUID().slice(0, 8)}-`;
  const handled = new HandledCount();
  const { stop } = await startSubscriber(engines, subscriber, { prefix, handled });
  try {
    const slow = await measureCpu(engines, async () => {
      const count = seconds * SLOW_RATE;
      const began = performance.now();
      for (let n = 0; n < count; n += 1) {
        await pause(Math.max(0, began + (n * 1_000) / SLOW_RATE - performance.now()));
        await append(engines.eventStore, prefix, 1);
      }
      if (subscriber.partitions > 0) await handled.waitFor(count);
      return count;
    });
    handled.reset();
    const burst = await measureCpu(engines, async () => {
      let left = BURST.events;
      const write = async () => {
        while (left > 0) {
          left -= BURST.eventsPerAppend;
          await append(engines.eventStore, prefix, BURST.eventsPerAppend);
        }
      };
      await Promise.all(Array.from({ length: BURST.writers }, write));
      if (subscriber.partitions > 0) await handled.waitFor(BURST.events);
      return BURST.events;
    });
    print(`${subscriber.name.padEnd(40)} ${SLOW_RATE}/s: ${slow}   burst: ${burst}`);
  } finally {
    await stop();
  }
}

class HandledCount {
  private count = 0;

  add(events: number): void {
    this.count += events;
  }

  reset(): void {
    this.count = 0;
  }

  async waitFor(count: number): Promise<void> {
    while (this.count < count) await pause(5);
  }
}

async function startSubscriber(
  { eventStore, documentStore, leases, openEventStore }: Engines,
  { partitions: count, hasOwnSubscriptions = false, idleIntervalMs }: SubscriberCase,
  { prefix, handled }: { readonly prefix: string; readonly handled: HandledCount },
): Promise<{ stop(): Promise<void> }> {
  const opened: EventStore[] = [];
  const writer = idleIntervalMs !== undefined && {
    checkpointWriter: new CheckpointWriter(documentStore, idleIntervalMs),
  };
  const subscribe = (partitions: readonly StreamPartition[], log: EventStore) => {
    const subscription = new CatchUpSubscription({
      ...{ ...writer, partitions, eventStore: log, documentStore, leases, logger: silentLogger },
      subscriber: { name: prefix.slice(0, -1), generation: 1 },
      clock: () => new Date(),
      createHandler: () =>
        Promise.resolve({
          handleEventBatchOfPartition: (events) => {
            handled.add(events.length);
            return Promise.resolve([]);
          },
        }),
      metrics: { observeBatchDuration: () => undefined, recordFailure: () => undefined },
    });
    subscription.start();
    return subscription;
  };
  const openOwn = () => {
    const own = openEventStore();
    opened.push(own);
    return own;
  };
  const all = splitStreams(prefix, count);
  const subscriptions = hasOwnSubscriptions
    ? all.map((partition) => subscribe([partition], openOwn()))
    : [subscribe(all, eventStore)];
  if (count > 0) await waitForAllPartitions(eventStore, prefix, handled);
  return {
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await Promise.all(opened.map((store) => store.close()));
    },
  };
}

/** Writes events to all partitions, and resolves when they are handled. */
async function waitForAllPartitions(eventStore: EventStore, prefix: string, handled: HandledCount): Promise<void> {
  for (const character of NAME_CHARACTERS) await append(eventStore, `${prefix}${character}`, 1);
  await handled.waitFor(NAME_CHARACTERS.length);
  handled.reset();
}

function splitStreams(prefix: string, count: number): readonly StreamPartition[] {
  const size = NAME_CHARACTERS.length / count;
  return Array.from({ length: count }, (_, at) =>
    createPartitionOfStreamPrefixes(
      NAME_CHARACTERS.slice(at * size, (at + 1) * size).map((character) => prefix + character),
    ),
  );
}

async function append(eventStore: EventStore, prefix: string, count: number): Promise<void> {
  const character = NAME_CHARACTERS[Math.floor(Math.random() * NAME_CHARACTERS.length)] ?? '';
  const data = { filler: 'x'.repeat(150) };
  const events = Array.from({ length: count }, () => ({ id: randomUUID(), type: 'bench.v1', data, metadata: {} }));
  await eventStore.append(`${prefix}${character}${randomUUID()}`, 'no_stream', events);
}

/** Returns the rate of the events, and the CPU of this process and of the engines per 1,000 events. */
async function measureCpu(engines: Engines, action: () => Promise<number>): Promise<string> {
  const read = () => [process.pid, engines.mongoPid, engines.eventStorePid].map(cpuSeconds);
  const before = read();
  const began = performance.now();
  const events = await action();
  const rate = (events * 1_000) / (performance.now() - began);
  const used = read().map((after, at) => (((after - (before[at] ?? 0)) * 1_000) / events).toFixed(2));
  const [own, documents, log] = used;
  return `${rate.toFixed(0)} events/s, CPU s per 1,000: process ${own}, document store ${documents}, event store ${log}`;
}
