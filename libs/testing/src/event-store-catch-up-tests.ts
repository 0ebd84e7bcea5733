import type { EventStore, Position, StoredEvent } from '@tracking/ports';
import { caughtUp, count, follow, ids, newEvents, newPrefix } from './event-store-samples.ts';
import { eventually } from './eventually.ts';

/** The catch-up part of the event store's suite. */
export function eventStoreCatchUpTests(current: () => EventStore, reopen: () => Promise<EventStore>): void {
  describe('catch-up', () => {
    let store: EventStore;
    let prefix: string;
    beforeEach(() => {
      store = current();
      prefix = newPrefix();
    });

    /** Appends `length` events to each of the streams, one after the other, and answers them in order. */
    async function fill(streams: readonly string[], length: number): Promise<string[]> {
      const appended: string[] = [];
      for (let revision = 0; revision < length; revision += 1) {
        for (const stream of streams) {
          const events = newEvents(1);
          await store.append(prefix + stream, revision === 0 ? 'no_stream' : revision - 1, events);
          appended.push(...ids(events));
        }
      }
      return appended;
    }

    function expectOrder(events: readonly StoredEvent[]): void {
      const positions = events.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort());
    }

    it('hands out what is stored, then what comes, in order', async () => {
      const stored = await fill(['a', 'b', 'c'], 4);
      const following = follow(store, { prefixes: [prefix] }, count(24));
      const live = await fill(['d', 'e', 'f'], 4);
      const { events } = await following;
      expect(ids(events)).toEqual([...stored, ...live]);
      expectOrder(events);
    });

    it('hands events out as they are read', async () => {
      await fill(['a'], 5);
      const { events } = await follow(store, { prefixes: [prefix] }, count(5));
      expect(events).toEqual(await store.read(`${prefix}a`));
      store = await reopen();
      const again = await follow(store, { prefixes: [prefix] }, count(5));
      expect(again.events).toEqual(events);
    });

    it('goes on after a checkpoint, without a gap or a repeat', async () => {
      const stored = await fill(['a', 'b'], 8);
      const seen: string[] = [];
      let after: Position | undefined;
      while (seen.length < stored.length) {
        // The batch after the one wanted is never asked for: as a consumer that stops between two.
        const { events, position } = await follow(store, { prefixes: [prefix], after, maxBatch: 3 }, () => true);
        seen.push(...ids(events));
        after = position;
      }
      expect(seen).toEqual(stored);
      const rest = await follow(store, { prefixes: [prefix], after }, caughtUp);
      expect(rest.events).toEqual([]);
    });

    it('goes on after a checkpoint from before a restart', async () => {
      await fill(['a'], 6);
      const first = await follow(store, { prefixes: [prefix], maxBatch: 2 }, count(2));
      store = await reopen();
      const rest = await follow(store, { prefixes: [prefix], after: first.position }, count(6 - first.events.length));
      expect([...ids(first.events), ...ids(rest.events)]).toEqual(ids(await store.read(`${prefix}a`)));
    });

    it('goes on after the position of any event', async () => {
      const stored = await fill(['a', 'b'], 3);
      const { events } = await follow(store, { prefixes: [prefix] }, count(6));
      for (const [index, { position }] of events.entries()) {
        const rest = await follow(store, { prefixes: [prefix], after: position }, caughtUp);
        expect(ids(rest.events)).toEqual(stored.slice(index + 1));
      }
    });

    it('hands out the streams of its prefixes only', async () => {
      await fill(['a1', 'b1', 'ab1', 'c1', 'a2'], 2);
      const { events } = await follow(store, { prefixes: [`${prefix}a`, `${prefix}c1`] }, caughtUp);
      const names = ['a1', 'ab1', 'c1', 'a2'].map((name) => prefix + name);
      expect(events.map(({ stream }) => stream)).toEqual([...names, ...names]);
      const live = follow(store, { prefixes: [prefix], after: await store.head() }, count(1));
      await store.append(`x${prefix}a`, 'no_stream', newEvents(1));
      await store.append(`${prefix}z`, 'no_stream', newEvents(1));
      expect((await live).events.map(({ stream }) => stream)).toEqual([`${prefix}z`]);
      const within = await follow(store, { prefixes: [prefix] }, caughtUp);
      expect(within.events).toHaveLength(11);
      const none = await follow(store, { prefixes: [] }, caughtUp);
      expect(none.events).toEqual([]);
    });

    it('takes prefixes literally', async () => {
      await fill(['a_b', 'axb', 'a%b', 'a.b', 'A_b'], 1);
      const { events } = await follow(store, { prefixes: [`${prefix}a_`, `${prefix}a%`] }, caughtUp);
      expect(events.map(({ stream }) => stream)).toEqual([`${prefix}a_b`, `${prefix}a%b`]);
    });

    it('never hands out more than asked for in one batch', async () => {
      await fill(['a'], 10);
      const { batches } = await follow(store, { prefixes: [prefix], maxBatch: 4 }, count(10));
      expect(Math.max(...batches.map(({ events }) => events.length))).toBeLessThanOrEqual(4);
    });

    it('says whether it has caught up', async () => {
      await fill(['a'], 5);
      const { batches } = await follow(store, { prefixes: [prefix], maxBatch: 1 }, caughtUp);
      const withEvents = batches.filter(({ events }) => events.length > 0).map((batch) => batch.caughtUp);
      expect(withEvents.slice(0, 4)).toEqual([false, false, false, false]);
      expect(batches.at(-1)?.caughtUp).toBe(true);
    });

    it('says so at once where there is nothing to hand out', async () => {
      await fill(['a'], 1);
      const after = await store.head();
      const { events, position } = await follow(store, { prefixes: [prefix], after }, () => true);
      expect(events).toEqual([]);
      expect(position).toBe(after);
    });

    it('moves its checkpoint also where only other streams moved', async () => {
      await fill(['mine'], 1);
      const other = newPrefix();
      const last = await store.append(`${other}x`, 'no_stream', newEvents(50));
      const { events } = await follow(
        store,
        { prefixes: [prefix] },
        ({ position }) => (position ?? '') >= last.position,
      );
      expect(events).toHaveLength(1);
      const following = follow(store, { prefixes: [prefix] }, ({ position }) => (position ?? '') > last.position);
      await store.append(`${other}y`, 'no_stream', newEvents(1));
      expect((await following).events).toHaveLength(1);
    });

    it('loses and repeats nothing while 64 append at once', async () => {
      const streams = Array.from({ length: 64 }, (_, index) => `${prefix}${index}`);
      const total = 64 * 20;
      const followers = [
        follow(store, { prefixes: [prefix] }, count(total)),
        follow(store, { prefixes: [prefix], maxBatch: 7 }, count(total)),
      ];
      await Promise.all(
        streams.map(async (stream) => {
          for (let revision = -1; revision < 19;) {
            const events = newEvents(1 + ((revision + 1) % 3));
            const fitting = events.slice(0, 19 - revision);
            ({ revision } = await store.append(stream, revision < 0 ? 'no_stream' : revision, fitting));
          }
        }),
      );
      followers.push(follow(store, { prefixes: [prefix] }, count(total)));
      for (const { events } of await Promise.all(followers)) {
        expect(events).toHaveLength(total);
        expectOrder(events);
        for (const stream of streams) {
          const revisions = events.filter((event) => event.stream === stream).map(({ revision }) => revision);
          expect(revisions).toEqual(Array.from({ length: 20 }, (_, revision) => revision));
        }
      }
    });

    it('waits for a slow consumer, who holds up nobody', async () => {
      const proceed = Promise.withResolvers<void>();
      const slow = follow(store, { prefixes: [prefix], maxBatch: 10 }, count(3_000), () => proceed.promise);
      await store.append(`${prefix}0`, 'no_stream', newEvents(10));
      for (let stream = 1; stream < 300; stream += 1) {
        await store.append(`${prefix}${stream}`, 'no_stream', newEvents(10));
      }
      const quick = await follow(store, { prefixes: [prefix] }, count(3_000));
      proceed.resolve();
      expect(ids((await slow).events)).toEqual(ids(quick.events));
      expect(quick.events).toHaveLength(3_000);
    });

    it('ends without an error when its signal aborts', async () => {
      const stop = new AbortController();
      let batches = 0;
      const ended = (async () => {
        for await (const batch of store.catchUp({ streamPrefixes: [prefix], signal: stop.signal })) {
          batches += batch.events.length;
        }
        return 'ended';
      })();
      await store.append(`${prefix}a`, 'no_stream', newEvents(1));
      await eventually(() => expect(batches).toBe(1));
      stop.abort(new Error('the reason is nobody else’s business'));
      await expect(ended).resolves.toBe('ended');
    });

    it('hands out nothing when its signal aborted before', async () => {
      await fill(['a'], 1);
      for await (const batch of store.catchUp({ streamPrefixes: [prefix], signal: AbortSignal.abort() })) {
        expect(batch).toBe('nothing');
      }
    });

    it('ends without an error when the store is closed', async () => {
      const seen: string[] = [];
      const ended = (async () => {
        const { signal } = new AbortController();
        for await (const batch of store.catchUp({ streamPrefixes: [prefix], signal })) seen.push(...ids(batch.events));
        return 'ended';
      })();
      await fill(['a'], 1);
      await eventually(() => expect(seen).toHaveLength(1));
      store = await reopen();
      await expect(ended).resolves.toBe('ended');
    });
  });
}
