import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  CONTAINER_WITH_WRONG_CHECK_DIGIT,
  findDataOfDecidedEvent,
  createLegWithOtherFieldsNull,
  createTimeInJanuary2026,
  captureRefusal,
  createShipmentScenario,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { fold } from '../index.ts';

const party = (name: string | null, external_id: string | null) => ({ name, external_id });
const strings = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`name ${n}`, 'x']));
const leg = (eta: string | null, destination_port = 'USLAX') =>
  createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port, eta });

describe('a merge patch', () => {
  it('keeps omitted fields, clears with null, replaces arrays', () => {
    const scenario = createOceanShipmentScenario({
      house_bill: 'HB',
      master_bill: 'MB',
      container_numbers: [CONTAINER_A, CONTAINER_B],
    });
    const decision = scenario.patchShipment({
      master_bill: null,
      container_numbers: [CONTAINER_C],
      booking_number: 'BK',
    });
    expect([decision.outcome, getTypesOfDecidedEvents(decision)]).toEqual(['updated', ['shipment.changed.v1']]);
    expect(scenario.record).toMatchObject({
      external_id: 'PO-1',
      house_bill: 'HB',
      master_bill: null,
      booking_number: 'BK',
      container_numbers: [CONTAINER_C],
    });
  });

  it('merges the members of objects', () => {
    const scenario = createShipmentScenario({ shipper: party('Acme', 'C-1'), metadata: { a: '1', b: '2' } });
    scenario.patchShipment({
      shipper: { name: 'Acme Ltd' },
      consignee: { external_id: 'C-2' },
      metadata: { b: null, c: '3' },
    });
    expect(scenario.record).toMatchObject({
      shipper: party('Acme Ltd', 'C-1'),
      consignee: party(null, 'C-2'),
      metadata: { a: '1', c: '3' },
    });
    scenario.patchShipment({ shipper: {}, consignee: { external_id: null }, metadata: { a: null, c: null, d: null } });
    expect(scenario.record).toMatchObject({ shipper: party('Acme Ltd', 'C-1'), consignee: null, metadata: null });
    scenario.patchShipment({ shipper: null });
    expect(scenario.record.shipper).toBeNull();
  });

  it('accepts any name in metadata', () => {
    const scenario = createShipmentScenario();
    scenario.patchShipment({ metadata: JSON.parse('{"__proto__": "1", "constructor": "2"}') });
    scenario.patchShipment({ metadata: { constructor: '3' } as Record<string, string> });
    expect(JSON.stringify(scenario.record.metadata)).toBe('{"__proto__":"1","constructor":"3"}');
  });

  it('must not exceed limits of the merged shipment', () => {
    const scenario = createShipmentScenario({ metadata: strings(50) });
    expect(captureRefusal(() => scenario.patchShipment({ metadata: { another: 'x' } }))).toMatchObject({
      code: 'limit_exceeded',
    });
    expect(scenario.patchShipment({ metadata: { another: 'x', 'name 0': null } }).outcome).toBe('updated');
    expect(Object.keys(scenario.record.metadata ?? {})).toHaveLength(50);
  });

  it('stores nothing without changes', () => {
    const scenario = createShipmentScenario({ house_bill: 'HB', shipper: party('Acme', null), metadata: { a: '1' } });
    const decision = scenario.patchShipment({
      house_bill: 'HB',
      shipper: { name: 'Acme' },
      metadata: { a: '1', b: null },
    });
    expect([decision.outcome, decision.events]).toEqual(['unchanged', []]);
  });

  it('reports every invalid field, warns, and is strict on request', () => {
    const scenario = createShipmentScenario();
    const error = captureRefusal(() => scenario.patchShipment({ origin_port: '?', carrier_scac: '?' }));
    expect(error.details.map(({ code }) => code)).toEqual(['invalid_scac', 'invalid_port']);
    const { warnings } = scenario.patchShipment({
      container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT],
      etd: createTimeInJanuary2026(9),
      eta: createTimeInJanuary2026(8),
    });
    expect(warnings.map(({ code }) => code)).toEqual(['invalid_container_number', 'eta_before_etd']);
    expect(
      captureRefusal(() =>
        scenario.patchShipment({ container_numbers: [CONTAINER_WITH_WRONG_CHECK_DIGIT] }, { strict: true }),
      ).code,
    ).toBe('validation_failed');
  });

  it('never changes or sets the external_id, nor clears the last reference', () => {
    const scenario = createShipmentScenario();
    expect(scenario.patchShipment({ external_id: 'PO-1' }).outcome).toBe('unchanged');
    for (const external_id of ['PO-2', null]) {
      expect(captureRefusal(() => scenario.patchShipment({ external_id })).code).toBe('external_id_immutable');
    }
    const other = createShipmentScenario({ external_id: null, house_bill: 'HB', container_numbers: [CONTAINER_A] });
    expect(captureRefusal(() => other.patchShipment({ external_id: 'PO-3' })).code).toBe('external_id_immutable');
    expect(other.patchShipment({ external_id: null, house_bill: null }).outcome).toBe('updated');
    expect(captureRefusal(() => other.patchShipment({ container_numbers: [] })).code).toBe('reference_required');
  });

  it('warns if the shipment is cancelled', () => {
    const scenario = createShipmentScenario();
    scenario.cancelShipment();
    expect(scenario.patchShipment({ house_bill: 'HB' }).warnings).toMatchObject([{ code: 'shipment_cancelled' }]);
    expect(scenario.record).toMatchObject({ status: 'cancelled', house_bill: 'HB' });
  });

  it('of the mode applies the mode to all milestones', () => {
    const scenario = createShipmentScenario({ mode: 'ocean' });
    scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(1));
    expect(scenario.record.status).toBe('at_origin');
    scenario.patchShipment({ mode: 'road' });
    expect(scenario.record.status).toBe('in_transit');
  });
});

describe('a new mode', () => {
  const air = () =>
    createShipmentScenario({
      mode: 'air',
      carrier_scac: '5X',
      origin_port: 'FRA',
      destination_port: 'USLAX',
      container_numbers: ['AKE12345LH', CONTAINER_A],
      legs: [
        { ...leg(null), origin_port: 'FRA' },
        { ...leg(null), mode: 'air', origin_port: 'JFK' },
      ],
    });
  const forbidden = ['container_numbers[0]', 'carrier_scac', 'origin_port', 'legs[0].origin_port'];

  it.each(['patchShipment', 'upsertShipment'] as const)(
    'is refused by %s with the kept fields that it forbids',
    (command) => {
      const scenario = air();
      const { details } = captureRefusal(() => scenario[command]({ mode: 'ocean' }));
      expect(details.map(({ param }) => param)).toEqual(forbidden);
      expect(details.every(({ message }) => message.endsWith('not allowed for mode ocean: change it too.'))).toBe(true);
      expect(scenario.record.mode).toBe('air');
    },
  );

  it('is accepted with other values for these fields', () => {
    const scenario = air();
    const legs = [leg(null)];
    scenario.patchShipment({
      mode: 'ocean',
      carrier_scac: 'HLCU',
      origin_port: 'DEFRA',
      container_numbers: [CONTAINER_A],
      legs,
    });
    expect(scenario.record).toMatchObject({ mode: 'ocean', origin_port: 'DEFRA', carrier_scac: 'HLCU' });
  });

  it('does not forbid ports that only follow the legs twice', () => {
    const scenario = createShipmentScenario({ mode: 'air', legs: [{ ...leg(null), origin_port: 'FRA' }] });
    const { details } = captureRefusal(() => scenario.patchShipment({ mode: 'ocean' }));
    expect(details.map(({ param }) => param)).toEqual(['legs[0].origin_port']);
  });
});

describe('times in a patch', () => {
  it('that repeat the last statement change nothing', () => {
    const scenario = createOceanShipmentScenario({
      etd: createTimeInJanuary2026(1),
      eta: createTimeInJanuary2026(20),
      legs: [leg(createTimeInJanuary2026(20))],
    });
    const { legs } = scenario.record;
    const same = {
      etd: createTimeInJanuary2026(1),
      eta: createTimeInJanuary2026(20),
      legs: [leg(createTimeInJanuary2026(20))],
    };
    const version = scenario.record.version;
    expect(scenario.patchShipment(same)).toMatchObject({ outcome: 'unchanged', events: [] });
    expect(scenario.record).toMatchObject({ version, legs });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(25));
    expect(scenario.patchShipment(same).outcome).toBe('updated');
    expect(scenario.patchShipment(same)).toMatchObject({ outcome: 'unchanged', events: [] });
    scenario.patchShipment({ eta: null, etd: null });
    expect(scenario.patchShipment({ eta: null, etd: null })).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('are set even if they equal the last sent values', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(25));
    scenario.upsertShipment({ eta: createTimeInJanuary2026(20) });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(25));
    scenario.patchShipment({ eta: createTimeInJanuary2026(20) });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
  });

  it('survive the nightly resend of the plan, but not a newer estimate', () => {
    const scenario = createOceanShipmentScenario({
      etd: createTimeInJanuary2026(1),
      eta: createTimeInJanuary2026(20),
      legs: [leg(createTimeInJanuary2026(20))],
    });
    scenario.patchShipment({
      etd: createTimeInJanuary2026(2),
      eta: createTimeInJanuary2026(22),
      legs: [leg(createTimeInJanuary2026(23))],
    });
    expect(
      scenario.upsertShipment({
        etd: createTimeInJanuary2026(1),
        eta: createTimeInJanuary2026(20),
        legs: [leg(createTimeInJanuary2026(20))],
      }).outcome,
    ).toBe('unchanged');
    expect(scenario.record).toMatchObject({
      etd: createTimeInJanuary2026(2),
      eta: createTimeInJanuary2026(22),
      legs: [{ eta: createTimeInJanuary2026(23) }],
    });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(25));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(25));
  });

  it('are cleared by null, regardless of estimates', () => {
    const scenario = createOceanShipmentScenario({ etd: createTimeInJanuary2026(1), eta: createTimeInJanuary2026(20) });
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(25));
    scenario.patchShipment({ etd: null, eta: null });
    expect(scenario.record).toMatchObject({ etd: null, eta: null, original_eta: createTimeInJanuary2026(20) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(26), { location: 'USLAX' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(26));
  });

  it('change eta after the arrival, which nothing else does', () => {
    const scenario = createOceanShipmentScenario({ etd: createTimeInJanuary2026(1), eta: createTimeInJanuary2026(20) });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(1), { location: 'CNSHA' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    scenario.upsertShipment({ eta: createTimeInJanuary2026(22) });
    scenario.postEstimateInScenario('arrived_at_destination', createTimeInJanuary2026(23));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
    const decision = scenario.patchShipment({ eta: createTimeInJanuary2026(24) });
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toMatchObject({
      eta: { from: createTimeInJanuary2026(20), to: createTimeInJanuary2026(24) },
      legs: { from: [{ eta: createTimeInJanuary2026(20) }], to: [{ eta: createTimeInJanuary2026(24) }] },
    });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(24), { location: 'USLAX' });
    scenario.patchShipment({ house_bill: 'HB' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(24));
    scenario.patchShipment({ eta: null });
    expect(scenario.record).toMatchObject({ eta: null, ata: createTimeInJanuary2026(21) });
  });

  it('of the last leg change the shipment’s after the arrival, if it has no own eta', () => {
    const scenario = createOceanShipmentScenario({ legs: [leg(createTimeInJanuary2026(20))] });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    scenario.upsertShipment({ legs: [leg(createTimeInJanuary2026(22))] });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(20),
      legs: [{ eta: createTimeInJanuary2026(22) }],
    });
    scenario.patchShipment({ legs: [leg(createTimeInJanuary2026(23))] });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(23),
      legs: [{ eta: createTimeInJanuary2026(23) }],
    });
  });

  it('lets ports that were not given follow its legs', () => {
    const scenario = createShipmentScenario({ legs: [leg(null)] });
    scenario.patchShipment({ legs: [leg(null, 'USNYC')] });
    expect(scenario.record).toMatchObject({ origin_port: 'CNSHA', destination_port: 'USNYC' });
    scenario.patchShipment({ destination_port: 'USCHI' });
    scenario.patchShipment({ legs: [leg(null, 'USLAX')] });
    expect(scenario.record.destination_port).toBe('USCHI');
    scenario.patchShipment({ destination_port: null });
    expect(scenario.record.destination_port).toBe('USLAX');
  });

  it('may set original_eta; null resets it to the present eta', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.patchShipment({ eta: createTimeInJanuary2026(20, 18) });
    const decision = scenario.patchShipment({ original_eta: createTimeInJanuary2026(20, 6) });
    expect(getTypesOfDecidedEvents(decision)).toEqual(['shipment.changed.v1']);
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toEqual({
      original_eta: { from: createTimeInJanuary2026(20), to: createTimeInJanuary2026(20, 6) },
    });
    scenario.upsertShipment({ eta: createTimeInJanuary2026(26) });
    expect(scenario.record.original_eta).toBe(createTimeInJanuary2026(20, 6));
    scenario.patchShipment({ original_eta: null });
    expect(scenario.record.original_eta).toBe(createTimeInJanuary2026(26));
    scenario.patchShipment({ eta: null, original_eta: null });
    expect(scenario.record.original_eta).toBeNull();
  });

  it('without an eta lets the first eta given after it become original_eta', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(3)).patchShipment({ eta: null, original_eta: null });
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(4)).patchShipment({ etd: createTimeInJanuary2026(6) });
    expect(scenario.record).toMatchObject({ eta: null, original_eta: null });
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(5)).patchShipment({ eta: createTimeInJanuary2026(22) });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(22),
      original_eta: createTimeInJanuary2026(22),
    });
    scenario.setTimeOfNextCommand(createTimeInJanuary2026(6)).patchShipment({ eta: createTimeInJanuary2026(25) });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(25),
      original_eta: createTimeInJanuary2026(22),
    });
    expect(fold(scenario.events)).toEqual(scenario.state);
  });
});
