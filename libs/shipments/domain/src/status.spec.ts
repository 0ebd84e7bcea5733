import { MILESTONE_CATALOG } from '@tracking/contracts';
import { A, B, C, Story, dataOf, day, refusal, shipment, types, voyage } from '../test/story.ts';

const codeOf = (story: ReturnType<typeof shipment>, id: string | null) =>
  story.state?.timeline.find(({ milestone }) => milestone.id === id)?.milestone.code;
const setter = (story: ReturnType<typeof shipment>) => codeOf(story, story.record.status_milestone_id);

describe('the highest rank among actual milestones', () => {
  it.each(MILESTONE_CATALOG.map(({ code, status }) => [code, status ?? 'pending']))('%s makes %s', (code, status) => {
    const story = shipment();
    story.post(code, day(5));
    expect(story.record.status).toBe(status);
    expect(setter(story)).toBe(status === 'pending' ? undefined : code);
  });

  it('whatever the order in which they arrive', () => {
    const story = voyage();
    story.post('discharged', day(20));
    story.post('vessel_departed', day(2));
    story.post('booking_confirmed', day(1));
    expect(story.record.status).toBe('arrived');
  });

  it.each(['estimated', 'planned'] as const)('those that are %s do not move it', (classifier) => {
    const story = voyage();
    story.post('delivered', day(20), { classifier });
    expect(story.record).toMatchObject({ status: 'pending', status_milestone_id: null, last_milestone: null });
  });

  it('status_milestone_id is the first that reached it', () => {
    const story = voyage();
    story.post('discharged', day(20));
    expect(setter(story)).toBe('discharged');
    story.post('vessel_arrived', day(19));
    expect(setter(story)).toBe('vessel_arrived');
    story.post('vessel_berthed', day(19, 20));
    expect(setter(story)).toBe('vessel_arrived');
  });

  it('returned is above completed', () => {
    const story = voyage();
    story.post('empty_returned', day(9));
    story.post('returned_to_shipper', day(8));
    expect(story.record.status).toBe('returned');
  });
});

describe('a departure dated after arrivals makes those intermediate', () => {
  it.each(['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'])('by %s', (code) => {
    const story = shipment();
    story.post('vessel_arrived', day(10));
    story.post('discharged', day(11));
    story.post(code, day(12));
    expect(story.record.status).toBe('in_transit');
    expect(setter(story)).toBe('vessel_arrived');
    story.post('arrived_at_destination', day(15));
    expect(story.record.status).toBe('arrived');
    expect(setter(story)).toBe('arrived_at_destination');
  });

  it('not by one at the same time, and not by other movements', () => {
    const story = shipment({ mode: 'road' });
    story.post('discharged', day(11));
    story.post('vessel_departed', day(11));
    story.post('picked_up', day(12));
    story.post('border_crossed', day(13));
    expect(story.record.status).toBe('arrived');
  });

  it('those of higher rank are not demoted', () => {
    const story = shipment();
    story.post('available_for_pickup', day(10));
    story.post('vessel_departed', day(12));
    expect(story.record.status).toBe('available_for_pickup');
    story.post('gated_out', day(10));
    expect(story.record.status).toBe('out_for_delivery');
    story.post('delivered', day(11));
    expect(story.record.status).toBe('delivered');
  });

  it.each(['available_for_pickup', 'gated_out', 'out_for_delivery'])(
    'but a rail_departed after it makes %s count as in_transit',
    (code) => {
      const story = shipment();
      story.post(code, day(10));
      story.post('vessel_departed', day(12));
      expect(story.record.status).not.toBe('in_transit');
      story.post('rail_departed', day(10));
      expect(story.record.status).not.toBe('in_transit');
      story.post('rail_departed', day(11));
      expect(story.record.status).toBe('in_transit');
      expect(setter(story)).toBe('rail_departed');
      story.post(code, day(14));
      expect(story.record.status).not.toBe('in_transit');
    },
  );

  it.each(['available_for_pickup', 'gated_out', 'out_for_delivery'])(
    '%s is then what put the shipment in transit',
    (code) => {
      const story = shipment();
      story.post(code, day(10));
      story.post('rail_departed', day(11));
      expect(setter(story)).toBe(code);
    },
  );

  it.each(['delivered', 'cargo_stripped', 'empty_returned', 'returned_to_shipper'])(
    'a rail_departed demotes no %s',
    (code) => {
      const story = shipment();
      story.post(code, day(10));
      const { status } = story.record;
      story.post('rail_departed', day(11));
      expect(story.record.status).toBe(status);
    },
  );

  it('a vessel_departed located at destination_port is the ship sailing on and counts for nothing', () => {
    const story = voyage();
    story.post('vessel_arrived', day(20));
    story.post('vessel_departed', day(22), { location: 'USLAX' });
    expect(story.record).toMatchObject({ status: 'arrived', atd: null, ata: day(20) });
    const alone = voyage();
    alone.post('vessel_departed', day(22), { location: 'USLAX' });
    expect(alone.record).toMatchObject({ status: 'pending', atd: null });
  });

  it('but on a round trip it is the departure', () => {
    const story = voyage({ destination_port: 'CNSHA' });
    story.post('vessel_departed', day(2), { location: 'CNSHA' });
    expect(story.record).toMatchObject({ status: 'in_transit', atd: day(2) });
  });

  it('only a vessel does: a train leaves from there with the goods', () => {
    const story = voyage();
    story.post('vessel_arrived', day(20));
    story.post('rail_departed', day(22), { location: 'USLAX' });
    expect(story.record.status).toBe('in_transit');
  });
});

describe('an arrival known not to be the end counts as in_transit', () => {
  const leg = (origin_port: string, destination_port: string) => ({
    mode: null,
    carrier_scac: null,
    vessel: null,
    voyage: null,
    origin_port,
    destination_port,
    etd: null,
    eta: null,
  });

  it('at the destination of a leg that is not the last', () => {
    const story = voyage({ destination_port: 'USCHI', legs: [leg('CNSHA', 'USLAX'), leg('USLAX', 'USCHI')] });
    story.post('vessel_arrived', day(20), { location: 'USLAX' });
    expect(story.record.status).toBe('in_transit');
    expect(setter(story)).toBe('vessel_arrived');
    expect(story.record.ata).toBeNull();
    story.post('arrived_at_destination', day(25), { location: 'USCHI' });
    expect(story.record.status).toBe('arrived');
  });

  it('unless the shipment ends at that port as well', () => {
    const story = voyage({ legs: [leg('CNSHA', 'USLAX'), leg('USLAX', 'USLAX')] });
    story.post('vessel_arrived', day(20), { location: 'USLAX' });
    expect(story.record.status).toBe('arrived');
  });

  it.each([
    'vessel_arrived',
    'vessel_berthed',
    'discharged',
    'flight_arrived',
    'rail_unloaded',
    'arrived_at_destination',
  ])('in another country: %s', (code) => {
    const story = voyage();
    story.post(code, day(10), { location: 'SGSIN' });
    expect(story.record.status).toBe('in_transit');
    story.post(code, day(20), { location: 'USNYC' });
    expect(story.record.status).toBe('arrived');
  });

  it('at an airport of another country', () => {
    const story = shipment({ mode: 'air', origin_port: 'ICN', destination_port: 'LAX' });
    story.post('flight_arrived', day(10), { location: 'FRA' });
    expect(story.record.status).toBe('in_transit');
    story.post('flight_arrived', day(11), { location: 'USNYC' });
    expect(story.record.status).toBe('arrived');
  });

  it('free text and places unknown are no other country', () => {
    for (const location of ['Singapore, PSA', null, 'XXABC', 'ZZZ']) {
      const story = voyage();
      story.post('vessel_arrived', day(10), { location });
      expect(story.record.status).toBe('arrived');
    }
  });

  it('without a destination no country is another one', () => {
    const story = shipment({ mode: 'ocean' });
    story.post('vessel_arrived', day(10), { location: 'SGSIN' });
    expect(story.record.status).toBe('arrived');
  });

  it('unavailable_for_pickup is no arrival', () => {
    const story = voyage();
    story.post('unavailable_for_pickup', day(10), { location: 'SGSIN' });
    expect(story.record.status).toBe('arrived');
  });

  it('is told again when the route changes', () => {
    const story = voyage();
    story.post('vessel_arrived', day(10), { location: 'SGSIN' });
    story.upsert({ destination_port: 'SGSIN' });
    expect(story.record).toMatchObject({ status: 'arrived', ata: day(10) });
  });
});

describe('load_type lcl', () => {
  const lcl = () => voyage({ load_type: 'lcl' });

  it('gated_out counts as in_transit', () => {
    const story = lcl();
    story.post('gated_out', day(10));
    expect(story.record.status).toBe('in_transit');
  });

  it('cargo_stripped counts as arrived', () => {
    const story = lcl();
    story.post('cargo_stripped', day(10));
    expect(story.record.status).toBe('arrived');
  });

  it('empty_returned leaves the status alone', () => {
    const story = lcl();
    story.post('discharged', day(10));
    story.post('empty_returned', day(12));
    expect(story.record.status).toBe('arrived');
  });

  it('what is delivered is delivered', () => {
    const story = lcl();
    story.post('delivered', day(12));
    expect(story.record.status).toBe('delivered');
  });

  it('follows the present load type', () => {
    const story = voyage();
    story.post('gated_out', day(10));
    story.upsert({ load_type: 'lcl' });
    expect(story.record.status).toBe('in_transit');
  });
});

describe('between available and unavailable the later one wins', () => {
  it('the latter counts as arrived', () => {
    const story = voyage();
    story.post('available_for_pickup', day(10));
    story.post('unavailable_for_pickup', day(11));
    expect(story.record.status).toBe('arrived');
    expect(setter(story)).toBe('unavailable_for_pickup');
    story.post('available_for_pickup', day(12));
    expect(story.record.status).toBe('available_for_pickup');
    expect(story.record.status_milestone_id).toBe(story.state?.timeline.at(-1)?.milestone.id);
  });

  it('whatever the order in which they arrive', () => {
    const story = voyage();
    story.post('available_for_pickup', day(12));
    story.post('unavailable_for_pickup', day(11));
    expect(story.record.status).toBe('available_for_pickup');
  });

  it('does not touch higher ranks', () => {
    const story = voyage();
    story.post('gated_out', day(10));
    story.post('unavailable_for_pickup', day(11));
    expect(story.record.status).toBe('out_for_delivery');
  });

  it('a later departure makes the unavailable one intermediate too', () => {
    const story = voyage();
    story.post('available_for_pickup', day(10));
    story.post('unavailable_for_pickup', day(11));
    story.post('rail_departed', day(12));
    expect(story.record.status).toBe('in_transit');
  });
});

describe('containers', () => {
  const box = (container_number: string) => ({ container_number });

  it('the rank of each is that of the milestones that name it plus those that name none', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('vessel_departed', day(2));
    story.post('discharged', day(20), box(A));
    expect(story.container(A).status).toBe('arrived');
    expect(story.container(B).status).toBe('in_transit');
    expect(story.container(B).status_milestone_id).toBe(story.state?.timeline[0]?.milestone.id);
  });

  it('the shipment has the highest, but at most out_for_delivery', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('discharged', day(20), box(A));
    expect(story.record.status).toBe('arrived');
    story.post('gated_out', day(21), box(A));
    expect(story.record.status).toBe('out_for_delivery');
    story.post('delivered', day(22), box(A));
    expect(story.record.status).toBe('out_for_delivery');
    expect(setter(story)).toBe('gated_out');
    story.post('empty_returned', day(23), box(A));
    expect(story.record.status).toBe('out_for_delivery');
    expect(story.container(A).status).toBe('completed');
  });

  it('if all are at delivered or beyond it has the lowest of them, set by the last to get there', () => {
    const story = voyage({ container_numbers: [A, B, C] });
    story.post('empty_returned', day(30), box(A));
    story.post('delivered', day(22), box(B));
    const last = story.post('delivered', day(24), box(C)).milestone;
    expect(story.record).toMatchObject({ status: 'delivered', status_milestone_id: last.id });
    story.post('empty_returned', day(26), box(B));
    story.post('empty_returned', day(25), box(C));
    expect(story.record.status).toBe('completed');
    expect(codeOf(story, story.record.status_milestone_id)).toBe('empty_returned');
    expect(story.record.status_milestone_id).toBe(story.container(A).status_milestone_id);
  });

  it('a milestone that names none counts for all of them', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('delivered', day(22));
    expect(story.record.status).toBe('delivered');
  });

  it('a departure of one makes only its own arrival intermediate', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('discharged', day(20));
    story.post('rail_departed', day(22), box(A));
    expect(story.container(A).status).toBe('in_transit');
    expect(story.container(B).status).toBe('arrived');
  });

  it('its own unavailability outdoes the availability of all', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('available_for_pickup', day(20));
    story.post('unavailable_for_pickup', day(22), box(A));
    expect(story.container(A)).toMatchObject({ status: 'arrived', available_at: null });
    expect(story.container(B)).toMatchObject({ status: 'available_for_pickup', available_at: day(20) });
  });

  it('one taken off keeps its milestones in the list, but they no longer count; put back, they count again', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('vessel_departed', day(2));
    story.post('delivered', day(22), box(A));
    const before = story.record;
    story.upsert({ container_numbers: [B] });
    expect(story.record).toMatchObject({ status: 'in_transit', containers: [{ number: B }] });
    expect(story.record.last_milestone?.code).toBe('vessel_departed');
    expect(story.state?.timeline).toHaveLength(2);
    story.upsert({ container_numbers: [A, B] });
    expect(story.record).toEqual({ ...before, version: story.record.version, updated_at: story.record.updated_at });
  });

  it('taking off the one that held the others back delivers the shipment', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('delivered', day(22), box(A));
    const decision = story.upsert({ container_numbers: [A] });
    expect(story.record.status).toBe('delivered');
    expect(decision.events.map(({ type }) => type)).toEqual(['shipment.changed.v1']);
  });

  it('when the last container goes, milestones that name none carry the shipment', () => {
    const story = voyage({ container_numbers: [A] });
    story.post('booking_confirmed', day(1));
    story.post('delivered', day(22), box(A));
    story.upsert({ container_numbers: [] });
    expect(story.record.status).toBe('booked');
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

  it('a gate-out to the train is not the container’s', () => {
    const story = voyage({ container_numbers: [A] });
    story.post('gated_out', day(18));
    expect(story.container(A).gated_out_at).toBe(day(18));
    story.post('rail_departed', day(19));
    expect(story.container(A).gated_out_at).toBeNull();
  });

  it('answers its own course', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('discharged', day(18), { location: 'SGSIN' });
    story.post('transshipment_departed', day(19));
    story.post('discharged', day(30), box(A));
    story.post('discharged', day(29), box(A));
    story.post('available_for_pickup', day(30), box(A));
    story.post('gated_out', day(31), box(A));
    story.post('delivered', day(31, 14), box(A));
    story.post('empty_returned', day(31, 20), box(A));
    expect(story.container(A)).toMatchObject({
      discharged_at: day(29),
      available_at: day(30),
      gated_out_at: day(31),
      delivered_at: day(31, 14),
      empty_returned_at: day(31, 20),
    });
    expect(story.container(B)).toMatchObject({ discharged_at: null, gated_out_at: null, status: 'in_transit' });
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
    const story = shipment({ mode });
    story.post('picked_up', day(2));
    expect(story.record.status).toBe(status);
  });

  it('follows the shipment’s present mode', () => {
    const story = shipment({ mode: 'ocean' });
    story.post('picked_up', day(2));
    story.upsert({ mode: 'road' });
    expect(story.record).toMatchObject({ status: 'in_transit', atd: day(2) });
  });
});

describe('cancelling by the client', () => {
  it('is possible before delivered, sets no status_milestone_id, and repeated changes nothing', () => {
    const story = voyage({ container_numbers: [A] });
    story.post('gated_out', day(20));
    const decision = story.cancel();
    expect(decision).toMatchObject({ outcome: 'cancelled', warnings: [] });
    expect(types(decision)).toEqual(['shipment.cancelled.v1', 'shipment.changed.v1']);
    expect(dataOf(decision, 'shipment.changed.v1')?.changes).toEqual({
      status: { from: 'out_for_delivery', to: 'cancelled' },
      status_milestone_id: { from: expect.stringMatching(/^mst_/), to: null },
    });
    expect(story.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
    expect(story.cancel()).toMatchObject({ outcome: 'unchanged', events: [], warnings: [] });
  });

  it.each(['delivered', 'empty_returned', 'returned_to_shipper'])('not after %s', (code) => {
    const story = voyage();
    story.post(code, day(20));
    expect(refusal(() => story.cancel()).code).toBe('already_delivered');
  });

  it('reopened, the shipment is what its milestones make of it, those from meanwhile too', () => {
    const story = voyage();
    story.cancel();
    story.post('vessel_departed', day(2));
    expect(story.record.status).toBe('cancelled');
    const decision = story.reopen();
    expect(types(decision).slice(0, 2)).toEqual(['shipment.reopened.v1', 'shipment.changed.v1']);
    expect(decision).toMatchObject({ outcome: 'reopened', warnings: [] });
    expect(story.record.status).toBe('in_transit');
    expect(setter(story)).toBe('vessel_departed');
    expect(story.reopen()).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('a pending one is pending again', () => {
    const story = voyage();
    story.cancel();
    story.reopen();
    expect(story.record).toMatchObject({ status: 'pending', status_milestone_id: null });
    story.cancel();
    expect(story.record.status).toBe('cancelled');
  });

  it('one that was never cancelled is reopened without an event, a delivered one too', () => {
    const story = voyage();
    expect(story.reopen()).toMatchObject({ outcome: 'unchanged', events: [] });
    story.post('delivered', day(20));
    story.post('booking_cancelled', day(21));
    expect(story.reopen()).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('while a milestone cancels it, reopening is refused', () => {
    const story = voyage();
    const { milestone } = story.post('booking_cancelled', day(3));
    const error = refusal(() => story.reopen());
    expect(error.code).toBe('cancelled_by_milestone');
    expect(error.message).toContain(milestone.id);
  });

  it.each(['first', 'last'])(
    'with a milestone that does so as well, the client being %s, each is taken back alone',
    (n) => {
      const story = voyage();
      if (n === 'first') story.cancel();
      const { milestone } = story.post('booking_cancelled', day(3));
      if (n === 'last') expect(story.cancel().outcome).toBe('cancelled');
      expect(story.record).toMatchObject({ status: 'cancelled', status_milestone_id: milestone.id });
      expect(refusal(() => story.reopen()).code).toBe('cancelled_by_milestone');
      story.post('booking_confirmed', day(4));
      expect(story.record).toMatchObject({ status: 'cancelled', status_milestone_id: null });
      story.reopen();
      expect(story.record.status).toBe('booked');
    },
  );

  it('milestones arriving later leave the status alone, a delivery too; cancelling again is no conflict', () => {
    const story = voyage({ container_numbers: [A] });
    story.cancel();
    const decision = story.post('delivered', day(20));
    expect(decision).toMatchObject({ outcome: 'recorded', warnings: [{ code: 'shipment_cancelled' }] });
    expect(story.record).toMatchObject({ status: 'cancelled', containers: [{ status: 'delivered' }] });
    expect(story.cancel()).toMatchObject({ outcome: 'unchanged', warnings: [] });
    expect(story.upsert({ house_bill: 'HB' }).warnings).toMatchObject([{ code: 'shipment_cancelled' }]);
    story.reopen();
    expect(story.record.status).toBe('delivered');
    expect(refusal(() => story.cancel()).code).toBe('already_delivered');
  });

  it('a booking_cancelled that comes after the delivery has no effect when reopened', () => {
    const story = voyage();
    story.cancel();
    story.post('delivered', day(20));
    story.post('booking_cancelled', day(21));
    story.reopen();
    expect(story.record.status).toBe('delivered');
    expect(story.open).toEqual(['milestone_conflict']);
  });

  it('containers keep their status', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('discharged', day(20), { container_number: A });
    story.cancel();
    expect(story.record.containers.map(({ status }) => status)).toEqual(['arrived', 'pending']);
  });

  it('there is nothing to cancel or reopen without a shipment', () => {
    expect(refusal(() => new Story().cancel()).code).toBe('not_found');
    expect(refusal(() => new Story().reopen()).code).toBe('not_found');
  });
});

describe('cancelling by booking_cancelled', () => {
  it('is possible before delivered', () => {
    const story = voyage();
    story.post('gated_out', day(20));
    const { milestone } = story.post('booking_cancelled', day(3));
    expect(story.record).toMatchObject({ status: 'cancelled', status_milestone_id: milestone.id });
  });

  it('a later-dated booking_confirmed takes it back', () => {
    const story = voyage();
    story.post('vessel_departed', day(2));
    story.post('booking_cancelled', day(3));
    story.post('booking_confirmed', day(3));
    expect(story.record.status).toBe('cancelled');
    const decision = story.post('booking_confirmed', day(4));
    expect(story.record.status).toBe('in_transit');
    expect(decision.warnings).toEqual([]);
  });

  it('whichever of them arrives first', () => {
    const story = voyage();
    story.post('booking_confirmed', day(4));
    story.post('booking_cancelled', day(3));
    expect(story.record.status).toBe('booked');
    story.post('booking_cancelled', day(5));
    expect(story.record.status).toBe('cancelled');
  });

  it('arriving after delivery it is stored and leaves the status alone', () => {
    const story = voyage();
    story.post('delivered', day(20));
    expect(story.post('booking_cancelled', day(21)).outcome).toBe('recorded');
    expect(story.record.status).toBe('delivered');
    story.post('empty_returned', day(22));
    expect(story.record.status).toBe('completed');
  });

  it('takes effect once the delivery turns out to be none', () => {
    const story = voyage();
    story.post('delivered', day(20), { external_id: 'EV-1' });
    story.post('booking_cancelled', day(21));
    story.post('out_for_delivery', day(20), { external_id: 'EV-1' });
    expect(story.record.status).toBe('cancelled');
  });

  it('milestones arriving later are stored and leave the status alone, a delivery too', () => {
    const story = voyage();
    story.post('booking_cancelled', day(3));
    const decision = story.post('delivered', day(20));
    expect(decision).toMatchObject({ outcome: 'recorded', warnings: [{ code: 'shipment_cancelled' }] });
    expect(story.record.status).toBe('cancelled');
    expect(story.record.last_milestone?.code).toBe('delivered');
  });

  it('stays although a change of the shipment would make it delivered', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.post('delivered', day(20), { container_number: A });
    story.post('booking_cancelled', day(21));
    story.upsert({ container_numbers: [A] });
    expect(story.record.status).toBe('cancelled');
  });

  it('writes to it are stored and warn', () => {
    const story = voyage();
    expect(story.post('booking_cancelled', day(3)).warnings).toEqual([]);
    expect(story.upsert({ house_bill: 'HB' })).toMatchObject({
      outcome: 'updated',
      warnings: [{ code: 'shipment_cancelled', param: null }],
    });
    expect(story.upsert({ house_bill: 'HB' })).toMatchObject({
      outcome: 'unchanged',
      warnings: [{ code: 'shipment_cancelled' }],
    });
    story.post('vessel_departed', day(4));
    expect(story.post('vessel_departed', day(4))).toMatchObject({
      outcome: 'existing',
      warnings: [{ code: 'shipment_cancelled' }],
    });
  });
});
