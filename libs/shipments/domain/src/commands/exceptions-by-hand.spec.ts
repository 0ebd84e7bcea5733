import {
  DEFAULT_RULE_SETTINGS,
  EXCEPTION_TITLES,
  EXCEPTION_TYPES,
  type ExceptionType,
  type RuleSettings,
  type ShipmentException,
} from '@tracking/contracts';
import {
  CONTAINER_A,
  CONTAINER_B,
  SHIPMENT_ID,
  ShipmentScenario,
  createDecideContext,
  findDataOfDecidedEvent,
  createTimeInJanuary2026,
  createExceptionInputForTest,
  SAMPLE_DECISION_INPUTS,
  captureRefusal,
  getTypesOfDecidedEvents,
  createOceanShipmentScenario,
} from '../../test/scenario.ts';
import { explainShipment } from '../explanation.ts';
import { type ShipmentCommand, decide, getCommandHandler } from './shipment-commands.ts';

const ME = { type: 'user', id: 'usr_1' } as const;
const box = (container_number: string) => ({ container_number });
const loaded = () => createOceanShipmentScenario({ container_numbers: [CONTAINER_A, CONTAINER_B] });

/** Settings of a workspace with the rule for customs holds disabled. */
const SILENT: RuleSettings = {
  ...DEFAULT_RULE_SETTINGS,
  exceptions: {
    ...DEFAULT_RULE_SETTINGS.exceptions,
    customs_hold: { ...DEFAULT_RULE_SETTINGS.exceptions.customs_hold, enabled: false },
  },
};

/** A shipment held by customs whose rule was disabled. */
function heldUnseen(): ShipmentScenario {
  const scenario = createOceanShipmentScenario();
  scenario.settings = SILENT;
  scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
  scenario.settings = DEFAULT_RULE_SETTINGS;
  expect(scenario.exceptions).toEqual([]);
  return scenario;
}

describe('opening by hand', () => {
  it('stores what the person sent, and null for all other fields', () => {
    const scenario = loaded();
    const milestone = scenario.postMilestoneInScenario(
      'gated_in',
      createTimeInJanuary2026(2),
      box(CONTAINER_A),
    ).milestone;
    const opened = scenario.openException('seal_broken', {
      severity: 'critical',
      title: 'Seal gone',
      detail: 'Found open at the gate.',
      container_number: ` ${CONTAINER_A.slice(0, 4).toLowerCase()}-${CONTAINER_A.slice(4)}`,
      milestone_id: milestone.id,
      reason_code: 'shore_other',
      assignee: 'Kim',
    });
    expect([opened.outcome, getTypesOfDecidedEvents(opened)]).toEqual(['opened', ['exception.opened.v1']]);
    const exception = {
      id: opened.exceptionId,
      shipment_id: SHIPMENT_ID,
      container_number: CONTAINER_A,
      type: 'seal_broken',
      severity: 'critical',
      status: 'open',
      title: 'Seal gone',
      detail: 'Found open at the gate.',
      detected_by: 'manual',
      rule: null,
      milestone_id: milestone.id,
      reason_code: 'shore_other',
      assignee: 'Kim',
      metrics: {},
      resolution: null,
      opened_at: scenario.record.updated_at,
      acknowledged_at: null,
      resolved_at: null,
    };
    expect(findDataOfDecidedEvent(opened, 'exception.opened.v1')).toEqual({ exception, open_exceptions_count: 1 });
    expect(scenario.state?.exceptions).toEqual([exception]);
    expect(scenario.record.open_exceptions_count).toBe(1);
  });

  it('accepts any type, with its title unless another one is given', () => {
    const scenario = createOceanShipmentScenario();
    for (const type of EXCEPTION_TYPES)
      expect(scenario.openException(type).exception.title).toBe(EXCEPTION_TITLES[type]);
    expect(scenario.open).toEqual(EXCEPTION_TYPES);
    expect(new Set(Object.values(EXCEPTION_TITLES)).size).toBe(EXCEPTION_TYPES.length);
  });

  it('returns the open exception of the same type and container and stores nothing', () => {
    const scenario = loaded();
    const first = scenario.openException('shortage', box(CONTAINER_A));
    const again = scenario.openException('shortage', {
      ...box(CONTAINER_A),
      title: 'Other words',
      severity: 'critical',
    });
    expect([again.outcome, again.events, again.exception]).toEqual(['existing', [], first.exception]);
    expect(scenario.openException('shortage', box(CONTAINER_B)).outcome).toBe('opened');
    expect(scenario.openException('shortage').outcome).toBe('opened');
    expect(scenario.exceptions).toEqual([
      `shortage ${CONTAINER_A} open`,
      `shortage ${CONTAINER_B} open`,
      'shortage open',
    ]);
  });

  it('returns the exception that its rule already opened', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    const again = scenario.openException('customs_hold');
    expect([again.outcome, again.events, again.exception.rule]).toEqual(['existing', [], 'customs_hold']);
  });

  it('lets the rule open the exception if the rule is due', () => {
    const scenario = heldUnseen();
    const opened = scenario.openException('customs_hold', { title: 'Mine' });
    expect([opened.outcome, getTypesOfDecidedEvents(opened)]).toEqual(['existing', ['exception.opened.v1']]);
    expect(opened.exception).toMatchObject({ rule: 'customs_hold', title: 'Customs hold', detected_by: 'system' });
    expect(scenario.exceptions).toEqual(['customs_hold open']);
  });

  it('opens exceptions of other due rules with it, each with its own id', () => {
    const scenario = heldUnseen();
    const opened = scenario.openException('shortage');
    expect(getTypesOfDecidedEvents(opened)).toEqual(['exception.opened.v1', 'exception.opened.v1']);
    expect(opened.exception.type).toBe('shortage');
    expect(scenario.exceptions).toEqual(['shortage open', 'customs_hold open']);
    expect(new Set(scenario.state?.exceptions.map(({ id }) => id)).size).toBe(2);
    expect(scenario.record.open_exceptions_count).toBe(2);
  });

  it('opens a new one once it is resolved', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.openException('other');
    scenario.resolveException(first.exception);
    expect(scenario.openException('other').outcome).toBe('opened');
    expect(scenario.exceptions).toEqual(['other resolved fixed', 'other open']);
  });

  it('reports every reference to other shipments at once', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    const refused = captureRefusal(() =>
      scenario.openException('lost', { ...box(CONTAINER_B), milestone_id: 'mst_x' }),
    );
    expect(refused.code).toBe('validation_failed');
    expect(refused.details.map(({ param, code }) => [param, code])).toEqual([
      ['container_number', 'unknown_container'],
      ['milestone_id', 'unknown_milestone'],
    ]);
  });

  it('is limited to 500, including resolved ones; an open one is still returned', () => {
    const scenario = createOceanShipmentScenario({ container_numbers: [CONTAINER_A] });
    for (let n = 0; n < 499; n++) scenario.resolveException(scenario.openException('other').exception);
    const last = scenario.openException('other').exception;
    const refused = captureRefusal(() => scenario.openException('lost'));
    expect([refused.code, refused.details[0]?.param]).toEqual(['limit_exceeded', 'type']);
    expect(scenario.openException('other').exception).toEqual(last);
    expect(scenario.state?.exceptions).toHaveLength(500);
  });

  it('warns on a cancelled shipment, and stays open', () => {
    const scenario = createOceanShipmentScenario();
    scenario.cancelShipment();
    const opened = scenario.openException('cargo_damage');
    expect(opened.warnings.map(({ code }) => code)).toEqual(['shipment_cancelled']);
    scenario.upsertShipment({ house_bill: 'HB-2' });
    expect(scenario.open).toEqual(['cargo_damage']);
    scenario.reopenShipment();
    expect(scenario.open).toEqual(['cargo_damage']);
  });
});

describe('an exception that a person opened', () => {
  it('keeps its rule from opening another one, and the rule does not resolve it', () => {
    const scenario = createOceanShipmentScenario();
    scenario.openException('customs_hold');
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    expect(scenario.exceptions).toEqual(['customs_hold open']);
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21));
    expect(scenario.exceptions).toEqual(['customs_hold open']);
    expect(scenario.state?.exceptions[0]).toMatchObject({ rule: null, severity: 'medium', detail: null });
  });

  it('stays open after delivery, but not after cancellation or removal of its container', () => {
    const scenario = loaded();
    scenario.openException('freight_hold');
    scenario.openException('container_damage', box(CONTAINER_A));
    scenario.postMilestoneInScenario('delivered', createTimeInJanuary2026(30));
    expect(scenario.open).toEqual(['freight_hold', 'container_damage']);
    scenario.patchShipment({ container_numbers: [CONTAINER_B] });
    expect(scenario.exceptions).toEqual(['freight_hold open', `container_damage ${CONTAINER_A} resolved auto_cleared`]);
    const cancelled = createOceanShipmentScenario();
    cancelled.openException('freight_hold');
    cancelled.cancelShipment();
    expect(cancelled.exceptions).toEqual(['freight_hold resolved shipment_cancelled']);
  });

  it('is resolved only by a person, as explained', () => {
    const scenario = createOceanShipmentScenario();
    scenario.openException('customs_hold', { detail: 'By phone.' });
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    const [exception] = explainShipment(scenario.state!, SAMPLE_DECISION_INPUTS).exceptions;
    expect(exception).toMatchObject({ type: 'customs_hold', rule: null, because: 'By phone.', resolved_by: [] });
  });
});

describe('acknowledging', () => {
  it('stores the assignee, and the note in the history', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    const previous = scenario.state!.exceptions[0]!;
    const done = scenario.acknowledgeException(previous, { assignee: 'Kim', note: 'Broker called.' });
    expect([done.outcome, getTypesOfDecidedEvents(done)]).toEqual(['acknowledged', ['exception.updated.v1']]);
    const acknowledged_at = scenario.record.updated_at;
    const exception = { ...previous, status: 'acknowledged', assignee: 'Kim', acknowledged_at };
    expect(findDataOfDecidedEvent(done, 'exception.updated.v1')).toEqual({
      exception,
      previous,
      note: 'Broker called.',
    });
    expect(done.exception).toEqual(exception);
    expect(scenario.record.open_exceptions_count).toBe(1);
  });

  it('keeps the assignee if none is given', () => {
    const scenario = createOceanShipmentScenario();
    const { exception } = scenario.openException('other', { assignee: 'Kim' });
    expect(scenario.acknowledgeException(exception).exception).toMatchObject({
      status: 'acknowledged',
      assignee: 'Kim',
    });
  });

  it('again changes or removes the assignee, and keeps the time', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.acknowledgeException(scenario.openException('other').exception, {
      assignee: 'Kim',
    }).exception;
    const handed = scenario.acknowledgeException(first, { assignee: 'Sam' });
    expect([getTypesOfDecidedEvents(handed), handed.exception]).toEqual([
      ['exception.updated.v1'],
      { ...first, assignee: 'Sam' },
    ]);
    const dropped = scenario.acknowledgeException(first, { assignee: null });
    expect([getTypesOfDecidedEvents(dropped), dropped.exception]).toEqual([
      ['exception.updated.v1'],
      { ...first, assignee: null },
    ]);
  });

  it('again with the same values stores nothing; with only a note it is announced', () => {
    const scenario = createOceanShipmentScenario();
    const first = scenario.acknowledgeException(scenario.openException('other').exception, {
      assignee: 'Kim',
    }).exception;
    for (const same of [{}, { assignee: 'Kim' }]) {
      const again = scenario.acknowledgeException(first, same);
      expect([again.outcome, again.events, again.exception]).toEqual(['unchanged', [], first]);
    }
    const said = scenario.acknowledgeException(first, { note: 'Still waiting.' });
    expect([said.outcome, said.exception]).toEqual(['acknowledged', first]);
    expect(findDataOfDecidedEvent(said, 'exception.updated.v1')).toMatchObject({ note: 'Still waiting.' });
  });

  it('again with the last note stores nothing; with another note it is announced', () => {
    const scenario = createOceanShipmentScenario();
    const { exception } = scenario.openException('other');
    const first = scenario.acknowledgeException(exception, { assignee: 'Kim', note: 'Broker called.' }).exception;
    for (const same of [{ assignee: 'Kim', note: 'Broker called.' }, { note: 'Broker called.' }]) {
      const again = scenario.acknowledgeException(exception, same);
      expect([again.outcome, again.events, again.exception]).toEqual(['unchanged', [], first]);
    }
    const other = scenario.openException('lost').exception;
    expect(scenario.acknowledgeException(other, { note: 'Broker called.' }).outcome).toBe('acknowledged');
    expect(scenario.acknowledgeException(exception, { note: 'Still waiting.' }).outcome).toBe('acknowledged');
    expect(scenario.acknowledgeException(exception, { assignee: 'Sam' }).outcome).toBe('acknowledged');
    expect(scenario.acknowledgeException(exception, { note: 'Still waiting.' }).events).toEqual([]);
    expect(scenario.acknowledgeException(exception, { assignee: 'Kim', note: 'Still waiting.' }).outcome).toBe(
      'acknowledged',
    );
  });

  it('refuses resolved and unknown exceptions', () => {
    const scenario = createOceanShipmentScenario();
    const { exception } = scenario.openException('other');
    scenario.resolveException(exception);
    expect(captureRefusal(() => scenario.acknowledgeException(exception)).code).toBe('exception_resolved');
    expect(captureRefusal(() => scenario.acknowledgeException({ id: 'exc_x' })).code).toBe('not_found');
  });

  it('lets its rule still resolve it', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.acknowledgeException(scenario.state!.exceptions[0]!, { assignee: 'Kim' });
    scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(20, 14));
    expect(scenario.exceptions).toEqual(['customs_hold acknowledged']);
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21));
    expect(scenario.exceptions).toEqual(['customs_hold resolved auto_cleared']);
    expect(scenario.state?.exceptions[0]).toMatchObject({ assignee: 'Kim', acknowledged_at: expect.any(String) });
  });

  it('an exception whose condition has ended resolves it in the same command', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.settings = SILENT;
    const done = scenario.acknowledgeException(scenario.state!.exceptions[0]!, { note: 'Seen.' });
    expect(getTypesOfDecidedEvents(done)).toEqual(['exception.updated.v1', 'exception.resolved.v2']);
    expect(done.exception).toMatchObject({ status: 'resolved', acknowledged_at: expect.any(String) });
  });
});

describe('resolving by hand', () => {
  it('stores the person, the code and the note', () => {
    const scenario = createOceanShipmentScenario();
    const previous = scenario.openException('shortage').exception;
    const done = scenario.resolveException(previous, { code: 'waived', note: 'Counted again.' });
    expect([done.outcome, getTypesOfDecidedEvents(done)]).toEqual(['resolved', ['exception.resolved.v2']]);
    const resolution = { code: 'waived', note: 'Counted again.', by: ME };
    const exception = { ...previous, status: 'resolved', resolution, resolved_at: scenario.record.updated_at };
    expect(findDataOfDecidedEvent(done, 'exception.resolved.v2')).toEqual({
      exception_id: previous.id,
      resolution,
      resolved_at: scenario.record.updated_at,
      open_exceptions_count: 0,
    });
    expect([scenario.record.open_exceptions_count, done.exception]).toEqual([0, exception]);
  });

  it('a resolved one changes nothing, however it was resolved', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(21));
    const cleared = scenario.state!.exceptions[0]!;
    const mine = scenario.resolveException(scenario.openException('other').exception, { code: 'duplicate' }).exception;
    for (const exception of [cleared, mine]) {
      const again = scenario.resolveException(exception, { code: 'false_positive', note: 'No.' });
      expect([again.outcome, again.events, again.exception]).toEqual(['unchanged', [], exception]);
    }
    expect(captureRefusal(() => scenario.resolveException({ id: 'exc_x' })).code).toBe('not_found');
  });

  it('while its condition exists suppresses the rule until the condition has ended once', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    const done = scenario.resolveException(scenario.state!.exceptions[0]!);
    expect(getTypesOfDecidedEvents(done)).toEqual(['exception.resolved.v2']);
    scenario.postMilestoneInScenario('customs_inspection', createTimeInJanuary2026(21));
    expect(scenario.open).toEqual([]);
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(22));
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(23));
    expect(scenario.exceptions).toEqual(['customs_hold resolved fixed', 'customs_hold open']);
  });

  it('after its condition has ended does not suppress the rule', () => {
    const scenario = createOceanShipmentScenario();
    scenario.openException('customs_hold');
    scenario.resolveException(scenario.state!.exceptions[0]!);
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    expect(scenario.exceptions).toEqual(['customs_hold resolved fixed', 'customs_hold open']);
  });

  it('twice while its condition exists suppresses the rule like once', () => {
    const scenario = createOceanShipmentScenario();
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(20));
    scenario.resolveException(scenario.state!.exceptions[0]!);
    const again = scenario.openException('customs_hold');
    expect([again.outcome, again.exception.rule]).toEqual(['opened', null]);
    expect(getTypesOfDecidedEvents(scenario.resolveException(again.exception))).toEqual(['exception.resolved.v2']);
    expect(
      getTypesOfDecidedEvents(scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(21))),
    ).not.toContain('exception.conditions_ended.v1');
    expect(scenario.open).toEqual([]);
    scenario.postMilestoneInScenario('import_customs_cleared', createTimeInJanuary2026(22));
    scenario.postMilestoneInScenario('customs_hold', createTimeInJanuary2026(23));
    expect(scenario.open).toEqual(['customs_hold']);
  });

  it('without a rule ends no condition', () => {
    const scenario = createOceanShipmentScenario();
    expect(getTypesOfDecidedEvents(scenario.resolveException(scenario.openException('lost').exception))).toEqual([
      'exception.resolved.v2',
    ]);
    expect(
      getTypesOfDecidedEvents(scenario.postMilestoneInScenario('gated_in', createTimeInJanuary2026(2))),
    ).not.toContain('exception.conditions_ended.v1');
  });

  it('opens exceptions of other due rules', () => {
    const scenario = heldUnseen();
    scenario.settings = SILENT;
    const { exception } = scenario.openException('other');
    scenario.settings = DEFAULT_RULE_SETTINGS;
    expect(getTypesOfDecidedEvents(scenario.resolveException(exception))).toEqual([
      'exception.resolved.v2',
      'exception.opened.v1',
    ]);
    expect(scenario.exceptions).toEqual(['other resolved fixed', 'customs_hold open']);
    expect(scenario.record.open_exceptions_count).toBe(1);
  });
});

describe('exceptions that open with time', () => {
  const ETA = createTimeInJanuary2026(20);
  const DUE = createTimeInJanuary2026(21, 0);
  const GRAVER = createTimeInJanuary2026(22);
  /** A shipment whose departure is overdue from `DUE` on, without other exceptions. */
  function expected(): ShipmentScenario {
    const scenario = new ShipmentScenario().setTimeOfNextCommand(createTimeInJanuary2026(1));
    const { arrival_overdue, ...others } = DEFAULT_RULE_SETTINGS.exceptions;
    const silent = Object.entries(others).map(([type, settings]) => [type, { ...settings, enabled: false }]);
    scenario.settings = {
      ...DEFAULT_RULE_SETTINGS,
      exceptions: { arrival_overdue, ...Object.fromEntries(silent) } as RuleSettings['exceptions'],
    };
    scenario.upsertShipment({ external_id: 'PO-1', mode: 'ocean', eta: ETA });
    expect(scenario.state?.nextCheckAt).toBe(DUE);
    return scenario;
  }

  it('opened by hand before they are due stay the person’s, and need no check', () => {
    const scenario = expected().setTimeOfNextCommand(createTimeInJanuary2026(20, 23));
    const opened = scenario.openException('arrival_overdue');
    expect([opened.outcome, opened.exception.rule, opened.nextCheckAt]).toEqual(['opened', null, null]);
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(GRAVER).checkRules())).toEqual([]);
    scenario.postMilestoneInScenario('vessel_arrived');
    expect(scenario.exceptions).toEqual(['arrival_overdue open']);
  });

  it('opened by hand once they are due belong to the rule, whether or not the clock checked', () => {
    for (const isChecked of [true, false]) {
      const scenario = expected().setTimeOfNextCommand(DUE);
      if (isChecked) scenario.checkRules();
      const opened = scenario.openException('arrival_overdue', { title: 'Mine' });
      expect([opened.outcome, opened.exception.rule, scenario.state?.nextCheckAt]).toEqual([
        'existing',
        'arrival_overdue',
        GRAVER,
      ]);
      scenario.postMilestoneInScenario('vessel_arrived');
      expect(scenario.exceptions).toEqual(['arrival_overdue resolved auto_cleared']);
    }
  });

  it('resolved by hand before they are due open when due', () => {
    const scenario = expected();
    const resolved = scenario.resolveException(scenario.openException('arrival_overdue').exception);
    expect(resolved.nextCheckAt).toBe(DUE);
    scenario.setTimeOfNextCommand(DUE).checkRules();
    expect(scenario.exceptions).toEqual(['arrival_overdue resolved fixed', 'arrival_overdue open']);
  });

  it('resolved by hand while their condition exists need no further check', () => {
    const scenario = expected().setTimeOfNextCommand(DUE);
    scenario.checkRules();
    expect(scenario.resolveException(scenario.state!.exceptions[0]!).nextCheckAt).toBeNull();
    expect(getTypesOfDecidedEvents(scenario.setTimeOfNextCommand(GRAVER).checkRules())).toEqual([]);
  });

  it('get a higher severity with an acknowledgement, and keep the assignee', () => {
    const scenario = expected().setTimeOfNextCommand(DUE);
    scenario.checkRules();
    const [opened] = scenario.state!.exceptions;
    const before = scenario.acknowledgeException(opened!, { assignee: 'Kim' });
    expect([getTypesOfDecidedEvents(before), before.exception.severity, before.nextCheckAt]).toEqual([
      ['exception.updated.v1'],
      'medium',
      GRAVER,
    ]);
    const after = scenario.setTimeOfNextCommand(GRAVER).acknowledgeException(opened!, { note: 'Still nothing.' });
    expect(getTypesOfDecidedEvents(after)).toEqual(['exception.updated.v1', 'exception.updated.v1']);
    expect(after.exception).toMatchObject({ status: 'acknowledged', assignee: 'Kim', severity: 'high' });
    expect(scenario.open).toEqual(['arrival_overdue']);
  });

  it('open with every command', () => {
    const acts: readonly ((scenario: ShipmentScenario, other: ShipmentException) => unknown)[] = [
      (scenario) => scenario.openException('lost'),
      (scenario, other) => scenario.acknowledgeException(other),
      (scenario, other) => scenario.resolveException(other),
    ];
    for (const act of acts) {
      const scenario = expected();
      const { exception } = scenario.openException('other');
      act(scenario.setTimeOfNextCommand(DUE), exception);
      expect(scenario.open).toContain('arrival_overdue');
      expect(scenario.state?.nextCheckAt).toBe(GRAVER);
    }
  });
});

describe('a repeated command', () => {
  const about = (scenario: ShipmentScenario) => ({ ...scenario.createCommandContext(), shipment_id: SHIPMENT_ID });
  const opening = (scenario: ShipmentScenario, type: ExceptionType) =>
    ({ ...about(scenario), type: 'OpenException', exception: createExceptionInputForTest({ type }) }) as const;

  it('is decided equally, with the same id', () => {
    const scenario = heldUnseen();
    const command = opening(scenario, 'shortage');
    const decided = () => decide(command, scenario.state, createDecideContext(command.id));
    expect(decided()).toEqual(decided());
  });

  it('is answered from its stored events', () => {
    const scenario = heldUnseen();
    const { exception } = scenario.openException('other');
    const naming = { exception_id: exception.id, note: null };
    const commands: readonly [ShipmentCommand, string][] = [
      [opening(heldUnseen(), 'customs_hold'), 'existing'],
      [opening(scenario, 'shortage'), 'opened'],
      [{ ...about(scenario), type: 'AcknowledgeException', ...naming }, 'acknowledged'],
      [{ ...about(scenario), type: 'ResolveException', ...naming, code: 'fixed' }, 'resolved'],
    ];
    for (const [command, outcome] of commands) {
      const on = outcome === 'existing' ? heldUnseen() : scenario;
      const { length } = on.events;
      const decided = on.decideAndApplyShipmentCommand(command);
      const events = on.events.slice(length);
      const { rebuildResultFromEvents: rebuildResult } = getCommandHandler(command.type);
      const { exceptionId } = decided as unknown as { readonly exceptionId: string };
      expect([decided, rebuildResult(events, command)]).toEqual([
        expect.objectContaining({ outcome }),
        { outcome, exceptionId },
      ]);
      for (const [other] of commands) {
        if (other !== command)
          expect(getCommandHandler(other.type).rebuildResultFromEvents(events, other)).toBeUndefined();
      }
    }
  });
});
