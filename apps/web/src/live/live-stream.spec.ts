import { jest } from '@jest/globals';
import { LiveStream } from './live-stream.ts';
import { Streams } from './streams-by-hand.ts';

const MINUTE = 60_000;

class Sight extends EventTarget {
  hidden = false;
  turn(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

describe('the live stream of a page', () => {
  let streams: Streams;
  let sight: Sight;
  let live: LiveStream;
  let heard: string[];
  let refusals: unknown[];
  beforeEach(() => {
    jest.useFakeTimers();
    [streams, sight, heard, refusals] = [new Streams(), new Sight(), [], []];
    live = new LiveStream({
      stream: streams.open,
      sight,
      onEvent: ({ id }) => heard.push(id),
      onState: (isOn) => heard.push(isOn ? 'on' : 'off'),
      onBeginning: () => heard.push('begun'),
      onGap: () => heard.push('gap'),
      onRefusal: (error) => refusals.push(error),
    });
    void live.follow();
  });
  afterEach(() => {
    live.stop();
    jest.useRealTimers();
  });
  const after = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('is on once its connection is open, not before, and says that what was read until then may be older', async () => {
    await after(100);
    expect(heard).toEqual([]);
    streams.last.opens();
    streams.last.tells('evt_1');
    await after(0);
    expect(heard).toEqual(['begun', 'on', 'evt_1']);
  });

  it('that was open long after the page was read has missed what happened between', async () => {
    await after(3_000);
    streams.last.opens();
    expect(heard).toEqual(['gap', 'on']);
  });

  it('is off where its connection does not open', async () => {
    await after(4_000);
    streams.last.end(new Error('away'));
    await after(2_000);
    expect(heard).toEqual(['off']);
    await after(MINUTE);
    expect(heard).toEqual(['off']);
    streams.last.opens();
    expect(heard).toEqual(['off', 'gap', 'on']);
  });

  it('begins anew, and says so, where the client gave up', async () => {
    await after(0);
    streams.last.opens();
    streams.last.tells('evt_1');
    await after(0);
    streams.last.end(new Error('gone'));
    await after(6_000);
    expect(heard).toEqual(['begun', 'on', 'evt_1', 'off']);
    expect(streams.last.options.lastEventId).toBeUndefined();
    streams.last.opens();
    expect(heard.slice(4)).toEqual(['gap', 'on']);
    expect(refusals).toEqual([new Error('gone')]);
  });

  it('gives its connection back out of sight, and goes on from its place when it is seen again', async () => {
    await after(0);
    streams.last.opens();
    streams.last.tells('evt_1');
    sight.turn(true);
    await after(4_000);
    expect(streams.last.options.signal?.aborted).toBe(false);
    await after(2_000);
    expect([streams.begun.length, streams.last.options.signal?.aborted]).toEqual([1, true]);
    await after(MINUTE);
    sight.turn(false);
    await after(0);
    expect([streams.begun.length, streams.last.options.lastEventId]).toEqual([2, 'evt_1']);
    streams.last.opens();
    // Nor is it said to be away, which it was of itself.
    expect([heard, refusals]).toEqual([['begun', 'on', 'evt_1', 'on'], []]);
  });

  it('keeps its connection where somebody looks away for a moment', async () => {
    await after(0);
    streams.last.opens();
    sight.turn(true);
    await after(4_000);
    sight.turn(false);
    await after(MINUTE);
    expect([streams.begun.length, streams.last.options.signal?.aborted]).toEqual([1, false]);
  });

  it('begins anew where it was out of sight for very long', async () => {
    await after(0);
    streams.last.opens();
    streams.last.tells('evt_1');
    sight.turn(true);
    await after(10 * MINUTE);
    sight.turn(false);
    await after(0);
    expect(streams.last.options.lastEventId).toBeUndefined();
    streams.last.opens();
    expect(heard.slice(-2)).toEqual(['gap', 'on']);
  });

  it('is not begun when it is stopped out of sight', async () => {
    sight.turn(true);
    await after(6_000);
    live.stop();
    sight.turn(false);
    await after(MINUTE);
    expect(streams.begun.length).toBe(1);
  });
});
