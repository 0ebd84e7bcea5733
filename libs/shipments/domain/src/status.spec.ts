import { MILESTONE_CATALOG, type Mode } from '@tracking/contracts';
import { A, B, C, Scenario, dataOf, day, refusal, shipment, types, voyage } from '../test/scenario.ts';

const codeOf = (scenario: ReturnType<typeof shipment>, id: string | null) =>
  scenario.state?.timeline.find(({ milestone }) => milestone.id === id)?.milestone.code;
const setter = (scenario: ReturnType<typeof shipment>) => codeOf(scenario, scenario.record.status_milestone_id);
const leg = (origin_port: string, destination_port: string, mode: Mode | null = null) => ({
  mode,
  carrier_scac: null,
  vessel: null,
  voyage: null,
  origin_port,
  destination_port,
  etd: null,
  eta: null,
});

describe('the highest rank among actual milestones', () => {
  it.each(MILESTONE_CATALOG.map(({ code, status }) => [code, status ?? 'pending']))('%s makes %s', (code, status) => {
    const scenario = shipment();
    scenario.post(code, day(5));
    expect(scenario.record.status).toBe(status);
    expect(setter(scenario)).toBe(status === 'pending' ? undefined : code);
  });

  it('whatever the order in which they arrive', () => {
    const scenario = voyage();
    scenario.post('discharged', day(20));
    scenario.post('vessel_departed', day(2));
    scenario.post('booking_confirmed', day(1));
    expect(scenario.record.status).toBe('arrived');
  });

  it.each(['estimated', 'planned'] as const)('those that are %s do not move it', (classifier) => {
    const scenario = voyage();
    scenario.post('delivered', day(20), { classifier });
    expect(scenario.record).toMatchObject({ status: 'pending', status_milestone_id: null, last_milestone: null });
  });

  it('status_milestone_id is the first that reached it', () => {
    const scenario = voyage();
    scenario.post('discharged', day(20));
    expect(setter(scenario)).toBe('discharged');
    scenario.post('vessel_arrived', day(19));
    expect(setter(scenario)).toBe('vessel_arrived');
    scenario.post('vessel_berthed', day(19, 20));
    expect(setter(scenario)).toBe('vessel_arrived');
  });

  it('returned is above completed', () => {
    const scenario = voyage();
    scenario.post('empty_returned', day(9));
    scenario.post('returned_to_shipper', day(8));
    expect(scenario.record.status).toBe('returned');
  });
});

describe('a departure dated after arrivals makes those intermediate', () => {
  it.each(['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'])('by %s', (code) => {
    const scenario = shipment();
    scenario.post('vessel_arrived', day(10));
    scenario.post('discharged', day(11));
    scenario.post(code, day(12));
    expect(scenario.record.status).toBe('in_transit');
    expect(setter(scenario)).toBe('vessel_arrived');
    scenario.post('arrived_at_destination', day(15));
    expect(scenario.record.status).toBe('arrived');
    expect(setter(scenario)).toBe('arrived_at_destination');
  });

  it('not by one at the same time, and not by other movements', () => {
    const scenario = shipment({ mode: 'road' });
    scenario.post('discharged', day(11));
    scenario.post('vessel_departed', day(11));
    scenario.post('picked_up', day(12));
    scenario.post('border_crossed', day(13));
    expect(scenario.record.status).toBe('arrived');
  });

  it('those of higher rank are not demoted', () => {
    const scenario = shipment();
    scenario.post('available_for_pickup', day(10));
    scenario.post('vessel_departed', day(12));
    expect(scenario.record.status).toBe('available_for_pickup');
    scenario.post('gated_out', day(10));
    expect(scenario.record.status).toBe('out_for_delivery');
    scenario.post('delivered', day(11));
    expect(scenario.record.status).toBe('delivered');
  });

  it.each(['available_for_pickup', 'gated_out', 'out_for_delivery'])(
    'but a rail_departed after it makes %s count as in_transit',
    (code) => {
      const scenario = shipment();
      scenario.post(code, day(10));
      scenario.post('vessel_departed', day(12));
      expect(scenario.record.status).not.toBe('in_transit');
      scenario.post('rail_departed', day(10));
      expect(scenario.record.status).not.toBe('in_transit');
      scenario.post('rail_departed', day(11));
      expect(scenario.record.status).toBe('in_transit');
      expect(setter(scenario)).toBe('rail_departed');
      scenario.post(code, day(14));
      expect(scenario.record.status).not.toBe('in_transit');
    },
  );

  it.each(['available_for_pickup', 'gated_out', 'out_for_delivery'])(
    '%s is then what put the shipment in transit',
    (code) => {
      const scenario = shipment();
      scenario.post(code, day(10));
      scenario.post('rail_departed', day(11));
      expect(setter(scenario)).toBe(code);
    },
  );

  it.each(['delivered', 'cargo_stripped', 'empty_returned', 'returned_to_shipper'])(
    'a rail_departed demotes no %s',
    (code) => {
      const scenario = shipment();
      scenario.post(code, day(10));
      const { status } = scenario.record;
      scenario.post('rail_departed', day(11));
      expect(scenario.record.status).toBe(status);
    },
  );

  it('a vessel_departed located at destination_port is the ship sailing on and counts for nothing', () => {
    const scenario = voyage();
    scenario.post('vessel_arrived', day(20));
    scenario.post('vessel_departed', day(22), { location: 'USLAX' });
    expect(scenario.record).toMatchObject({ status: 'arrived', atd: null, ata: day(20) });
    const alone = voyage();
    alone.post('vessel_departed', day(22), { location: 'USLAX' });
    expect(alone.record).toMatchObject({ status: 'pending', atd: null });
  });

  it('but on a round trip it is the departure', () => {
    const scenario = voyage({ destination_port: 'CNSHA' });
    scenario.post('vessel_departed', day(2), { location: 'CNSHA' });
    expect(scenario.record).toMatchObject({ status: 'in_transit', atd: day(2) });
  });

  it('only a vessel does: a train leaves from there with the goods', () => {
    const scenario = voyage();
    scenario.post('vessel_arrived', day(20));
    scenario.post('rail_departed', day(22), { location: 'USLAX' });
    expect(scenario.record.status).toBe('in_transit');
  });
});

describe('an arrival known not to be the end counts as in_transit', () => {
  it('at the destination of a leg that is not the last', () => {
    const scenario = voyage({ destination_port: 'USCHI', legs: [leg('CNSHA', 'USLAX'), leg('USLAX', 'USCHI')] });
    scenario.post('vessel_arrived', day(20), { location: 'USLAX' });
    expect(scenario.record.status).toBe('in_transit');
    expect(setter(scenario)).toBe('vessel_arrived');
    expect(scenario.record.ata).toBeNull();
    scenario.post('arrived_at_destination', day(25), { location: 'USCHI' });
    expect(scenario.record.status).toBe('arrived');
  });

  it('unless the shipment ends at that port as well', () => {
    const scenario = voyage({ legs: [leg('CNSHA', 'USLAX'), leg('USLAX', 'USLAX')] });
    scenario.post('vessel_arrived', day(20), { location: 'USLAX' });
    expect(scenario.record.status).toBe('arrived');
  });

  it.each([
    'vessel_arrived',
    'vessel_berthed',
    'discharged',
    'flight_arrived',
    'rail_unloaded',
    'arrived_at_destination',
  ])('in another country: %s', (code) => {
    const scenario = voyage();
    scenario.post(code, day(10), { location: 'SGSIN' });
    expect(scenario.record.status).toBe('in_transit');
    scenario.post(code, day(20), { location: 'USNYC' });
    expect(scenario.record.status).toBe('arrived');
  });

  it('at an airport of another country', () => {
    const scenario = shipment({ mode: 'air', origin_port: 'ICN', destination_port: 'LAX' });
    scenario.post('flight_arrived', day(10), { location: 'FRA' });
    expect(scenario.record.status).toBe('in_transit');
    scenario.post('flight_arrived', day(11), { location: 'USNYC' });
    expect(scenario.record.status).toBe('arrived');
  });

  it('a port of the shipment is one in whatever way it is written, also before it was one', () => {
    const scenario = shipment({ mode: 'air', origin_port: 'ICN' });
    scenario.post('flight_arrived', day(10), { location: 'fra' });
    scenario.upsert({ legs: [leg('ICN', 'FRA'), leg('FRA', 'LAX')] });
    expect(scenario.record.status).toBe('in_transit');
    expect(scenario.record.legs[0]?.ata).toBe(day(10));
  });

  it('free text and places unknown are no other country', () => {
    for (const location of ['Singapore, PSA', null, 'XXABC', 'ZZZ', 'ITALY']) {
      const scenario = voyage();
      scenario.post('vessel_arrived', day(10), { location });
      expect(scenario.record.status).toBe('arrived');
    }
  });

  it('without a destination no country is another one', () => {
    const scenario = shipment({ mode: 'ocean' });
    scenario.post('vessel_arrived', day(10), { location: 'SGSIN' });
    expect(scenario.record.status).toBe('arrived');
  });

  it('unavailable_for_pickup is no arrival', () => {
    const scenario = voyage();
    scenario.post('unavailable_for_pickup', day(10), { location: 'SGSIN' });
    expect(scenario.record.status).toBe('arrived');
  });

  it('is told again when the route changes', () => {
    const scenario = voyage();
    scenario.post('vessel_arrived', day(10), { location: 'SGSIN' });
    scenario.upsert({ destination_port: 'SGSIN' });
    expect(scenario.record).toMatchObject({ status: 'arrived', ata: day(10) });
  });
});

describe('load_type lcl', () => {
  const lcl = () => voyage({ load_type: 'lcl' });

  it('gated_out counts as in_transit', () => {
    const scenario = lcl();
    scenario.post('gated_out', day(10));
    expect(scenario.record.status).toBe('in_transit');
  });

  it('cargo_stripped counts as arrived', () => {
    const scenario = lcl();
    scenario.post('cargo_stripped', day(10));
    expect(scenario.record.status).toBe('arrived');
  });

  it('empty_returned leaves the status alone', () => {
    const scenario = lcl();
    scenario.post('discharged', day(10));
    scenario.post('empty_returned', day(12));
    expect(scenario.record.status).toBe('arrived');
  });

  it('what is delivered is delivered', () => {
    const scenario = lcl();
    scenario.post('delivered', day(12));
    expect(scenario.record.status).toBe('delivered');
  });

  it('follows the present load type', () => {
    const scenario = voyage();
    scenario.post('gated_out', day(10));
    scenario.upsert({ load_type: 'lcl' });
    expect(scenario.record.status).toBe('in_transit');
  });
});

describe('between available and unavailable the later one wins', () => {
  it('the latter counts as arrived', () => {
    const scenario = voyage();
    scenario.post('available_for_pickup', day(10));
    scenario.post('unavailable_for_pickup', day(11));
    expect(scenario.record.status).toBe('arrived');
    expect(setter(scenario)).toBe('unavailable_for_pickup');
    scenario.post('available_for_pickup', day(12));
    expect(scenario.record.status).toBe('available_for_pickup');
    expect(scenario.record.status_milestone_id).toBe(scenario.state?.timeline.at(-1)?.milestone.id);
  });

  it('whatever the order in which they arrive', () => {
    const scenario = voyage();
    scenario.post('available_for_pickup', day(12));
    scenario.post('unavailable_for_pickup', day(11));
    expect(scenario.record.status).toBe('available_for_pickup');
  });

  it('does not touch higher ranks', () => {
    const scenario = voyage();
    scenario.post('gated_out', day(10));
    scenario.post('unavailable_for_pickup', day(11));
    expect(scenario.record.status).toBe('out_for_delivery');
  });

  it('a later departure makes the unavailable one intermediate too', () => {
    const scenario = voyage();
    scenario.post('available_for_pickup', day(10));
    scenario.post('unavailable_for_pickup', day(11));
    scenario.post('rail_departed', day(12));
    expect(scenario.record.status).toBe('in_transit');
  });
});

describe('containers', () => {
  const box = (container_number: string) => ({ container_number });

  it('the rank of each is that of the milestones that name it plus those that name none', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('vessel_departed', day(2));
    scenario.post('discharged', day(20), box(A));
    expect(scenario.container(A).status).toBe('arrived');
    expect(scenario.container(B).status).toBe('in_transit');
    expect(scenario.container(B).status_milestone_id).toBe(scenario.state?.timeline[0]?.milestone.id);
  });

  it('the shipment has the highest, but at most out_for_delivery', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('discharged', day(20), box(A));
    expect(scenario.record.status).toBe('arrived');
    scenario.post('gated_out', day(21), box(A));
    expect(scenario.record.status).toBe('out_for_delivery');
    scenario.post('delivered', day(22), box(A));
    expect(scenario.record.status).toBe('out_for_delivery');
    expect(setter(scenario)).toBe('gated_out');
    scenario.post('empty_returned', day(23), box(A));
    expect(scenario.record.status).toBe('out_for_delivery');
    expect(scenario.container(A).status).toBe('completed');
  });

  it('if all are at delivered or beyond it has the lowest of them, set by the last to get there', () => {
    const scenario = voyage({ container_numbers: [A, B, C] });
    scenario.post('empty_returned', day(30), box(A));
    scenario.post('delivered', day(22), box(B));
    const last = scenario.post('delivered', day(24), box(C)).milestone;
    expect(scenario.record).toMatchObject({ status: 'delivered', status_milestone_id: last.id });
    scenario.post('empty_returned', day(26), box(B));
    scenario.post('empty_returned', day(25), box(C));
    expect(scenario.record.status).toBe('completed');
    expect(codeOf(scenario, scenario.record.status_milestone_id)).toBe('empty_returned');
    expect(scenario.record.status_milestone_id).toBe(scenario.container(A).status_milestone_id);
  });

  it('a milestone that names none counts for all of them', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('delivered', day(22));
    expect(scenario.record.status).toBe('delivered');
  });

  it('a departure of one makes only its own arrival intermediate', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('discharged', day(20));
    scenario.post('rail_departed', day(22), box(A));
    expect(scenario.container(A).status).toBe('in_transit');
    expect(scenario.container(B).status).toBe('arrived');
  });

  it('its own unavailability outdoes the availability of all', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('available_for_pickup', day(20));
    scenario.post('unavailable_for_pickup', day(22), box(A));
    expect(scenario.container(A)).toMatchObject({ status: 'arrived', available_at: null });
    expect(scenario.container(B)).toMatchObject({ status: 'available_for_pickup', available_at: day(20) });
  });

  it('one taken off keeps its milestones in the list, but they no longer count; put back, they count again', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('vessel_departed', day(2));
    scenario.post('delivered', day(22), box(A));
    const before = scenario.record;
    scenario.upsert({ container_numbers: [B] });
    expect(scenario.record).toMatchObject({ status: 'in_transit', containers: [{ number: B }] });
    expect(scenario.record.last_milestone?.code).toBe('vessel_departed');
    expect(scenario.state?.timeline).toHaveLength(2);
    scenario.upsert({ container_numbers: [A, B] });
    expect(scenario.record).toEqual({
      ...before,
      version: scenario.record.version,
      updated_at: scenario.record.updated_at,
    });
  });

  it('taking off the one that held the others back delivers the shipment', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('delivered', day(22), box(A));
    const decision = scenario.upsert({ container_numbers: [A] });
    expect(scenario.record.status).toBe('delivered');
    expect(decision.events.map(({ type }) => type)).toEqual(['shipment.changed.v1']);
  });

  it('when the last container goes, milestones that name none carry the shipment', () => {
    const scenario = voyage({ container_numbers: [A] });
    scenario.post('booking_confirmed', day(1));
    scenario.post('delivered', day(22), box(A));
    scenario.upsert({ container_numbers: [] });
    expect(scenario.record.status).toBe('booked');
  });

  it('a discharge on the way is not the container’s', () => {
    const abroad = voyage({ container_numbers: [A] });
    abroad.post('discharged', day(18), { location: 'SGSIN' });
    expect(abroad.container(A).discharged_at).toBeNull();
    const before = voyage({ container_numbers: [A] });
    before.post('discharged', day(18));
    before.post('transshipment_departed', day(19));
    expect(before.container(A).discharged_at).toBeNull();
  });

  it('a discharge from the last vessel is, also where a train takes it from there', () => {
    const scenario = voyage({ container_numbers: [A] });
    scenario.post('discharged', day(18));
    scenario.post('rail_departed', day(19));
    expect(scenario.container(A)).toMatchObject({ discharged_at: day(18), status: 'in_transit' });
    scenario.post('rail_unloaded', day(22));
    expect(scenario.container(A)).toMatchObject({ discharged_at: day(18), status: 'arrived' });
  });

  it('a discharge abroad is, once a train takes it from there, until a vessel does', () => {
    const scenario = voyage({ container_numbers: [A] });
    scenario.post('discharged', day(18), { location: 'SGSIN' });
    expect(scenario.container(A).discharged_at).toBeNull();
    const train = scenario.post('rail_departed', day(19)).milestone;
    expect(scenario.container(A).discharged_at).toBe(day(18));
    scenario.post('vessel_departed', day(20), { location: 'SGSIN' });
    expect(scenario.container(A).discharged_at).toBeNull();
    scenario.retract(train);
    expect(scenario.container(A).discharged_at).toBeNull();
  });

  it.each([
    ['rail', day(18)],
    ['road', day(18)],
    ['barge', null],
    [null, null],
  ] as const)('a discharge where it goes on by %s: %s', (mode, discharged_at) => {
    const legs = [leg('CNSHA', 'USLAX', 'ocean'), leg('USLAX', 'USCHI', mode)];
    const scenario = voyage({ container_numbers: [A], destination_port: 'USCHI', legs });
    scenario.post('discharged', day(18), { location: 'USLAX' });
    expect(scenario.container(A)).toMatchObject({ discharged_at, status: 'in_transit' });
  });

  it('a gate-out to the train is not the container’s', () => {
    const scenario = voyage({ container_numbers: [A] });
    scenario.post('gated_out', day(18));
    expect(scenario.container(A).gated_out_at).toBe(day(18));
    scenario.post('rail_departed', day(19));
    expect(scenario.container(A).gated_out_at).toBeNull();
  });

  it('answers its own course', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('discharged', day(18), { location: 'SGSIN' });
    scenario.post('transshipment_departed', day(19));
    scenario.post('discharged', day(30), box(A));
    scenario.post('discharged', day(29), box(A));
    scenario.post('available_for_pickup', day(30), box(A));
    scenario.post('gated_out', day(31), box(A));
    scenario.post('delivered', day(31, 14), box(A));
    scenario.post('empty_returned', day(31, 20), box(A));
    expect(scenario.container(A)).toMatchObject({
      discharged_at: day(29),
      available_at: day(30),
      gated_out_at: day(31),
      delivered_at: day(31, 14),
      empty_returned_at: day(31, 20),
    });
    expect(scenario.container(B)).toMatchObject({ discharged_at: null, gated_out_at: null, status: 'in_transit' });
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
    const scenario = shipment({ mode });
    scenario.post('picked_up', day(2));
    expect(scenario.record.status).toBe(status);
  });

  it('follows the shipment’s present mode', () => {
    const scenario = shipment({ mode: 'ocean' });
    scenario.post('picked_up', day(2));
    scenario.upsert({ mode: 'road' });
    expect(scenario.record).toMatchObject({ status: 'in_transit', atd: day(2) });
  });
});

describe('cancelling by the client', () => {
  it('is possible before delivered, sets no status_milestone_id, and repeated changes nothing', () => {
    const scenario = voyage({ container_numbers: [A] });
    scenario.post('gated_out', day(20));
    const decision = scenario.cancel();
    expect(decision).toMatchObject({ outcome: 'cancelled', warnings: [] });
    expect(types(decision)).toEqual(['shipment.cancelled.v1', 'shipment.changed.v1']);
    expect(dataOf(decision, 'shipment.changed.v1')?.changes).toEqual({
      status: { from: 'out_for_delivery', to: 'cancelled' },
      status_milestone_id: { from: expect.stringMatching(/^mst_/), to: null },
    });
    expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
    expect(scenario.cancel()).toMatchObject({ outcome: 'unchanged', events: [], warnings: [] });
  });

  it.each(['delivered', 'empty_returned', 'returned_to_shipper'])('not after %s', (code) => {
    const scenario = voyage();
    scenario.post(code, day(20));
    expect(refusal(() => scenario.cancel()).code).toBe('already_delivered');
  });

  it('reopened, the shipment is what its milestones make of it, those from meanwhile too', () => {
    const scenario = voyage();
    scenario.cancel();
    scenario.post('vessel_departed', day(2));
    expect(scenario.record.status).toBe('cancelled');
    const decision = scenario.reopen();
    expect(types(decision).slice(0, 2)).toEqual(['shipment.reopened.v1', 'shipment.changed.v1']);
    expect(decision).toMatchObject({ outcome: 'reopened', warnings: [] });
    expect(scenario.record.status).toBe('in_transit');
    expect(setter(scenario)).toBe('vessel_departed');
    expect(scenario.reopen()).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('a pending one is pending again', () => {
    const scenario = voyage();
    scenario.cancel();
    scenario.reopen();
    expect(scenario.record).toMatchObject({ status: 'pending', status_milestone_id: null });
    scenario.cancel();
    expect(scenario.record.status).toBe('cancelled');
  });

  it('one that was never cancelled is reopened without an event, a delivered one too', () => {
    const scenario = voyage();
    expect(scenario.reopen()).toMatchObject({ outcome: 'unchanged', events: [] });
    scenario.post('delivered', day(20));
    scenario.post('booking_cancelled', day(21));
    expect(scenario.reopen()).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('while a milestone cancels it, reopening is refused', () => {
    const scenario = voyage();
    const { milestone } = scenario.post('booking_cancelled', day(3));
    const error = refusal(() => scenario.reopen());
    expect(error.code).toBe('cancelled_by_milestone');
    expect(error.message).toContain(milestone.id);
  });

  it.each(['first', 'last'])(
    'with a milestone that does so as well, the client being %s, each is taken back alone',
    (n) => {
      const scenario = voyage();
      if (n === 'first') scenario.cancel();
      const { milestone } = scenario.post('booking_cancelled', day(3));
      if (n === 'last') expect(scenario.cancel().outcome).toBe('cancelled');
      expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: milestone.id });
      expect(refusal(() => scenario.reopen()).code).toBe('cancelled_by_milestone');
      scenario.post('booking_confirmed', day(4));
      expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
      scenario.reopen();
      expect(scenario.record.status).toBe('booked');
    },
  );

  it('milestones arriving later leave the status alone, a delivery too; cancelling again is no conflict', () => {
    const scenario = voyage({ container_numbers: [A] });
    scenario.cancel();
    const decision = scenario.post('delivered', day(20));
    expect(decision).toMatchObject({ outcome: 'recorded', warnings: [{ code: 'shipment_cancelled' }] });
    expect(scenario.record).toMatchObject({ status: 'cancelled', containers: [{ status: 'delivered' }] });
    expect(scenario.cancel()).toMatchObject({ outcome: 'unchanged', warnings: [] });
    expect(scenario.upsert({ house_bill: 'HB' }).warnings).toMatchObject([{ code: 'shipment_cancelled' }]);
    scenario.reopen();
    expect(scenario.record.status).toBe('delivered');
    expect(refusal(() => scenario.cancel()).code).toBe('already_delivered');
  });

  it('a booking_cancelled that comes after the delivery has no effect when reopened', () => {
    const scenario = voyage();
    scenario.cancel();
    scenario.post('delivered', day(20));
    scenario.post('booking_cancelled', day(21));
    scenario.reopen();
    expect(scenario.record.status).toBe('delivered');
    expect(scenario.open).toEqual(['milestone_conflict']);
  });

  it('containers keep their status', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('discharged', day(20), { container_number: A });
    scenario.cancel();
    expect(scenario.record.containers.map(({ status }) => status)).toEqual(['arrived', 'pending']);
  });

  it('there is nothing to cancel or reopen without a shipment', () => {
    expect(refusal(() => new Scenario().cancel()).code).toBe('not_found');
    expect(refusal(() => new Scenario().reopen()).code).toBe('not_found');
  });
});

describe('cancelling by booking_cancelled', () => {
  it('is possible before delivered', () => {
    const scenario = voyage();
    scenario.post('gated_out', day(20));
    const { milestone } = scenario.post('booking_cancelled', day(3));
    expect(scenario.record).toMatchObject({ status: 'cancelled', status_milestone_id: milestone.id });
  });

  it('a later-dated booking_confirmed takes it back', () => {
    const scenario = voyage();
    scenario.post('vessel_departed', day(2));
    scenario.post('booking_cancelled', day(3));
    scenario.post('booking_confirmed', day(3));
    expect(scenario.record.status).toBe('cancelled');
    const decision = scenario.post('booking_confirmed', day(4));
    expect(scenario.record.status).toBe('in_transit');
    expect(decision.warnings).toEqual([]);
  });

  it('whichever of them arrives first', () => {
    const scenario = voyage();
    scenario.post('booking_confirmed', day(4));
    scenario.post('booking_cancelled', day(3));
    expect(scenario.record.status).toBe('booked');
    scenario.post('booking_cancelled', day(5));
    expect(scenario.record.status).toBe('cancelled');
  });

  it('arriving after delivery it is stored and leaves the status alone', () => {
    const scenario = voyage();
    scenario.post('delivered', day(20));
    expect(scenario.post('booking_cancelled', day(21)).outcome).toBe('recorded');
    expect(scenario.record.status).toBe('delivered');
    scenario.post('empty_returned', day(22));
    expect(scenario.record.status).toBe('completed');
  });

  it('takes effect once the delivery turns out to be none', () => {
    const scenario = voyage();
    scenario.post('delivered', day(20), { external_id: 'EV-1' });
    scenario.post('booking_cancelled', day(21));
    scenario.post('out_for_delivery', day(20), { external_id: 'EV-1' });
    expect(scenario.record.status).toBe('cancelled');
  });

  it('milestones arriving later are stored and leave the status alone, a delivery too', () => {
    const scenario = voyage();
    scenario.post('booking_cancelled', day(3));
    const decision = scenario.post('delivered', day(20));
    expect(decision).toMatchObject({ outcome: 'recorded', warnings: [{ code: 'shipment_cancelled' }] });
    expect(scenario.record.status).toBe('cancelled');
    expect(scenario.record.last_milestone?.code).toBe('delivered');
  });

  it('stays although a change of the shipment would make it delivered', () => {
    const scenario = voyage({ container_numbers: [A, B] });
    scenario.post('delivered', day(20), { container_number: A });
    scenario.post('booking_cancelled', day(21));
    scenario.upsert({ container_numbers: [A] });
    expect(scenario.record.status).toBe('cancelled');
  });

  it('writes to it are stored and warn', () => {
    const scenario = voyage();
    expect(scenario.post('booking_cancelled', day(3)).warnings).toEqual([]);
    expect(scenario.upsert({ house_bill: 'HB' })).toMatchObject({
      outcome: 'updated',
      warnings: [{ code: 'shipment_cancelled', param: null }],
    });
    expect(scenario.upsert({ house_bill: 'HB' })).toMatchObject({
      outcome: 'unchanged',
      warnings: [{ code: 'shipment_cancelled' }],
    });
    scenario.post('vessel_departed', day(4));
    expect(scenario.post('vessel_departed', day(4))).toMatchObject({
      outcome: 'existing',
      warnings: [{ code: 'shipment_cancelled' }],
    });
  });
});
