import type { Shipment } from '@tracking/client';
import { type ShipmentUpdates, addChangedShipments } from '../../live/live-updates.ts';
import { buildShipmentForTest } from '../build-shipment.ts';
import type { ListQuery } from '../search/shipment-search.ts';
import {
  findShipmentListUpdates,
  doesShipmentMatchFilters,
  formatListUpdates,
  isSortedBefore,
} from './list-updates.ts';

describe('list news', () => {
  const READ_AT = 10_000;
  const NONE: ShipmentUpdates = { shipments: new Map(), missed: false };
  const rows = [
    buildShipmentForTest({ id: 'b', created_at: '2026-11-02T00:00:00.000Z', status: 'booked' }),
    buildShipmentForTest({ id: 'a', created_at: '2026-11-01T00:00:00.000Z' }),
  ];
  const list = { rows, more: false, readAt: READ_AT, query: {} };
  const told = (...shipments: Shipment[]) => addChangedShipments(NONE, shipments, READ_AT + 1);
  const created = (id: string, created_at: string) => buildShipmentForTest({ id, created_at });

  it('counts shipments that a refresh would add', () => {
    const news = findShipmentListUpdates(
      list,
      told(created('c', '2026-11-03T00:00:00.000Z'), buildShipmentForTest({ id: 'a', version: 2 })),
    );
    expect(news.fresh).toBe(1);
    expect(formatListUpdates(news)).toBe('1 new');
  });

  it('ignores shipments that do not match or that come after the loaded rows', () => {
    const early = created('z', '2026-10-01T00:00:00.000Z');
    const late = created('c', '2026-11-03T00:00:00.000Z');
    expect(findShipmentListUpdates({ ...list, query: { mode: ['air'] } }, told(late)).fresh).toBe(0);
    expect(findShipmentListUpdates({ ...list, more: true }, told(early, late)).fresh).toBe(1);
    expect(findShipmentListUpdates(list, told(early)).fresh).toBe(1);
  });

  it('ignores events from long before the list was read', () => {
    expect(
      findShipmentListUpdates(
        list,
        addChangedShipments(NONE, [created('c', '2026-11-03T00:00:00.000Z')], READ_AT - 5_000),
      ).fresh,
    ).toBe(0);
  });

  it('lists loaded shipments that have changed and no longer match', () => {
    const pending = { ...list, query: { status: ['pending'] as const } };
    const news = findShipmentListUpdates(
      pending,
      told(buildShipmentForTest({ id: 'b', version: 2, status: 'booked' })),
    );
    expect([...news.gone]).toEqual(['b']);
    expect(formatListUpdates(news)).toBe('1 no longer matches');
  });

  it('reports that changes may be missing', () => {
    expect(formatListUpdates(findShipmentListUpdates(list, { ...NONE, missed: true }))).toBe('connection was lost');
    expect(formatListUpdates(findShipmentListUpdates(list, NONE))).toBeUndefined();
  });
});

describe('matches', () => {
  const shipment = buildShipmentForTest({
    external_id: 'PO-88213',
    status: 'in_transit',
    mode: 'ocean',
    incoterm: 'FOB',
    carrier_scac: 'MAEU',
    origin_port: 'CNSHA',
    eta: '2026-12-01T12:00:00.000Z',
    container_numbers: ['CSQU3054383'],
    references: [{ type: 'invoice', value: 'INV 7' }],
    shipper: { name: 'Nordwind Möbel', external_id: 'C-1' },
    open_exceptions_count: 2,
  });

  const MATCHING: readonly ListQuery[] = [
    {},
    { status: ['booked', 'in_transit'], active: true, mode: ['air', 'ocean'] },
    { mode: ['ocean'], incoterm: ['CIF', 'FOB'] },
    { has_open_exceptions: true },
    { carrier_scac: 'maeu', origin_port: 'CNSHA' },
    { container_number: 'csqu3054383' },
    { reference: 'INV 7', shipper: 'C-1', external_id: 'PO-88213' },
    { eta_from: '2026-12-01T00:00:00.000Z', eta_to: '2026-12-01T23:59:59.999Z' },
    { created_from: '2026-11-01T00:00:00.000Z', updated_since: '2026-11-01T00:00:00.000Z' },
    { q: 'po 882 nord' },
    { q: 'MÖB' },
  ];
  it.each(MATCHING)('matches the filters %j', (query) => {
    expect(doesShipmentMatchFilters(shipment, query)).toBe(true);
  });

  const OTHERS: readonly ListQuery[] = [
    { status: ['booked'] },
    { active: false },
    { has_open_exceptions: false },
    { mode: ['air', 'road'] },
    { incoterm: ['CIF'] },
    { origin_port: 'NLRTM' },
    { destination_port: 'NLRTM' },
    { consignee: 'C-1' },
    { house_bill: 'PO-88213' },
    { eta_from: '2026-12-02T00:00:00.000Z' },
    { created_to: '2026-10-01T00:00:00.000Z' },
    { updated_since: '2026-11-02T00:00:00.000Z' },
    { q: 'wind' },
    { q: 'nordwind air' },
  ];
  it.each(OTHERS)('does not match the filters %j', (query) => {
    expect(doesShipmentMatchFilters(shipment, query)).toBe(false);
  });

  it('matches no range of days if it has no ETA', () => {
    expect(doesShipmentMatchFilters(buildShipmentForTest(), { eta_to: '2026-12-01T00:00:00.000Z' })).toBe(false);
  });

  it.each([
    ['-created_at', { created_at: '2026-11-02T00:00:00.000Z' }, { created_at: '2026-11-01T00:00:00.000Z' }],
    ['updated_at', { updated_at: '2026-11-01T00:00:00.000Z' }, { updated_at: '2026-11-02T00:00:00.000Z' }],
    ['eta', { eta: '2026-11-01T00:00:00.000Z' }, { eta: null }],
    ['-eta', { eta: '2026-11-01T00:00:00.000Z' }, { eta: null }],
  ] as const)('is sorted by %s', (sort, first: Partial<Shipment>, second: Partial<Shipment>) => {
    const [one, other] = [buildShipmentForTest(first), buildShipmentForTest(second)];
    expect([isSortedBefore(one, other, sort), isSortedBefore(other, one, sort)]).toEqual([true, false]);
  });
});
