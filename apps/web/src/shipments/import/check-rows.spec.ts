import { type ImportParsingOptions, convertRowsToShipments } from './check-rows.ts';
import type { Mapping } from './columns.ts';

const MAPPING: Mapping = [
  'external_id',
  'mode',
  'origin_port',
  'etd',
  'container_numbers',
  'vessel',
  'reference',
  'metadata',
];
const HEADERS = ['Ref', 'Mode', 'POL', 'ETD', 'Box', 'Ship', 'Purchase order', 'Cost centre'];
const READING: ImportParsingOptions = {
  mapping: MAPPING,
  dayOrder: 'day-first',
  zone: 'port',
  zoneOf: (port) => ({ CNSHA: 'Asia/Shanghai' })[port],
};

const check = (...rows: string[][]) =>
  convertRowsToShipments(
    { headers: HEADERS, rows: rows.map((row) => [...row, ...HEADERS.slice(row.length).map(() => '')]), firstRow: 2 },
    READING,
  );

describe('rows of a file', () => {
  it('become shipments, with empty cells ignored and times in the time zone of the port', () => {
    const { items, errors } = check(['A', 'Sea', 'cn sha', '2027-03-01 10:30', '', 'Honam', 'PO-9', '4711'], ['B']);
    expect(errors).toEqual([]);
    expect(items).toEqual([
      {
        rows: [2],
        body: {
          external_id: 'A',
          mode: 'ocean',
          origin_port: 'CNSHA',
          etd: '2027-03-01T02:30:00.000Z',
          references: [{ type: 'purchase_order', value: 'PO-9' }],
          metadata: { 'Cost centre': '4711' },
          legs: [{ mode: 'ocean', origin_port: 'CNSHA', etd: '2027-03-01T02:30:00.000Z', vessel: 'Honam' }],
        },
      },
      { rows: [3], body: { external_id: 'B' } },
    ]);
  });

  it('accept an Incoterm in any case, and report an unknown Incoterm with the valid ones', () => {
    const sheet = {
      headers: ['Ref', 'Incoterms'],
      rows: [
        ['A', 'fob'],
        ['B', 'CFX'],
      ],
      firstRow: 2,
    };
    const { items, errors } = convertRowsToShipments(sheet, { ...READING, mapping: ['external_id', 'incoterm'] });
    expect(items).toEqual([{ rows: [2], body: { external_id: 'A', incoterm: 'FOB' } }]);
    expect(errors).toEqual([
      {
        row: 3,
        column: 'Incoterms',
        value: 'CFX',
        message: expect.stringMatching(/^is not a valid incoterm. Use one of: EXW, FCA/),
      },
    ]);
  });

  it('with the same reference become one shipment with all containers', () => {
    const { items } = check(['A', 'ocean', '', '', 'CSQU3054383'], ['A', 'ocean', '', '', 'MSCU0000060; CSQU3054383']);
    expect(items).toEqual([
      { rows: [2, 3], body: { external_id: 'A', mode: 'ocean', container_numbers: ['CSQU3054383', 'MSCU0000060'] } },
    ]);
  });

  it('with the same reference but different fields are rejected', () => {
    const { items, errors } = check(['A', 'ocean'], ['A', 'air']);
    expect(items).toEqual([]);
    expect(errors).toMatchObject([
      { row: 3, message: expect.stringContaining('a different mode') },
      { row: 2, message: expect.stringContaining('row 3, which has errors') },
    ]);
  });

  it('of one shipment are all left out if one of them is invalid', () => {
    const { items, errors } = check(['A', 'boat'], ['A', 'ocean'], ['B', 'air']);
    expect(items.map(({ rows }) => rows)).toEqual([[4]]);
    expect(errors.map(({ row }) => row)).toEqual([2, 3]);
  });

  it('with errors are left out, with all their errors', () => {
    const { items, errors } = check(
      ['', 'balloon'],
      ['B', 'ocean', 'SHANG1', '2027-03-01'],
      ['C', 'ocean', 'NLRTM', '1-3-2027 10:00'],
    );
    expect(items).toEqual([]);
    expect(errors.map(({ row, column }) => `${row} ${column}`)).toEqual(['2 ', '2 Mode', '3 POL', '4 ETD']);
  });

  it('keep dates without a time, which are whole days at the port', () => {
    const { items, errors } = check(['C', 'ocean', 'NLRTM', '1-3-2027']);
    expect(errors).toEqual([]);
    expect(items.map(({ body }) => body.etd)).toEqual(['2027-03-01']);
  });

  it('keep dates of the ETA, also of the leg', () => {
    const sheet = {
      headers: ['Ref', 'POD', 'ETA', 'Ship'],
      rows: [['A', 'NLRTM', '1-3-2027', 'Honam']],
      firstRow: 2,
    };
    const mapping: Mapping = ['external_id', 'destination_port', 'eta', 'vessel'];
    const { items, errors } = convertRowsToShipments(sheet, { ...READING, mapping });
    expect(errors).toEqual([]);
    expect(items.map(({ body }) => body)).toMatchObject([{ eta: '2027-03-01', legs: [{ eta: '2027-03-01' }] }]);
  });

  it('keep their row numbers despite empty lines', () => {
    const { items, errors } = check(['A'], [], ['B', 'balloon']);
    expect(items.map(({ rows }) => rows)).toEqual([[2]]);
    expect(errors.map(({ row, column }) => `${row} ${column}`)).toEqual(['4 Mode']);
  });

  it('with more cells than columns are rejected', () => {
    const { items, errors } = check(['A', 'ocean', '', '', '', 'Honam', '', 'Acme', 'Ltd'], ['B']);
    expect(items.map(({ rows }) => rows)).toEqual([[3]]);
    expect(errors).toMatchObject([{ row: 2, column: '', message: expect.stringContaining('9 cells for 8 columns') }]);
  });

  it('have metadata of any name', () => {
    const sheet = { headers: ['Ref', '__proto__'], rows: [['A', '4711']], firstRow: 2 };
    const [item] = convertRowsToShipments(sheet, { ...READING, mapping: ['external_id', 'metadata'] }).items;
    expect(JSON.stringify(item?.body)).toBe('{"external_id":"A","metadata":{"__proto__":"4711"}}');
  });

  it('need a well-formed container number, but not a valid check digit', () => {
    const { errors } = check(['A', '', '', '', 'CSQU3054384'], ['B', '', '', '', 'BOX 1']);
    expect(errors).toEqual([{ row: 3, column: 'Box', value: 'BOX1', message: 'is not a valid container number' }]);
  });
});
