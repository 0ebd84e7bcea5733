import { RecordMilestoneDto } from '../milestones/record-milestone.dto.ts';
import { ListShipmentsDto } from '../shipments/list-shipments.dto.ts';
import { UpsertShipmentDto } from '../shipments/upsert-shipment.dto.ts';
import { readDto } from './read-dto.ts';
import type { DtoClass } from './read-dto.ts';

const faults = (dto: DtoClass, input: unknown, strict = false): string[] =>
  readDto(dto, input, strict).faults.map(({ param, code }) => `${param} ${code}`);

describe('readDto', () => {
  it('takes what is declared and leaves the rest, whatever its name', () => {
    const input = JSON.parse('{"mode":"air","__proto__":{"house_bill":"X"},"constructor":1,"toString":"y","extra":[]}');
    const { value, faults } = readDto(UpsertShipmentDto, input, false);
    expect(faults).toEqual([]);
    expect(JSON.parse(JSON.stringify(value))).toEqual({ mode: 'air' });
    expect(value.house_bill).toBeUndefined();
  });

  it('takes null for every field that is not required, and absence', () => {
    const nulls = Object.fromEntries(Object.keys(new UpsertShipmentDto()).map((name) => [name, null]));
    expect(faults(UpsertShipmentDto, nulls)).toEqual([]);
    expect(faults(UpsertShipmentDto, {})).toEqual([]);
  });

  it('names every fault at once, each under its own path', () => {
    const input = {
      external_id: 7,
      mode: 'rocket',
      house_bill: '  ',
      container_numbers: ['CSQU3054383', 5, null, 'x'.repeat(1_001)],
      etd: '2026-02-30T00:00:00Z',
      shipper: { name: ['a'], external_id: '\ud800' },
      consignee: [],
      references: [{ type: 'po' }, 'PO-1', { type: 'a\0b', value: 'v' }],
      metadata: { ok: '', number: 5, '': 'x' },
      legs: [{ etd: 'soon', vessel: {} }, null, { mode: 'sea' }],
    };
    expect(faults(UpsertShipmentDto, input)).toEqual([
      'external_id invalid_type',
      'mode invalid_value',
      'house_bill invalid_value',
      'container_numbers[1] invalid_type',
      'container_numbers[2] invalid_type',
      'container_numbers[3] too_long',
      'shipper.name invalid_type',
      'shipper.external_id invalid_value',
      'consignee invalid_type',
      'references[0].value required',
      'references[1] invalid_type',
      'references[2].type invalid_value',
      'metadata.number invalid_type',
      'metadata invalid_value',
      'legs[0].vessel invalid_type',
      'legs[0].etd invalid_timestamp',
      'legs[1] invalid_type',
      'etd invalid_timestamp',
    ]);
  });

  it('asks for what is required, also where it is null', () => {
    expect(faults(RecordMilestoneDto, {})).toEqual(['code required', 'occurred_at required']);
    expect(faults(RecordMilestoneDto, { code: null, occurred_at: null })).toEqual([
      'code required',
      'occurred_at required',
    ]);
  });

  it('counts characters, not code units', () => {
    expect(faults(UpsertShipmentDto, { house_bill: '🚢'.repeat(1_000) })).toEqual([]);
    expect(faults(UpsertShipmentDto, { house_bill: '🚢'.repeat(1_001) })).toEqual(['house_bill too_long']);
  });

  it('does not look into lists and maps that are too long', () => {
    const many = Array.from({ length: 100_000 }, () => 5);
    expect(faults(UpsertShipmentDto, { container_numbers: many, references: many, legs: many })).toEqual([
      'container_numbers limit_exceeded',
      'references limit_exceeded',
      'legs limit_exceeded',
    ]);
    expect(faults(UpsertShipmentDto, { metadata: Object.fromEntries(many.map((_, i) => [i, 5])) })).toEqual([
      'metadata limit_exceeded',
    ]);
  });

  it('refuses unknown fields when strict, also inside objects and lists', () => {
    const input = { mode: 'air', colour: 'red', shipper: { name: 'a', vat: 'b' }, legs: [{}, { flag: 'NL' }] };
    expect(faults(UpsertShipmentDto, input)).toEqual([]);
    expect(faults(UpsertShipmentDto, input, true)).toEqual([
      'colour unknown_field',
      'shipper.vat unknown_field',
      'legs[1].flag unknown_field',
    ]);
  });

  it('reports a bounded number of unknown fields', () => {
    const input = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, 1]));
    expect(faults(UpsertShipmentDto, input, true)).toHaveLength(100);
  });

  it('survives what nests deeper than any stack', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const input = JSON.parse(`{"unknown":${deep},"legs":[{"unknown":${deep}}],"metadata":{"a":${deep}}}`);
    expect(faults(UpsertShipmentDto, input, true)).toEqual([
      'metadata.a invalid_type',
      'unknown unknown_field',
      'legs[0].unknown unknown_field',
    ]);
  });

  it.each([null, undefined, [], 'text', 5, true])('refuses %j as a body', (input) => {
    expect(() => readDto(UpsertShipmentDto, input, false)).toThrow(
      expect.objectContaining({ code: 'validation_failed', message: 'The body must be a JSON object.' }),
    );
  });

  it('checks a query', () => {
    expect(faults(ListShipmentsDto, { status: 'pending,in_transit', limit: '200' })).toEqual([]);
    expect(faults(ListShipmentsDto, { status: ['pending', 'booked'], limit: '0' })).toEqual([
      'status invalid_type',
      'limit invalid_value',
    ]);
    for (const limit of ['201', '-1', '1e2', '5.0', ' 5', '', 'ten', '99999999999999999999', '0x10', '٥']) {
      expect(faults(ListShipmentsDto, { limit })).toEqual(['limit invalid_value']);
    }
    for (const status of ['', 'pending,', 'PENDING', 'in transit', 'unknown']) {
      expect(faults(ListShipmentsDto, { status })).toEqual(['status invalid_value']);
    }
  });
});
