import {
  type Milestone,
  type MilestoneRule,
  type MilestoneRules,
  SHIPMENT_STATUSES,
  type ShipmentStatus,
  type Timestamp,
  findMilestoneRules,
} from '@tracking/contracts';
import { toComparablePlace } from './references.ts';
import { type Route, isPlaceOnTheWay } from './route.ts';
import type { TimelineEntry } from './state.ts';

/**
 * The effect of an actual milestone on the status, before demotions by later milestones, with the rule that decides it.
 */
export interface MilestoneMeaning {
  /** The status that the milestone gives; null if it does not affect the status. */
  readonly status: ShipmentStatus | null;
  readonly rule: MilestoneRule;
}

/** Latest times at which milestones demote earlier milestones; `TIME_BEFORE_ALL` if there is none. */
export interface TurningPoints {
  readonly departed: Timestamp;
  readonly railDeparted: Timestamp;
  readonly unavailable: Timestamp;
}

/**
 * A rule that gives milestones of a status a different effect if they are dated before a turning point. With
 * `inclusive`, milestones at the exact time of the turning point are also affected.
 */
export interface StatusDemotion extends MilestoneMeaning {
  readonly until: keyof TurningPoints;
  readonly inclusive: boolean;
}

/**
 * Demotions by status. If several apply, the first demotion whose turning point is later than the milestone is used.
 */
export const DEMOTIONS = {
  arrived: [{ until: 'departed', inclusive: false, status: 'in_transit', rule: 'departed_again' }],
  available_for_pickup: [
    { until: 'unavailable', inclusive: true, status: null, rule: 'unavailable_again' },
    { until: 'railDeparted', inclusive: false, status: 'in_transit', rule: 'rail_departed_again' },
  ],
  out_for_delivery: [{ until: 'railDeparted', inclusive: false, status: 'in_transit', rule: 'rail_departed_again' }],
} as const satisfies Readonly<Partial<Record<ShipmentStatus, readonly StatusDemotion[]>>>;
/** Statuses that later milestones can demote. */
export type LosableStatus = keyof typeof DEMOTIONS;
export const DEMOTABLE_STATUSES = Object.keys(DEMOTIONS) as readonly LosableStatus[];

/** Returns true if a time is after the turning point of a demotion. */
export function isAfterDemotion(
  { until, inclusive }: StatusDemotion,
  points: TurningPoints,
  occurred_at: Timestamp,
): boolean {
  return inclusive ? occurred_at > points[until] : occurred_at >= points[until];
}

/** Returns the effect of a milestone after demotions by other milestones of the container. */
export function applyDemotion(
  meaning: MilestoneMeaning,
  occurred_at: Timestamp,
  points: TurningPoints,
): MilestoneMeaning {
  const stretches: Readonly<Partial<Record<ShipmentStatus, readonly StatusDemotion[]>>> = DEMOTIONS;
  const inOne =
    meaning.status && stretches[meaning.status]?.find((each) => !isAfterDemotion(each, points, occurred_at));
  return inOne || meaning;
}

/**
 * Returns the rule by which a milestone is ignored, regardless of other milestones; undefined if the milestone may
 * count.
 */
export function findIgnoringRule(milestone: Milestone, containers: ReadonlySet<string>): MilestoneRule | undefined {
  const { classifier, container_number, retracted_at, superseded_at } = milestone;
  if (retracted_at !== null) return 'retracted';
  if (container_number !== null && !containers.has(container_number)) return 'container_not_on_shipment';
  if (classifier === 'planned') return 'planned';
  return classifier === 'estimated' && superseded_at !== null ? 'newer_estimate' : undefined;
}

/**
 * Returns the effect of an actual milestone without other milestones. It depends on the catalog, the mode, the load
 * type and the place.
 */
export function findMeaning(entry: TimelineEntry, rules: MilestoneRules, route: Route): MilestoneMeaning {
  // The milestone reports a vessel that sailed on without the goods, so it has no effect.
  if (isVesselSailingOn(entry, route)) return VESSEL_SAILING_ON_MEANING;
  const meaning = findMeaningOfCode(rules, route);
  const isArrival = meaning.status === 'arrived' && rules.takes_back !== 'availability';
  return isArrival && isPlaceOnTheWay(route, entry.milestone.location) ? ARRIVAL_ON_THE_WAY_MEANING : meaning;
}

/** Returns the effect of a milestone code at an unknown place. */
export function findMeaningOfCode(
  { status, status_by_mode, status_lcl }: MilestoneRules,
  route: Route,
): MilestoneMeaning {
  if (route.lcl && status_lcl !== undefined)
    return status_lcl === null ? NO_STATUS_FOR_PART_LOAD_MEANING : PART_LOAD_MEANINGS[status_lcl];
  const ofMode = route.mode === null ? undefined : status_by_mode?.[route.mode];
  if (ofMode !== undefined) return MODE_MEANINGS[ofMode];
  return status === null ? NO_STATUS_MEANING : CODE_MEANINGS[status];
}

/**
 * Returns true if the milestone reports that the vessel sailed on after it unloaded the goods. This is not a departure
 * of the goods.
 */
export function isVesselSailingOn({ milestone: { code, location } }: TimelineEntry, route: Route): boolean {
  if (location === null || toComparablePlace(location) !== route.destination || route.destination === route.origin)
    return false;
  return findMilestoneRules(code).departure === 'vessel';
}

/** Returns true if the milestone is an arrival or unloading at a place from which the goods continue. */
export function isStopOnTheWay(
  { location }: Milestone,
  rules: MilestoneRules,
  { rule }: MilestoneMeaning,
  route: Route,
): boolean {
  if (rules.transshipment_stop) return location === null || !route.ends.has(toComparablePlace(location));
  return rule === 'arrival_on_the_way' || (rules.leg_arrival === true && isPlaceOnTheWay(route, location));
}

/** Returns true if the milestone is a departure for shipments of the mode. */
export function isDeparture({ departure }: MilestoneRules, mode: Route['mode']): boolean {
  if (departure === 'pick_up') return mode === 'road' || mode === 'courier';
  return departure !== undefined;
}

// Meanings are created once, because every write computes the meaning of all milestones of a timeline.
const VESSEL_SAILING_ON_MEANING: MilestoneMeaning = { status: null, rule: 'sailing_on' };
const ARRIVAL_ON_THE_WAY_MEANING: MilestoneMeaning = { status: 'in_transit', rule: 'arrival_on_the_way' };
const NO_STATUS_MEANING: MilestoneMeaning = { status: null, rule: 'leaves_status' };
const NO_STATUS_FOR_PART_LOAD_MEANING: MilestoneMeaning = { status: null, rule: 'part_load' };
const CODE_MEANINGS = meaningsByStatus('status_of_code');
const MODE_MEANINGS = meaningsByStatus('status_of_mode');
const PART_LOAD_MEANINGS = meaningsByStatus('part_load');

function meaningsByStatus(rule: MilestoneRule): Readonly<Record<ShipmentStatus, MilestoneMeaning>> {
  return Object.fromEntries(SHIPMENT_STATUSES.map((status) => [status, { status, rule }])) as Record<
    ShipmentStatus,
    MilestoneMeaning
  >;
}
