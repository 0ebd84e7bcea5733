import { parseMilestoneCode, type Timestamp } from '@tracking/contracts';
import {
  type ShipmentModelState,
  type ModelMilestone,
  compareMilestonesInListOrder,
  listCountingMilestones,
  findDestinationPort,
  findOriginPort,
  isByRoad,
  listMilestonesOfContainer,
} from './memory.ts';
import { scenarioPlacesStub } from '../scenario.ts';
import { convertToUtcAtPlace, computeStartOfDateAtPlace } from './days.ts';
import { isLaterReport } from './reports.ts';

/** Random shipments are created after all dates of their milestones. */
const SAMPLE_CREATION_TIME = '2026-06-01T00:00:00.000Z';
const DEPARTURE_CODES = ['vessel_departed', 'flight_departed', 'rail_departed', 'transshipment_departed'];
const VESSEL_DEPARTURE_CODES = ['vessel_departed', 'transshipment_departed'];
const DISCHARGE_CODES = ['discharged', 'transshipment_discharged'];
const LOADING_CODES = ['loaded_on_vessel', 'transshipment_loaded'];
const LEG_ARRIVAL_CODES = ['transshipment_arrived', 'transshipment_discharged', 'rail_arrived'];

/** Returns the containers of the shipment, or null for a shipment without containers. */
export function listContainersOfShipment({
  fields: { container_numbers },
}: ShipmentModelState): readonly (string | null)[] {
  return container_numbers.length === 0 ? [null] : container_numbers;
}

/** Returns the actual milestones that report what happened to the goods of any container, in the order of the list. */
export function listGoodsMilestones(memory: ShipmentModelState): readonly ModelMilestone[] {
  const counting = new Set(
    listContainersOfShipment(memory).flatMap((number) => listMilestonesOfContainerGoods(number, memory)),
  );
  return listActualMilestones(memory).filter((milestone) => counting.has(milestone));
}

/** Returns the actual milestones that report what happened to the goods of a container. */
export function listMilestonesOfContainerGoods(
  number: string | null,
  memory: ShipmentModelState,
): readonly ModelMilestone[] {
  const inTime = listMilestonesOfOwnTrip(number, memory);
  const last = inTime.filter((milestone) => !isReplacedByLaterReport(milestone, memory));
  return last.filter((milestone) => !isVesselDepartureAfterDischarge(milestone, last));
}

/** Returns the milestones of a container without those of other trips and late repetitions. */
function listMilestonesOfOwnTrip(number: string | null, memory: ShipmentModelState): readonly ModelMilestone[] {
  const all = listMilestonesOfContainer(listActualMilestones(memory), number);
  const own = all.filter(({ container_number }) => container_number !== null);
  const others = listMilestonesOfOtherTrips(own, all, memory);
  const ofTrip = all.filter((milestone) => !others.includes(milestone));
  return ofTrip.filter((milestone) => !isLateRepetitionOfDeparture(milestone, ofTrip, memory));
}

const ARRIVAL_OF_VISIT_CODES = [
  'vessel_arrived',
  'flight_arrived',
  'rail_arrived',
  'transshipment_arrived',
  'arrived_at_destination',
];

/**
 * Returns true if a feed reported the same event of the same visit again later. A visit ends with a departure from the
 * place, or from any place if the place is not known. For departures, it ends with an arrival.
 */
export function isReplacedByLaterReport(milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  const canRepeat = ({ external_id, source, code }: ModelMilestone) =>
    external_id === null && source !== 'manual' && parseMilestoneCode(code)?.once_per_visit === true;
  if (milestone.classifier !== 'actual' || milestone.retracted || !canRepeat(milestone)) return false;
  const { code, container_number, location, source } = milestone;
  const counting = [
    ...new Set(listContainersOfShipment(memory).flatMap((number) => listMilestonesOfOwnTrip(number, memory))),
  ];
  if (!counting.includes(milestone)) return false;
  const limits = counting.filter(
    (other) =>
      (isDepartureCode(code, memory)
        ? [...ARRIVAL_OF_VISIT_CODES, ...LOADING_CODES].includes(other.code)
        : isDepartureCode(other.code, memory)) &&
      (!hasKnownLocation(milestone, memory) || other.location === location) &&
      (container_number === null || [null, container_number].includes(other.container_number)),
  );
  const visitOf = ({ occurred_at }: ModelMilestone) =>
    limits.filter((limit) =>
      isDepartureCode(code, memory) ? limit.occurred_at <= occurred_at : limit.occurred_at < occurred_at,
    ).length;
  return counting.some(
    (other) =>
      canRepeat(other) &&
      other.code === code &&
      other.container_number === container_number &&
      other.location === location &&
      other.source === source &&
      visitOf(other) === visitOf(milestone) &&
      isLaterReport(other, milestone),
  );
}

function listActualMilestones(memory: ShipmentModelState): readonly ModelMilestone[] {
  return listCountingMilestones(memory)
    .filter(({ classifier }) => classifier === 'actual')
    .toSorted(compareMilestonesInListOrder);
}

export function isDepartureCode(code: string, memory: ShipmentModelState): boolean {
  return DEPARTURE_CODES.includes(code) || (code === 'picked_up' && isByRoad(memory.fields.mode));
}

/** Returns true if the code gives the status `arrived`, and is not `unavailable_for_pickup`. */
export function isArrivalCode(code: string, { fields: { load_type } }: ShipmentModelState): boolean {
  if (code === 'cargo_stripped') return load_type === 'lcl';
  return parseMilestoneCode(code)?.status === 'arrived' && code !== 'unavailable_for_pickup';
}

export function isMovementCode(code: string, memory: ShipmentModelState): boolean {
  const isStop = LEG_ARRIVAL_CODES.includes(code) || LOADING_CODES.includes(code);
  return isDepartureCode(code, memory) || isArrivalCode(code, memory) || isStop;
}

/** Returns true if the milestone has a location that is a port of the shipment or a known place. */
export function hasKnownLocation({ location }: ModelMilestone, memory: ShipmentModelState): boolean {
  if (location === null) return false;
  const ports = memory.legs.value.flatMap((leg) => [leg.origin_port, leg.destination_port]);
  const isPort = [findOriginPort(memory), findDestinationPort(memory), ...ports].includes(location);
  return isPort || scenarioPlacesStub.find(location) !== undefined;
}

function isLateRepetitionOfDeparture(
  milestone: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): boolean {
  const origin = findOriginPort(memory);
  const returns = memory.legs.value.slice(1).some(({ origin_port }) => origin_port === origin);
  const isAtOrigin = ({ code, location }: ModelMilestone) => isDepartureCode(code, memory) && location === origin;
  if (origin === null || returns || !isAtOrigin(milestone)) return false;
  const arrivals = lane.filter(
    (other) =>
      (isArrivalCode(other.code, memory) || LEG_ARRIVAL_CODES.includes(other.code)) &&
      hasKnownLocation(other, memory) &&
      other.location !== origin,
  );
  const first = lane.find(isAtOrigin);
  if (first === undefined || first.occurred_at >= milestone.occurred_at) return false;
  return arrivals.some(
    (arrival) => compareMilestonesInListOrder(first, arrival) < 0 && arrival.occurred_at < milestone.occurred_at,
  );
}

/** Returns true if a vessel departs after the container was discharged, and before it was loaded again. */
function isVesselDepartureAfterDischarge(
  { code, occurred_at }: ModelMilestone,
  lane: readonly ModelMilestone[],
): boolean {
  if (!VESSEL_DEPARTURE_CODES.includes(code)) return false;
  const before = lane.filter((other) => other.occurred_at <= occurred_at);
  const last = (codes: readonly string[]) => before.findLast((other) => codes.includes(other.code))?.occurred_at ?? '';
  return last(DISCHARGE_CODES) > last(LOADING_CODES);
}

interface ModelTrip {
  readonly milestones: readonly ModelMilestone[];
  readonly ended: Timestamp | null;
}

/** Returns the milestones of a container that belong to other trips, or to a container that was never used. */
function listMilestonesOfOtherTrips(
  own: readonly ModelMilestone[],
  all: readonly ModelMilestone[],
  memory: ShipmentModelState,
): readonly ModelMilestone[] {
  const returns = own.filter(({ code }) => code === 'empty_returned').map(({ occurred_at }) => occurred_at);
  if (returns.length === 0) return [];
  const isLoaded = (among: readonly ModelMilestone[]) => among.some(({ code }) => isLoadedMovement(code, memory));
  const unnamedBetween = (after: Timestamp, until: Timestamp) =>
    all.filter(
      ({ container_number, occurred_at }) => container_number === null && occurred_at > after && occurred_at <= until,
    );
  const trips: (ModelTrip & { readonly loaded: boolean })[] = [];
  let rest = own;
  let after = '';
  while (rest.length > 0) {
    const ended = returns.find((time) => time > after) ?? null;
    const milestones = rest.filter(({ occurred_at }) => ended === null || occurred_at <= ended);
    rest = rest.filter((milestone) => !milestones.includes(milestone));
    const loaded = isLoaded(milestones) || (ended !== null && isLoaded(unnamedBetween(after, ended)));
    const last = trips.at(-1);
    if (last !== undefined && ended !== null && !loaded)
      trips[trips.length - 1] = { ...last, milestones: [...last.milestones, ...milestones], ended };
    else trips.push({ milestones, ended, loaded });
    after = ended ?? after;
  }
  const etd = memory.etd.value ?? memory.legs.value[0]?.etd ?? null;
  const port = memory.etd.value === null ? (memory.legs.value[0]?.origin_port ?? null) : findOriginPort(memory);
  const [time, timeEnd] =
    etd === null
      ? [SAMPLE_CREATION_TIME, SAMPLE_CREATION_TIME]
      : [computeStartOfDateAtPlace(etd, port), convertToUtcAtPlace(etd, port)];
  const candidates = trips.filter(({ ended, loaded, milestones }) => {
    const isOver = ended !== null && ended < time;
    return (
      loaded &&
      (!isOver || (etd === null && hasTripTouchedRouteInModel([...milestones, ...unnamedBetween('', '~')], memory)))
    );
  });
  const distance = ({ milestones, ended }: ModelTrip) =>
    Math.max(
      Date.parse(milestones[0]?.occurred_at ?? '') - Date.parse(timeEnd),
      ended === null ? 0 : Date.parse(time) - Date.parse(ended),
      0,
    );
  const nearest = Math.min(...candidates.map(distance));
  const chosen = candidates.findLast((trip) => distance(trip) === nearest);
  const kept = chosen ?? trips.find(({ ended }) => ended === null);
  return own.filter(
    (milestone) =>
      kept?.milestones.includes(milestone) !== true || belongsToContainerReturnedUnused(milestone, kept, all, memory),
  );
}

/** Returns true for a pick-up of the empty container and its return without a loaded movement in between. */
function belongsToContainerReturnedUnused(
  milestone: ModelMilestone,
  { milestones }: ModelTrip,
  all: readonly ModelMilestone[],
  memory: ShipmentModelState,
): boolean {
  let out: ModelMilestone | undefined;
  for (const each of milestones) {
    if (isLoadedMovement(each.code, memory)) out = undefined;
    if (each.code === 'empty_picked_up') out = each;
    if (each.code !== 'empty_returned' || out === undefined) continue;
    const since = out.occurred_at;
    const isBetween = all.some(
      (other) =>
        other.container_number === null &&
        isLoadedMovement(other.code, memory) &&
        other.occurred_at > since &&
        other.occurred_at <= each.occurred_at,
    );
    if (!isBetween && (milestone === out || milestone === each)) return true;
    out = undefined;
  }
  return false;
}

function isLoadedMovement(code: string, memory: ShipmentModelState): boolean {
  const others = ['gated_in', 'loaded_on_vessel', 'gated_out', 'out_for_delivery', 'delivered', ...LEG_ARRIVAL_CODES];
  return others.includes(code) || isDepartureCode(code, memory) || isArrivalCode(code, memory);
}

function hasTripTouchedRouteInModel(milestones: readonly ModelMilestone[], memory: ShipmentModelState): boolean {
  return milestones.some((milestone) => {
    const { code, location } = milestone;
    const isAt = (port: string | null) => port === null || !hasKnownLocation(milestone, memory) || location === port;
    if (isDepartureCode(code, memory)) return isAt(findOriginPort(memory));
    const lastSteps = ['available_for_pickup', 'gated_out', 'out_for_delivery', 'delivered', 'cargo_stripped'];
    const isAtEnd = isArrivalCode(code, memory) || LEG_ARRIVAL_CODES.includes(code) || lastSteps.includes(code);
    return isAtEnd && isAt(findDestinationPort(memory));
  });
}
