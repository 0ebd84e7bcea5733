import type { LegFields, ShipmentFields } from '@tracking/contracts';
import { A, B, C, dataOf, day, shipment, types, voyage } from '../test/story.ts';
import { evolve } from './index.ts';

const leg = (fields: Partial<LegFields>): LegFields => ({
  mode: null,
  carrier_scac: null,
  vessel: null,
  voyage: null,
  origin_port: null,
  destination_port: null,
  etd: null,
  eta: null,
  ...fields,
});
const box = (container_number: string) => ({ container_number });
/** Shanghai, Singapore, Los Angeles, Chicago; the last by rail. */
const inland = (fields: Partial<ShipmentFields> = {}) =>
  voyage({
    destination_port: 'USCHI',
    legs: [
      leg({ origin_port: 'CNSHA', destination_port: 'SGSIN' }),
      leg({ origin_port: 'SGSIN', destination_port: 'USLAX' }),
      leg({ mode: 'rail', origin_port: 'USLAX', destination_port: 'USCHI' }),
    ],
    ...fields,
  });

describe('atd', () => {
  it.each(['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'])('%s departs', (code) => {
    const story = shipment();
    story.post(code, day(3));
    expect(story.record.atd).toBe(day(3));
  });

  it.each(['gated_in', 'loaded_on_vessel', 'in_transit_checkpoint', 'gated_out', 'out_for_delivery'])(
    '%s does not',
    (code) => {
      const story = shipment({ mode: 'road' });
      story.post(code, day(3));
      expect(story.record.atd).toBeNull();
    },
  );

  it.each([
    ['road', day(3)],
    ['courier', day(3)],
    ['ocean', null],
    [null, null],
  ] as const)('by %s picked_up gives %s', (mode, atd) => {
    const story = shipment({ mode });
    story.post('picked_up', day(3));
    expect(story.record.atd).toBe(atd);
  });

  it('is the earliest located at origin_port, else the earliest', () => {
    const story = voyage();
    story.post('vessel_departed', day(6), { location: 'SGSIN' });
    story.post('vessel_departed', day(4), { location: 'Yangshan' });
    expect(story.record.atd).toBe(day(4));
    story.post('vessel_departed', day(8), { location: 'CNSHA' });
    story.post('vessel_departed', day(7), { location: 'CNSHA' });
    expect(story.record.atd).toBe(day(7));
  });

  it('estimates are none', () => {
    const story = voyage();
    story.estimate('vessel_departed', day(3));
    expect(story.record.atd).toBeNull();
  });
});

describe('ata', () => {
  it.each([
    'vessel_arrived',
    'vessel_berthed',
    'flight_arrived',
    'discharged',
    'rail_unloaded',
    'arrived_at_destination',
  ])('%s arrives', (code) => {
    const story = shipment();
    story.post(code, day(3));
    expect(story.record.ata).toBe(day(3));
  });

  it.each(['unavailable_for_pickup', 'rail_arrived', 'transshipment_arrived', 'available_for_pickup', 'delivered'])(
    '%s does not',
    (code) => {
      const story = shipment();
      story.post(code, day(3));
      expect(story.record.ata).toBeNull();
    },
  );

  it('is the earliest located at destination_port', () => {
    const story = voyage();
    story.post('vessel_arrived', day(19), { location: 'USNYC' });
    story.post('discharged', day(22), { location: 'USLAX' });
    story.post('vessel_arrived', day(21), { location: 'USLAX' });
    expect(story.record.ata).toBe(day(21));
  });

  it('else the earliest after the last departure', () => {
    const story = voyage();
    story.post('vessel_arrived', day(10));
    story.post('vessel_departed', day(12));
    expect(story.record.ata).toBeNull();
    story.post('discharged', day(22));
    story.post('vessel_arrived', day(21));
    expect(story.record.ata).toBe(day(21));
  });

  it('one at the time of the last departure is after it', () => {
    const story = voyage();
    story.post('vessel_departed', day(12));
    story.post('vessel_arrived', day(12));
    expect(story.record).toMatchObject({ status: 'arrived', ata: day(12) });
  });

  it('one known not to be the end is none', () => {
    const story = voyage();
    story.post('vessel_arrived', day(10), { location: 'SGSIN' });
    expect(story.record.ata).toBeNull();
  });
});

describe('legs answer their own atd and ata', () => {
  it('from the milestones at their ports', () => {
    const story = inland();
    story.post('vessel_departed', day(1), { location: 'CNSHA' });
    story.post('transshipment_arrived', day(5), { location: 'SGSIN' });
    story.post('transshipment_departed', day(7), { location: 'SGSIN' });
    story.post('vessel_arrived', day(20), { location: 'USLAX' });
    story.post('rail_departed', day(22), { location: 'USLAX' });
    story.post('rail_arrived', day(25), { location: 'USCHI' });
    expect(story.record.legs.map(({ atd, ata }) => [atd, ata])).toEqual([
      [day(1), day(5)],
      [day(7), day(20)],
      [day(22), day(25)],
    ]);
    expect(story.record).toMatchObject({ atd: day(1), ata: null, status: 'in_transit' });
  });

  it('without a place the first one departs and the last one arrives', () => {
    const story = inland();
    story.post('vessel_departed', day(1));
    story.post('arrived_at_destination', day(25), { location: 'Chicago, door' });
    expect(story.record.legs.map(({ atd, ata }) => [atd, ata])).toEqual([
      [day(1), null],
      [null, null],
      [null, day(25)],
    ]);
  });

  it('a departure elsewhere is not the first leg’s, though it is the earliest known', () => {
    const story = inland();
    story.post('transshipment_departed', day(7), { location: 'SGSIN' });
    expect(story.record.atd).toBe(day(7));
    expect(story.record.legs[0]?.atd).toBeNull();
  });

  it('a pick-up departs a leg by road', () => {
    const story = voyage({
      legs: [
        leg({ mode: 'road', origin_port: 'CNNGB', destination_port: 'CNSHA' }),
        leg({ origin_port: 'CNSHA', destination_port: 'USLAX' }),
      ],
    });
    story.post('picked_up', day(1), { location: 'CNNGB' });
    expect(story.record.legs[0]?.atd).toBe(day(1));
    expect(story.record.legs[1]?.atd).toBeNull();
  });

  it('a single leg set by the client does so whatever its ports', () => {
    const story = voyage({ legs: [leg({ vessel: 'EVER GIVEN' })] });
    story.post('vessel_departed', day(3), { location: 'SGSIN' });
    expect(story.record).toMatchObject({ atd: day(3), legs: [{ atd: day(3) }] });
  });

  it('a single leg answers the shipment’s', () => {
    const story = voyage();
    story.post('vessel_departed', day(1));
    story.post('vessel_arrived', day(20));
    expect(story.record.legs).toMatchObject([{ atd: day(1), ata: day(20) }]);
  });
});

describe('an estimated arrival sets the eta', () => {
  it.each([null, 'Pier 400', 'USLAX'])('when located at %j', (location) => {
    const story = voyage();
    story.estimate('vessel_arrived', day(21), { location });
    expect(story.record).toMatchObject({ eta: day(21), original_eta: day(21), legs: [{ eta: day(21) }] });
  });

  it('when located at the last leg’s destination', () => {
    const story = voyage({ legs: [leg({ origin_port: 'CNSHA', destination_port: 'USNYC' })] });
    story.estimate('vessel_arrived', day(21), { location: 'USNYC' });
    expect(story.record).toMatchObject({ eta: day(21), legs: [{ eta: day(21) }] });
  });

  it('located elsewhere it sets that leg’s', () => {
    const story = inland({ eta: day(30) });
    story.estimate('vessel_arrived', day(21), { location: 'USLAX' });
    expect(story.record.eta).toBe(day(30));
    expect(story.record.legs.map(({ eta }) => eta)).toEqual([null, day(21), null]);
  });

  it('located where no leg ends it sets none', () => {
    const story = inland({ eta: day(30) });
    const { events } = story.estimate('vessel_arrived', day(21), { location: 'USNYC' });
    expect(events.map(({ type }) => type)).toEqual(['milestone.recorded.v1']);
  });

  it.each(['vessel_arrived', 'flight_arrived', 'arrived_at_destination'])('by %s, whatever the mode', (code) => {
    for (const mode of ['ocean', 'air', 'road', 'rail', 'barge', 'courier', 'multimodal', null] as const) {
      const story = shipment({ mode });
      story.estimate(code, day(21));
      expect(story.record.eta).toBe(day(21));
    }
  });

  it.each([
    ['rail_arrived', 'rail', day(21)],
    ['rail_unloaded', 'rail', day(21)],
    ['rail_arrived', 'ocean', null],
    ['delivered', 'road', day(21)],
    ['delivered', 'courier', day(21)],
    ['delivered', 'ocean', null],
    ['discharged', 'ocean', null],
    ['vessel_berthed', 'ocean', null],
  ] as const)('%s by %s gives %s', (code, mode, eta) => {
    const story = shipment({ mode });
    story.estimate(code, day(21));
    expect(story.record.eta).toBe(eta);
  });

  it('rail_arrived does so also where the last leg goes by rail', () => {
    const story = inland();
    story.estimate('rail_arrived', day(26), { location: 'USCHI' });
    expect(story.record.eta).toBe(day(26));
  });

  it('a planned one does not', () => {
    const story = voyage();
    story.post('vessel_arrived', day(21), { classifier: 'planned' });
    expect(story.record.eta).toBeNull();
  });

  it('the newest counts, whatever it says and whoever says it', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(23));
    story.estimate('vessel_arrived', day(21), { source: 'ais' });
    expect(story.record.eta).toBe(day(21));
    story.estimate('flight_arrived', day(22), { source: 'ais' });
    expect(story.record.eta).toBe(day(22));
  });

  it('once there is an estimated arrived_at_destination, the others leave eta alone', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20));
    story.estimate('arrived_at_destination', day(24));
    story.estimate('vessel_arrived', day(21));
    expect(story.record.eta).toBe(day(24));
    story.estimate('arrived_at_destination', day(25));
    expect(story.record.eta).toBe(day(25));
  });

  it('one at a stop on the way does not silence them', () => {
    const story = inland();
    story.estimate('arrived_at_destination', day(5), { location: 'SGSIN' });
    story.estimate('vessel_arrived', day(30), { location: 'USCHI' });
    expect(story.record.eta).toBe(day(30));
    expect(story.record.legs.map(({ eta }) => eta)).toEqual([day(5), null, day(30)]);
  });

  it('nor do those of legs fall silent by one for the shipment', () => {
    const story = inland();
    story.estimate('arrived_at_destination', day(30));
    story.estimate('vessel_arrived', day(20), { location: 'USLAX' });
    expect(story.record.legs.map(({ eta }) => eta)).toEqual([null, day(20), day(30)]);
  });

  it('correcting the newest moves it along', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20), { external_id: 'EV-1' });
    story.estimate('vessel_arrived', day(22), { source: 'ais' });
    story.estimate('vessel_arrived', day(21), { external_id: 'EV-1' });
    expect(story.record.eta).toBe(day(21));
  });

  it('original_eta stays the first one known', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(20));
    story.estimate('vessel_arrived', day(25));
    expect(story.record.original_eta).toBe(day(20));
  });
});

describe('where estimates name containers', () => {
  it('the latest of each container’s newest one counts', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.estimate('vessel_arrived', day(20), box(A));
    story.estimate('vessel_arrived', day(24), box(B));
    expect(story.record.eta).toBe(day(24));
    story.estimate('vessel_arrived', day(25), box(A));
    expect(story.record.eta).toBe(day(25));
    story.estimate('vessel_arrived', day(19), box(A));
    expect(story.record.eta).toBe(day(24));
    story.estimate('vessel_arrived', day(18), box(B));
    expect(story.record.eta).toBe(day(19));
  });

  it('one that names none is each container’s', () => {
    const story = voyage({ container_numbers: [A, B, C] });
    story.estimate('vessel_arrived', day(24), box(B));
    story.estimate('vessel_arrived', day(22));
    expect(story.record.eta).toBe(day(22));
    story.estimate('vessel_arrived', day(20), box(A));
    expect(story.record.eta).toBe(day(22));
  });

  it('those of a container taken off no longer count', () => {
    const story = voyage({ container_numbers: [A, B], eta: day(15) });
    story.estimate('vessel_arrived', day(20), box(A));
    story.estimate('vessel_arrived', day(24), box(B));
    story.upsert({ container_numbers: [A] });
    expect(story.record.eta).toBe(day(20));
    story.upsert({ container_numbers: [C] });
    expect(story.record.eta).toBe(day(15));
  });
});

describe('nothing moves eta after ata', () => {
  it('no estimate does', () => {
    const story = voyage({ eta: day(20) });
    story.post('vessel_arrived', day(21), { location: 'USLAX' });
    story.estimate('vessel_arrived', day(23));
    expect(story.record).toMatchObject({ eta: day(20), ata: day(21), legs: [{ eta: day(20) }] });
  });

  it('nor does a change of containers', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.estimate('vessel_arrived', day(20), box(A));
    story.estimate('vessel_arrived', day(24), box(B));
    story.post('vessel_arrived', day(21), { location: 'USLAX' });
    story.upsert({ container_numbers: [A] });
    expect(story.record.eta).toBe(day(24));
  });

  it('an arrival that turns out to be none lets them move it again', () => {
    const story = voyage({ eta: day(20) });
    story.post('vessel_arrived', day(21), { external_id: 'EV-1' });
    story.estimate('vessel_arrived', day(23));
    story.post('vessel_departed', day(21), { external_id: 'EV-1' });
    expect(story.record).toMatchObject({ ata: null, eta: day(23) });
  });

  it('of a leg, after that leg’s', () => {
    const story = inland();
    story.estimate('vessel_arrived', day(20), { location: 'USLAX' });
    story.post('vessel_arrived', day(21), { location: 'USLAX' });
    story.estimate('vessel_arrived', day(23), { location: 'USLAX' });
    expect(story.record.legs[1]).toMatchObject({ eta: day(20), ata: day(21) });
  });

  it('nor does an upsert, which is remembered all the same', () => {
    const story = voyage({ eta: day(20) });
    story.post('vessel_arrived', day(21), { external_id: 'EV-1' });
    expect(types(story.upsert({ eta: day(22) }))).toEqual(['shipment.updated.v1']);
    expect(story.record.eta).toBe(day(20));
    expect(story.upsert({ eta: day(22) }).outcome).toBe('unchanged');
    story.post('vessel_departed', day(21), { external_id: 'EV-1' });
    expect(story.record).toMatchObject({ ata: null, eta: day(22) });
  });

  it('the first one ever is no exception', () => {
    const story = voyage();
    story.post('vessel_arrived', day(21));
    story.upsert({ eta: day(22) });
    expect(story.record).toMatchObject({ eta: null, original_eta: null });
  });

  it('nor do legs', () => {
    const story = voyage({ legs: [leg({ destination_port: 'USLAX', eta: day(20) })] });
    story.post('vessel_arrived', day(21), { location: 'USLAX' });
    story.upsert({ legs: [leg({ destination_port: 'USLAX', eta: day(22) })] });
    expect(story.record).toMatchObject({ eta: day(20), legs: [{ eta: day(22) }] });
  });

  it('etd is the client’s to set also after the departure', () => {
    const story = voyage({ etd: day(1) });
    story.post('vessel_departed', day(2));
    story.upsert({ etd: day(3) });
    expect(story.record.etd).toBe(day(3));
    story.estimate('vessel_departed', day(4));
    expect(story.record.etd).toBe(day(3));
  });
});

describe('upserts, legs and estimates are statements of eta: the newest that stands wins', () => {
  const ends = (eta: string) => [leg({ origin_port: 'CNSHA', destination_port: 'USLAX', eta })];
  const upsert = { eta: day(20) };
  const legs = { legs: ends(day(21)) };

  it.each([
    ['an upsert, then an estimate', [upsert, day(22)], day(22)],
    ['an estimate, then an upsert', [day(22), upsert], day(20)],
    ['legs, then an estimate', [legs, day(22)], day(22)],
    ['an estimate, then legs', [day(22), legs], day(21)],
    ['an upsert, then legs: given itself it is not that of the legs', [upsert, legs], day(20)],
    ['legs, then an upsert', [legs, upsert], day(20)],
    ['an upsert, an estimate, then legs', [upsert, day(22), legs], day(22)],
    ['legs, an estimate, then an upsert', [legs, day(22), upsert], day(20)],
    [
      'an upsert with null is a statement too: what came before no longer counts',
      [upsert, day(22), { eta: null }],
      null,
    ],
    ['with legs it is theirs then', [upsert, legs, { eta: null }], day(21)],
    ['as estimates moved it', [upsert, legs, day(22), { eta: null }], day(22)],
    ['a resend of what was sent last states nothing', [upsert, day(22), upsert], day(22)],
    ['nor does one of legs', [legs, day(22), legs], day(22)],
    ['legs without an eta say nothing of it', [day(22), { legs: [leg({ destination_port: 'USLAX' })] }], day(22)],
    ['legs taken away take theirs along', [legs, { legs: [] }], null],
  ])('%s', (_, steps, eta) => {
    const story = voyage();
    for (const step of steps) {
      if (typeof step === 'string') story.estimate('vessel_arrived', step, { location: 'USLAX' });
      else story.upsert(step);
    }
    expect(story.record.eta).toBe(eta);
    story.post('gated_in', day(1));
    expect(story.record.eta).toBe(eta);
  });

  it('a correction that leaves its time alone is no new statement', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(22), { external_id: 'EV-1' });
    story.upsert({ eta: day(20) });
    expect(story.estimate('vessel_arrived', day(22), { external_id: 'EV-1', note: 'late' }).outcome).toBe('corrected');
    expect(story.record.eta).toBe(day(20));
    story.estimate('vessel_arrived', day(23), { external_id: 'EV-1' });
    expect(story.record.eta).toBe(day(23));
  });

  it('nor does it make a superseded one the current one', () => {
    const story = voyage();
    story.estimate('vessel_arrived', day(22), { external_id: 'EV-1' });
    story.estimate('vessel_arrived', day(24), { external_id: 'EV-2' });
    const { milestone, events } = story.estimate('vessel_arrived', day(22), { external_id: 'EV-1', note: 'late' });
    expect(milestone).toMatchObject({ revision: 2, note: 'late', superseded_at: expect.any(String) });
    expect(events).toMatchObject([{ type: 'milestone.corrected.v1', data: { supersedes: [], restores: [] } }]);
    expect(story.record.eta).toBe(day(24));
  });
});

describe('an estimated departure sets etd likewise', () => {
  it.each([null, 'Yangshan', 'CNSHA'])('when located at %j', (location) => {
    const story = voyage();
    story.estimate('vessel_departed', day(3), { location });
    expect(story.record).toMatchObject({ etd: day(3), legs: [{ etd: day(3) }] });
  });

  it('located elsewhere it sets that leg’s', () => {
    const story = inland({ etd: day(1) });
    story.estimate('transshipment_departed', day(8), { location: 'SGSIN' });
    expect(story.record.etd).toBe(day(1));
    expect(story.record.legs.map(({ etd }) => etd)).toEqual([null, day(8), null]);
  });

  it('while no actual one exists', () => {
    const story = voyage({ etd: day(1) });
    story.post('vessel_departed', day(2));
    story.estimate('vessel_departed', day(3));
    expect(story.record.etd).toBe(day(1));
  });

  it.each([
    ['road', day(3)],
    ['ocean', null],
  ] as const)('a pick-up by %s gives %s', (mode, etd) => {
    const story = shipment({ mode });
    story.estimate('picked_up', day(3));
    expect(story.record.etd).toBe(etd);
  });

  it('the latest of each container’s newest one counts', () => {
    const story = voyage({ container_numbers: [A, B] });
    story.estimate('vessel_departed', day(3), box(A));
    story.estimate('vessel_departed', day(5), box(B));
    story.estimate('vessel_departed', day(4), box(A));
    expect(story.record.etd).toBe(day(5));
  });
});

describe('legs set by the client', () => {
  it('start over: estimates from before no longer count for them', () => {
    const story = inland();
    story.estimate('vessel_arrived', day(21), { location: 'USLAX' });
    story.upsert({
      legs: [
        leg({ origin_port: 'CNSHA', destination_port: 'USLAX', eta: day(19) }),
        leg({ destination_port: 'USCHI' }),
      ],
    });
    expect(story.record.legs.map(({ eta }) => eta)).toEqual([day(19), null]);
    story.estimate('vessel_arrived', day(22), { location: 'USLAX' });
    expect(story.record.legs.map(({ eta }) => eta)).toEqual([day(22), null]);
  });

  it('keep the times that milestones give them', () => {
    const story = inland();
    story.post('vessel_departed', day(1), { location: 'CNSHA' });
    story.upsert({
      legs: [leg({ origin_port: 'CNSHA', destination_port: 'USLAX' }), leg({ destination_port: 'USCHI' })],
    });
    expect(story.record.legs[0]?.atd).toBe(day(1));
  });

  it('emptied, the shipment has the one from origin to destination again', () => {
    const story = inland({ eta: day(30) });
    story.upsert({ legs: [] });
    expect(story.record.legs).toMatchObject([{ origin_port: 'CNSHA', destination_port: 'USCHI', eta: day(30) }]);
  });

  const ends = (fields: Partial<LegFields> = {}) => [
    leg({ origin_port: 'CNSHA', destination_port: 'SGSIN', etd: day(1), eta: day(5), ...fields }),
    leg({ origin_port: 'SGSIN', destination_port: 'USLAX', etd: day(7), eta: day(20) }),
  ];

  it('give the shipment the ports and times that it does not have itself', () => {
    const story = shipment({ legs: ends() });
    expect(story.record).toMatchObject({
      origin_port: 'CNSHA',
      etd: day(1),
      destination_port: 'USLAX',
      eta: day(20),
      original_eta: day(20),
    });
    const own = { origin_port: 'CNNGB', etd: day(2), destination_port: 'USCHI', eta: day(22) };
    const given = shipment({ legs: ends(), ...own });
    expect(given.record).toMatchObject({ ...own, original_eta: day(22) });
    const some = shipment({ legs: ends(), origin_port: 'CNNGB', eta: day(22) });
    expect(some.record).toMatchObject({ origin_port: 'CNNGB', etd: day(1), destination_port: 'USLAX', eta: day(22) });
  });

  it('do so on an existing shipment, as one change', () => {
    const story = shipment();
    const decision = story.upsert({ legs: ends() });
    expect(dataOf(decision, 'shipment.changed.v1')?.changes).toMatchObject({
      origin_port: { from: null, to: 'CNSHA' },
      destination_port: { from: null, to: 'USLAX' },
      etd: { from: null, to: day(1) },
      eta: { from: null, to: day(20) },
      original_eta: { from: null, to: day(20) },
    });
    expect(story.upsert({ legs: ends() })).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('move them along; those given themselves stay', () => {
    const story = shipment({ legs: ends(), origin_port: 'CNSHA' });
    story.upsert({ legs: [leg({ origin_port: 'CNNGB', destination_port: 'USNYC', etd: day(3), eta: day(25) })] });
    expect(story.record).toMatchObject({
      origin_port: 'CNSHA',
      destination_port: 'USNYC',
      etd: day(3),
      eta: day(25),
      original_eta: day(20),
    });
    story.upsert({ legs: [] });
    expect(story.record).toMatchObject({ origin_port: 'CNSHA', destination_port: null, etd: null, eta: null });
  });

  it('given later what the legs say already, it is given: remembered, and not announced', () => {
    const story = shipment({ legs: ends() });
    const decision = story.upsert({ destination_port: 'USLAX', origin_port: 'CNSHA' });
    expect(types(decision)).toEqual(['shipment.ports_given.v1']);
    story.upsert({ legs: [leg({ origin_port: 'CNNGB', destination_port: 'USNYC' })] });
    expect(story.record).toMatchObject({ origin_port: 'CNSHA', destination_port: 'USLAX' });
    story.upsert({ origin_port: null });
    expect(story.record).toMatchObject({ origin_port: 'CNNGB', destination_port: 'USLAX' });
  });

  it('a departure and an arrival estimated at their ends move both the leg and the shipment', () => {
    const story = shipment({ legs: ends() });
    story.estimate('vessel_departed', day(2), { location: 'CNSHA' });
    story.estimate('vessel_arrived', day(6), { location: 'SGSIN' });
    story.estimate('vessel_arrived', day(22), { location: 'USLAX' });
    expect(story.record).toMatchObject({ etd: day(2), eta: day(22), original_eta: day(20) });
    expect(story.record.legs.map(({ etd, eta }) => [etd, eta])).toEqual([
      [day(2), day(6)],
      [day(7), day(22)],
    ]);
  });

  it('after the departure they move its etd as the client’s own would', () => {
    const story = shipment({ legs: ends() });
    story.post('vessel_departed', day(2), { location: 'CNSHA' });
    story.estimate('vessel_departed', day(4), { location: 'CNSHA' });
    expect(story.record.etd).toBe(day(1));
    story.upsert({ legs: ends({ etd: day(3) }) });
    expect(story.record.etd).toBe(day(3));
    story.post('in_transit_checkpoint', day(4));
    expect(story.record.etd).toBe(day(3));
  });

  it('warn when the shipment arrives before it departs', () => {
    const story = shipment();
    const crossed = [leg({ etd: day(9) }), leg({ eta: day(8) })];
    expect(story.upsert({ legs: crossed }).warnings).toMatchObject([{ code: 'eta_before_etd', param: 'eta' }]);
  });

  it('of a shipment from before ports followed legs count from the next upsert on', () => {
    const story = shipment({ house_bill: 'HB', legs: ends() });
    const [created] = story.events;
    if (created?.type !== 'shipment.created.v1') throw new Error('no creation');
    const { shipment: record } = created.data;
    const before = { ...record, origin_port: null, destination_port: null };
    const old = { ...created, data: { ...created.data, shipment: before } };
    story.events.splice(0, story.events.length, old);
    story.state = evolve(undefined, old);
    story.post('gated_in', day(1));
    expect(story.record.origin_port).toBeNull();
    story.upsert({ house_bill: 'HB' });
    expect(story.record).toMatchObject({ origin_port: 'CNSHA', destination_port: 'USLAX' });
    story.upsert({ legs: [leg({ origin_port: 'CNNGB' })] });
    expect(story.record).toMatchObject({ origin_port: 'CNNGB', destination_port: null });
  });

  it('give the shipment its ends where it names none itself', () => {
    const story = shipment({
      legs: [
        leg({ origin_port: 'CNSHA', destination_port: 'SGSIN' }),
        leg({ origin_port: 'SGSIN', destination_port: 'USLAX' }),
      ],
    });
    story.post('vessel_arrived', day(5), { location: 'SGSIN' });
    expect(story.record.status).toBe('in_transit');
    story.post('vessel_departed', day(22), { location: 'USLAX' });
    expect(story.record.atd).toBeNull();
    story.estimate('vessel_arrived', day(21), { location: 'USLAX' });
    expect(story.record.eta).toBe(day(21));
  });
});
