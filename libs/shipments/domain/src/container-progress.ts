import { type ShipmentStatus, SHIPMENT_STATUSES, type Timestamp } from '@tracking/contracts';
import type { TimelineEntry } from './state.ts';
import { NEVER, RANK, type MilestoneSummary, earlier, firstAfter, firstFrom, later } from './milestone-summary.ts';

/** How far one container has come, or the shipment without containers. */
export interface ContainerProgress {
  readonly status: ShipmentStatus;
  /** Null when pending. */
  readonly milestone: TimelineEntry | null;
  /** By rank: the earliest milestone that counts as this status. */
  readonly reached: readonly (TimelineEntry | undefined)[];
  readonly times: ContainerTimes;
}

/** What a container answers of its own course; each the earliest that counts. */
export interface ContainerTimes {
  readonly discharged_at: Timestamp | null;
  readonly available_at: Timestamp | null;
  readonly gated_out_at: Timestamp | null;
  readonly delivered_at: Timestamp | null;
  readonly empty_returned_at: Timestamp | null;
}

/**
 * The highest rank among milestones, but:
 * - an arrival before a later `*_departed` was one on the way;
 * - so were availability, gate-out and delivery run before a later `rail_departed`;
 * - of available and unavailable the later one wins.
 * @param summaries the container's own milestones and those that name none
 */
export function progressOf(summaries: readonly MilestoneSummary[]): ContainerProgress {
  const departed = latest(summaries, 'departed');
  const railDeparted = latest(summaries, 'railDeparted');
  const unavailable = latest(summaries, 'unavailable');
  const reached: (TimelineEntry | undefined)[] = [];
  const reach = (rank: number, entry: TimelineEntry | undefined): void => {
    if (entry !== undefined) reached[rank] = earlier(reached[rank], entry);
  };
  let discharge: TimelineEntry | undefined;
  let gateOut: TimelineEntry | undefined;
  let delivery: TimelineEntry | undefined;
  let emptyReturn: TimelineEntry | undefined;
  for (const { fixed, arrived, discharged, available, out, gatedOut, delivered, emptyReturned } of summaries) {
    for (let rank = 0; rank < fixed.length; rank++) reach(rank, fixed[rank]);
    reach(RANK.in_transit, firstIfBefore(arrived[0], departed));
    reach(RANK.arrived, firstFrom(arrived, departed));
    reach(RANK.in_transit, firstIfBefore(firstAfter(available, unavailable), railDeparted));
    reach(RANK.available_for_pickup, stillAvailable(available, unavailable, railDeparted));
    reach(RANK.in_transit, firstIfBefore(out[0], railDeparted));
    reach(RANK.out_for_delivery, firstFrom(out, railDeparted));
    discharge = earlier(discharge, firstFrom(discharged, departed));
    gateOut = earlier(gateOut, firstFrom(gatedOut, railDeparted));
    delivery = earlier(delivery, delivered);
    emptyReturn = earlier(emptyReturn, emptyReturned);
  }
  const rank = reached.findLastIndex((entry) => entry !== undefined);
  return {
    status: statusAt(rank),
    milestone: reached[rank] ?? null,
    reached,
    times: {
      discharged_at: timeOf(discharge),
      available_at: timeOf(reached[RANK.available_for_pickup]),
      gated_out_at: timeOf(gateOut),
      delivered_at: timeOf(delivery),
      empty_returned_at: timeOf(emptyReturn),
    },
  };
}

/**
 * The shipment's progress from its containers': once all are delivered or beyond the lowest, before that the highest, but
 * at most `out_for_delivery`.
 * @param progresses at least one
 */
export function overall(progresses: readonly ContainerProgress[]): Pick<ContainerProgress, 'status' | 'milestone'> {
  const ranks = progresses.map(({ status }) => RANK[status]);
  const lowest = Math.min(...ranks);
  if (lowest >= RANK.delivered) {
    // It took the last of them to get there.
    const setters = progresses.filter(({ status }) => RANK[status] === lowest).map(({ milestone }) => milestone);
    return {
      status: statusAt(lowest),
      milestone: setters.reduce<TimelineEntry | undefined>(pickLater, undefined) ?? null,
    };
  }
  const highest = Math.max(...ranks);
  const rank = Math.min(highest, RANK.out_for_delivery);
  let milestone: TimelineEntry | undefined;
  for (const { reached } of progresses) {
    for (let each = rank; each <= highest && rank > 0; each++) milestone = earlier(milestone, reached[each]);
  }
  return { status: statusAt(rank), milestone: milestone ?? null };
}

function pickLater(a: TimelineEntry | undefined, b: TimelineEntry | null): TimelineEntry | undefined {
  return later(a, b ?? undefined);
}

function statusAt(rank: number): ShipmentStatus {
  return SHIPMENT_STATUSES[rank] ?? 'pending';
}

function timeOf(entry: TimelineEntry | undefined): Timestamp | null {
  return entry?.milestone.occurred_at ?? null;
}

/** The latest time of a kind; before all others if there is none. */
export function latest(
  summaries: readonly MilestoneSummary[],
  kind: 'departed' | 'railDeparted' | 'unavailable' | 'exportCleared' | 'importCleared',
): Timestamp {
  let time = NEVER;
  for (const summary of summaries) if (summary[kind] > time) time = summary[kind];
  return time;
}

function firstIfBefore(entry: TimelineEntry | undefined, time: Timestamp): TimelineEntry | undefined {
  return entry !== undefined && entry.milestone.occurred_at < time ? entry : undefined;
}

function stillAvailable(
  available: readonly TimelineEntry[],
  unavailable: Timestamp,
  railDeparted: Timestamp,
): TimelineEntry | undefined {
  return railDeparted > unavailable ? firstFrom(available, railDeparted) : firstAfter(available, unavailable);
}
