import type { Collection, Filter, Query, Scalar } from '@tracking/ports';
import { listIds, type SampleDocument } from './document-store-samples.ts';

const SAMPLE_DOCUMENTS: readonly SampleDocument[] = [
  { id: 'a', owner: 'o', rank: 1, made_at: '2026-01-01', words: ['red', 'round'], open: true, note: 'x' },
  { id: 'b', owner: 'o', rank: 2.5, made_at: '2026-01-02', words: ['red'], open: false, note: null },
  { id: 'c', owner: 'o', rank: 10, made_at: '2026-01-02', words: [], open: true },
  { id: 'd', owner: 'p', rank: '10', made_at: '2026-01-03', words: ['green', 'round'], note: 'y' },
  { id: 'e', owner: 'p', rank: 'abc', made_at: '2026-01-03', words: ['red', 'green', 'red'], deep: { rank: 1 } },
  { id: 'f', owner: null, rank: null, made_at: '2026-01-04', note: 'x' },
  { id: 'g', rank: true, made_at: '2026-01-05', open: true, note: 'z' },
  { id: 'h', rank: false, made_at: '2026-01-06' },
];

const FILTER_CASES: readonly [string, Filter, string][] = [
  ['an empty filter matches every document', {}, 'abcdefgh'],
  ['a filter by string matches documents with exactly this string', { owner: 'o' }, 'abc'],
  [
    'a filter with several conditions matches documents that meet all of them',
    { owner: 'o', open: true, made_at: '2026-01-02' },
    'c',
  ],
  ['a filter by id matches the document with this id', { id: 'd' }, 'd'],
  ['a filter by number does not match the same digits as text', { rank: 10 }, 'c'],
  ['a filter by text does not match the same digits as a number', { rank: '10' }, 'd'],
  ['a filter by true does not match the number 1', { rank: true }, 'g'],
  ['a filter by the number 1 does not match true', { rank: 1 }, 'a'],
  ['a filter by false matches documents with false', { rank: false }, 'h'],
  ['a filter by null does not match documents without the field', { owner: null }, 'f'],
  ['a filter by null on a field without an index does not match documents without the field', { note: null }, 'b'],
  ['a filter by string works on a field without an index', { note: 'x' }, 'af'],
  ['a filter by boolean works on a field without an index', { open: true }, 'acg'],
  ['a filter by a list matches documents with one of its values', { rank: { in: [1, '10', null, false] } }, 'adfh'],
  ['a filter by a list works on a field without an index', { note: { in: ['x', null] } }, 'abf'],
  ['a filter by an empty list matches no document', { rank: { in: [] } }, ''],
  ['a filter with a lower bound matches greater numbers', { rank: { gt: 1 } }, 'bc'],
  ['a filter with two inclusive bounds matches the numbers between them', { rank: { gte: 1, lte: 2.5 } }, 'ab'],
  ['a filter with an upper bound matches smaller numbers', { rank: { lt: 10 } }, 'ab'],
  ['a filter whose lower bound exceeds its upper bound matches no number', { rank: { gt: 2.5, lt: 1 } }, ''],
  ['a filter with two equal inclusive bounds matches this number', { rank: { gte: 10, lte: 10 } }, 'c'],
  ['a filter with equal bounds, one of them exclusive, matches no number', { rank: { gt: 10, lte: 10 } }, ''],
  [
    'a filter whose lower bound exceeds its upper bound matches no text',
    { made_at: { gte: '2026-01-03', lte: '2026-01-01' } },
    '',
  ],
  ['a filter with bounds of different types matches no document', { rank: { gt: 1, lt: 'b' } }, ''],
  ['a filter with an inclusive lower bound matches this text and later ones', { rank: { gte: '10' } }, 'de'],
  ['a filter with an exclusive upper bound matches earlier texts', { rank: { lt: 'abc' } }, 'd'],
  ['a filter with one bound works on a field without an index', { note: { gt: 'x' } }, 'dg'],
  ['a filter with two bounds works on a field without an index', { note: { gte: 'x', lt: 'y' } }, 'af'],
  ['a filter by another value also matches documents without the field', { owner: { ne: 'o' } }, 'defgh'],
  ['a filter by any value except null also matches documents without the field', { owner: { ne: null } }, 'abcdegh'],
  ['a filter by another value works on a field without an index', { note: { ne: 'x' } }, 'bcdegh'],
  ['a filter by an existing field matches documents with the field', { owner: { exists: true } }, 'abcdef'],
  ['a filter by a missing field matches documents without the field', { owner: { exists: false } }, 'gh'],
  ['a filter by an existing field works without an index', { note: { exists: true } }, 'abdfg'],
  ['a filter by a missing field works without an index', { note: { exists: false } }, 'ceh'],
  ['a filter by an existing field matches a field that holds an object', { deep: { exists: true } }, 'e'],
  ['a filter by number does not match a number inside an object', { deep: 1 }, ''],
  ['a filter by string matches arrays with this element', { words: 'red' }, 'abe'],
  [
    'a filter by an array element combines with a filter by the preceding field of the index',
    { owner: 'o', words: 'red' },
    'ab',
  ],
  ['a filter by a list matches arrays that have one of its elements', { words: { in: ['green', 'round'] } }, 'ade'],
  ['a filter by prefix matches arrays with an element that starts with it', { words: { gte: 'ro', lt: 'rp' } }, 'ad'],
  [
    'a filter with two bounds matches arrays with an element between them',
    { owner: 'p', words: { gte: 'red', lt: 'ree' } },
    'e',
  ],
  [
    'a filter by another value matches arrays without the element and documents without an array',
    { words: { ne: 'red' } },
    'cdfgh',
  ],
  ['a filter by several elements matches arrays that have all of them', { words: { all: ['red', 'round'] } }, 'a'],
  [
    'a filter by several elements combines with a filter by the preceding field of the index',
    { owner: 'p', words: { all: ['green', 'red'] } },
    'e',
  ],
  [
    'a filter by an element and a prefix matches arrays that meet both',
    { words: { all: ['green', { gte: 'ro', lt: 'rp' }] } },
    'd',
  ],
  ['a filter by an element and one of two matches', { words: { all: ['red', { in: ['round', 'green'] }] } }, 'ae'],
  [
    'a filter by a prefix and one of two elements matches arrays that meet both',
    { words: { all: [{ gte: 'r', lt: 's' }, { in: ['green', 'blue'] }] } },
    'de',
  ],
  [
    'a filter by two prefixes matches arrays that meet both',
    {
      words: {
        all: [
          { gte: 'g', lt: 'h' },
          { gte: 're', lt: 'rf' },
        ],
      },
    },
    'e',
  ],
  [
    'a filter that lists the same element twice matches arrays that have it once',
    { words: { all: ['red', 'red'] } },
    'abe',
  ],
  [
    'a filter by several elements matches no document if no array has one of them',
    { words: { all: ['red', 'blue'] } },
    '',
  ],
  ['a filter by an empty list of required elements matches every document', { words: { all: [] } }, 'abcdefgh'],
  ['a filter by a list of one required value matches a scalar with this value', { rank: { all: [10] } }, 'c'],
  [
    'a filter by a list of required values works on a scalar without an index',
    { note: { all: ['x', { gte: 'w' }] } },
    'af',
  ],
  ['a filter by an existing field matches arrays, even empty ones', { words: { exists: true } }, 'abcde'],
];

/** Declares the query tests of the document store's conformance suite. */
export function declareDocumentStoreQueryTests(current: () => Collection<SampleDocument>): void {
  describe('queries', () => {
    let things: Collection<SampleDocument>;
    beforeEach(async () => {
      things = current();
      await things.writeMany(SAMPLE_DOCUMENTS.map((document) => ({ kind: 'upsert', document })));
    });

    it.each(FILTER_CASES)('%s', async (_title, filter, expected) => {
      expect(
        listIds(await things.find({ filter, limit: 100 }))
          .sort()
          .join(''),
      ).toBe(expected);
      expect(await things.count(filter)).toBe(expected.length);
    });

    it.each(FILTER_CASES)('as the guard of a deletion, %s', async (_title, filter, expected) => {
      const deleted: string[] = [];
      for (const { id } of SAMPLE_DOCUMENTS) if (await things.delete(id, filter)) deleted.push(id);
      expect(deleted.join('')).toBe(expected);
    });

    it('a count stops at the given limit', async () => {
      expect(await things.count({}, { atMost: 3 })).toBe(3);
      expect(await things.count({ owner: 'o' }, { atMost: 3 })).toBe(3);
      expect(await things.count({ owner: 'o' }, { atMost: 2, index: 'by_owner' })).toBe(2);
      expect(await things.count({ owner: 'o', words: 'red' }, { atMost: 1, index: 'by_word' })).toBe(1);
      expect(await things.count({ owner: 'o', words: 'red' }, { atMost: 5, index: 'by_word' })).toBe(2);
      const many = { owner: 'p', words: { gte: 'g', lt: 's' } };
      expect(await things.count(many, { atMost: 9, index: 'by_word' })).toBe(2);
      expect(await things.count({}, { atMost: 0 })).toBe(0);
    });

    it('a query returns the same result with every index', async () => {
      const filter = { owner: 'o', words: { all: ['red'] }, open: true };
      for (const index of ['by_owner', 'by_word']) {
        expect(listIds(await things.find({ filter, sort: { fields: ['made_at'] }, limit: 9, index }))).toEqual(['a']);
      }
      const beginnings = { owner: 'p', words: { all: [{ gte: 'g', lt: 's' }, 'green'] } };
      const sort = { fields: ['made_at', 'id'], descending: true };
      expect(listIds(await things.find({ filter: beginnings, sort, limit: 9, index: 'by_word' }))).toEqual(['e', 'd']);
      await expect(things.find({ filter: {}, limit: 9, index: 'by_nothing' })).rejects.toThrow(TypeError);
      await expect(things.count({}, { index: 'by_nothing' })).rejects.toThrow(TypeError);
    });

    it('a query can use a partial index', async () => {
      const write = (id: string, version: number) => things.upsert({ id, owner: 'o', version });
      await Promise.all([write('x', 1), write('y', 2), write('z', 3)]);
      const versions = { owner: 'o', version: { gte: 2 } };
      const sort = { fields: ['version', 'id'] };
      expect(listIds(await things.find({ filter: versions, sort, limit: 9, index: 'by_version' }))).toEqual(['y', 'z']);
      expect(await things.count({ owner: 'o', version: 1 }, { index: 'by_version' })).toBe(1);
      expect(await things.count({ owner: 'o' })).toBe(6);
      await things.upsert({ id: 'y', owner: 'o' });
      await things.upsert({ id: 'a', owner: 'o', version: 4 });
      const after = [2, 'z'];
      expect(listIds(await things.find({ filter: versions, sort, after, limit: 9, index: 'by_version' }))).toEqual([
        'z',
        'a',
      ]);
    });

    it('a sum adds up the numbers of a field over all matching documents', async () => {
      const large = 2 ** 41;
      const write = (id: string, owner: string, version: number) => things.upsert({ id, owner, version });
      await Promise.all([write('x', 'sums', 1), write('y', 'sums', large), write('z', 'q', 7)]);
      await things.upsert({ id: 'w', owner: 'sums' });
      const sum = (filter: Filter) => things.sum('version', filter, 'by_version');
      expect(await sum({ owner: 'sums', version: { gte: 0 } })).toBe(large + 1);
      expect(await sum({ owner: 'sums', version: { gt: 0, lt: 5 } })).toBe(1);
      expect(await sum({ owner: 'nobody', version: { gte: 0 } })).toBe(0);
      expect(await sum({ owner: { in: [] }, version: { gte: 0 } })).toBe(0);
      expect(await things.sum('rank', { rank: { exists: true } }, 'by_rank')).toBe(
        SAMPLE_DOCUMENTS.reduce((total, { rank }) => total + (typeof rank === 'number' ? rank : 0), 0),
      );
      await expect(things.sum('version', {}, 'by_nothing')).rejects.toThrow(TypeError);
    });

    it('a query returns complete documents', async () => {
      expect(await things.find({ filter: { words: 'green', note: 'y' }, limit: 1 })).toEqual([SAMPLE_DOCUMENTS[3]]);
    });

    it('a query returns at most `limit` documents', async () => {
      expect(await things.find({ filter: { owner: 'o' }, limit: 2 })).toHaveLength(2);
    });

    it('a query sorts in both directions', async () => {
      const sorted = async (fields: string[], descending: boolean) =>
        listIds(await things.find({ filter: {}, sort: { fields, descending }, limit: 100 })).join('');
      expect(await sorted(['made_at', 'id'], false)).toBe('abcdefgh');
      expect(await sorted(['made_at', 'id'], true)).toBe('hgfedcba');
      const numbers = { filter: { rank: { gte: 0 } }, limit: 100 };
      expect(listIds(await things.find({ ...numbers, sort: { fields: ['rank'] } })).join('')).toBe('abc');
      const notes = { filter: { note: { gte: '' } }, sort: { fields: ['note', 'id'], descending: true }, limit: 100 };
      expect(listIds(await things.find(notes)).join('')).toBe('gdfa');
    });

    it.each([
      ['up', false],
      ['down', true],
    ])('queries page %s and include documents with equal sort values', async (_title, descending) => {
      const many: SampleDocument[] = Array.from({ length: 50 }, (_, index) => ({
        id: `m${String((index * 17) % 50).padStart(2, '0')}`,
        owner: 'many',
        made_at: `2026-02-${10 + (index % 3)}`,
        words: ['all', index % 2 === 0 ? 'even' : 'odd'],
      }));
      await things.writeMany(many.map((document) => ({ kind: 'upsert', document })));
      const expected = many
        .map(({ id, made_at = '' }) => ({ id, made_at }))
        .sort((one, other) => (one.made_at + one.id < other.made_at + other.id ? -1 : 1));
      if (descending) expected.reverse();
      for (const filter of [{ owner: 'many' }, { owner: 'many', words: 'all' }]) {
        const seen: SampleDocument[] = [];
        let after: readonly Scalar[] | undefined;
        do {
          const query: Query = { filter, sort: { fields: ['made_at', 'id'], descending }, limit: 7 };
          const page = await things.find(after === undefined ? query : { ...query, after });
          seen.push(...page);
          const last = page.at(-1);
          after = last === undefined ? undefined : [last.made_at ?? '', last.id];
        } while (after !== undefined);
        expect(listIds(seen)).toEqual(listIds(expected));
      }
    });

    it('a query does not match former values of a document', async () => {
      const values: readonly SampleDocument['rank'][] = [1, '1', true, false, null, undefined, 2];
      for (const [index, rank] of values.entries()) {
        const words = index % 2 === 0 ? ['new'] : ['newer', 'else'];
        await things.upsert(rank === undefined ? { id: 'z', words } : { id: 'z', words, rank });
        const all = await Promise.all(
          values.map((value) => things.find({ filter: { id: 'z', rank: value ?? null }, limit: 5 })),
        );
        const found = values.filter((value, at) => value !== undefined && all[at]?.length === 1);
        expect(found).toEqual(rank === undefined ? [] : [rank]);
        expect(await things.count({ words: 'new' })).toBe(1 - (index % 2));
        expect(await things.count({ words: 'else' })).toBe(index % 2);
      }
      await things.delete('z');
      await things.insert({ id: 'z' });
      expect(await things.count({ words: 'new' })).toBe(0);
    });

    it('a query returns every completed write', async () => {
      for (let version = 0; version < 30; version += 1) {
        await things.upsert({ id: 'z', owner: `o${version}`, version, words: [`w${version}`] });
        expect(await things.get('z')).toMatchObject({ version });
        expect(listIds(await things.find({ filter: { words: `w${version}` }, limit: 5 }))).toEqual(['z']);
        expect(await things.count({ owner: `o${version}` })).toBe(1);
      }
    });
  });
}

/** Tests of claims. @param things the collection of the current test */
export function declareDocumentStoreClaimTests(things: () => Collection<SampleDocument>): void {
  describe('claim', () => {
    it('a claim sets fields of the first matching document and returns it', async () => {
      for (const version of [3, 1, 2]) await things().insert({ id: `v${version}`, owner: 'o', version, open: true });
      const query = { filter: { open: true, owner: 'o' }, sort: { fields: ['version'] } };
      expect(await things().claim(query, { open: false, note: 'mine' })).toEqual({
        id: 'v1',
        owner: 'o',
        version: 1,
        open: false,
        note: 'mine',
      });
      expect(await things().get('v1')).toMatchObject({ open: false, note: 'mine' });
      const last = await things().claim({ ...query, sort: { fields: ['version'], descending: true } }, { open: false });
      expect(last?.id).toBe('v3');
      expect(await things().claim({ filter: { owner: 'nobody' } }, { open: false })).toBeUndefined();
    });

    it('exactly one of 50 concurrent claims gets each document', async () => {
      for (let index = 0; index < 20; index += 1) await things().insert({ id: String(index), rank: 'free' });
      const claims = await Promise.all(
        Array.from({ length: 50 }, (_, index) => things().claim({ filter: { rank: 'free' } }, { rank: `by ${index}` })),
      );
      const claimed = claims.filter((thing) => thing !== undefined);
      expect(new Set(listIds(claimed)).size).toBe(20);
      expect(claimed).toHaveLength(20);
      for (const [index, thing] of claims.entries()) {
        if (thing !== undefined) expect((await things().get(thing.id))?.rank).toBe(`by ${index}`);
      }
    });
  });
}
