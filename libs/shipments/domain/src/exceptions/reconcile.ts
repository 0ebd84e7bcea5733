import {
  type Actor,
  EXCEPTION_TITLES,
  chooseLatestTime,
  type RuleSettings,
  type Severity,
  type ShipmentException,
  type Timestamp,
} from '@tracking/contracts';
import { computeAnnouncedChanges, isSameJson } from '../changes.ts';
import { SHIPMENT_LIMITS } from '../check-shipment.ts';
import type { DecideContext, Decision } from '../commands/command.ts';
import { createShipmentChangedEvent } from '../changed-event.ts';
import { deriveShipment, type DerivedShipment } from '../derive.ts';
import { createDocumentExpiryEvents } from '../documents.ts';
import { findStoredEventDescriptor, type ShipmentEventBody } from '../events/stored-events.ts';
import { applyDocumentChanges } from '../evolve.ts';
import { RuleExceptionByteBudget } from './append-budget.ts';
import { EXCEPTION_RULES } from './exception-rules.ts';
import {
  type CurrentOrFutureProblem,
  computeEarliestDueTimeOpeningException,
  getHighestSeverity,
  type ExceptionRule,
  type ExceptionRuleFacts,
} from './rule.ts';
import type { DocumentState, ShipmentState, TimelineEntry } from '../state.ts';
import { createMilestoneSupersededEvents } from '../superseded-events.ts';

/** Actor of changes that rules make. */
const RULES_ACTOR: Actor = { type: 'system', id: 'system' };

/** Context of the command with which exceptions open or resolve. */
interface ExceptionReconciliationContext extends DecideContext {
  /** Time of the command. */
  readonly at: Timestamp;
}

/** The shipment after a command, without the changes of its exceptions. */
interface ShipmentAfterCommand {
  readonly derived: DerivedShipment;
  readonly timeline: readonly TimelineEntry[];
  /** Events that the command has produced so far. */
  readonly events: readonly ShipmentEventBody[];
}

type Reconciled = Pick<Decision, 'events' | 'nextCheckAt'>;

/**
 * Appends the events that open, update and resolve exceptions to the events of a command. They include changes caused
 * by time since the last check. At most one exception per type and container is unresolved. Cancelling resolves all
 * exceptions.
 * @param before state before the command; undefined if the shipment is new
 */
export function reconcileExceptions(
  before: ShipmentState | undefined,
  decided: ShipmentAfterCommand,
  occasion: ExceptionReconciliationContext,
): Reconciled {
  const isNews = decided.events.some(({ type, data }) => findStoredEventDescriptor(type).isNews?.(data) === true);
  const lastNewsAt = isNews ? chooseLatestTime(occasion.at, before?.lastNewsAt ?? '') : (before?.lastNewsAt ?? null);
  const documents = applyDocumentChanges(before?.documents ?? [], decided.events);
  const findings = collectExceptionFindings(
    { ...decided, lastNewsAt, documents, places: occasion.places },
    occasion.settings,
  );
  return new ExceptionReconciler(before, decided, occasion, findings).reconcileAllExceptions(documents);
}

/**
 * Appends changes of derived fields and of exceptions to the events of a command that changes no milestones or times.
 * @param after state after the events, before derived fields are updated
 */
export function addEventsOfDerivedChanges(
  at: Timestamp,
  after: ShipmentState,
  events: readonly ShipmentEventBody[],
  context: DecideContext,
): Pick<Decision, 'events' | 'nextCheckAt'> {
  const { record, timeline } = after;
  const derived = deriveShipment(after, context.places);
  const changes = computeAnnouncedChanges(record, derived.record);
  const all = changes === undefined ? events : [...events, createShipmentChangedEvent(changes, derived)];
  return reconcileExceptions(after, { derived, timeline, events: all }, { ...context, at });
}

/** Returns the findings of all enabled rules, by exception type and container. */
export function collectExceptionFindings(
  known: Omit<ExceptionRuleFacts, 'requiredDocuments'>,
  { exceptions, required_documents: requiredDocuments }: RuleSettings,
): Map<string, RuleFinding> {
  const facts = { ...known, requiredDocuments };
  const { record } = facts.derived;
  const isCancelled = record.status === 'cancelled';
  const oldest = computeEarliestDueTimeOpeningException(record);
  const findings = new Map<string, RuleFinding>();
  for (const rule of EXCEPTION_RULES) {
    const settings = exceptions[rule.type];
    if (!settings.enabled || isCancelled !== (rule.afterCancel ?? false)) continue;
    for (const finding of rule.find(facts, settings)) {
      const due = finding.due_at ?? finding.opens_at;
      if (due !== undefined && due < oldest) continue;
      findings.set(createFindingKey(rule.type, finding.container_number), {
        rule,
        finding,
        severity: settings.severity,
      });
    }
  }
  return findings;
}

export interface RuleFinding {
  readonly rule: ExceptionRule;
  readonly finding: CurrentOrFutureProblem;
  /** Severity from the workspace's settings. The finding may require a higher severity. */
  readonly severity: Severity;
}

export function createFindingKey(type: string, container: string | null): string {
  return `${type} ${container ?? ''}`;
}

/** Returns true if the problem of the finding exists at the given time. */
function isFindingProblemPresent({ opens_at }: CurrentOrFutureProblem, now: Timestamp): boolean {
  return opens_at === undefined || opens_at <= now;
}

/**
 * Returns true if a person resolved the exception of the finding and the problem is not worse since then. No new
 * exception opens in this case.
 */
export function isSuppressedByResolution(
  exception: ShipmentException,
  { finding }: RuleFinding,
  now: Timestamp,
): boolean {
  const { resolution, metrics } = exception;
  return (
    isResolvedByPerson(resolution) && isFindingProblemPresent(finding, now) && finding.isGraverThan?.(metrics) !== true
  );
}

/** Compares the exceptions of one shipment with the findings of the rules. Collects the events that make them equal. */
class ExceptionReconciler {
  private readonly events: ShipmentEventBody[];
  /** Time of the changes. It is not before `updated_at` of the shipment, because the clocks of machines differ. */
  private readonly now: Timestamp;
  private readonly isCancelled: boolean;
  private readonly ended: string[] = [];
  /** Keys of findings that a person has resolved and whose problem is not worse since then. */
  private readonly kept = new Set<string>();
  private open: number;
  private nextCheckAt: Timestamp | null = null;
  private readonly budget: RuleExceptionByteBudget;

  constructor(
    private readonly before: ShipmentState | undefined,
    private readonly decided: ShipmentAfterCommand,
    private readonly occasion: ExceptionReconciliationContext,
    private readonly findings: Map<string, RuleFinding>,
  ) {
    const { at } = occasion;
    const { record } = decided.derived;
    this.events = [...decided.events];
    this.budget = new RuleExceptionByteBudget(decided.events);
    this.now = before !== undefined && before.record.updated_at > at ? before.record.updated_at : at;
    this.isCancelled = record.status === 'cancelled';
    this.open = record.open_exceptions_count;
  }

  reconcileAllExceptions(documents: readonly DocumentState[]): Reconciled {
    const { expired, next } = createDocumentExpiryEvents(documents, this.now);
    this.events.push(...createMilestoneSupersededEvents(this.decided.derived, this.decided), ...expired);
    this.setNextCheckTimeIfEarlier(next);
    const present = this.before?.exceptions ?? [];
    for (const exception of present) {
      if (exception.status === 'resolved') this.suppressFindingOfResolvedException(exception);
      else this.reconcileExceptionWithFinding(exception);
    }
    const room = Math.max(0, SHIPMENT_LIMITS.exceptions - present.length);
    const due = [...this.findings.values()].filter((found) => this.isFindingDueOrScheduleCheck(found));
    // Exceptions opened by the command itself have the first indexes, so rules start after them.
    const opened = this.events.filter(({ type }) => type === 'exception.opened.v1').length;
    for (const [index, found] of due.slice(0, room).entries()) {
      if (!this.addEventIfItFits(this.createExceptionOpenedEvent(found, opened + index))) break;
      this.open += 1;
    }
    if (this.ended.length > 0) {
      this.events.push({ type: 'exception.conditions_ended.v1', data: { exception_ids: this.ended } });
    }
    return { events: this.events, nextCheckAt: this.nextCheckAt };
  }

  /** Lets an exception that a person resolved suppress new exceptions until its condition has ended once. */
  private suppressFindingOfResolvedException(exception: ShipmentException): void {
    const rule = EXCEPTION_RULES.find(({ type }) => type === exception.type);
    const { id, resolution } = exception;
    if (rule === undefined || !isResolvedByPerson(resolution) || this.before?.endedConditions.has(id) === true) return;
    const key = createFindingKey(exception.type, exception.container_number);
    // An earlier resolved exception already suppresses the finding.
    if (this.kept.has(key)) return;
    const found = this.findings.get(key);
    if (found !== undefined && isSuppressedByResolution(exception, found, this.now)) {
      this.kept.add(key);
      this.findings.delete(key);
    } else if (!this.isCancelled || rule.afterCancel === true) {
      // Rules are off while the shipment is cancelled, so a missing finding does not end the condition.
      this.ended.push(id);
    }
  }

  private reconcileExceptionWithFinding(exception: ShipmentException): void {
    const key = createFindingKey(exception.type, exception.container_number);
    const found = this.findings.get(key);
    const code = this.chooseResolutionCode(exception, found);
    // The finding is kept, because a new exception may be due.
    if (code !== undefined) return this.resolveException(exception, code);
    this.findings.delete(key);
    if (found === undefined || exception.rule === null) return;
    const described = this.toExceptionFieldsOfRule(found);
    const { detail, milestone_id, reason_code } = exception;
    // The exception still names the milestone that revealed the problem, even if the client has set the same time since.
    const showed = described.milestone_id === null && described.detail === detail && { milestone_id, reason_code };
    const current = { ...exception, ...described, ...showed };
    if (isSameJson(current, exception)) return;
    this.addEventIfItFits({
      type: 'exception.updated.v1',
      data: { exception: current, previous: exception, note: null },
    });
  }

  /** Adds the event if it fits into the append. Otherwise the next check, which is due immediately, adds it. */
  private addEventIfItFits(event: ShipmentEventBody): boolean {
    const hasRoom = this.budget.reserveAppendBytesForEvent(event);
    if (hasRoom) this.events.push(event);
    else this.setNextCheckTimeIfEarlier(this.now);
    return hasRoom;
  }

  private chooseResolutionCode({ rule, container_number }: ShipmentException, found: RuleFinding | undefined) {
    const { container_numbers } = this.decided.derived.record;
    if (this.isCancelled && this.before?.record.status !== 'cancelled') return 'shipment_cancelled';
    const isOnShipment = container_number === null || container_numbers.includes(container_number);
    const isWrong = rule === null || (found !== undefined && isFindingProblemPresent(found.finding, this.now));
    return isOnShipment && isWrong ? undefined : 'auto_cleared';
  }

  private resolveException(exception: ShipmentException, code: 'auto_cleared' | 'shipment_cancelled'): void {
    const resolution = { code, note: null, by: RULES_ACTOR };
    const { id: exception_id } = exception;
    const data = { exception_id, resolution, resolved_at: this.occasion.at, open_exceptions_count: --this.open };
    this.events.push({ type: 'exception.resolved.v2', data });
  }

  private isFindingDueOrScheduleCheck({ finding }: RuleFinding): boolean {
    if (isFindingProblemPresent(finding, this.now)) return true;
    this.setNextCheckTimeIfEarlier(finding.opens_at);
    return false;
  }

  private createExceptionOpenedEvent(found: RuleFinding, index: number): ShipmentEventBody {
    const { rule, finding } = found;
    const exception: ShipmentException = {
      id: this.occasion.newId('exc', index),
      shipment_id: this.decided.derived.record.id,
      container_number: finding.container_number,
      type: rule.type,
      status: 'open',
      title: EXCEPTION_TITLES[rule.type],
      detected_by: 'system',
      rule: rule.type,
      assignee: null,
      resolution: null,
      opened_at: this.occasion.at,
      acknowledged_at: null,
      resolved_at: null,
      ...this.toExceptionFieldsOfRule(found),
    };
    return { type: 'exception.opened.v1', data: { exception, open_exceptions_count: this.open + 1 } };
  }

  /** Returns the fields of an exception that its rule sets. */
  private toExceptionFieldsOfRule({ finding, severity }: RuleFinding) {
    const { detail, milestone, metrics = {}, worsens } = finding;
    const isWorse = worsens !== undefined && worsens.at <= this.now;
    if (!isWorse) this.setNextCheckTimeIfEarlier(worsens?.at);
    return {
      severity: getHighestSeverity(severity, finding.severity, isWorse ? worsens.severity : undefined),
      detail,
      milestone_id: milestone?.milestone.id ?? null,
      reason_code: milestone?.milestone.reason_code ?? null,
      metrics,
    };
  }

  private setNextCheckTimeIfEarlier(time: Timestamp | undefined): void {
    if (time === undefined || (this.nextCheckAt !== null && this.nextCheckAt <= time)) return;
    this.nextCheckAt = time;
  }
}

function isResolvedByPerson(resolution: ShipmentException['resolution']): boolean {
  return resolution !== null && resolution.code !== 'auto_cleared' && resolution.code !== 'shipment_cancelled';
}
