import {
  buildShipmentListQuery,
  formatDay,
  getEndOfDay,
  isValidDay,
  toIsoDate,
  readShipmentUrlParameters,
  startOfDay,
} from './shipment-search.ts';

describe('shipment search', () => {
  describe('an address of a list', () => {
    it('is parsed to a search', () => {
      const search = { q: 'PO-1', status: 'booked,in_transit', mode: 'ocean', has_open_exceptions: true, sort: '-eta' };
      expect(readShipmentUrlParameters(search)).toEqual(search);
    });

    it('accepts an Incoterm in any case', () => {
      expect(readShipmentUrlParameters({ incoterm: 'fob', house_bill: ' HB 1' })).toEqual({
        incoterm: 'FOB',
        house_bill: 'HB 1',
      });
    });

    it('accepts a number', () => {
      expect(readShipmentUrlParameters({ q: 4711 })).toEqual({ q: '4711' });
    });

    it.each([
      ['a status that is none', { status: 'lost' }],
      ['a mode that is none', { mode: 'balloon' }],
      ['an Incoterm that is none', { incoterm: 'XYZ' }],
      ['an order that is none', { sort: 'colour' }],
      ['nothing', { q: '', origin_port: '' }],
      ['something else', { has_open_exceptions: 'perhaps', page: 3 }],
    ])('ignores %s', (_what, raw) => {
      expect(readShipmentUrlParameters(raw)).toEqual({});
    });

    it('keeps the valid values of several', () => {
      expect(
        readShipmentUrlParameters({ status: 'booked,lost', mode: 'air,balloon,ocean,air', incoterm: 'fob,XYZ,cif' }),
      ).toEqual({ status: 'booked', mode: 'air,ocean', incoterm: 'FOB,CIF' });
    });

    it('becomes lists of values in the request', () => {
      const search = { status: 'booked', mode: 'air,ocean', incoterm: 'FOB' };
      expect(buildShipmentListQuery(search, new Date())).toEqual({
        status: ['booked'],
        mode: ['air', 'ocean'],
        incoterm: ['FOB'],
      });
    });
  });
});

describe('days', () => {
  const NOW = new Date(2026, 11, 30, 17, 45);

  it.each(['today', 'today+7', 'today-30', '2026-12-01'])('accepts %s as a day', (text) => {
    expect(isValidDay(text)).toBe(true);
  });

  it.each(['', 'tomorrow', 'today+', 'today+7000', '2026-02-30', '2026-13-01', '1 December'])(
    'does not accept “%s” as a day',
    (text) => {
      expect(isValidDay(text)).toBe(false);
    },
  );

  it.each([
    ['today', new Date(2026, 11, 30), new Date(2026, 11, 30, 23, 59, 59, 999)],
    ['today+3', new Date(2027, 0, 2), new Date(2027, 0, 2, 23, 59, 59, 999)],
    ['today-30', new Date(2026, 10, 30), new Date(2026, 10, 30, 23, 59, 59, 999)],
    ['2026-03-29', new Date(2026, 2, 29), new Date(2026, 2, 29, 23, 59, 59, 999)],
  ])("converts %s to times in the user's time zone", (day, start, end) => {
    expect(startOfDay(day, NOW)).toEqual(start);
    expect(getEndOfDay(day, NOW)).toEqual(end);
  });

  it('formats relative days for date fields', () => {
    expect([toIsoDate('today+3', NOW), toIsoDate('2026-03-09', NOW)]).toEqual(['2027-01-02', '2026-03-09']);
  });

  it('parses a year below 100 as this year', () => {
    expect(toIsoDate('0026-12-15', NOW)).toBe('0026-12-15');
    expect(getEndOfDay('0026-12-31', NOW).getFullYear()).toBe(26);
  });

  it('formats days for display', () => {
    expect(['today', 'today+1', 'today-1', 'today+7', 'today-7'].map(formatDay)).toEqual([
      'today',
      'tomorrow',
      'yesterday',
      'in 7 days',
      '7 days ago',
    ]);
  });
});
