import { shipmentRecord } from '../../test/shipment-events.ts';
import { toConditions, matchesConditions } from './list-conditions.ts';
import { wordsOf } from './shipment-terms.ts';

describe('what is told by the record alone', () => {
  // Stores compare UTF-8, where U+FA11 comes before U+1D400; units of UTF-16 come the other way round.
  it.each([
    ['ma', 'Maersk Honam', true],
    ['honam', 'Maersk Honam', true],
    ['ona', 'Maersk Honam', false],
    ['崎', '崎\ufa11', true],
    ['崎\ufa11', '崎', false],
    ['a', 'a\ufe20', true],
    ['a', 'a\u{20000}', true],
  ])('is that %s begins a word of %s: %s', (q, name, begins) => {
    const record = shipmentRecord(1, { shipper: { name, external_id: null } });
    expect(matchesConditions(record, toConditions({ words: wordsOf(q) }))).toBe(begins);
  });
});
