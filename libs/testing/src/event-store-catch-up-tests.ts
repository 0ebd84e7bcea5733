import type { EventStore, Position, StoredEvent } from '@tracking/ports';
import {
  hasCatchUpReadAllEvents,
  createCatchUpEventCountCheck,
  collectCatchUpEventsUntilDone,
  listEventIds,
  createSampleNewEvents,
  createUniqueStreamPrefix,
} from './event-store-samples.ts';
import { eventually } from './eventually.ts';

/** Declares the catch-up tests of the event store's conformance suite. */
export function declareEventStoreCatchUpTests(current: () => EventStore, reopen: () => Promise<EventStore>): void {
  describe('catch-up', () => {
    let store: EventStore;
    let prefix: string;
    beforeEach(() => {
      store = current();
      prefix = createUniqueStreamPrefix();
    });

    /** Appends `length` events to each of the streams, one after the other, and returns their ids in order. */
    async function appendToStreams(streams: readonly string[], length: number): Promise<string[]> {
      const appended: string[] = [];
      for (let revision = 0; revision < length; revision += 1) {
        for (const stream of streams) {
          const events = createSampleNewEvents(1);
          await store.append(prefix + stream, revision === 0 ? 'no_stream' : revision - 1, events);
          appended.push(...listEventIds(events));
        }
      }
      return appended;
    }

    function expectAscendingPositions(events: readonly StoredEvent[]): void {
      const positions = events.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort());
    }

    it('a catch-up returns stored events, then new ones, in order', async () => {
      const stored = await appendToStreams(['a', 'b', 'c'], 4);
      const following = collectCatchUpEventsUntilDone(store, { prefixes: [prefix] }, createCatchUpEventCountCheck(24));
      const live = await appendToStreams(['d', 'e', 'f'], 4);
      const { events } = await following;
      expect(listEventIds(events)).toEqual([...stored, ...live]);
      expectAscendingPositions(events);
    });

    it('a catch-up returns events exactly as reads do', async () => {
      await appendToStreams(['a'], 5);
      const { events } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix] },
        createCatchUpEventCountCheck(5),
      );
      expect(events).toEqual(await store.read(`${prefix}a`));
      store = await reopen();
      const again = await collectCatchUpEventsUntilDone(store, { prefixes: [prefix] }, createCatchUpEventCountCheck(5));
      expect(again.events).toEqual(events);
    });

    it('a catch-up continues after a checkpoint, without a gap or a repeat', async () => {
      const stored = await appendToStreams(['a', 'b'], 8);
      const seen: string[] = [];
      let after: Position | undefined;
      while (seen.length < stored.length) {
        // Stops requesting batches, like a consumer that stops between two batches.
        const { events, position } = await collectCatchUpEventsUntilDone(
          store,
          { prefixes: [prefix], after, maxBatch: 3 },
          () => true,
        );
        seen.push(...listEventIds(events));
        after = position;
      }
      expect(seen).toEqual(stored);
      const rest = await collectCatchUpEventsUntilDone(store, { prefixes: [prefix], after }, hasCatchUpReadAllEvents);
      expect(rest.events).toEqual([]);
    });

    it('a catch-up continues after a checkpoint from before a restart', async () => {
      await appendToStreams(['a'], 6);
      const first = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix], maxBatch: 2 },
        createCatchUpEventCountCheck(2),
      );
      store = await reopen();
      const rest = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix], after: first.position },
        createCatchUpEventCountCheck(6 - first.events.length),
      );
      expect([...listEventIds(first.events), ...listEventIds(rest.events)]).toEqual(
        listEventIds(await store.read(`${prefix}a`)),
      );
    });

    it('a catch-up continues after the position of any event', async () => {
      const stored = await appendToStreams(['a', 'b'], 3);
      const { events } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix] },
        createCatchUpEventCountCheck(6),
      );
      for (const [index, { position }] of events.entries()) {
        const rest = await collectCatchUpEventsUntilDone(
          store,
          { prefixes: [prefix], after: position },
          hasCatchUpReadAllEvents,
        );
        expect(listEventIds(rest.events)).toEqual(stored.slice(index + 1));
      }
    });

    it('a catch-up returns only events of streams with its prefixes', async () => {
      await appendToStreams(['a1', 'b1', 'ab1', 'c1', 'a2'], 2);
      const { events } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [`${prefix}a`, `${prefix}c1`] },
        hasCatchUpReadAllEvents,
      );
      const names = ['a1', 'ab1', 'c1', 'a2'].map((name) => prefix + name);
      expect(events.map(({ stream }) => stream)).toEqual([...names, ...names]);
      const live = collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix], after: await store.head() },
        createCatchUpEventCountCheck(1),
      );
      await store.append(`x${prefix}a`, 'no_stream', createSampleNewEvents(1));
      await store.append(`${prefix}z`, 'no_stream', createSampleNewEvents(1));
      expect((await live).events.map(({ stream }) => stream)).toEqual([`${prefix}z`]);
      const within = await collectCatchUpEventsUntilDone(store, { prefixes: [prefix] }, hasCatchUpReadAllEvents);
      expect(within.events).toHaveLength(11);
      const none = await collectCatchUpEventsUntilDone(store, { prefixes: [] }, hasCatchUpReadAllEvents);
      expect(none.events).toEqual([]);
    });

    it('a catch-up treats special characters in stream prefixes literally', async () => {
      await appendToStreams(['a_b', 'axb', 'a%b', 'a.b', 'A_b'], 1);
      const { events } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [`${prefix}a_`, `${prefix}a%`] },
        hasCatchUpReadAllEvents,
      );
      expect(events.map(({ stream }) => stream)).toEqual([`${prefix}a_b`, `${prefix}a%b`]);
    });

    it('a catch-up returns at most `maxBatch` events in a batch', async () => {
      await appendToStreams(['a'], 10);
      const { batches } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix], maxBatch: 4 },
        createCatchUpEventCountCheck(10),
      );
      expect(Math.max(...batches.map(({ events }) => events.length))).toBeLessThanOrEqual(4);
    });

    it('a catch-up reports whether it has returned all stored events', async () => {
      await appendToStreams(['a'], 5);
      const { batches } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix], maxBatch: 1 },
        hasCatchUpReadAllEvents,
      );
      const withEvents = batches.filter(({ events }) => events.length > 0).map((batch) => batch.caughtUp);
      expect(withEvents.slice(0, 4)).toEqual([false, false, false, false]);
      expect(batches.at(-1)?.caughtUp).toBe(true);
    });

    it('a catch-up without stored events reports immediately that it has caught up', async () => {
      await appendToStreams(['a'], 1);
      const after = await store.head();
      const { events, position } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix], after },
        () => true,
      );
      expect(events).toEqual([]);
      expect(position).toBe(after);
    });

    it('a catch-up moves its checkpoint past events of other streams', async () => {
      await appendToStreams(['mine'], 1);
      const other = createUniqueStreamPrefix();
      const last = await store.append(`${other}x`, 'no_stream', createSampleNewEvents(50));
      const { events } = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix] },
        ({ position }) => (position ?? '') >= last.position,
      );
      expect(events).toHaveLength(1);
      const following = collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix] },
        ({ position }) => (position ?? '') > last.position,
      );
      await store.append(`${other}y`, 'no_stream', createSampleNewEvents(1));
      expect((await following).events).toHaveLength(1);
    });

    it('a catch-up loses and repeats no event during 64 concurrent appends', async () => {
      const streams = Array.from({ length: 64 }, (_, index) => `${prefix}${index}`);
      const total = 64 * 20;
      const followers = [
        collectCatchUpEventsUntilDone(store, { prefixes: [prefix] }, createCatchUpEventCountCheck(total)),
        collectCatchUpEventsUntilDone(store, { prefixes: [prefix], maxBatch: 7 }, createCatchUpEventCountCheck(total)),
      ];
      await Promise.all(
        streams.map(async (stream) => {
          for (let revision = -1; revision < 19;) {
            const events = createSampleNewEvents(1 + ((revision + 1) % 3));
            const fitting = events.slice(0, 19 - revision);
            ({ revision } = await store.append(stream, revision < 0 ? 'no_stream' : revision, fitting));
          }
        }),
      );
      followers.push(collectCatchUpEventsUntilDone(store, { prefixes: [prefix] }, createCatchUpEventCountCheck(total)));
      for (const { events } of await Promise.all(followers)) {
        expect(events).toHaveLength(total);
        expectAscendingPositions(events);
        for (const stream of streams) {
          const revisions = events.filter((event) => event.stream === stream).map(({ revision }) => revision);
          expect(revisions).toEqual(Array.from({ length: 20 }, (_, revision) => revision));
        }
      }
    });

    it('a catch-up waits for a slow consumer, which does not delay other consumers', async () => {
      const proceed = Promise.withResolvers<void>();
      const slow = collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix], maxBatch: 10 },
        createCatchUpEventCountCheck(3_000),
        () => proceed.promise,
      );
      await store.append(`${prefix}0`, 'no_stream', createSampleNewEvents(10));
      for (let stream = 1; stream < 300; stream += 1) {
        await store.append(`${prefix}${stream}`, 'no_stream', createSampleNewEvents(10));
      }
      const quick = await collectCatchUpEventsUntilDone(
        store,
        { prefixes: [prefix] },
        createCatchUpEventCountCheck(3_000),
      );
      proceed.resolve();
      expect(listEventIds((await slow).events)).toEqual(listEventIds(quick.events));
      expect(quick.events).toHaveLength(3_000);
    });

    it('a catch-up ends without an error when its signal aborts', async () => {
      const stop = new AbortController();
      let batches = 0;
      const ended = (async () => {
        for await (const batch of store.catchUp({ streamPrefixes: [prefix], signal: stop.signal })) {
          batches += batch.events.length;
        }
        return 'ended';
      })();
      await store.append(`${prefix}a`, 'no_stream', createSampleNewEvents(1));
      await eventually(() => expect(batches).toBe(1));
      stop.abort(new Error('the abort reason must not be thrown'));
      await expect(ended).resolves.toBe('ended');
    });

    it('a catch-up returns no events if its signal was already aborted', async () => {
      await appendToStreams(['a'], 1);
      for await (const batch of store.catchUp({ streamPrefixes: [prefix], signal: AbortSignal.abort() })) {
        expect(batch).toBe('nothing');
      }
    });

    it('a catch-up ends without an error when the store is closed', async () => {
      const seen: string[] = [];
      const ended = (async () => {
        const { signal } = new AbortController();
        for await (const batch of store.catchUp({ streamPrefixes: [prefix], signal }))
          seen.push(...listEventIds(batch.events));
        return 'ended';
      })();
      await appendToStreams(['a'], 1);
      await eventually(() => expect(seen).toHaveLength(1));
      store = await reopen();
      await expect(ended).resolves.toBe('ended');
    });
  });
}
