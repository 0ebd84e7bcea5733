import { createSampleShipmentRecord } from '../../test/shipment-events.ts';
import { toRowFilter, matchesListConditions } from './list-conditions.ts';
import { splitIntoWords } from './shipment-terms.ts';

describe('conditions evaluated on the record alone', () => {
  // Stores compare UTF-8, in which U+FA11 precedes U+1D400. UTF-16 units compare in reverse.
  it.each([
    ['ma', 'Maersk Honam', true],
    ['honam', 'Maersk Honam', true],
    ['ona', 'Maersk Honam', false],
    ['崎', '崎\ufa11', true],
    ['崎\ufa11', '崎', false],
    ['a', 'a\ufe20', true],
    ['a', 'a\u{20000}', true],
  ])('%s begins a word of %s: %s', (q, name, begins) => {
    const record = createSampleShipmentRecord(1, { shipper: { name, external_id: null } });
    expect(matchesListConditions(record, toRowFilter({ words: splitIntoWords(q) }))).toBe(begins);
  });
});
