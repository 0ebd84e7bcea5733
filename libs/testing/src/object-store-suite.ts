import { createHash } from 'node:crypto';
import { ObjectExists, Unavailable, type ObjectStore } from '@tracking/ports';
import { eventually as eventuallyWithin } from './eventually.ts';
import { Memory } from './machine.ts';
import { all, bytesOf, freshId, pieces, SourceGate } from './object-samples.ts';
import { type AdapterSubject, itWhere, NO_CRASH, ONE_PROCESS } from './subject.ts';

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
const tomorrow = () => new Date(Date.now() + DAY_MS);

/** Every promise of the `ObjectStore` port but that of `objectStoreMemory`. */
export function objectStoreConformance(name: string, subject: AdapterSubject<ObjectStore>): void {
  describe(`object store on ${name}`, () => {
    let store: ObjectStore;
    beforeAll(async () => void (store = await subject.open()));
    afterAll(() => subject.close());

    const eventually = (attempt: () => void | Promise<void>) => eventuallyWithin(attempt, subject);
    const put = (id: string, size: number, into = store) => into.put(id, pieces(bytesOf(id, size)));
    const read = async (id: string, range?: { start: number; end: number }) => all(await store.get(id, range));
    const stored = async (period: { from?: Date; before: Date } = { before: tomorrow() }) => {
      const ids = new Set<string>();
      for await (const id of store.listIdsStoredIn(period)) ids.add(id);
      return ids;
    };

    it.each([0, 1, 255 * 1024 - 1, 255 * 1024, 255 * 1024 + 1, 3 * MIB + 7])(
      'keeps %d bytes as they are, with their size and hash, over a restart',
      async (size) => {
        const id = freshId();
        const sha256 = createHash('sha256').update(bytesOf(id, size)).digest('hex');
        expect(await put(id, size)).toEqual({ sizeBytes: size, sha256 });
        expect((await store.get(id))?.sizeBytes).toBe(size);
        expect((await read(id)).equals(bytesOf(id, size))).toBe(true);
        store = await subject.reopen();
        expect((await read(id)).equals(bytesOf(id, size))).toBe(true);
      },
    );

    it('reads a part of an object, cut to its size', async () => {
      const id = freshId();
      const size = 2 * MIB;
      await put(id, size);
      for (const [start, end] of [
        [0, 1],
        [5, 5],
        [261_119, 261_121],
        [1_000, 1_500_000],
        [size - 1, size],
        [size - 10, size + 10],
        [size, size + 1],
      ] as const) {
        expect((await store.get(id, { start, end }))?.sizeBytes).toBe(size);
        expect((await read(id, { start, end })).equals(bytesOf(id, size).subarray(start, end))).toBe(true);
      }
    });

    it('has nothing under an id that was not put', async () => {
      expect(await store.get(freshId())).toBeUndefined();
      await store.delete(freshId());
    });

    it.each(['../outside', 'a/b', 'a\\b', '.', '', 'Large', 'a.part', 'a\0', 'x'.repeat(101)])(
      'takes %j for a mistake',
      async (id) => {
        await expect(store.put(id, pieces(Buffer.from('x')))).rejects.toThrow(TypeError);
        await expect(store.get(id)).rejects.toThrow(TypeError);
        await expect(store.delete(id)).rejects.toThrow(TypeError);
      },
    );

    it('never changes an object', async () => {
      const id = freshId();
      await put(id, 1_000);
      await expect(store.put(id, pieces(Buffer.from('other')))).rejects.toThrow(ObjectExists);
      expect((await read(id)).equals(bytesOf(id, 1_000))).toBe(true);
    });

    it('gives an id to one of those who put it at once', async () => {
      const id = freshId();
      const contents = Array.from({ length: 8 }, (_, n) => Buffer.alloc(300_000, n));
      const outcomes = await Promise.allSettled(contents.map((content) => store.put(id, pieces(content))));
      const won = outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [contents[n]] : []));
      expect(won).toHaveLength(1);
      const refusals = outcomes.filter((one) => one.status === 'rejected' && one.reason instanceof ObjectExists);
      expect(refusals).toHaveLength(7);
      expect(won[0]?.equals(await read(id))).toBe(true);
    });

    it('shows nothing of an object before it is whole', async () => {
      const id = freshId();
      const gate = new SourceGate(bytesOf(id, 2 * MIB), MIB);
      const putting = store.put(id, gate.source());
      await gate.reached;
      expect(await store.get(id)).toBeUndefined();
      expect((await stored()).has(id)).toBe(false);
      await store.removeUnfinished(new Date(Date.now() - DAY_MS));
      gate.open();
      await putting;
      expect((await read(id)).equals(bytesOf(id, 2 * MIB))).toBe(true);
    });

    it.each([0, 100, 300_000, MIB])('keeps nothing of a source that throws after %d bytes', async (size) => {
      const id = freshId();
      const fault = new Error('the client went away');
      async function* failing() {
        yield* pieces(bytesOf(id, size));
        throw fault;
      }
      await expect(store.put(id, failing())).rejects.toBe(fault);
      expect(await store.get(id)).toBeUndefined();
      expect((await stored()).has(id)).toBe(false);
      await put(id, size);
      expect((await read(id)).equals(bytesOf(id, size))).toBe(true);
    });

    it('stores and reads many at once', async () => {
      const ids = Array.from({ length: 30 }, freshId);
      await Promise.all(ids.map((id, n) => put(id, n * 20_000)));
      const contents = await Promise.all(ids.map((id) => read(id)));
      expect(contents.every((content, n) => content.equals(bytesOf(ids[n] ?? '', n * 20_000)))).toBe(true);
    });

    it('is held up by no slow reader and no slow source', async () => {
      const [slow, quick, slowlyPut] = [freshId(), freshId(), freshId()];
      await put(slow, 3 * MIB);
      const reader = (await store.get(slow))?.bytes[Symbol.asyncIterator]();
      const first = await reader?.next();
      const gate = new SourceGate(bytesOf(slowlyPut, MIB), 1);
      const putting = store.put(slowlyPut, gate.source());
      await gate.reached;
      await Promise.all(Array.from({ length: 20 }, () => put(freshId(), 100_000)));
      await put(quick, 100_000);
      expect((await read(quick)).length).toBe(100_000);
      gate.open();
      await putting;
      const parts = [first?.value as Uint8Array];
      for (let next = await reader?.next(); next && !next.done; next = await reader?.next()) parts.push(next.value);
      expect(Buffer.concat(parts).equals(bytesOf(slow, 3 * MIB))).toBe(true);
    });

    it('lets a reader stop in the middle', async () => {
      const id = freshId();
      await put(id, MIB);
      for await (const bytes of (await store.get(id))?.bytes ?? []) {
        expect(bytes.length).toBeGreaterThan(0);
        break;
      }
      await store.delete(id);
      expect(await store.get(id)).toBeUndefined();
    });

    it('forgets what was deleted, at once and over a restart', async () => {
      const [gone, stays] = [freshId(), freshId()];
      await put(gone, 600_000);
      await put(stays, 600_000);
      await store.delete(gone);
      await store.delete(gone);
      expect(await store.get(gone)).toBeUndefined();
      store = await subject.reopen();
      expect(await store.get(gone)).toBeUndefined();
      const ids = await stored();
      expect([ids.has(gone), ids.has(stays)]).toEqual([false, true]);
    });

    it('gives whoever is reading what is deleted the rest, or an error', async () => {
      const id = freshId();
      await put(id, 3 * MIB);
      const content = await store.get(id);
      const reader = content?.bytes[Symbol.asyncIterator]();
      const first = await reader?.next();
      await store.delete(id);
      const rest = async () => {
        const parts = [first?.value as Uint8Array];
        for (let next = await reader?.next(); next && !next.done; next = await reader?.next()) parts.push(next.value);
        return Buffer.concat(parts);
      };
      const outcome: unknown = await rest().catch((error: unknown) => error);
      if (Buffer.isBuffer(outcome)) expect(outcome.equals(bytesOf(id, 3 * MIB))).toBe(true);
      else expect(outcome).toBeInstanceOf(Unavailable);
    });

    it('lists ids by when they were stored, and lets what it lists be deleted', async () => {
      const from = new Date();
      const ids = Array.from({ length: 12 }, freshId);
      await Promise.all(ids.map((id) => put(id, 10)));
      const has = async (period: { from?: Date; before: Date }) => {
        const found = await stored(period);
        return ids.filter((id) => found.has(id)).length;
      };
      // By clocks and file systems that may see a moment a little differently.
      const [minute, later] = [60_000, tomorrow()];
      expect(await has({ before: later })).toBe(12);
      expect(await has({ from: new Date(from.getTime() - minute), before: later })).toBe(12);
      expect(await has({ before: new Date(from.getTime() - minute) })).toBe(0);
      expect(await has({ from: new Date(Date.now() + minute), before: later })).toBe(0);
      for await (const id of store.listIdsStoredIn({ before: later })) if (ids.includes(id)) await store.delete(id);
      expect(await has({ before: later })).toBe(0);
    });

    it('removes nothing whole with what is unfinished', async () => {
      const id = freshId();
      await put(id, 300_000);
      await store.removeUnfinished(tomorrow());
      expect((await read(id)).equals(bytesOf(id, 300_000))).toBe(true);
    });

    itWhere(subject.another !== undefined, ONE_PROCESS)('is one store for all processes', async () => {
      const other = await subject.another?.();
      const [id, contested] = [freshId(), freshId()];
      await put(id, 300_000);
      expect((await all(await other?.get(id))).equals(bytesOf(id, 300_000))).toBe(true);
      const puts = [store, other].map((one) => put(contested, 300_000, one));
      expect((await Promise.allSettled(puts)).filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await other?.delete(id);
      expect(await store.get(id)).toBeUndefined();
    });

    itWhere(subject.crash !== undefined, NO_CRASH)(
      'has everything acknowledged after a crash, whole, and nothing by halves',
      async () => {
        const sizes = new Map<string, number>();
        const acknowledged: string[] = [];
        let ended = false;
        const putForever = async (from: ObjectStore) => {
          while (!ended) {
            const id = freshId();
            sizes.set(id, 1 + ((sizes.size * 97_001) % 1_200_000));
            await put(id, sizes.get(id) ?? 0, from).then(
              () => acknowledged.push(id),
              () => (ended = true),
            );
          }
        };
        const unfinished = freshId();
        const gate = new SourceGate(bytesOf(unfinished, 2 * MIB), MIB);
        const caught = store.put(unfinished, gate.source()).catch(() => undefined);
        await gate.reached;
        const putting = Array.from({ length: 6 }, () => putForever(store));
        await eventually(() => expect(acknowledged.length).toBeGreaterThan(20));
        const known = [...acknowledged];
        const crashed = await subject.crash?.();
        ended = true;
        gate.open();
        await Promise.all([caught, ...putting]);
        if (crashed) store = crashed;

        expect(await store.get(unfinished)).toBeUndefined();
        for (const removed of [false, true]) {
          if (removed) await store.removeUnfinished(tomorrow());
          const ids = await stored();
          expect(known.filter((id) => !ids.has(id))).toEqual([]);
          for (const id of ids) {
            const size = sizes.get(id);
            if (size !== undefined) expect((await read(id)).equals(bytesOf(id, size))).toBe(true);
          }
        }
        await put(unfinished, 10);
        expect((await read(unfinished)).equals(bytesOf(unfinished, 10))).toBe(true);
      },
    );
  });
}

/** Apart from the others: what memory is held is told by collections of garbage, each of which takes long. */
export function objectStoreMemory(name: string, subject: AdapterSubject<ObjectStore>): void {
  describe(`object store on ${name}`, () => {
    let store: ObjectStore;
    beforeAll(async () => void (store = await subject.open()));
    afterAll(() => subject.close());

    it('holds little of an object in memory, however large it is', async () => {
      const id = freshId();
      const memory = new Memory('buffers');
      const sent = createHash('sha256');
      async function* large() {
        for (let at = 0; at < 25 * 16; at += 1) {
          const bytes = Buffer.alloc(MIB / 16, at);
          sent.update(bytes);
          if (at % 160 === 0) memory.look();
          yield bytes;
        }
      }
      const { sizeBytes, sha256 } = await store.put(id, large());
      expect([sizeBytes, sha256]).toEqual([25 * MIB, sent.digest('hex')]);
      const received = createHash('sha256');
      let size = 0;
      for await (const bytes of (await store.get(id))?.bytes ?? []) {
        received.update(bytes);
        if (Math.floor(size / (8 * MIB)) !== Math.floor((size += bytes.length) / (8 * MIB))) memory.look();
      }
      expect([size, received.digest('hex')]).toEqual([sizeBytes, sha256]);
      expect(memory.most).toBeLessThan(12 * MIB);
    });
  });
}
