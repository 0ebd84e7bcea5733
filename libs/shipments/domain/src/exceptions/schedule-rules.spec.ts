import type { Mode } from '@tracking/contracts';
import { CONTAINER_A, CONTAINER_B, type Scenario, listEventTypes } from '../../test/scenario.ts';
import {
  DAY_MS,
  HOUR_MS,
  addMs,
  createScenarioWithRule,
  inJanuary,
  createLeg,
  enableOnlyType,
} from '../../test/time-driven.ts';

const last = (scenario: Scenario) => {
  const exception = scenario.state?.exceptions.at(-1);
  if (exception === undefined) throw new Error('nothing opened');
  return exception;
};
/** Hours after `from` at which it opens. */
const opensAfter = (scenario: Scenario, from: string) =>
  (Date.parse(scenario.state?.nextCheckAt ?? '') - Date.parse(from)) / HOUR_MS;

describe('eta_slip', () => {
  const slipped = (hours: number, mode: Mode | null = 'ocean') => {
    const scenario = createScenarioWithRule('eta_slip', { eta: inJanuary(20), mode });
    scenario.estimate('arrived_at_destination', addMs(inJanuary(20), hours * HOUR_MS), {
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
      metrics: { slip_hours: hours, eta: addMs(inJanuary(20), hours * HOUR_MS), original_eta: inJanuary(20) },
      milestone_id: scenario.state?.timeline[0]?.milestone.id,
    });
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  it('is high above 48 hours, and medium again below', () => {
    const scenario = slipped(48);
    expect(last(scenario).severity).toBe('medium');
    expect(listEventTypes(scenario.patch({ eta: addMs(inJanuary(22), 1) }))).toContain('exception.updated.v1');
    expect(last(scenario)).toMatchObject({ severity: 'high', metrics: { slip_hours: 48 } });
    scenario.patch({ eta: inJanuary(21, 6) });
    expect(last(scenario)).toMatchObject({ severity: 'medium', status: 'open', metrics: { slip_hours: 30 } });
    scenario.settings = enableOnlyType('eta_slip', { severity: 'critical' });
    scenario.check();
    expect(last(scenario).severity).toBe('critical');
  });

  it('stays open regardless of the clock', () => {
    const scenario = slipped(30);
    expect(listEventTypes(scenario.at(inJanuary(1, 5)).check())).toEqual([]);
    expect(listEventTypes(scenario.at('2027-01-01T00:00:00.000Z').check())).toEqual([]);
    expect(scenario.open).toEqual(['eta_slip']);
  });

  test.each<[string, (scenario: Scenario) => unknown]>([
    ['an ETA back inside', (s) => s.patch({ eta: inJanuary(20, 23) })],
    ['no ETA', (s) => s.patch({ eta: null })],
    ['another original ETA', (s) => s.patch({ original_eta: inJanuary(21) })],
    ['the retraction of the estimate', (s) => s.retract(s.state!.timeline[0]!.milestone)],
    ['other hours', (s) => ((s.settings = enableOnlyType('eta_slip', { after_hours: 31 })), s.check())],
    ['hours of the mode', (s) => ((s.settings = enableOnlyType('eta_slip', { by_mode: { ocean: 31 } })), s.check())],
    ['no rule', (s) => ((s.settings = enableOnlyType('eta_slip', { enabled: false })), s.check())],
    ...['vessel_arrived', 'available_for_pickup', 'gated_out', 'delivery_attempted', 'delivered'].map(
      (code): [string, (scenario: Scenario) => unknown] => [code, (s) => s.post(code)],
    ),
  ])('resolves by %s', (_, act) => {
    const scenario = slipped(30).at(inJanuary(3));
    act(scenario);
    expect(scenario.exceptions).toEqual(['eta_slip resolved auto_cleared']);
  });

  it('is not resolved by milestones other than the arrival: on the way, a departure, documents', () => {
    const scenario = slipped(30).at(inJanuary(3));
    scenario.post('vessel_departed', inJanuary(2));
    scenario.post('vessel_arrived', inJanuary(3), { location: 'SGSIN' });
    scenario.post('arrival_notice_issued', inJanuary(3));
    expect(scenario.open).toEqual(['eta_slip']);
  });

  it('stays resolved by a person until the slip grows by 24 hours, or was below the limit', () => {
    const scenario = slipped(30);
    scenario.resolve(last(scenario));
    scenario.patch({ eta: addMs(inJanuary(20), 54 * HOUR_MS - 1) });
    expect(scenario.open).toEqual([]);
    scenario.patch({ eta: addMs(inJanuary(20), 54 * HOUR_MS) });
    expect(scenario.exceptions).toEqual(['eta_slip resolved fixed', 'eta_slip open']);
    expect(last(scenario)).toMatchObject({ severity: 'high', metrics: { slip_hours: 54 } });
    scenario.resolve(last(scenario));
    scenario.patch({ eta: addMs(inJanuary(20), 77 * HOUR_MS) });
    expect(scenario.open).toEqual([]);
    scenario.patch({ eta: inJanuary(20) });
    scenario.patch({ eta: addMs(inJanuary(20), 25 * HOUR_MS) });
    expect(scenario.open).toEqual(['eta_slip']);
  });

  it('has no metrics to compare if a person opened and resolved it', () => {
    const scenario = createScenarioWithRule('eta_slip', { eta: inJanuary(20) });
    scenario.openByHand('eta_slip');
    scenario.patch({ eta: inJanuary(22) });
    scenario.resolve(last(scenario));
    scenario.patch({ eta: inJanuary(30) });
    expect(scenario.open).toEqual([]);
    scenario.patch({ eta: inJanuary(20) });
    scenario.patch({ eta: inJanuary(22) });
    expect(scenario.open).toEqual(['eta_slip']);
  });

  it('keeps the milestone of an estimate when the client sets the same value', () => {
    const scenario = slipped(30);
    const before = last(scenario);
    expect(listEventTypes(scenario.upsert({ eta: inJanuary(21, 6) }))).toEqual(['shipment.updated.v1']);
    expect(last(scenario)).toEqual(before);
  });
});

describe('departure_overdue and arrival_overdue', () => {
  it('are high immediately if the hours of the settings are more than 48', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: inJanuary(10) });
    scenario.settings = enableOnlyType('departure_overdue', { after_hours: 72 });
    scenario.check();
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(13));
    scenario.at(inJanuary(13)).check();
    expect(last(scenario).severity).toBe('high');
    expect(scenario.state?.nextCheckAt).toBeNull();
  });

  it('use the hours of the mode, also fractions', () => {
    const scenario = createScenarioWithRule('arrival_overdue', { eta: inJanuary(10), mode: 'air' });
    scenario.settings = enableOnlyType('arrival_overdue', { by_mode: { air: 0.5, road: 1 } });
    scenario.check();
    expect(opensAfter(scenario, inJanuary(10))).toBe(0.5);
    scenario.patch({ mode: 'road' });
    expect(opensAfter(scenario, inJanuary(10))).toBe(1);
    scenario.patch({ mode: null });
    expect(opensAfter(scenario, inJanuary(10))).toBe(12);
  });

  it('use estimates and legs like the ETD and ETA of the shipment', () => {
    const scenario = createScenarioWithRule('arrival_overdue', {
      legs: [createLeg('CNSHA', 'SGSIN'), { ...createLeg('SGSIN', 'USLAX'), eta: inJanuary(18) }],
    });
    expect(opensAfter(scenario, inJanuary(18))).toBe(12);
    scenario.estimate('vessel_arrived', inJanuary(19), { location: 'USLAX' });
    expect(opensAfter(scenario, inJanuary(19))).toBe(12);
  });

  it('treat a departure of any container as the departure, but not the ship leaving the destination', () => {
    const scenario = createScenarioWithRule('departure_overdue', {
      etd: inJanuary(10),
      container_numbers: [CONTAINER_A, CONTAINER_B],
    }).at(inJanuary(11));
    scenario.post('vessel_departed', inJanuary(10), { location: 'USLAX' });
    expect(scenario.open).toEqual(['departure_overdue']);
    scenario.post('vessel_departed', inJanuary(10), { container_number: CONTAINER_B });
    expect(scenario.open).toEqual([]);
  });

  it.each(['departure_overdue', 'arrival_overdue'] as const)(
    'an attempted delivery of one of several containers ends %s',
    (type) => {
      const scenario = createScenarioWithRule(type, {
        etd: inJanuary(10),
        eta: inJanuary(10),
        container_numbers: [CONTAINER_A, CONTAINER_B],
      }).at(inJanuary(11));
      scenario.check();
      expect(scenario.open).toEqual([type]);
      scenario.post('delivery_attempted', inJanuary(11), { container_number: CONTAINER_A });
      expect(scenario.open).toEqual([]);
    },
  );

  it('opens again when the departure is retracted', () => {
    const scenario = createScenarioWithRule('departure_overdue', { etd: inJanuary(10) }).at(inJanuary(11));
    const { milestone } = scenario.post('vessel_departed', inJanuary(10));
    scenario.retract(milestone);
    expect(scenario.open).toEqual(['departure_overdue']);
  });

  it('ignore an arrival on the way, or before a later departure', () => {
    const scenario = createScenarioWithRule('arrival_overdue', { eta: inJanuary(10) }).at(inJanuary(11));
    scenario.post('vessel_arrived', inJanuary(8), { location: 'SGSIN' });
    scenario.post('vessel_departed', inJanuary(9));
    scenario.post('vessel_arrived', inJanuary(8));
    expect(scenario.open).toEqual(['arrival_overdue']);
    scenario.post('vessel_arrived', inJanuary(10));
    expect(scenario.open).toEqual([]);
  });

  it('treat an arrival at the destination as the arrival, also if the goods continue by rail', () => {
    const scenario = createScenarioWithRule('arrival_overdue', { eta: inJanuary(10) }).at(inJanuary(11));
    scenario.post('vessel_arrived', inJanuary(10), { location: 'USLAX' });
    scenario.post('rail_departed', inJanuary(11));
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
    expect(opensAfter(scenario, inJanuary(1))).toBe(hours);
    scenario.at(inJanuary(2)).post('gated_in', inJanuary(1, 5));
    expect(opensAfter(scenario, inJanuary(2))).toBe(hours);
    scenario.patch({ etd: inJanuary(10) });
    expect(opensAfter(scenario, inJanuary(10))).toBe(hours);
    scenario.at(inJanuary(11)).estimate('gated_in', inJanuary(20));
    expect(opensAfter(scenario, inJanuary(11))).toBe(hours);
    scenario.at(addMs(inJanuary(11), hours * HOUR_MS)).check();
    expect(last(scenario)).toMatchObject({
      type: 'no_update',
      metrics: { silent_since: inJanuary(11), heard_at: inJanuary(11) },
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
    const scenario = createScenarioWithRule('no_update', { mode, eta: inJanuary(25) });
    expect(scenario.state?.nextCheckAt).not.toBe(inJanuary(25));
    scenario.at(inJanuary(3)).post('in_transit_checkpoint');
    expect(scenario.state?.nextCheckAt === inJanuary(25)).toBe(waits);
    scenario.at(inJanuary(4)).post('arrived_at_destination');
    expect(scenario.state?.nextCheckAt).not.toBe(inJanuary(25));
  });

  it('opens at sea after its hours if the ETA is unknown or over', () => {
    const scenario = createScenarioWithRule('no_update', { eta: inJanuary(8) }).at(inJanuary(3));
    scenario.post('vessel_departed');
    expect(opensAfter(scenario, inJanuary(3))).toBe(168);
    scenario.patch({ eta: null });
    expect(opensAfter(scenario, inJanuary(3))).toBe(168);
  });

  it('keeps later news when news with an earlier time is decided late', () => {
    const scenario = createScenarioWithRule('no_update', {}).at(inJanuary(5));
    scenario.post('gated_in', inJanuary(2));
    scenario.at(inJanuary(3)).post('cargo_stuffed', inJanuary(2));
    expect(scenario.state?.lastNewsAt).toBe(inJanuary(5));
    expect(opensAfter(scenario, inJanuary(5))).toBe(168);
  });

  it('is not news if nothing is new: other fields, repetitions, retractions', () => {
    const scenario = createScenarioWithRule('no_update', { eta: inJanuary(25) }).at(inJanuary(2));
    const feed = { source: 'carrier', external_id: 'EV-1' } as const;
    const { milestone } = scenario.post('gated_in', inJanuary(2), feed);
    scenario.post('cargo_stuffed', inJanuary(2), { source: 'carrier' });
    const due = inJanuary(9);
    expect(scenario.state?.nextCheckAt).toBe(due);
    scenario.at(inJanuary(3));
    scenario.post('gated_in', inJanuary(2), feed);
    // The milestone takes the id of its repetition.
    const repeated = scenario.post('cargo_stuffed', inJanuary(2), { source: 'carrier', external_id: 'EV-2' });
    expect(listEventTypes(repeated)).toEqual(['milestone.corrected.v1']);
    scenario.upsert({ house_bill: 'HB-1', eta: inJanuary(25) });
    scenario.retract(milestone);
    expect(scenario.state?.nextCheckAt).toBe(due);
    scenario.at(due).check();
    expect(scenario.open).toEqual(['no_update']);
    const news = [
      (s: Scenario) => s.correct(s.post('received_at_origin', inJanuary(3)).milestone, { occurred_at: inJanuary(4) }),
      (s: Scenario) => s.post('cargo_stuffed', inJanuary(3), { source: 'carrier', external_id: 'EV-2' }),
      (s: Scenario) => s.patch({ eta: inJanuary(26) }),
    ];
    for (const [n, act] of news.entries()) {
      const now = addMs(due, (n + 1) * 8 * DAY_MS);
      scenario.at(now).check();
      expect(scenario.open).toEqual(['no_update']);
      act(scenario);
      expect(scenario.open).toEqual([]);
      expect(scenario.state?.nextCheckAt).toBe(addMs(now, 7 * DAY_MS));
    }
  });

  it('is off once all containers are delivered', () => {
    const scenario = createScenarioWithRule('no_update', { container_numbers: [CONTAINER_A, CONTAINER_B] }).at(
      inJanuary(2),
    );
    scenario.post('delivered', inJanuary(2), { container_number: CONTAINER_A });
    expect(scenario.state?.nextCheckAt).toBe(inJanuary(9));
    scenario.post('delivered', inJanuary(2), { container_number: CONTAINER_B });
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.at(inJanuary(30)).check();
    expect(scenario.open).toEqual([]);
  });
});
