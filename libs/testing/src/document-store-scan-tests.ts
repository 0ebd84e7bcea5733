import type { Collection, Filter, Scalar, Scan } from '@tracking/ports';
import { ids, type Thing } from './document-store-samples.ts';

/** 60 of `many`, three to a day, of which every second has the word `even` and every tenth a note; and others around them. */
const MANY: readonly Thing[] = Array.from({ length: 60 }, (_, n) => ({
  id: `m${String((n * 17) % 60).padStart(2, '0')}`,
  owner: 'many',
  made_at: `2026-03-${10 + Math.floor(n / 3)}`,
  words: ['all', n % 2 === 0 ? 'even' : 'odd', `own${n}`],
  ...(n % 10 === 0 ? { note: 'tenth' } : {}),
}));
const OTHERS: readonly Thing[] = ['lots', 'nobody'].flatMap((owner) =>
  MANY.map((thing) => ({ ...thing, id: `${owner}-${thing.id}`, owner })),
);

function inOrder(things: readonly Thing[], descending: boolean): string[] {
  const sorted = things
    .map(({ id, made_at = '' }) => ({ id, key: made_at + id }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ id }) => id);
  return descending ? sorted.reverse() : sorted;
}

/** Looks at stretches of an index. @param current the collection of the test that runs, empty at its beginning */
export function documentStoreScanTests(current: () => Collection<Thing>): void {
  describe('scans', () => {
    let things: Collection<Thing>;
    beforeEach(async () => {
      things = current();
      await things.writeMany([...MANY, ...OTHERS].map((document) => ({ kind: 'insert', document })));
    });

    /** All stretches to the end: what each answered. */
    async function stretches(scan: Omit<Scan, 'after'>): Promise<string[][]> {
      const seen: string[][] = [];
      let after: readonly Scalar[] | undefined;
      do {
        const stretch = await things.scan(after === undefined ? scan : { ...scan, after });
        expect(stretch.documents.length).toBeLessThanOrEqual(scan.limit);
        seen.push(ids(stretch.documents));
        after = stretch.next;
      } while (after !== undefined);
      return seen;
    }
    const many = { owner: 'many' };
    const sorted = (descending: boolean) => ({ fields: ['made_at', 'id'], descending });
    const SCANS: readonly [string, string, Filter, (thing: Thing) => boolean][] = [
      ['an index', 'by_owner', many, () => true],
      ['an index, for some of its documents', 'by_owner', { ...many, note: 'tenth' }, ({ note }) => note === 'tenth'],
      [
        'an index, for those with an element',
        'by_owner',
        { ...many, words: 'even' },
        ({ words = [] }) => words.includes('even'),
      ],
      [
        'a range of an index',
        'by_owner',
        { ...many, made_at: { gte: '2026-03-12', lt: '2026-03-20' } },
        ({ made_at = '' }) => made_at >= '2026-03-12' && made_at < '2026-03-20',
      ],
      [
        'a range that is open on one side',
        'by_owner',
        { ...many, made_at: { gt: '2026-03-25' } },
        ({ made_at = '' }) => made_at > '2026-03-25',
      ],
      ['one element’s', 'by_word', { ...many, words: 'odd' }, ({ words = [] }) => words.includes('odd')],
      [
        'one element’s range, for those with another',
        'by_word',
        { ...many, words: { all: ['all', 'odd'] }, made_at: { lte: '2026-03-18' } },
        ({ words = [], made_at = '' }) => words.includes('odd') && made_at <= '2026-03-18',
      ],
      [
        'one element’s, for those with the beginning of another and a note',
        'by_word',
        { ...many, words: { all: ['even', { gte: 'own1', lt: 'own2' }] }, note: 'tenth' },
        (thing) => thing.note === 'tenth' && thing.words?.some((word) => word.startsWith('own1')) === true,
      ],
    ];
    for (const descending of [false, true]) {
      it.each(SCANS)(`see all of %s, ${descending ? 'down' : 'up'}`, async (_title, index, filter, fits) => {
        const expected = inOrder(MANY.filter(fits), descending);
        for (const [limit, visit] of [
          [100, 7],
          [4, 1_000],
          [2, 5],
          [1, 1],
        ] as const) {
          const seen = await stretches({ index, filter, sort: sorted(descending), limit, visit });
          expect(seen.flat()).toEqual(expected);
        }
      });
    }

    it('look at no more than they may, and say where to go on', async () => {
      const scan = { index: 'by_owner', filter: { ...many, note: 'tenth' }, sort: sorted(false), limit: 100 };
      const order = inOrder(MANY, false);
      const first = await things.scan({ ...scan, visit: 25 });
      const tenths = new Set(ids(MANY.filter(({ note }) => note === 'tenth')));
      expect(ids(first.documents)).toEqual(order.slice(0, 25).filter((id) => tenths.has(id)));
      expect(first.next?.[1]).toBe(order[24]);
      const stretch = await things.scan({ ...scan, visit: 10, after: ['2026-03-10', 'z'] });
      expect(stretch.next?.[1]).toBe(order[12]);
      const none = await things.scan({ ...scan, filter: { ...many, note: 'never' }, visit: 20 });
      expect(none.documents).toEqual([]);
      expect(none.next?.[1]).toBe(order[19]);
    });

    it('stop where they have as many as they want', async () => {
      const scan = { index: 'by_word', filter: { ...many, words: 'even' }, sort: sorted(true), visit: 100 };
      const order = inOrder(
        MANY.filter(({ words = [] }) => words.includes('even')),
        true,
      );
      const { documents, next } = await things.scan({ ...scan, limit: 3 });
      expect(ids(documents)).toEqual(order.slice(0, 3));
      expect(next?.[1]).toBe(order[2]);
    });

    describe('of large documents', () => {
      /** Each has some 10 kB. */
      const LARGE = Array.from({ length: 9 }, (_, n) => ({
        id: `large${n}`,
        owner: 'large',
        made_at: `2026-04-1${n}`,
        note: '貨'.repeat(3_333),
      }));
      const all = ids(LARGE);
      const query = { index: 'by_owner', filter: { owner: 'large' }, sort: sorted(false), limit: 100 };
      beforeEach(() => things.writeMany(LARGE.map((document) => ({ kind: 'insert', document }))));

      it('scans end before they have too many bytes, and go on there', async () => {
        const seen: string[][] = [];
        for (let after: readonly Scalar[] | undefined, goesOn = true; goesOn; goesOn = after !== undefined) {
          const scan = { ...query, visit: 100, maxBytes: 35_000, ...(after && { after }) };
          const { documents, next, isCut } = await things.scan(scan);
          expect(isCut).toBe(documents.length === 3 && seen.flat().length < 6);
          seen.push(ids(documents));
          after = next;
        }
        expect(seen).toEqual([all.slice(0, 3), all.slice(3, 6), all.slice(6)]);
      });

      it('queries end before they have too many bytes, and say so', async () => {
        const cut = await things.findWithin(query, 35_000);
        expect([ids(cut.documents), cut.isCut]).toEqual([all.slice(0, 3), true]);
        const whole = await things.findWithin(query, 1_000_000);
        expect([ids(whole.documents), whole.isCut]).toEqual([all, false]);
        const limited = await things.findWithin({ ...query, limit: 2 }, 35_000);
        expect([ids(limited.documents), limited.isCut]).toEqual([all.slice(0, 2), false]);
      });

      it('the first one comes whatever its size', async () => {
        expect(ids((await things.findWithin(query, 1)).documents)).toEqual(all.slice(0, 1));
        const { documents, next } = await things.scan({ ...query, visit: 100, maxBytes: 1 });
        expect([ids(documents), next?.[1]]).toEqual([all.slice(0, 1), 'large0']);
      });
    });

    it('end where the range does, and in one that is empty', async () => {
      const scan = { index: 'by_owner', sort: sorted(false), limit: 100, visit: 100 };
      expect((await things.scan({ ...scan, filter: many })).next).toBeUndefined();
      const empty = { documents: [], next: undefined };
      expect(await things.scan({ ...scan, filter: { owner: 'no one' } })).toMatchObject(empty);
      expect(await things.scan({ ...scan, filter: many, after: ['2027', ''] })).toMatchObject(empty);
    });

    it('miss nothing that stays while others come and go', async () => {
      const scan = { index: 'by_owner', filter: many, sort: sorted(false), limit: 7, visit: 9 };
      const stays = inOrder(
        MANY.filter(({ note }) => note !== 'tenth'),
        false,
      );
      const gone = ids(MANY.filter(({ note }) => note === 'tenth'));
      const seen: string[] = [];
      let after: readonly Scalar[] | undefined;
      for (let n = 0; n === 0 || after !== undefined; n += 1) {
        const { documents, next }: Awaited<ReturnType<typeof things.scan>> = await things.scan(
          after === undefined ? scan : { ...scan, after },
        );
        seen.push(...ids(documents));
        after = next;
        const [id] = gone.splice(0, 1);
        if (id !== undefined) await things.delete(id);
        await things.insert({ id: `new${n}`, owner: 'many', made_at: `2026-03-${10 + n}` });
      }
      expect(seen.filter((id) => stays.includes(id))).toEqual(stays);
    });

    it('go only by an index that has their order', async () => {
      const scan = { sort: sorted(false), limit: 5, visit: 5 };
      await expect(things.scan({ ...scan, index: 'by_word', filter: many })).rejects.toThrow(TypeError);
      await expect(things.scan({ ...scan, index: 'by_rank', filter: many })).rejects.toThrow(TypeError);
      await expect(things.scan({ ...scan, index: 'by_nothing', filter: many })).rejects.toThrow(TypeError);
      const bounds = { owner: { gte: 'm' } };
      await expect(things.scan({ ...scan, index: 'by_owner', filter: bounds })).rejects.toThrow(TypeError);
    });
  });
}
