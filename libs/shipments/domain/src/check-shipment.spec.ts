import type { LegFields } from '@tracking/contracts';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
  createTimeInJanuary2026,
  scenarioPlacesStub,
} from '../test/scenario.ts';
import { type ShipmentFieldsCheckResult, type ShipmentInput, checkShipmentFields } from './check-shipment.ts';
import type { KnownMode } from './references.ts';

const check = (input: ShipmentInput, mode: KnownMode = 'ocean', strict = false) =>
  checkShipmentFields(input, mode, scenarioPlacesStub, strict);
const codes = (checked: ShipmentFieldsCheckResult) => checked.errors.map(({ param, code }) => `${param} ${code}`);
const faults = (input: ShipmentInput, mode: KnownMode = 'ocean') => codes(check(input, mode));

describe('normalising', () => {
  it('normalises containers, carriers and ports', () => {
    const { fields, errors } = check({
      container_numbers: [' mscu 123456-6 '],
      carrier_scac: ' maeu ',
      origin_port: 'cn sha',
      destination_port: 'us-lax',
    });
    expect(errors).toEqual([]);
    expect(fields).toEqual({
      container_numbers: [CONTAINER_A],
      carrier_scac: 'MAEU',
      origin_port: 'CNSHA',
      destination_port: 'USLAX',
    });
  });

  it('keeps the first of two equal containers', () => {
    expect(
      check({ container_numbers: [CONTAINER_A, CONTAINER_B, 'mscu1234566', CONTAINER_A] }).fields.container_numbers,
    ).toEqual([CONTAINER_A, CONTAINER_B]);
  });

  it('returns only sent fields, and empty values for null', () => {
    expect(check({}).fields).toEqual({});
    const cleared = { container_numbers: null, references: null, legs: null, metadata: null, shipper: null, eta: null };
    expect(check({ ...cleared, house_bill: null }).fields).toEqual({
      container_numbers: [],
      references: [],
      legs: [],
      metadata: null,
      shipper: null,
      eta: null,
      house_bill: null,
    });
  });

  it('adds missing members of parties and legs', () => {
    const { fields } = check({ shipper: { name: 'Acme' }, consignee: {}, legs: [{ vessel: 'EVER GIVEN' }] });
    expect(fields.shipper).toEqual({ name: 'Acme', external_id: null });
    expect(fields.consignee).toBeNull();
    const leg: LegFields = {
      mode: null,
      carrier_scac: null,
      vessel: 'EVER GIVEN',
      voyage: null,
      origin_port: null,
      destination_port: null,
      etd: null,
      eta: null,
    };
    expect(fields.legs).toEqual([leg]);
  });

  it('is idempotent', () => {
    const once = check({
      container_numbers: ['mscu 123456 6'],
      legs: [{ origin_port: 'cn sha' }],
      shipper: { name: 'x' },
    });
    expect(check(once.fields).fields).toEqual(once.fields);
  });
});

describe('errors', () => {
  it('report every invalid field at once, by its path', () => {
    expect(
      faults({
        container_numbers: [CONTAINER_A, 'NOPE', CONTAINER_B, 'AKE12345LH'],
        carrier_scac: 'TOOLONG',
        origin_port: 'FRA',
        destination_port: '?',
        house_bill: '  ',
        legs: [{}, { origin_port: 'FRA', destination_port: 'USLAXX', carrier_scac: '5X' }],
      }),
    ).toEqual([
      'house_bill invalid_value',
      'container_numbers[1] invalid_container_number',
      'container_numbers[3] invalid_container_number',
      'carrier_scac invalid_scac',
      'origin_port invalid_port',
      'destination_port invalid_port',
      'legs[1].carrier_scac invalid_scac',
      'legs[1].origin_port invalid_port',
      'legs[1].destination_port invalid_port',
    ]);
  });

  it('depend on the mode of the leg, otherwise on that of the shipment', () => {
    const legs = [{ mode: 'air', carrier_scac: 'LH', origin_port: 'FRA' }, { origin_port: 'FRA' }] as const;
    expect(faults({ legs }, 'ocean')).toEqual(['legs[1].origin_port invalid_port']);
    expect(faults({ legs }, 'air')).toEqual([]);
    expect(faults({ legs: [{ mode: 'ocean', origin_port: 'FRA' }] }, 'air')).toEqual([
      'legs[0].origin_port invalid_port',
    ]);
  });

  it('accept values of any mode if the mode is unknown', () => {
    const input = {
      container_numbers: ['AKE12345LH'],
      carrier_scac: '5X',
      origin_port: 'FRA',
      legs: [{ carrier_scac: 'U2' }],
    };
    expect(codes(checkShipmentFields(input, undefined, scenarioPlacesStub))).toEqual([]);
    expect(faults(input, 'ocean')).toHaveLength(4);
    expect(codes(checkShipmentFields({ container_numbers: ['NOPE'] }, undefined, scenarioPlacesStub))).toHaveLength(1);
  });

  const legs = (count: number): ShipmentInput => ({ legs: Array.from({ length: count }, () => ({})) });
  const references = (count: number): ShipmentInput => ({
    references: Array.from({ length: count }, (_, n) => ({ type: 'po', value: `${n}` })),
  });
  const metadata = (count: number): ShipmentInput => ({
    metadata: Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, 'x'])),
  });
  const containers = (count: number): ShipmentInput => ({
    container_numbers: Array.from({ length: count }, (_, n) => `ABCU${String(1_000_000 + n)}`),
  });
  it.each([
    ['container_numbers', containers, 200],
    ['legs', legs, 50],
    ['references', references, 50],
    ['metadata', metadata, 50],
  ] as const)('limit the number of %s', (param, make, most) => {
    expect(faults(make(most))).toEqual([]);
    expect(faults(make(most + 1))).toEqual([`${param} limit_exceeded`]);
  });

  it('report a repeated container once', () => {
    expect(faults({ container_numbers: ['NOPE', 'nope'] })).toEqual(['container_numbers[0] invalid_container_number']);
    expect(
      check({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT, CONTAINER_WITH_WRONG_CHECK_DIGIT] }).warnings,
    ).toHaveLength(1);
  });

  it('count a repeated container once', () => {
    const { container_numbers } = containers(200);
    expect(faults({ container_numbers: [...(container_numbers ?? []), 'ABCU1000000'] })).toEqual([]);
  });
});

describe('warnings', () => {
  it('report a wrong check digit; strict handling refuses it', () => {
    const input = { container_numbers: [CONTAINER_A, CONTAINER_WITH_WRONG_CHECK_DIGIT] };
    expect(check(input)).toMatchObject({
      errors: [],
      warnings: [{ code: 'invalid_container_number', param: 'container_numbers[1]' }],
    });
    expect(check(input, 'ocean', true)).toMatchObject({
      errors: [{ code: 'invalid_container_number', param: 'container_numbers[1]' }],
      warnings: [],
    });
  });

  it('report unknown ports', () => {
    const { errors, warnings } = check({
      origin_port: 'XXABC',
      destination_port: 'USZZZ',
      legs: [{ origin_port: 'QQQQQ' }],
    });
    expect(errors).toEqual([]);
    expect(warnings.map(({ code, param }) => `${param} ${code}`)).toEqual([
      'origin_port unknown_port',
      'legs[0].origin_port unknown_port',
    ]);
  });

  it('report an eta before the etd, also of legs', () => {
    const late = { etd: createTimeInJanuary2026(5), eta: createTimeInJanuary2026(4) };
    expect(
      check({ ...late, legs: [{ etd: createTimeInJanuary2026(4), eta: createTimeInJanuary2026(4) }, late] }).warnings,
    ).toMatchObject([
      { code: 'eta_before_etd', param: 'legs[1].eta' },
      { code: 'eta_before_etd', param: 'eta' },
    ]);
    expect(check({ etd: createTimeInJanuary2026(5), eta: createTimeInJanuary2026(5) }).warnings).toEqual([]);
    expect(check({ etd: createTimeInJanuary2026(5), eta: null }).warnings).toEqual([]);
  });
});

describe('times before 2000', () => {
  const route = { origin_port: 'CNSHA', destination_port: 'USLAX' };

  it.each(['etd', 'eta'] as const)('are refused as %s of the shipment and of a leg', (time) => {
    const before = { [time]: '1999-12-31T23:59:59.999Z' };
    expect(faults(before)).toEqual([`${time} timestamp_out_of_range`]);
    expect(faults({ legs: [{ ...route, ...before }] })).toEqual([`legs[0].${time} timestamp_out_of_range`]);
  });

  it.each(['etd', 'eta'] as const)('the first instant of 2000 is accepted as %s', (time) => {
    const first = { [time]: '2000-01-01T00:00:00.000Z' };
    expect(faults(first)).toEqual([]);
    expect(faults({ legs: [{ ...route, ...first }] })).toEqual([]);
  });
});
