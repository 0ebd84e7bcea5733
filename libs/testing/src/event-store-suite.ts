import { setImmediate } from 'node:timers/promises';
import {
  AppendTooLargeError,
  MAX_APPEND_BYTES,
  VersionConflictError,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
} from '@tracking/ports';
import { declareEventStoreCatchUpTests } from './event-store-catch-up-tests.ts';
import {
  listEventIds,
  createNewEvent,
  createSampleNewEvents,
  createUniqueStreamPrefix,
} from './event-store-samples.ts';
import { type TestedAdapter, IS_SOAK_RUN, testIfSupported, CRASH_UNSUPPORTED_REASON } from './subject.ts';

async function captureVersionConflict(append: Promise<unknown>): Promise<VersionConflictError> {
  const error: unknown = await append.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(VersionConflictError);
  return error as VersionConflictError;
}

/** Tests every guarantee of the `EventStore` port. */
export function declareEventStoreTests(name: string, subject: TestedAdapter<EventStore>): void {
  describe(`event store on ${name}`, () => {
    let store: EventStore;
    let stream: string;
    beforeAll(async () => void (store = await subject.openTestedAdapter()));
    afterAll(() => subject.close());
    beforeEach(() => void (stream = `${createUniqueStreamPrefix()}stream`));

    const append = (expected: ExpectedRevision, events: readonly NewEvent[]) => store.append(stream, expected, events);

    describe('append and read', () => {
      it('the store saves events unchanged, numbered from 0', async () => {
        const data = {
          text: 'Ærøskøbing 港 🚢 "\\\n\u0000',
          list: [1, -0.5, 1e21, null, true, []],
          deep: { er: { empty: {} } },
        };
        const events = [createNewEvent(data), ...createSampleNewEvents(4)];
        const { revision } = await append('no_stream', events);
        expect(revision).toBe(4);
        const stored = await store.read(stream);
        expect(stored).toEqual(
          events.map((event, index) => ({ ...event, stream, revision: index, position: expect.any(String) as string })),
        );
      });

      it('the store accepts large appends up to the limit, and refuses larger ones', async () => {
        const one = (bytes: number) => [{ ...createNewEvent({ text: 'ø'.repeat(bytes / 2) }), metadata: {} }];
        await expect(append('no_stream', one(MAX_APPEND_BYTES))).rejects.toBeInstanceOf(AppendTooLargeError);
        expect(await store.read(stream)).toEqual([]);
        await append('no_stream', one(MAX_APPEND_BYTES - 14));
        expect(await store.read(stream)).toHaveLength(1);
      });

      it('the store appends at the expected revision', async () => {
        const first = createSampleNewEvents(2);
        const second = createSampleNewEvents(3);
        await append('no_stream', first);
        expect((await append(1, second)).revision).toBe(4);
        expect(listEventIds(await store.read(stream))).toEqual(listEventIds([...first, ...second]));
      });

      it('the store reads its own appends immediately', async () => {
        for (let revision = -1; revision < 50; revision += 1) {
          await append(revision < 0 ? 'no_stream' : revision, createSampleNewEvents(1));
          expect(await store.read(stream)).toHaveLength(revision + 2);
        }
      });

      it('the store reads ranges, including both bounds', async () => {
        const events = createSampleNewEvents(10);
        await append('no_stream', events);
        const read = async (range: { from?: number; to?: number }) => listEventIds(await store.read(stream, range));
        expect(await read({ from: 3, to: 5 })).toEqual(listEventIds(events.slice(3, 6)));
        expect(await read({ from: 7 })).toEqual(listEventIds(events.slice(7)));
        expect(await read({ to: 0 })).toEqual(listEventIds(events.slice(0, 1)));
        expect(await read({ from: 9, to: 99 })).toEqual(listEventIds(events.slice(9)));
        expect(await read({ from: 10 })).toEqual([]);
        expect(await read({ from: 5, to: 4 })).toEqual([]);
      });

      it('the store returns nothing for a stream that does not exist', async () => {
        expect(await store.read(stream)).toEqual([]);
      });

      it('the store returns the end of a stream', async () => {
        expect(await store.readLastRevision(stream)).toBeUndefined();
        await append('no_stream', createSampleNewEvents(1));
        expect(await store.readLastRevision(stream)).toBe(0);
        await append(0, createSampleNewEvents(4));
        expect(await store.readLastRevision(stream)).toBe(4);
        expect(await store.readLastRevision(`${stream}-other`)).toBeUndefined();
      });

      it('the store keeps the order of long streams', async () => {
        const events = createSampleNewEvents(1_050);
        for (let from = 0; from < events.length; from += 350) {
          await append(from === 0 ? 'no_stream' : from - 1, events.slice(from, from + 350));
        }
        expect(listEventIds(await store.read(stream))).toEqual(listEventIds(events));
        expect(listEventIds(await store.read(stream, { from: 100, to: 999 }))).toEqual(
          listEventIds(events.slice(100, 1_000)),
        );
      });

      it('the store saves large events', async () => {
        const events = [createNewEvent({ text: 'x'.repeat(500_000) }), createNewEvent({ text: 'y'.repeat(300_000) })];
        await append('no_stream', events);
        expect((await store.read(stream)).map(({ data }) => data)).toEqual(events.map(({ data }) => data));
      });

      it('the store refuses an append without events', async () => {
        await expect(append('no_stream', [])).rejects.toThrow(TypeError);
        expect(await store.read(stream)).toEqual([]);
      });
    });

    describe('expected revisions', () => {
      it.each<[ExpectedRevision, number, ExpectedRevision]>([
        ['no_stream', 3, 2],
        [0, 0, 'no_stream'],
        [0, 3, 2],
        [1, 3, 2],
        [3, 3, 2],
        [7, 1, 0],
      ])(
        'an append with expected revision %s to a stream of %d events is refused, and %s is reported',
        async (expected, length, actual) => {
          const events = createSampleNewEvents(length);
          if (length > 0) await append('no_stream', events);
          const conflict = await captureVersionConflict(append(expected, createSampleNewEvents(2)));
          expect(conflict).toMatchObject({ stream, expected, actual });
          expect(listEventIds(await store.read(stream))).toEqual(listEventIds(events));
        },
      );

      it('the store accepts exactly one of many concurrent appends', async () => {
        await append('no_stream', createSampleNewEvents(1));
        const rivals = Array.from({ length: 50 }, () => createSampleNewEvents(2));
        const results = await Promise.allSettled(rivals.map((events) => append(0, events)));
        const winners = rivals.filter((_, index) => results[index]?.status === 'fulfilled');
        expect(winners).toHaveLength(1);
        for (const result of results) {
          if (result.status === 'rejected') expect(result.reason).toMatchObject({ name: 'VersionConflict', actual: 2 });
        }
        expect(listEventIds((await store.read(stream)).slice(1))).toEqual(listEventIds(winners.flat()));
      });

      it('readers never see a part of an append', async () => {
        let writing = true;
        const torn: number[] = [];
        const reader = (async () => {
          while (writing) {
            const { length } = await store.read(stream);
            if (length % 5 !== 0) torn.push(length);
            await setImmediate();
          }
        })();
        const last = IS_SOAK_RUN ? 200 : 100;
        for (let revision = -1; revision < last; revision += 5) {
          await append(revision < 0 ? 'no_stream' : revision, createSampleNewEvents(5));
        }
        writing = false;
        await reader;
        expect(torn).toEqual([]);
      });
    });

    describe('repeated appends', () => {
      it('a repeated append returns the first result and adds no event', async () => {
        const events = createSampleNewEvents(3);
        const first = await append('no_stream', events);
        expect(await append('no_stream', events)).toEqual(first);
        expect(await store.read(stream)).toHaveLength(3);
      });

      it('a repeated append returns the first result even after later appends', async () => {
        await append('no_stream', createSampleNewEvents(1));
        const events = createSampleNewEvents(2);
        const first = await append(0, events);
        await append(2, createSampleNewEvents(4));
        expect(await append(0, events)).toMatchObject({ revision: first.revision });
        expect(await store.read(stream)).toHaveLength(7);
      });

      it('many concurrent repeats of an append return the same result', async () => {
        const events = createSampleNewEvents(2);
        const answers = await Promise.all(Array.from({ length: 20 }, () => append('no_stream', events)));
        expect(new Set(answers.map(({ revision }) => revision))).toEqual(new Set([1]));
        expect(await store.read(stream)).toHaveLength(2);
      });

      it('a repeated append returns the first result even after a restart', async () => {
        const events = createSampleNewEvents(2);
        const first = await append('no_stream', events);
        await append(1, createSampleNewEvents(1));
        store = await subject.closeAndReopenAdapter();
        expect(await append('no_stream', events)).toMatchObject({ revision: first.revision });
        expect(await store.read(stream)).toHaveLength(3);
      });

      it('an append of other events at the same revision is refused', async () => {
        const events = createSampleNewEvents(2);
        await append('no_stream', events);
        const [first] = events;
        if (first === undefined) throw new Error('unreachable');
        expect(await captureVersionConflict(append('no_stream', [first, createNewEvent()]))).toMatchObject({
          actual: 1,
        });
        expect(await captureVersionConflict(append('no_stream', createSampleNewEvents(1)))).toMatchObject({
          actual: 1,
        });
        expect(await store.read(stream)).toHaveLength(2);
      });

      it('a repeated append with more events than are stored is refused', async () => {
        const events = createSampleNewEvents(2);
        await append('no_stream', events);
        expect(await captureVersionConflict(append('no_stream', [...events, createNewEvent()]))).toMatchObject({
          actual: 1,
        });
        expect(await store.read(stream)).toHaveLength(2);
      });
    });

    describe('positions', () => {
      it('positions increase as strings with every append', async () => {
        const positions: string[] = [];
        for (let revision = -1; revision < 300; revision += 1) {
          positions.push((await append(revision < 0 ? 'no_stream' : revision, createSampleNewEvents(1))).position);
        }
        expect(positions).toEqual([...new Set(positions)].sort());
        expect(new Set(positions.map(({ length }) => length)).size).toBe(1);
      });

      it("the position of an append's result is not before the positions of its events", async () => {
        const { position } = await append('no_stream', createSampleNewEvents(3));
        const positions = (await store.read(stream)).map((event) => event.position);
        expect(positions).toEqual([...new Set(positions)].sort());
        expect(position >= (positions.at(-1) ?? '')).toBe(true);
      });

      it('the position of the head equals the position of the last append', async () => {
        const before = await store.head();
        await append('no_stream', createSampleNewEvents(1));
        const [event] = await store.read(stream);
        const head = await store.head();
        expect(head !== undefined && head >= (event?.position ?? 'none')).toBe(true);
        expect(before === undefined || before < (event?.position ?? '')).toBe(true);
      });
    });

    describe('durability', () => {
      it('the store has every event after a restart, at the same position', async () => {
        await append('no_stream', createSampleNewEvents(5));
        const before = await store.read(stream);
        const head = await store.head();
        store = await subject.closeAndReopenAdapter();
        expect(await store.read(stream)).toEqual(before);
        expect(await store.head()).toBe(head);
        expect((await append(4, createSampleNewEvents(1))).position > (head ?? '')).toBe(true);
      });

      testIfSupported(subject.simulateCrash !== undefined, CRASH_UNSUPPORTED_REASON)(
        'the store has every acknowledged append after a crash',
        async () => {
          const events = createSampleNewEvents(3);
          const first = await append('no_stream', events);
          store = (await subject.simulateCrash?.()) ?? store;
          expect(listEventIds(await store.read(stream))).toEqual(listEventIds(events));
          expect(await append('no_stream', events)).toMatchObject({ revision: first.revision });
          expect(await append(2, createSampleNewEvents(1))).toMatchObject({ revision: 3 });
        },
      );
    });

    declareEventStoreCatchUpTests(
      () => store,
      async () => (store = await subject.closeAndReopenAdapter()),
    );
  });
}
