import { toMongoIndex } from './mongo-indexes.ts';

it('excludes documents without a field from a unique index', () => {
  expect(toMongoIndex({ name: 'by_id', fields: ['id'] })).toBeUndefined();
  expect(toMongoIndex({ name: 'by_a', fields: ['a', 'id'] })).toEqual({ name: 'by_a', key: { a: 1, _id: 1 } });
  expect(toMongoIndex({ name: 'by_b', fields: ['a', 'b'], arrayField: 'b', unique: true })).toEqual({
    name: 'by_b',
    key: { a: 1, b: 1 },
    unique: true,
    partialFilterExpression: { a: { $exists: true }, 'b.0': { $exists: true } },
  });
});
