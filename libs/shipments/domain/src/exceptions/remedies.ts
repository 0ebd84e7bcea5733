import {
  type DocumentType,
  MILESTONE_CATALOG,
  type MilestoneRules,
  milestoneRules,
  type ResolvedBy,
  type ShipmentStatus,
  type Timestamp,
} from '@tracking/contracts';
import type { ContainerProgress } from '../container-progress.ts';
import type { Derived, StatusSubject } from '../derive.ts';
import { byItself, isDeparture } from '../milestone-meaning.ts';
import { RANK } from '../milestone-summary.ts';
import type { Route } from '../route.ts';
import type { TimelineEntry } from '../state.ts';

/** Which milestones for a container would set right what is wrong with it. */
export interface Remedy {
  /** They may not be dated before it; null where that does not matter. */
  readonly from: Timestamp | null;
  readonly isMilestone: (code: CodeOnRoute) => boolean;
}

/** A code of the catalog, as it counts for a shipment. */
interface CodeOnRoute {
  readonly sequence: number;
  readonly rules: MilestoneRules;
  /** Of the status that it counts as; -1 where it leaves the status alone. */
  readonly rank: number;
  readonly isDeparture: boolean;
}

type Milestones = Pick<ResolvedBy, 'codes' | 'occurred_from'>;

/** The milestones that set right whatever is wrong with several containers at once. */
export function milestonesFor(remedies: readonly Remedy[], route: Route): Milestones {
  const codes = MILESTONE_CATALOG.filter(({ code, sequence }) => {
    const rules = milestoneRules(code);
    const { status } = byItself(rules, route);
    if (status === 'cancelled') return false;
    const rank = status === null ? -1 : RANK[status];
    const onRoute = { sequence, rules, rank, isDeparture: isDeparture(rules, route.mode) };
    return remedies.every(({ isMilestone }) => isMilestone(onRoute));
  });
  return { codes: codes.map(({ code }) => code), occurred_from: remedies[0]?.from ?? null };
}

/** The milestones by which a step is done: those that count as its status or beyond; before delivery an attempt at it too. */
export function stepDone(status: ShipmentStatus, from: Timestamp | null, route: Route): ResolvedBy {
  const isMilestone = ({ rank, rules }: CodeOnRoute) =>
    rank >= RANK[status] || (rules.opens_exception === 'delivery_failed' && RANK[status] < RANK.delivered);
  return byMilestone(milestonesFor([{ from, isMilestone }], route));
}

/** The milestones that take cancellations back: those dated after the last of them. */
export function takingBack(cancellations: readonly TimelineEntry[]): Milestones {
  const codes = MILESTONE_CATALOG.map(({ code }) => code).filter(
    (code) => milestoneRules(code).takes_back === 'cancellation',
  );
  const last = Math.max(...cancellations.map(({ milestone }) => Date.parse(milestone.occurred_at)));
  return { codes, occurred_from: new Date(last + 1).toISOString() };
}

export function byMilestone(milestones: Milestones): ResolvedBy {
  return { ...NOTHING_SAID, by: 'milestone', ...milestones };
}

/** By the correction or retraction of one of them. */
export function byCorrectionOf(...entries: readonly TimelineEntry[]): ResolvedBy {
  return { ...NOTHING_SAID, by: 'correction', milestone_ids: entries.map(({ milestone }) => milestone.id) };
}

/** By another value of one of the shipment's fields, or the container's. */
export function byChangeOf(...fields: readonly string[]): ResolvedBy {
  return { ...NOTHING_SAID, by: 'field_changed', fields };
}

/** By one of each type. */
export function byDocuments(by: 'document_uploaded' | 'document_approved', types: readonly DocumentType[]): ResolvedBy {
  return { ...NOTHING_SAID, by, document_types: types };
}

const NOTHING_SAID = { codes: [], occurred_from: null, milestone_ids: [], fields: [], document_types: [] };
/** By a milestone of any classifier, or another ETA. */
export const BY_NEWS: ResolvedBy = { ...NOTHING_SAID, by: 'news' };
export const CANCELLATION_TAKEN_BACK: ResolvedBy = { ...NOTHING_SAID, by: 'cancellation_taken_back' };
export const CONTAINER_TAKEN_OFF: ResolvedBy = { ...NOTHING_SAID, by: 'container_taken_off' };

// A step is done by its milestone or by any further along: by what counts as its status or a higher one, and by an attempted
// delivery, which leaves the status alone. Feeds skip steps.

/** Whether the goods have left, of whatever container. */
export function hasDeparted({ record, subjects }: Derived): boolean {
  return RANK[record.status] >= RANK.in_transit || subjects.some(isAttempted);
}

/** Whether the goods have arrived, of whatever container; they may have gone on since. */
export function hasArrived({ record, subjects }: Derived): boolean {
  return record.ata !== null || RANK[record.status] >= RANK.arrived || subjects.some(isAttempted);
}

/** Whether the container has left the terminal. */
export function hasLeftTerminal(subject: StatusSubject): boolean {
  return RANK[subject.progress.status] >= RANK.out_for_delivery || isAttempted(subject);
}

export function isDelivered({ status }: Pick<ContainerProgress, 'status'>): boolean {
  return RANK[status] >= RANK.delivered;
}

/** Whether the container is back where it came from, empty or with the goods. */
export function isReturned({ status }: Pick<ContainerProgress, 'status'>): boolean {
  return RANK[status] >= RANK.completed;
}

/** Reports whether a delivery of the container was attempted. */
export function isAttempted({ summaries }: StatusSubject): boolean {
  return summaries.some(({ opening }) => opening['delivery_failed'] !== undefined);
}
