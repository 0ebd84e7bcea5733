import type { ClientShipmentFields } from '@tracking/contracts';
import * as fc from 'fast-check';
import { journeyPlacesStub } from '../test/journey-places.ts';
import { CONTAINER_A, CONTAINER_B, ShipmentScenario, captureRefusal } from '../test/scenario.ts';
import { createJanuaryTime } from '../test/time-driven.ts';
import { explainShipment, fold, type MilestoneInput, type ShipmentEvent } from './index.ts';

/** A report of a milestone: code, day in January, place, and day when the source stated it. */
type Report = readonly [
  code: string,
  day: number,
  location: string | null,
  reported: number,
  more?: Partial<MilestoneInput>,
];

const estimate = { classifier: 'estimated' } as const;
const ROUTE = { origin_port: 'CNSHA', destination_port: 'USLAX' };
/** Equals `rounds` of the testing library, which the domain cannot import. */
const rounds = (all: number): number => (process.env['PROPERTY_ROUNDS'] === 'all' ? all : Math.ceil(all / 5));

function createShipment(fields: Partial<ClientShipmentFields> = {}): ShipmentScenario {
  const scenario = new ShipmentScenario();
  scenario.places = journeyPlacesStub;
  scenario
    .setTimeOfNextCommand(createJanuaryTime(1))
    .upsertShipment({ external_id: 'PO-1', mode: 'ocean', ...ROUTE, ...fields });
  return scenario.setTimeOfNextCommand(createJanuaryTime(26));
}

function post(scenario: ShipmentScenario, [code, day, location, reported, more]: Report) {
  const reported_at = createJanuaryTime(reported);
  return scenario.postMilestoneInScenario(code, createJanuaryTime(day), {
    location,
    source: 'carrier',
    reported_at,
    ...more,
  });
}

/** Returns an event as former releases stored it. */
function removeReportTimes(event: ShipmentEvent): ShipmentEvent {
  const isNew = (name: string) => name === 'reported_at' || name === 'former_report';
  return JSON.parse(
    JSON.stringify(event, (name, value: unknown) => (isNew(name) ? undefined : value)),
  ) as ShipmentEvent;
}

/** Returns the items in five orders. */
function listOrders<T>(given: readonly T[]): readonly (readonly T[])[] {
  const [first, ...rest] = given;
  const rotated = first === undefined ? [] : [...rest, first];
  const interleaved = [...given.filter((_, index) => index % 2 === 1), ...given.filter((_, index) => index % 2 === 0)];
  return [given, given.toReversed(), rotated, rotated.toReversed(), interleaved];
}

function listSuperseded({ state }: ShipmentScenario): readonly string[] {
  const superseded = state?.timeline.filter(({ milestone }) => milestone.superseded_at !== null) ?? [];
  return superseded.map(({ milestone }) => `${milestone.code} ${Number(milestone.occurred_at.slice(8, 10))}`).sort();
}

interface Case {
  readonly name: string;
  readonly fields?: Partial<ClientShipmentFields>;
  readonly given: readonly Report[];
  readonly expected: Readonly<Record<string, unknown>>;
  /** Code and day of the milestones that are listed as superseded. */
  readonly superseded: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'a feed without ids changes the time of an arrival',
    given: [
      ['vessel_arrived', 18, 'USLAX', 20],
      ['vessel_arrived', 19, 'USLAX', 21],
    ],
    expected: { status: 'arrived', ata: createJanuaryTime(19) },
    superseded: ['vessel_arrived 18'],
  },
  {
    name: 'a feed without ids moves an arrival forward, and spells the place in another way',
    given: [
      ['vessel_arrived', 19, 'Los Angeles', 20],
      ['vessel_arrived', 18, 'LOS ANGELES, CA', 21],
    ],
    expected: { ata: createJanuaryTime(18) },
    superseded: ['vessel_arrived 19'],
  },
  {
    name: 'estimates of the arrival are recorded in another order than they were reported',
    given: [
      ['vessel_arrived', 21, 'USLAX', 11, estimate],
      ['vessel_arrived', 23, 'USLAX', 13, estimate],
      ['vessel_arrived', 22, 'USLAX', 12, estimate],
    ],
    expected: { eta: createJanuaryTime(23), original_eta: createJanuaryTime(21) },
    superseded: ['vessel_arrived 21', 'vessel_arrived 22'],
  },
  {
    name: 'an estimate is stated again after another one',
    given: [
      ['vessel_arrived', 21, 'USLAX', 11, estimate],
      ['vessel_arrived', 23, 'USLAX', 12, estimate],
      ['vessel_arrived', 21, 'USLAX', 13, estimate],
    ],
    expected: { eta: createJanuaryTime(21), original_eta: createJanuaryTime(21) },
    superseded: ['vessel_arrived 21', 'vessel_arrived 23'],
  },
  {
    name: 'estimates of two sources: the one reported last counts',
    given: [
      ['vessel_arrived', 21, 'USLAX', 11, estimate],
      ['vessel_arrived', 23, 'USLAX', 13, { ...estimate, source: 'ais' }],
      ['vessel_arrived', 22, 'USLAX', 12, estimate],
    ],
    expected: { eta: createJanuaryTime(23), original_eta: createJanuaryTime(21) },
    superseded: ['vessel_arrived 21'],
  },
  {
    name: 'reports at one time: the later event counts',
    given: [
      ['vessel_arrived', 21, 'USLAX', 11, estimate],
      ['vessel_arrived', 23, 'USLAX', 11, estimate],
      ['vessel_departed', 2, 'CNSHA', 5],
      ['vessel_departed', 3, 'CNSHA', 5],
    ],
    expected: { eta: createJanuaryTime(23), atd: createJanuaryTime(3) },
    superseded: ['vessel_arrived 21', 'vessel_departed 2'],
  },
  {
    name: 'estimates that were reported after the arrival do not count',
    given: [
      ['vessel_arrived', 15, 'USLAX', 10, estimate],
      ['vessel_arrived', 16, 'USLAX', 12, estimate],
      ['vessel_arrived', 14, 'USLAX', 14],
      ['vessel_arrived', 22, 'USLAX', 20, estimate],
    ],
    expected: { eta: createJanuaryTime(16), ata: createJanuaryTime(14), original_eta: createJanuaryTime(15) },
    superseded: ['vessel_arrived 15', 'vessel_arrived 16'],
  },
  {
    name: 'one estimate with an external_id changes until after the arrival',
    given: [
      ['vessel_arrived', 15, 'USLAX', 10, { ...estimate, external_id: 'ETA' }],
      ['vessel_arrived', 16, 'USLAX', 12, { ...estimate, external_id: 'ETA' }],
      ['vessel_arrived', 22, 'USLAX', 20, { ...estimate, external_id: 'ETA' }],
      ['vessel_arrived', 14, 'USLAX', 14],
    ],
    expected: { eta: createJanuaryTime(16), ata: createJanuaryTime(14), original_eta: createJanuaryTime(15) },
    superseded: [],
  },
  {
    name: 'an event with an external_id: the report stated last counts',
    given: [
      ['vessel_arrived', 14, 'USLAX', 15, { external_id: 'EV-1' }],
      ['vessel_arrived', 16, 'USLAX', 17, { external_id: 'EV-1' }],
      ['vessel_arrived', 13, 'USLAX', 16, { external_id: 'EV-1' }],
    ],
    expected: { ata: createJanuaryTime(16) },
    superseded: [],
  },
  {
    name: 'two visits of one port are not merged',
    given: [
      ['vessel_arrived', 5, 'SGSIN', 6],
      ['vessel_departed', 7, 'SGSIN', 8],
      ['vessel_arrived', 12, 'SGSIN', 13],
      ['vessel_departed', 14, 'SGSIN', 15],
    ],
    expected: { status: 'in_transit', last_milestone: { code: 'vessel_departed', occurred_at: createJanuaryTime(14) } },
    superseded: [],
  },
  {
    name: 'an arrival and a departure at the same time belong to one visit',
    given: [
      ['vessel_arrived', 4, 'SGSIN', 6],
      ['vessel_arrived', 5, 'SGSIN', 7],
      ['vessel_departed', 5, 'SGSIN', 8],
      ['vessel_departed', 6, 'SGSIN', 9],
    ],
    expected: { status: 'in_transit', last_milestone: { code: 'vessel_departed', occurred_at: createJanuaryTime(6) } },
    superseded: ['vessel_arrived 4', 'vessel_departed 5'],
  },
  {
    name: 'codes that may repeat, other sources, people and milestones with an external_id are not merged',
    given: [
      ['delivery_attempted', 10, 'USLAX', 11],
      ['delivery_attempted', 12, 'USLAX', 13],
      ['customs_hold', 10, 'USLAX', 11],
      ['customs_hold', 12, 'USLAX', 13],
      ['discharged', 7, 'USLAX', 13, { source: 'terminal' }],
      ['discharged', 8, 'USLAX', 11],
      ['gated_out', 9, 'USLAX', 14, { external_id: 'EV-1' }],
      ['gated_out', 10, 'USLAX', 13, { external_id: 'EV-2' }],
      ['rail_unloaded', 9, 'USLAX', 14, { source: 'manual' }],
      ['rail_unloaded', 10, 'USLAX', 13, { source: 'manual' }],
    ],
    expected: {},
    superseded: [],
  },
  {
    name: 'containers have reports of their own',
    fields: { container_numbers: [CONTAINER_A, CONTAINER_B] },
    given: [
      ['discharged', 10, 'USLAX', 11, { container_number: CONTAINER_A }],
      ['discharged', 12, 'USLAX', 13, { container_number: CONTAINER_B }],
      ['discharged', 9, 'USLAX', 14, { container_number: CONTAINER_B }],
    ],
    expected: { containers: [{ discharged_at: createJanuaryTime(10) }, { discharged_at: createJanuaryTime(9) }] },
    superseded: ['discharged 12'],
  },
  {
    name: 'a late repetition of a departure supersedes nothing',
    given: [
      ['vessel_departed', 2, 'CNSHA', 3],
      ['vessel_arrived', 12, 'SGSIN', 13],
      ['vessel_departed', 14, 'CNSHA', 15],
    ],
    expected: { atd: createJanuaryTime(2) },
    superseded: [],
  },
  {
    name: 'a replaced discharge does not make the ship sail on',
    given: [
      ['discharged', 10, 'SGSIN', 11],
      ['loaded_on_vessel', 12, 'SGSIN', 13],
      ['vessel_departed', 14, 'SGSIN', 15],
      ['discharged', 13, 'SGSIN', 12],
      ['discharged', 9, 'SGSIN', 16],
    ],
    expected: { status: 'in_transit', last_milestone: { code: 'vessel_departed' } },
    superseded: ['discharged 10', 'discharged 13'],
  },
];

describe('reports of carriers, in any order and sent twice', () => {
  it.each(CASES)('$name', ({ fields, given, expected, superseded }) => {
    for (const order of listOrders(given)) {
      const scenario = createShipment(fields);
      for (const each of order) post(scenario, each);
      expect(scenario.record).toMatchObject(expected);
      expect(listSuperseded(scenario)).toEqual(superseded);
      expect(fold(scenario.events)).toEqual(scenario.state);
      const { version } = scenario.record;
      for (const each of order) expect(post(scenario, each).outcome).toBe('existing');
      expect(scenario.record.version).toBe(version);
    }
  });
});

describe('an older report', () => {
  it('of an actual milestone with an external_id changes nothing', () => {
    const scenario = createShipment();
    post(scenario, ['vessel_arrived', 16, 'USLAX', 17, { external_id: 'EV-1' }]);
    const older = post(scenario, ['vessel_arrived', 15, 'USLAX', 16, { external_id: 'EV-1' }]);
    expect(older).toMatchObject({
      outcome: 'existing',
      events: [],
      warnings: [{ code: 'outdated_report', param: null }],
    });
  });

  it('of an estimate, or of a milestone without an external_id, is stored as superseded', () => {
    const scenario = createShipment();
    for (const more of [estimate, {}]) {
      post(scenario, ['vessel_arrived', 16, 'USLAX', 17, more]);
      const { outcome, warnings, milestone } = post(scenario, ['vessel_arrived', 15, 'USLAX', 16, more]);
      expect([outcome, warnings.map(({ code }) => code)]).toEqual(['recorded', ['outdated_report']]);
      expect(milestone).toMatchObject({ superseded_at: createJanuaryTime(26), reported_at: createJanuaryTime(16) });
    }
    expect(scenario.events.filter(({ type }) => type === 'milestone.superseded.v1')).toEqual([]);
    const { milestones } = explainShipment(scenario.state!, { places: journeyPlacesStub, settings: scenario.settings });
    expect(milestones.map(({ result, rule }) => `${result} ${rule}`)).toEqual([
      'counted newest_estimate',
      'superseded newer_report',
      'ignored actual_time_known',
      'counted status_of_code',
    ]);
  });

  it('counts again once the later report is retracted', () => {
    const scenario = createShipment();
    post(scenario, ['vessel_arrived', 15, 'USLAX', 16]);
    const { milestone } = post(scenario, ['vessel_arrived', 16, 'USLAX', 17]);
    expect([scenario.record.ata, listSuperseded(scenario)]).toEqual([createJanuaryTime(16), ['vessel_arrived 15']]);
    scenario.retractMilestone(milestone);
    expect([scenario.record.ata, listSuperseded(scenario)]).toEqual([createJanuaryTime(15), []]);
  });

  it('counts again if a change of the mode makes them separate visits', () => {
    const scenario = createShipment({ mode: 'road' });
    post(scenario, ['vessel_arrived', 10, 'USLAX', 16]);
    post(scenario, ['picked_up', 11, 'USLAX', 16]);
    post(scenario, ['vessel_arrived', 12, 'USLAX', 17]);
    expect(listSuperseded(scenario)).toEqual([]);
    scenario.patchShipment({ mode: 'ocean' });
    expect(listSuperseded(scenario)).toEqual(['vessel_arrived 10']);
    scenario.patchShipment({ mode: 'road' });
    expect(listSuperseded(scenario)).toEqual([]);
    expect(fold(scenario.events)).toEqual(scenario.state);
  });
});

describe('the time of a report', () => {
  it('is the time of recording by default, and that of the last statement after a correction', () => {
    const scenario = createShipment();
    const { milestone } = scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(15), {
      source: 'carrier',
      external_id: 'EV-1',
    });
    expect(milestone.reported_at).toBe(createJanuaryTime(26));
    const again = scenario
      .setTimeOfNextCommand(createJanuaryTime(27))
      .postMilestoneInScenario('vessel_arrived', createJanuaryTime(16), { source: 'carrier', external_id: 'EV-1' });
    expect(again).toMatchObject({ outcome: 'corrected', milestone: { reported_at: createJanuaryTime(27) } });
  });

  it('moves on quietly if the same event is stated again', () => {
    const scenario = createShipment();
    post(scenario, ['vessel_arrived', 15, 'USLAX', 16]);
    const again = post(scenario, ['vessel_arrived', 15, 'USLAX', 18]);
    expect(again).toMatchObject({
      outcome: 'existing',
      milestone: { reported_at: createJanuaryTime(18), revision: 1 },
    });
    expect(again.events.map(({ type }) => type)).toEqual(['milestone.corrected.v1']);
    expect(post(scenario, ['vessel_arrived', 17, 'USLAX', 17]).warnings).toMatchObject([{ code: 'outdated_report' }]);
    expect(scenario.record.ata).toBe(createJanuaryTime(15));
  });

  it.each([
    ['in the future', createJanuaryTime(27), 'timestamp_in_future'],
    ['before 2000', '1999-12-31T23:59:59.999Z', 'timestamp_out_of_range'],
  ])('is refused %s', (_, reported_at, code) => {
    const refused = captureRefusal(() =>
      createShipment().postMilestoneInScenario('gated_in', createJanuaryTime(2), { reported_at }),
    );
    expect(refused).toMatchObject({ details: [{ param: 'reported_at', code }] });
  });

  it('of a feed is compared with its last report, not with a correction by hand', () => {
    const scenario = createShipment();
    const { milestone } = post(scenario, ['vessel_arrived', 15, 'USLAX', 16, { external_id: 'EV-1' }]);
    scenario.correctMilestone(milestone, { occurred_at: createJanuaryTime(14) });
    const older = post(scenario, ['vessel_arrived', 13, 'USLAX', 15, { external_id: 'EV-1' }]);
    expect(older.warnings).toMatchObject([{ code: 'outdated_report' }]);
    const newer = post(scenario, ['vessel_arrived', 17, 'USLAX', 18, { external_id: 'EV-1' }]);
    expect(newer).toMatchObject({ outcome: 'corrected', milestone: { occurred_at: createJanuaryTime(17) } });
  });
});

describe('a correction by hand of a release that stored no times of reports', () => {
  const named = { location: 'USLAX', source: 'carrier', external_id: 'EV-1' } as const;

  it('keeps the time of the report of the feed', () => {
    const scenario = createShipment();
    const { milestone } = scenario
      .setTimeOfNextCommand(createJanuaryTime(16))
      .postMilestoneInScenario('vessel_arrived', createJanuaryTime(15), named);
    scenario
      .setTimeOfNextCommand(createJanuaryTime(20))
      .correctMilestone(milestone, { occurred_at: createJanuaryTime(14) });
    scenario.state = fold(scenario.events.map(removeReportTimes));
    scenario.setTimeOfNextCommand(createJanuaryTime(26));
    const again = scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(15), named);
    expect(again).toMatchObject({ outcome: 'existing', events: [] });
    const newer = scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(17), {
      ...named,
      reported_at: createJanuaryTime(18),
    });
    expect(newer).toMatchObject({ outcome: 'corrected', milestone: { occurred_at: createJanuaryTime(17) } });
  });
});

describe('an estimate that is stated again under its external_id', () => {
  const named = { ...estimate, external_id: 'ETA' };

  it.each([
    ['the arrival', ['vessel_arrived', 14, 'USLAX', 14]],
    ['another estimate', ['vessel_arrived', 18, 'USLAX', 12, { ...estimate, source: 'ais' }]],
  ] as const)('counts as first stated before %s, in any order', (_, other) => {
    const reports: readonly Report[] = [
      ['vessel_arrived', 16, 'USLAX', 10, named],
      ['vessel_arrived', 16, 'USLAX', 20, named],
      other,
    ];
    for (const order of listOrders(reports)) {
      const scenario = createShipment();
      for (const each of order) post(scenario, each);
      expect(scenario.record).toMatchObject({ eta: createJanuaryTime(16), original_eta: createJanuaryTime(16) });
      expect(fold(scenario.events)).toEqual(scenario.state);
      const { version } = scenario.record;
      for (const each of order) expect(post(scenario, each).outcome).toBe('existing');
      expect(scenario.record.version).toBe(version);
    }
  });

  it('changes nothing if a report is sent again that is no longer kept', () => {
    const scenario = createShipment();
    const reports = Array.from({ length: 60 }, (_, hour): Report => {
      const reported_at = new Date(Date.parse(createJanuaryTime(5)) + hour * 3_600_000).toISOString();
      return ['vessel_arrived', 10 + (hour % 3), 'USLAX', 5, { ...named, reported_at }];
    });
    for (const each of reports) post(scenario, each);
    const { version } = scenario.record;
    for (const each of reports) expect(post(scenario, each)).toMatchObject({ outcome: 'existing', events: [] });
    expect(scenario.record.version).toBe(version);
  });
});

describe('the original ETA', () => {
  it('is the one with which the client created the shipment, whatever was reported before', () => {
    const scenario = createShipment({ eta: createJanuaryTime(20) });
    post(scenario, ['vessel_arrived', 22, 'USLAX', 0, estimate]);
    expect(scenario.record).toMatchObject({ eta: createJanuaryTime(22), original_eta: createJanuaryTime(20) });
  });

  it('is the earliest reported one if the client gave its own later', () => {
    const scenario = createShipment();
    scenario.setTimeOfNextCommand(createJanuaryTime(10)).patchShipment({ eta: createJanuaryTime(20) });
    expect(scenario.record.original_eta).toBe(createJanuaryTime(20));
    scenario.setTimeOfNextCommand(createJanuaryTime(26));
    post(scenario, ['vessel_arrived', 22, 'USLAX', 8, estimate]);
    expect(scenario.record).toMatchObject({ eta: createJanuaryTime(20), original_eta: createJanuaryTime(22) });
  });
});

describe('random reports', () => {
  const reports = fc.uniqueArray(
    fc.record({
      code: fc.constantFrom('vessel_departed', 'vessel_arrived', 'discharged', 'loaded_on_vessel', 'customs_hold'),
      day: fc.integer({ min: 1, max: 12 }),
      location: fc.constantFrom(null, 'CNSHA', 'SGSIN', 'USLAX', 'Los Angeles', 'Pier 400'),
      reported: fc.integer({ min: 1, max: 14 }),
      classifier: fc.constantFrom('actual' as const, 'actual' as const, 'estimated' as const),
      source: fc.constantFrom('carrier' as const, 'carrier' as const, 'terminal' as const),
      container_number: fc.constantFrom(null, CONTAINER_A, CONTAINER_B),
    }),
    { maxLength: 12, selector: (each) => Object.values(each).join() },
  );
  const orders = reports.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );

  it('give the same times and superseded milestones in every order', () => {
    fc.assert(
      fc.property(orders, (inOrders) => {
        const [one, other] = inOrders.map((order) => {
          const scenario = createShipment({ container_numbers: [CONTAINER_A, CONTAINER_B] });
          for (const { code, day, location, reported, ...more } of order)
            post(scenario, [code, day, location, reported, more]);
          expect(fold(scenario.events)).toEqual(scenario.state);
          const { status, atd, ata, eta, etd, original_eta } = scenario.record;
          return { status, atd, ata, eta, etd, original_eta, superseded: new Set(listSuperseded(scenario)) };
        });
        expect(one).toEqual(other);
      }),
      { numRuns: rounds(1_000) },
    );
  });
});
