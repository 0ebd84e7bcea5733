import { MILESTONE_CATALOG, type Mode } from '@tracking/contracts';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  ShipmentScenario,
  findDataOfDecidedEvent,
  createLegWithOtherFieldsNull,
  createTimeInJanuary2026,
  captureRefusal,
  createShipmentScenario,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../test/scenario.ts';

const codeOf = (scenario: ReturnType<typeof createShipmentScenario>, id: string | null) =>
  scenario.state?.timeline.find(({ milestone }) => milestone.id === id)?.milestone.code;
const setter = (scenario: ReturnType<typeof createShipmentScenario>) =>
  codeOf(scenario, scenario.record.status_milestone_id);
const leg = (origin_port: string, destination_port: string, mode: Mode | null = null) =>
  createLegWithOtherFieldsNull({ mode, origin_port, destination_port });

describe('the highest rank among actual milestones', () => {
  it.each(MILESTONE_CATALOG.map(({ code, status }) => [code, status ?? 'pending']))('%s gives %s', (code, status) => {
    const scenario = createShipmentScenario();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(5));
    expect(scenario.record.status).toBe(status);
    expect(setter(scenario)).toBe(status === 'pending' ? undefined : code);
  });

  it('in any order of arrival', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(1));
    expect(scenario.record.status).toBe('arrived');
  });

  it.each(['estimated', 'planned'] as const)('does not count milestones that are %s', (classifier) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20), { classifier });
    expect(scenario.record).toMatchObject({ status: 'pending', status_milestone_id: null, last_milestone: null });
  });

  it('sets status_milestone_id to the first that reached it', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20));
    expect(setter(scenario)).toBe('discharged');
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(19));
    expect(setter(scenario)).toBe('vessel_arrived');
    scenario.postMilestoneInScenario('vessel_berthed', createTimeInJanuary2026(19, 20));
    expect(setter(scenario)).toBe('vessel_arrived');
  });

  it('ranks returned above completed', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(9));
    scenario.postMilestoneInScenario('returned_to_shipper', createTimeInJanuary2026(8));
    expect(scenario.record.status).toBe('returned');
  });
});

describe('a departure dated after arrivals makes them intermediate', () => {
  it.each(['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'])('by %s', (code) => {
    const scenario = createShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(10));
    scenario.postMilestoneInScenario('vessel_berthed', createTimeInJanuary2026(11));
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(12));
    expect(scenario.record.status).toBe('in_transit');
    expect(setter(scenario)).toBe('vessel_arrived');
    scenario.postMilestoneInScenario('arrived_at_destination', createTimeInJanuary2026(15));
    expect(scenario.record.status).toBe('arrived');
    expect(setter(scenario)).toBe('arrived_at_destination');
  });

  it('but not one at the same time, nor other movements', () => {
    const scenario = createShipmentScenario({ mode: 'road' });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(11));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(11));
    scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(12));
    scenario.postMilestoneInScenario('border_crossed', createTimeInJanuary2026(13));
    expect(scenario.record.status).toBe('arrived');
  });

  it('and higher ranks are not demoted', () => {
    const scenario = createShipmentScenario();
    scenario.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(10));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(12));
    expect(scenario.record.status).toBe('available_for_pickup');
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(10));
    expect(scenario.record.status).toBe('out_for_delivery');
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(11));
    expect(scenario.record.status).toBe('delivered');
  });

  it.each(['available_for_pickup', 'gated_out', 'out_for_delivery'])(
    'but a rail_departed after it makes %s count as in_transit',
    (code) => {
      const scenario = createShipmentScenario();
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(10));
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(12));
      expect(scenario.record.status).not.toBe('in_transit');
      scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(10));
      expect(scenario.record.status).not.toBe('in_transit');
      scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(11));
      expect(scenario.record.status).toBe('in_transit');
      expect(setter(scenario)).toBe('rail_departed');
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(14));
      expect(scenario.record.status).not.toBe('in_transit');
    },
  );

  it.each(['available_for_pickup', 'gated_out', 'out_for_delivery'])('and %s then set in_transit', (code) => {
    const scenario = createShipmentScenario();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(10));
    scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(11));
    expect(setter(scenario)).toBe(code);
  });

  it.each(['delivered', 'cargo_stripped', 'empty_returned', 'returned_to_shipper'])(
    'a rail_departed does not demote %s',
    (code) => {
      const scenario = createShipmentScenario();
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(10));
      const { status } = scenario.record;
      scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(11));
      expect(scenario.record.status).toBe(status);
    },
  );

  it('a vessel_departed located at destination_port is the ship sailing on and does not count', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(22), { location: 'USLAX' });
    expect(scenario.record).toMatchObject({ status: 'arrived', atd: null, ata: createTimeInJanuary2026(20) });
    const alone = createOceanShipmentScenario();
    alone.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(22), { location: 'USLAX' });
    expect(alone.record).toMatchObject({ status: 'pending', atd: null });
  });

  it('but is the departure on a round trip', () => {
    const scenario = createOceanShipmentScenario({ destination_port: 'CNSHA' });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), { location: 'CNSHA' });
    expect(scenario.record).toMatchObject({ status: 'in_transit', atd: createTimeInJanuary2026(2) });
  });

  it('a train that leaves from there does not take back the arrival', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(22), { location: 'USLAX' });
    expect(scenario.record).toMatchObject({ status: 'arrived', ata: createTimeInJanuary2026(20) });
  });
});

describe('an arrival known not to be the end counts as in_transit', () => {
  it('at the destination of a leg that is not the last', () => {
    const scenario = createOceanShipmentScenario({
      destination_port: 'USCHI',
      legs: [leg('CNSHA', 'USLAX'), leg('USLAX', 'USCHI')],
    });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { location: 'USLAX' });
    expect(scenario.record.status).toBe('in_transit');
    expect(setter(scenario)).toBe('vessel_arrived');
    expect(scenario.record.ata).toBeNull();
    scenario.postMilestoneInScenario('arrived_at_destination', createTimeInJanuary2026(25), { location: 'USCHI' });
    expect(scenario.record.status).toBe('arrived');
  });

  it('unless the shipment also ends at that port', () => {
    const scenario = createOceanShipmentScenario({ legs: [leg('CNSHA', 'USLAX'), leg('USLAX', 'USLAX')] });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { location: 'USLAX' });
    expect(scenario.record.status).toBe('arrived');
  });

  it.each([
    'vessel_arrived',
    'vessel_berthed',
    'discharged',
    'flight_arrived',
    'rail_unloaded',
    'arrived_at_destination',
  ])('in another country, and elsewhere in the country of the destination: %s', (code) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(10), { location: 'SGSIN' });
    expect(scenario.record.status).toBe('in_transit');
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20), { location: 'USNYC' });
    expect(scenario.record).toMatchObject({ status: 'in_transit', ata: null });
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(22), { location: 'USLAX' });
    expect(scenario.record).toMatchObject({
      status: 'arrived',
      ata: code === 'unavailable_for_pickup' ? null : createTimeInJanuary2026(22),
    });
  });

  it('at an airport of another country', () => {
    const scenario = createShipmentScenario({ mode: 'air', origin_port: 'ICN', destination_port: 'LAX' });
    scenario.postMilestoneInScenario('flight_arrived', createTimeInJanuary2026(10), { location: 'FRA' });
    expect(scenario.record.status).toBe('in_transit');
    scenario.postMilestoneInScenario('flight_arrived', createTimeInJanuary2026(11), { location: 'LAX' });
    expect(scenario.record.status).toBe('arrived');
  });

  it('a port of the shipment counts in any spelling, also before it was set', () => {
    const scenario = createShipmentScenario({ mode: 'air', origin_port: 'ICN' });
    scenario.postMilestoneInScenario('flight_arrived', createTimeInJanuary2026(10), { location: 'fra' });
    scenario.upsertShipment({ legs: [leg('ICN', 'FRA'), leg('FRA', 'LAX')] });
    expect(scenario.record.status).toBe('in_transit');
    expect(scenario.record.legs[0]?.ata).toBe(createTimeInJanuary2026(10));
  });

  it('but free text and unknown places are no other country', () => {
    for (const location of ['Singapore, PSA', null, 'XXABC', 'ZZZ', 'ITALY']) {
      const scenario = createOceanShipmentScenario();
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(10), { location });
      expect(scenario.record.status).toBe('arrived');
    }
  });

  it('but not without a destination', () => {
    const scenario = createShipmentScenario({ mode: 'ocean' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(10), { location: 'SGSIN' });
    expect(scenario.record.status).toBe('arrived');
  });

  it('unavailable_for_pickup is not an arrival', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('unavailable_for_pickup', createTimeInJanuary2026(10), { location: 'SGSIN' });
    expect(scenario.record.status).toBe('in_transit');
    scenario.postMilestoneInScenario('unavailable_for_pickup', createTimeInJanuary2026(11), { location: 'USLAX' });
    expect(scenario.record).toMatchObject({ status: 'arrived', ata: null });
  });

  it('the status follows a changed route', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(10), { location: 'SGSIN' });
    scenario.upsertShipment({ destination_port: 'SGSIN' });
    expect(scenario.record).toMatchObject({ status: 'arrived', ata: createTimeInJanuary2026(10) });
  });
});

describe('load_type lcl', () => {
  const lcl = () => createOceanShipmentScenario({ load_type: 'lcl' });

  it('gated_out counts as in_transit', () => {
    const scenario = lcl();
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(10));
    expect(scenario.record.status).toBe('in_transit');
  });

  it('cargo_stripped counts as arrived', () => {
    const scenario = lcl();
    scenario.postMilestoneInScenario('cargo_stripped', createTimeInJanuary2026(10));
    expect(scenario.record.status).toBe('arrived');
  });

  it('empty_returned does not affect the status', () => {
    const scenario = lcl();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(10));
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(12));
    expect(scenario.record.status).toBe('arrived');
  });

  it('delivered counts as delivered', () => {
    const scenario = lcl();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(12));
    expect(scenario.record.status).toBe('delivered');
  });

  it('follows the present load type', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(10));
    scenario.upsertShipment({ load_type: 'lcl' });
    expect(scenario.record.status).toBe('in_transit');
  });
});

describe('the later of available and unavailable counts', () => {
  it('unavailable counts as arrived', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(10));
    scenario.postMilestoneInScenario('unavailable_for_pickup', createTimeInJanuary2026(11));
    expect(scenario.record.status).toBe('arrived');
    expect(setter(scenario)).toBe('unavailable_for_pickup');
    scenario.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(12));
    expect(scenario.record.status).toBe('available_for_pickup');
    expect(scenario.record.status_milestone_id).toBe(scenario.state?.timeline.at(-1)?.milestone.id);
  });

  it('in any order of arrival', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(12));
    scenario.postMilestoneInScenario('unavailable_for_pickup', createTimeInJanuary2026(11));
    expect(scenario.record.status).toBe('available_for_pickup');
  });

  it('higher ranks stay', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(10));
    scenario.postMilestoneInScenario('unavailable_for_pickup', createTimeInJanuary2026(11));
    expect(scenario.record.status).toBe('out_for_delivery');
  });

  it('a later departure makes the unavailable one intermediate too', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(10));
    scenario.postMilestoneInScenario('unavailable_for_pickup', createTimeInJanuary2026(11));
    scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(12));
    expect(scenario.record.status).toBe('in_transit');
  });
});

describe('containers', () => {
  const box = (container_number: string) => ({ container_number });

  it('have the rank of the milestones that name them and of those that name none', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20), box(CONTAINER_A));
    expect(scenario.getContainer(CONTAINER_A).status).toBe('arrived');
    expect(scenario.getContainer(CONTAINER_B).status).toBe('in_transit');
    expect(scenario.getContainer(CONTAINER_B).status_milestone_id).toBe(scenario.state?.timeline[0]?.milestone.id);
  });

  it('give the shipment the highest rank, but at most out_for_delivery', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20), box(CONTAINER_A));
    expect(scenario.record.status).toBe('arrived');
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(21), box(CONTAINER_A));
    expect(scenario.record.status).toBe('out_for_delivery');
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(22), box(CONTAINER_A));
    expect(scenario.record.status).toBe('out_for_delivery');
    expect(setter(scenario)).toBe('gated_out');
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(23), box(CONTAINER_A));
    expect(scenario.record.status).toBe('out_for_delivery');
    expect(scenario.getContainer(CONTAINER_A).status).toBe('completed');
  });

  it('give the shipment the lowest rank if all are delivered or beyond, set by the last to get there', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B, CONTAINER_C] });
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(21), box(CONTAINER_A));
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(30), box(CONTAINER_A));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(22), box(CONTAINER_B));
    const last = scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(24), box(CONTAINER_C)).milestone;
    expect(scenario.record).toMatchObject({ status: 'delivered', status_milestone_id: last.id });
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(26), box(CONTAINER_B));
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(25), box(CONTAINER_C));
    expect(scenario.record.status).toBe('completed');
    expect(codeOf(scenario, scenario.record.status_milestone_id)).toBe('empty_returned');
    expect(scenario.record.status_milestone_id).toBe(scenario.getContainer(CONTAINER_A).status_milestone_id);
  });

  it('share milestones that name no container', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(22));
    expect(scenario.record.status).toBe('delivered');
  });

  it('have only their own arrivals made intermediate by their departure', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(22), box(CONTAINER_A));
    expect(scenario.getContainer(CONTAINER_A).status).toBe('in_transit');
    expect(scenario.getContainer(CONTAINER_B).status).toBe('arrived');
  });

  it('prefer their own unavailability to the availability of all', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('unavailable_for_pickup', createTimeInJanuary2026(22), box(CONTAINER_A));
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({ status: 'arrived', available_at: null });
    expect(scenario.getContainer(CONTAINER_B)).toMatchObject({
      status: 'available_for_pickup',
      available_at: createTimeInJanuary2026(20),
    });
  });

  it('that are removed keep their milestones in the list without effect, until added again', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(22), box(CONTAINER_A));
    const before = scenario.record;
    scenario.upsertShipment({ container_numbers: [CONTAINER_B] });
    expect(scenario.record).toMatchObject({ status: 'in_transit', containers: [{ number: CONTAINER_B }] });
    expect(scenario.record.last_milestone?.code).toBe('vessel_departed');
    expect(scenario.state?.timeline).toHaveLength(2);
    scenario.upsertShipment({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    expect(scenario.record).toEqual({
      ...before,
      version: scenario.record.version,
      updated_at: scenario.record.updated_at,
    });
  });

  it('the shipment is delivered when the only undelivered one is removed', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(22), box(CONTAINER_A));
    const decision = scenario.upsertShipment({ container_numbers: [CONTAINER_A] });
    expect(scenario.record.status).toBe('delivered');
    expect(decision.events.map(({ type }) => type)).toEqual(['shipment.changed.v1']);
  });

  it('milestones that name none count for the shipment after the last one is removed', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(1));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(22), box(CONTAINER_A));
    scenario.upsertShipment({ container_numbers: [] });
    expect(scenario.record.status).toBe('booked');
  });

  it('ignore a discharge on the way', () => {
    const abroad = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    abroad.postMilestoneInScenario('discharged', createTimeInJanuary2026(18), { location: 'SGSIN' });
    expect(abroad.getContainer(CONTAINER_A).discharged_at).toBeNull();
    const before = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    before.postMilestoneInScenario('discharged', createTimeInJanuary2026(18));
    before.postMilestoneInScenario('transshipment_loaded', createTimeInJanuary2026(19));
    before.postMilestoneInScenario('transshipment_departed', createTimeInJanuary2026(19));
    expect(before.getContainer(CONTAINER_A).discharged_at).toBeNull();
  });

  it('use a discharge from the last vessel, also if a train continues from there', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(18));
    scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(19));
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({
      discharged_at: createTimeInJanuary2026(18),
      status: 'in_transit',
    });
    scenario.postMilestoneInScenario('rail_unloaded', createTimeInJanuary2026(22));
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({
      discharged_at: createTimeInJanuary2026(18),
      status: 'arrived',
    });
  });

  it('use a discharge abroad once a train continues from there, until a vessel does', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(18), { location: 'SGSIN' });
    expect(scenario.getContainer(CONTAINER_A).discharged_at).toBeNull();
    const train = scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(19)).milestone;
    expect(scenario.getContainer(CONTAINER_A).discharged_at).toBe(createTimeInJanuary2026(18));
    scenario.postMilestoneInScenario('loaded_on_vessel', createTimeInJanuary2026(20), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(20), { location: 'SGSIN' });
    expect(scenario.getContainer(CONTAINER_A).discharged_at).toBeNull();
    scenario.retractMilestone(train);
    expect(scenario.getContainer(CONTAINER_A).discharged_at).toBeNull();
  });

  it.each([
    ['rail', createTimeInJanuary2026(18)],
    ['road', createTimeInJanuary2026(18)],
    ['barge', null],
    [null, null],
  ] as const)('a discharge where the goods continue by %s: %s', (mode, discharged_at) => {
    const legs = [leg('CNSHA', 'USLAX', 'ocean'), leg('USLAX', 'USCHI', mode)];
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A], destination_port: 'USCHI', legs });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(18), { location: 'USLAX' });
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({ discharged_at, status: 'in_transit' });
  });

  it('ignore a gate-out to the train', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(18));
    expect(scenario.getContainer(CONTAINER_A).gated_out_at).toBe(createTimeInJanuary2026(18));
    scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(19));
    expect(scenario.getContainer(CONTAINER_A).gated_out_at).toBeNull();
  });

  it('return their own times', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(18), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('transshipment_departed', createTimeInJanuary2026(19));
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(30), box(CONTAINER_A));
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(29), box(CONTAINER_A));
    scenario.postMilestoneInScenario('available_for_pickup', createTimeInJanuary2026(30), box(CONTAINER_A));
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(31), box(CONTAINER_A));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(31, 14), box(CONTAINER_A));
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(31, 20), box(CONTAINER_A));
    expect(scenario.getContainer(CONTAINER_A)).toMatchObject({
      discharged_at: createTimeInJanuary2026(29),
      available_at: createTimeInJanuary2026(30),
      gated_out_at: createTimeInJanuary2026(31),
      delivered_at: createTimeInJanuary2026(31, 14),
      empty_returned_at: createTimeInJanuary2026(31, 20),
    });
    expect(scenario.getContainer(CONTAINER_B)).toMatchObject({
      discharged_at: null,
      gated_out_at: null,
      status: 'in_transit',
    });
  });
});

describe('picked_up', () => {
  it.each([
    ['road', 'in_transit'],
    ['courier', 'in_transit'],
    ['ocean', 'at_origin'],
    ['multimodal', 'at_origin'],
    [null, 'at_origin'],
  ] as const)('by %s makes %s', (mode, status) => {
    const scenario = createShipmentScenario({ mode });
    scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(2));
    expect(scenario.record.status).toBe(status);
  });

  it('follows the shipment’s present mode', () => {
    const scenario = createShipmentScenario({ mode: 'ocean' });
    scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(2));
    scenario.upsertShipment({ mode: 'road' });
    expect(scenario.record).toMatchObject({ status: 'in_transit', atd: createTimeInJanuary2026(2) });
  });
});

describe('cancelling by the client', () => {
  it('is possible before delivered, sets no status_milestone_id, and changes nothing when repeated', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(20));
    const decision = scenario.cancelShipment();
    expect(decision).toMatchObject({ outcome: 'cancelled', warnings: [] });
    expect(getTypesOfDecidedEvents(decision)).toEqual(['shipment.cancelled.v1', 'shipment.changed.v1']);
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toEqual({
      status: { from: 'out_for_delivery', to: 'cancelled' },
      status_milestone_id: { from: expect.stringMatching(/^mst_/), to: null },
    });
    expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
    expect(scenario.cancelShipment()).toMatchObject({ outcome: 'unchanged', events: [], warnings: [] });
  });

  it.each(['delivered', 'empty_returned', 'returned_to_shipper'])('is refused after %s', (code) => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(20));
    expect(captureRefusal(() => scenario.cancelShipment()).code).toBe('already_delivered');
  });

  it('is revoked by reopening, which applies all milestones including later ones', () => {
    const scenario = createOceanShipmentScenario();
    scenario.cancelShipment();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    expect(scenario.record.status).toBe('cancelled');
    const decision = scenario.reopenShipment();
    expect(getTypesOfDecidedEvents(decision).slice(0, 2)).toEqual(['shipment.reopened.v1', 'shipment.changed.v1']);
    expect(decision).toMatchObject({ outcome: 'reopened', warnings: [] });
    expect(scenario.record.status).toBe('in_transit');
    expect(setter(scenario)).toBe('vessel_departed');
    expect(scenario.reopenShipment()).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('returns a pending shipment to pending', () => {
    const scenario = createOceanShipmentScenario();
    scenario.cancelShipment();
    scenario.reopenShipment();
    expect(scenario.record).toMatchObject({ status: 'pending', status_milestone_id: null });
    scenario.cancelShipment();
    expect(scenario.record.status).toBe('cancelled');
  });

  it('stores nothing when reopening a shipment that is not cancelled, also a delivered one', () => {
    const scenario = createOceanShipmentScenario();
    expect(scenario.reopenShipment()).toMatchObject({ outcome: 'unchanged', events: [] });
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(21));
    expect(scenario.reopenShipment()).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('reopening is refused while a milestone cancels it', () => {
    const scenario = createOceanShipmentScenario();
    const { milestone } = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    const error = captureRefusal(() => scenario.reopenShipment());
    expect(error.code).toBe('cancelled_by_milestone');
    expect(error.message).toContain(milestone.id);
  });

  it.each(['first', 'last'])('together with a milestone, the client being %s, needs both to be revoked', (n) => {
    const scenario = createOceanShipmentScenario();
    if (n === 'first') scenario.cancelShipment();
    const { milestone } = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    if (n === 'last') expect(scenario.cancelShipment().outcome).toBe('cancelled');
    expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: milestone.id });
    expect(captureRefusal(() => scenario.reopenShipment()).code).toBe('cancelled_by_milestone');
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(4));
    expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
    scenario.reopenShipment();
    expect(scenario.record.status).toBe('booked');
  });

  it('later milestones do not affect the status, not even a delivery; cancelling again is accepted', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    scenario.cancelShipment();
    const decision = scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    expect(decision).toMatchObject({ outcome: 'recorded', warnings: [{ code: 'shipment_cancelled' }] });
    expect(scenario.record).toMatchObject({ status: 'cancelled', containers: [{ status: 'delivered' }] });
    expect(scenario.cancelShipment()).toMatchObject({ outcome: 'unchanged', warnings: [] });
    expect(scenario.upsertShipment({ house_bill: 'HB' }).warnings).toMatchObject([{ code: 'shipment_cancelled' }]);
    scenario.reopenShipment();
    expect(scenario.record.status).toBe('delivered');
    expect(captureRefusal(() => scenario.cancelShipment()).code).toBe('already_delivered');
  });

  it('ignores a booking_cancelled after the delivery when reopened', () => {
    const scenario = createOceanShipmentScenario();
    scenario.cancelShipment();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(21));
    scenario.reopenShipment();
    expect(scenario.record.status).toBe('delivered');
    expect(scenario.open).toEqual(['milestone_conflict']);
  });

  it('keeps the status of containers', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20), { container_number: CONTAINER_A });
    scenario.cancelShipment();
    expect(scenario.record.containers.map(({ status }) => status)).toEqual(['arrived', 'pending']);
  });

  it('is not found without a shipment', () => {
    expect(captureRefusal(() => new ShipmentScenario().cancelShipment()).code).toBe('not_found');
    expect(captureRefusal(() => new ShipmentScenario().reopenShipment()).code).toBe('not_found');
  });
});

describe('cancelling by booking_cancelled', () => {
  it('is possible before delivered', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('gated_out', createTimeInJanuary2026(20));
    const { milestone } = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: milestone.id });
  });

  it('is revoked by a later-dated booking_confirmed', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(3));
    expect(scenario.record.status).toBe('cancelled');
    const decision = scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(4));
    expect(scenario.record.status).toBe('in_transit');
    expect(decision.warnings).toEqual([]);
  });

  it('in any order of arrival', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('booking_confirmed', createTimeInJanuary2026(4));
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    expect(scenario.record.status).toBe('booked');
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(5));
    expect(scenario.record.status).toBe('cancelled');
  });

  it('is stored without effect after delivery', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    expect(scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(21)).outcome).toBe('recorded');
    expect(scenario.record.status).toBe('delivered');
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(22));
    expect(scenario.record.status).toBe('completed');
  });

  it('takes effect when the delivery is retracted', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(21));
    scenario.postMilestoneInScenario('out_for_delivery', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    expect(scenario.record.status).toBe('cancelled');
  });

  it('ignores later milestones, also a delivery', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    const decision = scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20));
    expect(decision).toMatchObject({ outcome: 'recorded', warnings: [{ code: 'shipment_cancelled' }] });
    expect(scenario.record.status).toBe('cancelled');
    expect(scenario.record.last_milestone?.code).toBe('delivered');
  });

  it('stays although a change of the shipment would make it delivered', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(20), { container_number: CONTAINER_A });
    scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(21));
    scenario.upsertShipment({ container_numbers: [CONTAINER_A] });
    expect(scenario.record.status).toBe('cancelled');
  });

  it('stores further writes with a warning', () => {
    const scenario = createOceanShipmentScenario();
    expect(scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3)).warnings).toEqual([]);
    expect(scenario.upsertShipment({ house_bill: 'HB' })).toMatchObject({
      outcome: 'updated',
      warnings: [{ code: 'shipment_cancelled', param: null }],
    });
    expect(scenario.upsertShipment({ house_bill: 'HB' })).toMatchObject({
      outcome: 'unchanged',
      warnings: [{ code: 'shipment_cancelled' }],
    });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4));
    expect(scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4))).toMatchObject({
      outcome: 'existing',
      warnings: [{ code: 'shipment_cancelled' }],
    });
  });
});
