import type { ClientShipmentFields } from '@tracking/contracts';
import * as fc from 'fast-check';
import {
  CONTAINER_A,
  ShipmentScenario,
  captureRefusal,
  createLegWithOtherFieldsNull,
  createTimeInJanuary2026,
  createShipmentScenario,
} from '../test/scenario.ts';
import { createScenarioWithRule, createRuleSettingsForOneType, createJanuaryTime } from '../test/time-driven.ts';
import { type MilestoneInput, fold, upcastStoredShipmentEvent } from './index.ts';

const ROUTE = { mode: 'ocean', origin_port: 'CNSHA', destination_port: 'USLAX' } as const;
/** End of 9 January in Los Angeles, in Shanghai, and in UTC−12. */
const END_IN_LOS_ANGELES = '2026-01-10T07:59:59.999Z';
const END_IN_SHANGHAI = '2026-01-09T15:59:59.999Z';
const END_OF_DAY_9 = '2026-01-10T11:59:59.999Z';
/** Equals `rounds` of the testing library, which the domain cannot import. */
const rounds = (all: number): number => (process.env['PROPERTY_ROUNDS'] === 'all' ? all : Math.ceil(all / 5));

const createOceanShipmentScenario = (fields: Partial<ClientShipmentFields> = {}) =>
  createShipmentScenario({ ...ROUTE, ...fields });

describe('a day as an expected time', () => {
  it.each([
    ['eta', 'USLAX', END_IN_LOS_ANGELES],
    ['eta', 'USCHI', END_OF_DAY_9],
    ['eta', null, END_OF_DAY_9],
  ] as const)('ends when it ends at the port: %s at %s', (_, destination_port, eta) => {
    const { record } = createOceanShipmentScenario({ eta: '2026-01-09', destination_port });
    expect(record).toMatchObject({ eta, eta_precision: 'day', original_eta: eta, original_eta_precision: 'day' });
    expect(record).toMatchObject({ etd: null, etd_precision: 'time' });
  });

  it('sets the times of legs at their own ports', () => {
    const legs = [
      createLegWithOtherFieldsNull({
        origin_port: 'CNSHA',
        destination_port: 'SGSIN',
        etd: '2026-01-09',
        eta: createTimeInJanuary2026(12),
      }),
      createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'USLAX', eta: '2026-01-09' }),
    ];
    const { record } = createOceanShipmentScenario({ legs });
    expect(record).toMatchObject({ etd: END_IN_SHANGHAI, etd_precision: 'day', eta: END_IN_LOS_ANGELES });
    expect(record.legs).toMatchObject([
      { etd: END_IN_SHANGHAI, etd_precision: 'day', eta: createTimeInJanuary2026(12), eta_precision: 'time' },
      { etd: null, etd_precision: 'time', eta: END_IN_LOS_ANGELES, eta_precision: 'day' },
    ]);
  });

  it('stays the same day if the destination changes', () => {
    const scenario = createOceanShipmentScenario({ eta: '2026-01-09' });
    scenario.upsertShipment({ destination_port: 'SGSIN' });
    expect(scenario.record).toMatchObject({ eta: END_IN_SHANGHAI, original_eta: END_IN_SHANGHAI });
    scenario.upsertShipment({ destination_port: null });
    expect(scenario.record).toMatchObject({ eta: END_OF_DAY_9, eta_precision: 'day', original_eta: END_OF_DAY_9 });
  });

  it('is no change if it is sent again, and a time is another statement', () => {
    const scenario = createOceanShipmentScenario({ eta: '2026-01-09' });
    expect(scenario.upsertShipment({ eta: '2026-01-09' }).outcome).toBe('unchanged');
    expect(scenario.patchShipment({ eta: '2026-01-09' }).outcome).toBe('unchanged');
    expect(scenario.patchShipment({ eta: END_IN_LOS_ANGELES }).outcome).toBe('updated');
    expect(scenario.record).toMatchObject({ eta: END_IN_LOS_ANGELES, eta_precision: 'time' });
  });

  it('can be the original ETA, also as the present ETA', () => {
    const scenario = createOceanShipmentScenario({ eta: createTimeInJanuary2026(5) });
    scenario.patchShipment({ original_eta: '2026-01-09' });
    expect(scenario.record).toMatchObject({ original_eta: END_IN_LOS_ANGELES, original_eta_precision: 'day' });
    scenario.patchShipment({ eta: '2026-01-12' });
    scenario.patchShipment({ original_eta: null });
    scenario.patchShipment({ destination_port: 'SGSIN', eta: createTimeInJanuary2026(20) });
    expect(scenario.record).toMatchObject({ original_eta: '2026-01-12T15:59:59.999Z', original_eta_precision: 'day' });
    const stored = JSON.parse(JSON.stringify(scenario.events)) as Parameters<typeof upcastStoredShipmentEvent>[0][];
    expect(fold(stored.map(upcastStoredShipmentEvent))).toEqual(scenario.state);
  });

  it('must not be before 2000', () => {
    const refused = captureRefusal(() =>
      createOceanShipmentScenario({
        etd: '1999-12-31',
        eta: '2000-01-01',
        legs: [createLegWithOtherFieldsNull({ eta: '1970-01-01' })],
      }),
    );
    expect(refused.details).toMatchObject([
      { param: 'legs[0].eta', code: 'timestamp_out_of_range' },
      { param: 'etd', code: 'timestamp_out_of_range' },
    ]);
    for (const original_eta of ['1999-12-31', '1970-01-01T00:00:00.000Z']) {
      const patch = captureRefusal(() => createOceanShipmentScenario().patchShipment({ original_eta }));
      expect(patch.details).toMatchObject([{ param: 'original_eta', code: 'timestamp_out_of_range' }]);
    }
  });
});

describe('a day as the time of a milestone', () => {
  it.each([
    ['USLAX', null, END_IN_LOS_ANGELES, 'America/Los_Angeles'],
    ['Depot 7', null, END_OF_DAY_9, null],
    [null, null, END_OF_DAY_9, null],
    ['Depot 7', 'Asia/Shanghai', END_IN_SHANGHAI, 'Asia/Shanghai'],
  ])('ends at its place: %s, %s', (location, timezone, occurred_at, zone) => {
    const scenario = createOceanShipmentScenario();
    const { milestone } = scenario.postEstimateInScenario('vessel_arrived', '2026-01-09', { location, timezone });
    expect(milestone).toMatchObject({ occurred_at, occurred_at_precision: 'day', timezone: zone });
    // The ETA of the shipment is that day at the destination.
    expect(scenario.record).toMatchObject({ eta: END_IN_LOS_ANGELES, eta_precision: 'day' });
  });

  it('is refused for an actual milestone', () => {
    const scenario = createOceanShipmentScenario();
    const refused = captureRefusal(() => scenario.postMilestoneInScenario('vessel_departed', '2026-01-09'));
    expect(refused.details).toMatchObject([{ param: 'occurred_at', code: 'invalid_timestamp' }]);
    const { milestone } = scenario.postEstimateInScenario('vessel_departed', '2026-01-09', { location: 'CNSHA' });
    const correction = captureRefusal(() => scenario.correctMilestone(milestone, { classifier: 'actual' }));
    expect(correction.details).toMatchObject([{ param: 'occurred_at', code: 'invalid_timestamp' }]);
    scenario.correctMilestone(milestone, { classifier: 'actual', occurred_at: createTimeInJanuary2026(9) });
    expect(scenario.getMilestone(milestone.id)).toMatchObject({
      occurred_at: createTimeInJanuary2026(9),
      occurred_at_precision: 'time',
    });
  });

  it('must not be before 2000', () => {
    const scenario = createOceanShipmentScenario();
    for (const location of ['USLAX', 'Depot 7']) {
      const refused = captureRefusal(() =>
        scenario.postEstimateInScenario('vessel_arrived', '1999-12-31', { location }),
      );
      expect(refused.details).toMatchObject([{ param: 'occurred_at', code: 'timestamp_out_of_range' }]);
    }
    expect(scenario.postEstimateInScenario('vessel_arrived', '2000-01-01', { location: 'CNSHA' }).outcome).toBe(
      'recorded',
    );
  });

  it('is the same milestone if it is sent again, but a time is another one', () => {
    const scenario = createOceanShipmentScenario();
    const sent = { location: 'USLAX' };
    scenario.postEstimateInScenario('vessel_arrived', '2026-01-09', sent);
    expect(scenario.postEstimateInScenario('vessel_arrived', '2026-01-09', sent).outcome).toBe('existing');
    expect(scenario.postEstimateInScenario('vessel_arrived', END_IN_LOS_ANGELES, sent).outcome).toBe('recorded');
    expect(scenario.record).toMatchObject({ eta: END_IN_LOS_ANGELES, eta_precision: 'time' });
  });

  it('stays the same day if its place or time zone is corrected', () => {
    const scenario = createOceanShipmentScenario();
    const { milestone } = scenario.postEstimateInScenario('vessel_arrived', '2026-01-09', { location: 'USLAX' });
    expect(scenario.correctMilestone(milestone, { note: 'by phone' }).milestone.occurred_at).toBe(END_IN_LOS_ANGELES);
    expect(scenario.correctMilestone(milestone, { location: 'SGSIN' }).milestone.occurred_at).toBe(END_IN_SHANGHAI);
    expect(scenario.correctMilestone(milestone, { timezone: 'America/Los_Angeles' }).milestone.occurred_at).toBe(
      END_IN_LOS_ANGELES,
    );
    expect(scenario.correctMilestone(milestone, { location: 'Depot 7', timezone: null }).milestone).toMatchObject({
      ...{ occurred_at: END_OF_DAY_9, occurred_at_precision: 'day', timezone: null },
    });
  });

  it('lets the report stated last count, in any order', () => {
    const reports = [
      ['2026-01-09', createTimeInJanuary2026(1)],
      [createTimeInJanuary2026(9, 13), createTimeInJanuary2026(2)],
      ['2026-01-12', createTimeInJanuary2026(3)],
      [createTimeInJanuary2026(11), createTimeInJanuary2026(4)],
      ['2026-01-09', createTimeInJanuary2026(5)],
    ] as const;
    const orders = [
      [0, 1, 2, 3, 4],
      [4, 3, 2, 1, 0],
      [1, 2, 3, 4, 0],
      [0, 4, 3, 2, 1],
      [1, 3, 0, 2, 4],
    ];
    for (const order of orders) {
      for (const external_id of [null, 'EV-1']) {
        const scenario = new ShipmentScenario().setTimeOfNextCommand(createJanuaryTime(26));
        scenario.upsertShipment({ external_id: 'PO-1', ...ROUTE });
        for (const index of [...order, ...order]) {
          const [when, reported_at] = reports[index]!;
          scenario.postEstimateInScenario('vessel_arrived', when, { location: 'USLAX', reported_at, external_id });
        }
        expect(scenario.record).toMatchObject({ eta: END_IN_LOS_ANGELES, eta_precision: 'day' });
        expect(scenario.record).toMatchObject({ original_eta: END_IN_LOS_ANGELES, original_eta_precision: 'day' });
      }
    }
  });

  it('is known again after many later reports, and stays a day in the original ETA', () => {
    const scenario = new ShipmentScenario().setTimeOfNextCommand(createJanuaryTime(26));
    scenario.upsertShipment({ external_id: 'PO-1', ...ROUTE });
    const post = (index: number, isDay: boolean) => {
      const reported_at = new Date(Date.parse(createTimeInJanuary2026(1)) + index * 60_000).toISOString();
      const occurred_at = isDay ? '2026-01-09' : END_IN_LOS_ANGELES;
      return scenario.postEstimateInScenario('vessel_arrived', occurred_at, { location: 'USLAX', reported_at });
    };
    for (let index = 0; index < 60; index++) post(index, index % 2 === 0);
    expect(scenario.state?.timeline.length).toBeLessThan(60);
    const before = scenario.record;
    expect(post(4, true).outcome).toBe('existing');
    expect(scenario.record).toEqual(before);
    expect(scenario.record).toMatchObject({ eta_precision: 'time', original_eta_precision: 'day' });
    expect(fold(scenario.events)).toEqual(scenario.state);
  });

  it('gives one ETA in any order of reports', () => {
    const time = fc.tuple(fc.integer({ min: 5, max: 8 }), fc.constantFrom('', 'T12:00:00.000Z', 'T07:59:59.999Z'));
    const report = fc.record({
      occurred_at: time.map(([number, hour]) => `2026-01-0${number}${hour}`),
      location: fc.constantFrom('USLAX', null, 'SGSIN', 'Depot 7'),
      reported_at: fc.constantFrom(createTimeInJanuary2026(1), createTimeInJanuary2026(2), createTimeInJanuary2026(3)),
      source: fc.constantFrom('carrier' as const, 'ais' as const),
    });
    const orders = fc
      .uniqueArray(report, { maxLength: 8, selector: (each) => JSON.stringify(each) })
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
    const postAll = (posts: readonly Partial<MilestoneInput>[]) => {
      const scenario = new ShipmentScenario().setTimeOfNextCommand(createJanuaryTime(26));
      scenario.upsertShipment({ external_id: 'PO-1', ...ROUTE });
      for (const { occurred_at = '', ...rest } of posts)
        scenario.postEstimateInScenario('vessel_arrived', occurred_at, rest);
      const { eta, eta_precision, original_eta, original_eta_precision } = scenario.record;
      return { eta, eta_precision, original_eta, original_eta_precision };
    };
    fc.assert(
      fc.property(orders, ([one, other]) => {
        expect(postAll([...other, ...other])).toEqual(postAll(one));
      }),
      { numRuns: rounds(300) },
    );
  });
});

describe('comparisons by local days', () => {
  const slip = (eta: string, later: string) => {
    const scenario = createOceanShipmentScenario({ eta });
    scenario.settings = createRuleSettingsForOneType('eta_slip');
    scenario.patchShipment({ eta: later });
    return scenario.state?.exceptions.map(({ metrics, detail }) => [metrics['slip_hours'], detail]) ?? [];
  };

  it('measures eta_slip in days of 24 hours', () => {
    expect(slip('2026-01-09', createTimeInJanuary2026(9, 23))).toEqual([]);
    expect(slip('2026-01-09', END_IN_LOS_ANGELES)).toEqual([]);
    expect(slip(createTimeInJanuary2026(9, 9), '2026-01-09')).toEqual([]);
    expect(slip('2026-01-09', '2026-01-10')).toEqual([
      [24, 'The ETA 2026-01-10 is 24 hours past the original 2026-01-09.'],
    ]);
    expect(slip(createTimeInJanuary2026(9, 9), '2026-01-11')).toMatchObject([[48, expect.any(String)]]);
    // The evening of the day before at the place.
    expect(slip(createTimeInJanuary2026(10, 7), '2026-01-09')).toEqual([]);
    expect(slip(createTimeInJanuary2026(10, 7), '2026-01-10')).toMatchObject([[24, expect.any(String)]]);
  });

  it('warns of an ETA before the ETD by the dates at the ports', () => {
    const warnings = (fields: Partial<ClientShipmentFields>) =>
      new ShipmentScenario()
        .upsertShipment({ external_id: 'PO-1', ...ROUTE, ...fields })
        .warnings.map(({ code }) => code);
    expect(warnings({ etd: '2026-01-09', eta: '2026-01-08' })).toEqual(['eta_before_etd']);
    expect(warnings({ etd: '2026-01-09', eta: '2026-01-09' })).toEqual([]);
    expect(warnings({ etd: '2026-01-09', eta: createTimeInJanuary2026(9, 12) })).toEqual([]);
    expect(warnings({ etd: '2026-01-09', eta: createTimeInJanuary2026(9, 7) })).toEqual(['eta_before_etd']);
    expect(warnings({ etd: createTimeInJanuary2026(9, 20), eta: '2026-01-09' })).toEqual(['eta_before_etd']);
    const leg = createLegWithOtherFieldsNull({
      origin_port: 'CNSHA',
      destination_port: 'USLAX',
      etd: '2026-01-09',
      eta: createTimeInJanuary2026(9, 7),
    });
    expect(warnings({ legs: [leg] })).toContain('eta_before_etd');
  });

  it.each([
    ['arrival_overdue', { eta: '2026-01-09' }, '2026-01-10T08:00:00.000Z'],
    ['departure_overdue', { etd: '2026-01-09' }, '2026-01-09T16:00:00.000Z'],
  ] as const)('opens %s not before the day is over', (type, fields, over) => {
    const scenario = createScenarioWithRule(type, fields);
    scenario.settings = createRuleSettingsForOneType(type, { after_hours: 0, by_mode: {} });
    scenario.checkRules();
    expect(scenario.state?.nextCheckAt).toBe(over);
    scenario.settings = createRuleSettingsForOneType(type, { after_hours: 6, by_mode: {} });
    scenario.checkRules();
    const opens = new Date(Date.parse(over) + 6 * 3_600_000).toISOString();
    expect(scenario.state?.nextCheckAt).toBe(opens);
    expect(scenario.setTimeOfNextCommand(opens).checkRules()).toBeDefined();
    expect(scenario.open).toEqual([type]);
    expect(scenario.state?.exceptions[0]?.detail).toContain('on 2026-01-09');
  });

  it('opens missed_connection after the day of the next ETD', () => {
    const legs = [
      createLegWithOtherFieldsNull({ origin_port: 'CNSHA', destination_port: 'SGSIN' }),
      createLegWithOtherFieldsNull({ origin_port: 'SGSIN', destination_port: 'USLAX', etd: '2026-01-09' }),
    ];
    const scenario = createScenarioWithRule('missed_connection', { legs }).setTimeOfNextCommand(createJanuaryTime(6));
    scenario.settings = createRuleSettingsForOneType('missed_connection', { after_hours: 6 });
    scenario.postMilestoneInScenario('discharged', createJanuaryTime(6), { location: 'SGSIN' });
    expect(scenario.state?.nextCheckAt).toBe('2026-01-09T22:00:00.000Z');
    scenario.setTimeOfNextCommand('2026-01-09T22:00:00.000Z').checkRules();
    expect(scenario.state?.exceptions[0]?.detail).toContain('whose ETD is 2026-01-09.');
  });

  it('opens no arrival_overdue at 03:00 UTC of the next day for an ETA in Los Angeles', () => {
    const scenario = createScenarioWithRule('arrival_overdue', { eta: '2026-11-26' }, '2026-11-01T00:00:00.000Z');
    scenario.settings = createRuleSettingsForOneType('arrival_overdue', { after_hours: 0, by_mode: {} });
    scenario.setTimeOfNextCommand('2026-11-27T03:00:00.000Z').checkRules();
    expect(scenario.open).toEqual([]);
    scenario.setTimeOfNextCommand('2026-11-27T08:00:00.000Z').checkRules();
    expect(scenario.open).toEqual(['arrival_overdue']);
  });

  it('counts a trip of the container that ends on the day of the ETD', () => {
    const post = (etd: string) => {
      const scenario = createOceanShipmentScenario({ mode: 'road', container_numbers: [CONTAINER_A], etd });
      for (const [code, hour] of [
        ['empty_picked_up', 2],
        ['gated_in', 3],
        ['delivered', 8],
        ['empty_returned', 9],
      ] as const)
        scenario.postMilestoneInScenario(code, createTimeInJanuary2026(9, hour), { container_number: CONTAINER_A });
      return scenario.record.status;
    };
    expect(post('2026-01-09')).toBe('completed');
    expect(post('2026-01-10')).toBe('pending');
  });
});

describe('a time without an offset', () => {
  const post = (occurred_at: string, timezone: string | null, location: string | null = 'USLAX') =>
    createOceanShipmentScenario().postEstimateInScenario('vessel_arrived', occurred_at, { timezone, location })
      .milestone;

  it.each([
    ['2026-01-09T10:30:00.000', 'Asia/Shanghai', '2026-01-09T02:30:00.000Z'],
    ['2026-01-09T10:30:00.123', 'location', '2026-01-09T18:30:00.123Z'],
    // The clocks of Los Angeles go forward from 02:00 to 03:00: the offset before applies.
    ['2026-03-08T02:30:00.000', 'location', '2026-03-08T10:30:00.000Z'],
    ['2026-03-08T03:30:00.000', 'location', '2026-03-08T10:30:00.000Z'],
    // They go back from 02:00 to 01:00: the first of the two applies.
    ['2026-11-01T01:30:00.000', 'location', '2026-11-01T08:30:00.000Z'],
    ['2026-11-01T02:00:00.000', 'location', '2026-11-01T10:00:00.000Z'],
    // A time with an offset keeps its instant.
    ['2026-01-09T10:30:00.000Z', 'Asia/Shanghai', '2026-01-09T10:30:00.000Z'],
  ])('%s in %s is %s', (time, timezone, occurred_at) => {
    const milestone = post(time, timezone);
    expect(milestone).toMatchObject({ occurred_at, occurred_at_precision: 'time' });
    expect(milestone.timezone).toBe(timezone === 'location' ? 'America/Los_Angeles' : timezone);
  });

  it('is refused without a time zone, or without a known zone of the location', () => {
    const refused = captureRefusal(() => post('2026-01-09T10:30:00.000', null));
    expect(refused.details).toMatchObject([{ param: 'occurred_at', code: 'invalid_timestamp' }]);
    for (const location of ['Depot 7', 'USCHI', null]) {
      const unknown = captureRefusal(() => post('2026-01-09T10:30:00.000', 'location', location));
      expect(unknown.details).toMatchObject([{ param: 'timezone', code: 'unknown_timezone' }]);
    }
  });

  it('is converted in reported_at too, also in a correction', () => {
    const scenario = createOceanShipmentScenario();
    const { milestone } = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(9), {
      ...{ timezone: 'Asia/Shanghai', reported_at: '2026-01-02T08:00:00.000' },
    });
    expect(milestone.reported_at).toBe('2026-01-02T00:00:00.000Z');
    const patch = { timezone: 'Asia/Shanghai', reported_at: '2026-01-02T09:00:00.000' };
    expect(scenario.correctMilestone(milestone, patch).milestone.reported_at).toBe('2026-01-02T01:00:00.000Z');
  });
});
