import { fromStored, storedFields, toStored } from './mongo-document.ts';

describe('a stored document', () => {
  it('has its id where MongoDB has it, and its fields as they are', () => {
    const document = { id: 'a', owner: 'o', words: ['x', null], deep: { rank: 1, also: [null, {}] } };
    expect(toStored(document)).toEqual({
      _id: 'a',
      owner: 'o',
      words: ['x', null],
      deep: { rank: 1, also: [null, {}] },
    });
    expect(fromStored(toStored(document))).toEqual(document);
  });

  it.each(['$ref', '_bsontype', '_json', '__proto__', 'a.b', 'nul\0'])(
    'hides the key %j, and brings it back',
    (key) => {
      const metadata = JSON.parse(`{"before": 1, ${JSON.stringify(key)}: "ObjectId"}`) as object;
      const document = { id: 'a', metadata, list: [{ inner: metadata }, 'x'] };
      const stored = toStored(document);
      expect(JSON.stringify(Object.keys(stored.metadata as object))).toBe('["_json"]');
      expect(JSON.stringify(fromStored(stored))).toBe(JSON.stringify(document));
    },
  );

  it('has null for the numbers that JSON lacks', () => {
    expect(storedFields({ rank: NaN, words: [Infinity] })).toEqual({ rank: null, words: [null] });
  });
});
