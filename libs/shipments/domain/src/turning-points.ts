import { chooseLatestTime, type Mode, type Timestamp } from '@tracking/contracts';
import {
  TIME_AFTER_ALL_TIMESTAMPS,
  TIME_BEFORE_ALL_TIMESTAMPS,
  type SummaryOfMilestones,
  chooseEarlierTimelineEntry,
  chooseLaterTime,
} from './milestone-summary.ts';
import type { ShipmentRoute } from './route.ts';
import { getOccurredAt, type TimelineEntry } from './state.ts';
import { isDepartedAtTimeOfArrival, type StatusDemotionTimes } from './status-demotions.ts';
import { findFirstMatchingEntryIndex } from './timeline.ts';

/** Modes in which goods that could not be delivered wait for pickup. */
const PICKUP_AFTER_FAILED_DELIVERY_MODES: readonly (Mode | null)[] = ['courier', 'road', 'air'];

const NO_DEPARTURES: StatusDemotionTimes['departedFrom'] = [];

/** Returns the turning points of a container: times before which its milestones are demoted. */
export function computeMilestoneDemotionTimes(
  summaries: readonly SummaryOfMilestones[],
  route: ShipmentRoute,
): StatusDemotionTimes {
  // Named fields are faster than the keys of `findLatestMilestoneTime`, and each derivation reads these.
  let departed = TIME_BEFORE_ALL_TIMESTAMPS;
  let railDeparted = TIME_BEFORE_ALL_TIMESTAMPS;
  let placelessDeparted = TIME_BEFORE_ALL_TIMESTAMPS;
  let unavailable = TIME_BEFORE_ALL_TIMESTAMPS;
  let returning = TIME_BEFORE_ALL_TIMESTAMPS;
  let delivered: TimelineEntry | undefined;
  let located: TimelineEntry | undefined;
  let returnStarted = TIME_AFTER_ALL_TIMESTAMPS;
  let departedFrom: StatusDemotionTimes['departedFrom'] = NO_DEPARTURES;
  for (const summary of summaries) {
    if (summary.departedFrom !== undefined) departedFrom = [...departedFrom, summary.departedFrom];
    delivered = chooseEarlierTimelineEntry(delivered, summary.deliveredOrLater);
    located = chooseEarlierTimelineEntry(located, summary.atDestination);
    departed = chooseLaterTime(departed, summary.departed);
    railDeparted = chooseLaterTime(railDeparted, summary.railDeparted);
    placelessDeparted = chooseLaterTime(placelessDeparted, summary.placelessDeparted);
    unavailable = chooseLaterTime(unavailable, summary.unavailable);
    returning = chooseLaterTime(returning, summary.returning);
    if (summary.returnStarted < returnStarted) returnStarted = summary.returnStarted;
  }
  const moved = findLastMovementTime(
    summaries,
    placelessDeparted,
    getOccurredAt(delivered) ?? TIME_AFTER_ALL_TIMESTAMPS,
  );
  let arrived = getOccurredAt(located) ?? TIME_AFTER_ALL_TIMESTAMPS;
  for (const { demotable } of summaries) {
    const arrivals = demotable.arrived_unlocated;
    if (arrivals !== undefined) arrived = chooseEarlierArrivalTime(arrived, arrivals, { moved, departedFrom }, route);
  }
  let availableAgain = TIME_BEFORE_ALL_TIMESTAMPS;
  if (PICKUP_AFTER_FAILED_DELIVERY_MODES.includes(route.mode)) {
    const since = chooseLatestTime(unavailable, returning);
    for (const { demotable } of summaries)
      availableAgain = chooseLatestTime(availableAgain, findLastAvailability(demotable, since, moved));
  }
  return {
    departed,
    railDeparted,
    unavailable,
    availableAgain,
    returning,
    returnStarted,
    placelessDeparted,
    moved,
    movedBeforeArrival: arrived < moved ? arrived : moved,
    arrived,
    departedFrom,
  };
}

/**
 * Returns the earlier of a time and the first arrival at a missing or unknown place that no later movement demotes.
 * @param arrivals arrivals at missing and unknown places, in timeline order
 */
function chooseEarlierArrivalTime(
  arrived: Timestamp,
  arrivals: readonly TimelineEntry[],
  points: Pick<StatusDemotionTimes, 'moved' | 'departedFrom'>,
  route: ShipmentRoute,
): Timestamp {
  const start = findFirstMatchingEntryIndex(arrivals, ({ occurred_at }) => occurred_at >= points.moved);
  const first = getOccurredAt(findArrivalWithoutDeparture(arrivals, start, points, route)) ?? TIME_AFTER_ALL_TIMESTAMPS;
  return first < arrived ? first : arrived;
}

/**
 * Returns the latest time before the delivery at which the goods moved elsewhere than at the destination, or the latest
 * departure from an unknown place.
 */
function findLastMovementTime(
  summaries: readonly SummaryOfMilestones[],
  placelessDeparted: Timestamp,
  delivered: Timestamp,
): Timestamp {
  let moved = placelessDeparted;
  for (const { elsewhere } of summaries) {
    for (const entries of elsewhere) {
      const end = findFirstMatchingEntryIndex(entries, ({ occurred_at }) => occurred_at >= delivered);
      const last = entries[end - 1];
      if (last !== undefined && last.milestone.occurred_at > moved) moved = last.milestone.occurred_at;
    }
  }
  return moved;
}

/** Returns the time of the last `available_for_pickup` that counts; `TIME_BEFORE_ALL_TIMESTAMPS` if there is none. */
function findLastAvailability(
  { available_anywhere, available_unlocated, available_at_destination }: SummaryOfMilestones['demotable'],
  since: Timestamp,
  moved: Timestamp,
): Timestamp {
  const lasts = [available_anywhere, available_at_destination].map((entries) => getOccurredAt(entries?.at(-1)) ?? '');
  const unlocated = getOccurredAt(available_unlocated?.at(-1)) ?? '';
  const last = chooseLatestTime(...lasts, unlocated >= moved ? unlocated : '');
  return last > since ? last : TIME_BEFORE_ALL_TIMESTAMPS;
}

/** Returns the first arrival, from an index on, without a departure from the same place at the same time. */
export function findArrivalWithoutDeparture(
  arrivals: readonly TimelineEntry[],
  start: number,
  points: Pick<StatusDemotionTimes, 'departedFrom'>,
  route: ShipmentRoute,
): TimelineEntry | undefined {
  let place = start;
  let arrival = arrivals[place];
  while (arrival !== undefined && isDepartedAtTimeOfArrival(arrival, points, route)) arrival = arrivals[++place];
  return arrival;
}
