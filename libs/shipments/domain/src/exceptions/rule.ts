import type {
  AutomaticExceptionType,
  Container,
  ExceptionSettings,
  Places,
  ResolvedBy,
  RuleSettings,
  Severity,
  ShipmentException,
  ShipmentRecord,
  Timestamp,
} from '@tracking/contracts';
import type { Derived, StatusSubject } from '../derive.ts';
import type { DocumentInHand, TimelineEntry } from '../state.ts';
import { hoursAfter } from './moments.ts';

/** What rules go by. */
export interface RuleFacts {
  readonly derived: Derived;
  readonly timeline: readonly TimelineEntry[];
  /** When a milestone or an estimated arrival was last heard of; null if never. */
  readonly heardAt: Timestamp | null;
  /** All there ever were. */
  readonly documents: readonly DocumentInHand[];
  /** Types that the workspace asks for, by mode. */
  readonly requiredDocuments: RuleSettings['required_documents'];
  readonly places: Places;
}

/** Something that is wrong now, or will be. */
export interface Finding {
  readonly container_number: string | null;
  /** What showed it. */
  readonly milestone: TimelineEntry | null;
  readonly detail: string;
  /** From when on; absent where it is so already. */
  readonly opens_at?: Timestamp;
  /** The time or day it is about, where it opens some hours before that. */
  readonly due_at?: Timestamp;
  /** At least so grave, whatever the workspace set. */
  readonly severity?: Severity;
  /** From when on at least so grave. */
  readonly worsens?: { readonly at: Timestamp; readonly severity: Severity };
  /** What was measured. */
  readonly metrics?: ShipmentException['metrics'];
  /** Whether it is another thing than what was measured when a person resolved it, although it never ended. */
  readonly isGraverThan?: (resolved: ShipmentException['metrics']) => boolean;
  /** What would resolve it, beside what resolves any. Asked only by who explains. */
  readonly resolvedBy: () => readonly ResolvedBy[];
}

/** An exception that opens while its condition holds and resolves when it no longer does. */
export interface Rule {
  readonly type: AutomaticExceptionType;
  /** Whether it is about what happens to a cancelled shipment; all others rest then. */
  readonly afterCancel?: true;
  /** At most one per container (or for the shipment). */
  readonly find: (facts: RuleFacts, settings: ExceptionSettings) => readonly Finding[];
}

/** What a rule looks for. */
export type Find = Rule['find'];

/** A rule for containers runs for each; without any, once. */
type SubjectRule = (
  subject: StatusSubject & { readonly container: Container | undefined },
  facts: RuleFacts,
  settings: ExceptionSettings,
) => Omit<Finding, 'container_number'> | undefined;

export function forEachSubject(rule: SubjectRule): Find {
  return (facts, settings) =>
    facts.derived.subjects.flatMap((subject, index) => {
      const container = facts.derived.record.containers[index];
      const finding = rule({ ...subject, container }, facts, settings);
      return finding === undefined ? [] : [{ container_number: subject.container_number, ...finding }];
    });
}

const LEFT_ALONE_HOURS = 30 * 24;

/** Whatever was due before this time does not open: importing old shipments raises no storm. */
export function oldestDue({ created_at }: Pick<ShipmentRecord, 'created_at'>): Timestamp {
  return hoursAfter(created_at, -LEFT_ALONE_HOURS);
}

/** After so many hours a rule opens for shipments of a mode. */
export function hoursOf({ by_mode, after_hours }: ExceptionSettings, { mode }: Pick<ShipmentRecord, 'mode'>): number {
  return (mode === null ? undefined : by_mode[mode]) ?? after_hours ?? 0;
}
