import type { LegFields, ClientShipmentFields } from '@tracking/contracts';
import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  type ShipmentScenario,
  createLegWithOtherFieldsNull,
  findDataOfDecidedEvent,
  createTimeInJanuary2026,
  createShipmentScenario,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../test/scenario.ts';
import { applyEventToState } from './index.ts';

const box = (container_number: string) => ({ container_number });
/** Ports: Shanghai, Singapore, Los Angeles, Chicago; the last leg goes by rail. */
const inland = (fields: Partial<ClientShipmentFields> = {}) =>
  createOceanShipmentScenario({
    destination_port: 'USCHI',
    legs: [
      createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'SGSIN' }),
      createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'USLAX' }),
      createLegWithOtherFieldsNull({ mode: 'rail', origin_port: 'USLAX', destination_port: 'USCHI' }),
    ],
    ...fields,
  });

describe('atd', () => {
  it.each(['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'])('is set by %s', (code) => {
    const scenario = createShipmentScenario();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(3));
    expect(scenario.record.atd).toBe(createTimeInJanuary2026(3));
  });

  it.each(['gated_in', 'loaded_on_vessel', 'in_transit_checkpoint', 'gated_out', 'out_for_delivery'])(
    'is not set by %s',
    (code) => {
      const scenario = createShipmentScenario({ mode: 'road' });
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(3));
      expect(scenario.record.atd).toBeNull();
    },
  );

  it.each([
    ['road', createTimeInJanuary2026(3)],
    ['courier', createTimeInJanuary2026(3)],
    ['ocean', null],
    [null, null],
  ] as const)('picked_up by %s gives %s', (mode, atd) => {
    const scenario = createShipmentScenario({ mode });
    scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(3));
    expect(scenario.record.atd).toBe(atd);
  });

  it('is the earliest at origin_port, otherwise the earliest', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(6), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4), { location: 'Yangshan' });
    expect(scenario.record.atd).toBe(createTimeInJanuary2026(4));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(8), { location: 'CNSHA' });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(7), { location: 'CNSHA' });
    expect(scenario.record.atd).toBe(createTimeInJanuary2026(7));
  });

  it('is not set by estimates', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(3));
    expect(scenario.record.atd).toBeNull();
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
  ])('is set by %s', (code) => {
    const scenario = createShipmentScenario();
    scenario.postMilestoneInScenario(code, createTimeInJanuary2026(3));
    expect(scenario.record.ata).toBe(createTimeInJanuary2026(3));
  });

  it.each(['unavailable_for_pickup', 'rail_arrived', 'transshipment_arrived', 'available_for_pickup', 'delivered'])(
    'is not set by %s',
    (code) => {
      const scenario = createShipmentScenario();
      scenario.postMilestoneInScenario(code, createTimeInJanuary2026(3));
      expect(scenario.record.ata).toBeNull();
    },
  );

  it('is the earliest at destination_port', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(19), { location: 'USNYC' });
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(22), { location: 'USLAX' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    expect(scenario.record.ata).toBe(createTimeInJanuary2026(21));
  });

  it('otherwise is the earliest after the last departure', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(10));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(12));
    expect(scenario.record.ata).toBeNull();
    scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(22));
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21));
    expect(scenario.record.ata).toBe(createTimeInJanuary2026(21));
  });

  it('may be at the time of the last departure', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(12));
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(12));
    expect(scenario.record).toMatchObject({ status: 'arrived', ata: createTimeInJanuary2026(12) });
  });

  it('ignores an arrival known not to be the end', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(10), { location: 'SGSIN' });
    expect(scenario.record.ata).toBeNull();
  });
});

describe('legs have their own atd and ata', () => {
  it('from the milestones at their ports', () => {
    const scenario = inland();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(1), { location: 'CNSHA' });
    scenario.postMilestoneInScenario('transshipment_arrived', createTimeInJanuary2026(5), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('transshipment_departed', createTimeInJanuary2026(7), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), { location: 'USLAX' });
    scenario.postMilestoneInScenario('rail_departed', createTimeInJanuary2026(22), { location: 'USLAX' });
    scenario.postMilestoneInScenario('rail_arrived', createTimeInJanuary2026(25), { location: 'USCHI' });
    expect(scenario.record.legs.map(({ atd, ata }) => [atd, ata])).toEqual([
      [createTimeInJanuary2026(1), createTimeInJanuary2026(5)],
      [createTimeInJanuary2026(7), createTimeInJanuary2026(20)],
      [createTimeInJanuary2026(22), createTimeInJanuary2026(25)],
    ]);
    expect(scenario.record).toMatchObject({ atd: createTimeInJanuary2026(1), ata: null, status: 'in_transit' });
  });

  it('from milestones without a place for the first departure and last arrival', () => {
    const scenario = inland();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(1));
    scenario.postMilestoneInScenario('arrived_at_destination', createTimeInJanuary2026(25), {
      location: 'Chicago, door',
    });
    expect(scenario.record.legs.map(({ atd, ata }) => [atd, ata])).toEqual([
      [createTimeInJanuary2026(1), null],
      [null, null],
      [null, createTimeInJanuary2026(25)],
    ]);
  });

  it('but the first leg has no departure from elsewhere, even if it is the earliest', () => {
    const scenario = inland();
    scenario.postMilestoneInScenario('transshipment_departed', createTimeInJanuary2026(7), { location: 'SGSIN' });
    expect(scenario.record.atd).toBe(createTimeInJanuary2026(7));
    expect(scenario.record.legs[0]?.atd).toBeNull();
  });

  it('including a pick-up of the only leg by road, although the shipment goes by another mode', () => {
    const legs = [createLegWithOtherFieldsNull({ mode: 'road', origin_port: 'DEHAM', destination_port: 'USCHI' })];
    const scenario = createShipmentScenario({ mode: 'multimodal', legs });
    scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(3), { location: 'DEHAM' });
    expect([scenario.record.atd, scenario.record.legs[0]?.atd]).toEqual([null, createTimeInJanuary2026(3)]);
  });

  it('including a pick-up of a leg by road', () => {
    const scenario = createOceanShipmentScenario({
      legs: [
        createLegWithOtherFieldsNull({ mode: 'road', origin_port: 'CNNGB', destination_port: 'CNSHA' }),
        createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'USLAX' }),
      ],
    });
    scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(1), { location: 'CNNGB' });
    expect(scenario.record.legs[0]?.atd).toBe(createTimeInJanuary2026(1));
    expect(scenario.record.legs[1]?.atd).toBeNull();
  });

  describe('through the same port twice', () => {
    /** Legs there, back, and on to another port. */
    const roundTrip = () =>
      createShipmentScenario({
        mode: 'road',
        legs: [
          createLegWithOtherFieldsNull({
            origin_port: 'CNSHA',
            destination_port: 'CNNGB',
            etd: createTimeInJanuary2026(1),
            eta: createTimeInJanuary2026(2),
          }),
          createLegWithOtherFieldsNull({
            origin_port: 'CNNGB',
            destination_port: 'CNSHA',
            etd: createTimeInJanuary2026(3),
            eta: createTimeInJanuary2026(4),
          }),
          createLegWithOtherFieldsNull({
            origin_port: 'CNSHA',
            destination_port: 'CNNGB',
            etd: createTimeInJanuary2026(5),
            eta: createTimeInJanuary2026(6),
          }),
          createLegWithOtherFieldsNull({
            origin_port: 'CNNGB',
            destination_port: 'USLAX',
            etd: createTimeInJanuary2026(7),
            eta: createTimeInJanuary2026(8),
          }),
        ],
      });
    const moves: readonly [code: string, number, location: string][] = [
      ['picked_up', 1, 'CNSHA'],
      ['arrived_at_destination', 2, 'CNNGB'],
      ['picked_up', 3, 'CNNGB'],
      ['arrived_at_destination', 4, 'CNSHA'],
      ['picked_up', 5, 'CNSHA'],
      ['arrived_at_destination', 6, 'CNNGB'],
      ['picked_up', 7, 'CNNGB'],
    ];
    const times = (scenario: ShipmentScenario) => scenario.record.legs.map(({ atd, ata }) => [atd, ata]);

    it('have their own times, in any order of arrival', () => {
      for (const inOrder of [moves, moves.toReversed()]) {
        const scenario = roundTrip();
        for (const [code, when, location] of inOrder)
          scenario.postMilestoneInScenario(code, createTimeInJanuary2026(when), { location });
        expect(times(scenario)).toEqual([
          [createTimeInJanuary2026(1), createTimeInJanuary2026(2)],
          [createTimeInJanuary2026(3), createTimeInJanuary2026(4)],
          [createTimeInJanuary2026(5), createTimeInJanuary2026(6)],
          [createTimeInJanuary2026(7), null],
        ]);
      }
    });

    it('have none before the leg between them began, and keep their plan', () => {
      const scenario = roundTrip();
      scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(1), { location: 'CNSHA' });
      scenario.postMilestoneInScenario('arrived_at_destination', createTimeInJanuary2026(2), { location: 'CNNGB' });
      expect(times(scenario)).toEqual([
        [createTimeInJanuary2026(1), createTimeInJanuary2026(2)],
        ...Array<null[]>(3).fill([null, null]),
      ]);
      scenario.postEstimateInScenario('picked_up', createTimeInJanuary2026(9), { location: 'CNSHA' });
      expect(scenario.record.legs.map(({ etd }) => etd)).toEqual([
        createTimeInJanuary2026(1),
        createTimeInJanuary2026(3),
        createTimeInJanuary2026(5),
        createTimeInJanuary2026(7),
      ]);
      // Belongs to the third leg as soon as the second one has departed or arrived.
      scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(3), { location: 'CNNGB' });
      expect(scenario.record.legs.map(({ etd }) => etd)).toEqual([
        createTimeInJanuary2026(1),
        createTimeInJanuary2026(3),
        createTimeInJanuary2026(9),
        createTimeInJanuary2026(7),
      ]);
      scenario.postMilestoneInScenario('picked_up', createTimeInJanuary2026(10), { location: 'CNSHA' });
      expect(times(scenario)[2]).toEqual([createTimeInJanuary2026(10), null]);
    });
  });

  it('a single leg set by the client has them regardless of its ports', () => {
    const scenario = createOceanShipmentScenario({ legs: [createLegWithOtherFieldsNull({ vessel: 'EVER GIVEN' })] });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(3), { location: 'SGSIN' });
    expect(scenario.record).toMatchObject({
      atd: createTimeInJanuary2026(3),
      legs: [{ atd: createTimeInJanuary2026(3) }],
    });
  });

  it('a single leg has the shipment’s', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(1));
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20));
    expect(scenario.record.legs).toMatchObject([{ atd: createTimeInJanuary2026(1), ata: createTimeInJanuary2026(20) }]);
  });
});

describe('an estimated arrival sets the eta', () => {
  it.each([null, 'Pier 400', 'USLAX'])('when located at %j', (location) => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { location });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(21),
      original_eta: createTimeInJanuary2026(21),
      legs: [{ eta: createTimeInJanuary2026(21) }],
    });
  });

  it('when located at the last leg’s destination, unless the shipment has another destination', () => {
    const legs = [createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'USNYC' })];
    const scenario = createOceanShipmentScenario({ destination_port: null, legs });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USNYC' });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(21),
      legs: [{ eta: createTimeInJanuary2026(21) }],
    });
    const other = createOceanShipmentScenario({ legs });
    other.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USNYC' });
    expect(other.record).toMatchObject({ eta: null, legs: [{ eta: createTimeInJanuary2026(21) }] });
  });

  it('located elsewhere sets that leg’s', () => {
    const scenario = inland({ eta: createTimeInJanuary2026(30) });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(30));
    expect(scenario.record.legs.map(({ eta }) => eta)).toEqual([null, createTimeInJanuary2026(21), null]);
  });

  it('located where no leg ends sets none', () => {
    const scenario = inland({ eta: createTimeInJanuary2026(30) });
    const { events } = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), {
      location: 'USNYC',
    });
    expect(events.map(({ type }) => type)).toEqual(['milestone.recorded.v1']);
  });

  it.each(['vessel_arrived', 'flight_arrived', 'arrived_at_destination'])('by %s, regardless of the mode', (code) => {
    for (const mode of ['ocean', 'air', 'road', 'rail', 'barge', 'courier', 'multimodal', null] as const) {
      const scenario = createShipmentScenario({ mode });
      scenario.postEstimateInScenario(code, createTimeInJanuary2026(21));
      expect(scenario.record.eta).toBe(createTimeInJanuary2026(21));
    }
  });

  it.each([
    ['rail_arrived', 'rail', createTimeInJanuary2026(21)],
    ['rail_unloaded', 'rail', createTimeInJanuary2026(21)],
    ['rail_arrived', 'ocean', null],
    ['delivered', 'road', createTimeInJanuary2026(21)],
    ['delivered', 'courier', createTimeInJanuary2026(21)],
    ['delivered', 'ocean', null],
    ['discharged', 'ocean', null],
    ['vessel_berthed', 'ocean', null],
  ] as const)('%s by %s gives %s', (code, mode, eta) => {
    const scenario = createShipmentScenario({ mode });
    scenario.postEstimateInScenario(code, createTimeInJanuary2026(21));
    expect(scenario.record.eta).toBe(eta);
  });

  it('by rail_arrived also if the last leg goes by rail', () => {
    const scenario = inland();
    scenario.postEstimateInScenario('rail_arrived', createTimeInJanuary2026(26), { location: 'USCHI' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(26));
  });

  it('but a planned one does not', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { classifier: 'planned' });
    expect(scenario.record.eta).toBeNull();
  });

  it('the newest counts, regardless of its value and source', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { source: 'ais' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(21));
    scenario.postEstimateInScenario('flight_arrived', createTimeInJanuary2026(22), { source: 'ais' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(22));
  });

  it('once there is an estimated arrived_at_destination, the others leave eta alone', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
    scenario.postEstimateInScenario('arrived_at_destination', createTimeInJanuary2026(24));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(24));
    scenario.postEstimateInScenario('arrived_at_destination', createTimeInJanuary2026(25));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(25));
  });

  it('but not if it is at a stop on the way', () => {
    const scenario = inland();
    scenario.postEstimateInScenario('arrived_at_destination', createTimeInJanuary2026(5), { location: 'SGSIN' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(30), { location: 'USCHI' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(30));
    expect(scenario.record.legs.map(({ eta }) => eta)).toEqual([
      createTimeInJanuary2026(5),
      null,
      createTimeInJanuary2026(30),
    ]);
  });

  it('nor for legs', () => {
    const scenario = inland();
    scenario.postEstimateInScenario('arrived_at_destination', createTimeInJanuary2026(30));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), { location: 'USLAX' });
    expect(scenario.record.legs.map(({ eta }) => eta)).toEqual([
      null,
      createTimeInJanuary2026(20),
      createTimeInJanuary2026(30),
    ]);
  });

  it('a correction of the newest changes it', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), { external_id: 'EV-1' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), { source: 'ais' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { external_id: 'EV-1' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(21));
  });

  it('original_eta stays the first known one', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(25));
    expect(scenario.record.original_eta).toBe(createTimeInJanuary2026(20));
  });
});

describe('where estimates name containers', () => {
  it('uses the latest of each container’s newest one', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(24), box(CONTAINER_B));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(24));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(25), box(CONTAINER_A));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(25));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(19), box(CONTAINER_A));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(24));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(18), box(CONTAINER_B));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(19));
  });

  it('one that names none applies to each container', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B, CONTAINER_C] });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(24), box(CONTAINER_B));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(22));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), box(CONTAINER_A));
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(22));
  });

  it('ignores those of a removed container', () => {
    const scenario = createOceanShipmentScenario({
      container_numbers: [CONTAINER_A, CONTAINER_B],
      eta: createTimeInJanuary2026(15),
    });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), box(CONTAINER_A));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(24), box(CONTAINER_B));
    scenario.upsertShipment({ container_numbers: [CONTAINER_A] });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
    scenario.upsertShipment({ container_numbers: [CONTAINER_C] });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(15));
  });
});

describe('a port of a leg that no table knows', () => {
  /** An IATA city code, which tables of airports do not contain. */
  const viaLondon = () =>
    createShipmentScenario({
      mode: 'air',
      legs: [
        createLegWithOtherFieldsNull({
          origin_port: 'SIN',
          destination_port: 'LON',
          etd: createTimeInJanuary2026(1),
          eta: createTimeInJanuary2026(2),
        }),
        createLegWithOtherFieldsNull({
          origin_port: 'LON',
          destination_port: 'JFK',
          etd: createTimeInJanuary2026(3),
          eta: createTimeInJanuary2026(4),
        }),
      ],
    });

  it('counts as a place: its estimates are only for its legs', () => {
    const scenario = viaLondon();
    scenario.postEstimateInScenario('flight_arrived', createTimeInJanuary2026(6), { location: 'LON' });
    scenario.postEstimateInScenario('flight_departed', createTimeInJanuary2026(7), { location: 'LON' });
    expect(scenario.record).toMatchObject({
      etd: createTimeInJanuary2026(1),
      eta: createTimeInJanuary2026(4),
      legs: [
        { etd: createTimeInJanuary2026(1), eta: createTimeInJanuary2026(6) },
        { etd: createTimeInJanuary2026(7), eta: createTimeInJanuary2026(4) },
      ],
    });
  });

  it('is not where the first leg departs or the last one arrives', () => {
    const scenario = viaLondon();
    scenario.postMilestoneInScenario('flight_departed', createTimeInJanuary2026(3), { location: 'LON' });
    scenario.postMilestoneInScenario('flight_arrived', createTimeInJanuary2026(4), { location: 'LON' });
    expect(scenario.record.legs).toMatchObject([
      { atd: null, ata: createTimeInJanuary2026(4) },
      { atd: createTimeInJanuary2026(3), ata: null },
    ]);
  });
});

describe('nothing changes eta after ata', () => {
  it('not an estimate', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(20),
      ata: createTimeInJanuary2026(21),
      legs: [{ eta: createTimeInJanuary2026(20) }],
    });
  });

  it('but the removal of the container that set it', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      ...box(CONTAINER_A),
      reported_at: createTimeInJanuary2026(10),
    });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(24), {
      ...box(CONTAINER_B),
      reported_at: createTimeInJanuary2026(10),
    });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(24));
    scenario.upsertShipment({ container_numbers: [CONTAINER_A] });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
  });

  it('until the arrival is retracted', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { external_id: 'EV-1' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23));
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(21), { external_id: 'EV-1' });
    expect(scenario.record).toMatchObject({ ata: null, eta: createTimeInJanuary2026(23) });
  });

  it('of a leg, after that leg’s', () => {
    const scenario = inland();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      location: 'USLAX',
      reported_at: createTimeInJanuary2026(10),
    });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23), { location: 'USLAX' });
    expect(scenario.record.legs[1]).toMatchObject({
      eta: createTimeInJanuary2026(20),
      ata: createTimeInJanuary2026(21),
    });
  });

  it('nor an upsert, which is still remembered', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(20) });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { external_id: 'EV-1' });
    expect(getTypesOfDecidedEvents(scenario.upsertShipment({ eta: createTimeInJanuary2026(22) }))).toEqual([
      'shipment.updated.v1',
    ]);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
    expect(scenario.upsertShipment({ eta: createTimeInJanuary2026(22) }).outcome).toBe('unchanged');
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(21), { external_id: 'EV-1' });
    expect(scenario.record).toMatchObject({ ata: null, eta: createTimeInJanuary2026(22) });
  });

  it('also if there was none before', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21));
    scenario.upsertShipment({ eta: createTimeInJanuary2026(22) });
    expect(scenario.record).toMatchObject({ eta: null, original_eta: null });
  });

  it('nor legs', () => {
    const scenario = createOceanShipmentScenario({
      legs: [createLegWithOtherFieldsNull({ destination_port: 'USLAX', eta: createTimeInJanuary2026(20) })],
    });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    scenario.upsertShipment({
      legs: [createLegWithOtherFieldsNull({ destination_port: 'USLAX', eta: createTimeInJanuary2026(22) })],
    });
    expect(scenario.record).toMatchObject({
      eta: createTimeInJanuary2026(20),
      legs: [{ eta: createTimeInJanuary2026(22) }],
    });
  });

  it('but the client may set etd after the departure', () => {
    const scenario = createOceanShipmentScenario({ etd: createTimeInJanuary2026(1) });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.upsertShipment({ etd: createTimeInJanuary2026(3) });
    expect(scenario.record.etd).toBe(createTimeInJanuary2026(3));
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(4));
    expect(scenario.record.etd).toBe(createTimeInJanuary2026(3));
  });
});

describe('upserts, legs and estimates are statements of eta: the newest valid one wins', () => {
  const ends = (eta: string) => [
    createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'USLAX', eta }),
  ];
  const upsert = { eta: createTimeInJanuary2026(20) };
  const legs = { legs: ends(createTimeInJanuary2026(21)) };

  it.each([
    ['an upsert, then an estimate', [upsert, createTimeInJanuary2026(22)], createTimeInJanuary2026(22)],
    ['an estimate, then an upsert', [createTimeInJanuary2026(22), upsert], createTimeInJanuary2026(20)],
    ['legs, then an estimate', [legs, createTimeInJanuary2026(22)], createTimeInJanuary2026(22)],
    ['an estimate, then legs', [createTimeInJanuary2026(22), legs], createTimeInJanuary2026(21)],
    ['an upsert, then legs: given itself it is not that of the legs', [upsert, legs], createTimeInJanuary2026(20)],
    ['legs, then an upsert', [legs, upsert], createTimeInJanuary2026(20)],
    ['an upsert, an estimate, then legs', [upsert, createTimeInJanuary2026(22), legs], createTimeInJanuary2026(22)],
    ['legs, an estimate, then an upsert', [legs, createTimeInJanuary2026(22), upsert], createTimeInJanuary2026(20)],
    [
      'an upsert with null is a statement too: what came before no longer counts',
      [upsert, createTimeInJanuary2026(22), { eta: null }],
      null,
    ],
    ['with legs it is theirs then', [upsert, legs, { eta: null }], createTimeInJanuary2026(21)],
    ['as estimates moved it', [upsert, legs, createTimeInJanuary2026(22), { eta: null }], createTimeInJanuary2026(22)],
    [
      'a resend of what was sent last states nothing',
      [upsert, createTimeInJanuary2026(22), upsert],
      createTimeInJanuary2026(22),
    ],
    ['nor does one of legs', [legs, createTimeInJanuary2026(22), legs], createTimeInJanuary2026(22)],
    [
      'legs without an eta say nothing of it',
      [createTimeInJanuary2026(22), { legs: [createLegWithOtherFieldsNull({ destination_port: 'USLAX' })] }],
      createTimeInJanuary2026(22),
    ],
    ['legs taken away take theirs along', [legs, { legs: [] }], null],
  ])('%s', (_, steps, eta) => {
    const scenario = createOceanShipmentScenario();
    for (const step of steps) {
      if (typeof step === 'string') scenario.postEstimateInScenario('vessel_arrived', step, { location: 'USLAX' });
      else scenario.upsertShipment(step);
    }
    expect(scenario.record.eta).toBe(eta);
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1));
    expect(scenario.record.eta).toBe(eta);
  });

  it('a correction that keeps its time is not a new statement', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), { external_id: 'EV-1' });
    scenario.upsertShipment({ eta: createTimeInJanuary2026(20) });
    expect(
      scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), {
        external_id: 'EV-1',
        note: 'late',
      }).outcome,
    ).toBe('corrected');
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(23), { external_id: 'EV-1' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(23));
  });

  it('nor does it make a superseded one current', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), { external_id: 'EV-1' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(24), { external_id: 'EV-2' });
    const { milestone, events } = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), {
      external_id: 'EV-1',
      note: 'late',
    });
    expect(milestone).toMatchObject({ revision: 2, note: 'late', superseded_at: expect.any(String) });
    expect(events).toMatchObject([{ type: 'milestone.corrected.v1', data: { supersedes: [], restores: [] } }]);
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(24));
  });
});

describe('an estimated departure sets etd likewise', () => {
  it.each([null, 'Yangshan', 'CNSHA'])('when located at %j', (location) => {
    const scenario = createOceanShipmentScenario();
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(3), { location });
    expect(scenario.record).toMatchObject({
      etd: createTimeInJanuary2026(3),
      legs: [{ etd: createTimeInJanuary2026(3) }],
    });
  });

  it('located elsewhere sets that leg’s', () => {
    const scenario = inland({ etd: createTimeInJanuary2026(1) });
    scenario.postEstimateInScenario('transshipment_departed', createTimeInJanuary2026(8), { location: 'SGSIN' });
    expect(scenario.record.etd).toBe(createTimeInJanuary2026(1));
    expect(scenario.record.legs.map(({ etd }) => etd)).toEqual([null, createTimeInJanuary2026(8), null]);
  });

  it('while no actual one exists', () => {
    const scenario = createOceanShipmentScenario({ etd: createTimeInJanuary2026(1) });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2));
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(3));
    expect(scenario.record.etd).toBe(createTimeInJanuary2026(1));
  });

  it.each([
    ['road', createTimeInJanuary2026(3)],
    ['ocean', null],
  ] as const)('a pick-up by %s gives %s', (mode, etd) => {
    const scenario = createShipmentScenario({ mode });
    scenario.postEstimateInScenario('picked_up', createTimeInJanuary2026(3));
    expect(scenario.record.etd).toBe(etd);
  });

  it('uses the latest of each container’s newest one', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(3), box(CONTAINER_A));
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(5), box(CONTAINER_B));
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(4), box(CONTAINER_A));
    expect(scenario.record.etd).toBe(createTimeInJanuary2026(5));
  });
});

describe('legs set by the client', () => {
  it('restart: earlier estimates no longer count for them', () => {
    const scenario = inland();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    scenario.upsertShipment({
      legs: [
        createLegWithOtherFieldsNull({
          origin_port: 'CNSHA',
          destination_port: 'USLAX',
          eta: createTimeInJanuary2026(19),
        }),
        createLegWithOtherFieldsNull({ destination_port: 'USCHI' }),
      ],
    });
    expect(scenario.record.legs.map(({ eta }) => eta)).toEqual([createTimeInJanuary2026(19), null]);
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), { location: 'USLAX' });
    expect(scenario.record.legs.map(({ eta }) => eta)).toEqual([createTimeInJanuary2026(22), null]);
  });

  it('keep the times that milestones give them', () => {
    const scenario = inland();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(1), { location: 'CNSHA' });
    scenario.upsertShipment({
      legs: [
        createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'USLAX' }),
        createLegWithOtherFieldsNull({ destination_port: 'USCHI' }),
      ],
    });
    expect(scenario.record.legs[0]?.atd).toBe(createTimeInJanuary2026(1));
  });

  it('when removed, leave the leg from origin to destination', () => {
    const scenario = inland({ eta: createTimeInJanuary2026(30) });
    scenario.upsertShipment({ legs: [] });
    expect(scenario.record.legs).toMatchObject([
      { origin_port: 'CNSHA', destination_port: 'USCHI', eta: createTimeInJanuary2026(30) },
    ]);
  });

  const ends = (fields: Partial<LegFields> = {}) => [
    createLegWithOtherFieldsNull({
      origin_port: 'CNSHA',
      destination_port: 'SGSIN',
      etd: createTimeInJanuary2026(1),
      eta: createTimeInJanuary2026(5),
      ...fields,
    }),
    createLegWithOtherFieldsNull({
      origin_port: 'SGSIN',
      destination_port: 'USLAX',
      etd: createTimeInJanuary2026(7),
      eta: createTimeInJanuary2026(20),
    }),
  ];

  it('give the shipment the ports and times that it does not have itself', () => {
    const scenario = createShipmentScenario({ legs: ends() });
    expect(scenario.record).toMatchObject({
      origin_port: 'CNSHA',
      etd: createTimeInJanuary2026(1),
      destination_port: 'USLAX',
      eta: createTimeInJanuary2026(20),
      original_eta: createTimeInJanuary2026(20),
    });
    const own = {
      origin_port: 'CNNGB',
      etd: createTimeInJanuary2026(2),
      destination_port: 'USCHI',
      eta: createTimeInJanuary2026(22),
    };
    const given = createShipmentScenario({ legs: ends(), ...own });
    expect(given.record).toMatchObject({ ...own, original_eta: createTimeInJanuary2026(22) });
    const some = createShipmentScenario({ legs: ends(), origin_port: 'CNNGB', eta: createTimeInJanuary2026(22) });
    expect(some.record).toMatchObject({
      origin_port: 'CNNGB',
      etd: createTimeInJanuary2026(1),
      destination_port: 'USLAX',
      eta: createTimeInJanuary2026(22),
    });
  });

  it('do so on an existing shipment, as one change', () => {
    const scenario = createShipmentScenario();
    const decision = scenario.upsertShipment({ legs: ends() });
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toMatchObject({
      origin_port: { from: null, to: 'CNSHA' },
      destination_port: { from: null, to: 'USLAX' },
      etd: { from: null, to: createTimeInJanuary2026(1) },
      eta: { from: null, to: createTimeInJanuary2026(20) },
      original_eta: { from: null, to: createTimeInJanuary2026(20) },
    });
    expect(scenario.upsertShipment({ legs: ends() })).toMatchObject({ outcome: 'unchanged', events: [] });
  });

  it('change these, but not those that were given', () => {
    const scenario = createShipmentScenario({ legs: ends(), origin_port: 'CNSHA' });
    scenario.upsertShipment({
      legs: [
        createLegWithOtherFieldsNull({
          origin_port: 'CNNGB',
          destination_port: 'USNYC',
          etd: createTimeInJanuary2026(3),
          eta: createTimeInJanuary2026(25),
        }),
      ],
    });
    expect(scenario.record).toMatchObject({
      origin_port: 'CNSHA',
      destination_port: 'USNYC',
      etd: createTimeInJanuary2026(3),
      eta: createTimeInJanuary2026(25),
      original_eta: createTimeInJanuary2026(20),
    });
    scenario.upsertShipment({ legs: [] });
    expect(scenario.record).toMatchObject({ origin_port: 'CNSHA', destination_port: null, etd: null, eta: null });
  });

  it('given later with the values of the legs are stored but not announced', () => {
    const scenario = createShipmentScenario({ legs: ends() });
    const decision = scenario.upsertShipment({ destination_port: 'USLAX', origin_port: 'CNSHA' });
    expect(getTypesOfDecidedEvents(decision)).toEqual(['shipment.ports_given.v1']);
    scenario.upsertShipment({
      legs: [createLegWithOtherFieldsNull({ origin_port: 'CNNGB', destination_port: 'USNYC' })],
    });
    expect(scenario.record).toMatchObject({ origin_port: 'CNSHA', destination_port: 'USLAX' });
    scenario.upsertShipment({ origin_port: null });
    expect(scenario.record).toMatchObject({ origin_port: 'CNNGB', destination_port: 'USLAX' });
  });

  it('share estimates of departure and arrival at their ends with the shipment', () => {
    const scenario = createShipmentScenario({ legs: ends() });
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(2), { location: 'CNSHA' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(6), { location: 'SGSIN' });
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22), { location: 'USLAX' });
    expect(scenario.record).toMatchObject({
      etd: createTimeInJanuary2026(2),
      eta: createTimeInJanuary2026(22),
      original_eta: createTimeInJanuary2026(20),
    });
    expect(scenario.record.legs.map(({ etd, eta }) => [etd, eta])).toEqual([
      [createTimeInJanuary2026(2), createTimeInJanuary2026(6)],
      [createTimeInJanuary2026(7), createTimeInJanuary2026(22)],
    ]);
  });

  it('change its etd after the departure like the client’s own', () => {
    const scenario = createShipmentScenario({ legs: ends() });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), { location: 'CNSHA' });
    scenario.postEstimateInScenario('vessel_departed', createTimeInJanuary2026(4), { location: 'CNSHA' });
    expect(scenario.record.etd).toBe(createTimeInJanuary2026(1));
    scenario.upsertShipment({ legs: ends({ etd: createTimeInJanuary2026(3) }) });
    expect(scenario.record.etd).toBe(createTimeInJanuary2026(3));
    scenario.postMilestoneInScenario('in_transit_checkpoint', createTimeInJanuary2026(4));
    expect(scenario.record.etd).toBe(createTimeInJanuary2026(3));
  });

  it('warn if the shipment arrives before it departs', () => {
    const scenario = createShipmentScenario();
    const crossed = [
      createLegWithOtherFieldsNull({ etd: createTimeInJanuary2026(9) }),
      createLegWithOtherFieldsNull({ eta: createTimeInJanuary2026(8) }),
    ];
    expect(scenario.upsertShipment({ legs: crossed }).warnings).toMatchObject([
      { code: 'eta_before_etd', param: 'eta' },
    ]);
  });

  it('count from the next upsert on for shipments stored before ports followed legs', () => {
    const scenario = createShipmentScenario({ house_bill: 'HB', legs: ends() });
    const [created] = scenario.events;
    if (created?.type !== 'shipment.created.v1') throw new Error('no creation');
    const { shipment: record } = created.data;
    const before = { ...record, origin_port: null, destination_port: null };
    const old = { ...created, data: { ...created.data, shipment: before } };
    scenario.events.splice(0, scenario.events.length, old);
    scenario.state = applyEventToState(undefined, old);
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(1));
    expect(scenario.record.origin_port).toBeNull();
    scenario.upsertShipment({ house_bill: 'HB' });
    expect(scenario.record).toMatchObject({ origin_port: 'CNSHA', destination_port: 'USLAX' });
    scenario.upsertShipment({ legs: [createLegWithOtherFieldsNull({ origin_port: 'CNNGB' })] });
    expect(scenario.record).toMatchObject({ origin_port: 'CNNGB', destination_port: null });
  });

  it('give the shipment its ports if it has none', () => {
    const scenario = createShipmentScenario({
      legs: [
        createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'SGSIN' }),
        createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'USLAX' }),
      ],
    });
    scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(5), { location: 'SGSIN' });
    expect(scenario.record.status).toBe('in_transit');
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(22), { location: 'USLAX' });
    expect(scenario.record.atd).toBeNull();
    scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(21), { location: 'USLAX' });
    expect(scenario.record.eta).toBe(createTimeInJanuary2026(21));
  });
});
