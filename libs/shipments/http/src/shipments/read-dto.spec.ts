import { getFieldDeclarations, readAndValidateObject, findUnknownFields } from '@tracking/http';
import type { DtoClass } from '@tracking/http';
import { RecordMilestoneDto } from '../milestones/milestone.resource.ts';
import { ListShipmentsDto } from './shipment-filter.ts';
import { ShipmentWrittenResource, UpsertShipmentDto } from './shipment.resource.ts';

const faults = (dto: DtoClass, input: unknown): string[] =>
  readAndValidateObject(dto, input).faults.map(({ param, code }) => `${param} ${code}`);
const unknown = (input: unknown): string[] =>
  findUnknownFields(UpsertShipmentDto, ShipmentWrittenResource, input).map(({ param, code }) => `${param} ${code}`);

describe('readAndValidateObject', () => {
  it('reads declared fields and ignores others, whatever their name', () => {
    const input = JSON.parse('{"mode":"air","__proto__":{"house_bill":"X"},"constructor":1,"toString":"y","extra":[]}');
    const { value, faults } = readAndValidateObject(UpsertShipmentDto, input);
    expect(faults).toEqual([]);
    expect(JSON.parse(JSON.stringify(value))).toEqual({ mode: 'air' });
    expect(value.house_bill).toBeUndefined();
  });

  it('accepts null and absence for every optional field', () => {
    const nulls = Object.fromEntries([...getFieldDeclarations(UpsertShipmentDto).keys()].map((name) => [name, null]));
    expect(faults(UpsertShipmentDto, nulls)).toEqual([]);
    expect(faults(UpsertShipmentDto, {})).toEqual([]);
  });

  it('reports all faults together, each with its own path', () => {
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

  it('requires required fields, and refuses null for them', () => {
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

  it('does not read lists and maps that are too long', () => {
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

  it('finds unknown fields, also inside objects and lists, and distinguishes read-only ones', () => {
    const input = {
      mode: 'air',
      colour: 'red',
      status: 'delivered',
      shipper: { name: 'a', vat: 'b' },
      legs: [{}, { flag: 'NL', atd: '2026-11-21T09:30:00Z' }],
      warnings: [],
    };
    expect(faults(UpsertShipmentDto, input)).toEqual([]);
    expect(unknown(input)).toEqual([
      'colour unknown_field',
      'status read_only_field',
      'shipper.vat unknown_field',
      'legs[1].flag unknown_field',
      'legs[1].atd read_only_field',
      'warnings read_only_field',
    ]);
  });

  it('reports a bounded number of unknown fields', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, 1]));
    expect(unknown(many)).toHaveLength(100);
    expect(unknown({ legs: [many, many] })).toHaveLength(100);
    expect(unknown({ ['x'.repeat(100_000)]: 1 }).join().length).toBeLessThan(300);
  });

  it('accepts enumeration values in any case and by alias, and converts them to the canonical form', () => {
    const sent = { mode: 'Ocean', load_type: 'FCL', legs: [{ mode: 'SEA' }, 'none'] };
    expect(readAndValidateObject(UpsertShipmentDto, sent).value).toMatchObject({
      mode: 'ocean',
      load_type: 'fcl',
      legs: [{ mode: 'ocean' }, 'none'],
    });
    const milestone = { code: ' Vessel_Departed', source: 'MANUAL', classifier: 'Actual', reason_code: 'Weather' };
    expect(readAndValidateObject(RecordMilestoneDto, milestone).value).toMatchObject({
      code: 'vessel_departed',
      source: 'manual',
      classifier: 'actual',
      reason_code: 'weather',
    });
    expect(readAndValidateObject(ListShipmentsDto, { status: 'PENDING,In_Transit' }).value.status).toBe(
      'pending,in_transit',
    );
    // A similar letter of another alphabet is a different letter.
    expect(faults(UpsertShipmentDto, { mode: 'оcean' })).toEqual(['mode invalid_value']);
  });

  it.each([
    ['DEPA', 'Here DEPA is vessel_departed, rail_departed or transshipment_departed (DCSA Track & Trace).'],
    ['gtin', 'Here gtin is gated_in or empty_returned (DCSA Track & Trace).'],
    ['VD', 'Here VD is vessel_departed or transshipment_departed (X12 315).'],
    [
      'X4',
      'Here X4 is in_transit_checkpoint or arrived_at_destination (X12 315), or flight_arrived or arrived_at_destination (X12 214).',
    ],
    ['OA', 'Here OA is empty_picked_up or gated_out (X12 315), or gated_out (X12 214).'],
    ['AF', 'Here AF is picked_up (X12 315), or picked_up (X12 214).'],
  ])('explains which codes match %s of another standard', (code, meant) => {
    const { faults: found } = readAndValidateObject(RecordMilestoneDto, { code, occurred_at: '2026-01-01T00:00:00Z' });
    expect(found).toEqual([
      {
        param: 'code',
        code: 'unknown_code',
        message: `Must be a milestone code, see GET /v1/milestone_codes. ${meant}`,
      },
    ]);
  });

  it('handles a body that is nested more deeply than the stack allows', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const input = JSON.parse(`{"unknown":${deep},"legs":[{"unknown":${deep}}],"metadata":{"a":${deep}}}`);
    expect(faults(UpsertShipmentDto, input)).toEqual(['metadata.a invalid_type']);
    expect(unknown(input)).toEqual(['unknown unknown_field', 'legs[0].unknown unknown_field']);
  });

  it.each([null, undefined, [], 'text', 5, true])('refuses the body %j', (input) => {
    expect(() => readAndValidateObject(UpsertShipmentDto, input)).toThrow(
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
    for (const status of ['', 'pending,', 'in transit', 'unknown']) {
      expect(faults(ListShipmentsDto, { status })).toEqual(['status invalid_value']);
    }
  });
});
