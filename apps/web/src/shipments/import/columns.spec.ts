import {
  guessDayOrder,
  guessMapping,
  parseImportedTimeCell,
  listShipmentPartsReplacedByImport,
  indexMappingByHeader,
  mapColumnToField,
} from './columns.ts';

describe('columns', () => {
  describe('columns of a file', () => {
    it('are guessed from their headers in any spelling', () => {
      expect(guessMapping(['PO Number', 'P.O.L.', 'pod', 'Container No.', 'Colour'], {})).toEqual([
        'external_id',
        'origin_port',
        'destination_port',
        'container_numbers',
        null,
      ]);
    });

    it('are mapped as in the last file, including ignored columns', () => {
      const remembered = indexMappingByHeader(['Colour', 'POL'], ['metadata', null]);
      expect(guessMapping(['colour', 'P O L'], remembered)).toEqual(['metadata', null]);
    });

    it('report the parts of a shipment that an import replaces as a whole', () => {
      expect(listShipmentPartsReplacedByImport(['external_id', 'mode', null])).toEqual([]);
      expect(listShipmentPartsReplacedByImport(['external_id', 'voyage', 'metadata', 'vessel'])).toEqual([
        'legs',
        'custom fields',
      ]);
    });

    it('map each field once, except fields that allow several columns', () => {
      expect(guessMapping(['Reference', 'Order', 'Container', 'ULD'], {})).toEqual([
        'external_id',
        null,
        'container_numbers',
        'container_numbers',
      ]);
      expect(mapColumnToField(['external_id', null], 1, 'external_id')).toEqual([null, 'external_id']);
      expect(mapColumnToField(['metadata', null], 1, 'metadata')).toEqual(['metadata', 'metadata']);
    });
  });
});

describe('dates', () => {
  describe('times in a file', () => {
    it.each([
      ['2026-12-24', 'day-first', 'UTC', '2026-12-24'],
      ['2026-12-24', 'day-first', undefined, '2026-12-24'],
      ['2026-12-24 00:00', 'day-first', 'UTC', '2026-12-24T00:00:00.000Z'],
      ['2026-12-24 Z', 'day-first', undefined, '2026-12-24T00:00:00.000Z'],
      ['2026-12-24 18:30', 'day-first', 'Asia/Shanghai', '2026-12-24T10:30:00.000Z'],
      ['2026-12-24T18:30:00Z', 'day-first', 'Asia/Shanghai', '2026-12-24T18:30:00.000Z'],
      ['2026-12-24T18:30+0100', 'day-first', undefined, '2026-12-24T17:30:00.000Z'],
      ['4/3/2027 7:05', 'day-first', 'UTC', '2027-03-04T07:05:00.000Z'],
      ['04.03.2027', 'month-first', 'UTC', '2027-04-03'],
    ] as const)('parses %s, %s, in the zone %s as %s', (text, order, zone, instant) => {
      expect(parseImportedTimeCell(text, order, zone)).toBe(instant);
    });

    it.each([
      ['tomorrow', 'UTC', 'is not a date'],
      ['2027-02-30', 'UTC', 'is not a valid date'],
      ['2027-02-03 25:00', 'UTC', 'is not a valid date'],
      ['2027-02-03 10:00', undefined, 'the time zone of the port is unknown'],
    ])('rejects %s in the zone %s', (text, zone, message) => {
      expect(() => parseImportedTimeCell(text, 'day-first', zone)).toThrow(message);
    });

    it('guesses the order of day and month from numbers above 12', () => {
      expect(guessDayOrder(['03/04/2027', '12/24/2026'])).toBe('month-first');
      expect(guessDayOrder(['03/04/2027', 'PO-1'])).toBe('day-first');
    });
  });
});
