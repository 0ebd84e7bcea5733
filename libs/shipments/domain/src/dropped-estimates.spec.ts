import type { ClientShipmentFields, Timestamp } from '@tracking/contracts';
import * as fc from 'fast-check';
import { journeyPlacesStub } from '../test/journey-places.ts';
import { CONTAINER_A, CONTAINER_B, ShipmentScenario } from '../test/scenario.ts';
import { addMsToTime, HOUR_MS, createJanuaryTime } from '../test/time-driven.ts';
import { recordMilestoneHandler } from './commands/record-milestone.ts';
import { deriveShipment } from './derive.ts';
import {
  copyDroppedEstimates,
  dropEstimatesFromTimeline,
  findSupersededEstimatesToDrop,
  isRepeatOfDroppedReport,
} from './dropped-estimates.ts';
import { fold, type MilestoneInput, type ShipmentEvent, type ShipmentState } from './index.ts';
import type { TimelineEntry } from './state.ts';

/** Equals `rounds` of the testing library, which the domain cannot import. */
const rounds = (all: number): number => (process.env['PROPERTY_ROUNDS'] === 'all' ? all : Math.ceil(all / 5));

const FIELDS = { mode: 'ocean', origin_port: 'CNSHA', destination_port: 'USLAX' } as const;
const FIRST_REPORT = createJanuaryTime(2);

/** A report of an estimate: hours of its report after the first report, and of its time after 10 January. */
interface Report {
  readonly stated: number;
  readonly time: number;
  readonly more?: Partial<MilestoneInput>;
}

function createShipment(fields: Partial<ClientShipmentFields> = {}): ShipmentScenario {
  const scenario = new ShipmentScenario();
  scenario.places = journeyPlacesStub;
  scenario.setTimeOfNextCommand(createJanuaryTime(1)).upsertShipment({ external_id: 'PO-1', ...FIELDS, ...fields });
  return scenario.setTimeOfNextCommand(createJanuaryTime(31));
}

function post(scenario: ShipmentScenario, { stated, time, more }: Report) {
  const reported_at = addMsToTime(FIRST_REPORT, stated * HOUR_MS);
  return scenario.postEstimateInScenario('vessel_arrived', timeAfter(time), {
    location: 'USLAX',
    reported_at,
    ...more,
  });
}

function timeAfter(hours: number): Timestamp {
  return addMsToTime(createJanuaryTime(10), hours * HOUR_MS);
}

/** Returns a new estimate each hour. */
function poll(count: number, more?: Partial<MilestoneInput>): readonly Report[] {
  return Array.from({ length: count }, (_, hour) => ({ stated: hour, time: hour, ...(more && { more }) }));
}

/** Returns the items in five orders. */
function listOrders<T>(given: readonly T[]): readonly (readonly T[])[] {
  const halves = [given.filter((_, index) => index % 2 === 1), given.filter((_, index) => index % 2 === 0)];
  const [odd = [], even = []] = halves;
  return [
    given,
    given.toReversed(),
    [...odd, ...even],
    [...even, ...odd.toReversed()],
    [...given.slice(30), ...given.slice(0, 30)],
  ];
}

/** Returns the hours of the estimates on the timeline. */
function listKept({ state }: ShipmentScenario): readonly number[] {
  const estimates = state?.timeline.filter(({ milestone }) => milestone.classifier === 'estimated') ?? [];
  return estimates.map(
    ({ milestone }) => (Date.parse(milestone.occurred_at) - Date.parse(createJanuaryTime(10))) / HOUR_MS,
  );
}

/** Returns the state as if no estimate had been dropped. */
function foldWithoutDrops(events: readonly ShipmentEvent[]): ShipmentState {
  const kept = events.map(({ data, ...event }) => {
    const { drops: _, ...others } = data as { drops?: readonly string[] };
    return { ...event, data: others } as unknown as ShipmentEvent;
  });
  const state = fold(kept);
  if (state === undefined) throw new Error('no events');
  return state;
}

const range = (from: number, until: number) => Array.from({ length: until - from }, (_, index) => from + index);

describe('superseded estimates of a series', () => {
  it('are kept up to the newest 50 and the earliest, in whatever order they arrive', () => {
    for (const order of listOrders(poll(120))) {
      const scenario = createShipment();
      for (const each of order) expect(post(scenario, each).outcome).toBe('recorded');
      expect(listKept(scenario)).toEqual([0, ...range(69, 120)]);
      expect(scenario.record).toMatchObject({ eta: timeAfter(119), original_eta: timeAfter(0) });
      expect(fold(scenario.events)).toEqual(scenario.state);
    }
  });

  it.each([
    ['without', () => null],
    ['with', (time: number) => `EV-${time}`],
  ])('are still known after they were dropped, %s an external_id', (_, createId) => {
    for (const order of listOrders(poll(80))) {
      const scenario = createShipment();
      const send = ({ stated, time }: Report) =>
        post(scenario, { stated, time, more: { external_id: createId(time) } });
      for (const each of order) send(each);
      const { version } = scenario.record;
      const current = scenario.state?.timeline.find(({ milestone }) => milestone.superseded_at === null);
      for (const each of order) {
        const again = send(each);
        expect(again).toMatchObject({ outcome: 'existing', events: [] });
        if (each.time === 0 || each.time >= 29) continue;
        expect(again.milestoneId).toBe(current?.milestone.id);
        expect(again.warnings).toMatchObject([{ code: 'outdated_report' }]);
      }
      expect(scenario.record.version).toBe(version);
    }
  });

  it('are still known without the time of the report after they were dropped', () => {
    const scenario = createShipment();
    const send = (time: number) =>
      scenario.postEstimateInScenario('vessel_arrived', timeAfter(time), { location: 'Los Angeles' });
    for (const time of range(0, 100)) {
      scenario.setTimeOfNextCommand(addMsToTime(createJanuaryTime(20), time * 1_000));
      expect(send(time).outcome).toBe('recorded');
    }
    for (const time of range(0, 100)) expect(send(time)).toMatchObject({ outcome: 'existing', events: [] });
    expect(scenario.record.eta).toBe(timeAfter(99));
  });

  it('count for each code, container, place and source', () => {
    const scenario = createShipment({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    const series: readonly Partial<MilestoneInput>[] = [
      {},
      { container_number: CONTAINER_A },
      { location: 'CNSHA' },
      { source: 'ais' },
      { code: 'arrived_at_destination' },
    ];
    for (const more of series)
      for (const { stated, time } of poll(60)) {
        const reported_at = addMsToTime(FIRST_REPORT, stated * HOUR_MS);
        const { code = 'vessel_arrived', ...rest } = more;
        scenario.postEstimateInScenario(code, timeAfter(time), { location: 'USLAX', reported_at, ...rest });
      }
    expect(scenario.state?.timeline).toHaveLength(series.length * 52);
  });

  it('are recorded, but not kept, if they are older than the kept ones', () => {
    const scenario = createShipment();
    const [first, second, ...others] = poll(80);
    for (const each of [first!, ...others]) post(scenario, each);
    const late = post(scenario, second!);
    expect(late).toMatchObject({ outcome: 'recorded', warnings: [{ code: 'outdated_report' }] });
    expect(late.droppedMilestone).toMatchObject({ id: late.milestoneId, occurred_at: timeAfter(1) });
    expect(listKept(scenario)).toEqual([0, ...range(29, 80)]);
    const events = scenario.events.slice(-late.events.length);
    const command = {
      ...scenario.createCommandContext(),
      type: 'RecordMilestone' as const,
      shipment_id: '',
      milestone: {} as never,
    };
    const result = recordMilestoneHandler.rebuildResultFromEvents(events, command);
    if (result === undefined || scenario.state === undefined) throw new Error('the command has no result');
    expect(recordMilestoneHandler.buildAnswerFromResult(result, scenario.state)).toMatchObject({
      outcome: 'recorded',
      milestone: { occurred_at: timeAfter(1), superseded_at: createJanuaryTime(31) },
    });
    expect(post(scenario, second!)).toMatchObject({ outcome: 'existing', events: [] });
  });

  it('become current again if a person states a dropped one', () => {
    const scenario = createShipment();
    for (const each of poll(80, { source: 'manual' })) post(scenario, each);
    const again = scenario.postEstimateInScenario('vessel_arrived', timeAfter(3), {
      location: 'USLAX',
      source: 'manual',
    });
    expect(again.outcome).toBe('recorded');
    expect(scenario.record.eta).toBe(timeAfter(3));
  });

  it('are kept if a person corrected them, so that the feed does not replace the correction', () => {
    const scenario = createShipment();
    const { milestone } = post(scenario, { stated: 0, time: 0, more: { source: 'ais' } });
    post(scenario, { stated: 1, time: 1 });
    const { milestone: second } = post(scenario, { stated: 2, time: 2 });
    scenario.correctMilestone(second, { note: 'confirmed by phone' });
    for (const each of poll(80).slice(3)) post(scenario, each);
    expect(listKept(scenario)).toEqual([0, 1, 2, ...range(29, 80)]);
    expect(scenario.state?.timeline.map((entry) => entry.milestone.id)).toContain(milestone.id);
    expect(post(scenario, { stated: 2, time: 2 }).outcome).toBe('existing');
  });

  it('of a former release are dropped little by little', () => {
    const scenario = createShipment();
    for (const each of poll(300)) post(scenario, each);
    const { record } = scenario;
    scenario.state = foldWithoutDrops(scenario.events);
    expect(listKept(scenario)).toHaveLength(300);
    const counts = range(300, 304).map((hour) => {
      post(scenario, { stated: hour, time: hour });
      return listKept(scenario).length;
    });
    expect(counts).toEqual([201, 102, 52, 52]);
    expect(scenario.record).toMatchObject({ original_eta: record.original_eta, eta: timeAfter(303) });
    for (const each of poll(300)) expect(post(scenario, each).outcome).toBe('existing');
  });
});

describe('dropped estimates', () => {
  it('set the ETA if the arrival was before the kept ones', () => {
    const scenario = createShipment();
    for (const each of poll(200)) post(scenario, each);
    const arrived = addMsToTime(FIRST_REPORT, 20.5 * HOUR_MS);
    scenario.postMilestoneInScenario('vessel_arrived', arrived, { location: 'USLAX', source: 'carrier' });
    expect(scenario.record).toMatchObject({ ata: arrived, eta: timeAfter(20), original_eta: timeAfter(0) });
    const changed = scenario.events.findLast(({ type }) => type === 'shipment.changed.v1');
    expect(changed?.data).toMatchObject({ eta_set_by: { source: 'carrier', milestone_id: null, reason_code: null } });
    expect(deriveShipment(foldWithoutDrops(scenario.events), journeyPlacesStub).record).toEqual(scenario.record);
  });

  it('remain known beyond the reports whose times are remembered, and cost a bounded amount of memory', () => {
    const scenario = createShipment();
    const [entry] = (post(scenario, { stated: 0, time: 0 }), scenario.state?.timeline ?? []);
    if (entry === undefined || scenario.state === undefined) throw new Error('the estimate was not recorded');
    const at = (hour: number): TimelineEntry => {
      const times = { occurred_at: timeAfter(hour % 500), reported_at: addMsToTime(FIRST_REPORT, hour * HOUR_MS) };
      return { ...entry, milestone: { ...entry.milestone, ...times, id: `mst_${hour}` } };
    };
    const draft = { timeline: range(0, 45_000).map(at), droppedEstimates: new Map() as never };
    dropEstimatesFromTimeline(
      draft,
      draft.timeline.map(({ milestone }) => milestone.id),
    );
    expect(draft.timeline).toEqual([]);
    const dropped = copyDroppedEstimates(draft.droppedEstimates);
    const [series] = dropped.values();
    expect(series?.times.length).toBeLessThanOrEqual(3 * 20_000);
    const input = (hour: number) => ({ ...at(hour).milestone, external_id: null });
    for (const hour of [0, 1, 10_000, 25_000, 44_999]) expect(isRepeatOfDroppedReport(dropped, input(hour))).toBe(true);
    expect(isRepeatOfDroppedReport(dropped, input(45_000))).toBe(false);
    expect(isRepeatOfDroppedReport(dropped, { ...input(44_000), location: 'CNSHA' })).toBe(false);
  });

  it('of a shipment with many series are the earliest reports', () => {
    const scenario = createShipment();
    const { milestone } = post(scenario, { stated: 0, time: 0 });
    const [entry] = scenario.state?.timeline ?? [];
    if (entry === undefined) throw new Error('the estimate was not recorded');
    const timeline = range(0, 15_050).map((n) => {
      const reported_at = addMsToTime(FIRST_REPORT, (n % 2 === 0 ? n : -n) * 1_000);
      const content = {
        location: `Quay ${n % 400}`,
        reported_at,
        superseded_at: createJanuaryTime(31),
        id: `mst_${n}`,
      };
      return { ...entry, milestone: { ...milestone, ...content } };
    });
    const ids = findSupersededEstimatesToDrop([...timeline, entry], milestone, true);
    expect(ids).toHaveLength(100);
    expect(ids[0]).toBe('mst_15049');
  });
});

const repeat = <T>(value: T, times: number): readonly T[] => Array.from({ length: times }, () => value);

describe('random estimates of feeds', () => {
  const reports = fc.array(
    fc.record({
      stated: fc.integer({ min: 0, max: 400 }),
      time: fc.integer({ min: 0, max: 40 }),
      // Most reports are of one series, so that many are dropped.
      code: fc.constantFrom(...repeat('vessel_arrived', 9), 'vessel_departed'),
      location: fc.constantFrom(...repeat('USLAX', 6), 'us lax', 'Los Angeles', 'SGSIN', null),
      container_number: fc.constantFrom(...repeat(null, 4), CONTAINER_A),
    }),
    { minLength: 120, maxLength: 200, size: 'max' },
  );
  const arrival = fc.option(fc.integer({ min: 0, max: 400 }));
  const legs = fc.constantFrom(
    [],
    [
      ['CNSHA', 'SGSIN'],
      ['SGSIN', 'USLAX'],
    ],
    [
      ['SGSIN', 'USLAX'],
      ['USLAX', 'SGSIN'],
      ['SGSIN', 'USLAX'],
    ],
  );

  it('give one shipment in every order, with and without the dropped ones', () => {
    fc.assert(
      fc.property(reports, fc.nat(200), arrival, legs, fc.boolean(), (given, place, arrived, ports, hasEta) => {
        const record = (order: typeof given) => {
          const scenario = createShipment({
            container_numbers: [CONTAINER_A],
            legs: ports.map(([origin_port = null, destination_port = null]) => ({
              ...EMPTY_LEG,
              origin_port,
              destination_port,
            })),
            ...(hasEta && { eta: timeAfter(1) }),
          });
          for (const [index, { stated, time, code, ...more }] of order.entries()) {
            if (index === place && arrived !== null) {
              const actual = { location: 'USLAX', source: 'terminal', reported_at: createJanuaryTime(30) } as const;
              scenario.postMilestoneInScenario('vessel_arrived', addMsToTime(FIRST_REPORT, arrived * HOUR_MS), actual);
            }
            const reported_at = addMsToTime(FIRST_REPORT, stated * HOUR_MS);
            scenario.postEstimateInScenario(code, timeAfter(time), { reported_at, ...more });
          }
          return scenario;
        };
        const [one, other] = [record(given), record(given.toReversed())];
        expect(fold(one.events)).toEqual(one.state);
        expect(one.record).toEqual(deriveShipment(foldWithoutDrops(one.events), journeyPlacesStub).record);
        const describe = ({ record: { etd, eta, atd, ata, original_eta, status, legs: own } }: ShipmentScenario) => {
          return { etd, eta, atd, ata, original_eta, status, legs: own };
        };
        expect(describe(other)).toEqual(describe(one));
        expect(listReports(other)).toEqual(listReports(one));
      }),
      { numRuns: rounds(150) },
    );
  });
});

describe('random estimates that people and feeds change', () => {
  const steps = fc.array(
    fc.record({
      kind: fc.constantFrom(...repeat('post', 12), 'correct', 'retract', 'patch'),
      stated: fc.integer({ min: 0, max: 400 }),
      time: fc.integer({ min: 0, max: 40 }),
      location: fc.constantFrom(...repeat('USLAX', 9), 'SGSIN'),
      external_id: fc.constantFrom(...repeat(null, 6), 'EV-1', 'EV-2'),
      source: fc.constantFrom(...repeat('carrier' as const, 8), 'manual' as const),
    }),
    { minLength: 150, maxLength: 220, size: 'max' },
  );

  it('give one shipment with and without the dropped ones', () => {
    let drops = 0;
    fc.assert(
      fc.property(steps, fc.nat(400), (given, arrived) => {
        const scenario = createShipment();
        for (const { kind, stated, time, ...more } of given) {
          const { timeline = [] } = scenario.state ?? {};
          const entry = timeline[stated % Math.max(1, timeline.length)];
          const reported_at = addMsToTime(FIRST_REPORT, stated * HOUR_MS);
          if (kind === 'post')
            scenario.postEstimateInScenario('vessel_arrived', timeAfter(time), { reported_at, ...more });
          else if (kind === 'patch')
            scenario
              .setTimeOfNextCommand(addMsToTime(FIRST_REPORT, stated * HOUR_MS))
              .patchShipment({ eta: timeAfter(time) });
          else if (entry === undefined || entry.milestone.retracted_at !== null) continue;
          else if (kind === 'retract') scenario.retractMilestone(entry.milestone);
          else
            scenario.correctMilestone(entry.milestone, {
              occurred_at: timeAfter(time),
              reported_at,
              location: more.location,
            });
          scenario.setTimeOfNextCommand(createJanuaryTime(31));
        }
        scenario.postMilestoneInScenario('vessel_arrived', addMsToTime(FIRST_REPORT, arrived * HOUR_MS), {
          location: 'USLAX',
          source: 'terminal',
        });
        expect(fold(scenario.events)).toEqual(scenario.state);
        const unpruned = foldWithoutDrops(scenario.events);
        drops += unpruned.timeline.length - (scenario.state?.timeline.length ?? 0);
        expect(scenario.record).toEqual(deriveShipment(unpruned, journeyPlacesStub).record);
      }),
      { numRuns: rounds(100) },
    );
    expect(drops).toBeGreaterThan(0);
  });
});

const EMPTY_LEG = { mode: null, carrier_scac: null, vessel: null, voyage: null, etd: null, eta: null };

/** Returns the reports on the timeline, without ids and times of recording. */
function listReports({ state }: ShipmentScenario): readonly string[] {
  const estimates = state?.timeline.filter(({ milestone }) => milestone.classifier === 'estimated') ?? [];
  return estimates
    .map(({ milestone: { code, location, container_number, reported_at, occurred_at, superseded_at } }) =>
      [code, location, container_number, reported_at, occurred_at, superseded_at === null].join(' '),
    )
    .sort();
}
