import { SHIPMENT_STATUSES, type ShipmentStatus, findMilestoneCode } from '@tracking/contracts';
import { places } from '../scenario.ts';
import { type Memory, type ModelMilestone, isByRoad, findDestination, actualMilestones, compareInListOrder, milestonesOfContainer, findOrigin } from './memory.ts';

interface Status {
  readonly status: ShipmentStatus;
  /** The milestone that set it. */
  readonly by: ModelMilestone | null;
}

export const rankOf = (status: ShipmentStatus): number => SHIPMENT_STATUSES.indexOf(status);
const isDelivered = ({ status }: Status): boolean => rankOf(status) >= rankOf('delivered');

const DEPARTED = ['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'];

/** "A `*_departed` milestone (vessel, flight, rail, transshipment)"; not the ship that sails on. */
export function isDeparted(milestone: ModelMilestone, memory: Memory): boolean {
  return DEPARTED.includes(milestone.code) && !isSailingOn(milestone, memory);
}

/**
 * "A `vessel_departed` located at `destination_port` is the ship sailing on and counts for nothing"; of a journey that ends
 * where it begins it is the departure.
 */
export function isSailingOn({ code, location }: ModelMilestone, memory: Memory): boolean {
  const destination = findDestination(memory);
  return (
    code === 'vessel_departed' && location !== null && location === destination && destination !== findOrigin(memory)
  );
}

/** What the catalog says of it, for shipments of this mode and load type. */
function ownStatus({ code }: ModelMilestone, { fields: { mode, load_type } }: Memory): ShipmentStatus | null {
  if (code === 'picked_up' && isByRoad(mode)) return 'in_transit';
  // "`load_type` `lcl`: `gated_out` counts as `in_transit`, `cargo_stripped` as `arrived`, `empty_returned` leaves the
  // status alone."
  if (load_type === 'lcl') {
    if (code === 'gated_out') return 'in_transit';
    if (code === 'cargo_stripped') return 'arrived';
    if (code === 'empty_returned') return null;
  }
  return findMilestoneCode(code)?.status ?? null;
}

/** "Arrivals [are] those of status `arrived` but 131." */
export function isArrival(milestone: ModelMilestone, memory: Memory): boolean {
  return ownStatus(milestone, memory) === 'arrived' && milestone.code !== 'unavailable_for_pickup';
}

/**
 * "An arrival known not to be the end counts as `in_transit`: located at the destination of a leg that is not the last, or
 * at a UN/LOCODE or airport of another country than `destination_port`." Where the shipment or its last leg ends is an end.
 */
export function isOnTheWay({ location }: ModelMilestone, memory: Memory): boolean {
  if (location === null) return false;
  const destination = findDestination(memory);
  const legs = memory.legs.value;
  if (location === destination || location === legs.at(-1)?.destination_port) return false;
  const onTheWay = legs.slice(0, -1).map(({ destination_port }) => destination_port);
  if (onTheWay.includes(location)) return true;
  const country = countryOf(location);
  const end = destination === null ? undefined : countryOf(destination);
  return country !== undefined && end !== undefined && country !== end;
}

function countryOf(place: string): string | undefined {
  return places.find(place)?.country;
}

/** "… dated after milestones whose status is `arrived` makes those intermediate: they count as `in_transit`." */
function isDepartedAgain(milestone: ModelMilestone, lane: readonly ModelMilestone[], memory: Memory): boolean {
  return lane.some((other) => isDeparted(other, memory) && other.occurred_at > milestone.occurred_at);
}

/** "… a `rail_departed` dated after them … makes `available_for_pickup`, `gated_out` and `out_for_delivery` count as `in_transit`." */
export function isRailDepartedAgain({ code, occurred_at }: ModelMilestone, lane: readonly ModelMilestone[]): boolean {
  const railed = lane.some((other) => other.code === 'rail_departed' && other.occurred_at > occurred_at);
  return railed && ['available_for_pickup', 'gated_out', 'out_for_delivery'].includes(code);
}

/** "Between `available_for_pickup` and `unavailable_for_pickup` the later `occurred_at` wins." */
export function isUnavailableAgain({ code, occurred_at }: ModelMilestone, lane: readonly ModelMilestone[]): boolean {
  if (code !== 'available_for_pickup') return false;
  return lane.some((other) => other.code === 'unavailable_for_pickup' && other.occurred_at >= occurred_at);
}

function countsAs(milestone: ModelMilestone, lane: readonly ModelMilestone[], memory: Memory): ShipmentStatus | null {
  const status = ownStatus(milestone, memory);
  if (status === null || status === 'cancelled' || isSailingOn(milestone, memory)) return null;
  if (isUnavailableAgain(milestone, lane)) return null;
  if (status === 'arrived' && isDepartedAgain(milestone, lane, memory)) return 'in_transit';
  if (isArrival(milestone, memory) && isOnTheWay(milestone, memory)) return 'in_transit';
  if (isRailDepartedAgain(milestone, lane)) return 'in_transit';
  return status;
}

/** "The highest rank among the milestones"; of those with the same rank the first set it. */
export function laneStatus(lane: readonly ModelMilestone[], memory: Memory): Status {
  let highest: Status = { status: 'pending', by: null };
  for (const milestone of lane) {
    const status = countsAs(milestone, lane, memory);
    if (status !== null && rankOf(status) > rankOf(highest.status)) highest = { status, by: milestone };
  }
  return highest;
}

/**
 * "If all are at `delivered` or beyond, the shipment has the lowest of them; else the highest, but at most
 * `out_for_delivery`."
 */
function journeyStatus(actual: readonly ModelMilestone[], memory: Memory): Status {
  const numbers = memory.fields.container_numbers;
  const lanes = numbers.length === 0 ? [actual] : numbers.map((number) => milestonesOfContainer(actual, number));
  const reached = lanes.map((lane) => laneStatus(lane, memory));
  const ranks = reached.map(({ status }) => rankOf(status));
  if (reached.every(isDelivered)) {
    const lowest = statusOf(Math.min(...ranks));
    // It took the last of them to get there.
    const setters = reached.flatMap(({ status, by }) => (status === lowest && by !== null ? [by] : []));
    return { status: lowest, by: setters.toSorted(compareInListOrder).at(-1) ?? null };
  }
  const rank = Math.min(Math.max(...ranks), rankOf('out_for_delivery'));
  return { status: statusOf(rank), by: firstToReach(rank, lanes, memory) };
}

/** The first milestone that brought a container so far or further. */
function firstToReach(rank: number, lanes: readonly (readonly ModelMilestone[])[], memory: Memory): ModelMilestone | null {
  if (rank === 0) return null;
  const reaching = lanes.flatMap((lane) =>
    lane.filter((milestone) => rankOf(countsAs(milestone, lane, memory) ?? 'pending') >= rank),
  );
  return reaching.toSorted(compareInListOrder)[0] ?? null;
}

function statusOf(rank: number): ShipmentStatus {
  return SHIPMENT_STATUSES[rank] ?? 'pending';
}

/** "The milestone `booking_cancelled`, undone by its retraction or by a later-dated `booking_confirmed`." */
function unrevokedCancellations(memory: Memory): readonly ModelMilestone[] {
  const actual = actualMilestones(memory);
  return actual.filter(
    (milestone) =>
      milestone.code === 'booking_cancelled' &&
      !actual.some(({ code, occurred_at }) => code === 'booking_confirmed' && occurred_at > milestone.occurred_at),
  );
}

/**
 * "Cancelling … is possible before `delivered` (… [one] arriving then is stored, leaves the status alone …). Milestones
 * arriving later are stored and leave the status alone."
 */
export function cancellations(memory: Memory): readonly ModelMilestone[] {
  const isPossible = memory.answered.cancelledByMilestone || !isDelivered(journeyStatus(actualMilestones(memory), memory));
  return isPossible ? unrevokedCancellations(memory) : [];
}

/** "`status_milestone_id`: the one that set the status, null when pending or cancelled by the client." */
export function shipmentStatus(memory: Memory): Status {
  const [cancelling] = cancellations(memory);
  if (cancelling !== undefined) return { status: 'cancelled', by: cancelling };
  if (memory.cancelled !== null) return { status: 'cancelled', by: null };
  return journeyStatus(actualMilestones(memory), memory);
}
