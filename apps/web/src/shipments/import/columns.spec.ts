import { guessMapping, replacedWhole, toRemember, withTarget } from './columns.ts';

describe('columns of a file', () => {
  it('are guessed by their headers, however those are written', () => {
    expect(guessMapping(['PO Number', 'P.O.L.', 'pod', 'Container No.', 'Colour'], {})).toEqual([
      'external_id',
      'origin_port',
      'destination_port',
      'container_numbers',
      null,
    ]);
  });

  it('are what they were the last time, also where they were left out', () => {
    const remembered = toRemember(['Colour', 'POL'], ['metadata', null]);
    expect(guessMapping(['colour', 'P O L'], remembered)).toEqual(['metadata', null]);
  });

  it('tell what of a shipment they say whole', () => {
    expect(replacedWhole(['external_id', 'mode', null])).toEqual([]);
    expect(replacedWhole(['external_id', 'voyage', 'metadata', 'vessel'])).toEqual(['legs', 'own data']);
  });

  it('are one thing once, but for what may be there several times', () => {
    expect(guessMapping(['Reference', 'Order', 'Container', 'ULD'], {})).toEqual([
      'external_id',
      null,
      'container_numbers',
      'container_numbers',
    ]);
    expect(withTarget(['external_id', null], 1, 'external_id')).toEqual([null, 'external_id']);
    expect(withTarget(['metadata', null], 1, 'metadata')).toEqual(['metadata', 'metadata']);
  });
});
