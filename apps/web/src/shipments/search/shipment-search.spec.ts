import { readShipmentSearch } from './shipment-search.ts';

describe('what an address says of a list of shipments', () => {
  it('is read', () => {
    const search = { q: 'PO-1', status: 'booked,in_transit', mode: 'ocean', has_open_exceptions: true, sort: '-eta' };
    expect(readShipmentSearch(search)).toEqual(search);
  });

  it('may be a number', () => {
    expect(readShipmentSearch({ q: 4711 })).toEqual({ q: '4711' });
  });

  it.each([
    ['a status that is none', { status: 'lost' }],
    ['a mode that is none', { mode: 'balloon' }],
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
