import type { Collection, Filter, Query, Scalar } from '@tracking/ports';
import { ids, type SampleDocument } from './document-store-samples.ts';

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
  ['everything', {}, 'abcdefgh'],
  ['a string', { owner: 'o' }, 'abc'],
  ['several conditions', { owner: 'o', open: true, made_at: '2026-01-02' }, 'c'],
  ['the id', { id: 'd' }, 'd'],
  ['a number, not its text', { rank: 10 }, 'c'],
  ['a text, not its number', { rank: '10' }, 'd'],
  ['true, not 1', { rank: true }, 'g'],
  ['1, not true', { rank: 1 }, 'a'],
  ['false', { rank: false }, 'h'],
  ['null, not absent', { owner: null }, 'f'],
  ['null, not absent, without an index', { note: null }, 'b'],
  ['a value without an index', { note: 'x' }, 'af'],
  ['a boolean without an index', { open: true }, 'acg'],
  ['one of several', { rank: { in: [1, '10', null, false] } }, 'adfh'],
  ['one of several, without an index', { note: { in: ['x', null] } }, 'abf'],
  ['one of an empty list', { rank: { in: [] } }, ''],
  ['numbers greater than a bound', { rank: { gt: 1 } }, 'bc'],
  ['numbers from a bound up to another', { rank: { gte: 1, lte: 2.5 } }, 'ab'],
  ['numbers less than a bound', { rank: { lt: 10 } }, 'ab'],
  ['an empty range of numbers', { rank: { gt: 2.5, lt: 1 } }, ''],
  ['the number that is both bounds, exclusive', { rank: { gte: 10, lte: 10 } }, 'c'],
  ['the number that is both bounds, inclusive', { rank: { gt: 10, lte: 10 } }, ''],
  ['an empty range of texts', { made_at: { gte: '2026-01-03', lte: '2026-01-01' } }, ''],
  ['bounds of two types', { rank: { gt: 1, lt: 'b' } }, ''],
  ['texts from a bound on', { rank: { gte: '10' } }, 'de'],
  ['texts before a bound', { rank: { lt: 'abc' } }, 'd'],
  ['a bound without an index', { note: { gt: 'x' } }, 'dg'],
  ['both a bound without an index', { note: { gte: 'x', lt: 'y' } }, 'af'],
  ['another value or no value', { owner: { ne: 'o' } }, 'defgh'],
  ['a value other than null, or no value', { owner: { ne: null } }, 'abcdegh'],
  ['another value or no value, without an index', { note: { ne: 'x' } }, 'bcdegh'],
  ['an existing field', { owner: { exists: true } }, 'abcdef'],
  ['a missing field', { owner: { exists: false } }, 'gh'],
  ['an existing field, without an index', { note: { exists: true } }, 'abdfg'],
  ['a missing field, without an index', { note: { exists: false } }, 'ceh'],
  ['an existing object', { deep: { exists: true } }, 'e'],
  ['no field inside an object', { deep: 1 }, ''],
  ['an element of an array', { words: 'red' }, 'abe'],
  ['an element of an array and the preceding index field', { owner: 'o', words: 'red' }, 'ab'],
  ['one of arrays with several elements', { words: { in: ['green', 'round'] } }, 'ade'],
  ['a prefix of an element', { words: { gte: 'ro', lt: 'rp' } }, 'ad'],
  ['elements between bounds', { owner: 'p', words: { gte: 'red', lt: 'ree' } }, 'e'],
  ['arrays without the element, or no array', { words: { ne: 'red' } }, 'cdfgh'],
  ['arrays with arrays with several elements', { words: { all: ['red', 'round'] } }, 'a'],
  ['arrays with several elements and the preceding index field', { owner: 'p', words: { all: ['green', 'red'] } }, 'e'],
  ['an element and the prefix of another', { words: { all: ['green', { gte: 'ro', lt: 'rp' }] } }, 'd'],
  [
    'the prefixes of two elements',
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
  ['the same element twice', { words: { all: ['red', 'red'] } }, 'abe'],
  ['arrays with several elements, one of which no document has', { words: { all: ['red', 'blue'] } }, ''],
  ['an empty list of elements', { words: { all: [] } }, 'abcdefgh'],
  ['a list of one value', { rank: { all: [10] } }, 'c'],
  ['a list of one value, without an index', { note: { all: ['x', { gte: 'w' }] } }, 'af'],
  ['an existing array, even if it is empty', { words: { exists: true } }, 'abcde'],
];

/** The query tests of the document store's conformance suite. */
export function testDocumentStoreQueries(current: () => Collection<SampleDocument>): void {
  describe('queries', () => {
    let things: Collection<SampleDocument>;
    beforeEach(async () => {
      things = current();
      await things.writeMany(SAMPLE_DOCUMENTS.map((document) => ({ kind: 'upsert', document })));
    });

    it.each(FILTER_CASES)('match %s', async (_title, filter, expected) => {
      expect(
        ids(await things.find({ filter, limit: 100 }))
          .sort()
          .join(''),
      ).toBe(expected);
      expect(await things.count(filter)).toBe(expected.length);
    });

    it.each(FILTER_CASES)('match %s, as a guard', async (_title, filter, expected) => {
      const deleted: string[] = [];
      for (const { id } of SAMPLE_DOCUMENTS) if (await things.delete(id, filter)) deleted.push(id);
      expect(deleted.join('')).toBe(expected);
    });

    it('count up to the given limit', async () => {
      expect(await things.count({}, { atMost: 3 })).toBe(3);
      expect(await things.count({ owner: 'o' }, { atMost: 3 })).toBe(3);
      expect(await things.count({ owner: 'o' }, { atMost: 2, index: 'by_owner' })).toBe(2);
      expect(await things.count({ owner: 'o', words: 'red' }, { atMost: 1, index: 'by_word' })).toBe(1);
      expect(await things.count({ owner: 'o', words: 'red' }, { atMost: 5, index: 'by_word' })).toBe(2);
      const many = { owner: 'p', words: { gte: 'g', lt: 's' } };
      expect(await things.count(many, { atMost: 9, index: 'by_word' })).toBe(2);
      expect(await things.count({}, { atMost: 0 })).toBe(0);
    });

    it('return the same result with every index', async () => {
      const filter = { owner: 'o', words: { all: ['red'] }, open: true };
      for (const index of ['by_owner', 'by_word']) {
        expect(ids(await things.find({ filter, sort: { fields: ['made_at'] }, limit: 9, index }))).toEqual(['a']);
      }
      const beginnings = { owner: 'p', words: { all: [{ gte: 'g', lt: 's' }, 'green'] } };
      const sort = { fields: ['made_at', 'id'], descending: true };
      expect(ids(await things.find({ filter: beginnings, sort, limit: 9, index: 'by_word' }))).toEqual(['e', 'd']);
      await expect(things.find({ filter: {}, limit: 9, index: 'by_nothing' })).rejects.toThrow(TypeError);
      await expect(things.count({}, { index: 'by_nothing' })).rejects.toThrow(TypeError);
    });

    it('can use a partial index', async () => {
      const write = (id: string, version: number) => things.upsert({ id, owner: 'o', version });
      await Promise.all([write('x', 1), write('y', 2), write('z', 3)]);
      const versions = { owner: 'o', version: { gte: 2 } };
      const sort = { fields: ['version', 'id'] };
      expect(ids(await things.find({ filter: versions, sort, limit: 9, index: 'by_version' }))).toEqual(['y', 'z']);
      expect(await things.count({ owner: 'o', version: 1 }, { index: 'by_version' })).toBe(1);
      expect(await things.count({ owner: 'o' })).toBe(6);
      await things.upsert({ id: 'y', owner: 'o' });
      await things.upsert({ id: 'a', owner: 'o', version: 4 });
      const after = [2, 'z'];
      expect(ids(await things.find({ filter: versions, sort, after, limit: 9, index: 'by_version' }))).toEqual([
        'z',
        'a',
      ]);
    });

    it('return complete documents', async () => {
      expect(await things.find({ filter: { words: 'green', note: 'y' }, limit: 1 })).toEqual([SAMPLE_DOCUMENTS[3]]);
    });

    it('return at most `limit` documents', async () => {
      expect(await things.find({ filter: { owner: 'o' }, limit: 2 })).toHaveLength(2);
    });

    it('sort in both directions', async () => {
      const sorted = async (fields: string[], descending: boolean) =>
        ids(await things.find({ filter: {}, sort: { fields, descending }, limit: 100 })).join('');
      expect(await sorted(['made_at', 'id'], false)).toBe('abcdefgh');
      expect(await sorted(['made_at', 'id'], true)).toBe('hgfedcba');
      const numbers = { filter: { rank: { gte: 0 } }, limit: 100 };
      expect(ids(await things.find({ ...numbers, sort: { fields: ['rank'] } })).join('')).toBe('abc');
      const notes = { filter: { note: { gte: '' } }, sort: { fields: ['note', 'id'], descending: true }, limit: 100 };
      expect(ids(await things.find(notes)).join('')).toBe('gdfa');
    });

    it.each([
      ['up', false],
      ['down', true],
    ])('page %s, including equal sort values', async (_title, descending) => {
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
        expect(ids(seen)).toEqual(ids(expected));
      }
    });

    it('do not return former values of a document', async () => {
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

    it('return every completed write', async () => {
      for (let version = 0; version < 30; version += 1) {
        await things.upsert({ id: 'z', owner: `o${version}`, version, words: [`w${version}`] });
        expect(await things.get('z')).toMatchObject({ version });
        expect(ids(await things.find({ filter: { words: `w${version}` }, limit: 5 }))).toEqual(['z']);
        expect(await things.count({ owner: `o${version}` })).toBe(1);
      }
    });
  });
}

/** Tests of claims. @param things the collection of the current test */
export function testDocumentStoreClaims(things: () => Collection<SampleDocument>): void {
  describe('claim', () => {
    it('set fields on the first matching document and return it', async () => {
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

    it('give each document to exactly one of 50 concurrent claims', async () => {
      for (let index = 0; index < 20; index += 1) await things().insert({ id: String(index), rank: 'free' });
      const claims = await Promise.all(
        Array.from({ length: 50 }, (_, index) => things().claim({ filter: { rank: 'free' } }, { rank: `by ${index}` })),
      );
      const claimed = claims.filter((thing) => thing !== undefined);
      expect(new Set(ids(claimed)).size).toBe(20);
      expect(claimed).toHaveLength(20);
      for (const [index, thing] of claims.entries()) {
        if (thing !== undefined) expect((await things().get(thing.id))?.rank).toBe(`by ${index}`);
      }
    });
  });
}
