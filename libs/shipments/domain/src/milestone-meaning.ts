import {
  type Milestone,
  type MilestoneRule,
  type MilestoneCodeTraits,
  SHIPMENT_STATUSES,
  type ShipmentStatus,
  getMilestoneRules,
} from '@tracking/contracts';
import { type ShipmentRoute, isPlaceOnTheWay } from './route.ts';
import type { TimelineEntry } from './state.ts';
import { DEMOTABLE_MILESTONE_KINDS, type StatusEffectOfMilestone } from './status-demotions.ts';

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
export function computeMilestoneMeaning(
  entry: TimelineEntry,
  rules: MilestoneCodeTraits,
  route: ShipmentRoute,
): StatusEffectOfMilestone {
  // The milestone reports a vessel that sailed on without the goods, so it has no effect.
  if (isVesselSailingOnWithoutGoods(entry, route)) return SAILING_ON_MILESTONE_MEANING;
  const meaning = getStatusEffectOfMilestoneCode(rules, route);
  const { status } = meaning;
  if (status === 'arrived' || status === 'available_for_pickup' || status === 'out_for_delivery')
    return computeMilestoneMeaningAtPlace(entry, rules, meaning, route);
  return status === 'delivered' && rules.container_time === 'delivered_at' ? DELIVERY_MILESTONE_MEANING : meaning;
}

/** Returns the effect of a milestone whose status depends on its place. */
function computeMilestoneMeaningAtPlace(
  entry: TimelineEntry,
  rules: MilestoneCodeTraits,
  meaning: StatusEffectOfMilestone,
  route: ShipmentRoute,
): StatusEffectOfMilestone {
  const place = classifyMilestonePlaceOnRoute(entry, route);
  const isElsewhere = place === 'elsewhere' || place === 'at_origin';
  if (!isElsewhere || meaning.status === 'out_for_delivery')
    return PLACE_DEPENDENT_MEANINGS.get(meaning)?.[place] ?? meaning;
  if (place === 'at_origin') return MEANING_SETTING_AT_ORIGIN_STATUS;
  return isArrivalCode(rules, route) && isPlaceOnTheWay(route, entry.milestone.location)
    ? MILESTONE_MEANING_OF_INTERMEDIATE_ARRIVAL
    : MILESTONE_MEANING_OFF_DESTINATION;
}

type PlaceKind = 'anywhere' | 'unlocated' | 'at_destination' | 'elsewhere' | 'at_origin';

function classifyMilestonePlaceOnRoute(
  { milestone }: TimelineEntry,
  { origin, destination, locate }: ShipmentRoute,
): PlaceKind {
  if (destination === null) return 'anywhere';
  const { key, isKnown } = locate(milestone.location);
  if (!isKnown) return 'unlocated';
  if (key === destination) return 'at_destination';
  return key === origin ? 'at_origin' : 'elsewhere';
}

/** Returns true if the code is an arrival or unloading at the end of a journey. The place may show that it is not. */
export function isArrivalCode(rules: MilestoneCodeTraits, route: ShipmentRoute): boolean {
  return getStatusEffectOfMilestoneCode(rules, route).status === 'arrived' && rules.takes_back !== 'availability';
}

/** Returns the effect of a milestone code at an unknown place. */
export function getStatusEffectOfMilestoneCode(
  { status, status_by_mode, status_lcl }: MilestoneCodeTraits,
  route: ShipmentRoute,
): StatusEffectOfMilestone {
  if (route.lcl && status_lcl !== undefined)
    return status_lcl === null ? PART_LOAD_MEANING_WITHOUT_STATUS : MILESTONE_MEANINGS_FOR_PART_LOAD[status_lcl];
  const ofMode = route.mode === null ? undefined : status_by_mode?.[route.mode];
  if (ofMode !== undefined) return MODE_SPECIFIC_STATUS_MEANINGS[ofMode];
  return status === null ? MILESTONE_MEANING_WITHOUT_STATUS : MILESTONE_MEANINGS_BY_STATUS[status];
}

/**
 * Returns true if the milestone reports that the vessel sailed on after it unloaded the goods. This is not a departure
 * of the goods.
 */
export function isVesselSailingOnWithoutGoods(
  { milestone: { code, location } }: TimelineEntry,
  route: ShipmentRoute,
): boolean {
  if (location === null || getMilestoneRules(code).departure !== 'vessel') return false;
  return route.destination !== route.origin && route.locate(location).key === route.destination;
}

/**
 * Returns true if the milestone is an arrival or unloading at a transshipment place: a place where a leg ends and the
 * goods continue. Without legs, only codes of transshipments show such a place.
 */
export function isArrivalAtTransshipment(
  { location }: Milestone,
  rules: MilestoneCodeTraits,
  route: ShipmentRoute,
): boolean {
  const { key, isKnown } = route.locate(location);
  if (route.via.size === 0 || !isKnown) return rules.transshipment_stop === true && !route.ends.has(key);
  return (
    route.via.has(key) &&
    (rules.transshipment_stop === true || rules.leg_arrival === true || isArrivalCode(rules, route))
  );
}

/** Returns true if the milestone is a departure for shipments of the mode. */
export function isDeparture({ departure }: MilestoneCodeTraits, mode: ShipmentRoute['mode']): boolean {
  if (departure === 'pick_up') return mode === 'road' || mode === 'courier';
  return departure !== undefined;
}

/** Returns true if the milestone is a departure by vessel. */
export function isVesselDeparture({ departure }: MilestoneCodeTraits): boolean {
  return departure === 'vessel' || departure === 'transshipment';
}

/** Returns true if the code is an arrival or discharge, at the destination or on the way. */
export function isArrivalOrStopCode(rules: MilestoneCodeTraits, route: ShipmentRoute): boolean {
  return rules.transshipment_stop === true || rules.leg_arrival === true || isArrivalCode(rules, route);
}

/** Returns true if the code reports a movement of the loaded container. */
export function isLoadedMovementCode(code: string, rules: MilestoneCodeTraits, route: ShipmentRoute): boolean {
  if (rules.departure === 'pick_up') return isDeparture(rules, route.mode);
  if (rules.departure !== undefined || rules.container_time === 'delivered_at') return true;
  if (code === 'gated_in' || code === 'loaded_on_vessel' || code === 'rail_unloaded') return true;
  return rules.status === 'out_for_delivery' || isArrivalOrStopCode(rules, route);
}

// Meanings are created once, because every write computes the meaning of all milestones of a timeline.
const SAILING_ON_MILESTONE_MEANING: StatusEffectOfMilestone = { status: null, rule: 'sailing_on' };
const MEANING_SETTING_AT_ORIGIN_STATUS: StatusEffectOfMilestone = { status: 'at_origin', rule: 'not_at_destination' };
const MILESTONE_MEANING_OFF_DESTINATION: StatusEffectOfMilestone = { status: 'in_transit', rule: 'not_at_destination' };
const DELIVERY_MILESTONE_MEANING: StatusEffectOfMilestone = {
  status: 'delivered',
  rule: 'status_of_code',
  demotable: 'delivered',
};
const MILESTONE_MEANING_OF_INTERMEDIATE_ARRIVAL: StatusEffectOfMilestone = {
  status: 'in_transit',
  rule: 'arrival_on_the_way',
};
const MILESTONE_MEANING_WITHOUT_STATUS: StatusEffectOfMilestone = { status: null, rule: 'leaves_status' };
const PART_LOAD_MEANING_WITHOUT_STATUS: StatusEffectOfMilestone = { status: null, rule: 'part_load' };
// Meanings of milestones that set a status, by this status: the general status of the code, its status in the transport
// mode of the shipment, and its status for a part load.
const MILESTONE_MEANINGS_BY_STATUS = createMeaningsByStatus('status_of_code');
const MODE_SPECIFIC_STATUS_MEANINGS = createMeaningsByStatus('status_of_mode');
const MILESTONE_MEANINGS_FOR_PART_LOAD = createMeaningsByStatus('part_load');

function createMeaningsByStatus(rule: MilestoneRule): Readonly<Record<ShipmentStatus, StatusEffectOfMilestone>> {
  return Object.fromEntries(SHIPMENT_STATUSES.map((status) => [status, { status, rule }])) as Record<
    ShipmentStatus,
    StatusEffectOfMilestone
  >;
}

/** Meanings of codes by the place of the milestone, for statuses that depend on the place. */
const PLACE_DEPENDENT_MEANINGS: ReadonlyMap<
  StatusEffectOfMilestone,
  Readonly<Partial<Record<PlaceKind, StatusEffectOfMilestone>>>
> = new Map(
  [MILESTONE_MEANINGS_BY_STATUS, MODE_SPECIFIC_STATUS_MEANINGS, MILESTONE_MEANINGS_FOR_PART_LOAD].flatMap(
    ({ arrived, available_for_pickup, out_for_delivery }) => [
      [arrived, createMilestoneMeaningsByPlace(arrived, 'arrived')] as const,
      [available_for_pickup, createMilestoneMeaningsByPlace(available_for_pickup, 'available')] as const,
      [out_for_delivery, createMilestoneMeaningsByPlace(out_for_delivery, 'out')] as const,
    ],
  ),
);

function createMilestoneMeaningsByPlace(meaning: StatusEffectOfMilestone, step: string) {
  const kinds = DEMOTABLE_MILESTONE_KINDS.filter((kind) => kind.startsWith(`${step}_`));
  return Object.fromEntries(kinds.map((demotable) => [demotable.slice(step.length + 1), { ...meaning, demotable }]));
}
