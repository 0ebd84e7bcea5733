import { isLargerAsJsonThan } from './json-body.ts';

describe('the JSON size check', () => {
  const texts = [
    '{}',
    '[]',
    '[1]',
    '[1,[2,null],{}]',
    '{"a":true,"ü":"\\n€","b":{"c":[]}}',
    '"x"',
    '-1.5',
    'null',
    '{"__proto__":1}',
  ];

  it.each(texts)('counts the bytes of the serialized text: %s', (text) => {
    const value: unknown = JSON.parse(text);
    const size = Buffer.byteLength(text);
    expect([isLargerAsJsonThan(size - 1, value), isLargerAsJsonThan(size, value)]).toEqual([true, false]);
  });

  it('counts a value of any depth', () => {
    const depth = 100_000;
    let value: unknown = 1;
    for (let n = 0; n < depth; n += 1) value = n % 2 === 0 ? [value] : { a: value };
    const size = 1 + (depth / 2) * (2 + 6);
    expect([isLargerAsJsonThan(size - 1, value), isLargerAsJsonThan(size, value)]).toEqual([true, false]);
  });
});
