import {
  type AutomaticExceptionType,
  type Severity,
  type ShipmentException,
  type Timestamp,
  chooseLatestTime,
} from '@tracking/contracts';
import {
  CONTAINER_A,
  CONTAINER_B,
  type ShipmentScenario,
  SAMPLE_DECISION_INPUTS,
  getTypesOfDecidedEvents,
} from '../../test/scenario.ts';
import {
  SAMPLE_CREATION_TIME,
  DAY_MS,
  HOUR_MS,
  DOCUMENT_TYPES_REQUIRED_FOR_OCEAN,
  addMsToTime,
  createScenarioWithRule,
  createJanuaryTime,
  createLeg,
  createRuleSettingsForOneType,
} from '../../test/time-driven.ts';
import { explainShipment } from '../explanation.ts';

const viaSingapore = (etd: Timestamp | null) => [
  createLeg('CNSHA', 'SGSIN', createJanuaryTime(2)),
  createLeg('SGSIN', 'USLAX', etd),
];

type Act = (scenario: ShipmentScenario) => unknown;
const posts = (...codes: string[]): Readonly<Record<string, Act>> =>
  Object.fromEntries(codes.map((code) => [code, (scenario) => scenario.postMilestoneInScenario(code)]));
const retractAll: Act = (scenario) =>
  scenario.state?.timeline.forEach(({ milestone }) => milestone.retracted_at ?? scenario.retractMilestone(milestone));

interface Row {
  readonly type: AutomaticExceptionType;
  readonly name: string;
  /** @param created time of all commands */
  readonly given: (created: Timestamp) => ShipmentScenario;
  readonly container?: string;
  readonly opens: Timestamp;
  /** Deadline of the problem, if the exception opens some hours earlier. */
  readonly due?: Timestamp;
  readonly severity: Severity;
  readonly worsens?: { readonly at: Timestamp; readonly severity: Severity };
  readonly metrics: ShipmentException['metrics'];
  /** Each way to resolve or prevent it. */
  readonly resolvedBy: Readonly<Record<string, Act>>;
}

const arrived = posts('vessel_arrived', 'discharged', 'available_for_pickup', 'gated_out', 'delivery_attempted');
const box = { container_number: CONTAINER_A };

const ROWS: readonly Row[] = [
  {
    type: 'departure_overdue',
    name: '12 h past the ETD',
    given: (created) => createScenarioWithRule('departure_overdue', { etd: createJanuaryTime(10) }, created),
    opens: createJanuaryTime(10, 12),
    severity: 'medium',
    worsens: { at: createJanuaryTime(12), severity: 'high' },
    metrics: { etd: createJanuaryTime(10) },
    resolvedBy: {
      ...posts('vessel_departed', 'rail_departed', 'in_transit_checkpoint', 'delivered', 'returned_to_shipper'),
      ...arrived,
      'another ETD': (scenario) => scenario.patchShipment({ etd: createJanuaryTime(25) }),
      'an estimated departure': (scenario) => scenario.postEstimateInScenario('vessel_departed', createJanuaryTime(25)),
      'no ETD': (scenario) => scenario.patchShipment({ etd: null }),
    },
  },
  {
    type: 'arrival_overdue',
    name: '12 h past the ETA',
    given: (created) => createScenarioWithRule('arrival_overdue', { eta: createJanuaryTime(20) }, created),
    opens: createJanuaryTime(20, 12),
    severity: 'medium',
    worsens: { at: createJanuaryTime(22), severity: 'high' },
    metrics: { eta: createJanuaryTime(20) },
    resolvedBy: {
      ...posts('delivered', 'rail_unloaded', 'arrived_at_destination', 'empty_returned'),
      ...arrived,
      'another ETA': (scenario) => scenario.patchShipment({ eta: createJanuaryTime(30) }),
      'an estimated arrival': (scenario) => scenario.postEstimateInScenario('vessel_arrived', createJanuaryTime(30)),
      'no ETA': (scenario) => scenario.patchShipment({ eta: null }),
    },
  },
  {
    type: 'no_update',
    name: '7 d past the ETD',
    given: (created) => createScenarioWithRule('no_update', { etd: createJanuaryTime(5) }, created),
    opens: createJanuaryTime(12),
    severity: 'low',
    metrics: { silent_since: createJanuaryTime(5), heard_at: null },
    resolvedBy: {
      ...posts('gated_in', 'customs_hold', 'delivered'),
      'a planned milestone': (scenario) =>
        scenario.postMilestoneInScenario('gated_in', createJanuaryTime(20), { classifier: 'planned' }),
      'an estimate': (scenario) => scenario.postEstimateInScenario('gated_in', createJanuaryTime(20)),
      'an ETA': (scenario) => scenario.patchShipment({ eta: createJanuaryTime(30) }),
      'another ETD': (scenario) => scenario.patchShipment({ etd: createJanuaryTime(20) }),
    },
  },
  {
    type: 'missed_connection',
    name: '12 h past the ETD of the next leg',
    given: (created) => {
      const scenario = createScenarioWithRule(
        'missed_connection',
        { container_numbers: [CONTAINER_A], legs: viaSingapore(createJanuaryTime(9)) },
        created,
      );
      scenario
        .setTimeOfNextCommand(chooseLatestTime(created, createJanuaryTime(6)))
        .postMilestoneInScenario('transshipment_discharged', createJanuaryTime(6), { location: 'SGSIN', ...box });
      return scenario;
    },
    container: CONTAINER_A,
    opens: createJanuaryTime(9, 12),
    severity: 'high',
    metrics: { location: 'SGSIN', arrived_at: createJanuaryTime(6), next_etd: createJanuaryTime(9) },
    resolvedBy: {
      ...posts('transshipment_loaded', 'loaded_on_vessel', 'rail_loaded'),
      ...posts('in_transit_checkpoint', 'border_crossed', 'delivered'),
      ...arrived,
      'another ETD': (scenario) => scenario.patchShipment({ legs: viaSingapore(createJanuaryTime(29)) }),
      'an estimated departure': (scenario) =>
        scenario.postEstimateInScenario('transshipment_departed', createJanuaryTime(29), { location: 'SGSIN' }),
      retraction: retractAll,
      'the container taken off': (scenario) => scenario.upsertShipment({ container_numbers: [CONTAINER_B] }),
    },
  },
  {
    type: 'missed_connection',
    name: '10 d after the arrival where the next leg has no ETD',
    given: (created) => {
      const scenario = createScenarioWithRule(
        'missed_connection',
        { container_numbers: [CONTAINER_A], legs: viaSingapore(null) },
        created,
      );
      scenario.setTimeOfNextCommand(chooseLatestTime(created, createJanuaryTime(6)));
      scenario.postMilestoneInScenario('vessel_arrived', createJanuaryTime(4), { location: 'SGSIN', ...box });
      scenario.postMilestoneInScenario('discharged', createJanuaryTime(6), { location: 'SGSIN', ...box });
      return scenario;
    },
    container: CONTAINER_A,
    opens: createJanuaryTime(14),
    severity: 'high',
    metrics: { location: 'SGSIN', arrived_at: createJanuaryTime(4), next_etd: null },
    resolvedBy: {
      ...posts('transshipment_loaded', 'delivered'),
      'a later ETD': (scenario) => scenario.patchShipment({ legs: viaSingapore(createJanuaryTime(29)) }),
      retraction: retractAll,
    },
  },
  {
    type: 'demurrage_risk',
    name: '2 d before the last free day at the destination',
    given: (created) => {
      const scenario = createScenarioWithRule('demurrage_risk', { container_numbers: [CONTAINER_A] }, created);
      scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-20' });
      return scenario;
    },
    container: CONTAINER_A,
    // Los Angeles is 8 hours behind.
    opens: createJanuaryTime(18, 8),
    due: createJanuaryTime(20, 8),
    severity: 'high',
    worsens: { at: createJanuaryTime(21, 8), severity: 'critical' },
    metrics: { last_free_day: '2026-01-20', discharged_at: null },
    resolvedBy: {
      ...posts('gated_out', 'out_for_delivery', 'delivery_attempted', 'delivered', 'empty_returned'),
      'another day': (scenario) => scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-29' }),
      'no day': (scenario) => scenario.patchContainer(CONTAINER_A, { last_free_day: null }),
      'a part load': (scenario) => scenario.patchShipment({ load_type: 'lcl' }),
      'the container taken off': (scenario) => scenario.upsertShipment({ container_numbers: [CONTAINER_B] }),
    },
  },
  {
    type: 'demurrage_risk',
    name: '4 d after the discharge where no day is known',
    given: (created) => {
      const scenario = createScenarioWithRule('demurrage_risk', { container_numbers: [CONTAINER_A] }, created);
      scenario
        .setTimeOfNextCommand(chooseLatestTime(created, createJanuaryTime(6)))
        .postMilestoneInScenario('discharged', createJanuaryTime(6), box);
      return scenario;
    },
    container: CONTAINER_A,
    opens: createJanuaryTime(10),
    severity: 'high',
    metrics: { last_free_day: null, discharged_at: createJanuaryTime(6) },
    resolvedBy: {
      ...posts('gated_out', 'delivered', 'rail_departed'),
      'a later day': (scenario) => scenario.patchContainer(CONTAINER_A, { last_free_day: '2026-01-29' }),
      retraction: retractAll,
      'a part load': (scenario) => scenario.patchShipment({ load_type: 'lcl' }),
    },
  },
  {
    type: 'detention_risk',
    name: '2 d before the empty is due',
    given: (created) => {
      const scenario = createScenarioWithRule('detention_risk', { container_numbers: [CONTAINER_A] }, created);
      scenario.patchContainer(CONTAINER_A, { empty_return_by: '2026-01-20' });
      return scenario;
    },
    container: CONTAINER_A,
    opens: createJanuaryTime(18, 8),
    due: createJanuaryTime(20, 8),
    severity: 'medium',
    worsens: { at: createJanuaryTime(21, 8), severity: 'critical' },
    metrics: { empty_return_by: '2026-01-20', gated_out_at: null },
    resolvedBy: {
      ...posts('empty_returned', 'returned_to_shipper'),
      'another day': (scenario) => scenario.patchContainer(CONTAINER_A, { empty_return_by: '2026-01-29' }),
      'no day': (scenario) => scenario.patchContainer(CONTAINER_A, { empty_return_by: null }),
      'a part load': (scenario) => scenario.patchShipment({ load_type: 'lcl' }),
      'the container taken off': (scenario) => scenario.upsertShipment({ container_numbers: [CONTAINER_B] }),
    },
  },
  {
    type: 'missing_document',
    name: '3 d before the ETA',
    given: (created) => createScenarioWithRule('missing_document', { eta: createJanuaryTime(20) }, created),
    opens: createJanuaryTime(17),
    due: createJanuaryTime(20),
    severity: 'medium',
    metrics: { missing: DOCUMENT_TYPES_REQUIRED_FOR_OCEAN, eta: createJanuaryTime(20) },
    resolvedBy: {
      'one of each': (scenario) => DOCUMENT_TYPES_REQUIRED_FOR_OCEAN.forEach((type) => scenario.addDocument({ type })),
      'another ETA': (scenario) => scenario.patchShipment({ eta: createJanuaryTime(30) }),
      'an estimated arrival': (scenario) => scenario.postEstimateInScenario('vessel_arrived', createJanuaryTime(30)),
      'no ETA': (scenario) => scenario.patchShipment({ eta: null }),
      'a mode that needs none': (scenario) => scenario.patchShipment({ mode: 'air' }),
      'no mode': (scenario) => scenario.patchShipment({ mode: null }),
    },
  },
  {
    type: 'detention_risk',
    name: '10 d after the gate-out where no day is known',
    given: (created) => {
      const scenario = createScenarioWithRule('detention_risk', { container_numbers: [CONTAINER_A] }, created);
      scenario
        .setTimeOfNextCommand(chooseLatestTime(created, createJanuaryTime(6)))
        .postMilestoneInScenario('gated_out', createJanuaryTime(6), box);
      return scenario;
    },
    container: CONTAINER_A,
    opens: createJanuaryTime(16),
    severity: 'medium',
    metrics: { empty_return_by: null, gated_out_at: createJanuaryTime(6) },
    resolvedBy: {
      ...posts('empty_returned', 'returned_to_shipper'),
      'a later day': (scenario) => scenario.patchContainer(CONTAINER_A, { empty_return_by: '2026-01-29' }),
      retraction: retractAll,
    },
  },
];

describe.each(ROWS)('$type $name', (row) => {
  const { type, given, opens, due = opens, severity, worsens, container = null } = row;
  const told = [type, container, 'open'].filter(Boolean).join(' ');
  const opened = () => {
    const scenario = given(SAMPLE_CREATION_TIME).setTimeOfNextCommand(opens);
    scenario.checkRules();
    expect(scenario.exceptions).toEqual([told]);
    return scenario;
  };
  const last = (scenario: ShipmentScenario) => scenario.state?.exceptions.at(-1);

  it('opens exactly when due, once', () => {
    const scenario = given(SAMPLE_CREATION_TIME);
    expect(scenario.state?.nextCheckAt).toBe(opens);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(addMsToTime(opens, -1)).checkRules())).toEqual([]);
    expect(scenario.exceptions).toEqual([]);
    const decision = scenario.setTimeOfNextCommand(opens).checkRules();
    expect(getTypesOfDecidedEvents(decision)).toEqual(['exception.opened.v1']);
    expect(last(scenario)).toMatchObject({
      ...{ type, severity, container_number: container, status: 'open', rule: type, detected_by: 'system' },
      ...{ opened_at: opens, metrics: row.metrics },
    });
    expect(last(scenario)?.detail).toMatch(/^[A-Z].*\.$/);
    expect(scenario.state?.nextCheckAt).toBe(worsens?.at ?? null);
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual([]);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(addMsToTime(opens, 1)).checkRules())).toEqual([]);
  });

  it('opens with any write when due', () => {
    const scenario = given(SAMPLE_CREATION_TIME);
    expect(
      getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(opens).upsertShipment({ house_bill: 'HB-1' })),
    ).toContain('exception.opened.v1');
  });

  if (worsens !== undefined) {
    it('gets its higher severity exactly when due', () => {
      const scenario = opened();
      expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(addMsToTime(worsens.at, -1)).checkRules())).toEqual(
        [],
      );
      expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(worsens.at).checkRules())).toEqual([
        'exception.updated.v1',
      ]);
      expect(last(scenario)).toMatchObject({ severity: worsens.severity, opened_at: opens });
      expect(scenario.state?.nextCheckAt).toBeNull();
      expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual([]);
    });
  }

  it('opens once after months without a check, with the present severity', () => {
    const scenario = given(SAMPLE_CREATION_TIME).setTimeOfNextCommand(addMsToTime(opens, 90 * DAY_MS));
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual(['exception.opened.v1']);
    expect(last(scenario)).toMatchObject({ severity: worsens?.severity ?? severity });
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual([]);
  });

  it.each(Object.entries(row.resolvedBy))('resolves by %s', (_, act) => {
    const scenario = opened().setTimeOfNextCommand(addMsToTime(opens, HOUR_MS));
    act(scenario);
    expect(scenario.exceptions).toEqual([told.replace('open', 'resolved auto_cleared')]);
  });

  it.each(Object.entries(row.resolvedBy))('%s prevents it', (_, act) => {
    const scenario = given(SAMPLE_CREATION_TIME).setTimeOfNextCommand(addMsToTime(opens, -HOUR_MS));
    act(scenario);
    scenario.setTimeOfNextCommand(addMsToTime(opens, 2 * HOUR_MS)).checkRules();
    expect(scenario.open).toEqual([]);
  });

  it('resolves when disabled or given more hours, and opens again with the former settings', () => {
    for (const settings of [
      createRuleSettingsForOneType(type, { enabled: false }),
      createRuleSettingsForOneType(type, { after_hours: 8_760, before_hours: 1 }),
    ]) {
      const scenario = opened();
      scenario.settings = settings;
      const isByStop = type === 'missed_connection' && row.metrics['next_etd'] === null;
      scenario.checkRules();
      // The 10 days are fixed.
      if (isByStop && settings.exceptions[type].enabled) continue;
      expect(scenario.open).toEqual([]);
      scenario.settings = createRuleSettingsForOneType(type);
      scenario.checkRules();
      expect(scenario.open).toEqual([type]);
    }
  });

  it('opens with the severity of the settings', () => {
    for (const set of ['low', 'critical'] as const) {
      const scenario = given(SAMPLE_CREATION_TIME).setTimeOfNextCommand(opens);
      scenario.settings = createRuleSettingsForOneType(type, { severity: set });
      scenario.checkRules();
      expect(last(scenario)?.severity).toBe(set);
    }
  });

  it('stays resolved by a person, however often checked, until its condition has ended once', () => {
    const scenario = opened();
    scenario.resolveException(last(scenario)!);
    const resolved = told.replace('open', 'resolved fixed');
    expect(scenario.exceptions).toEqual([resolved]);
    expect(scenario.state?.nextCheckAt).toBeNull();
    scenario.setTimeOfNextCommand(addMsToTime(opens, 60 * DAY_MS)).checkRules();
    scenario.upsertShipment({ house_bill: 'HB-1' });
    expect(scenario.exceptions).toEqual([resolved]);
    expect(explainedOf(scenario, type)).toMatchObject([{ status: 'suppressed', exception_id: last(scenario)?.id }]);
    scenario.settings = createRuleSettingsForOneType(type, { enabled: false });
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual(['exception.conditions_ended.v1']);
    expect(getTypesOfDecidedEvents(scenario.checkRules())).toEqual([]);
    scenario.settings = createRuleSettingsForOneType(type);
    scenario.checkRules();
    expect(scenario.exceptions).toEqual([resolved, told]);
  });

  it('is resolved by cancelling, does not open then, and a new one opens on reopening', () => {
    const scenario = opened();
    scenario.cancelShipment();
    expect(scenario.exceptions).toEqual([told.replace('open', 'resolved shipment_cancelled')]);
    expect(scenario.state?.nextCheckAt).toBeNull();
    expect(
      getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(addMsToTime(opens, 60 * DAY_MS)).checkRules()),
    ).toEqual([]);
    scenario.reopenShipment();
    expect(scenario.open).toEqual([type]);
  });

  if (type === 'no_update') {
    it('counts from the creation if it was due more than 30 days before', () => {
      const created = addMsToTime(opens, 30 * DAY_MS + 1);
      const imported = given(created);
      expect(imported.exceptions).toEqual([]);
      expect(imported.state?.nextCheckAt).toBe(addMsToTime(created, 7 * DAY_MS));
      expect(
        getTypesOfDecidedEvents(imported.setTimeOfNextCommand(addMsToTime(created, 7 * DAY_MS - 1)).checkRules()),
      ).toEqual([]);
      imported.setTimeOfNextCommand(addMsToTime(created, 7 * DAY_MS)).checkRules();
      expect(imported.open).toEqual([type]);
      expect(last(imported)?.metrics).toEqual({ silent_since: created, heard_at: null });
      expect(given(addMsToTime(opens, 30 * DAY_MS)).open).toEqual([type]);
    });
  } else {
    it('does not open if it was due more than 30 days before the creation', () => {
      const imported = given(addMsToTime(due, 30 * DAY_MS + 1));
      imported.checkRules();
      expect(imported.exceptions).toEqual([]);
      expect(imported.state?.nextCheckAt).toBeNull();
      const recent = given(addMsToTime(due, 30 * DAY_MS));
      recent.checkRules();
      expect(recent.open).toEqual([type]);
    });
  }

  if (row.due !== undefined) {
    it.each([721, 2_160, 8_760])('opens immediately %d hours ahead, and stays open', (before_hours) => {
      const scenario = given(SAMPLE_CREATION_TIME);
      scenario.settings = createRuleSettingsForOneType(type, { before_hours });
      scenario.checkRules();
      expect(scenario.exceptions).toEqual([told]);
      const open = opened();
      open.settings = createRuleSettingsForOneType(type, { before_hours });
      open.checkRules();
      expect(open.exceptions).toEqual([told]);
    });
  }

  it('is explained with its time and each code that prevents or resolves it', () => {
    const scenario = given(SAMPLE_CREATION_TIME).setTimeOfNextCommand(addMsToTime(opens, -HOUR_MS));
    const [expected] = explainedOf(scenario, type);
    expect(expected).toMatchObject({ status: 'expected', exception_id: null, opens_at: opens, rule: type });
    const open = opened();
    const [explained] = explainedOf(open, type);
    expect(explained).toMatchObject({ status: 'open', exception_id: last(open)?.id, opens_at: null });
    expect(explained?.resolved_by).toEqual(expected?.resolved_by);
    const codes = explained?.resolved_by.find(({ by }) => by === 'milestone')?.codes ?? [];
    expect(codes.length > 0).toBe(type !== 'no_update' && type !== 'missing_document');
    for (const code of codes) {
      const tried = opened();
      tried.postMilestoneInScenario(code, undefined, { container_number: container });
      expect([code, tried.open]).toEqual([code, []]);
    }
  });
});

function explainedOf(scenario: ShipmentScenario, type: AutomaticExceptionType) {
  if (scenario.state === undefined) throw new Error('there is no shipment');
  const { exceptions } = explainShipment(scenario.state, { ...SAMPLE_DECISION_INPUTS, settings: scenario.settings });
  return exceptions.filter((exception) => exception.type === type);
}
