import type { LoadType, Mode, ShipmentException, ShipmentFields } from '@tracking/contracts';
import { CONTAINER_A, CONTAINER_B, type Scenario, listEventTypes } from '../../test/scenario.ts';
import {
  CREATED_AT,
  addMs,
  createScenarioWithRule,
  HOUR_MS,
  inJanuary,
  createLeg,
  enableOnlyType,
} from '../../test/time-driven.ts';

const box = (container_number: string) => ({ container_number });
const legs = (etd: string | null = null) => [
  createLeg('CNSHA', 'SGSIN', inJanuary(2)),
  createLeg('SGSIN', 'USLAX', etd),
];
/** A time after everything recorded. */
const LATE = inJanuary(31);

function checkedLate(scenario: Scenario): string[] {
  scenario.at(LATE).check();
  return scenario.exceptions;
}

describe('rules for containers', () => {
  const risks = (fields: Partial<ShipmentFields>) => {
    const scenario = createScenarioWithRule('demurrage_risk', fields).at(inJanuary(6));
    return scenario;
  };

  it('run for each container; a milestone without a container counts for all', () => {
    const scenario = risks({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.post('discharged', inJanuary(6));
    expect(checkedLate(scenario)).toEqual([`demurrage_risk ${CONTAINER_A} open`, `demurrage_risk ${CONTAINER_B} open`]);
    scenario.post('gated_out', inJanuary(30), box(CONTAINER_A));
    expect(scenario.exceptions).toEqual([
      `demurrage_risk ${CONTAINER_A} resolved auto_cleared`,
      `demurrage_risk ${CONTAINER_B} open`,
    ]);
  });

  it('open each at its own time', () => {
    const scenario = risks({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.post('discharged', inJanuary(5), box(CONTAINER_A));
    scenario.post('discharged', inJanuary(6), box(CONTAINER_B));
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(9));
    scenario.at(inJanuary(9)).check();
    expect(scenario.exceptions).toEqual([`demurrage_risk ${CONTAINER_A} open`]);
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(10));
  });

  it('update as many exceptions as one append may store, and the others with the next checks', () => {
    const container_numbers = Array.from({ length: 200 }, (_, n) => `MSCU${1_000_000 + n}`);
    const scenario = risks({ container_numbers });
    for (const number of container_numbers) scenario.patchContainer(number, { last_free_day: '2026-01-12' });
    const isOpen = ({ status }: ShipmentException) => status !== 'resolved';
    const all = () => (scenario.state?.exceptions ?? []).filter(isOpen);
    const bytesOfCheck = () => {
      const { events } = scenario.check();
      return Buffer.byteLength(JSON.stringify(events));
    };
    scenario.at(inJanuary(11)).check();
    expect(all()).toHaveLength(200);
    for (const exception of all()) scenario.acknowledge(exception, { assignee: '貨'.repeat(1_000) });
    scenario.at(LATE);
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
    scenario.post('discharged', inJanuary(6));
    expect(checkedLate(scenario)).toEqual(['demurrage_risk open']);
  });

  it('continue for an undelivered container while another one is delivered', () => {
    const scenario = risks({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.post('discharged', inJanuary(6));
    scenario.post('delivered', inJanuary(6), box(CONTAINER_A));
    expect(checkedLate(scenario)).toEqual([`demurrage_risk ${CONTAINER_B} open`]);
  });

  it('apply again to a container that is added again', () => {
    const scenario = risks({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    scenario.post('discharged', inJanuary(6), box(CONTAINER_A));
    scenario.at(LATE).check();
    scenario.upsert({ container_numbers: [CONTAINER_B] });
    scenario.upsert({ container_numbers: [CONTAINER_A, CONTAINER_B] });
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
    fields: Partial<ShipmentFields> = { legs: legs(inJanuary(9)) },
  ) => {
    const scenario = createScenarioWithRule('missed_connection', fields).at(inJanuary(6));
    scenario.post(code, inJanuary(6), { location });
    return scenario;
  };

  test.each<[string, string | null]>([
    ['transshipment_discharged', 'SGSIN'],
    ['transshipment_discharged', null],
    ['transshipment_discharged', 'the yard'],
    ['discharged', 'SGSIN'],
  ])('opens after %s at %s, 12 h after the ETD of the next leg', (code, location) => {
    expect(stopped(code, location).state?.nextCheckAt).toBe(inJanuary(9, 12));
  });

  test.each(['transshipment_arrived', 'vessel_arrived', 'vessel_berthed', 'rail_arrived', 'flight_arrived'])(
    'opens 10 days after %s where a leg ends, because the ship may only be late',
    (code) => {
      expect(stopped(code, 'SGSIN').state?.nextCheckAt).toBe(inJanuary(16));
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
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(16));
    scenario.at(inJanuary(16)).check();
    expect(scenario.state?.exceptions[0]?.metrics).toEqual({
      location: 'SGSIN',
      arrived_at: inJanuary(6),
      next_etd: null,
    });
  });

  it('opens after the hours of the settings; the 10 days are fixed', () => {
    const given = [stopped('discharged', 'SGSIN'), stopped('discharged', 'SGSIN', { legs: legs() })];
    const checks = given.map((scenario) => {
      scenario.settings = enableOnlyType('missed_connection', { after_hours: 36 });
      scenario.check();
      return scenario.state?.nextCheckAt;
    });
    expect(checks).toEqual([addMs(inJanuary(9), 36 * HOUR_MS), inJanuary(16)]);
  });

  it('opens immediately if the next leg has already departed', () => {
    const scenario = stopped('discharged', 'SGSIN', { legs: legs(inJanuary(4)) });
    expect(scenario.open).toEqual(['missed_connection']);
  });

  it('uses the last of several stops, and the leg that departs there', () => {
    const three = [
      createLeg('CNSHA', 'SGSIN', inJanuary(2)),
      createLeg('SGSIN', 'KRPUS', inJanuary(9)),
      createLeg('KRPUS', 'USLAX', inJanuary(20)),
    ];
    const scenario = stopped('transshipment_discharged', 'SGSIN', { legs: three });
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(9, 12));
    // No milestone reported the loading.
    scenario.at(inJanuary(8)).post('transshipment_arrived', inJanuary(8), { location: 'KRPUS' });
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(20, 12));
    expect(checkedLate(scenario)).toEqual(['missed_connection open']);
  });

  it('uses the first leg that has not departed if the place is unknown', () => {
    const three = [
      createLeg('CNSHA', 'SGSIN', inJanuary(2)),
      createLeg('SGSIN', 'KRPUS', inJanuary(4)),
      createLeg('KRPUS', 'USLAX', inJanuary(20)),
    ];
    const scenario = createScenarioWithRule('missed_connection', { legs: three }).at(inJanuary(6));
    scenario.post('vessel_departed', inJanuary(2), { location: 'CNSHA' });
    scenario.post('transshipment_departed', inJanuary(4), { location: 'SGSIN' });
    scenario.post('transshipment_discharged', inJanuary(6));
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(20, 12));
  });

  it('counts from the first milestone at the stop since the last departure', () => {
    const scenario = createScenarioWithRule('missed_connection', { legs: legs() }).at(inJanuary(20));
    scenario.post('transshipment_arrived', inJanuary(3), { location: 'SGSIN' });
    scenario.post('transshipment_departed', inJanuary(4), { location: 'SGSIN' });
    scenario.post('transshipment_arrived', inJanuary(12), { location: 'SGSIN' });
    scenario.post('transshipment_discharged', inJanuary(14), { location: 'SGSIN' });
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(22));
  });

  it('is resolved by a milestone dated at the stop or later, not before', () => {
    const loadedAt = (time: string) => {
      const scenario = stopped('transshipment_discharged', 'SGSIN');
      scenario.post('loaded_on_vessel', time);
      return checkedLate(scenario);
    };
    expect(loadedAt(inJanuary(6))).toEqual([]);
    expect(loadedAt(addMs(inJanuary(6), -1))).toEqual(['missed_connection open']);
  });

  test.each(['gated_in', 'export_customs_cleared', 'customs_hold', 'carrier_released', 'picked_up'])(
    'is not resolved by a milestone without movement: %s',
    (code) => {
      const scenario = stopped('transshipment_discharged', 'SGSIN');
      scenario.at(inJanuary(10)).post(code);
      expect(scenario.open).toEqual(['missed_connection']);
    },
  );

  it('is resolved by a pick-up by road', () => {
    const scenario = stopped('arrived_at_destination', 'SGSIN', { mode: 'road', legs: legs(inJanuary(9)) });
    scenario.at(inJanuary(10)).post('picked_up');
    expect(scenario.exceptions).toEqual([]);
  });

  it('opens for the container that was left behind', () => {
    const scenario = createScenarioWithRule('missed_connection', {
      legs: legs(inJanuary(9)),
      container_numbers: [CONTAINER_A, CONTAINER_B],
    }).at(inJanuary(6));
    scenario.post('transshipment_discharged', inJanuary(6), { location: 'SGSIN' });
    scenario.at(inJanuary(9)).post('transshipment_loaded', inJanuary(9), { location: 'SGSIN', ...box(CONTAINER_A) });
    expect(checkedLate(scenario)).toEqual([`missed_connection ${CONTAINER_B} open`]);
    scenario.post('vessel_departed');
    expect(scenario.open).toEqual(['missed_connection']);
    scenario.post('vessel_arrived', inJanuary(20), { location: 'USLAX' });
    expect(scenario.open).toEqual([]);
  });
});

describe('demurrage_risk and detention_risk', () => {
  const given = (type: 'demurrage_risk' | 'detention_risk', fields: Partial<ShipmentFields> = {}) =>
    createScenarioWithRule(type, { container_numbers: [CONTAINER_A], ...fields }).at(inJanuary(6));

  it('do not open for part loads', () => {
    const lcl: LoadType = 'lcl';
    for (const type of ['demurrage_risk', 'detention_risk'] as const) {
      const scenario = given(type, { load_type: lcl });
      scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-10', empty_return_by: '2026-01-10' });
      scenario.post('discharged', inJanuary(5));
      scenario.post('gated_out', inJanuary(6));
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
    available.post('available_for_pickup', inJanuary(5));
    expect(available.state?.nextCheckAt).toBe(tells ? inJanuary(9) : null);
    available.post('discharged', inJanuary(4));
    expect(available.state?.nextCheckAt).toBe(inJanuary(8));
    const delivered = given('detention_risk', { mode });
    delivered.post('delivered', inJanuary(6));
    delivered.post('out_for_delivery', inJanuary(5));
    expect(delivered.state?.nextCheckAt).toBe(tells ? inJanuary(15) : null);
    delivered.post('gated_out', inJanuary(4));
    expect(delivered.state?.nextCheckAt).toBe(inJanuary(14));
  });

  it('do not use other milestones for a shipment without containers', () => {
    const scenario = createScenarioWithRule('detention_risk').at(inJanuary(6));
    scenario.post('delivered');
    expect(checkedLate(scenario)).toEqual([]);
    scenario.post('gated_out', inJanuary(6));
    expect(scenario.open).toEqual(['detention_risk']);
  });

  it('keep the details that events of earlier versions store', () => {
    const detail = (scenario: Scenario) => scenario.at(LATE).check() && scenario.state?.exceptions.at(-1)?.detail;
    const [discharged, gatedOut] = [given('demurrage_risk'), given('detention_risk')];
    discharged.post('discharged', inJanuary(5));
    expect(detail(discharged)).toBe(`At the terminal since ${inJanuary(5)}, and no last free day is known.`);
    discharged.patchContainer(CONTAINER_A, { last_free_day: '2026-01-10' });
    expect(detail(discharged)).toBe('The last free day is 2026-01-10, and no gate-out is known.');
    gatedOut.post('gated_out', inJanuary(6));
    expect(detail(gatedOut)).toBe(`Out since ${inJanuary(6)}, and no return of the empty container is known.`);
    gatedOut.patchContainer(CONTAINER_A, { empty_return_by: '2026-01-10' });
    expect(detail(gatedOut)).toBe('To be returned empty by 2026-01-10, and no return is known.');
  });

  it('detention continues after delivery, demurrage ends', () => {
    const scenario = given('detention_risk');
    scenario.settings = enableOnlyType('detention_risk');
    scenario.post('gated_out', inJanuary(5));
    scenario.post('delivered', inJanuary(6));
    expect(checkedLate(scenario)).toEqual([`detention_risk ${CONTAINER_A} open`]);
    scenario.post('empty_returned');
    expect(scenario.open).toEqual([]);
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  it('prefer a given day to counted days, even if it is later', () => {
    const scenario = given('demurrage_risk');
    scenario.post('discharged', inJanuary(5));
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(9));
    scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(18, 8));
    scenario.patchContainer(CONTAINER_A, { last_free_day: null });
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(9));
  });

  it('use the day at the destination in its time zone, also with daylight saving time', () => {
    const scenario = createScenarioWithRule('demurrage_risk', {
      container_numbers: [CONTAINER_A],
      destination_port: 'USLAX',
    });
    scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-03-09' });
    // Two days before the 9th begins at 07:00 UTC, because daylight saving time began on the 8th.
    expect(scenario.state?.nextCheckAt).toBe('2026-03-07T07:00:00.000Z');
    scenario.at('2026-03-07T07:00:00.000Z').check();
    expect(scenario.state?.nextCheckAt).toBe('2026-03-10T07:00:00.000Z');
    scenario.at('2026-03-10T06:59:59.999Z').check();
    expect(scenario.state?.exceptions[0]?.severity).toBe('high');
    scenario.at('2026-03-10T07:00:00.000Z').check();
    expect(scenario.state?.exceptions[0]?.severity).toBe('critical');
  });

  it.each([
    ['CNSHA', inJanuary(17, 16)],
    ['USLAX', inJanuary(18, 8)],
    ['DEHAM', inJanuary(18)],
    [null, inJanuary(18)],
  ])('open at %s, whose zone may be unknown', (destination_port, opens) => {
    const scenario = createScenarioWithRule('detention_risk', { container_numbers: [CONTAINER_A], destination_port });
    scenario.patchContainer(CONTAINER_A, { empty_return_by: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(opens);
  });

  it('open some hours before the day, from the settings', () => {
    const scenario = given('demurrage_risk');
    scenario.settings = enableOnlyType('demurrage_risk', { before_hours: 12 });
    scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-20' });
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(19, 20));
  });

  it('are critical immediately if the day is already over', () => {
    const scenario = given('demurrage_risk').at(inJanuary(25));
    expect(listEventTypes(scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-20' }))).toContain(
      'exception.opened.v1',
    );
    expect(scenario.state?.exceptions).toMatchObject([{ severity: 'critical', opened_at: inJanuary(25) }]);
    expect(scenario.record.created_at).toBe(CREATED_AT);
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
      ['runs from the first discharge', ['discharged', 'repeated'], inJanuary(4)],
      ['ends when a train leaves', ['discharged', 'repeated', 'departed'], null],
      ['ends when a train leaves an unknown place', ['discharged', 'departedAnywhere'], null],
      ['ends when the container is loaded on a train', ['discharged', 'loaded'], null],
      ['ends when the container gates out', ['discharged', 'gatedOut'], null],
      ['runs again where the train is unloaded', ['discharged', 'departed', 'unloaded'], inJanuary(9)],
      ['shows the nearest deadline of two places', ['discharged', 'unloaded'], inJanuary(4)],
      ['is not ended at another place', ['discharged', 'gatedOutElsewhere', 'departed', 'unloaded'], inJanuary(9)],
    ])('%s', (_, steps, since) => {
      const rotations = steps.map((__, index) => [...steps.slice(index), ...steps.slice(0, index)]);
      const orders = [...rotations, ...rotations.map((order) => order.toReversed()), steps, steps.toReversed(), steps];
      for (const order of orders) {
        const scenario = given('demurrage_risk', route).at(inJanuary(10));
        for (const step of [...order, ...order]) {
          const [code = '', day = 0, location] = STEPS[step] ?? [];
          scenario.post(code, inJanuary(day), { container_number: CONTAINER_A, location: location ?? null });
        }
        scenario.at(LATE).check();
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
    scenario.post('discharged', inJanuary(4), { location: 'SGSIN', container_number: CONTAINER_A });
    scenario.at(LATE).check();
    expect(scenario.open).toHaveLength(count);
  });

  it('demurrage restarts with a discharge after a train', () => {
    const scenario = given('demurrage_risk');
    scenario.post('discharged', inJanuary(4));
    scenario.post('rail_departed', inJanuary(5));
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.post('available_for_pickup', inJanuary(6));
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(10));
  });
});
