import {
  type AutomaticExceptionType,
  type Container,
  type ExceptionSettings,
  type PlaceLookup,
  type ExceptionResolutionConditions,
  type RuleSettings,
  SEVERITIES,
  type Severity,
  type ShipmentException,
  type ShipmentRecord,
  type TimePrecision,
  type Timestamp,
} from '@tracking/contracts';
import type { DerivedShipment, StatusSubject } from '../derive.ts';
import type { DocumentState, TimelineEntry } from '../state.ts';

/** Inputs of the exception rules. */
export interface ExceptionRuleFacts {
  readonly derived: DerivedShipment;
  readonly timeline: readonly TimelineEntry[];
  /** Time when the last milestone or estimated arrival was received; null if none was received. */
  readonly lastNewsAt: Timestamp | null;
  /** All documents, including deleted ones. */
  readonly documents: readonly DocumentState[];
  /** Document types that the workspace requires, by mode. */
  readonly requiredDocuments: RuleSettings['required_documents'];
  readonly places: PlaceLookup;
}

/** A problem of a shipment or container that exists now or will exist later. */
export interface CurrentOrFutureProblem {
  readonly container_number: string | null;
  /** The milestone that shows the problem. */
  readonly milestone: TimelineEntry | null;
  /**
   * Text of the exception, stored in events. Changing the wording updates every open exception, and webhooks announce
   * these updates.
   */
  readonly detail: string;
  /** Time when the problem begins; absent if it exists already. */
  readonly opens_at?: Timestamp;
  /** Deadline of the problem; set if its exception opens some hours before the deadline. */
  readonly due_at?: Timestamp;
  /** Minimum severity of the exception, regardless of the workspace's settings. */
  readonly severity?: Severity;
  /** Minimum severity of the exception from a given time on. */
  readonly worsens?: { readonly at: Timestamp; readonly severity: Severity };
  /** Values that the rule measured. */
  readonly metrics?: ShipmentException['metrics'];
  /** Returns true if the problem is worse than when a person resolved its exception, so that a new exception opens. */
  readonly isGraverThan?: (resolved: ShipmentException['metrics']) => boolean;
  /**
   * Returns resolutions of the problem that are specific to it, in addition to those that every exception has. Only
   * explanations call this function.
   */
  readonly resolvedBy: () => readonly ExceptionResolutionConditions[];
}

/** Returns the highest of the severities. */
export function getHighestSeverity(severity: Severity, ...others: readonly (Severity | undefined)[]): Severity {
  return others.reduce<Severity>((most, each) => {
    return each !== undefined && SEVERITIES.indexOf(each) > SEVERITIES.indexOf(most) ? each : most;
  }, severity);
}

/** A rule. Its exception opens while its condition exists, and resolves when the condition ends. */
export interface ExceptionRule {
  readonly type: AutomaticExceptionType;
  /** True for rules about cancelled shipments. All other rules are off while a shipment is cancelled. */
  readonly afterCancel?: true;
  /** Returns the findings of the rule: at most one per container, or one for the shipment. */
  readonly find: (facts: ExceptionRuleFacts, settings: ExceptionSettings) => readonly CurrentOrFutureProblem[];
}

export type FindFindings = ExceptionRule['find'];

/** A rule that runs for each container, or once for a shipment without containers. */
type SubjectRule = (
  subject: StatusSubject & { readonly container: Container | undefined },
  facts: ExceptionRuleFacts,
  settings: ExceptionSettings,
) => Omit<CurrentOrFutureProblem, 'container_number'> | undefined;

export function applyRuleToEachSubject(rule: SubjectRule): FindFindings {
  return (facts, settings) =>
    facts.derived.subjects.flatMap((subject, index) => {
      const container = facts.derived.record.containers[index];
      const finding = rule({ ...subject, container }, facts, settings);
      return finding === undefined ? [] : [{ container_number: subject.container_number, ...finding }];
    });
}

const MAX_HOURS_DUE_BEFORE_SHIPMENT_CREATED = 30 * 24;

/**
 * Returns the earliest due time for which findings open exceptions, so that an import of old shipments does not open
 * very many exceptions.
 */
export function computeEarliestDueTimeOpeningException({ created_at }: Pick<ShipmentRecord, 'created_at'>): Timestamp {
  return addHoursToTimestamp(created_at, -MAX_HOURS_DUE_BEFORE_SHIPMENT_CREATED);
}

/** Returns the hours after which a rule opens an exception, for the mode of the shipment. */
export function getRuleHours(
  { by_mode, after_hours }: ExceptionSettings,
  { mode }: Pick<ShipmentRecord, 'mode'>,
): number {
  return (mode === null ? undefined : by_mode[mode]) ?? after_hours ?? 0;
}

export const HOUR_MS = 3_600_000;

/** @param hours number of hours; may be fractional or negative */
export function addHoursToTimestamp(time: Timestamp, hours: number): Timestamp {
  return new Date(Date.parse(time) + Math.round(hours * HOUR_MS)).toISOString();
}

/** Returns the time from which something expected is late: its time, or the end of its day. */
export function computeTimeWhenLate(expected: Timestamp, precision: TimePrecision): Timestamp {
  return precision === 'day' ? getNextMillisecond(expected) : expected;
}

/** Returns the first time after the given one; `''` for `''`. */
export function getNextMillisecond(time: Timestamp): Timestamp {
  return time === '' ? '' : new Date(Date.parse(time) + 1).toISOString();
}
