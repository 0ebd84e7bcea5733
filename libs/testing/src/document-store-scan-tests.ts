import type { Collection, Filter, Scalar, IndexScanQuery } from '@tracking/ports';
import { listIds, type SampleDocument } from './document-store-samples.ts';

/** 60 documents of the owner `many`, three per day. Every second one has the word `even`, and every tenth a note. */
const MATCHING_SAMPLE_DOCUMENTS: readonly SampleDocument[] = Array.from({ length: 60 }, (_, n) => ({
  id: `m${String((n * 17) % 60).padStart(2, '0')}`,
  owner: 'many',
  made_at: `2026-03-${10 + Math.floor(n / 3)}`,
  words: ['all', n % 2 === 0 ? 'even' : 'odd', `own${n}`],
  ...(n % 10 === 0 ? { note: 'tenth' } : {}),
}));
const NON_MATCHING_DOCUMENTS: readonly SampleDocument[] = ['lots', 'nobody'].flatMap((owner) =>
  MATCHING_SAMPLE_DOCUMENTS.map((thing) => ({ ...thing, id: `${owner}-${thing.id}`, owner })),
);

function listIdsSortedByMadeAt(things: readonly SampleDocument[], descending: boolean): string[] {
  const sorted = things
    .map(({ id, made_at = '' }) => ({ id, key: made_at + id }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ id }) => id);
  return descending ? sorted.reverse() : sorted;
}

/** Tests bounded scans of an index. @param current the collection of the current test, initially empty */
export function declareDocumentStoreScanTests(current: () => Collection<SampleDocument>): void {
  describe('scans', () => {
    let things: Collection<SampleDocument>;
    beforeEach(async () => {
      things = current();
      await things.writeMany(
        [...MATCHING_SAMPLE_DOCUMENTS, ...NON_MATCHING_DOCUMENTS].map((document) => ({ kind: 'insert', document })),
      );
    });

    /** Runs all steps of a scan and returns the ids of each step. */
    async function runScanAndListIdsByStep(scan: Omit<IndexScanQuery, 'after'>): Promise<string[][]> {
      const seen: string[][] = [];
      let after: readonly Scalar[] | undefined;
      do {
        const step = await things.scan(after === undefined ? scan : { ...scan, after });
        expect(step.documents.length).toBeLessThanOrEqual(scan.limit);
        seen.push(listIds(step.documents));
        after = step.next;
      } while (after !== undefined);
      return seen;
    }
    const many = { owner: 'many' };
    const sorted = (descending: boolean) => ({ fields: ['made_at', 'id'], descending });
    const SCANS: readonly [string, string, Filter, (thing: SampleDocument) => boolean][] = [
      ['a scan of a whole index', 'by_owner', many, () => true],
      [
        'a scan of an index, filtered by a field',
        'by_owner',
        { ...many, note: 'tenth' },
        ({ note }) => note === 'tenth',
      ],
      [
        'a scan of an index, filtered by an array element',
        'by_owner',
        { ...many, words: 'even' },
        ({ words = [] }) => words.includes('even'),
      ],
      [
        'a scan of a range of an index',
        'by_owner',
        { ...many, made_at: { gte: '2026-03-12', lt: '2026-03-20' } },
        ({ made_at = '' }) => made_at >= '2026-03-12' && made_at < '2026-03-20',
      ],
      [
        'a scan of a range with one bound',
        'by_owner',
        { ...many, made_at: { gt: '2026-03-25' } },
        ({ made_at = '' }) => made_at > '2026-03-25',
      ],
      [
        'a scan of the documents with one array element',
        'by_word',
        { ...many, words: 'odd' },
        ({ words = [] }) => words.includes('odd'),
      ],
      [
        'a scan of a range of one array element, filtered by another element',
        'by_word',
        { ...many, words: { all: ['all', 'odd'] }, made_at: { lte: '2026-03-18' } },
        ({ words = [], made_at = '' }) => words.includes('odd') && made_at <= '2026-03-18',
      ],
      [
        'a scan of one array element, filtered by the prefix of another element and by a note',
        'by_word',
        { ...many, words: { all: ['even', { gte: 'own1', lt: 'own2' }] }, note: 'tenth' },
        (thing) => thing.note === 'tenth' && thing.words?.some((word) => word.startsWith('own1')) === true,
      ],
    ];
    for (const descending of [false, true]) {
      it.each(SCANS)(
        `return all of %s, ${descending ? 'descending' : 'ascending'}`,
        async (_title, index, filter, fits) => {
          const expected = listIdsSortedByMadeAt(MATCHING_SAMPLE_DOCUMENTS.filter(fits), descending);
          for (const [limit, visit] of [
            [100, 7],
            [4, 1_000],
            [2, 5],
            [1, 1],
          ] as const) {
            const seen = await runScanAndListIdsByStep({ index, filter, sort: sorted(descending), limit, visit });
            expect(seen.flat()).toEqual(expected);
          }
        },
      );
    }

    it('a scan visits at most the allowed number of entries, and returns where to continue', async () => {
      const scan = { index: 'by_owner', filter: { ...many, note: 'tenth' }, sort: sorted(false), limit: 100 };
      const order = listIdsSortedByMadeAt(MATCHING_SAMPLE_DOCUMENTS, false);
      const first = await things.scan({ ...scan, visit: 25 });
      const tenths = new Set(listIds(MATCHING_SAMPLE_DOCUMENTS.filter(({ note }) => note === 'tenth')));
      expect(listIds(first.documents)).toEqual(order.slice(0, 25).filter((id) => tenths.has(id)));
      expect(first.next?.[1]).toBe(order[24]);
      const stretch = await things.scan({ ...scan, visit: 10, after: ['2026-03-10', 'z'] });
      expect(stretch.next?.[1]).toBe(order[12]);
      const none = await things.scan({ ...scan, filter: { ...many, note: 'never' }, visit: 20 });
      expect(none.documents).toEqual([]);
      expect(none.next?.[1]).toBe(order[19]);
    });

    it('a scan stops after the requested number of documents', async () => {
      const scan = { index: 'by_word', filter: { ...many, words: 'even' }, sort: sorted(true), visit: 100 };
      const order = listIdsSortedByMadeAt(
        MATCHING_SAMPLE_DOCUMENTS.filter(({ words = [] }) => words.includes('even')),
        true,
      );
      const { documents, next } = await things.scan({ ...scan, limit: 3 });
      expect(listIds(documents)).toEqual(order.slice(0, 3));
      expect(next?.[1]).toBe(order[2]);
    });

    describe('large documents', () => {
      /** Each document has about 10 kB. */
      const LARGE = Array.from({ length: 9 }, (_, n) => ({
        id: `large${n}`,
        owner: 'large',
        made_at: `2026-04-1${n}`,
        note: '貨'.repeat(3_333),
      }));
      const all = listIds(LARGE);
      const query = { index: 'by_owner', filter: { owner: 'large' }, sort: sorted(false), limit: 100 };
      beforeEach(() => things.writeMany(LARGE.map((document) => ({ kind: 'insert', document }))));

      it('a scan ends at the byte limit, and the next one continues from there', async () => {
        const seen: string[][] = [];
        for (let after: readonly Scalar[] | undefined, goesOn = true; goesOn; goesOn = after !== undefined) {
          const scan = { ...query, visit: 100, maxBytes: 35_000, ...(after && { after }) };
          const { documents, next, isCut } = await things.scan(scan);
          expect(isCut).toBe(documents.length === 3 && seen.flat().length < 6);
          seen.push(listIds(documents));
          after = next;
        }
        expect(seen).toEqual([all.slice(0, 3), all.slice(3, 6), all.slice(6)]);
      });

      it('a query ends at the byte limit, and reports that', async () => {
        const cut = await things.findWithinByteLimit(query, 35_000);
        expect([listIds(cut.documents), cut.isCut]).toEqual([all.slice(0, 3), true]);
        const whole = await things.findWithinByteLimit(query, 1_000_000);
        expect([listIds(whole.documents), whole.isCut]).toEqual([all, false]);
        const limited = await things.findWithinByteLimit({ ...query, limit: 2 }, 35_000);
        expect([listIds(limited.documents), limited.isCut]).toEqual([all.slice(0, 2), false]);
      });

      it('a query returns the first document even if it exceeds the byte limit', async () => {
        expect(listIds((await things.findWithinByteLimit(query, 1)).documents)).toEqual(all.slice(0, 1));
        const { documents, next } = await things.scan({ ...query, visit: 100, maxBytes: 1 });
        expect([listIds(documents), next?.[1]]).toEqual([all.slice(0, 1), 'large0']);
      });
    });

    it('a scan ends at the end of its range, and immediately in an empty range', async () => {
      const scan = { index: 'by_owner', sort: sorted(false), limit: 100, visit: 100 };
      expect((await things.scan({ ...scan, filter: many })).next).toBeUndefined();
      const empty = { documents: [], next: undefined };
      expect(await things.scan({ ...scan, filter: { owner: 'unknown' } })).toMatchObject(empty);
      expect(await things.scan({ ...scan, filter: many, after: ['2027', ''] })).toMatchObject(empty);
    });

    it('a scan misses no unchanged document while other documents are added and removed', async () => {
      const scan = { index: 'by_owner', filter: many, sort: sorted(false), limit: 7, visit: 9 };
      const stays = listIdsSortedByMadeAt(
        MATCHING_SAMPLE_DOCUMENTS.filter(({ note }) => note !== 'tenth'),
        false,
      );
      const gone = listIds(MATCHING_SAMPLE_DOCUMENTS.filter(({ note }) => note === 'tenth'));
      const seen: string[] = [];
      let after: readonly Scalar[] | undefined;
      for (let n = 0; n === 0 || after !== undefined; n += 1) {
        const { documents, next }: Awaited<ReturnType<typeof things.scan>> = await things.scan(
          after === undefined ? scan : { ...scan, after },
        );
        seen.push(...listIds(documents));
        after = next;
        const [id] = gone.splice(0, 1);
        if (id !== undefined) await things.delete(id);
        await things.insert({ id: `new${n}`, owner: 'many', made_at: `2026-03-${10 + n}` });
      }
      expect(seen.filter((id) => stays.includes(id))).toEqual(stays);
    });

    it('a scan accepts only an index with its sort order', async () => {
      const scan = { sort: sorted(false), limit: 5, visit: 5 };
      await expect(things.scan({ ...scan, index: 'by_word', filter: many })).rejects.toThrow(TypeError);
      await expect(things.scan({ ...scan, index: 'by_rank', filter: many })).rejects.toThrow(TypeError);
      await expect(things.scan({ ...scan, index: 'by_nothing', filter: many })).rejects.toThrow(TypeError);
      const bounds = { owner: { gte: 'm' } };
      await expect(things.scan({ ...scan, index: 'by_owner', filter: bounds })).rejects.toThrow(TypeError);
    });
  });
}
