import { jest } from '@jest/globals';
import type { StreamOptions, TrackingEvent } from '@tracking/client';
import { LiveStream } from './live-stream.ts';

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
      visibility: sight,
      onEvent: ({ id }) => heard.push(id),
      onState: (isOn) => heard.push(isOn ? 'on' : 'off'),
      onFirstOpen: () => heard.push('begun'),
      onGap: () => heard.push('gap'),
      onRejected: (error) => refusals.push(error),
    });
    void live.runLiveEventStream();
  });
  afterEach(() => {
    live.stopStream();
    jest.useRealTimers();
  });
  const after = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('reports a connection when it opens, and reports that earlier reads may be outdated', async () => {
    await after(100);
    expect(heard).toEqual([]);
    streams.last.opens();
    streams.last.tells('evt_1');
    await after(0);
    expect(heard).toEqual(['begun', 'on', 'evt_1']);
  });

  it('reports a gap if the connection opens long after the page was read', async () => {
    await after(6_000);
    streams.last.opens();
    expect(heard).toEqual(['off', 'gap', 'on']);
  });

  it('reports a lost connection if the connection does not open', async () => {
    await after(4_000);
    streams.last.end(new Error('away'));
    await after(2_000);
    expect(heard).toEqual(['off']);
    await after(MINUTE);
    expect(heard).toEqual(['off']);
    streams.last.opens();
    expect(heard).toEqual(['off', 'gap', 'on']);
  });

  it('reopens the stream with a gap after the client has stopped retrying', async () => {
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

  it('closes the connection of a hidden page and resumes after the last event', async () => {
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
    // A connection that the stream has closed itself is not reported as lost.
    expect([heard, refusals]).toEqual([['begun', 'on', 'evt_1', 'on'], []]);
  });

  it('keeps the connection if the page is hidden only briefly', async () => {
    await after(0);
    streams.last.opens();
    sight.turn(true);
    await after(4_000);
    sight.turn(false);
    await after(MINUTE);
    expect([streams.begun.length, streams.last.options.signal?.aborted]).toEqual([1, false]);
  });

  it('reopens the stream with a gap after the page was hidden for a long time', async () => {
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

  it('does not reopen a stream that was stopped while the page was hidden', async () => {
    sight.turn(true);
    await after(6_000);
    live.stopStream();
    sight.turn(false);
    await after(MINUTE);
    expect(streams.begun.length).toBe(1);
  });
});

/** A fake event stream. The test opens and closes its connections and sends its events. */
class Streams {
  readonly begun: Connection[] = [];
  readonly open = (_query: object, options: StreamOptions) => {
    const connection = new Connection(options);
    this.begun.push(connection);
    return connection;
  };
  get last(): Connection {
    const last = this.begun.at(-1);
    if (last === undefined) throw new Error('nothing was begun');
    return last;
  }
}

class Connection implements AsyncIterable<TrackingEvent> {
  lastEventId: string | undefined;
  private readonly failed: Promise<never>;
  private fail: (error: unknown) => void = () => undefined;
  private told: (event: TrackingEvent) => void = () => undefined;

  constructor(readonly options: StreamOptions) {
    this.lastEventId = options.lastEventId;
    this.failed = new Promise((_, reject) => (this.fail = reject));
    options.signal?.addEventListener('abort', () => this.end(options.signal?.reason));
  }

  opens(): void {
    this.options.onConnection?.(true);
  }

  tells(id: string): void {
    this.lastEventId = id;
    this.told({ id } as TrackingEvent);
  }

  end(error: unknown): void {
    this.options.onConnection?.(false);
    this.fail(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TrackingEvent, void, undefined> {
    for (;;) yield await Promise.race([this.failed, new Promise<TrackingEvent>((resolve) => (this.told = resolve))]);
  }
}
