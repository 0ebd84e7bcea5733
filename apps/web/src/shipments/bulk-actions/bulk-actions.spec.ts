import { buildShipmentForTest } from '../build-shipment.ts';
import {
  NO_SELECTED_SHIPMENTS,
  listSelectedShipments,
  toggleShipment,
  selectRowRange,
  deselectShipments,
} from '../rows/selection.ts';
import { CSV_EXPORT_HEADER, buildShipmentCsvCells } from './export-csv.ts';

const rows = ['a', 'b', 'c', 'd'].map((id) => buildShipmentForTest({ id }));

describe('a selection', () => {
  it('adds and removes a shipment', () => {
    expect([...toggleShipment(NO_SELECTED_SHIPMENTS, 'a')]).toEqual(['a']);
    expect([...toggleShipment(new Set(['a', 'b']), 'a')]).toEqual(['b']);
  });

  it('adds the rows between two positions, in either direction', () => {
    expect([...selectRowRange(new Set(['d']), rows, 2, 1)]).toEqual(['d', 'b', 'c']);
  });

  it('removes only the given shipments', () => {
    expect([
      ...deselectShipments(new Set(['a', 'c', 'd']), [
        buildShipmentForTest({ id: 'a' }),
        buildShipmentForTest({ id: 'b' }),
      ]),
    ]).toEqual(['c', 'd']);
  });

  it('contains only shipments that the list contains', () => {
    expect(listSelectedShipments(new Set(['b', 'gone']), rows)).toEqual([rows[1]]);
  });
});

it('writes a shipment as a CSV row', () => {
  const shipment = buildShipmentForTest({
    mode: 'ocean',
    incoterm: 'FOB',
    container_numbers: ['CSQU3054383', 'MSKU1234565'],
    references: [{ type: 'po', value: '7' }],
  });
  const row = Object.fromEntries(
    buildShipmentCsvCells(shipment).map((cell, index) => [CSV_EXPORT_HEADER[index], cell]),
  );
  expect(row).toMatchObject({
    id: 'shp_1',
    external_id: 'PO-1',
    mode: 'ocean',
    incoterm: 'FOB',
    eta: '',
    container_numbers: 'CSQU3054383 MSKU1234565',
    references: 'po:7',
    open_exceptions_count: '0',
  });
});
