import { type Mode, type Timestamp, findMilestoneCode } from '@tracking/contracts';
import { places } from '../scenario.ts';
import {
  type ModelMemory,
  type ModelMilestone,
  isByRoad,
  findDestination,
  actualMilestones,
  milestonesOfContainer,
  findOrigin,
} from './memory.ts';
import { isArrival, isDeparted, isOnTheWay, isRailDepartedAgain, isSailingOn, isUnavailableAgain } from './status.ts';

/** Returns true if the code is a departure: 55, 60, 66 and 73; by road and courier also 30. */
export function isDeparture(milestone: ModelMilestone, memory: ModelMemory): boolean {
  return isDepartureBy(memory.fields.mode, milestone, memory);
}

export function isDepartureBy(mode: Mode | null, milestone: ModelMilestone, memory: ModelMemory): boolean {
  return isDeparted(milestone, memory) || (milestone.code === 'picked_up' && isByRoad(mode));
}

/** An actual departure or arrival of the shipment, with the rule that chose it. */
interface ActualEvent {
  readonly by: ModelMilestone;
  readonly rule: 'at_port' | 'earliest';
}

/** Finds `atd`: the earliest actual departure at `origin_port`; if there is none, the earliest departure. */
function findDeparture(memory: ModelMemory): ActualEvent | null {
  const departures = actualMilestones(memory).filter((milestone) => isDeparture(milestone, memory));
  const there = departures.filter(({ location }) => location !== null && location === findOrigin(memory));
  return chooseFirstAtPort(there, departures);
}

/**
 * Finds `ata`: the earliest arrival at `destination_port`; if there is none, the earliest arrival after the last
 * departure.
 */
function findArrival(memory: ModelMemory): ActualEvent | null {
  const there = actualArrivals(memory).filter((milestone) => isAt(findDestination(memory), milestone));
  return chooseFirstAtPort(there, finalArrivals(memory));
}

function chooseFirstAtPort([there]: readonly ModelMilestone[], [other]: readonly ModelMilestone[]): ActualEvent | null {
  if (there !== undefined) return { by: there, rule: 'at_port' };
  return other === undefined ? null : { by: other, rule: 'earliest' };
}

export function shipmentAtd(memory: ModelMemory): Timestamp | null {
  return findDeparture(memory)?.by.occurred_at ?? null;
}

export function shipmentAta(memory: ModelMemory): Timestamp | null {
  return findArrival(memory)?.by.occurred_at ?? null;
}

function actualArrivals(memory: ModelMemory): readonly ModelMilestone[] {
  return actualMilestones(memory).filter((milestone) => isArrival(milestone, memory) && !isOnTheWay(milestone, memory));
}

/** Returns the arrivals that are not before the last departure. */
function finalArrivals(memory: ModelMemory): readonly ModelMilestone[] {
  const departed = actualMilestones(memory).findLast((milestone) => isDeparture(milestone, memory))?.occurred_at ?? '';
  return actualArrivals(memory).filter(({ occurred_at }) => occurred_at >= departed);
}

/**
 * Returns the leg's `atd` from departures at its port, by its mode. The first leg also uses departures without a place.
 */
export function legAtd(index: number, memory: ModelMemory): Timestamp | null {
  const { value: legs } = memory.legs;
  const leg = legs[index];
  const whole = legs.length <= 1 ? shipmentAtd(memory) : null;
  if (leg === undefined || whole !== null) return whole;
  const mode = leg.mode ?? memory.fields.mode;
  const there = actualMilestones(memory).filter(
    (milestone) => isDepartureBy(mode, milestone, memory) && isVisit(milestone, index, 'origin_port', memory),
  );
  const departures = actualMilestones(memory).filter((milestone) => isDeparture(milestone, memory));
  return earliest(there) ?? (index === 0 ? earliest(departures.filter((each) => hasNoPlace(each, memory))) : null);
}

/** Returns the leg's `ata` from arrivals at its port. The last leg also uses arrivals without a place. */
export function legAta(index: number, memory: ModelMemory): Timestamp | null {
  const { value: legs } = memory.legs;
  const leg = legs[index];
  if (leg === undefined || legs.length === 1) return shipmentAta(memory);
  const arrivals = actualMilestones(memory).filter(
    (milestone) => isArrival(milestone, memory) || ['transshipment_arrived', 'rail_arrived'].includes(milestone.code),
  );
  const there = arrivals.filter((milestone) => isVisit(milestone, index, 'destination_port', memory));
  if (there.length > 0 || index < legs.length - 1) return earliest(there);
  return earliest(finalArrivals(memory).filter((each) => hasNoPlace(each, memory)));
}

/**
 * Returns true if the milestone belongs to the leg. If an earlier leg has the same port, only milestones at or after
 * the arrival of the previous leg belong to it; without an arrival, those at or after its departure. While both are
 * unknown, no milestone belongs to the leg.
 */
export function isVisit(
  milestone: ModelMilestone,
  index: number,
  port: 'origin_port' | 'destination_port',
  memory: ModelMemory,
): boolean {
  const { value: legs } = memory.legs;
  const own = legs[index]?.[port] ?? null;
  if (!isAt(own, milestone)) return false;
  const isFirstTime = legs.findIndex((leg) => leg[port] === own) === index;
  const since = isFirstTime ? '' : (legAta(index - 1, memory) ?? legAtd(index - 1, memory));
  return since !== null && milestone.occurred_at >= since;
}

function isAt(port: string | null, { location }: ModelMilestone): boolean {
  return location !== null && location === port;
}

/**
 * Returns true if the milestone has no location, or if its location is free text: not a port of the shipment or of a
 * leg, and not a known place.
 */
export function hasNoPlace({ location }: ModelMilestone, memory: ModelMemory): boolean {
  if (location === null) return true;
  const ports = memory.legs.value.flatMap((leg) => [leg.origin_port, leg.destination_port]);
  const isPort = [findOrigin(memory), findDestination(memory), ...ports].includes(location);
  return !isPort && places.find(location) === undefined;
}

/**
 * Returns the times of a container. Each time is that of the earliest milestone of its kind that counts.
 * `discharged_at` is the discharge from the last vessel, even if the container continues by land.
 */
export function containerTimes(container: string, memory: ModelMemory) {
  const lane = milestonesOfContainer(actualMilestones(memory), container);
  const earliestOf = (code: string) =>
    earliest(
      lane.filter(
        (milestone) =>
          milestone.code === code && !isUnavailableAgain(milestone, lane) && !isRailDepartedAgain(milestone, lane),
      ),
    );
  const landings = lane.filter((milestone) => isLanding(milestone, lane, memory));
  return {
    discharged_at: earliest(landings),
    available_at: earliestOf('available_for_pickup'),
    gated_out_at: earliestOf('gated_out'),
    delivered_at: earliestOf('delivered'),
    empty_returned_at: earliestOf('empty_returned'),
  };
}

function isLanding(milestone: ModelMilestone, lane: readonly ModelMilestone[], memory: ModelMemory): boolean {
  const sailed = lane.some(
    (other) =>
      ['vessel_departed', 'transshipment_departed'].includes(other.code) &&
      !isSailingOn(other, memory) &&
      other.occurred_at > milestone.occurred_at,
  );
  const railed = lane.some(({ code, occurred_at }) => code === 'rail_departed' && occurred_at > milestone.occurred_at);
  const isLast = !isOnTheWay(milestone, memory) || railed || continuesByLand(milestone, memory);
  return milestone.code === 'discharged' && !sailed && isLast;
}

function continuesByLand({ location }: ModelMilestone, { fields, legs: { value: legs } }: ModelMemory): boolean {
  const stop = legs.map(({ destination_port }) => destination_port).lastIndexOf(location);
  const next = stop < 0 ? undefined : legs[stop + 1];
  const by = next?.mode ?? fields.mode;
  return next !== undefined && by !== null && ['air', 'road', 'rail', 'courier'].includes(by);
}

/** Returns `last_milestone`: the latest actual milestone. */
export function lastMilestone(milestones: readonly ModelMilestone[]) {
  const last = milestones.at(-1);
  if (last === undefined) return null;
  const { id, code, occurred_at, location } = last;
  return { id, code, label: findMilestoneCode(code)?.label, occurred_at, location };
}

function earliest(milestones: readonly ModelMilestone[]): Timestamp | null {
  return milestones[0]?.occurred_at ?? null;
}
