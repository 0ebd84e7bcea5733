import {
  type AutomaticExceptionType,
  type ExceptionSettings,
  type Places,
  type ResolvedBy,
  type Severity,
  type ShipmentException,
  type ShipmentRecord,
  type Timestamp,
  milestoneRules,
} from '@tracking/contracts';
import type { Derived, StatusSubject } from '../derive.ts';
import { type ContainerProgress, latest } from '../container-progress.ts';
import type { TimelineEntry } from '../state.ts';
import { isSailingOn } from '../milestone-meaning.ts';
import { RANK, earlier, later } from '../milestone-summary.ts';
import {
  CANCELLATION_TAKEN_BACK,
  type Remedy,
  byCorrectionOf,
  byMilestone,
  milestonesFor,
  takingBack,
} from './remedies.ts';

/** What rules go by. */
export interface RuleFacts {
  readonly derived: Derived;
  readonly timeline: readonly TimelineEntry[];
  /** When a milestone or an estimated arrival was last heard of; null if never. */
  readonly heardAt: Timestamp | null;
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

const DAY_MS = 24 * 3_600_000;

/** Rules that need neither a clock nor documents. */
export const RULES: readonly Rule[] = [
  { type: 'customs_hold', find: forEachNamed('customs_hold', customsHold) },
  { type: 'delivery_failed', find: forEachNamed('delivery_failed', deliveryFailed) },
  { type: 'milestone_conflict', find: milestoneConflict },
  { type: 'movement_after_cancel', afterCancel: true, find: movementAfterCancel },
  { type: 'invalid_container_number', find: ({ derived }) => derived.record.containers.flatMap(invalidNumber) },
];

/** A rule for containers runs for each; without any, once. */
type SubjectRule = (subject: StatusSubject) => Omit<Finding, 'container_number'> | undefined;

function forEachSubject(rule: SubjectRule): Rule['find'] {
  return ({ derived }) =>
    derived.subjects.flatMap((subject) => {
      const finding = rule(subject);
      return finding === undefined ? [] : [{ container_number: subject.container_number, ...finding }];
    });
}

/**
 * For each container that milestones which open exceptions of the type name; those that name none are the shipment's, and count as long as they do
 * for any container.
 */
function forEachNamed(type: string, rule: NamedRule): Rule['find'] {
  return ({ derived: { subjects, analysis } }) => {
    const find = (milestone: TimelineEntry | undefined, among: readonly StatusSubject[]): readonly Finding[] => {
      if (milestone === undefined) return [];
      const wrongs = among.flatMap((subject) => rule(milestone, subject) ?? []);
      const [wrong] = wrongs;
      if (wrong === undefined) return [];
      const { container_number } = milestone.milestone;
      const resolvedBy = () => [byMilestone(milestonesFor(wrongs, analysis.route)), byCorrectionOf(milestone)];
      return [{ container_number, milestone, detail: wrong.detail, resolvedBy }];
    };
    const named = subjects.flatMap((subject) =>
      find(analysis.named.get(subject.container_number ?? '')?.opening[type], [subject]),
    );
    return [...find(analysis.unnamed.opening[type], subjects), ...named];
  };
}

/** What is wrong, and which milestones would set it right; undefined when nothing is. */
type NamedRule = (entry: TimelineEntry, subject: StatusSubject) => Remedy | undefined;

/**
 * A hold or inspection without the clearance of its kind dated at or after it: before the first departure that of export,
 * which a departure shows too, after it that of import. Feeds skip steps: without a departure whatever happened after it
 * tells of one, the clearance of import too.
 */
function customsHold({ milestone }: TimelineEntry, { summaries, progress }: StatusSubject): Remedy | undefined {
  const held = milestone.occurred_at;
  const left = summaries.map(({ firstDeparted }) => firstDeparted).reduce(earlier, undefined);
  const departed = left ?? summaries.map(({ underWay }) => underWay).reduce(earlier, undefined);
  const cleared = latest(summaries, 'importCleared') >= held;
  const hasLeft =
    departed === undefined ? latest(summaries, 'exportCleared') >= held : held <= departed.milestone.occurred_at;
  if (cleared || hasLeft || isDelivered(progress)) return undefined;
  return {
    detail: `${milestone.label} since ${held}.`,
    from: held,
    isMilestone: ({ rules, rank, isDeparture }) =>
      rules.clears === 'import' ||
      rank >= RANK.available_for_pickup ||
      (left === undefined && isDeparture) ||
      (departed === undefined && (rules.clears === 'export' || rank >= RANK.in_transit)),
  };
}

function deliveryFailed({ milestone }: TimelineEntry, { progress }: StatusSubject): Remedy | undefined {
  if (isDelivered(progress)) return undefined;
  const detail = `Delivery attempted at ${milestone.occurred_at}.`;
  return { detail, from: null, isMilestone: ({ rank }) => rank >= RANK.delivered };
}

function isDelivered({ status }: ContainerProgress): boolean {
  return RANK[status] >= RANK.delivered;
}

/** The end dated more than a day before a movement; and a cancellation that came after delivery. */
function milestoneConflict(facts: RuleFacts, settings: ExceptionSettings): readonly Finding[] {
  const findings = forEachSubject(({ summaries }) => {
    const ended = summaries.map((summary) => summary.ended).reduce(earlier, undefined);
    const moved = summaries.map((summary) => summary.movement).reduce(later, undefined);
    if (ended === undefined || moved === undefined) return undefined;
    const { milestone: end } = ended;
    const { milestone: movement } = moved;
    if (Date.parse(movement.occurred_at) - Date.parse(end.occurred_at) <= DAY_MS) return undefined;
    const detail = `${end.label} at ${end.occurred_at}, but ${movement.label} at ${movement.occurred_at}.`;
    return { milestone: ended, detail, resolvedBy: () => [byCorrectionOf(ended, moved)] };
  })(facts, settings);
  const { cancellations } = facts.derived.analysis;
  const cancellation = cancellations[0];
  if (cancellation === undefined || findings.some(({ container_number }) => container_number === null)) return findings;
  const detail = `Cancelled at ${cancellation.milestone.occurred_at}, but the shipment was delivered before.`;
  const resolvedBy = () => [byMilestone(takingBack(cancellations)), byCorrectionOf(...cancellations)];
  return [...findings, { container_number: null, milestone: cancellation, detail, resolvedBy }];
}

/** For the container that the movement names, or for the shipment. Goes by when milestones came, not by their dates. */
function movementAfterCancel({ derived, timeline }: RuleFacts): readonly Finding[] {
  const { analysis, record, cancellation } = derived;
  if (cancellation === undefined) return [];
  const found = new Map<string | null, TimelineEntry>();
  const present = new Set<string | null>([null, ...record.container_numbers]);
  for (const entry of timeline) {
    const { classifier, code, container_number, retracted_at } = entry.milestone;
    if (entry.recorded < cancellation.since || classifier !== 'actual' || retracted_at !== null) continue;
    if (
      milestoneRules(code).movement === undefined ||
      isSailingOn(entry, analysis.route) ||
      !present.has(container_number)
    )
      continue;
    const other = found.get(container_number);
    if (other === undefined || entry.recorded < other.recorded) found.set(container_number, entry);
  }
  return [...found].map(([container_number, milestone]) => ({
    container_number,
    milestone,
    detail: `${milestone.milestone.label} at ${milestone.milestone.occurred_at}, although the shipment is cancelled.`,
    resolvedBy: () => [CANCELLATION_TAKEN_BACK, byCorrectionOf(milestone)],
  }));
}

function invalidNumber(container: ShipmentRecord['containers'][number]): readonly Finding[] {
  if (container.valid_check_digit !== false) return [];
  const detail = `${container.number} has a wrong check digit.`;
  return [{ container_number: container.number, milestone: null, detail, resolvedBy: () => [] }];
}
