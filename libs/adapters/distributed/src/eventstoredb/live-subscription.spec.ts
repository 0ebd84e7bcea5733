import { eventSizeBytes } from '@tracking/ports';
import { createNewEvent } from '@tracking/testing';
import { LiveEventBuffer } from './live-subscription.ts';
import { type LogEntry, encodePosition } from './log-reads.ts';

const at = (commit: number) => encodePosition({ commit: BigInt(commit), prepare: BigInt(commit) });

function entry(commit: number, stream?: string): LogEntry {
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
      buffer.push(entry(commit, stream));
    }
    const read = (after: number, limit = 9) => {
      const { events, position } = buffer.after(at(after), ['a'], limit);
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
    buffer.push(entry(11));
    expect(buffer.last).toBe(at(11));
    expect(buffer.after(at(10), ['a'], 9)).toEqual({ events: [], position: at(11) });
  });

  it('contains no event twice after a new subscription', () => {
    const buffer = new LiveEventBuffer(at(10), 100);
    for (const commit of [11, 12, 11, 12, 13]) buffer.push(entry(commit, 'a'));
    expect(buffer.after(at(10), ['a'], 9).events.map(({ position }) => position)).toEqual([11, 12, 13].map(at));
  });

  it('is bounded, and reports readers that are further behind', () => {
    const buffer = new LiveEventBuffer(at(0), 5);
    for (let commit = 1; commit <= 100; commit += 1) {
      buffer.push(entry(commit, 'a'));
      const first =
        Array.from({ length: commit + 1 }, (_, back) => back).find((back) => buffer.containsAllAfter(at(back))) ?? -1;
      const kept = buffer.after(at(first), ['a'], 999).events;
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
      while (place <= commit && !buffer.containsAllAfter(at(place))) place += 1;
      return place;
    };
    for (let commit = 1; commit <= 100; commit += 1) {
      const { position, event } = entry(commit, 'a');
      if (event === undefined) throw new Error('no event');
      buffer.push({ position, event: { ...event, data: { text: 'x'.repeat(commit % 7 === 0 ? 6_000 : 500) } } });
      const kept = buffer.after(at(first(commit)), ['a'], 999).events;
      expect(kept).toHaveLength(commit - first(commit));
      expect(kept.reduce((bytes, each) => bytes + eventSizeBytes(each), 0)).toBeLessThanOrEqual(maxBytes);
    }
  });

  it('wakes waiting readers', async () => {
    const buffer = new LiveEventBuffer(at(0), 5);
    const { changed } = buffer;
    buffer.push(entry(1, 'a'));
    await changed;
    const next = buffer.changed;
    buffer.notify();
    await next;
  });
});
