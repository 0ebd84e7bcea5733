import { EventEmitter } from 'node:events';
import { type AllStreamResolvedEvent, EventStoreDBClient, type StreamingRead } from '@eventstore/db-client';
import { jest } from '@jest/globals';
import { InvalidPositionError } from '@tracking/ports';
import { createNewEvent, noMetrics, silentLogger } from '@tracking/testing';
import { EventStoreDbEventStore } from './eventstoredb-event-store.ts';
import {
  START_POSITION,
  collectStreamedItems,
  decodeEventLogPosition,
  LogPageReader,
  encodePosition,
} from './log-reads.ts';
import type { NodeCallTarget } from './node-client.ts';

const SILENCE_MS = 5_000;
const doNothing = () => undefined;
const connection = {
  recordTimeOfNodeAnswer: doNothing,
  giveUpNodeIfUnresponsive: doNothing,
  awaitAnswerWithTimeout: <T>(answer: Promise<T>) => answer,
};
const node = { connection };

/** A call whose responses the test emits. */
class Call extends EventEmitter {
  isCancelled = false;

  cancel(): Promise<void> {
    this.isCancelled = true;
    return Promise.resolve();
  }

  get read(): StreamingRead<never> {
    return this as unknown as StreamingRead<never>;
  }
}

/** An entry of the log, and of a stream. */
function resolved(number: number, characters = 1): AllStreamResolvedEvent {
  const { id, type } = createNewEvent();
  const data = { text: 'x'.repeat(characters) };
  const position = { commit: BigInt(number), prepare: BigInt(number) };
  const event = { id, type, data, metadata: {}, streamId: 'a', revision: BigInt(number), position, isJson: true };
  return { event } as unknown as AllStreamResolvedEvent;
}

describe('the response of a call', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  it('may take any time while items arrive', async () => {
    const call = new Call();
    const collected = collectStreamedItems<number>(node, call.read, SILENCE_MS);
    for (let n = 0; n < 10; n += 1) {
      await jest.advanceTimersByTimeAsync(SILENCE_MS - 1);
      call.emit('data', n);
    }
    call.emit('end');
    expect(await collected).toEqual({ found: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], isWhole: true });
    expect(call.isCancelled).toBe(false);
  });

  it.each([
    { how: 'is silent', end: () => jest.advanceTimersByTimeAsync(2 * SILENCE_MS) },
    { how: 'fails', end: (call: Call) => Promise.resolve(call.emit('error', new Error('lost'))) },
  ])('is kept if the call then $how', async ({ end }) => {
    const call = new Call();
    const collected = collectStreamedItems<number>(node, call.read, SILENCE_MS);
    call.emit('data', 1);
    await end(call);
    expect(await collected).toEqual({ found: [1], isWhole: false, failure: expect.any(Error) });
    expect(call.isCancelled).toBe(true);
  });

  it('is an error if no item arrived', async () => {
    const call = new Call();
    const collected = collectStreamedItems<number>(node, call.read, SILENCE_MS).catch(String);
    await jest.advanceTimersByTimeAsync(2 * SILENCE_MS);
    expect(await collected).toMatch('the node did not respond in time');
  });
});

/** A node whose log has `entries` entries, and which stops after the first `sentAtOnce` of each response. */
function nodeOf(entries: number, sentAtOnce: () => number, characters?: number) {
  const asked: number[] = [];
  const answer = (from: number, maxCount: number) => {
    const call = new Call();
    asked.push(maxCount);
    process.nextTick(() => {
      const all = Array.from({ length: Math.min(maxCount, entries + 1 - from) }, (_, n) => from + n);
      const some = all.slice(0, sentAtOnce());
      for (const number of some) call.emit('data', resolved(number, characters));
      if (some.length === all.length) call.emit('end');
    });
    return call;
  };
  return { asked, answer };
}

describe('pages of the log', () => {
  const silenceMs = 20;

  function pagesOf(entries: number, sentAtOnce: () => number, characters?: number) {
    const { asked, answer } = nodeOf(entries, sentAtOnce, characters);
    const client = {
      readAll: ({ fromPosition, maxCount }: { fromPosition: 'start' | { commit: bigint }; maxCount: number }) =>
        answer(fromPosition === 'start' ? 1 : Number(fromPosition.commit), maxCount),
    };
    const target = { client, callOptions: {}, connection } as unknown as NodeCallTarget;
    const reader = new LogPageReader(silenceMs);
    return { asked, pages: { after: (position: string) => reader.readLogPageAfter(position, target) } };
  }

  async function readAll(pages: ReturnType<typeof pagesOf>['pages']): Promise<number[]> {
    const sizes: number[] = [];
    for (let at = START_POSITION; ;) {
      const { entries, isLast } = await pages.after(at);
      sizes.push(entries.length);
      at = entries.at(-1)?.position ?? at;
      if (isLast) return sizes;
    }
  }

  it('are read to the end of the log', async () => {
    const { pages } = pagesOf(1_200, () => Infinity);
    expect(await readAll(pages)).toEqual([501, 500, 199]);
    expect(await readAll(pagesOf(0, () => Infinity).pages)).toEqual([0]);
  });

  it('keep entries received before a silence, and then request half as many', async () => {
    const sent = [100, 50, Infinity, Infinity, Infinity];
    const { pages, asked } = pagesOf(700, () => sent.shift() ?? Infinity);
    expect(await readAll(pages)).toEqual([100, 49, 125, 250, 176]);
    expect(asked).toEqual([501, 251, 126, 251, 501]);
  });

  it('get smaller while nothing arrives, and then fail', async () => {
    const { pages, asked } = pagesOf(700, () => 0);
    for (let times = 0; times < 3; times += 1) await expect(pages.after(START_POSITION)).rejects.toThrow('in time');
    expect(asked).toEqual([501, 251, 126]);
  });

  it('are bounded by bytes', async () => {
    const { pages } = pagesOf(40, () => Infinity, 1_000_000);
    expect(await readAll(pages)).toEqual([5, ...Array<number>(8).fill(4), 3]);
  });
});

describe('the events of a stream', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('are read to the end, however often the node falls silent', async () => {
    const sent = [300, 1, 400];
    const { asked, answer } = nodeOf(2_500, () => sent.shift() ?? Infinity);
    const store = new EventStoreDbEventStore({
      url: 'esdb://127.0.0.1:9?tls=false',
      logger: silentLogger,
      metrics: noMetrics,
      limits: { operationTimeoutMs: 20 },
    });
    jest
      .spyOn(EventStoreDBClient.prototype, 'readStream')
      .mockImplementation(((_: string, { fromRevision, maxCount }: { fromRevision: bigint; maxCount: number }) =>
        answer(Number(fromRevision), maxCount)) as never);
    const events = await store.read('a', { from: 1 });
    expect(events.map(({ revision }) => revision)).toEqual(Array.from({ length: 2_500 }, (_, n) => n + 1));
    expect(asked).toEqual([1_000, 500, 250, 500, 1_000, 1_000]);
    await store.close();
  });
});

describe('a position in the log', () => {
  const inOrder = [
    { commit: 0n, prepare: 1n },
    { commit: 9n, prepare: 9n },
    { commit: 10n, prepare: 0n },
    { commit: 10n, prepare: 9n },
    { commit: 10n, prepare: 10n },
    { commit: 255n, prepare: 0n },
    { commit: 2n ** 53n + 1n, prepare: 2n ** 53n },
    { commit: 2n ** 63n - 1n, prepare: 2n ** 63n - 1n },
  ];

  it('sorts as a string in log order', () => {
    const positions = inOrder.map(encodePosition);
    expect(positions.toReversed().sort()).toEqual(positions);
    expect(new Set(positions.map(({ length }) => length))).toEqual(new Set([32]));
    expect(positions.every((position) => position > START_POSITION)).toBe(true);
  });

  it('survives conversion to a string', () => {
    expect(inOrder.map(encodePosition).map(decodeEventLogPosition)).toEqual(inOrder);
    expect(decodeEventLogPosition(START_POSITION)).toBe('start');
  });

  it.each(['', '0', '000000000000000a', 'x'.repeat(32)])('of another store is refused: %j', (position) => {
    expect(() => decodeEventLogPosition(position)).toThrow(InvalidPositionError);
  });
});
