import { createHash } from 'node:crypto';
import { ObjectExistsError, UnavailableError, type ObjectStore } from '@tracking/ports';
import { eventually as eventuallyWithin } from './eventually.ts';
import { MemoryMeter } from './machine.ts';
import {
  readAllBytes,
  generateSampleBytes,
  createRandomObjectId,
  splitIntoUnevenChunks,
  ByteSourcePausedInMiddle,
} from './object-samples.ts';
import {
  type TestedAdapter,
  testIfSupported,
  CRASH_UNSUPPORTED_REASON,
  SINGLE_PROCESS_SKIP_REASON,
} from './subject.ts';

const BYTES_PER_MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
const getTomorrow = () => new Date(Date.now() + DAY_MS);

/** Tests every guarantee of the `ObjectStore` port except memory use, which `declareObjectStoreMemoryTests` tests. */
export function declareObjectStoreTests(name: string, subject: TestedAdapter<ObjectStore>): void {
  describe(`object store on ${name}`, () => {
    let store: ObjectStore;
    beforeAll(async () => void (store = await subject.openTestedAdapter()));
    afterAll(() => subject.close());

    const eventually = (attempt: () => void | Promise<void>) => eventuallyWithin(attempt, subject);
    const put = (id: string, size: number, into = store) =>
      into.putObject(id, splitIntoUnevenChunks(generateSampleBytes(id, size)));
    const read = async (id: string, range?: { start: number; end: number }) =>
      readAllBytes(await store.getObject(id, range));
    const stored = async (period: { from?: Date; before: Date } = { before: getTomorrow() }) => {
      const ids = new Set<string>();
      for await (const id of store.listObjectIdsStoredInPeriod(period)) ids.add(id);
      return ids;
    };

    it.each([0, 1, 255 * 1024 - 1, 255 * 1024, 255 * 1024 + 1, 3 * BYTES_PER_MIB + 7])(
      'the store keeps %d bytes unchanged, with size and hash, after a restart',
      async (size) => {
        const id = createRandomObjectId();
        const sha256 = createHash('sha256').update(generateSampleBytes(id, size)).digest('hex');
        expect(await put(id, size)).toEqual({ sizeBytes: size, sha256 });
        expect((await store.getObject(id))?.sizeBytes).toBe(size);
        expect((await read(id)).equals(generateSampleBytes(id, size))).toBe(true);
        store = await subject.closeAndReopenAdapter();
        expect((await read(id)).equals(generateSampleBytes(id, size))).toBe(true);
      },
    );

    it('the store reads a range of an object, limited to its size', async () => {
      const id = createRandomObjectId();
      const size = 2 * BYTES_PER_MIB;
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
        expect((await store.getObject(id, { start, end }))?.sizeBytes).toBe(size);
        expect((await read(id, { start, end })).equals(generateSampleBytes(id, size).subarray(start, end))).toBe(true);
      }
    });

    it('the store returns nothing for an id that was not stored', async () => {
      expect(await store.getObject(createRandomObjectId())).toBeUndefined();
      await store.deleteObject(createRandomObjectId());
    });

    it.each(['../outside', 'a/b', 'a\\b', '.', '', 'Large', 'a.part', 'a\0', 'x'.repeat(101)])(
      'the store rejects %j as an invalid object id',
      async (id) => {
        await expect(store.putObject(id, splitIntoUnevenChunks(Buffer.from('x')))).rejects.toThrow(TypeError);
        await expect(store.getObject(id)).rejects.toThrow(TypeError);
        await expect(store.deleteObject(id)).rejects.toThrow(TypeError);
      },
    );

    it('the store never changes a stored object', async () => {
      const id = createRandomObjectId();
      await put(id, 1_000);
      await expect(store.putObject(id, splitIntoUnevenChunks(Buffer.from('other')))).rejects.toThrow(ObjectExistsError);
      expect((await read(id)).equals(generateSampleBytes(id, 1_000))).toBe(true);
    });

    it('the store accepts one of several concurrent objects with the same id', async () => {
      const id = createRandomObjectId();
      const contents = Array.from({ length: 8 }, (_, n) => Buffer.alloc(300_000, n));
      const outcomes = await Promise.allSettled(
        contents.map((content) => store.putObject(id, splitIntoUnevenChunks(content))),
      );
      const won = outcomes.flatMap(({ status }, n) => (status === 'fulfilled' ? [contents[n]] : []));
      expect(won).toHaveLength(1);
      const refusals = outcomes.filter((one) => one.status === 'rejected' && one.reason instanceof ObjectExistsError);
      expect(refusals).toHaveLength(7);
      expect(won[0]?.equals(await read(id))).toBe(true);
    });

    it('the store does not return an object before it is stored completely', async () => {
      const id = createRandomObjectId();
      const gate = new ByteSourcePausedInMiddle(generateSampleBytes(id, 2 * BYTES_PER_MIB), BYTES_PER_MIB);
      const putting = store.putObject(id, gate.streamBytesWithPause());
      await gate.reached;
      expect(await store.getObject(id)).toBeUndefined();
      expect((await stored()).has(id)).toBe(false);
      await store.removeUnfinishedObjects(new Date(Date.now() - DAY_MS));
      gate.open();
      await putting;
      expect((await read(id)).equals(generateSampleBytes(id, 2 * BYTES_PER_MIB))).toBe(true);
    });

    it.each([0, 100, 300_000, BYTES_PER_MIB])(
      'the store saves no object whose source throws an error after %d bytes',
      async (size) => {
        const id = createRandomObjectId();
        const fault = new Error('the client disconnected during the upload');
        async function* createFailingByteSource() {
          yield* splitIntoUnevenChunks(generateSampleBytes(id, size));
          throw fault;
        }
        await expect(store.putObject(id, createFailingByteSource())).rejects.toBe(fault);
        expect(await store.getObject(id)).toBeUndefined();
        expect((await stored()).has(id)).toBe(false);
        await put(id, size);
        expect((await read(id)).equals(generateSampleBytes(id, size))).toBe(true);
      },
    );

    it('the store saves and reads many objects concurrently', async () => {
      const ids = Array.from({ length: 30 }, createRandomObjectId);
      await Promise.all(ids.map((id, n) => put(id, n * 20_000)));
      const contents = await Promise.all(ids.map((id) => read(id)));
      expect(contents.every((content, n) => content.equals(generateSampleBytes(ids[n] ?? '', n * 20_000)))).toBe(true);
    });

    it('a slow reader or a slow source does not delay other objects', async () => {
      const [slow, quick, slowlyPut] = [createRandomObjectId(), createRandomObjectId(), createRandomObjectId()];
      await put(slow, 3 * BYTES_PER_MIB);
      const reader = (await store.getObject(slow))?.bytes[Symbol.asyncIterator]();
      const first = await reader?.next();
      const gate = new ByteSourcePausedInMiddle(generateSampleBytes(slowlyPut, BYTES_PER_MIB), 1);
      const putting = store.putObject(slowlyPut, gate.streamBytesWithPause());
      await gate.reached;
      await Promise.all(Array.from({ length: 20 }, () => put(createRandomObjectId(), 100_000)));
      await put(quick, 100_000);
      expect((await read(quick)).length).toBe(100_000);
      gate.open();
      await putting;
      const parts = [first?.value as Uint8Array];
      for (let next = await reader?.next(); next && !next.done; next = await reader?.next()) parts.push(next.value);
      expect(Buffer.concat(parts).equals(generateSampleBytes(slow, 3 * BYTES_PER_MIB))).toBe(true);
    });

    it('the store allows a reader to stop before the end of an object', async () => {
      const id = createRandomObjectId();
      await put(id, BYTES_PER_MIB);
      for await (const bytes of (await store.getObject(id))?.bytes ?? []) {
        expect(bytes.length).toBeGreaterThan(0);
        break;
      }
      await store.deleteObject(id);
      expect(await store.getObject(id)).toBeUndefined();
    });

    it('the store does not return deleted objects, immediately and after a restart', async () => {
      const [gone, stays] = [createRandomObjectId(), createRandomObjectId()];
      await put(gone, 600_000);
      await put(stays, 600_000);
      await store.deleteObject(gone);
      await store.deleteObject(gone);
      expect(await store.getObject(gone)).toBeUndefined();
      store = await subject.closeAndReopenAdapter();
      expect(await store.getObject(gone)).toBeUndefined();
      const ids = await stored();
      expect([ids.has(gone), ids.has(stays)]).toEqual([false, true]);
    });

    it('the store gives the reader of a deleted object the remaining bytes or an error', async () => {
      const id = createRandomObjectId();
      await put(id, 3 * BYTES_PER_MIB);
      const content = await store.getObject(id);
      const reader = content?.bytes[Symbol.asyncIterator]();
      const first = await reader?.next();
      await store.deleteObject(id);
      const rest = async () => {
        const parts = [first?.value as Uint8Array];
        for (let next = await reader?.next(); next && !next.done; next = await reader?.next()) parts.push(next.value);
        return Buffer.concat(parts);
      };
      const outcome: unknown = await rest().catch((error: unknown) => error);
      if (Buffer.isBuffer(outcome)) expect(outcome.equals(generateSampleBytes(id, 3 * BYTES_PER_MIB))).toBe(true);
      else expect(outcome).toBeInstanceOf(UnavailableError);
    });

    it('the store lists ids by the time of storing, and allows deleting them meanwhile', async () => {
      const from = new Date();
      const ids = Array.from({ length: 12 }, createRandomObjectId);
      await Promise.all(ids.map((id) => put(id, 10)));
      const has = async (period: { from?: Date; before: Date }) => {
        const found = await stored(period);
        return ids.filter((id) => found.has(id)).length;
      };
      // The tests allow a tolerance, because clocks and file systems may differ slightly.
      const [minute, later] = [60_000, getTomorrow()];
      expect(await has({ before: later })).toBe(12);
      expect(await has({ from: new Date(from.getTime() - minute), before: later })).toBe(12);
      expect(await has({ before: new Date(from.getTime() - minute) })).toBe(0);
      expect(await has({ from: new Date(Date.now() + minute), before: later })).toBe(0);
      for await (const id of store.listObjectIdsStoredInPeriod({ before: later }))
        if (ids.includes(id)) await store.deleteObject(id);
      expect(await has({ before: later })).toBe(0);
    });

    it('the store does not remove complete objects when it removes unfinished ones', async () => {
      const id = createRandomObjectId();
      await put(id, 300_000);
      await store.removeUnfinishedObjects(getTomorrow());
      expect((await read(id)).equals(generateSampleBytes(id, 300_000))).toBe(true);
    });

    testIfSupported(subject.openSecond !== undefined, SINGLE_PROCESS_SKIP_REASON)(
      'other processes can read stored objects',
      async () => {
        const other = await subject.openSecond?.();
        const [id, contested] = [createRandomObjectId(), createRandomObjectId()];
        await put(id, 300_000);
        expect((await readAllBytes(await other?.getObject(id))).equals(generateSampleBytes(id, 300_000))).toBe(true);
        const puts = [store, other].map((one) => put(contested, 300_000, one));
        expect((await Promise.allSettled(puts)).filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        await other?.deleteObject(id);
        expect(await store.getObject(id)).toBeUndefined();
      },
    );

    testIfSupported(subject.simulateCrash !== undefined, CRASH_UNSUPPORTED_REASON)(
      'has every acknowledged object after a crash, complete, and no partial ones',
      async () => {
        const sizes = new Map<string, number>();
        const acknowledged: string[] = [];
        let ended = false;
        const putForever = async (from: ObjectStore) => {
          while (!ended) {
            const id = createRandomObjectId();
            sizes.set(id, 1 + ((sizes.size * 97_001) % 1_200_000));
            await put(id, sizes.get(id) ?? 0, from).then(
              () => acknowledged.push(id),
              () => (ended = true),
            );
          }
        };
        const unfinished = createRandomObjectId();
        const gate = new ByteSourcePausedInMiddle(generateSampleBytes(unfinished, 2 * BYTES_PER_MIB), BYTES_PER_MIB);
        const caught = store.putObject(unfinished, gate.streamBytesWithPause()).catch(() => undefined);
        await gate.reached;
        const putting = Array.from({ length: 6 }, () => putForever(store));
        await eventually(() => expect(acknowledged.length).toBeGreaterThan(20));
        const known = [...acknowledged];
        const crashed = await subject.simulateCrash?.();
        ended = true;
        gate.open();
        await Promise.all([caught, ...putting]);
        if (crashed) store = crashed;

        expect(await store.getObject(unfinished)).toBeUndefined();
        for (const removed of [false, true]) {
          if (removed) await store.removeUnfinishedObjects(getTomorrow());
          const ids = await stored();
          expect(known.filter((id) => !ids.has(id))).toEqual([]);
          for (const id of ids) {
            const size = sizes.get(id);
            if (size !== undefined) expect((await read(id)).equals(generateSampleBytes(id, size))).toBe(true);
          }
        }
        await put(unfinished, 10);
        expect((await read(unfinished)).equals(generateSampleBytes(unfinished, 10))).toBe(true);
      },
    );
  });
}

/**
 * Tests the memory use of an object store. This test is separate, because each measurement runs the garbage collector,
 * which takes long.
 */
export function declareObjectStoreMemoryTests(name: string, subject: TestedAdapter<ObjectStore>): void {
  describe(`object store on ${name}`, () => {
    let store: ObjectStore;
    beforeAll(async () => void (store = await subject.openTestedAdapter()));
    afterAll(() => subject.close());

    it('the store needs little memory for an object, whatever its size', async () => {
      const id = createRandomObjectId();
      const memory = new MemoryMeter('buffers');
      const sent = createHash('sha256');
      async function* createLargeByteSource() {
        for (let at = 0; at < 25 * 16; at += 1) {
          const bytes = Buffer.alloc(BYTES_PER_MIB / 16, at);
          sent.update(bytes);
          if (at % 160 === 0) memory.sampleMemory();
          yield bytes;
        }
      }
      const { sizeBytes, sha256 } = await store.putObject(id, createLargeByteSource());
      expect([sizeBytes, sha256]).toEqual([25 * BYTES_PER_MIB, sent.digest('hex')]);
      const received = createHash('sha256');
      let size = 0;
      for await (const bytes of (await store.getObject(id))?.bytes ?? []) {
        received.update(bytes);
        if (Math.floor(size / (8 * BYTES_PER_MIB)) !== Math.floor((size += bytes.length) / (8 * BYTES_PER_MIB)))
          memory.sampleMemory();
      }
      expect([size, received.digest('hex')]).toEqual([sizeBytes, sha256]);
      expect(memory.peakBytes).toBeLessThan(12 * BYTES_PER_MIB);
    });
  });
}
