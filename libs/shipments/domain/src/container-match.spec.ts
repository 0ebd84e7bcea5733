import type { ShipmentStatus } from '@tracking/contracts';
import {
  CONTAINER_A,
  ShipmentScenario,
  createTimeInJanuary2026,
  createMilestoneInput,
  scenarioPlacesStub,
} from '../test/scenario.ts';
import {
  type ContainerMatchCandidate,
  collectContainerMatchFacts,
  selectShipmentsForContainerMilestone,
} from './container-match.ts';

type Candidate = ContainerMatchCandidate & { readonly id: string };

const candidate = (id: string, fields: Partial<ContainerMatchCandidate>): Candidate => ({
  id,
  status: 'in_transit',
  ended_at: null,
  from: createTimeInJanuary2026(1),
  until: null,
  isKnown: false,
  ...fields,
});
const finished = (id: string, ended_at: string, status: ShipmentStatus = 'completed') =>
  candidate(id, { status, ended_at });
const cancelled = (id: string, isKnown = false) => candidate(id, { status: 'cancelled', isKnown });
const open = (id: string, from: string, until: string | null = null) => candidate(id, { from, until });
const known = (id: string, fields: Partial<ContainerMatchCandidate>) => candidate(id, { ...fields, isKnown: true });

describe('selectMatchingShipments', () => {
  it.each<[string, readonly Candidate[], string, readonly string[]]>([
    [
      'a finished shipment up to its end',
      [finished('A', createTimeInJanuary2026(20)), open('B', createTimeInJanuary2026(25))],
      createTimeInJanuary2026(20),
      ['A'],
    ],
    [
      'the open shipment after the end of the finished one',
      [finished('A', createTimeInJanuary2026(20)), open('B', createTimeInJanuary2026(25))],
      createTimeInJanuary2026(21),
      ['B'],
    ],
    [
      'a returned shipment like a completed one',
      [finished('A', createTimeInJanuary2026(20), 'returned')],
      createTimeInJanuary2026(9),
      ['A'],
    ],
    [
      'the first of several that ended later',
      [finished('A', createTimeInJanuary2026(30)), finished('B', createTimeInJanuary2026(20))],
      createTimeInJanuary2026(15),
      ['B'],
    ],
    [
      'the later one after the end of the first',
      [finished('A', createTimeInJanuary2026(30)), finished('B', createTimeInJanuary2026(20))],
      createTimeInJanuary2026(25),
      ['A'],
    ],
    [
      'none after the end of all',
      [finished('A', createTimeInJanuary2026(30)), finished('B', createTimeInJanuary2026(20))],
      createTimeInJanuary2026(31),
      [],
    ],
    [
      'a finished one for its own milestones',
      [known('A', { status: 'completed', ended_at: createTimeInJanuary2026(9) })],
      createTimeInJanuary2026(30),
      ['A'],
    ],
    ['no cancelled one', [cancelled('A')], createTimeInJanuary2026(3), []],
    [
      'a cancelled one for its own milestones',
      [cancelled('A', true), open('B', createTimeInJanuary2026(1))],
      createTimeInJanuary2026(3),
      ['A'],
    ],
    [
      'an open one at any time, if it is the only one',
      [open('A', createTimeInJanuary2026(20), createTimeInJanuary2026(25))],
      createTimeInJanuary2026(2),
      ['A'],
    ],
    [
      'the open one under way at the time',
      [open('A', createTimeInJanuary2026(1), createTimeInJanuary2026(15)), open('B', createTimeInJanuary2026(20))],
      createTimeInJanuary2026(22),
      ['B'],
    ],
    [
      'several open ones under way at the time',
      [open('A', createTimeInJanuary2026(1)), open('B', createTimeInJanuary2026(20))],
      createTimeInJanuary2026(22),
      ['A', 'B'],
    ],
    [
      'all open ones, if none is under way',
      [open('A', createTimeInJanuary2026(10)), open('B', createTimeInJanuary2026(20))],
      createTimeInJanuary2026(2),
      ['A', 'B'],
    ],
    [
      'an open one with its ETA 60 days ago',
      [open('A', createTimeInJanuary2026(1), createTimeInJanuary2026(9)), open('B', createTimeInJanuary2026(8))],
      createTimeInJanuary2026(9),
      ['A', 'B'],
    ],
    ['none without candidates', [], createTimeInJanuary2026(9), []],
  ])('selects %s', (_, candidates, occurred_at, ids) => {
    for (const order of [candidates, candidates.toReversed()]) {
      expect(
        selectShipmentsForContainerMilestone(order, occurred_at)
          .map(({ id }) => id)
          .sort(),
      ).toEqual(ids);
    }
  });
});

describe('computeContainerMatch', () => {
  const create = () => {
    const scenario = new ShipmentScenario();
    scenario.upsertShipment({
      mode: 'ocean',
      container_numbers: [CONTAINER_A],
      origin_port: 'CNSHA',
      destination_port: 'USLAX',
    });
    return scenario;
  };
  const match = ({ state }: ShipmentScenario, fields: Parameters<typeof createMilestoneInput>[0]) => {
    if (state === undefined) throw new Error('the scenario has no shipment');
    return collectContainerMatchFacts(
      state,
      createMilestoneInput({ container_number: CONTAINER_A, ...fields }),
      scenarioPlacesStub,
    );
  };
  const gatedIn = { code: 'gated_in', occurred_at: createTimeInJanuary2026(2) };

  it('spans from the actual departure, else the expected one, else the creation, to 60 days after the ETA', () => {
    const scenario = create();
    expect(match(scenario, gatedIn)).toMatchObject({ from: scenario.record.created_at, until: null, ended_at: null });
    scenario.upsertShipment({ etd: createTimeInJanuary2026(3), eta: createTimeInJanuary2026(20) });
    expect(match(scenario, gatedIn)).toMatchObject({
      from: createTimeInJanuary2026(3),
      until: createTimeInJanuary2026(80),
    });
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4), { location: 'CNSHA' });
    expect(match(scenario, gatedIn)).toMatchObject({
      from: createTimeInJanuary2026(4),
      until: createTimeInJanuary2026(80),
    });
  });

  it('ends with the milestone that completes the shipment', () => {
    const scenario = create();
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4), { location: 'CNSHA' });
    scenario.postMilestoneInScenario('empty_returned', createTimeInJanuary2026(30));
    expect(match(scenario, gatedIn)).toMatchObject({ status: 'completed', ended_at: createTimeInJanuary2026(30) });
  });

  it.each(['booking_cancelled', 'cancel'])('has no end if the shipment is cancelled by %s', (how) => {
    const scenario = create();
    if (how === 'cancel') scenario.cancelShipment();
    else scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(3));
    expect(match(scenario, gatedIn)).toMatchObject({ status: 'cancelled', ended_at: null });
  });

  it('knows repetitions and corrections of milestones, in any spelling', () => {
    const scenario = create();
    const feed = { source: 'carrier', container_number: CONTAINER_A } as const;
    scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(4), { ...feed, external_id: 'EV-1' });
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2), { ...feed, location: 'CNSHA' });
    const isKnown = (fields: Parameters<typeof createMilestoneInput>[0]) =>
      match(scenario, { ...feed, ...fields }).isKnown;
    expect(isKnown({ code: 'vessel_departed', occurred_at: createTimeInJanuary2026(9), external_id: 'EV-1' })).toBe(
      true,
    );
    expect(isKnown({ code: 'vessel_departed', occurred_at: createTimeInJanuary2026(9), external_id: 'EV-2' })).toBe(
      false,
    );
    expect(isKnown({ ...gatedIn, location: 'cn sha', container_number: 'mscu 123456-6' })).toBe(true);
    expect(isKnown({ ...gatedIn, occurred_at: createTimeInJanuary2026(3), location: 'CNSHA' })).toBe(false);
  });
});
