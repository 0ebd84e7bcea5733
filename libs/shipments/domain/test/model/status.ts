import { SHIPMENT_STATUSES, type ShipmentStatus, findMilestoneCode } from '@tracking/contracts';
import { places } from '../scenario.ts';
import {
  type ModelMemory,
  type ModelMilestone,
  isByRoad,
  findDestination,
  actualMilestones,
  compareInListOrder,
  milestonesOfContainer,
  findOrigin,
} from './memory.ts';

interface ModelStatus {
  readonly status: ShipmentStatus;
  /** The milestone that set the status. */
  readonly by: ModelMilestone | null;
}

export const getRank = (status: ShipmentStatus): number => SHIPMENT_STATUSES.indexOf(status);
const isDelivered = ({ status }: ModelStatus): boolean => getRank(status) >= getRank('delivered');

const DEPARTURE_CODES = ['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'];

/**
 * Returns true if the milestone is a departure by vessel, flight, rail or transshipment. A vessel that sails on without
 * the goods is not a departure.
 */
export function isDeparted(milestone: ModelMilestone, memory: ModelMemory): boolean {
  return DEPARTURE_CODES.includes(milestone.code) && !isSailingOn(milestone, memory);
}

/**
 * Returns true if the milestone reports a vessel that sails on without the goods: a `vessel_departed` at
 * `destination_port`. On a round trip, such a milestone is the departure.
 */
export function isSailingOn({ code, location }: ModelMilestone, memory: ModelMemory): boolean {
  const destination = findDestination(memory);
  return (
    code === 'vessel_departed' && location !== null && location === destination && destination !== findOrigin(memory)
  );
}

/** Returns the status that the code gives, for the mode and load type of the shipment. */
function ownStatus({ code }: ModelMilestone, { fields: { mode, load_type } }: ModelMemory): ShipmentStatus | null {
  if (code === 'picked_up' && isByRoad(mode)) return 'in_transit';
  // For part loads (`lcl`), `gated_out` counts as `in_transit`, and `cargo_stripped` counts as `arrived`.
  // For part loads (`lcl`), `empty_returned` does not affect the status.
  if (load_type === 'lcl') {
    if (code === 'gated_out') return 'in_transit';
    if (code === 'cargo_stripped') return 'arrived';
    if (code === 'empty_returned') return null;
  }
  return findMilestoneCode(code)?.status ?? null;
}

/** Returns true if the milestone is an arrival: it has the status `arrived`, and its code is not 131. */
export function isArrival(milestone: ModelMilestone, memory: ModelMemory): boolean {
  return ownStatus(milestone, memory) === 'arrived' && milestone.code !== 'unavailable_for_pickup';
}

/**
 * Returns true if the arrival is certainly on the way: at the destination of a leg other than the last, or at a
 * UN/LOCODE or airport in another country than `destination_port`. A port where the shipment or its last leg ends is
 * never on the way.
 */
export function isOnTheWay({ location }: ModelMilestone, memory: ModelMemory): boolean {
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

/** Returns true if a later departure shows that the arrival was on the way, so that it counts as `in_transit`. */
function isDepartedAgain(milestone: ModelMilestone, lane: readonly ModelMilestone[], memory: ModelMemory): boolean {
  return lane.some((other) => isDeparted(other, memory) && other.occurred_at > milestone.occurred_at);
}

/**
 * Returns true if a later `rail_departed` makes `available_for_pickup`, `gated_out` and `out_for_delivery` count as
 * `in_transit`.
 */
export function isRailDepartedAgain({ code, occurred_at }: ModelMilestone, lane: readonly ModelMilestone[]): boolean {
  const railed = lane.some((other) => other.code === 'rail_departed' && other.occurred_at > occurred_at);
  return railed && ['available_for_pickup', 'gated_out', 'out_for_delivery'].includes(code);
}

/** Returns true if a later `unavailable_for_pickup` revokes `available_for_pickup`. */
export function isUnavailableAgain({ code, occurred_at }: ModelMilestone, lane: readonly ModelMilestone[]): boolean {
  if (code !== 'available_for_pickup') return false;
  return lane.some((other) => other.code === 'unavailable_for_pickup' && other.occurred_at >= occurred_at);
}

function countsAs(
  milestone: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ModelMemory,
): ShipmentStatus | null {
  const status = ownStatus(milestone, memory);
  if (status === null || status === 'cancelled' || isSailingOn(milestone, memory)) return null;
  if (isUnavailableAgain(milestone, lane)) return null;
  if (status === 'arrived' && isDepartedAgain(milestone, lane, memory)) return 'in_transit';
  if (isArrival(milestone, memory) && isOnTheWay(milestone, memory)) return 'in_transit';
  if (isRailDepartedAgain(milestone, lane)) return 'in_transit';
  return status;
}

/** Returns the highest rank among the milestones, and the first milestone with that rank. */
export function laneStatus(lane: readonly ModelMilestone[], memory: ModelMemory): ModelStatus {
  let highest: ModelStatus = { status: 'pending', by: null };
  for (const milestone of lane) {
    const status = countsAs(milestone, lane, memory);
    if (status !== null && getRank(status) > getRank(highest.status)) highest = { status, by: milestone };
  }
  return highest;
}

/**
 * Returns the status of the shipment. If all containers are delivered or beyond, it is their lowest status; otherwise
 * it is their highest, but at most `out_for_delivery`.
 */
function journeyStatus(actual: readonly ModelMilestone[], memory: ModelMemory): ModelStatus {
  const numbers = memory.fields.container_numbers;
  const lanes = numbers.length === 0 ? [actual] : numbers.map((number) => milestonesOfContainer(actual, number));
  const reached = lanes.map((lane) => laneStatus(lane, memory));
  const ranks = reached.map(({ status }) => getRank(status));
  if (reached.every(isDelivered)) {
    const lowest = getStatus(Math.min(...ranks));
    // The container that reached the status last sets it for the shipment.
    const setters = reached.flatMap(({ status, by }) => (status === lowest && by !== null ? [by] : []));
    return { status: lowest, by: setters.toSorted(compareInListOrder).at(-1) ?? null };
  }
  const rank = Math.min(Math.max(...ranks), getRank('out_for_delivery'));
  return { status: getStatus(rank), by: findFirstToReach(rank, lanes, memory) };
}

/** Returns the first milestone that brought a container to the rank or beyond. */
function findFirstToReach(
  rank: number,
  lanes: readonly (readonly ModelMilestone[])[],
  memory: ModelMemory,
): ModelMilestone | null {
  if (rank === 0) return null;
  const reaching = lanes.flatMap((lane) =>
    lane.filter((milestone) => getRank(countsAs(milestone, lane, memory) ?? 'pending') >= rank),
  );
  return reaching.toSorted(compareInListOrder)[0] ?? null;
}

function getStatus(rank: number): ShipmentStatus {
  return SHIPMENT_STATUSES[rank] ?? 'pending';
}

/** Returns cancellations that are not retracted and that no `booking_confirmed` with a later date revokes. */
function unrevokedCancellations(memory: ModelMemory): readonly ModelMilestone[] {
  const actual = actualMilestones(memory);
  return actual.filter(
    (milestone) =>
      milestone.code === 'booking_cancelled' &&
      !actual.some(({ code, occurred_at }) => code === 'booking_confirmed' && occurred_at > milestone.occurred_at),
  );
}

/**
 * Returns cancellations that have an effect: those recorded before the delivery. Milestones that arrive after a
 * cancellation do not affect the status.
 */
export function cancellations(memory: ModelMemory): readonly ModelMilestone[] {
  const isPossible =
    memory.answered.cancelledByMilestone || !isDelivered(journeyStatus(actualMilestones(memory), memory));
  return isPossible ? unrevokedCancellations(memory) : [];
}

/** Returns the status of the shipment and the milestone that set it; null if pending or cancelled by the client. */
export function shipmentStatus(memory: ModelMemory): ModelStatus {
  const [cancelling] = cancellations(memory);
  if (cancelling !== undefined) return { status: 'cancelled', by: cancelling };
  if (memory.cancelled !== null) return { status: 'cancelled', by: null };
  return journeyStatus(actualMilestones(memory), memory);
}
