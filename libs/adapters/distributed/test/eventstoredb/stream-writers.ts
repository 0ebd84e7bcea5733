import type { EventBatch, EventStore, StoredEvent } from '@tracking/ports';
import { createSampleNewEvents, eventually, listEventIds, scaleTimeout } from '@tracking/testing';
import { retryUntilAnswered } from './eventstoredb-subject.ts';

const WRITER_COUNT = 8;
/** End of the name of the stream with the last event of a test. */
const MARKER_STREAM_SUFFIX = 'marker';

/**
 * Starts writers that append events to streams of their own and repeat appends without a response, until `stop` is
 * called.
 * @param maxOutageMs maximum milliseconds without an expected change, such as an acknowledged append
 */
export function startStreamWriters(store: EventStore, prefix: string, maxOutageMs = 30_000) {
  /** Ids of acknowledged events by stream. */
  const acknowledged = new Map<string, string[]>();
  const ended = new AbortController();
  let unanswered = 0;
  const write = async (stream: string) => {
    const own: string[] = [];
    acknowledged.set(stream, own);
    while (!ended.signal.aborted) {
      const events = createSampleNewEvents(1 + (own.length % 3));
      const expected = own.length === 0 ? 'no_stream' : own.length - 1;
      await retryUntilAnswered(
        () => store.append(stream, expected, events),
        () => (unanswered += 1),
      );
      own.push(...listEventIds(events));
    }
  };
  const done = Promise.all(Array.from({ length: WRITER_COUNT }, (_, writer) => write(`${prefix}${writer}`)));
  const count = () => [...acknowledged.values()].reduce((sum, { length }) => sum + length, 0);
  return {
    count,
    /** Resolves when more than 60 further events were acknowledged. @throws the failed expectation after the outage */
    waitForGrowth: async () => {
      const least = count() + 60;
      await eventually(() => expect(count()).toBeGreaterThan(least), { deadlineMs: maxOutageMs });
    },
    /** Resolves when another append got no response. @throws the failed expectation after the outage */
    waitForFailure: async () => {
      const before = unanswered;
      await eventually(() => expect(unanswered).toBeGreaterThan(before), { deadlineMs: maxOutageMs });
    },
    stop: async () => {
      ended.abort();
      await done;
    },
    /** Expects each acknowledged event in its stream, once and in order. */
    expectStored: async (reader: EventStore) => {
      for (const [stream, own] of acknowledged) expect(listEventIds(await reader.read(stream))).toEqual(own);
    },
    /** Expects each acknowledged event once, in the order of its stream and of the log, and no other events. */
    expectFollowed: (events: readonly StoredEvent[]) => {
      for (const [stream, own] of acknowledged)
        expect(listEventIds(events.filter((event) => event.stream === stream))).toEqual(own);
      expect(events).toHaveLength(count());
      const positions = events.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort());
    },
  };
}

/** Appends the event at which {@link followUntilMarkerEvent} ends. */
export async function appendMarkerEvent(store: EventStore, prefix: string): Promise<void> {
  await retryUntilAnswered(() =>
    store.append(`${prefix}${MARKER_STREAM_SUFFIX}`, 'no_stream', createSampleNewEvents(1)),
  );
}

interface FollowOptions {
  readonly maxBatch?: number;
  readonly timeoutMs?: number;
  readonly afterBatch?: (batch: EventBatch) => Promise<void>;
}

/** Follows streams until the marker event or the timeout, 60 seconds by default. Returns the events before the marker. */
export async function followUntilMarkerEvent(
  store: EventStore,
  prefix: string,
  { maxBatch = 500, timeoutMs = scaleTimeout(60_000), afterBatch = () => Promise.resolve() }: FollowOptions = {},
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  const signal = AbortSignal.timeout(timeoutMs);
  for await (const batch of store.catchUp({ streamPrefixes: [prefix], maxBatch, signal })) {
    events.push(...batch.events);
    if (events.at(-1)?.stream === `${prefix}${MARKER_STREAM_SUFFIX}`) return events.slice(0, -1);
    await afterBatch(batch);
  }
  return events;
}
