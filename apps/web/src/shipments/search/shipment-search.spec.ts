import { dayLabel, endOf, isDay, isoDay, readShipmentSearch, startOf } from './shipment-search.ts';

describe('shipment search', () => {
  describe('what an address says of a list of shipments', () => {
    it('is read', () => {
      const search = { q: 'PO-1', status: 'booked,in_transit', mode: 'ocean', has_open_exceptions: true, sort: '-eta' };
      expect(readShipmentSearch(search)).toEqual(search);
    });

    it('may be an Incoterm in any case', () => {
      expect(readShipmentSearch({ incoterm: 'fob', house_bill: ' HB 1' })).toEqual({
        incoterm: 'FOB',
        house_bill: 'HB 1',
      });
    });

    it('may be a number', () => {
      expect(readShipmentSearch({ q: 4711 })).toEqual({ q: '4711' });
    });

    it.each([
      ['a status that is none', { status: 'lost' }],
      ['a mode that is none', { mode: 'balloon' }],
      ['an Incoterm that is none', { incoterm: 'XYZ' }],
      ['an order that is none', { sort: 'colour' }],
      ['nothing', { q: '', origin_port: '' }],
      ['something else', { has_open_exceptions: 'perhaps', page: 3 }],
    ])('counts for nothing where it is %s', (_what, raw) => {
      expect(readShipmentSearch(raw)).toEqual({});
    });

    it('keeps what is right of several statuses', () => {
      expect(readShipmentSearch({ status: 'booked,lost' })).toEqual({ status: 'booked' });
    });
  });
});

describe('day', () => {
  const NOW = new Date(2026, 11, 30, 17, 45);

  it.each(['today', 'today+7', 'today-30', '2026-12-01'])('takes %s for a day', (text) => {
    expect(isDay(text)).toBe(true);
  });

  it.each(['', 'tomorrow', 'today+', 'today+7000', '2026-02-30', '2026-13-01', '1 December'])(
    'takes “%s” for none',
    (text) => {
      expect(isDay(text)).toBe(false);
    },
  );

  it.each([
    ['today', new Date(2026, 11, 30), new Date(2026, 11, 30, 23, 59, 59, 999)],
    ['today+3', new Date(2027, 0, 2), new Date(2027, 0, 2, 23, 59, 59, 999)],
    ['today-30', new Date(2026, 10, 30), new Date(2026, 10, 30, 23, 59, 59, 999)],
    ['2026-03-29', new Date(2026, 2, 29), new Date(2026, 2, 29, 23, 59, 59, 999)],
  ])('counts %s in the calendar of the reader', (day, start, end) => {
    expect(startOf(day, NOW)).toEqual(start);
    expect(endOf(day, NOW)).toEqual(end);
  });

  it('gives fields for dates the day that counting leads to', () => {
    expect([isoDay('today+3', NOW), isoDay('2026-03-09', NOW)]).toEqual(['2027-01-02', '2026-03-09']);
  });

  it('takes a year below 100 for that year', () => {
    expect(isoDay('0026-12-15', NOW)).toBe('0026-12-15');
    expect(endOf('0026-12-31', NOW).getFullYear()).toBe(26);
  });

  it('says days as people do', () => {
    expect(['today', 'today+1', 'today-1', 'today+7', 'today-7'].map(dayLabel)).toEqual([
      'today',
      'tomorrow',
      'yesterday',
      'in 7 days',
      '7 days ago',
    ]);
  });
});
