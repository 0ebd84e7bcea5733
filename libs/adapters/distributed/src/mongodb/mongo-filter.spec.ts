import type { CollectionSpec } from '@tracking/ports';
import {
  fromStoredDocument,
  createFilterByIdAndGuard,
  toMongoFilter,
  toMongoQuery,
  toMongoSort,
  encodeFieldValuesForMongo,
  toStoredDocument,
} from './mongo-filter.ts';

const spec: CollectionSpec = {
  name: 'things',
  indexes: [
    { name: 'by_owner', fields: ['owner', 'made_at', 'id'] },
    { name: 'by_word', fields: ['owner', 'words'], arrayField: 'words' },
  ],
};

describe('a filter', () => {
  it.each([
    ['a value', { owner: 'o' }, { owner: { $eq: 'o' } }],
    ['the id', { id: 'a' }, { _id: { $eq: 'a' } }],
    ['null, which is not absent', { owner: null }, { owner: { $eq: null, $exists: true } }],
    ['one of several', { owner: { in: ['o', null] } }, { owner: { $in: ['o', null], $exists: true } }],
    ['another value', { owner: { ne: 'o' } }, { owner: { $ne: 'o' } }],
    ['another than null, or absent', { owner: { ne: null } }, { owner: { $not: { $type: 'null' } } }],
    ['no bounds at all', { owner: {} }, {}],
    ['bounds of an indexed scalar', { made_at: { gte: 1, lt: 2 } }, { made_at: { $gte: 1, $lt: 2 } }],
    ['bounds of an element', { words: { gte: 'a', lt: 'b' } }, { words: { $elemMatch: { $gte: 'a', $lt: 'b' } } }],
    [
      'bounds of whatever it is',
      { note: { gte: 'a', lt: 'b' } },
      {
        $and: [
          {
            $or: [
              { note: { $elemMatch: { $gte: 'a', $lt: 'b' } } },
              { note: { $gte: 'a', $lt: 'b', $not: { $type: 'array' } } },
            ],
          },
        ],
      },
    ],
  ])('translates %s', (_title, filter, expected) => {
    expect(toMongoFilter(spec, filter)).toEqual(expected);
  });

  it.each(['$where', 'deep.rank', '', 'a b'])('refuses the field %j', (field) => {
    expect(() => toMongoFilter(spec, { [field]: 1 })).toThrow(TypeError);
  });

  it('used as a guard, selects one document', () => {
    expect(createFilterByIdAndGuard(spec, 'a', undefined)).toEqual({ _id: 'a' });
    expect(createFilterByIdAndGuard(spec, 'a', { owner: 'o' })).toEqual({ _id: 'a', owner: { $eq: 'o' } });
    expect(createFilterByIdAndGuard(spec, 'a', { id: 'b' })).toEqual({ $and: [{ _id: 'a' }, { _id: { $eq: 'b' } }] });
  });
});

it('starts a page after the last row of the previous one', () => {
  const sort = { fields: ['made_at', 'id'], descending: true };
  expect(toMongoSort(sort)).toEqual([
    ['made_at', -1],
    ['_id', -1],
  ]);
  expect(toMongoQuery(spec, { filter: { owner: 'o' }, sort, after: [7, 'a'] })).toEqual({
    $and: [
      { owner: { $eq: 'o' } },
      { made_at: { $lte: 7 } },
      { $or: [{ made_at: { $lt: 7 } }, { made_at: 7, _id: { $lt: 'a' } }] },
    ],
  });
});

describe('a stored document', () => {
  it('has its id in MongoDB’s field, and its other fields unchanged', () => {
    const document = { id: 'a', owner: 'o', words: ['x', null], deep: { rank: 1, also: [null, {}] } };
    expect(toStoredDocument(document)).toEqual({
      _id: 'a',
      owner: 'o',
      words: ['x', null],
      deep: { rank: 1, also: [null, {}] },
    });
    expect(fromStoredDocument(toStoredDocument(document))).toEqual(document);
  });

  it.each(['$ref', '_bsontype', '_json', '__proto__', 'a.b', 'nul\0'])('escapes and restores the key %j', (key) => {
    const metadata = JSON.parse(`{"before": 1, ${JSON.stringify(key)}: "ObjectId"}`) as object;
    const document = { id: 'a', metadata, list: [{ inner: metadata }, 'x'] };
    const stored = toStoredDocument(document);
    expect(JSON.stringify(Object.keys(stored.metadata as object))).toBe('["_json"]');
    expect(JSON.stringify(fromStoredDocument(stored))).toBe(JSON.stringify(document));
  });

  it('has null for numbers that JSON lacks', () => {
    expect(encodeFieldValuesForMongo({ rank: NaN, words: [Infinity] })).toEqual({ rank: null, words: [null] });
  });
});
