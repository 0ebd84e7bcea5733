import type { MilestoneRule, ShipmentStatus, Timestamp } from '@tracking/contracts';
import type { ShipmentRoute } from './route.ts';
import type { TimelineEntry } from './state.ts';

/**
 * The effect of an actual milestone on the status, before demotions by other milestones, with the rule that decides it.
 */
export interface StatusEffectOfMilestone {
  /** The status that the milestone gives; null if it does not affect the status. */
  readonly status: ShipmentStatus | null;
  readonly rule: MilestoneRule;
  /** Kind of the milestone, if other milestones can demote it. */
  readonly demotable?: DemotableKind;
}

/**
 * Times at which milestones of a container demote other milestones. A time before which nothing is demoted is
 * `TIME_BEFORE_ALL_TIMESTAMPS`, and one before which everything is demoted is `TIME_AFTER_ALL_TIMESTAMPS`.
 */
export interface StatusDemotionTimes {
  /** Latest departure, and latest departure by rail. */
  readonly departed: Timestamp;
  readonly railDeparted: Timestamp;
  readonly unavailable: Timestamp;
  /** Latest `available_for_pickup` that revokes earlier delivery runs, for modes in which goods wait in a shop. */
  readonly availableAgain: Timestamp;
  /** Latest start of a return. */
  readonly returning: Timestamp;
  /** First start of a return; `TIME_AFTER_ALL_TIMESTAMPS` if there is none. */
  readonly returnStarted: Timestamp;
  /** Latest departure from a missing or unknown place. */
  readonly placelessDeparted: Timestamp;
  /**
   * Latest time at which the goods were elsewhere than at the destination, or departed from an unknown place. Goods
   * that arrived at an unknown place before that time had not arrived at the destination.
   */
  readonly moved: Timestamp;
  /**
   * Goods that departed from a missing or unknown place before this time were not yet at the destination. This is
   * `moved`, or the arrival at the destination if it is earlier.
   */
  readonly movedBeforeArrival: Timestamp;
  /** Arrival at the destination; `TIME_AFTER_ALL_TIMESTAMPS` if there is none. */
  readonly arrived: Timestamp;
  /**
   * Latest departure from each place, by the key of the place, where only such departures show that the goods left. An
   * arrival at the same place and time is before the departure.
   */
  readonly departedFrom: readonly ReadonlyMap<string, Timestamp>[];
}

/** Returns true if the goods departed from the place of the arrival at the time of the arrival. */
export function isDepartedAtTimeOfArrival(
  { milestone: { occurred_at, location } }: TimelineEntry,
  { departedFrom }: Pick<StatusDemotionTimes, 'departedFrom'>,
  route: ShipmentRoute,
): boolean {
  if (location === null || departedFrom.length === 0) return false;
  const { key } = route.locate(location);
  return departedFrom.some((times) => times.get(key) === occurred_at);
}

/**
 * A rule that gives milestones of a kind a different effect if they are dated before a turning point. With `inclusive`,
 * milestones at the exact time of the turning point are also affected.
 */
export interface StatusDemotionRule extends StatusEffectOfMilestone {
  readonly until: Exclude<keyof StatusDemotionTimes, 'departedFrom'>;
  readonly inclusive: boolean;
}

const STATUS_DEMOTION_BY_PICKUP_UNAVAILABILITY = {
  until: 'unavailable',
  inclusive: true,
  status: null,
  rule: 'unavailable_again',
} as const;
const DEMOTION_UNTIL_GOODS_AVAILABLE_AGAIN = {
  until: 'availableAgain',
  inclusive: false,
  status: null,
  rule: 'available_again',
} as const;
const STATUS_DEMOTION_BY_RETURN = {
  until: 'returning',
  inclusive: true,
  status: 'in_transit',
  rule: 'return_started',
} as const;
const STATUS_DEMOTION_BY_TRAIN_DEPARTURE = {
  until: 'railDeparted',
  inclusive: false,
  status: 'in_transit',
  rule: 'rail_departed_again',
} as const;
const STATUS_DEMOTION_BY_DEPARTURE = {
  until: 'placelessDeparted',
  inclusive: false,
  status: 'in_transit',
  rule: 'departed_again',
} as const;
const STATUS_DEMOTION_BY_MOVEMENT = {
  until: 'moved',
  inclusive: false,
  status: 'in_transit',
  rule: 'not_at_destination',
} as const;

/**
 * Demotions by kind of milestone. If several apply, the first demotion whose turning point is later than the milestone is
 * used. The kinds are named after the status of the code and the place of the milestone: `anywhere` is any place of a
 * shipment without a destination, and `unlocated` a missing or unknown place.
 */
export const STATUS_DEMOTIONS = {
  arrived_anywhere: [{ until: 'departed', inclusive: false, status: 'in_transit', rule: 'departed_again' }],
  arrived_unlocated: [STATUS_DEMOTION_BY_DEPARTURE, STATUS_DEMOTION_BY_MOVEMENT],
  available_anywhere: [
    STATUS_DEMOTION_BY_PICKUP_UNAVAILABILITY,
    STATUS_DEMOTION_BY_RETURN,
    STATUS_DEMOTION_BY_TRAIN_DEPARTURE,
  ],
  available_unlocated: [
    STATUS_DEMOTION_BY_PICKUP_UNAVAILABILITY,
    STATUS_DEMOTION_BY_RETURN,
    STATUS_DEMOTION_BY_DEPARTURE,
    STATUS_DEMOTION_BY_MOVEMENT,
  ],
  available_at_destination: [STATUS_DEMOTION_BY_PICKUP_UNAVAILABILITY, STATUS_DEMOTION_BY_RETURN],
  out_anywhere: [DEMOTION_UNTIL_GOODS_AVAILABLE_AGAIN, STATUS_DEMOTION_BY_RETURN, STATUS_DEMOTION_BY_TRAIN_DEPARTURE],
  out_unlocated: [
    DEMOTION_UNTIL_GOODS_AVAILABLE_AGAIN,
    STATUS_DEMOTION_BY_RETURN,
    { ...STATUS_DEMOTION_BY_MOVEMENT, until: 'movedBeforeArrival' },
  ],
  out_at_destination: [DEMOTION_UNTIL_GOODS_AVAILABLE_AGAIN, STATUS_DEMOTION_BY_RETURN],
  out_elsewhere: [
    DEMOTION_UNTIL_GOODS_AVAILABLE_AGAIN,
    STATUS_DEMOTION_BY_RETURN,
    { ...STATUS_DEMOTION_BY_MOVEMENT, until: 'arrived' },
  ],
  out_at_origin: [
    DEMOTION_UNTIL_GOODS_AVAILABLE_AGAIN,
    STATUS_DEMOTION_BY_RETURN,
    { ...STATUS_DEMOTION_BY_MOVEMENT, until: 'arrived', status: 'at_origin' },
  ],
  delivered: [{ until: 'returnStarted', inclusive: false, status: 'delivered', rule: 'status_of_code' }],
} as const satisfies Readonly<Record<string, readonly StatusDemotionRule[]>>;
/** Kinds of milestones that other milestones can demote. */
export type DemotableKind = keyof typeof STATUS_DEMOTIONS;
export const DEMOTABLE_MILESTONE_KINDS = Object.keys(STATUS_DEMOTIONS) as readonly DemotableKind[];

/** Status that a milestone of each kind gives if no other milestone demotes it. */
export const STATUS_BY_KIND_BEFORE_DEMOTION: Readonly<Record<DemotableKind, ShipmentStatus>> = {
  arrived_anywhere: 'arrived',
  arrived_unlocated: 'arrived',
  available_anywhere: 'available_for_pickup',
  available_unlocated: 'available_for_pickup',
  available_at_destination: 'available_for_pickup',
  out_anywhere: 'out_for_delivery',
  out_unlocated: 'out_for_delivery',
  out_at_destination: 'out_for_delivery',
  out_elsewhere: 'out_for_delivery',
  out_at_origin: 'out_for_delivery',
  delivered: 'returned',
};

/** Returns true if a time is after the turning point of a demotion. */
export function isAfterDemotionTurningPoint(
  { until, inclusive }: StatusDemotionRule,
  points: StatusDemotionTimes,
  occurred_at: Timestamp,
): boolean {
  return inclusive ? occurred_at > points[until] : occurred_at >= points[until];
}

/** Returns the effect of a milestone after demotions by other milestones of the container. */
export function applyStatusDemotion(
  meaning: StatusEffectOfMilestone,
  entry: TimelineEntry,
  points: StatusDemotionTimes,
  route: ShipmentRoute,
): StatusEffectOfMilestone {
  const { demotable } = meaning;
  if (demotable === undefined) return meaning;
  const { occurred_at } = entry.milestone;
  const stretches: readonly StatusDemotionRule[] = STATUS_DEMOTIONS[demotable];
  const demotion = stretches.find((each) => !isAfterDemotionTurningPoint(each, points, occurred_at));
  if (demotion !== undefined) return demotion;
  if (demotable === 'delivered') return RETURNED_MILESTONE_MEANING;
  return isArrivalDemotedByDeparture(demotable) && isDepartedAtTimeOfArrival(entry, points, route)
    ? STATUS_DEMOTION_BY_DEPARTURE
    : meaning;
}

/** Returns true for arrivals that a departure from the same place at the same time demotes. */
export function isArrivalDemotedByDeparture(kind: DemotableKind): boolean {
  return kind === 'arrived_anywhere' || kind === 'arrived_unlocated';
}

const RETURNED_MILESTONE_MEANING: StatusEffectOfMilestone = { status: 'returned', rule: 'return_started' };
