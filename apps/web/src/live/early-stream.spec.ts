import { jest } from '@jest/globals';
import { EarlyStream } from './early-stream.ts';
import { Streams } from './streams-by-hand.ts';

let streams: Streams;
let heard: string[];
let early: EarlyStream;
beforeEach(() => {
  jest.useFakeTimers();
  [streams, heard] = [new Streams(), []];
  early = new EarlyStream(streams.open, () => heard.push('opened early'));
});
afterEach(() => {
  early.stop();
  jest.useRealTimers();
});
const settled = () => jest.advanceTimersByTimeAsync(0);

/** Tells what whoever follows it hears. */
function follow(signal?: AbortSignal) {
  const options = { ...(signal && { signal }), onConnection: (isOpen: boolean) => heard.push(isOpen ? 'on' : 'off') };
  const stream = early.follow(options);
  const over = (async () => {
    for await (const { id } of stream) heard.push(id);
  })();
  over.catch(() => heard.push('over'));
  return stream;
}

it('is open, and has what was told, when it is followed', async () => {
  streams.last.opens();
  streams.last.tells('evt_1');
  await settled();
  expect([early.isOpen, heard]).toEqual([true, ['opened early']]);
  const stream = follow();
  await settled();
  streams.last.tells('evt_2');
  await settled();
  expect([heard, stream.lastEventId]).toEqual([['opened early', 'on', 'evt_1', 'evt_2'], 'evt_2']);
  expect(streams.begun).toHaveLength(1);
});

it('that opens only when it is followed says so to whoever follows it', async () => {
  follow();
  await settled();
  expect([early.isOpen, heard]).toEqual([false, []]);
  streams.last.opens();
  expect(heard).toEqual(['on']);
});

it('ends with whoever follows it', async () => {
  const given = new AbortController();
  follow(given.signal);
  streams.last.opens();
  given.abort();
  await settled();
  expect([streams.last.options.signal?.aborted, heard]).toEqual([true, ['on', 'off', 'over']]);
});

it('ends where nobody comes to follow it, and not where somebody does', async () => {
  const followed = early;
  follow();
  early = new EarlyStream(streams.open, () => undefined);
  await jest.advanceTimersByTimeAsync(60_000);
  expect([followed.isOver, early.isOver]).toEqual([false, true]);
  followed.stop();
});
