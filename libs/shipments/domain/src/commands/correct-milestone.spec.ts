import {
  CONTAINER_A,
  CONTAINER_B,
  CONTAINER_C,
  type ShipmentScenario,
  findDataOfDecidedEvent,
  createTimeInJanuary2026,
  captureRefusal,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { type Decision, type ShipmentEvent, findPublicEventOfStoredEvent } from '../index.ts';

const announced = ({ events }: Decision) =>
  events.map((event) => findPublicEventOfStoredEvent({ ...event, revision: 0 } as ShipmentEvent)?.type);
const warnings = (decision: Decision) => decision.warnings.map(({ code }) => code);
const isSuperseded = (scenario: ShipmentScenario, { id }: { id: string }) =>
  scenario.getMilestone(id).superseded_at !== null;

describe('a correction by hand', () => {
  it('sets named fields, clears fields with null, and keeps all others', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });
    const first = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2), {
      source: 'carrier',
      location: 'CNSHA',
      external_id: 'EV-1',
      container_number: CONTAINER_A,
      vessel: 'EVER GIVEN',
      note: 'late',
    }).milestone;
    const decision = scenario.correctMilestone(first, {
      code: 'gated_in',
      occurred_at: createTimeInJanuary2026(1),
      location: 'us lax',
      container_number: 'csqu 305438-3',
      note: null,
      reason_code: 'carrier_data_incorrect',
    });
    expect(decision).toMatchObject({ outcome: 'corrected', warnings: [] });
    expect(decision.milestone).toEqual({
      ...first,
      code: 'gated_in',
      label: 'Gated in',
      sequence: 40,
      occurred_at: createTimeInJanuary2026(1),
      location: 'USLAX',
      timezone: 'America/Los_Angeles',
      container_number: CONTAINER_B,
      note: null,
      reason_code: 'carrier_data_incorrect',
      reported_at: scenario.events.at(-1)?.metadata.recorded_at,
      revision: 2,
    });
    expect(scenario.getContainer(CONTAINER_A).status).toBe('pending');
    expect(scenario.getContainer(CONTAINER_B).status).toBe('at_origin');
  });

  it('announces the milestone before and after, and all changes', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(2)).milestone;
    const decision = scenario.correctMilestone(first, { occurred_at: createTimeInJanuary2026(3) });
    expect(announced(decision)).toEqual([undefined, 'shipment.updated']);
    expect(findDataOfDecidedEvent(decision, 'shipment.changed.v1')?.changes).toMatchObject({
      milestone: { from: first, to: decision.milestone },
      atd: { from: createTimeInJanuary2026(2), to: createTimeInJanuary2026(3) },
    });
  });

  it('records an estimate that becomes actual', () => {
    const scenario = createOceanShipmentScenario();
    const estimate = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
    const decision = scenario.correctMilestone(estimate, { classifier: 'actual' });
    expect(announced(decision)).toEqual(['milestone.recorded', 'shipment.updated']);
    expect(scenario.record).toMatchObject({ status: 'arrived', ata: createTimeInJanuary2026(20) });
  });

  it('stores nothing without changes', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2), {
      location: 'Pier 4',
    }).milestone;
    const decision = scenario.correctMilestone(first, {
      location: ' Pier 4',
      occurred_at: createTimeInJanuary2026(2),
      classifier: 'actual',
    });
    expect(decision).toMatchObject({ outcome: 'unchanged', events: [], milestone: first });
    expect(scenario.correctMilestone(first, {}).events).toEqual([]);
  });

  it('of the location changes the time zone, unless a client gave that', () => {
    const scenario = createOceanShipmentScenario();
    const [known, given] = [
      scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2), { location: 'CNSHA' }).milestone,
      scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(3), {
        location: 'CNSHA',
        timezone: 'Asia/Tokyo',
      }).milestone,
    ];
    expect(scenario.correctMilestone(known, { location: 'SGSIN' }).milestone.timezone).toBe('Asia/Singapore');
    expect(scenario.correctMilestone(known, { location: 'somewhere' }).milestone.timezone).toBeNull();
    expect(scenario.correctMilestone(given, { location: 'SGSIN' }).milestone.timezone).toBe('Asia/Tokyo');
    expect(scenario.correctMilestone(given, { timezone: null }).milestone.timezone).toBe('Asia/Singapore');
  });

  it('checks the fields like those of a post, and reports every invalid field', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    const estimate = scenario.postEstimateInScenario('vessel_arrived', '2027-01-01T00:00:00.000Z').milestone;
    const faulty = {
      code: 'nonsense',
      classifier: 'actual',
      container_number: CONTAINER_C,
      reason_code: 'because',
    } as const;
    const error = captureRefusal(() => scenario.correctMilestone(estimate, faulty));
    expect(error.code).toBe('validation_failed');
    expect(error.details.map(({ param, code }) => `${param} ${code}`)).toEqual([
      'code unknown_code',
      'reason_code invalid_value',
      'occurred_at timestamp_in_future',
      'container_number unknown_container',
    ]);
    const warned = scenario.correctMilestone(estimate, { code: 'flight_arrived' });
    expect(warnings(warned)).toEqual(['code_unusual_for_mode']);
  });

  it('works for a milestone whose container was removed', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    const first = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2), {
      container_number: CONTAINER_A,
    }).milestone;
    scenario.upsertShipment({ container_numbers: [CONTAINER_B] });
    expect(scenario.correctMilestone(first, { note: 'x' }).milestone).toMatchObject({
      container_number: CONTAINER_A,
      note: 'x',
    });
    expect(captureRefusal(() => scenario.correctMilestone(first, { container_number: CONTAINER_A })).code).toBe(
      'validation_failed',
    );
    scenario.correctMilestone(first, { container_number: null });
    expect(scenario.record.status).toBe('at_origin');
  });

  it('refuses the external_id of another unretracted milestone', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2), {
      external_id: 'EV-1',
    }).milestone;
    const second = scenario.postMilestoneInScenario('vessel_departed', createTimeInJanuary2026(3), {
      external_id: 'EV-2',
    }).milestone;
    expect(captureRefusal(() => scenario.correctMilestone(second, { external_id: 'EV-1' })).code).toBe(
      'milestone_exists',
    );
    scenario.retractMilestone(first);
    expect(scenario.correctMilestone(second, { external_id: 'EV-1' }).milestone.external_id).toBe('EV-1');
  });

  it('finds only unretracted milestones of the shipment', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2)).milestone;
    expect(captureRefusal(() => scenario.correctMilestone({ id: 'mst_none' }, { note: 'x' })).code).toBe('not_found');
    scenario.retractMilestone(first);
    expect(captureRefusal(() => scenario.correctMilestone(first, { note: 'x' })).code).toBe('milestone_retracted');
  });

  it('is stored with a warning on a cancelled shipment', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2)).milestone;
    scenario.cancelShipment();
    expect(warnings(scenario.correctMilestone(first, { occurred_at: createTimeInJanuary2026(1) }))).toEqual([
      'shipment_cancelled',
    ]);
    expect(scenario.record.status).toBe('cancelled');
  });

  it('of the milestone that cancels a shipment reopens it', () => {
    const scenario = createOceanShipmentScenario();
    const cancelled = scenario.postMilestoneInScenario('booking_cancelled', createTimeInJanuary2026(5)).milestone;
    expect(scenario.record.status).toBe('cancelled');
    scenario.correctMilestone(cancelled, { code: 'booking_confirmed' });
    expect(scenario.record.status).toBe('booked');
  });

  describe('of estimates', () => {
    it('of the current estimate changes the eta; of its note does not', () => {
      const scenario = createOceanShipmentScenario();
      const first = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
      scenario.upsertShipment({ eta: createTimeInJanuary2026(18) });
      scenario.correctMilestone(first, { note: 'x' });
      expect(scenario.record.eta).toBe(createTimeInJanuary2026(18));
      scenario.correctMilestone(first, { occurred_at: createTimeInJanuary2026(22) });
      expect(scenario.record.eta).toBe(createTimeInJanuary2026(22));
    });

    it('that leaves the series makes the previous estimate current again, and supersedes in the new series', () => {
      const scenario = createOceanShipmentScenario();
      const older = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(20)).milestone;
      const newer = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(22)).milestone;
      const elsewhere = scenario.postEstimateInScenario('vessel_arrived', createTimeInJanuary2026(10), {
        location: 'SGSIN',
      }).milestone;
      const decision = scenario.correctMilestone(newer, { location: 'SGSIN' });
      expect(findDataOfDecidedEvent(decision, 'milestone.corrected.v1')).toMatchObject({
        supersedes: [elsewhere.id],
        restores: [older.id],
      });
      expect([older, newer, elsewhere].map((each) => isSuperseded(scenario, each))).toEqual([false, false, true]);
      expect(scenario.record.eta).toBe(createTimeInJanuary2026(20));
    });
  });
});

describe('a feed after a correction by a person', () => {
  const arrival = { source: 'carrier', location: 'USLAX', external_id: 'EV-1' } as const;

  /** An arrival that a feed sent for the 20th and a person corrected to the 21st. */
  function disputed(rest: object = arrival) {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      source: 'carrier',
      ...rest,
    }).milestone;
    const { milestone } = scenario.correctMilestone(first, { occurred_at: createTimeInJanuary2026(21) });
    return { scenario, milestone };
  }
  const resent = { outcome: 'existing', events: [], warnings: [{ code: 'overridden_by_user', param: null }] };

  it.each([
    ['under its external_id', arrival],
    ['by its content', { source: 'carrier', location: 'USLAX' }],
  ])('changes nothing when it repeats %s, however often', (_, rest) => {
    const { scenario, milestone } = disputed(rest);
    for (let turn = 0; turn < 3; turn += 1) {
      expect(
        scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest as typeof arrival),
      ).toMatchObject({
        ...resent,
        milestone,
      });
    }
    expect(scenario.record.ata).toBe(createTimeInJanuary2026(21));
    expect(scenario.state?.timeline).toHaveLength(1);
  });

  it('gets a warning for a repetition, also if the correction concerned other fields', () => {
    const scenario = createOceanShipmentScenario();
    const rest = { source: 'carrier', location: 'USLAX' } as const;
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest).milestone;
    const { milestone } = scenario.correctMilestone(first, { note: 'seen at the pier' });
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest)).toMatchObject({
      ...resent,
      milestone,
    });
    scenario.correctMilestone(first, { occurred_at: createTimeInJanuary2026(21) });
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), rest)).toMatchObject({
      events: [],
      warnings: [],
    });
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), rest)).toMatchObject(resent);
  });

  it('is recognised by what it sent last, also if the external_id was corrected', () => {
    const { scenario, milestone } = disputed();
    scenario.correctMilestone(milestone, { external_id: 'OURS-1' });
    const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival);
    expect(again).toMatchObject({ ...resent, milestoneId: milestone.id });
    const moved = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(23), arrival);
    expect(moved).toMatchObject({
      outcome: 'corrected',
      milestone: { occurred_at: createTimeInJanuary2026(23), external_id: 'OURS-1' },
    });
  });

  it('changes fields with new values and keeps other corrections', () => {
    const { scenario, milestone } = disputed();
    scenario.correctMilestone(milestone, { location: 'USNYC', note: 'seen at the pier' });
    const moved = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(22), arrival);
    expect(moved).toMatchObject({
      outcome: 'corrected',
      warnings: [{ code: 'overridden_by_user', message: expect.stringContaining('location') }],
      milestone: { occurred_at: createTimeInJanuary2026(22), location: 'USNYC', note: 'seen at the pier', revision: 4 },
    });
    // The feed last sent the new value.
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(22), arrival)).toMatchObject({
      ...resent,
      milestone: moved.milestone,
    });
    expect(
      scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival).milestone.occurred_at,
    ).toBe(createTimeInJanuary2026(20));
  });

  it('that sends the corrected value is remembered without an announcement', () => {
    const { scenario, milestone } = disputed();
    const agreed = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), arrival);
    expect(agreed).toMatchObject({ outcome: 'existing', warnings: [], milestone });
    expect(getTypesOfDecidedEvents(agreed)).toEqual(['milestone.corrected.v1']);
    expect(announced(agreed)).toEqual([undefined]);
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), arrival)).toMatchObject({
      events: [],
      warnings: [],
    });
    // The feed had not sent this before.
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival)).toMatchObject({
      outcome: 'corrected',
      warnings: [],
    });
  });

  it('has no correction left after a person reverted it', () => {
    const { scenario, milestone } = disputed();
    scenario.correctMilestone(milestone, { occurred_at: createTimeInJanuary2026(20) });
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival)).toMatchObject({
      events: [],
      warnings: [],
    });
  });

  it('does not replace an actual milestone of a person with estimates, only with an actual one', () => {
    const scenario = createOceanShipmentScenario();
    const estimate = { ...arrival, classifier: 'estimated' } as const;
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), estimate).milestone;
    const { milestone } = scenario.correctMilestone(first, { classifier: 'actual' });
    const elsewhere = { ...estimate, location: 'USNYC', note: 'delayed' };
    for (const [at, again] of [
      [createTimeInJanuary2026(20), estimate],
      ['2027-01-01T00:00:00.000Z', estimate],
      [createTimeInJanuary2026(23), elsewhere],
      [createTimeInJanuary2026(24), { ...estimate, classifier: 'planned' }],
    ] as const) {
      expect(scenario.postMilestoneInScenario('vessel_arrived', at, again)).toMatchObject({ ...resent, milestone });
    }
    expect(scenario.record).toMatchObject({ status: 'arrived', ata: createTimeInJanuary2026(20) });
    const said = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(22), {
      ...arrival,
      location: 'USNYC',
    });
    expect(said).toMatchObject({
      outcome: 'corrected',
      warnings: [],
      milestone: { id: first.id, classifier: 'actual', occurred_at: createTimeInJanuary2026(22), location: 'USNYC' },
    });
  });

  it('does not replace a manual milestone with its external_id, until that is reverted', () => {
    const scenario = createOceanShipmentScenario();
    const estimate = { ...arrival, classifier: 'estimated' } as const;
    const { id } = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), estimate).milestone;
    const { milestone } = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(19), {
      ...arrival,
      source: 'manual',
    });
    expect(milestone).toMatchObject({ id, classifier: 'actual', source: 'manual' });
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(23), estimate)).toMatchObject({
      ...resent,
      milestone,
    });
    scenario.correctMilestone(milestone, { classifier: 'estimated' });
    const moved = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(23), estimate);
    expect(moved.milestone).toMatchObject({
      id,
      classifier: 'estimated',
      occurred_at: createTimeInJanuary2026(23),
      source: 'carrier',
    });
  });

  it('that reports an actual time replaces a person’s estimate', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival).milestone;
    scenario.correctMilestone(first, { classifier: 'estimated', occurred_at: createTimeInJanuary2026(22) });
    const moved = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), arrival);
    expect(moved.milestone).toMatchObject({ classifier: 'actual', occurred_at: createTimeInJanuary2026(21) });
  });

  it('a person who posts with its external_id corrects its milestone too', () => {
    const scenario = createOceanShipmentScenario();
    const { id } = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival).milestone;
    const byHand = { ...arrival, source: 'manual' } as const;
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(21), byHand)).toMatchObject({
      outcome: 'corrected',
      warnings: [],
    });
    const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), arrival);
    expect(again).toMatchObject({
      ...resent,
      milestone: { id, occurred_at: createTimeInJanuary2026(21), source: 'manual' },
    });
    const moved = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(23), arrival);
    expect(moved.milestone).toMatchObject({ id, occurred_at: createTimeInJanuary2026(23), source: 'carrier' });
  });

  it('a person who repeats the former values restores them', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
    }).milestone;
    scenario.correctMilestone(first, { occurred_at: createTimeInJanuary2026(21) });
    const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      external_id: 'EV-1',
    });
    expect(again).toMatchObject({
      outcome: 'corrected',
      warnings: [],
      milestone: { occurred_at: createTimeInJanuary2026(20) },
    });
  });

  it('changes nothing when it repeats its values under a new external_id', () => {
    const { scenario, milestone } = disputed();
    const again = scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(20), {
      ...arrival,
      external_id: 'EV-2',
    });
    expect(again).toMatchObject({ ...resent, milestone });
    expect(scenario.record.ata).toBe(createTimeInJanuary2026(21));
  });

  it('adds another milestone independently', () => {
    const { scenario } = disputed();
    const other = { ...arrival, external_id: 'EV-2' } as const;
    expect(scenario.postMilestoneInScenario('vessel_arrived', createTimeInJanuary2026(22), other).outcome).toBe(
      'recorded',
    );
    expect(
      scenario.postMilestoneInScenario('discharged', createTimeInJanuary2026(20), {
        source: 'carrier',
        location: 'USLAX',
      }).outcome,
    ).toBe('recorded');
  });
});
