import fc from 'fast-check';

/** Texts that often cause errors. */
const TROUBLESOME_TEXTS = [
  '',
  ' ',
  '\t\n',
  '\0',
  'A\0B',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\u202eabc',
  'e\u0301',
  'İ',
  'ß',
  'ﬁ',
  '👩‍👩‍👧‍👦',
  '\ud83d',
  '\ude00\ud83d',
  'контейнер',
  '上海港',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e999',
  "'; DROP TABLE events; --",
  '../../etc/passwd',
  '%00',
  '%',
  '${7*7}',
  '$where',
  '{"$gt":""}',
  '<script>alert(1)</script>',
  '"quoted", comma',
  'a\r\nSet-Cookie: a=b',
  '2026-02-30T00:00:00Z',
  '0000-00-00',
  '*',
] as const;

/** Text of arbitrary 16-bit code units, including halves of surrogate pairs. */
const codeUnitTextArbitrary = fc.string({
  unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
  maxLength: 20,
});
const longTextArbitrary = fc.tuple(
  fc.constantFrom('x', 'é', '\u2028', '😀', '"', '\\'),
  fc.constantFrom(255, 256, 999, 1_000, 1_001, 20_000),
);

/** Text of every kind, usually short. */
export const textArbitrary: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<string>(...TROUBLESOME_TEXTS) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 2, arbitrary: codeUnitTextArbitrary },
  { weight: 2, arbitrary: fc.string() },
  { weight: 1, arbitrary: longTextArbitrary.map(([unit, times]) => unit.repeat(times)) },
);

const numberArbitrary = fc.oneof(
  fc.constantFrom(0, -0, -1, 1.5, 255, 256, 2 ** 31, 2 ** 53, -(2 ** 63), 1e21, 1e308, 5e-324),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);

/** Nested arrays or objects, deeper than any request needs. */
const deeplyNestedValueArbitrary = fc.tuple(fc.constantFrom(20, 200, 2_000), fc.boolean()).map(([depth, isArray]) => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = isArray ? [value] : { a: value };
  return value;
});

/** Any value that JSON can represent. */
export const valueArbitrary: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, true, false, [], {}),
    textArbitrary,
    numberArbitrary,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(textArbitrary, tie('value'), { maxKeys: 3 }),
    deeplyNestedValueArbitrary,
  ),
})).value;
