import { SHIPMENT_STATUSES, type ShipmentStatus, type Timestamp, parseMilestoneCode } from '@tracking/contracts';
import { scenarioPlacesStub } from '../scenario.ts';
import {
  type ShipmentModelState,
  type ModelMilestone,
  isByRoad,
  findDestinationPort,
  compareMilestonesInListOrder,
  findOriginPort,
} from './memory.ts';
import {
  listGoodsMilestones,
  isArrivalCode,
  hasKnownLocation,
  isMovementCode,
  isDepartureCode,
  listMilestonesOfContainerGoods,
  listContainersOfShipment,
} from './trips.ts';

interface ModelledShipmentStatus {
  readonly status: ShipmentStatus;
  /** The milestone that set the status. */
  readonly by: ModelMilestone | null;
}

export const getStatusRank = (status: ShipmentStatus): number => SHIPMENT_STATUSES.indexOf(status);
const isDelivered = ({ status }: ModelledShipmentStatus): boolean =>
  getStatusRank(status) >= getStatusRank('delivered');

const DEPARTURE_CODES = ['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'];

/**
 * Returns true if the milestone is a departure by vessel, flight, rail or transshipment. A vessel that sails on without
 * the goods is not a departure.
 */
export function isDepartureOfGoods(milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  return DEPARTURE_CODES.includes(milestone.code) && !isVesselSailingOnInModel(milestone, memory);
}

/**
 * Returns true if the milestone reports a vessel that sails on without the goods: a `vessel_departed` at
 * `destination_port`. On a round trip, such a milestone is the departure.
 */
export function isVesselSailingOnInModel({ code, location }: ModelMilestone, memory: ShipmentModelState): boolean {
  const destination = findDestinationPort(memory);
  return (
    code === 'vessel_departed' &&
    location !== null &&
    location === destination &&
    destination !== findOriginPort(memory)
  );
}

/** Returns the status that the code gives, for the mode and load type of the shipment. */
function getShipmentStatusOfMilestoneCode(
  { code }: ModelMilestone,
  { fields: { mode, load_type } }: ShipmentModelState,
): ShipmentStatus | null {
  if (code === 'picked_up' && isByRoad(mode)) return 'in_transit';
  // For part loads (`lcl`), `gated_out` counts as `in_transit`, and `cargo_stripped` counts as `arrived`.
  // For part loads (`lcl`), `empty_returned` does not affect the status.
  if (load_type === 'lcl') {
    if (code === 'gated_out') return 'in_transit';
    if (code === 'cargo_stripped') return 'arrived';
    if (code === 'empty_returned') return null;
  }
  return parseMilestoneCode(code)?.status ?? null;
}

/** Returns true if the arrival is at the destination, for each container that it concerns. */
export function isArrivalAtDestination(milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  if (!isArrivalCode(milestone.code, memory)) return false;
  const { container_number } = milestone;
  if (findDestinationPort(memory) === null) {
    return !listGoodsMilestones(memory).some(
      (each) =>
        isDepartureCode(each.code, memory) &&
        !isVesselSailingOnInModel(each, memory) &&
        isLaterDeparture(each, milestone),
    );
  }
  if (hasKnownLocation(milestone, memory)) return milestone.location === findDestinationPort(memory);
  const lanes = container_number === null ? listContainersOfShipment(memory) : [container_number];
  return lanes.every((number) =>
    hasNotMovedSinceArrival(milestone, listMilestonesOfContainerGoods(number, memory), memory),
  );
}

/** Returns true if the departure is after the milestone, or at the same time and place. */
function isLaterDeparture(departure: ModelMilestone, { occurred_at, location }: ModelMilestone): boolean {
  if (departure.occurred_at !== occurred_at) return departure.occurred_at > occurred_at;
  return location !== null && departure.location === location;
}

/**
 * Returns true if the arrival is certainly on the way: at the end of a leg that is not the destination, or at a
 * UN/LOCODE or airport in another country than `destination_port`.
 */
export function isArrivalOnTheWay({ location }: ModelMilestone, memory: ShipmentModelState): boolean {
  if (location === null) return false;
  const destination = findDestinationPort(memory);
  const legs = memory.legs.value;
  if (location === destination) return false;
  const onTheWay = legs.map(({ destination_port }) => destination_port);
  if (onTheWay.includes(location)) return true;
  const country = getCountryOfPlace(location);
  const end = destination === null ? undefined : getCountryOfPlace(destination);
  return country !== undefined && end !== undefined && country !== end;
}

function getCountryOfPlace(place: string): string | undefined {
  return scenarioPlacesStub.find(place)?.country;
}

/** Returns true if a later departure shows that the arrival was on the way, so that it counts as `in_transit`. */
function hasLaterDeparture(
  milestone: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): boolean {
  return lane.some((other) => isDepartureOfGoods(other, memory) && isLaterDeparture(other, milestone));
}

/** Returns true if the goods departed at the time of the arrival from the same place, which the service does not know. */
function isDepartedAtTimeOfArrival(
  arrival: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): boolean {
  return lane.some(
    (other) =>
      other.occurred_at === arrival.occurred_at &&
      !hasKnownLocation(other, memory) &&
      isDepartureCode(other.code, memory) &&
      !isVesselSailingOnInModel(other, memory) &&
      isLaterDeparture(other, arrival),
  );
}

/** Returns true if a later `rail_departed` revokes the milestone. */
function isRailDepartedAgain({ occurred_at }: ModelMilestone, lane: readonly ModelMilestone[]): boolean {
  return lane.some((other) => other.code === 'rail_departed' && other.occurred_at > occurred_at);
}

/** Returns true if a later `unavailable_for_pickup` revokes `available_for_pickup`. */
function isPickupAvailabilityRevoked({ code, occurred_at }: ModelMilestone, lane: readonly ModelMilestone[]): boolean {
  if (code !== 'available_for_pickup') return false;
  return lane.some((other) => other.code === 'unavailable_for_pickup' && other.occurred_at >= occurred_at);
}

/** Returns true if the goods started their way back at or after the milestone. */
function hasGoodsReturnStartedSince({ occurred_at }: ModelMilestone, lane: readonly ModelMilestone[]): boolean {
  return lane.some((other) => other.code === 'return_started' && other.occurred_at >= occurred_at);
}

/** Returns true if the goods started their way back at or before the milestone. */
function haveGoodsBegunReturnToShipper({ occurred_at }: ModelMilestone, lane: readonly ModelMilestone[]): boolean {
  return lane.some((other) => other.code === 'return_started' && other.occurred_at <= occurred_at);
}

/**
 * Returns true if the goods were elsewhere after the time and before the delivery, or departed later from an unknown
 * place.
 */
function hasGoodsMovedSince(time: Timestamp, lane: readonly ModelMilestone[], memory: ShipmentModelState): boolean {
  const delivery = lane.find(
    (each) =>
      getStatusRank(getShipmentStatusOfMilestoneCode(each, memory) ?? 'pending') >= getStatusRank('delivered') &&
      getShipmentStatusOfMilestoneCode(each, memory) !== 'cancelled',
  );
  return lane.some((other) => {
    if (other.occurred_at <= time || isVesselSailingOnInModel(other, memory) || !isMovementCode(other.code, memory))
      return false;
    if (!hasKnownLocation(other, memory)) return isDepartureCode(other.code, memory);
    const isBeforeDelivery = delivery === undefined || other.occurred_at < delivery.occurred_at;
    return other.location !== findDestinationPort(memory) && isBeforeDelivery;
  });
}

/** Returns true if the goods did not move after the arrival at an unknown place. */
function hasNotMovedSinceArrival(
  arrival: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): boolean {
  return !hasGoodsMovedSince(arrival.occurred_at, lane, memory) && !isDepartedAtTimeOfArrival(arrival, lane, memory);
}

/** Returns the time of the first arrival at the destination. */
function findDestinationArrivalTime(
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): Timestamp | undefined {
  return lane.find((each) => {
    const status = getShipmentStatusOfMilestoneCode(each, memory);
    const isThere = hasKnownLocation(each, memory) && each.location === findDestinationPort(memory);
    if (isThere) return isArrivalCode(each.code, memory) || status === 'available_for_pickup';
    return status === 'arrived' && !hasKnownLocation(each, memory) && hasNotMovedSinceArrival(each, lane, memory);
  })?.occurred_at;
}

/** By courier, road and air, the later of `out_for_delivery` and `available_for_pickup` counts. */
function areGoodsAvailableAgainAfter(
  milestone: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): boolean {
  const { mode } = memory.fields;
  if (mode !== 'courier' && mode !== 'road' && mode !== 'air') return false;
  return lane.some(
    (other) =>
      other.code === 'available_for_pickup' &&
      other.occurred_at > milestone.occurred_at &&
      !isPickupAvailabilityRevoked(other, lane) &&
      !hasGoodsReturnStartedSince(other, lane) &&
      isAvailableAtDestination(other, lane, memory),
  );
}

function isAvailableAtDestination(
  milestone: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): boolean {
  const destination = findDestinationPort(memory);
  if (destination === null) return true;
  if (hasKnownLocation(milestone, memory)) return milestone.location === destination;
  return !hasGoodsMovedSince(milestone.occurred_at, lane, memory);
}

/** Returns the status that the milestone gives, by its place and the other milestones of the container. */
export function computeStatusGivenByMilestone(
  milestone: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): ShipmentStatus | null {
  const status = getShipmentStatusOfMilestoneCode(milestone, memory);
  if (status === null || status === 'cancelled' || isVesselSailingOnInModel(milestone, memory)) return null;
  if (status === 'delivered') return haveGoodsBegunReturnToShipper(milestone, lane) ? 'returned' : status;
  if (status !== 'arrived' && status !== 'available_for_pickup' && status !== 'out_for_delivery') return status;
  const destination = findDestinationPort(memory);
  const isElsewhere = destination !== null && hasKnownLocation(milestone, memory) && milestone.location !== destination;
  const elsewhere = milestone.location === findOriginPort(memory) ? 'at_origin' : 'in_transit';
  if (isElsewhere && status !== 'out_for_delivery') return elsewhere;
  if (isPickupAvailabilityRevoked(milestone, lane)) return null;
  if (status === 'out_for_delivery' && areGoodsAvailableAgainAfter(milestone, lane, memory)) return null;
  if (status !== 'arrived' && hasGoodsReturnStartedSince(milestone, lane)) return 'in_transit';
  if (destination === null) {
    const isDemoted =
      status === 'arrived' ? hasLaterDeparture(milestone, lane, memory) : isRailDepartedAgain(milestone, lane);
    return isDemoted ? 'in_transit' : status;
  }
  const arrived = findDestinationArrivalTime(lane, memory);
  const isAfterArrival = arrived !== undefined && milestone.occurred_at >= arrived;
  if (isElsewhere) return isAfterArrival ? status : elsewhere;
  if (hasKnownLocation(milestone, memory) || (status === 'out_for_delivery' && isAfterArrival)) return status;
  if (status === 'arrived') return hasNotMovedSinceArrival(milestone, lane, memory) ? status : 'in_transit';
  return hasGoodsMovedSince(milestone.occurred_at, lane, memory) ? 'in_transit' : status;
}

/** Returns the highest rank among the milestones, and the first milestone with that rank. */
export function computeStatusOfContainerMilestones(
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): ModelledShipmentStatus {
  let highest: ModelledShipmentStatus = { status: 'pending', by: null };
  for (const milestone of lane) {
    const status = computeStatusGivenByMilestone(milestone, lane, memory);
    if (status !== null && getStatusRank(status) > getStatusRank(highest.status)) highest = { status, by: milestone };
  }
  return highest;
}

/**
 * Returns the status of the shipment. If all containers are delivered or beyond, it is their lowest status; otherwise
 * it is their highest, but at most `out_for_delivery`.
 */
function computeShipmentJourneyStatus(memory: ShipmentModelState): ModelledShipmentStatus {
  const lanes = listContainersOfShipment(memory).map((number) => listMilestonesOfContainerGoods(number, memory));
  const reached = lanes.map((lane) => computeStatusOfContainerMilestones(lane, memory));
  const ranks = reached.map(({ status }) => getStatusRank(status));
  if (reached.every(isDelivered)) {
    const lowest = getStatusOfRankInModel(Math.min(...ranks));
    // The container that reached the status last sets it for the shipment.
    const setters = reached.flatMap(({ status, by }) => (status === lowest && by !== null ? [by] : []));
    return { status: lowest, by: setters.toSorted(compareMilestonesInListOrder).at(-1) ?? null };
  }
  const rank = Math.min(Math.max(...ranks), getStatusRank('out_for_delivery'));
  return { status: getStatusOfRankInModel(rank), by: findFirstMilestoneToReachRank(rank, lanes, memory) };
}

/** Returns the first milestone that brought a container to the rank or beyond. */
function findFirstMilestoneToReachRank(
  rank: number,
  lanes: readonly (readonly ModelMilestone[])[],
  memory: ShipmentModelState,
): ModelMilestone | null {
  if (rank === 0) return null;
  const reaching = lanes.flatMap((lane) =>
    lane.filter(
      (milestone) => getStatusRank(computeStatusGivenByMilestone(milestone, lane, memory) ?? 'pending') >= rank,
    ),
  );
  return reaching.toSorted(compareMilestonesInListOrder)[0] ?? null;
}

function getStatusOfRankInModel(rank: number): ShipmentStatus {
  return SHIPMENT_STATUSES[rank] ?? 'pending';
}

/** Returns cancellations that are not retracted and that no `booking_confirmed` with a later date revokes. */
function listUnrevokedCancellations(memory: ShipmentModelState): readonly ModelMilestone[] {
  const actual = listGoodsMilestones(memory);
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
export function listCancellationsBeforeDelivery(memory: ShipmentModelState): readonly ModelMilestone[] {
  const isPossible = memory.answered.cancelledByMilestone || !isDelivered(computeShipmentJourneyStatus(memory));
  return isPossible ? listUnrevokedCancellations(memory) : [];
}

/** Returns the status of the shipment and the milestone that set it; null if pending or cancelled by the client. */
export function computeShipmentStatus(memory: ShipmentModelState): ModelledShipmentStatus {
  const [cancelling] = listCancellationsBeforeDelivery(memory);
  if (cancelling !== undefined) return { status: 'cancelled', by: cancelling };
  if (memory.cancelled !== null) return { status: 'cancelled', by: null };
  return computeShipmentJourneyStatus(memory);
}
