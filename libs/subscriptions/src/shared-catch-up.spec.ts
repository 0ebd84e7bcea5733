import type { CatchUpOptions, EventBatch, StoredEvent } from '@tracking/ports';
import { SharedPartitionCatchUp } from './shared-catch-up.ts';

const createEvent = (position: string, stream: string): StoredEvent => ({
  ...{ id: position, type: 'happened', data: {}, metadata: {}, revision: 0 },
  position,
  stream,
});
const LOG = [
  createEvent('1', 'thing-a1'),
  createEvent('2', 'thing-b1'),
  createEvent('3', 'thing-a1'),
  createEvent('4', 'thing-c1'),
  createEvent('5', 'thing-b1'),
];

describe('a shared catch-up', () => {
  let calls: CatchUpOptions[];
  let failsAfter: string | undefined;
  beforeEach(() => {
    calls = [];
    failsAfter = undefined;
  });

  /** Yields one event of the log in each batch, and ends like a store that is closed when all events are read. */
  async function* readLog(options: CatchUpOptions): AsyncGenerator<EventBatch> {
    calls.push(options);
    const { after = '', streamPrefixes, signal } = options;
    for (const event of LOG.filter(({ position }) => position > after)) {
      await Promise.resolve();
      if (signal.aborted) return;
      const isMatch = streamPrefixes.some((prefix) => event.stream.startsWith(prefix));
      yield { events: isMatch ? [event] : [], position: event.position, caughtUp: event === LOG.at(-1) };
      if (event.position === failsAfter) throw new Error('the log cannot be read');
    }
  }
  const open = () => new SharedPartitionCatchUp({ catchUp: readLog });
  const read = async (batches: AsyncIterable<EventBatch>) => {
    const positions: string[] = [];
    for await (const { events } of batches) positions.push(...events.map(({ position }) => position));
    return positions;
  };
  const { signal } = new AbortController();

  it('reads the log once for readers of one position, which then continue by themselves', async () => {
    const shared = open();
    const prefixes = [['thing-a'], ['thing-b', 'thing-c']];
    const own = await Promise.all(
      prefixes.map((streamPrefixes) => read(shared.catchUp({ streamPrefixes, signal, onSkipped: () => undefined }))),
    );
    expect(own).toEqual([
      ['1', '3'],
      ['2', '4', '5'],
    ]);
    expect(calls.map(({ after, streamPrefixes }) => [after, streamPrefixes])).toEqual([
      [undefined, prefixes.flat()],
      ['5', prefixes[0]],
      ['5', prefixes[1]],
    ]);
    expect(calls.map(({ onSkipped }) => onSkipped === undefined)).toEqual([true, false, false]);
  });

  it('includes readers that begin while others join', async () => {
    const later = ['thing-b', 'thing-c'];
    const reading: Promise<readonly string[]>[] = [];
    const shared = new SharedPartitionCatchUp({ catchUp: readLog }, () => {
      const prefix = later.shift();
      if (prefix !== undefined) reading.push(read(shared.catchUp({ streamPrefixes: [prefix], signal })));
      return Promise.resolve();
    });
    expect(await read(shared.catchUp({ streamPrefixes: ['thing-a'], signal }))).toEqual(['1', '3']);
    expect(await Promise.all(reading)).toEqual([['2', '5'], ['4']]);
    expect(calls.filter(({ after }) => after === undefined)).toHaveLength(1);
  });

  it('reads the log separately for readers of different positions', async () => {
    const shared = open();
    const after = [undefined, '2', '2'];
    const own = await Promise.all(
      after.map((position) => read(shared.catchUp({ after: position, streamPrefixes: ['thing-'], signal }))),
    );
    expect(own).toEqual([
      ['1', '2', '3', '4', '5'],
      ['3', '4', '5'],
      ['3', '4', '5'],
    ]);
    expect(calls.filter((call) => call.after !== '5').map((call) => call.after)).toEqual([undefined, '2']);
  });

  it('does not wait for a reader that stops while it handles a batch', async () => {
    const shared = open();
    const stopping = new AbortController();
    const first = Promise.withResolvers<void>();
    const blocked = Promise.withResolvers<void>();
    const stuck = (async () => {
      for await (const { position } of shared.catchUp({ streamPrefixes: ['thing-a'], signal: stopping.signal })) {
        expect(position).toBe('1');
        first.resolve();
        await blocked.promise;
      }
    })();
    const other = read(shared.catchUp({ streamPrefixes: ['thing-b'], signal }));
    await first.promise;
    stopping.abort();
    expect(await other).toEqual(['2', '5']);
    blocked.resolve();
    await stuck;
    expect(calls).toHaveLength(2);
  });

  it('ends the read when all readers have stopped', async () => {
    const shared = open();
    const stopping = new AbortController();
    for await (const { position } of shared.catchUp({ streamPrefixes: ['thing-'], signal: stopping.signal })) {
      expect(position).toBe('1');
      stopping.abort();
    }
    expect(calls.map((call) => call.signal.aborted)).toEqual([true]);
  });

  it('fails for all readers if the log cannot be read', async () => {
    failsAfter = '2';
    const shared = open();
    const outcomes = await Promise.allSettled(
      ['thing-a', 'thing-b'].map((prefix) => read(shared.catchUp({ streamPrefixes: [prefix], signal }))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(calls).toHaveLength(1);
  });
});
