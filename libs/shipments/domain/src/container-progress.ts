import { type ShipmentStatus, SHIPMENT_STATUSES, type StatusRule, type Timestamp } from '@tracking/contracts';
import {
  STATUS_DEMOTIONS,
  type DemotableKind,
  type StatusDemotionRule,
  type StatusDemotionTimes,
  STATUS_BY_KIND_BEFORE_DEMOTION,
  isAfterDemotionTurningPoint,
  isArrivalDemotedByDeparture,
} from './status-demotions.ts';
import type { ShipmentRoute } from './route.ts';
import { getOccurredAt, type TimelineEntry } from './state.ts';
import { findFirstMatchingEntryIndex } from './timeline.ts';
import { findArrivalWithoutDeparture, computeMilestoneDemotionTimes } from './turning-points.ts';
import {
  TIME_BEFORE_ALL_TIMESTAMPS,
  STATUS_RANKS,
  type SummaryOfMilestones,
  chooseEarlierTimelineEntry,
  findFirstEntryAtOrAfter,
  chooseLaterEntry,
} from './milestone-summary.ts';

/** A status, with the milestone that set it and the rule that decided it. */
export interface DecidedStatus {
  readonly status: ShipmentStatus;
  /** The milestone that set the status; null for `pending`. */
  readonly milestone: TimelineEntry | null;
  readonly rule: StatusRule;
}

/** Progress of one container, or of a shipment without containers. */
export interface ComputedContainerProgress extends DecidedStatus {
  /** Earliest milestone for each status, by rank of the status. */
  readonly reached: readonly (TimelineEntry | undefined)[];
  /** Times at which its milestones demote other milestones. */
  readonly points: StatusDemotionTimes;
  readonly times: ContainerTimes;
  /** The discharge at the terminal where the container is, and the gate-out from that terminal. */
  readonly discharge: TimelineEntry | undefined;
  readonly gateOut: TimelineEntry | undefined;
}

/** Times of a container. Each time is that of the earliest milestone of its kind that counts. */
interface ContainerTimes {
  readonly discharged_at: Timestamp | null;
  readonly available_at: Timestamp | null;
  readonly gated_out_at: Timestamp | null;
  readonly delivered_at: Timestamp | null;
  readonly empty_returned_at: Timestamp | null;
}

/**
 * Computes the progress of a container. Its status is the highest rank that a milestone reaches after `STATUS_DEMOTIONS`.
 * @param summaries summaries of the container's milestones and of the milestones without a container
 */
export function computeContainerProgress(
  summaries: readonly SummaryOfMilestones[],
  route: ShipmentRoute,
): ComputedContainerProgress {
  const points = computeMilestoneDemotionTimes(summaries, route);
  const basis = { points, route };
  const sailed = findLatestMilestoneTime(summaries, 'sailed');
  const reached: (TimelineEntry | undefined)[] = [];
  const reach = (rank: number, entry: TimelineEntry | undefined): void => {
    if (entry !== undefined) reached[rank] = chooseEarlierTimelineEntry(reached[rank], entry);
  };
  let discharge: TimelineEntry | undefined;
  let landing: TimelineEntry | undefined;
  let gateOut: TimelineEntry | undefined;
  let delivery: TimelineEntry | undefined;
  let emptyReturn: TimelineEntry | undefined;
  for (const summary of summaries) {
    const { fixed, discharged, gatedOut, delivered, emptyReturned } = summary;
    for (let rank = 0; rank < fixed.length; rank++) reach(rank, fixed[rank]);
    for (const kind of Object.keys(summary.demotable) as DemotableKind[]) {
      const entries = summary.demotable[kind];
      if (entries !== undefined) applyDemotableMilestones(entries, kind, basis, reach);
    }
    discharge = chooseEarlierTimelineEntry(discharge, findFirstEntryAtOrAfter(discharged, points.departed));
    landing = chooseEarlierTimelineEntry(landing, findDischargeFromLastVessel(summary, sailed, points));
    gateOut = chooseEarlierTimelineEntry(gateOut, findFirstEntryAtOrAfter(gatedOut, points.railDeparted));
    delivery = chooseEarlierTimelineEntry(delivery, delivered);
    emptyReturn = chooseEarlierTimelineEntry(emptyReturn, emptyReturned);
  }
  const rank = reached.findLastIndex((entry) => entry !== undefined);
  return {
    status: getStatusOfRank(rank),
    milestone: reached[rank] ?? null,
    rule: rank > 0 ? 'highest_rank' : 'no_milestone',
    reached,
    points,
    discharge,
    gateOut,
    times: {
      discharged_at: getOccurredAt(landing),
      available_at: getOccurredAt(reached[STATUS_RANKS.available_for_pickup]),
      gated_out_at: getOccurredAt(gateOut),
      delivered_at: getOccurredAt(delivery),
      empty_returned_at: getOccurredAt(emptyReturn),
    },
  };
}

/**
 * Finds the discharge from the last vessel. A discharge at a port on the way counts only if the goods continue by land
 * from that port, as legs or a later train show.
 */
function findDischargeFromLastVessel(
  { discharged, landed, passed }: SummaryOfMilestones,
  sailed: Timestamp,
  { railDeparted }: StatusDemotionTimes,
): TimelineEntry | undefined {
  const known = chooseEarlierTimelineEntry(
    findFirstEntryAtOrAfter(discharged, sailed),
    findFirstEntryAtOrAfter(landed, sailed),
  );
  const passing = findFirstEntryAtOrAfter(passed, sailed);
  return passing !== undefined && passing.milestone.occurred_at < railDeparted
    ? chooseEarlierTimelineEntry(known, passing)
    : known;
}

/**
 * Applies the milestones of one kind: the earliest milestone of each demotion, and the earliest milestone without a
 * demotion. Entries are sorted by time.
 */
function applyDemotableMilestones(
  entries: readonly TimelineEntry[],
  kind: DemotableKind,
  { points, route }: { readonly points: StatusDemotionTimes; readonly route: ShipmentRoute },
  reach: (rank: number, entry: TimelineEntry | undefined) => void,
): void {
  let place = 0;
  const stretches: readonly StatusDemotionRule[] = STATUS_DEMOTIONS[kind];
  for (const stretch of stretches) {
    const first = entries[place];
    if (first === undefined || isAfterDemotionTurningPoint(stretch, points, first.milestone.occurred_at)) continue;
    if (stretch.status !== null) reach(STATUS_RANKS[stretch.status], first);
    place = findFirstMatchingEntryIndex(entries, ({ occurred_at }) =>
      isAfterDemotionTurningPoint(stretch, points, occurred_at),
    );
  }
  const staying = isArrivalDemotedByDeparture(kind)
    ? findArrivalWithoutDeparture(entries, place, points, route)
    : entries[place];
  if (staying !== entries[place]) reach(STATUS_RANKS.in_transit, entries[place]);
  reach(STATUS_RANKS[STATUS_BY_KIND_BEFORE_DEMOTION[kind]], staying);
}

/**
 * Returns the shipment's status from the statuses of its containers. Once all containers are delivered or beyond, it is
 * the lowest status; before that, it is the highest, but at most `out_for_delivery`.
 * @param progresses progress of each container, at least one
 */
export function computeShipmentStatus(progresses: readonly ComputedContainerProgress[]): DecidedStatus {
  const ranks = progresses.map(({ status }) => STATUS_RANKS[status]);
  const lowest = Math.min(...ranks);
  if (lowest >= STATUS_RANKS.delivered) {
    // The container that reached the status last sets it for the shipment.
    const setters = progresses
      .filter(({ status }) => STATUS_RANKS[status] === lowest)
      .map(({ milestone }) => milestone);
    return {
      status: getStatusOfRank(lowest),
      milestone: setters.reduce<TimelineEntry | undefined>(chooseLaterTimelineEntry, undefined) ?? null,
      rule: progresses.length === 1 ? 'highest_rank' : 'lowest_of_delivered',
    };
  }
  const highest = Math.max(...ranks);
  const rank = Math.min(highest, STATUS_RANKS.out_for_delivery);
  let milestone: TimelineEntry | undefined;
  for (const { reached } of progresses) {
    for (let each = rank; each <= highest && rank > 0; each++)
      milestone = chooseEarlierTimelineEntry(milestone, reached[each]);
  }
  return { status: getStatusOfRank(rank), milestone: milestone ?? null, rule: chooseStatusRule(rank, highest) };
}

function chooseStatusRule(rank: number, highest: number): StatusRule {
  if (rank < highest) return 'not_all_delivered';
  return rank > 0 ? 'highest_rank' : 'no_milestone';
}

function chooseLaterTimelineEntry(a: TimelineEntry | undefined, b: TimelineEntry | null): TimelineEntry | undefined {
  return chooseLaterEntry(a, b ?? undefined);
}

function getStatusOfRank(rank: number): ShipmentStatus {
  return SHIPMENT_STATUSES[rank] ?? 'pending';
}

/** Returns the latest time of a kind; `TIME_BEFORE_ALL_TIMESTAMPS` if there is none. */
export function findLatestMilestoneTime(
  summaries: readonly SummaryOfMilestones[],
  kind:
    | 'railDeparted'
    | 'sailed'
    | 'onward'
    | 'exportCleared'
    | 'importCleared'
    | 'loadedMovement'
    | 'terminalReleased'
    | 'freightReleased'
    | 'movedOn',
): Timestamp {
  let time = TIME_BEFORE_ALL_TIMESTAMPS;
  for (const summary of summaries) if (summary[kind] > time) time = summary[kind];
  return time;
}
