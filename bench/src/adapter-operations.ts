import { randomUUID } from 'node:crypto';
import type {
  DocumentStore,
  EventStore,
  Leases,
  MessageBroker,
  NewEvent,
  ObjectStore,
  RequestQuota,
} from '@tracking/ports';

/** All ports, implemented by one kind of engines. */
export interface Ports {
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly broker: MessageBroker;
  readonly leases: Leases;
  readonly quota: RequestQuota;
  readonly objects: ObjectStore;
  readonly calls: { echo(request: object): Promise<unknown> };
}

/** Rate and latency of one operation. */
export interface Measured {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

/**
 * Repeats an operation for some time, with the given concurrency. @param each number of items that one operation
 * handles
 */
async function repeat(seconds: number, atOnce: number, each: number, operation: (n: number) => Promise<unknown>) {
  const took: number[] = [];
  let n = 0;
  const began = performance.now();
  const end = began + seconds * 1_000;
  const work = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      await operation((n += 1));
      took.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return toMeasured(took, each, performance.now() - began);
}

function toMeasured(took: number[], each: number, ms: number): Measured {
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? NaN;
  return { rate: (took.length * each * 1_000) / ms, p50: at(0.5), p99: at(0.99) };
}

const PADDING = 'x'.repeat(150);
const newEvents = (count: number): NewEvent[] =>
  Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    type: 'bench.happened.v1',
    data: { index, filler: PADDING },
    metadata: {},
  }));

/** Frequent operations of every port, by name. */
export function operations(seconds: number): Readonly<Record<string, (ports: Ports) => Promise<Measured>>> {
  const prefix = () => `bench${randomUUID().slice(0, 8)}-`;
  return {
    'event store: append 1, sequentially': ({ eventStore }) => {
      const stream = `${prefix()}0`;
      return repeat(seconds, 1, 1, (n) => eventStore.append(stream, n === 1 ? 'no_stream' : n - 2, newEvents(1)));
    },
    'event store: append 1, 64 streams concurrently': ({ eventStore }) => {
      const name = prefix();
      return repeat(seconds, 64, 1, (n) => eventStore.append(`${name}${n}`, 'no_stream', newEvents(1)));
    },
    'event store: append 100 (events)': ({ eventStore }) => {
      const name = prefix();
      return repeat(seconds, 4, 100, (n) => eventStore.append(`${name}${n}`, 'no_stream', newEvents(100)));
    },
    'event store: read a stream of 20': async ({ eventStore }) => {
      const stream = `${prefix()}0`;
      await eventStore.append(stream, 'no_stream', newEvents(20));
      return repeat(seconds, 8, 1, () => eventStore.read(stream));
    },
    'event store: catch-up of 20,000 (events)': async ({ eventStore }) => {
      const name = prefix();
      for (let n = 0; n < 40; n += 1) await eventStore.append(`${name}${n}`, 'no_stream', newEvents(500));
      const ended = new AbortController();
      const began = performance.now();
      let seen = 0;
      for await (const { events } of eventStore.catchUp({ streamPrefixes: [name], signal: ended.signal })) {
        seen += events.length;
        if (seen >= 20_000) break;
      }
      ended.abort();
      const ms = performance.now() - began;
      return { rate: (seen * 1_000) / ms, p50: ms, p99: ms };
    },
    'event store: append to catch-up': async ({ eventStore }) => {
      const name = prefix();
      const ended = new AbortController();
      const seen = new Map<string, () => void>();
      const reading = (async () => {
        for await (const { events } of eventStore.catchUp({ streamPrefixes: [name], signal: ended.signal })) {
          for (const { id } of events) seen.get(id)?.();
        }
      })();
      const result = await repeat(seconds, 1, 1, async (n) => {
        const events = newEvents(1);
        const told = new Promise<void>((resolve) => seen.set(events[0]?.id ?? '', resolve));
        await eventStore.append(`${name}${n}`, 'no_stream', events);
        await told;
      });
      ended.abort();
      await reading;
      return result;
    },
    'document store: upsert, 64 concurrently': async ({ documentStore }) => {
      const rows = await documentStore.collection({ name: prefix() + 'rows', indexes: INDEXES, durability: 'derived' });
      return repeat(seconds, 64, 1, (n) =>
        rows.upsert({ id: `r${n % 5_000}`, kind: `k${n % 50}`, at: n, filler: PADDING } as never),
      );
    },
    'document store: 500 upserts in one call (documents)': async ({ documentStore }) => {
      const rows = await documentStore.collection({ name: prefix() + 'rows', indexes: INDEXES, durability: 'derived' });
      return repeat(seconds, 2, 500, (n) =>
        rows.writeMany(
          Array.from({ length: 500 }, (_, i) => ({
            kind: 'upsert' as const,
            document: { id: `r${n}-${i}`, kind: `k${i % 50}`, at: n, filler: PADDING } as never,
          })),
        ),
      );
    },
    'document store: get, 16 concurrently': async ({ documentStore }) => {
      const rows = await documentStore.collection({ name: prefix() + 'rows', indexes: INDEXES, durability: 'derived' });
      await rows.writeMany(createMessages(2_000).map((document) => ({ kind: 'upsert', document: document as never })));
      return repeat(seconds, 16, 1, (n) => rows.get(`r${n % 2_000}`));
    },
    'document store: page of 50 by an index': async ({ documentStore }) => {
      const rows = await documentStore.collection({ name: prefix() + 'rows', indexes: INDEXES, durability: 'derived' });
      await rows.writeMany(createMessages(2_000).map((document) => ({ kind: 'upsert', document: document as never })));
      const sort = { fields: ['at', 'id'], descending: true };
      return repeat(seconds, 8, 1, (n) => rows.find({ filter: { kind: `k${n % 20}` }, sort, limit: 50 }));
    },
    'document store: claim, 8 concurrently': async ({ documentStore }) => {
      const rows = await documentStore.collection({ name: prefix() + 'rows', indexes: INDEXES });
      await rows.writeMany(createMessages(2_000).map((document) => ({ kind: 'upsert', document: document as never })));
      const query = { filter: { at: { gte: 0 } }, sort: { fields: ['at', 'id'] } };
      return repeat(seconds, 8, 1, (n) => rows.claim(query, { at: 1_000_000 + n } as never));
    },
    'message broker: publish 1, sequentially': async ({ broker }) => {
      const topic = await topicOf(broker, prefix());
      return repeat(seconds, 1, 1, (n) => broker.publishMessages(topic, messages(1, n)));
    },
    'message broker: publish 100 (messages)': async ({ broker }) => {
      const topic = await topicOf(broker, prefix());
      return repeat(seconds, 1, 100, (n) => broker.publishMessages(topic, messages(100, n)));
    },
    'message broker: consume 20,000 (messages)': async ({ broker }) => {
      const topic = await topicOf(broker, prefix());
      for (let n = 0; n < 40; n += 1) await broker.publishMessages(topic, messages(500, n));
      const ended = new AbortController();
      let began = 0;
      let seen = 0;
      await broker.consume({ topic, group: topic, signal: ended.signal }, async (batch) => {
        began ||= performance.now();
        seen += batch.length;
        if (seen >= 20_000) ended.abort();
      });
      const ms = performance.now() - began;
      return { rate: (seen * 1_000) / ms, p50: ms, p99: ms };
    },
    'message broker: publish to handler': async ({ broker }) => {
      const topic = await topicOf(broker, prefix());
      const ended = new AbortController();
      const told = new Map<string, () => void>();
      const consuming = broker.consume({ topic, group: topic, signal: ended.signal }, async (batch) => {
        for (const { key } of batch) told.get(key)?.();
      });
      const once = async (n: number) => {
        const [message] = messages(1, n);
        const seen = new Promise<void>((resolve) => told.set(message?.key ?? '', resolve));
        await broker.publishMessages(topic, message ? [message] : []);
        await seen;
      };
      await once(0);
      const result = await repeat(seconds, 1, 1, once);
      ended.abort();
      await consuming;
      return result;
    },
    'lease: acquire and release': ({ leases }) => {
      const name = prefix();
      return repeat(seconds, 1, 1, async () =>
        (await leases.acquireLease(name, new AbortController().signal)).releaseLease(),
      );
    },
    'quota: take, 16 concurrently': ({ quota }) => {
      const key = prefix();
      return repeat(seconds, 16, 1, () => quota.takeQuotaForRequest(key, 1_000_000_000));
    },
    'object store: put 1 MiB': ({ objects }) => {
      const name = prefix();
      const bytes = Buffer.alloc(2 ** 20, 'x');
      return repeat(seconds, 2, 1, (n) =>
        objects.putObject(
          `${name}${n}`,
          (async function* () {
            yield bytes;
          })(),
        ),
      );
    },
    'call of a service, 16 concurrently': ({ calls }) =>
      repeat(seconds, 16, 1, (n) => calls.echo({ n, filler: PADDING })),
  };
}

const INDEXES = [
  { name: 'by_kind', fields: ['kind', 'at', 'id'] },
  { name: 'by_at', fields: ['at', 'id'] },
];
const createMessages = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `r${n}`, kind: `k${n % 20}`, at: n, filler: PADDING }));

async function topicOf(broker: MessageBroker, name: string): Promise<string> {
  await broker.ensureTopics([{ name, partitions: 1, retentionMs: 86_400_000 }]);
  return name;
}

const messages = (count: number, n: number) =>
  Array.from({ length: count }, (_, i) => ({
    key: `k${n}-${i}`,
    value: JSON.stringify({ filler: PADDING, n }),
    headers: {},
  }));
