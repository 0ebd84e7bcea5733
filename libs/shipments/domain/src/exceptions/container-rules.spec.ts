import type { LoadType, Mode, ShipmentException, ClientShipmentFields } from '@tracking/contracts';
import { CONTAINER_A, CONTAINER_B, type ShipmentScenario, getTypesOfDecidedEvents } from '../../test/scenario.ts';
import {
  SAMPLE_CREATION_TIME,
  addMsToTime,
  createScenarioWithRule,
  HOUR_MS,
  createJanuaryTime,
  createLeg,
  createRuleSettingsForOneType,
} from '../../test/time-driven.ts';

const box = (container_number: string) => ({ container_number });
const legs = (etd: string | null = null) => [
  createLeg('CNSHA', 'SGSIN', createJanuaryTime(2)),
  createLeg('SGSIN', 'USLAX', etd),
];
/** A time after everything recorded. */
const LATE = createJanuaryTime(31);

function checkedLate(scenario: ShipmentScenario): string[] {
  scenario.setTimeOfNextCommand(LATE).checkRules();
  return scenario.exceptions;
}

describe('rules for containers', () => {
  const risks = (fields: Partial<ClientShipmentFields>) => {
    const scenario = createScenarioWithRule('demurrage_risk', fields).setTimeOfNextCommand(createJanuaryTime(6));
    return scenario;
  };

  it('run for each container; a milestone without a container counts for all', () => {
    const scenario = risks({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(6));
    expect(checkedLate(scenario)).toEqual([`demurrage_risk ${CONTAINER_A} open`, `demurrage_risk ${CONTAINER_B} open`]);
    scenario.postMilestoneInScenario('gated_out', createJanuaryTime(30), box(CONTAINER_A));
    expect(scenario.exceptions).toEqual([
      `demurrage_risk ${CONTAINER_A} resolved auto_cleared`,
      `demurrage_risk ${CONTAINER_B} open`,
    ]);
  });

  it('open each at its own time', () => {
    const scenario = risks({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(5), box(CONTAINER_A));
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(6), box(CONTAINER_B));
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(9));
    scenario.setTimeOfNextCommand(createJanuaryTime(9)).checkRules();
    expect(scenario.exceptions).toEqual([`demurrage_risk ${CONTAINER_A} open`]);
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(10));
  });

  it('update as many exceptions as one append may store, and the others with the next checks', () => {
    const container_numbers = Array.from({ length: 200 }, (_, n) => `MSCU${1_000_000 + n}`);
    const scenario = risks({ container_numbers });
    for (const number of container_numbers) scenario.patchContainer(number, { last_free_day: '2026-01-12' });
    const isOpen = ({ status }: ShipmentException) => status !== 'resolved';
    const all = () => (scenario.state?.exceptions ?? []).filter(isOpen);
    const bytesOfCheck = () => {
      const { events } = scenario.checkRules();
      return Buffer.byteLength(JSON.stringify(events));
    };
    scenario.setTimeOfNextCommand(createJanuaryTime(11)).checkRules();
    expect(all()).toHaveLength(200);
    for (const exception of all()) scenario.acknowledgeException(exception, { assignee: '貨'.repeat(1_000) });
    scenario.setTimeOfNextCommand(LATE);
    let checks = 0;
    do {
      expect(bytesOfCheck()).toBeLessThan(500_000);
      checks += 1;
    } while (scenario.state?.nextCheckAt === LATE && checks < 20);
    expect(checks).toBeGreaterThan(2);
    expect(new Set(all().map(({ severity }) => severity))).toEqual(new Set(['critical']));
  });

  it('run once for a shipment without containers', () => {
    const scenario = risks({});
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(6));
    expect(checkedLate(scenario)).toEqual(['demurrage_risk open']);
  });

  it('continue for an undelivered container while another one is delivered', () => {
    const scenario = risks({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(6));
    scenario.postMilestoneInScenario('delivered', createJanuaryTime(6), box(CONTAINER_A));
    expect(checkedLate(scenario)).toEqual([`demurrage_risk ${CONTAINER_B} open`]);
  });

  it('apply again to a container that is added again', () => {
    const scenario = risks({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(6), box(CONTAINER_A));
    scenario.setTimeOfNextCommand(LATE).checkRules();
    scenario.upsertShipment({ container_numbers: [CONTAINER_B] });
    scenario.upsertShipment({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    expect(scenario.exceptions).toEqual([
      `demurrage_risk ${CONTAINER_A} resolved auto_cleared`,
      `demurrage_risk ${CONTAINER_A} open`,
    ]);
  });
});

describe('missed_connection', () => {
  const stopped = (
    code: string,
    location: string | null,
    fields: Partial<ClientShipmentFields> = { legs: legs(createJanuaryTime(9)) },
  ) => {
    const scenario = createScenarioWithRule('missed_connection', fields).setTimeOfNextCommand(createJanuaryTime(6));
    scenario.postMilestoneInScenario(code, createJanuaryTime(6), { location });
    return scenario;
  };

  test.each<[string, string | null]>([
    ['transshipment_discharged', 'SGSIN'],
    ['transshipment_discharged', null],
    ['transshipment_discharged', 'the yard'],
    ['discharged', 'SGSIN'],
  ])('opens after %s at %s, 12 h after the ETD of the next leg', (code, location) => {
    expect(stopped(code, location).state?.nextCheckAt).toBe(createJanuaryTime(9, 12));
  });

  test.each(['transshipment_arrived', 'vessel_arrived', 'vessel_berthed', 'rail_arrived', 'flight_arrived'])(
    'opens 10 days after %s where a leg ends, because the ship may only be late',
    (code) => {
      expect(stopped(code, 'SGSIN').state?.nextCheckAt).toBe(createJanuaryTime(16));
    },
  );

  test.each<[string, string | null]>([
    ['transshipment_arrived', 'DEHAM'],
    ['vessel_arrived', null],
    ['vessel_arrived', 'USLAX'],
    ['transshipment_discharged', 'USLAX'],
    ['discharged', 'USNYC'],
    ['rail_arrived', null],
    ['in_transit_checkpoint', 'SGSIN'],
    ['gated_in', 'SGSIN'],
    ['customs_hold', 'SGSIN'],
  ])('does not open after %s at %s', (code, location) => {
    const scenario = stopped(code, location);
    expect(scenario.state?.nextCheckAt).toBeNull();
    expect(checkedLate(scenario)).toEqual([]);
  });

  it('opens 10 days after the discharge for transshipment without legs', () => {
    expect(stopped('discharged', 'SGSIN', {}).state?.nextCheckAt).toBeNull();
    const scenario = stopped('transshipment_discharged', 'SGSIN', {});
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(16));
    scenario.setTimeOfNextCommand(createJanuaryTime(16)).checkRules();
    expect(scenario.state?.exceptions[0]?.metrics).toEqual({
      location: 'SGSIN',
      arrived_at: createJanuaryTime(6),
      next_etd: null,
    });
  });

  it('opens after the hours of the settings; the 10 days are fixed', () => {
    const given = [stopped('discharged', 'SGSIN'), stopped('discharged', 'SGSIN', { legs: legs() })];
    const checks = given.map((scenario) => {
      scenario.settings = createRuleSettingsForOneType('missed_connection', { after_hours: 36 });
      scenario.checkRules();
      return scenario.state?.nextCheckAt;
    });
    expect(checks).toEqual([addMsToTime(createJanuaryTime(9), 36 * HOUR_MS), createJanuaryTime(16)]);
  });

  it('opens immediately if the next leg has already departed', () => {
    const scenario = stopped('discharged', 'SGSIN', { legs: legs(createJanuaryTime(4)) });
    expect(scenario.open).toEqual(['missed_connection']);
  });

  it('uses the last of several stops, and the leg that departs there', () => {
    const three = [
      createLeg('CNSHA', 'SGSIN', createJanuaryTime(2)),
      createLeg('SGSIN', 'KRPUS', createJanuaryTime(9)),
      createLeg('KRPUS', 'USLAX', createJanuaryTime(20)),
    ];
    const scenario = stopped('transshipment_discharged', 'SGSIN', { legs: three });
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(9, 12));
    // No milestone reported the loading.
    scenario
      .setTimeOfNextCommand(createJanuaryTime(8))
      .postMilestoneInScenario('transshipment_arrived', createJanuaryTime(8), { location: 'KRPUS' });
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(20, 12));
    expect(checkedLate(scenario)).toEqual(['missed_connection open']);
  });

  it('uses the first leg that has not departed if the place is unknown', () => {
    const three = [
      createLeg('CNSHA', 'SGSIN', createJanuaryTime(2)),
      createLeg('SGSIN', 'KRPUS', createJanuaryTime(4)),
      createLeg('KRPUS', 'USLAX', createJanuaryTime(20)),
    ];
    const scenario = createScenarioWithRule('missed_connection', { legs: three }).setTimeOfNextCommand(
      createJanuaryTime(6),
    );
    scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(2), { location: 'CNSHA' });
    scenario.postMilestoneInScenario('transshipment_departed', createJanuaryTime(4), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('transshipment_discharged', createJanuaryTime(6));
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(20, 12));
  });

  it('counts from the first milestone at the stop since the last departure', () => {
    const scenario = createScenarioWithRule('missed_connection', { legs: legs() }).setTimeOfNextCommand(
      createJanuaryTime(20),
    );
    scenario.postMilestoneInScenario('transshipment_arrived', createJanuaryTime(3), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('transshipment_departed', createJanuaryTime(4), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('transshipment_arrived', createJanuaryTime(12), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('transshipment_discharged', createJanuaryTime(14), { location: 'SGSIN' });
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(22));
  });

  it('is resolved by a milestone dated at the stop or later, not before', () => {
    const loadedAt = (time: string) => {
      const scenario = stopped('transshipment_discharged', 'SGSIN');
      scenario.postMilestoneInScenario('loaded_on_vessel', time);
      return checkedLate(scenario);
    };
    expect(loadedAt(createJanuaryTime(6))).toEqual([]);
    expect(loadedAt(addMsToTime(createJanuaryTime(6), -1))).toEqual(['missed_connection open']);
  });

  test.each(['gated_in', 'export_customs_cleared', 'customs_hold', 'carrier_released', 'picked_up'])(
    'is not resolved by a milestone without movement: %s',
    (code) => {
      const scenario = stopped('transshipment_discharged', 'SGSIN');
      scenario.setTimeOfNextCommand(createJanuaryTime(10)).postMilestoneInScenario(code);
      expect(scenario.open).toEqual(['missed_connection']);
    },
  );

  it('is resolved by a pick-up by road', () => {
    const scenario = stopped('arrived_at_destination', 'SGSIN', { mode: 'road', legs: legs(createJanuaryTime(9)) });
    scenario.setTimeOfNextCommand(createJanuaryTime(10)).postMilestoneInScenario('picked_up');
    expect(scenario.exceptions).toEqual([]);
  });

  it('opens for the container that was left behind', () => {
    const scenario = createScenarioWithRule('missed_connection', {
      legs: legs(createJanuaryTime(9)),
      container_numbers: [CONTAINER_A, CONTAINER_B],
    }).setTimeOfNextCommand(createJanuaryTime(6));
    scenario.postMilestoneInScenario('transshipment_discharged', createJanuaryTime(6), { location: 'SGSIN' });
    scenario
      .setTimeOfNextCommand(createJanuaryTime(9))
      .postMilestoneInScenario('transshipment_loaded', createJanuaryTime(9), {
        location: 'SGSIN',
        ...box(CONTAINER_A),
      });
    expect(checkedLate(scenario)).toEqual([`missed_connection ${CONTAINER_B} open`]);
    scenario.postMilestoneInScenario('vessel_departed');
    expect(scenario.open).toEqual(['missed_connection']);
    scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(20), { location: 'USLAX' });
    expect(scenario.open).toEqual([]);
  });
});

describe('demurrage_risk and detention_risk', () => {
  const given = (type: 'demurrage_risk' | 'detention_risk', fields: Partial<ClientShipmentFields> = {}) =>
    createScenarioWithRule(type, { container_numbers: [CONTAINER_A], ...fields }).setTimeOfNextCommand(
      createJanuaryTime(6),
    );

  it('do not open for part loads', () => {
    const lcl: LoadType = 'lcl';
    for (const type of ['demurrage_risk', 'detention_risk'] as const) {
      const scenario = given(type, { load_type: lcl });
      scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-10', empty_return_by: '2026-01-10' });
      scenario.postMilestoneInScenario('discharged', createJanuaryTime(5));
      scenario.postMilestoneInScenario('gated_out', createJanuaryTime(6));
      expect(scenario.state?.nextCheckAt).toBeNull();
      expect(checkedLate(scenario)).toEqual([]);
    }
  });

  test.each<[Mode | null, boolean]>([
    ['ocean', true],
    ['rail', true],
    ['barge', true],
    ['multimodal', true],
    [null, true],
    ['air', false],
    ['road', false],
    ['courier', false],
  ])('use the milestone that follows a missing discharge or gate-out by %s: %s', (mode, tells) => {
    const available = given('demurrage_risk', { mode });
    available.postMilestoneInScenario('available_for_pickup', createJanuaryTime(5));
    expect(available.state?.nextCheckAt).toBe(tells ? createJanuaryTime(9) : null);
    available.postMilestoneInScenario('discharged', createJanuaryTime(4));
    expect(available.state?.nextCheckAt).toBe(createJanuaryTime(8));
    const delivered = given('detention_risk', { mode });
    delivered.postMilestoneInScenario('delivered', createJanuaryTime(6));
    delivered.postMilestoneInScenario('out_for_delivery', createJanuaryTime(5));
    expect(delivered.state?.nextCheckAt).toBe(tells ? createJanuaryTime(15) : null);
    delivered.postMilestoneInScenario('gated_out', createJanuaryTime(4));
    expect(delivered.state?.nextCheckAt).toBe(createJanuaryTime(14));
  });

  it('do not use other milestones for a shipment without containers', () => {
    const scenario = createScenarioWithRule('detention_risk').setTimeOfNextCommand(createJanuaryTime(6));
    scenario.postMilestoneInScenario('delivered');
    expect(checkedLate(scenario)).toEqual([]);
    scenario.postMilestoneInScenario('gated_out', createJanuaryTime(6));
    expect(scenario.open).toEqual(['detention_risk']);
  });

  it('keep the details that events of earlier versions store', () => {
    const detail = (scenario: ShipmentScenario) =>
      scenario.setTimeOfNextCommand(LATE).checkRules() && scenario.state?.exceptions.at(-1)?.detail;
    const [discharged, gatedOut] = [given('demurrage_risk'), given('detention_risk')];
    discharged.postMilestoneInScenario('discharged', createJanuaryTime(5));
    expect(detail(discharged)).toBe(`At the terminal since ${createJanuaryTime(5)}, and no last free day is known.`);
    discharged.patchContainer(CONTAINER_A, { last_free_day: '2026-01-10' });
    expect(detail(discharged)).toBe('The last free day is 2026-01-10, and no gate-out is known.');
    gatedOut.postMilestoneInScenario('gated_out', createJanuaryTime(6));
    expect(detail(gatedOut)).toBe(`Out since ${createJanuaryTime(6)}, and no return of the empty container is known.`);
    gatedOut.patchContainer(CONTAINER_A, { empty_return_by: '2026-01-10' });
    expect(detail(gatedOut)).toBe('To be returned empty by 2026-01-10, and no return is known.');
  });

  it('detention continues after delivery, demurrage ends', () => {
    const scenario = given('detention_risk');
    scenario.settings = createRuleSettingsForOneType('detention_risk');
    scenario.postMilestoneInScenario('gated_out', createJanuaryTime(5));
    scenario.postMilestoneInScenario('delivered', createJanuaryTime(6));
    expect(checkedLate(scenario)).toEqual([`detention_risk ${CONTAINER_A} open`]);
    scenario.postMilestoneInScenario('empty_returned');
    expect(scenario.open).toEqual([]);
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  it('prefer a given day to counted days, even if it is later', () => {
    const scenario = given('demurrage_risk');
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(5));
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(9));
    scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(18, 8));
    scenario.patchContainer(CONTAINER_A, { last_free_day: null });
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(9));
  });

  it('use the day at the destination in its time zone, also with daylight saving time', () => {
    const scenario = createScenarioWithRule('demurrage_risk', {
      container_numbers: [CONTAINER_A],
      destination_port: 'USLAX',
    });
    scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-03-09' });
    // Two days before the 9th begins at 07:00 UTC, because daylight saving time began on the 8th.
    expect(scenario.state?.nextCheckAt).toBe('2026-03-07T07:00:00.000Z');
    scenario.setTimeOfNextCommand('2026-03-07T07:00:00.000Z').checkRules();
    expect(scenario.state?.nextCheckAt).toBe('2026-03-10T07:00:00.000Z');
    scenario.setTimeOfNextCommand('2026-03-10T06:59:59.999Z').checkRules();
    expect(scenario.state?.exceptions[0]?.severity).toBe('high');
    scenario.setTimeOfNextCommand('2026-03-10T07:00:00.000Z').checkRules();
    expect(scenario.state?.exceptions[0]?.severity).toBe('critical');
  });

  it.each([
    ['CNSHA', createJanuaryTime(17, 16)],
    ['USLAX', createJanuaryTime(18, 8)],
    ['DEHAM', createJanuaryTime(18)],
    [null, createJanuaryTime(18)],
  ])('open at %s, whose zone may be unknown', (destination_port, opens) => {
    const scenario = createScenarioWithRule('detention_risk', { container_numbers: [CONTAINER_A], destination_port });
    scenario.patchContainer(CONTAINER_A, { empty_return_by: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(opens);
  });

  it('open some hours before the day, from the settings', () => {
    const scenario = given('demurrage_risk');
    scenario.settings = createRuleSettingsForOneType('demurrage_risk', { before_hours: 12 });
    scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(19, 20));
  });

  it('are critical immediately if the day is already over', () => {
    const scenario = given('demurrage_risk').setTimeOfNextCommand(createJanuaryTime(25));
    expect(getTypesOfDecidedEvents(scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-20' }))).toContain(
      'exception.opened.v1',
    );
    expect(scenario.state?.exceptions).toMatchObject([{ severity: 'critical', opened_at: createJanuaryTime(25) }]);
    expect(scenario.record.created_at).toBe(SAMPLE_CREATION_TIME);
  });

  describe('free time', () => {
    const route = { origin_port: 'CNSHA', destination_port: 'USCHI' };
    const STEPS: Readonly<Record<string, readonly [code: string, day: number, location?: string]>> = {
      discharged: ['discharged', 4, 'USLAX'],
      repeated: ['discharged', 5, 'USLAX'],
      loaded: ['rail_loaded', 6, 'USLAX'],
      gatedOut: ['gated_out', 6, 'USLAX'],
      departed: ['rail_departed', 7, 'USLAX'],
      departedAnywhere: ['rail_departed', 7],
      unloaded: ['rail_unloaded', 9, 'USCHI'],
      gatedOutElsewhere: ['gated_out', 8, 'USNYC'],
    };

    it.each<[string, readonly string[], string | null]>([
      ['runs from the first discharge', ['discharged', 'repeated'], createJanuaryTime(4)],
      ['ends when a train leaves', ['discharged', 'repeated', 'departed'], null],
      ['ends when a train leaves an unknown place', ['discharged', 'departedAnywhere'], null],
      ['ends when the container is loaded on a train', ['discharged', 'loaded'], null],
      ['ends when the container gates out', ['discharged', 'gatedOut'], null],
      ['runs again where the train is unloaded', ['discharged', 'departed', 'unloaded'], createJanuaryTime(9)],
      ['shows the nearest deadline of two places', ['discharged', 'unloaded'], createJanuaryTime(4)],
      [
        'is not ended at another place',
        ['discharged', 'gatedOutElsewhere', 'departed', 'unloaded'],
        createJanuaryTime(9),
      ],
    ])('%s', (_, steps, since) => {
      const rotations = steps.map((__, index) => [...steps.slice(index), ...steps.slice(0, index)]);
      const orders = [...rotations, ...rotations.map((order) => order.toReversed()), steps, steps.toReversed(), steps];
      for (const order of orders) {
        const scenario = given('demurrage_risk', route).setTimeOfNextCommand(createJanuaryTime(10));
        for (const step of [...order, ...order]) {
          const [code = '', day = 0, location] = STEPS[step] ?? [];
          scenario.postMilestoneInScenario(code, createJanuaryTime(day), {
            container_number: CONTAINER_A,
            location: location ?? null,
          });
        }
        scenario.setTimeOfNextCommand(LATE).checkRules();
        const open = scenario.state?.exceptions.filter(({ status }) => status === 'open') ?? [];
        expect(open.map(({ metrics }) => metrics['discharged_at'])).toEqual(since === null ? [] : [since]);
      }
    });
  });

  test.each<[Mode | null, number]>([
    ['ocean', 0],
    ['barge', 0],
    ['rail', 1],
    [null, 1],
  ])('demurrage at the end of a leg, if the next leg is by %s: %i', (mode, count) => {
    const leg = { carrier_scac: null, vessel: null, voyage: null, etd: null, eta: null };
    const legs = [
      { ...leg, mode: 'ocean' as const, origin_port: 'CNSHA', destination_port: 'SGSIN' },
      { ...leg, mode, origin_port: 'SGSIN', destination_port: 'USLAX' },
    ];
    const scenario = given('demurrage_risk', { legs });
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(4), {
      location: 'SGSIN',
      container_number: CONTAINER_A,
    });
    scenario.setTimeOfNextCommand(LATE).checkRules();
    expect(scenario.open).toHaveLength(count);
  });

  it('demurrage restarts with a discharge after a train', () => {
    const scenario = given('demurrage_risk');
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(4));
    scenario.postMilestoneInScenario('rail_departed', createJanuaryTime(5));
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.postMilestoneInScenario('available_for_pickup', createJanuaryTime(6));
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(10));
  });
});
