import type { Mode } from '@tracking/contracts';
import { CONTAINER_A, CONTAINER_B, type ShipmentScenario, getTypesOfDecidedEvents } from '../../test/scenario.ts';
import {
  DAY_MS,
  HOUR_MS,
  addMsToTime,
  createScenarioWithRule,
  createJanuaryTime,
  createLeg,
  createRuleSettingsForOneType,
} from '../../test/time-driven.ts';

const last = (scenario: ShipmentScenario) => {
  const exception = scenario.state?.exceptions.at(-1);
  if (exception === undefined) throw new Error('nothing opened');
  return exception;
};
/** Hours after `from` at which it opens. */
const opensAfter = (scenario: ShipmentScenario, from: string) =>
  (Date.parse(scenario.state?.nextCheckAt ?? '') - Date.parse(from)) / HOUR_MS;

describe('eta_slip', () => {
  const slipped = (hours: number, mode: Mode | null = 'ocean') => {
    const scenario = createScenarioWithRule('eta_slip', { eta: createJanuaryTime(20), mode });
    scenario.postEstimateInScenario('arrived_at_destination', addMsToTime(createJanuaryTime(20), hours * HOUR_MS), {
      reason_code: 'port_congestion',
    });
    return scenario;
  };

  test.each<[Mode | null, number]>([
    ['ocean', 24],
    ['rail', 24],
    ['barge', 24],
    ['multimodal', 24],
    ['courier', 24],
    [null, 24],
    ['air', 4],
    ['road', 4],
  ])('opens by %s exactly %s hours after the original ETA', (mode, hours) => {
    expect(slipped(hours - 1 / HOUR_MS, mode).open).toEqual([]);
    const scenario = slipped(hours, mode);
    expect(last(scenario)).toMatchObject({
      ...{ type: 'eta_slip', severity: 'medium', container_number: null, reason_code: 'port_congestion' },
      metrics: {
        slip_hours: hours,
        eta: addMsToTime(createJanuaryTime(20), hours * HOUR_MS),
        original_eta: createJanuaryTime(20),
      },
      milestone_id: scenario.state?.timeline[0]?.milestone.id,
    });
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  it('is high above 48 hours, and medium again below', () => {
    const scenario = slipped(48);
    expect(last(scenario).severity).toBe('medium');
    expect(getTypesOfDecidedEvents(scenario.patchShipment({ eta: addMsToTime(createJanuaryTime(22), 1) }))).toContain(
      'exception.updated.v1',
    );
    expect(last(scenario)).toMatchObject({ severity: 'high', metrics: { slip_hours: 48 } });
    scenario.patchShipment({ eta: createJanuaryTime(21, 6) });
    expect(last(scenario)).toMatchObject({ severity: 'medium', status: 'open', metrics: { slip_hours: 30 } });
    scenario.settings = createRuleSettingsForOneType('eta_slip', { severity: 'critical' });
    scenario.checkRules();
    expect(last(scenario).severity).toBe('critical');
  });

  it('stays open regardless of the clock', () => {
    const scenario = slipped(30);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(createJanuaryTime(1, 5)).checkRules())).toEqual([]);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand('2027-01-01T00:00:00.000Z').checkRules())).toEqual([]);
    expect(scenario.open).toEqual(['eta_slip']);
  });

  test.each<[string, (scenario: ShipmentScenario) => unknown]>([
    ['an ETA back inside', (s) => s.patchShipment({ eta: createJanuaryTime(20, 23) })],
    ['no ETA', (s) => s.patchShipment({ eta: null })],
    ['another original ETA', (s) => s.patchShipment({ original_eta: createJanuaryTime(21) })],
    ['the retraction of the estimate', (s) => s.retractMilestone(s.state!.timeline[0]!.milestone)],
    [
      'other hours',
      (s) => ((s.settings = createRuleSettingsForOneType('eta_slip', { after_hours: 31 })), s.checkRules()),
    ],
    [
      'hours of the mode',
      (s) => ((s.settings = createRuleSettingsForOneType('eta_slip', { by_mode: { ocean: 31 } })), s.checkRules()),
    ],
    ['no rule', (s) => ((s.settings = createRuleSettingsForOneType('eta_slip', { enabled: false })), s.checkRules())],
    ...['vessel_arrived', 'available_for_pickup', 'gated_out', 'delivery_attempted', 'delivered'].map(
      (code): [string, (scenario: ShipmentScenario) => unknown] => [code, (s) => s.postMilestoneInScenario(code)],
    ),
  ])('resolves by %s', (_, act) => {
    const scenario = slipped(30).setTimeOfNextCommand(createJanuaryTime(3));
    act(scenario);
    expect(scenario.exceptions).toEqual(['eta_slip resolved auto_cleared']);
  });

  it('is not resolved by milestones other than the arrival: on the way, a departure, documents', () => {
    const scenario = slipped(30).setTimeOfNextCommand(createJanuaryTime(3));
    scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(2));
    scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(3), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('arrival_notice_issued', createJanuaryTime(3));
    expect(scenario.open).toEqual(['eta_slip']);
  });

  it('stays resolved by a person until the slip grows by 24 hours, or was below the limit', () => {
    const scenario = slipped(30);
    scenario.resolveException(last(scenario));
    scenario.patchShipment({ eta: addMsToTime(createJanuaryTime(20), 54 * HOUR_MS - 1) });
    expect(scenario.open).toEqual([]);
    scenario.patchShipment({ eta: addMsToTime(createJanuaryTime(20), 54 * HOUR_MS) });
    expect(scenario.exceptions).toEqual(['eta_slip resolved fixed', 'eta_slip open']);
    expect(last(scenario)).toMatchObject({ severity: 'high', metrics: { slip_hours: 54 } });
    scenario.resolveException(last(scenario));
    scenario.patchShipment({ eta: addMsToTime(createJanuaryTime(20), 77 * HOUR_MS) });
    expect(scenario.open).toEqual([]);
    scenario.patchShipment({ eta: createJanuaryTime(20) });
    scenario.patchShipment({ eta: addMsToTime(createJanuaryTime(20), 25 * HOUR_MS) });
    expect(scenario.open).toEqual(['eta_slip']);
  });

  it('has no metrics to compare if a person opened and resolved it', () => {
    const scenario = createScenarioWithRule('eta_slip', { eta: createJanuaryTime(20) });
    scenario.openException('eta_slip');
    scenario.patchShipment({ eta: createJanuaryTime(22) });
    scenario.resolveException(last(scenario));
    scenario.patchShipment({ eta: createJanuaryTime(30) });
    expect(scenario.open).toEqual([]);
    scenario.patchShipment({ eta: createJanuaryTime(20) });
    scenario.patchShipment({ eta: createJanuaryTime(22) });
    expect(scenario.open).toEqual(['eta_slip']);
  });

  it('keeps the milestone of an estimate when the client sets the same value', () => {
    const scenario = slipped(30);
    const before = last(scenario);
    expect(getTypesOfDecidedEvents(scenario.upsertShipment({ eta: createJanuaryTime(21, 6) }))).toEqual([
      'shipment.updated.v1',
    ]);
    expect(last(scenario)).toEqual(before);
  });
});

describe('departure_overdue and arrival_overdue', () => {
  it('are high immediately if the hours of the settings are more than 48', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: createJanuaryTime(10) });
    scenario.settings = createRuleSettingsForOneType('departure_overdue', { after_hours: 72 });
    scenario.checkRules();
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(13));
    scenario.setTimeOfNextCommand(createJanuaryTime(13)).checkRules();
    expect(last(scenario).severity).toBe('high');
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  it('use the hours of the mode, also fractions', () => {
    const scenario = createScenarioWithRule('arrival_overdue', { eta: createJanuaryTime(10), mode: 'air' });
    scenario.settings = createRuleSettingsForOneType('arrival_overdue', { by_mode: { air: 0.5, road: 1 } });
    scenario.checkRules();
    expect(opensAfter(scenario, createJanuaryTime(10))).toBe(0.5);
    scenario.patchShipment({ mode: 'road' });
    expect(opensAfter(scenario, createJanuaryTime(10))).toBe(1);
    scenario.patchShipment({ mode: null });
    expect(opensAfter(scenario, createJanuaryTime(10))).toBe(12);
  });

  it('use estimates and legs like the ETD and ETA of the shipment', () => {
    const scenario = createScenarioWithRule('arrival_overdue', {
      legs: [createLeg('CNSHA', 'SGSIN'), { ...createLeg('SGSIN', 'USLAX'), eta: createJanuaryTime(18) }],
    });
    expect(opensAfter(scenario, createJanuaryTime(18))).toBe(12);
    scenario.postEstimateInScenario('vessel_arrived', createJanuaryTime(19), { location: 'USLAX' });
    expect(opensAfter(scenario, createJanuaryTime(19))).toBe(12);
  });

  it('treat a departure of any container as the departure, but not the ship leaving the destination', () => {
    const scenario = createScenarioWithRule('departure_overdue', {
      etd: createJanuaryTime(10),
      container_numbers: [CONTAINER_A, CONTAINER_B],
    }).setTimeOfNextCommand(createJanuaryTime(11));
    scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(10), { location: 'USLAX' });
    expect(scenario.open).toEqual(['departure_overdue']);
    scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(10), { container_number: CONTAINER_B });
    expect(scenario.open).toEqual([]);
  });

  it.each(['departure_overdue', 'arrival_overdue'] as const)(
    'an attempted delivery of one of several containers ends %s',
    (type) => {
      const scenario = createScenarioWithRule(type, {
        etd: createJanuaryTime(10),
        eta: createJanuaryTime(10),
        container_numbers: [CONTAINER_A, CONTAINER_B],
      }).setTimeOfNextCommand(createJanuaryTime(11));
      scenario.checkRules();
      expect(scenario.open).toEqual([type]);
      scenario.postMilestoneInScenario('delivery_attempted', createJanuaryTime(11), { container_number: CONTAINER_A });
      expect(scenario.open).toEqual([]);
    },
  );

  it('opens again when the departure is retracted', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: createJanuaryTime(10) }).setTimeOfNextCommand(
      createJanuaryTime(11),
    );
    const { milestone } = scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(10));
    scenario.retractMilestone(milestone);
    expect(scenario.open).toEqual(['departure_overdue']);
  });

  it('ignore an arrival on the way, or before a later departure', () => {
    const scenario = createScenarioWithRule('arrival_overdue', { eta: createJanuaryTime(10) }).setTimeOfNextCommand(
      createJanuaryTime(11),
    );
    scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(8), { location: 'SGSIN' });
    scenario.postMilestoneInScenario('vessel_departed', createJanuaryTime(9));
    scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(8));
    expect(scenario.open).toEqual(['arrival_overdue']);
    scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(10));
    expect(scenario.open).toEqual([]);
  });

  it('treat an arrival at the destination as the arrival, also if the goods continue by rail', () => {
    const scenario = createScenarioWithRule('arrival_overdue', { eta: createJanuaryTime(10) }).setTimeOfNextCommand(
      createJanuaryTime(11),
    );
    scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(10), { location: 'USLAX' });
    scenario.postMilestoneInScenario('rail_departed', createJanuaryTime(11));
    expect([scenario.record.status, scenario.open]).toEqual(['arrived', []]);
  });
});

describe('no_update', () => {
  test.each<[Mode | null, number]>([
    ['ocean', 168],
    ['barge', 168],
    ['multimodal', 168],
    [null, 168],
    ['rail', 72],
    ['air', 48],
    ['road', 48],
    ['courier', 48],
  ])('opens by %s after %s hours from the creation, the ETD or the last news', (mode, hours) => {
    const scenario = createScenarioWithRule('no_update', { mode });
    expect(opensAfter(scenario, createJanuaryTime(1))).toBe(hours);
    scenario.setTimeOfNextCommand(createJanuaryTime(2)).postMilestoneInScenario('gated_in', createJanuaryTime(1, 5));
    expect(opensAfter(scenario, createJanuaryTime(2))).toBe(hours);
    scenario.patchShipment({ etd: createJanuaryTime(10) });
    expect(opensAfter(scenario, createJanuaryTime(10))).toBe(hours);
    scenario.setTimeOfNextCommand(createJanuaryTime(11)).postEstimateInScenario('gated_in', createJanuaryTime(20));
    expect(opensAfter(scenario, createJanuaryTime(11))).toBe(hours);
    scenario.setTimeOfNextCommand(addMsToTime(createJanuaryTime(11), hours * HOUR_MS)).checkRules();
    expect(last(scenario)).toMatchObject({
      type: 'no_update',
      metrics: { silent_since: createJanuaryTime(11), heard_at: createJanuaryTime(11) },
    });
  });

  test.each<[Mode | null, boolean]>([
    ['ocean', true],
    ['barge', true],
    ['multimodal', true],
    [null, true],
    ['rail', false],
    ['air', false],
    ['road', false],
    ['courier', false],
  ])('waits by %s for the ETA between departure and arrival: %s', (mode, waits) => {
    const scenario = createScenarioWithRule('no_update', { mode, eta: createJanuaryTime(25) });
    expect(scenario.state?.nextCheckAt).not.toBe(createJanuaryTime(25));
    scenario.setTimeOfNextCommand(createJanuaryTime(3)).postMilestoneInScenario('in_transit_checkpoint');
    expect(scenario.state?.nextCheckAt === createJanuaryTime(25)).toBe(waits);
    scenario.setTimeOfNextCommand(createJanuaryTime(4)).postMilestoneInScenario('arrived_at_destination');
    expect(scenario.state?.nextCheckAt).not.toBe(createJanuaryTime(25));
  });

  it('opens at sea after its hours if the ETA is unknown or over', () => {
    const scenario = createScenarioWithRule('no_update', { eta: createJanuaryTime(8) }).setTimeOfNextCommand(
      createJanuaryTime(3),
    );
    scenario.postMilestoneInScenario('vessel_departed');
    expect(opensAfter(scenario, createJanuaryTime(3))).toBe(168);
    scenario.patchShipment({ eta: null });
    expect(opensAfter(scenario, createJanuaryTime(3))).toBe(168);
  });

  it('keeps later news when news with an earlier time is decided late', () => {
    const scenario = createScenarioWithRule('no_update', {}).setTimeOfNextCommand(createJanuaryTime(5));
    scenario.postMilestoneInScenario('gated_in', createJanuaryTime(2));
    scenario.setTimeOfNextCommand(createJanuaryTime(3)).postMilestoneInScenario('cargo_stuffed', createJanuaryTime(2));
    expect(scenario.state?.lastNewsAt).toBe(createJanuaryTime(5));
    expect(opensAfter(scenario, createJanuaryTime(5))).toBe(168);
  });

  it('is not news if nothing is new: other fields, repetitions, retractions', () => {
    const scenario = createScenarioWithRule('no_update', { eta: createJanuaryTime(25) }).setTimeOfNextCommand(
      createJanuaryTime(2),
    );
    const feed = { source: 'carrier', external_id: 'EV-1' } as const;
    const { milestone } = scenario.postMilestoneInScenario('gated_in', createJanuaryTime(2), feed);
    scenario.postMilestoneInScenario('cargo_stuffed', createJanuaryTime(2), { source: 'carrier' });
    const due = createJanuaryTime(9);
    expect(scenario.state?.nextCheckAt).toBe(due);
    scenario.setTimeOfNextCommand(createJanuaryTime(3));
    scenario.postMilestoneInScenario('gated_in', createJanuaryTime(2), feed);
    // The milestone takes the id of its repetition.
    const repeated = scenario.postMilestoneInScenario('cargo_stuffed', createJanuaryTime(2), {
      source: 'carrier',
      external_id: 'EV-2',
    });
    expect(getTypesOfDecidedEvents(repeated)).toEqual(['milestone.corrected.v1']);
    scenario.upsertShipment({ house_bill: 'HB-1', eta: createJanuaryTime(25) });
    scenario.retractMilestone(milestone);
    expect(scenario.state?.nextCheckAt).toBe(due);
    scenario.setTimeOfNextCommand(due).checkRules();
    expect(scenario.open).toEqual(['no_update']);
    const news = [
      (s: ShipmentScenario) =>
        s.correctMilestone(s.postMilestoneInScenario('received_at_origin', createJanuaryTime(3)).milestone, {
          occurred_at: createJanuaryTime(4),
        }),
      (s: ShipmentScenario) =>
        s.postMilestoneInScenario('cargo_stuffed', createJanuaryTime(3), { source: 'carrier', external_id: 'EV-2' }),
      (s: ShipmentScenario) => s.patchShipment({ eta: createJanuaryTime(26) }),
    ];
    for (const [n, act] of news.entries()) {
      const now = addMsToTime(due, (n + 1) * 8 * DAY_MS);
      scenario.setTimeOfNextCommand(now).checkRules();
      expect(scenario.open).toEqual(['no_update']);
      act(scenario);
      expect(scenario.open).toEqual([]);
      expect(scenario.state?.nextCheckAt).toBe(addMsToTime(now, 7 * DAY_MS));
    }
  });

  it('is off once all containers are delivered', () => {
    const scenario = createScenarioWithRule('no_update', {
      container_numbers: [CONTAINER_A, CONTAINER_B],
    }).setTimeOfNextCommand(createJanuaryTime(2));
    scenario.postMilestoneInScenario('delivered', createJanuaryTime(2), { container_number: CONTAINER_A });
    expect(scenario.state?.nextCheckAt).toBe(createJanuaryTime(9));
    scenario.postMilestoneInScenario('delivered', createJanuaryTime(2), { container_number: CONTAINER_B });
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.setTimeOfNextCommand(createJanuaryTime(30)).checkRules();
    expect(scenario.open).toEqual([]);
  });
});
