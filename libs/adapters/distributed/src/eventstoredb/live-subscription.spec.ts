import { computeEventBytes } from '@tracking/ports';
import { createNewEvent } from '@tracking/testing';
import { LiveEventBuffer } from './live-event-buffer.ts';
import { LAG_CHECK_INTERVAL_MS, SubscriptionLagDetector } from './live-subscription.ts';
import { type EventLogEntry, encodePosition } from './log-reads.ts';

const at = (commit: number) => encodePosition({ commit: BigInt(commit), prepare: BigInt(commit) });

function entry(commit: number, stream?: string): EventLogEntry {
  const position = at(commit);
  return stream === undefined
    ? { position }
    : { position, event: { ...createNewEvent(), stream, revision: 0, position } };
}

describe('the buffer of the newest events', () => {
  it('returns matching events after a position', () => {
    const buffer = new LiveEventBuffer(at(10), 100);
    for (const [commit, stream] of [
      [11, 'a1'],
      [12, 'b1'],
      [13, undefined],
      [14, 'a2'],
      [15, 'b2'],
    ] as const) {
      buffer.bufferLiveEventLogEntry(entry(commit, stream));
    }
    const read = (after: number, limit = 9) => {
      const { events, position } = buffer.readEventsAfter(at(after), ['a'], limit);
      return [...events.map(({ stream }) => stream), position];
    };
    expect(read(10)).toEqual(['a1', 'a2', at(15)]);
    expect(read(11)).toEqual(['a2', at(15)]);
    expect(read(13)).toEqual(['a2', at(15)]);
    expect(read(14)).toEqual([at(15)]);
    expect(read(20)).toEqual([at(20)]);
    expect(read(10, 1)).toEqual(['a1', at(11)]);
  });

  it('reaches the end of the log even if no event is kept', () => {
    const buffer = new LiveEventBuffer(at(10), 100);
    expect(buffer.last).toBe(at(10));
    buffer.bufferLiveEventLogEntry(entry(11));
    expect(buffer.last).toBe(at(11));
    expect(buffer.readEventsAfter(at(10), ['a'], 9)).toEqual({ events: [], position: at(11) });
  });

  it('contains no event twice after a new subscription', () => {
    const buffer = new LiveEventBuffer(at(10), 100);
    for (const commit of [11, 12, 11, 12, 13]) buffer.bufferLiveEventLogEntry(entry(commit, 'a'));
    expect(buffer.readEventsAfter(at(10), ['a'], 9).events.map(({ position }) => position)).toEqual(
      [11, 12, 13].map(at),
    );
  });

  it('is bounded, and reports readers that are further behind', () => {
    const buffer = new LiveEventBuffer(at(0), 5);
    for (let commit = 1; commit <= 100; commit += 1) {
      buffer.bufferLiveEventLogEntry(entry(commit, 'a'));
      const first =
        Array.from({ length: commit + 1 }, (_, back) => back).find((back) =>
          buffer.hasBufferedAllEventsAfter(at(back)),
        ) ?? -1;
      const kept = buffer.readEventsAfter(at(first), ['a'], 999).events;
      expect(kept).toHaveLength(commit - first);
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(commit, 5));
      expect(kept.length).toBeLessThan(10);
    }
  });

  it('is bounded by bytes', () => {
    const maxBytes = 10_000;
    const buffer = new LiveEventBuffer(at(0), 1_000, maxBytes);
    const first = (commit: number) => {
      let place = 0;
      while (place <= commit && !buffer.hasBufferedAllEventsAfter(at(place))) place += 1;
      return place;
    };
    for (let commit = 1; commit <= 100; commit += 1) {
      const { position, event } = entry(commit, 'a');
      if (event === undefined) throw new Error('no event');
      buffer.bufferLiveEventLogEntry({
        position,
        event: { ...event, data: { text: 'x'.repeat(commit % 7 === 0 ? 6_000 : 500) } },
      });
      const kept = buffer.readEventsAfter(at(first(commit)), ['a'], 999).events;
      expect(kept).toHaveLength(commit - first(commit));
      expect(kept.reduce((bytes, each) => bytes + computeEventBytes(each), 0)).toBeLessThanOrEqual(maxBytes);
    }
  });

  it('wakes waiting readers', async () => {
    const buffer = new LiveEventBuffer(at(0), 5);
    const { changed } = buffer;
    buffer.bufferLiveEventLogEntry(entry(1, 'a'));
    await changed;
    const next = buffer.changed;
    buffer.notifyReaders();
    await next;
  });
});

describe('a reader that waits for its next event', () => {
  it('is called for events that do not match, and woken by the first that matches', async () => {
    const buffer = new LiveEventBuffer(at(10), 5);
    const skipped: string[] = [];
    const stop = new AbortController();
    const reader = {
      prefixes: ['a'],
      hasStopped: () => stop.signal.aborted,
      onSkipped: (position: string) => void skipped.push(position),
    };
    const waiting = buffer.waitForMatchingEvent(at(10), reader);
    expect(skipped).toEqual([]);
    buffer.bufferLiveEventLogEntry(entry(11, 'b'));
    buffer.bufferLiveEventLogEntry(entry(12));
    buffer.notifyReaders();
    buffer.bufferLiveEventLogEntry(entry(13, 'b'));
    buffer.notifyReaders();
    expect(skipped).toEqual([12, 13].map(at));
    for (let commit = 14; commit < 18; commit += 1)
      buffer.bufferLiveEventLogEntry(entry(commit, commit === 15 ? 'a' : 'b'));
    buffer.notifyReaders();
    expect(await waiting).toBe(at(13));
    expect(buffer.readEventsAfter(at(13), ['a'], 9).events.map(({ position }) => position)).toEqual([at(15)]);
    expect(skipped).toHaveLength(2);
  });

  it('learns immediately what it missed before, and ends its wait when it stops', async () => {
    const buffer = new LiveEventBuffer(at(10), 5);
    const skipped: string[] = [];
    const stop = new AbortController();
    const reader = {
      prefixes: ['a'],
      hasStopped: () => stop.signal.aborted,
      onSkipped: (position: string) => void skipped.push(position),
    };
    buffer.bufferLiveEventLogEntry(entry(11, 'b'));
    const waiting = buffer.waitForMatchingEvent(at(10), reader);
    expect(skipped).toEqual([at(11)]);
    stop.abort();
    buffer.notifyReaders();
    expect(await waiting).toBe(at(11));
    buffer.bufferLiveEventLogEntry(entry(12, 'a'));
    expect(await buffer.waitForMatchingEvent(at(11), { ...reader, hasStopped: () => false })).toBe(at(11));
  });
});

describe('a subscription is behind', () => {
  /** Checks a subscription that reaches the given positions, one at each check. */
  const check = (detector: SubscriptionLagDetector, stored: number, reached: readonly number[]) =>
    reached.map((last) => detector.isSubscriptionBehind(at(last), at(stored)));
  const checksOf = (ms: number) => ms / LAG_CHECK_INTERVAL_MS;

  it('if nothing arrives for a while although a later entry is stored', () => {
    const detector = new SubscriptionLagDetector(3 * LAG_CHECK_INTERVAL_MS, Infinity);
    expect(check(detector, 20, [10, 10, 10])).toEqual([false, false, false]);
    expect(check(detector, 20, [10])).toEqual([true]);
  });

  it('if it does not reach a stored entry in time, whatever arrives', () => {
    const maxLagMs = 5 * LAG_CHECK_INTERVAL_MS;
    const detector = new SubscriptionLagDetector(maxLagMs, maxLagMs);
    const late = check(detector, 20, [10, 11, 12, 13, 14, 15]);
    expect(late.indexOf(true)).toBe(checksOf(maxLagMs));
  });

  it('never while it keeps up, or nothing new is stored', () => {
    const detector = new SubscriptionLagDetector(LAG_CHECK_INTERVAL_MS, LAG_CHECK_INTERVAL_MS);
    for (let commit = 10; commit < 30; commit += 1)
      expect(detector.isSubscriptionBehind(at(commit), at(commit))).toBe(false);
    expect(check(detector, 29, [29, 29, 29])).toEqual([false, false, false]);
  });
});
