import {
  type Milestone,
  type MilestoneRule,
  type MilestoneRules,
  SHIPMENT_STATUSES,
  type ShipmentStatus,
  type Timestamp,
  milestoneRules,
} from '@tracking/contracts';
import { placeOf } from './references.ts';
import { type Route, isOnTheWay } from './route.ts';
import type { TimelineEntry } from './state.ts';

/** What an actual milestone counts as for the status, as long as no later one says otherwise; and the rule by which. */
export interface Meaning {
  /** Null: it leaves the status alone. */
  readonly status: ShipmentStatus | null;
  readonly rule: MilestoneRule;
}

/** Latest times of what takes from earlier milestones what they counted as; before all others where there is none. */
export interface TurningPoints {
  readonly departed: Timestamp;
  readonly railDeparted: Timestamp;
  readonly unavailable: Timestamp;
}

/** Up to a turning point milestones of a status count as something else; `inclusive`: those of its very time too. */
export interface Demotion extends Meaning {
  readonly until: keyof TurningPoints;
  readonly inclusive: boolean;
}

/** By status, in order: what it counts as instead. A milestone is in the first stretch that it does not lie behind. */
export const DEMOTIONS = {
  arrived: [{ until: 'departed', inclusive: false, status: 'in_transit', rule: 'departed_again' }],
  available_for_pickup: [
    { until: 'unavailable', inclusive: true, status: null, rule: 'unavailable_again' },
    { until: 'railDeparted', inclusive: false, status: 'in_transit', rule: 'rail_departed_again' },
  ],
  out_for_delivery: [{ until: 'railDeparted', inclusive: false, status: 'in_transit', rule: 'rail_departed_again' }],
} as const satisfies Readonly<Partial<Record<ShipmentStatus, readonly Demotion[]>>>;
/** Statuses that later milestones may take. */
export type LosableStatus = keyof typeof DEMOTIONS;
export const LOSABLE_STATUSES = Object.keys(DEMOTIONS) as readonly LosableStatus[];

/** Whether what happened then lies behind a stretch. */
export function isAfterDemotion(
  { until, inclusive }: Demotion,
  points: TurningPoints,
  occurred_at: Timestamp,
): boolean {
  return inclusive ? occurred_at > points[until] : occurred_at >= points[until];
}

/** What a milestone counts as among all that count for a container. */
export function effectiveMeaning(meaning: Meaning, occurred_at: Timestamp, points: TurningPoints): Meaning {
  const stretches: Readonly<Partial<Record<ShipmentStatus, readonly Demotion[]>>> = DEMOTIONS;
  const inOne =
    meaning.status && stretches[meaning.status]?.find((each) => !isAfterDemotion(each, points, occurred_at));
  return inOne || meaning;
}

/** Why a milestone counts for nothing, whatever else happened; undefined for one that may count. */
export function findIgnoringRule(milestone: Milestone, containers: ReadonlySet<string>): MilestoneRule | undefined {
  const { classifier, container_number, retracted_at, superseded_at } = milestone;
  if (retracted_at !== null) return 'retracted';
  if (container_number !== null && !containers.has(container_number)) return 'container_not_on_shipment';
  if (classifier === 'planned') return 'planned';
  return classifier === 'estimated' && superseded_at !== null ? 'newer_estimate' : undefined;
}

/** What an actual milestone counts as by itself: by the catalog, the mode, the load type and the place. */
export function meaningOf(entry: TimelineEntry, rules: MilestoneRules, route: Route): Meaning {
  // It is only seen: the goods stayed behind.
  if (isSailingOn(entry, route)) return SAILING_ON;
  const meaning = meaningOfCode(rules, route);
  const isArrival = meaning.status === 'arrived' && rules.takes_back !== 'availability';
  return isArrival && isOnTheWay(route, entry.milestone.location) ? ON_THE_WAY : meaning;
}

/** What a code counts as where nothing is known of the place. */
export function meaningOfCode({ status, status_by_mode, status_lcl }: MilestoneRules, route: Route): Meaning {
  if (route.lcl && status_lcl !== undefined)
    return status_lcl === null ? NO_STATUS_FOR_PART_LOAD : PART_LOAD_MEANINGS[status_lcl];
  const ofMode = route.mode === null ? undefined : status_by_mode?.[route.mode];
  if (ofMode !== undefined) return MODE_MEANINGS[ofMode];
  return status === null ? NO_STATUS : CODE_MEANINGS[status];
}

/** The ship sailing on after it brought the goods: no departure of theirs. */
export function isSailingOn({ milestone: { code, location } }: TimelineEntry, route: Route): boolean {
  if (location === null || placeOf(location) !== route.destination || route.destination === route.origin) return false;
  return milestoneRules(code).departure === 'vessel';
}

/** Whether they arrived, or were unloaded, where they go on from. */
export function isStop({ location }: Milestone, rules: MilestoneRules, { rule }: Meaning, route: Route): boolean {
  if (rules.transshipment_stop) return location === null || !route.ends.has(placeOf(location));
  return rule === 'arrival_on_the_way' || (rules.leg_arrival === true && isOnTheWay(route, location));
}

/** Whether goods that go by the mode leave by it. */
export function isDeparture({ departure }: MilestoneRules, mode: Route['mode']): boolean {
  if (departure === 'pick_up') return mode === 'road' || mode === 'courier';
  return departure !== undefined;
}

// Made once: every milestone of a timeline is asked for its meaning at every write.
const SAILING_ON: Meaning = { status: null, rule: 'sailing_on' };
const ON_THE_WAY: Meaning = { status: 'in_transit', rule: 'arrival_on_the_way' };
const NO_STATUS: Meaning = { status: null, rule: 'leaves_status' };
const NO_STATUS_FOR_PART_LOAD: Meaning = { status: null, rule: 'part_load' };
const CODE_MEANINGS = meaningsByStatus('status_of_code');
const MODE_MEANINGS = meaningsByStatus('status_of_mode');
const PART_LOAD_MEANINGS = meaningsByStatus('part_load');

function meaningsByStatus(rule: MilestoneRule): Readonly<Record<ShipmentStatus, Meaning>> {
  return Object.fromEntries(SHIPMENT_STATUSES.map((status) => [status, { status, rule }])) as Record<
    ShipmentStatus,
    Meaning
  >;
}
