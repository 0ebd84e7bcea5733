import {
  DEFAULT_RULE_SETTINGS,
  EXCEPTION_TITLES,
  EXCEPTION_TYPES,
  type ExceptionType,
  type RuleSettings,
  type ShipmentException,
} from '@tracking/contracts';
import {
  A,
  B,
  SHIPMENT_ID,
  Scenario,
  contextFor,
  dataOf,
  day,
  exceptionInput,
  decisionInputs,
  refusal,
  types,
  voyage,
} from '../../test/scenario.ts';
import { explain } from '../explanation.ts';
import { type ShipmentCommand, decide, getHandler } from './shipment-commands.ts';

const ME = { type: 'user', id: 'usr_1' } as const;
const box = (container_number: string) => ({ container_number });
const loaded = () => voyage({ container_numbers: [A, B] });

/** As the workspace has it while it wants to hear nothing of customs. */
const SILENT: RuleSettings = {
  ...DEFAULT_RULE_SETTINGS,
  exceptions: {
    ...DEFAULT_RULE_SETTINGS.exceptions,
    customs_hold: { ...DEFAULT_RULE_SETTINGS.exceptions.customs_hold, enabled: false },
  },
};

/** Held by customs, about which its rule was not asked yet. */
function heldUnseen(): Scenario {
  const scenario = voyage();
  scenario.settings = SILENT;
  scenario.post('customs_hold', day(20));
  scenario.settings = DEFAULT_RULE_SETTINGS;
  expect(scenario.exceptions).toEqual([]);
  return scenario;
}

describe('opening by hand', () => {
  it('tells what a person said, and leaves the rest empty', () => {
    const scenario = loaded();
    const milestone = scenario.post('gated_in', day(2), box(A)).milestone;
    const opened = scenario.openByHand('seal_broken', {
      severity: 'critical',
      title: 'Seal gone',
      detail: 'Found open at the gate.',
      container_number: ` ${A.slice(0, 4).toLowerCase()}-${A.slice(4)}`,
      milestone_id: milestone.id,
      reason_code: 'shore_other',
      assignee: 'Kim',
    });
    expect([opened.outcome, types(opened)]).toEqual(['opened', ['exception.opened.v1']]);
    const exception = {
      id: opened.exceptionId,
      shipment_id: SHIPMENT_ID,
      container_number: A,
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
    expect(dataOf(opened, 'exception.opened.v1')).toEqual({ exception, open_exceptions_count: 1 });
    expect(scenario.state?.exceptions).toEqual([exception]);
    expect(scenario.record.open_exceptions_count).toBe(1);
  });

  it('any type, called as such unless it has a title', () => {
    const scenario = voyage();
    for (const type of EXCEPTION_TYPES) expect(scenario.openByHand(type).exception.title).toBe(EXCEPTION_TITLES[type]);
    expect(scenario.open).toEqual(EXCEPTION_TYPES);
    expect(new Set(Object.values(EXCEPTION_TITLES)).size).toBe(EXCEPTION_TYPES.length);
  });

  it('at most one of a type and container: again, it is the one there is, and nothing happens', () => {
    const scenario = loaded();
    const first = scenario.openByHand('shortage', box(A));
    const again = scenario.openByHand('shortage', { ...box(A), title: 'Other words', severity: 'critical' });
    expect([again.outcome, again.events, again.exception]).toEqual(['existing', [], first.exception]);
    expect(scenario.openByHand('shortage', box(B)).outcome).toBe('opened');
    expect(scenario.openByHand('shortage').outcome).toBe('opened');
    expect(scenario.exceptions).toEqual([`shortage ${A} open`, `shortage ${B} open`, 'shortage open']);
  });

  it('of what its rule opened already, it is the rule’s', () => {
    const scenario = voyage();
    scenario.post('customs_hold', day(20));
    const again = scenario.openByHand('customs_hold');
    expect([again.outcome, again.events, again.exception.rule]).toEqual(['existing', [], 'customs_hold']);
  });

  it('of what its rule would open at its next look, it is the rule’s too', () => {
    const scenario = heldUnseen();
    const opened = scenario.openByHand('customs_hold', { title: 'Mine' });
    expect([opened.outcome, types(opened)]).toEqual(['existing', ['exception.opened.v1']]);
    expect(opened.exception).toMatchObject({ rule: 'customs_hold', title: 'Customs hold', detected_by: 'system' });
    expect(scenario.exceptions).toEqual(['customs_hold open']);
  });

  it('opens with it what other rules find since, each under an id of its own', () => {
    const scenario = heldUnseen();
    const opened = scenario.openByHand('shortage');
    expect(types(opened)).toEqual(['exception.opened.v1', 'exception.opened.v1']);
    expect(opened.exception.type).toBe('shortage');
    expect(scenario.exceptions).toEqual(['shortage open', 'customs_hold open']);
    expect(new Set(scenario.state?.exceptions.map(({ id }) => id)).size).toBe(2);
    expect(scenario.record.open_exceptions_count).toBe(2);
  });

  it('again once it is resolved', () => {
    const scenario = voyage();
    const first = scenario.openByHand('other');
    scenario.resolve(first.exception);
    expect(scenario.openByHand('other').outcome).toBe('opened');
    expect(scenario.exceptions).toEqual(['other resolved fixed', 'other open']);
  });

  it('names what is not of the shipment, all at once', () => {
    const scenario = voyage({ container_numbers: [A] });
    const refused = refusal(() => scenario.openByHand('lost', { ...box(B), milestone_id: 'mst_x' }));
    expect(refused.code).toBe('validation_failed');
    expect(refused.details.map(({ param, code }) => [param, code])).toEqual([
      ['container_number', 'unknown_container'],
      ['milestone_id', 'unknown_milestone'],
    ]);
  });

  it('at most 500, resolved ones too; the one there is answers all the same', () => {
    const scenario = voyage({ container_numbers: [A] });
    for (let n = 0; n < 499; n++) scenario.resolve(scenario.openByHand('other').exception);
    const last = scenario.openByHand('other').exception;
    const refused = refusal(() => scenario.openByHand('lost'));
    expect([refused.code, refused.details[0]?.param]).toEqual(['limit_exceeded', 'type']);
    expect(scenario.openByHand('other').exception).toEqual(last);
    expect(scenario.state?.exceptions).toHaveLength(500);
  });

  it('on a cancelled shipment warns, and stays', () => {
    const scenario = voyage();
    scenario.cancel();
    const opened = scenario.openByHand('cargo_damage');
    expect(opened.warnings.map(({ code }) => code)).toEqual(['shipment_cancelled']);
    scenario.upsert({ house_bill: 'HB-2' });
    expect(scenario.open).toEqual(['cargo_damage']);
    scenario.reopen();
    expect(scenario.open).toEqual(['cargo_damage']);
  });
});

describe('what a person opened', () => {
  it('keeps its rule from opening another, and is not resolved by it', () => {
    const scenario = voyage();
    scenario.openByHand('customs_hold');
    scenario.post('customs_hold', day(20));
    expect(scenario.exceptions).toEqual(['customs_hold open']);
    scenario.post('import_customs_cleared', day(21));
    expect(scenario.exceptions).toEqual(['customs_hold open']);
    expect(scenario.state?.exceptions[0]).toMatchObject({ rule: null, severity: 'medium', detail: null });
  });

  it('outlives delivery, but neither cancellation nor its container', () => {
    const scenario = loaded();
    scenario.openByHand('freight_hold');
    scenario.openByHand('container_damage', box(A));
    scenario.post('delivered', day(30));
    expect(scenario.open).toEqual(['freight_hold', 'container_damage']);
    scenario.patch({ container_numbers: [B] });
    expect(scenario.exceptions).toEqual(['freight_hold open', `container_damage ${A} resolved auto_cleared`]);
    const cancelled = voyage();
    cancelled.openByHand('freight_hold');
    cancelled.cancel();
    expect(cancelled.exceptions).toEqual(['freight_hold resolved shipment_cancelled']);
  });

  it('only a person resolves, as is explained', () => {
    const scenario = voyage();
    scenario.openByHand('customs_hold', { detail: 'By phone.' });
    scenario.post('customs_hold', day(20));
    const [exception] = explain(scenario.state!, decisionInputs).exceptions;
    expect(exception).toMatchObject({ type: 'customs_hold', rule: null, because: 'By phone.', resolved_by: [] });
  });
});

describe('acknowledging', () => {
  it('says who deals with it, and keeps what was said for the history', () => {
    const scenario = voyage();
    scenario.post('customs_hold', day(20));
    const previous = scenario.state!.exceptions[0]!;
    const done = scenario.acknowledge(previous, { assignee: 'Kim', note: 'Broker called.' });
    expect([done.outcome, types(done)]).toEqual(['acknowledged', ['exception.updated.v1']]);
    const acknowledged_at = scenario.record.updated_at;
    const exception = { ...previous, status: 'acknowledged', assignee: 'Kim', acknowledged_at };
    expect(dataOf(done, 'exception.updated.v1')).toEqual({ exception, previous, note: 'Broker called.' });
    expect(done.exception).toEqual(exception);
    expect(scenario.record.open_exceptions_count).toBe(1);
  });

  it('without an assignee leaves the one it has', () => {
    const scenario = voyage();
    const { exception } = scenario.openByHand('other', { assignee: 'Kim' });
    expect(scenario.acknowledge(exception).exception).toMatchObject({ status: 'acknowledged', assignee: 'Kim' });
  });

  it('again hands it on, or to nobody, as of when it was first acknowledged', () => {
    const scenario = voyage();
    const first = scenario.acknowledge(scenario.openByHand('other').exception, { assignee: 'Kim' }).exception;
    const handed = scenario.acknowledge(first, { assignee: 'Sam' });
    expect([types(handed), handed.exception]).toEqual([['exception.updated.v1'], { ...first, assignee: 'Sam' }]);
    const dropped = scenario.acknowledge(first, { assignee: null });
    expect([types(dropped), dropped.exception]).toEqual([['exception.updated.v1'], { ...first, assignee: null }]);
  });

  it('again as it is, nothing happens; with a note alone that is told', () => {
    const scenario = voyage();
    const first = scenario.acknowledge(scenario.openByHand('other').exception, { assignee: 'Kim' }).exception;
    for (const same of [{}, { assignee: 'Kim' }]) {
      const again = scenario.acknowledge(first, same);
      expect([again.outcome, again.events, again.exception]).toEqual(['unchanged', [], first]);
    }
    const said = scenario.acknowledge(first, { note: 'Still waiting.' });
    expect([said.outcome, said.exception]).toEqual(['acknowledged', first]);
    expect(dataOf(said, 'exception.updated.v1')).toMatchObject({ note: 'Still waiting.' });
  });

  it('again with the last note, nothing happens; another note is told', () => {
    const scenario = voyage();
    const { exception } = scenario.openByHand('other');
    const first = scenario.acknowledge(exception, { assignee: 'Kim', note: 'Broker called.' }).exception;
    for (const same of [{ assignee: 'Kim', note: 'Broker called.' }, { note: 'Broker called.' }]) {
      const again = scenario.acknowledge(exception, same);
      expect([again.outcome, again.events, again.exception]).toEqual(['unchanged', [], first]);
    }
    const other = scenario.openByHand('lost').exception;
    expect(scenario.acknowledge(other, { note: 'Broker called.' }).outcome).toBe('acknowledged');
    expect(scenario.acknowledge(exception, { note: 'Still waiting.' }).outcome).toBe('acknowledged');
    expect(scenario.acknowledge(exception, { assignee: 'Sam' }).outcome).toBe('acknowledged');
    expect(scenario.acknowledge(exception, { note: 'Still waiting.' }).events).toEqual([]);
    expect(scenario.acknowledge(exception, { assignee: 'Kim', note: 'Still waiting.' }).outcome).toBe('acknowledged');
  });

  it('of a resolved one, or one that there is not, is refused', () => {
    const scenario = voyage();
    const { exception } = scenario.openByHand('other');
    scenario.resolve(exception);
    expect(refusal(() => scenario.acknowledge(exception)).code).toBe('exception_resolved');
    expect(refusal(() => scenario.acknowledge({ id: 'exc_x' })).code).toBe('not_found');
  });

  it('leaves it with its rule, which resolves it', () => {
    const scenario = voyage();
    scenario.post('customs_hold', day(20));
    scenario.acknowledge(scenario.state!.exceptions[0]!, { assignee: 'Kim' });
    scenario.post('gated_in', day(20, 14));
    expect(scenario.exceptions).toEqual(['customs_hold acknowledged']);
    scenario.post('import_customs_cleared', day(21));
    expect(scenario.exceptions).toEqual(['customs_hold resolved auto_cleared']);
    expect(scenario.state?.exceptions[0]).toMatchObject({ assignee: 'Kim', acknowledged_at: expect.any(String) });
  });

  it('of one that is over meanwhile is carried out, and tells so', () => {
    const scenario = voyage();
    scenario.post('customs_hold', day(20));
    scenario.settings = SILENT;
    const done = scenario.acknowledge(scenario.state!.exceptions[0]!, { note: 'Seen.' });
    expect(types(done)).toEqual(['exception.updated.v1', 'exception.resolved.v2']);
    expect(done.exception).toMatchObject({ status: 'resolved', acknowledged_at: expect.any(String) });
  });
});

describe('resolving by hand', () => {
  it('tells who did, how, and what they said', () => {
    const scenario = voyage();
    const previous = scenario.openByHand('shortage').exception;
    const done = scenario.resolve(previous, { code: 'waived', note: 'Counted again.' });
    expect([done.outcome, types(done)]).toEqual(['resolved', ['exception.resolved.v2']]);
    const resolution = { code: 'waived', note: 'Counted again.', by: ME };
    const exception = { ...previous, status: 'resolved', resolution, resolved_at: scenario.record.updated_at };
    expect(dataOf(done, 'exception.resolved.v2')).toEqual({
      exception_id: previous.id,
      resolution,
      resolved_at: scenario.record.updated_at,
      open_exceptions_count: 0,
    });
    expect([scenario.record.open_exceptions_count, done.exception]).toEqual([0, exception]);
  });

  it('of a resolved one changes nothing, however that was resolved', () => {
    const scenario = voyage();
    scenario.post('customs_hold', day(20));
    scenario.post('import_customs_cleared', day(21));
    const cleared = scenario.state!.exceptions[0]!;
    const mine = scenario.resolve(scenario.openByHand('other').exception, { code: 'duplicate' }).exception;
    for (const exception of [cleared, mine]) {
      const again = scenario.resolve(exception, { code: 'false_positive', note: 'No.' });
      expect([again.outcome, again.events, again.exception]).toEqual(['unchanged', [], exception]);
    }
    expect(refusal(() => scenario.resolve({ id: 'exc_x' })).code).toBe('not_found');
  });

  it('while its condition holds keeps the rule away until that has ended once', () => {
    const scenario = voyage();
    scenario.post('customs_hold', day(20));
    const done = scenario.resolve(scenario.state!.exceptions[0]!);
    expect(types(done)).toEqual(['exception.resolved.v2']);
    scenario.post('customs_inspection', day(21));
    expect(scenario.open).toEqual([]);
    scenario.post('import_customs_cleared', day(22));
    scenario.post('customs_hold', day(23));
    expect(scenario.exceptions).toEqual(['customs_hold resolved fixed', 'customs_hold open']);
  });

  it('after its condition has ended leaves the rule as free as before', () => {
    const scenario = voyage();
    scenario.openByHand('customs_hold');
    scenario.resolve(scenario.state!.exceptions[0]!);
    scenario.post('customs_hold', day(20));
    expect(scenario.exceptions).toEqual(['customs_hold resolved fixed', 'customs_hold open']);
  });

  it('twice while its condition holds keeps the rule away as once does', () => {
    const scenario = voyage();
    scenario.post('customs_hold', day(20));
    scenario.resolve(scenario.state!.exceptions[0]!);
    const again = scenario.openByHand('customs_hold');
    expect([again.outcome, again.exception.rule]).toEqual(['opened', null]);
    expect(types(scenario.resolve(again.exception))).toEqual(['exception.resolved.v2']);
    expect(types(scenario.post('gated_in', day(21)))).not.toContain('exception.conditions_ended.v1');
    expect(scenario.open).toEqual([]);
    scenario.post('import_customs_cleared', day(22));
    scenario.post('customs_hold', day(23));
    expect(scenario.open).toEqual(['customs_hold']);
  });

  it('of what no rule looks for ends nothing that it would be told of', () => {
    const scenario = voyage();
    expect(types(scenario.resolve(scenario.openByHand('lost').exception))).toEqual(['exception.resolved.v2']);
    expect(types(scenario.post('gated_in', day(2)))).not.toContain('exception.conditions_ended.v1');
  });

  it('brings with it what its rules find since', () => {
    const scenario = heldUnseen();
    scenario.settings = SILENT;
    const { exception } = scenario.openByHand('other');
    scenario.settings = DEFAULT_RULE_SETTINGS;
    expect(types(scenario.resolve(exception))).toEqual(['exception.resolved.v2', 'exception.opened.v1']);
    expect(scenario.exceptions).toEqual(['other resolved fixed', 'customs_hold open']);
    expect(scenario.record.open_exceptions_count).toBe(1);
  });
});

describe('of what time brings', () => {
  const ETA = day(20);
  const DUE = day(21, 0);
  const GRAVER = day(22);
  /** Overdue from `DUE` on, and nothing else with it. */
  function expected(): Scenario {
    const scenario = new Scenario().at(day(1));
    const { arrival_overdue, ...others } = DEFAULT_RULE_SETTINGS.exceptions;
    const silent = Object.entries(others).map(([type, settings]) => [type, { ...settings, enabled: false }]);
    scenario.settings = {
      ...DEFAULT_RULE_SETTINGS,
      exceptions: { arrival_overdue, ...Object.fromEntries(silent) } as RuleSettings['exceptions'],
    };
    scenario.upsert({ external_id: 'PO-1', mode: 'ocean', eta: ETA });
    expect(scenario.state?.nextCheckAt).toBe(DUE);
    return scenario;
  }

  it('what is opened by hand before its moment stays the person’s, and waits for nothing', () => {
    const scenario = expected().at(day(20, 23));
    const opened = scenario.openByHand('arrival_overdue');
    expect([opened.outcome, opened.exception.rule, opened.nextCheckAt]).toEqual(['opened', null, null]);
    expect(types(scenario.at(GRAVER).check())).toEqual([]);
    scenario.post('vessel_arrived');
    expect(scenario.exceptions).toEqual(['arrival_overdue open']);
  });

  it('what is opened by hand from its moment on is the rule’s, whether or not the clock came by', () => {
    for (const isChecked of [true, false]) {
      const scenario = expected().at(DUE);
      if (isChecked) scenario.check();
      const opened = scenario.openByHand('arrival_overdue', { title: 'Mine' });
      expect([opened.outcome, opened.exception.rule, scenario.state?.nextCheckAt]).toEqual([
        'existing',
        'arrival_overdue',
        GRAVER,
      ]);
      scenario.post('vessel_arrived');
      expect(scenario.exceptions).toEqual(['arrival_overdue resolved auto_cleared']);
    }
  });

  it('what is resolved by hand before its moment opens at its moment', () => {
    const scenario = expected();
    const resolved = scenario.resolve(scenario.openByHand('arrival_overdue').exception);
    expect(resolved.nextCheckAt).toBe(DUE);
    scenario.at(DUE).check();
    expect(scenario.exceptions).toEqual(['arrival_overdue resolved fixed', 'arrival_overdue open']);
  });

  it('what is resolved by hand while it is so is waited for no more', () => {
    const scenario = expected().at(DUE);
    scenario.check();
    expect(scenario.resolve(scenario.state!.exceptions[0]!).nextCheckAt).toBeNull();
    expect(types(scenario.at(GRAVER).check())).toEqual([]);
  });

  it('acknowledging tells that it is graver by now, and leaves it to whom it was handed', () => {
    const scenario = expected().at(DUE);
    scenario.check();
    const [opened] = scenario.state!.exceptions;
    const before = scenario.acknowledge(opened!, { assignee: 'Kim' });
    expect([types(before), before.exception.severity, before.nextCheckAt]).toEqual([
      ['exception.updated.v1'],
      'medium',
      GRAVER,
    ]);
    const after = scenario.at(GRAVER).acknowledge(opened!, { note: 'Still nothing.' });
    expect(types(after)).toEqual(['exception.updated.v1', 'exception.updated.v1']);
    expect(after.exception).toMatchObject({ status: 'acknowledged', assignee: 'Kim', severity: 'high' });
    expect(scenario.open).toEqual(['arrival_overdue']);
  });

  it('each brings it along', () => {
    const acts: readonly ((scenario: Scenario, other: ShipmentException) => unknown)[] = [
      (scenario) => scenario.openByHand('lost'),
      (scenario, other) => scenario.acknowledge(other),
      (scenario, other) => scenario.resolve(other),
    ];
    for (const act of acts) {
      const scenario = expected();
      const { exception } = scenario.openByHand('other');
      act(scenario.at(DUE), exception);
      expect(scenario.open).toContain('arrival_overdue');
      expect(scenario.state?.nextCheckAt).toBe(GRAVER);
    }
  });
});

describe('a command that comes again', () => {
  const about = (scenario: Scenario) => ({ ...scenario.context(), shipment_id: SHIPMENT_ID });
  const opening = (scenario: Scenario, type: ExceptionType) =>
    ({ ...about(scenario), type: 'OpenException', exception: exceptionInput({ type }) }) as const;

  it('is decided the same, under the same id', () => {
    const scenario = heldUnseen();
    const command = opening(scenario, 'shortage');
    const decided = () => decide(command, scenario.state, contextFor(command.id));
    expect(decided()).toEqual(decided());
  });

  it('is answered by what it stored', () => {
    const scenario = heldUnseen();
    const { exception } = scenario.openByHand('other');
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
      const decided = on.run(command);
      const events = on.events.slice(length);
      const { resultOf } = getHandler(command.type);
      const { exceptionId } = decided as unknown as { readonly exceptionId: string };
      expect([decided, resultOf(events, command)]).toEqual([
        expect.objectContaining({ outcome }),
        { outcome, exceptionId },
      ]);
      for (const [other] of commands) {
        if (other !== command) expect(getHandler(other.type).resultOf(events, other)).toBeUndefined();
      }
    }
  });
});
