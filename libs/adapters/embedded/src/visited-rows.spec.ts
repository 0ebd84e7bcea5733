import type { Filter, Query } from '@tracking/ports';
import { QueryVisitedRowCounterForTest } from '../test/visited-rows.ts';

const THINGS = {
  name: 'things',
  indexes: [
    { name: 'by_time', fields: ['owner', 'made_at', 'id'] },
    { name: 'by_status', fields: ['owner', 'status', 'made_at', 'size'] },
    { name: 'by_word', fields: ['owner', 'words', 'made_at', 'id'], arrayField: 'words' },
  ],
};
const COUNT = 1_000;

describe('visited rows', () => {
  let things: QueryVisitedRowCounterForTest;
  beforeAll(() => {
    things = new QueryVisitedRowCounterForTest(THINGS);
    things.copyDocumentsForRowCounting(
      Array.from({ length: COUNT }, (_, n) => ({
        id: `t${n}`,
        owner: 'o',
        status: 's',
        made_at: String(n).padStart(4, '0'),
        size: n,
        words: ['all', 'every', `w${n}`],
        note: `n${n}`,
      })),
    );
  });
  afterAll(() => things.closeVisitCountingDatabase());

  const newest = { fields: ['made_at', 'id'], descending: true };
  const visited: readonly [string, Query, number][] = [
    ['of a page in an index’s order, those answered', { filter: { owner: 'o' }, sort: newest, limit: 5 }, 5],
    [
      'of the next page of older ones, those answered',
      {
        filter: { owner: 'o', status: 's', made_at: { lt: '0900' } },
        sort: { fields: ['made_at'] },
        after: ['0800'],
        limit: 5,
      },
      5,
    ],
    ['of any few, those answered', { filter: { owner: 'o', status: 's' }, limit: 5 }, 5],
    [
      'of what an index leads to by way of an element, two each',
      { filter: { owner: 'o', words: 'all' }, limit: 5 },
      10,
    ],
    ['of a page of those with an element', { filter: { owner: 'o', words: 'all' }, sort: newest, limit: 5 }, 10],
    ['of those with one of some elements', { filter: { owner: 'o', words: { in: ['all', 'every'] } }, limit: 5 }, 10],
    [
      'of those with an element, also what is left out',
      { filter: { owner: 'o', words: 'all', note: { ne: 'n0' } }, limit: 5 },
      12,
    ],
    ['of those without an element, one posting', { filter: { owner: 'o', words: { ne: 'w0' } }, limit: 5 }, 6 + 1],
    ['all of them where nothing leads there', { filter: { owner: 'o', note: 'n999' }, limit: 5 }, COUNT],
    ['all, in the index alone as well', { filter: { owner: 'o', status: 's', size: 999 }, limit: 5 }, COUNT],
    ['all that have to be sorted', { filter: { owner: 'o' }, sort: { fields: ['note'] }, limit: 5 }, COUNT],
  ];
  it.each(visited)('are %s', (_title, query, rows) => {
    expect(things.countVisitedRows(query).rows).toBe(rows);
  });

  const lookups: readonly [string, Query, number][] = [
    [
      'of those that have another element too, the posting that it would be, and the document where it is',
      { filter: { owner: 'o', words: { all: ['w7', 'all'] } }, limit: 5 },
      3,
    ],
    [
      'of those that an index leads to by another field, one posting each',
      { filter: { owner: 'o', words: { all: ['every', 'w999'] } }, sort: newest, limit: 1, index: 'by_time' },
      3,
    ],
    [
      'of those that have the beginning of a word, its postings',
      { filter: { owner: 'o', words: { gte: 'w99', lt: 'w9:' } }, limit: 50, index: 'by_word' },
      2 * 11,
    ],
  ];
  it.each(lookups)('are %s', (_title, query, rows) => {
    expect(things.countVisitedRows(query).rows).toBe(rows);
  });

  it.each([100, 20_000])('are those within a range, whatever is after it, also for %s rows', (beyond) => {
    const rows = new QueryVisitedRowCounterForTest({
      name: 'deadlines',
      indexes: [{ name: 'by_due_at', fields: ['due_at', 'id'] }],
    });
    const waiting = Array.from({ length: beyond }, (_, n) => ({ id: `w${n}`, due_at: `2027-${n}` }));
    const never = Array.from({ length: beyond }, (_, n) => ({ id: `n${n}` }));
    rows.copyDocumentsForRowCounting([...waiting, ...never]);
    const due: Query = { filter: { due_at: { lte: '2026-9' } }, sort: { fields: ['due_at', 'id'] }, limit: 100 };
    expect(rows.countVisitedRows(due)).toEqual({ rows: 0, answered: 0 });
    rows.copyDocumentsForRowCounting(['2026-3', '2026-1', '2026-2'].map((due_at) => ({ id: due_at, due_at })));
    expect(rows.countVisitedRows(due)).toEqual({ rows: 3, answered: 3 });
    const same = Array.from({ length: beyond }, (_, n) => ({ id: `s${String(n).padStart(6, '0')}`, due_at: '2026-4' }));
    rows.copyDocumentsForRowCounting(same);
    // A page starts after the last row of the previous page.
    const after = ['2026-4', same.at(-21)?.id ?? ''];
    expect(rows.countVisitedRows({ ...due, after })).toEqual({ rows: 21, answered: 20 });
    rows.closeVisitCountingDatabase();
  });

  it('are at most the counted rows', () => {
    expect(things.measureVisitsOfCount({ owner: 'o', words: 'all' }, { atMost: 10, index: 'by_word' })).toEqual({
      rows: 10,
      answered: 10,
    });
    const all = { owner: 'o', words: { all: [{ gte: 'a', lt: 'b' }] } };
    expect(things.measureVisitsOfCount(all, { atMost: 10, index: 'by_word' })).toEqual({ rows: 10, answered: 10 });
    expect(things.measureVisitsOfCount({ owner: 'o' }, { atMost: 10, index: 'by_time' })).toEqual({
      rows: 10,
      answered: 10,
    });
    expect(things.measureVisitsOfCount({ owner: 'o', words: 'w3' }, { atMost: 10 })).toEqual({ rows: 1, answered: 1 });
  });

  const scans: readonly [string, Filter, string, number][] = [
    ['of an index, where all match', { owner: 'o' }, 'by_time', 20],
    ['of an index, where none does', { owner: 'o', note: 'none' }, 'by_time', 20],
    ['of a range of it', { owner: 'o', made_at: { gte: '0100', lt: '0900' } }, 'by_time', 20],
    ['of a range that is open at one end', { owner: 'o', made_at: { gte: '0100' } }, 'by_time', 20],
    ['of a range that is open at the other', { owner: 'o', made_at: { lt: '0900' } }, 'by_time', 20],
    ['of an index and an element’s postings', { owner: 'o', words: 'w1' }, 'by_time', 20 + 1],
    ['of an element’s postings, those that match being looked at', { owner: 'o', words: 'all' }, 'by_word', 20 + 20],
    [
      'of an element’s postings, where no document has the other',
      { owner: 'o', words: { all: ['all', 'none'] } },
      'by_word',
      20,
    ],
    [
      'of an element’s postings and each’s document, where it is the document that tells',
      { owner: 'o', words: 'all', note: 'none' },
      'by_word',
      20 + 20,
    ],
  ];
  for (const descending of [false, true]) {
    it.each(scans)(`are, in a scan %s, ${descending ? 'down' : 'up'}`, (_title, filter, index, most) => {
      const scan = { filter, index, sort: { fields: ['made_at', 'id'], descending }, limit: 100, visit: 20 };
      for (const after of [undefined, ['0500', 't500']]) {
        const { rows } = things.countRowsVisitedByScan(after === undefined ? scan : { ...scan, after });
        // A continued scan starts after the last row of the previous one.
        expect(rows).toBeLessThanOrEqual(most + (after === undefined ? 0 : 1));
        expect(rows).toBeGreaterThanOrEqual(20);
      }
    });
  }

  it('are only those before the end if values of other types follow', () => {
    const mixed = new QueryVisitedRowCounterForTest(THINGS);
    mixed.copyDocumentsForRowCounting(
      Array.from({ length: 300 }, (_, n) => ({
        id: `t${n}`,
        owner: 'o',
        made_at: n < 100 ? n : n < 200 ? `at ${n}` : null,
      })),
    );
    for (const descending of [false, true]) {
      const scan = { index: 'by_time', sort: { fields: ['made_at', 'id'], descending }, limit: 500, visit: 250 };
      for (const made_at of [{ gte: 'at' }, { lt: 'b' }, { lte: 99 }, null]) {
        const expected = { rows: 100, answered: 100 };
        expect(mixed.countRowsVisitedByScan({ ...scan, filter: { owner: 'o', made_at } })).toEqual(expected);
      }
      const after = ['at 150', 't150'];
      const going = { ...scan, filter: { owner: 'o', made_at: { gte: 'at' } }, after };
      expect(mixed.countRowsVisitedByScan(going).rows).toBe(descending ? 51 : 50);
    }
    mixed.closeVisitCountingDatabase();
  });
});
