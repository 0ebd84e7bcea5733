import { type Mode, type Timestamp, parseMilestoneCode } from '@tracking/contracts';
import {
  type ShipmentModelState,
  type ModelMilestone,
  isByRoad,
  findDestinationPort,
  findOriginPort,
} from './memory.ts';
import {
  computeStatusGivenByMilestone,
  isArrivalAtDestination,
  isDepartureOfGoods,
  isArrivalOnTheWay,
  isVesselSailingOnInModel,
} from './status.ts';
import { listGoodsMilestones, isArrivalCode, hasKnownLocation, listMilestonesOfContainerGoods } from './trips.ts';

/** Returns true if the code is a departure: 55, 60, 66 and 73; by road and courier also 30. */
export function isDeparture(milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  return isDepartureForMode(memory.fields.mode, milestone, memory);
}

export function isDepartureForMode(mode: Mode | null, milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  return isDepartureOfGoods(milestone, memory) || (milestone.code === 'picked_up' && isByRoad(mode));
}

/** An actual departure or arrival of the shipment, with the rule that chose it. */
interface ActualDepartureOrArrival {
  readonly by: ModelMilestone;
  readonly rule: 'at_port' | 'earliest';
}

/** Finds `atd`: the earliest actual departure at `origin_port`; if there is none, the earliest departure. */
function findActualDepartureInModel(memory: ShipmentModelState): ActualDepartureOrArrival | null {
  const departures = listGoodsMilestones(memory).filter((milestone) => isDeparture(milestone, memory));
  const there = departures.filter(({ location }) => location !== null && location === findOriginPort(memory));
  return preferMilestoneAtPort(there, departures);
}

/** Finds `ata`: the earliest arrival at the destination; if there is none, the earliest that can be the arrival. */
function findArrivalDeterminingAta(memory: ShipmentModelState): ActualDepartureOrArrival | null {
  const arrivals = listActualArrivals(memory);
  return preferMilestoneAtPort(
    arrivals.filter((milestone) => isMilestoneAtPort(findDestinationPort(memory), milestone)),
    arrivals,
  );
}

function preferMilestoneAtPort(
  [there]: readonly ModelMilestone[],
  [other]: readonly ModelMilestone[],
): ActualDepartureOrArrival | null {
  if (there !== undefined) return { by: there, rule: 'at_port' };
  return other === undefined ? null : { by: other, rule: 'earliest' };
}

export function findActualDepartureTimeOfShipment(memory: ShipmentModelState): Timestamp | null {
  return findActualDepartureInModel(memory)?.by.occurred_at ?? null;
}

export function findActualArrivalOfShipment(memory: ShipmentModelState): Timestamp | null {
  return findArrivalDeterminingAta(memory)?.by.occurred_at ?? null;
}

function listActualArrivals(memory: ShipmentModelState): readonly ModelMilestone[] {
  return listGoodsMilestones(memory).filter((milestone) => isArrivalAtDestination(milestone, memory));
}

/**
 * Returns the leg's `atd` from departures at its port, by its mode. The first leg also uses departures without a place.
 */
export function findActualDepartureTimeOfLeg(index: number, memory: ShipmentModelState): Timestamp | null {
  const { value: legs } = memory.legs;
  const leg = legs[index];
  const whole = legs.length <= 1 ? findActualDepartureTimeOfShipment(memory) : null;
  if (leg === undefined || whole !== null) return whole;
  const mode = leg.mode ?? memory.fields.mode;
  const there = listGoodsMilestones(memory).filter(
    (milestone) => isDepartureForMode(mode, milestone, memory) && belongsToLeg(milestone, index, 'origin_port', memory),
  );
  const departures = listGoodsMilestones(memory).filter((milestone) => isDeparture(milestone, memory));
  return (
    findEarliestMilestoneTime(there) ??
    (index === 0 ? findEarliestMilestoneTime(departures.filter((each) => lacksKnownLocation(each, memory))) : null)
  );
}

/** Returns the leg's `ata` from arrivals at its port. The last leg also uses arrivals without a place. */
export function findActualArrivalOfLeg(index: number, memory: ShipmentModelState): Timestamp | null {
  const { value: legs } = memory.legs;
  const leg = legs[index];
  if (leg === undefined || legs.length === 1) return findActualArrivalOfShipment(memory);
  const arrivals = listGoodsMilestones(memory).filter(
    ({ code }) => isArrivalCode(code, memory) || ['transshipment_arrived', 'rail_arrived'].includes(code),
  );
  const there = arrivals.filter((milestone) => belongsToLeg(milestone, index, 'destination_port', memory));
  if (there.length > 0 || index < legs.length - 1) return findEarliestMilestoneTime(there);
  return findEarliestMilestoneTime(listActualArrivals(memory).filter((each) => lacksKnownLocation(each, memory)));
}

/**
 * Returns true if the milestone belongs to the leg. If an earlier leg has the same port, only milestones at or after
 * the arrival of the previous leg belong to it; without an arrival, those at or after its departure. While both are
 * unknown, no milestone belongs to the leg.
 */
export function belongsToLeg(
  milestone: ModelMilestone,
  index: number,
  port: 'origin_port' | 'destination_port',
  memory: ShipmentModelState,
): boolean {
  const { value: legs } = memory.legs;
  const own = legs[index]?.[port] ?? null;
  if (!isMilestoneAtPort(own, milestone)) return false;
  const isFirstTime = legs.findIndex((leg) => leg[port] === own) === index;
  const since = isFirstTime
    ? ''
    : (findActualArrivalOfLeg(index - 1, memory) ?? findActualDepartureTimeOfLeg(index - 1, memory));
  return since !== null && milestone.occurred_at >= since;
}

function isMilestoneAtPort(port: string | null, { location }: ModelMilestone): boolean {
  return location !== null && location === port;
}

/**
 * Returns true if the milestone has no location, or if its location is free text: not a port of the shipment or of a
 * leg, and not a known place.
 */
export function lacksKnownLocation(milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  return !hasKnownLocation(milestone, memory);
}

/**
 * Returns the times of a container. Each time is that of the earliest milestone of its kind that counts.
 * `discharged_at` is the discharge from the last vessel, even if the container continues by land.
 */
export function computeContainerTimes(container: string, memory: ShipmentModelState) {
  const lane = listMilestonesOfContainerGoods(container, memory);
  const earliestOf = (code: string) => findEarliestMilestoneTime(lane.filter((milestone) => milestone.code === code));
  const available = lane.filter(
    (milestone) => computeStatusGivenByMilestone(milestone, lane, memory) === 'available_for_pickup',
  );
  const railed = lane.findLast(({ code }) => code === 'rail_departed')?.occurred_at ?? '';
  const out = lane.filter(({ code, occurred_at }) => code === 'gated_out' && occurred_at >= railed);
  const landings = lane.filter((milestone) => isFinalDischarge(milestone, lane, memory));
  return {
    discharged_at: findEarliestMilestoneTime(landings),
    available_at: findEarliestMilestoneTime(available),
    gated_out_at: findEarliestMilestoneTime(out),
    delivered_at: earliestOf('delivered'),
    empty_returned_at: earliestOf('empty_returned'),
  };
}

function isFinalDischarge(
  milestone: ModelMilestone,
  lane: readonly ModelMilestone[],
  memory: ShipmentModelState,
): boolean {
  const sailed = lane.some(
    (other) =>
      ['vessel_departed', 'transshipment_departed'].includes(other.code) &&
      !isVesselSailingOnInModel(other, memory) &&
      other.occurred_at > milestone.occurred_at,
  );
  const railed = lane.some(({ code, occurred_at }) => code === 'rail_departed' && occurred_at > milestone.occurred_at);
  const isLast = !isArrivalOnTheWay(milestone, memory) || railed || continuesByLandFromPort(milestone, memory);
  return milestone.code === 'discharged' && !sailed && isLast;
}

function continuesByLandFromPort(
  { location }: ModelMilestone,
  { fields, legs: { value: legs } }: ShipmentModelState,
): boolean {
  const stop = legs.map(({ destination_port }) => destination_port).lastIndexOf(location);
  const next = stop < 0 ? undefined : legs[stop + 1];
  const by = next?.mode ?? fields.mode;
  return next !== undefined && by !== null && ['air', 'road', 'rail', 'courier'].includes(by);
}

/** Returns `last_milestone`: the latest actual milestone. */
export function findLastMilestone(milestones: readonly ModelMilestone[]) {
  const last = milestones.at(-1);
  if (last === undefined) return null;
  const { id, code, occurred_at, location } = last;
  return { id, code, label: parseMilestoneCode(code)?.label, occurred_at, location };
}

function findEarliestMilestoneTime(milestones: readonly ModelMilestone[]): Timestamp | null {
  return milestones[0]?.occurred_at ?? null;
}
