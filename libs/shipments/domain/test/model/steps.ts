import type { ShipmentStatus } from '@tracking/contracts';
import { ataOf, isDeparture } from './actual-times.ts';
import { isMovement } from './exceptions.ts';
import { type Memory, type Said, destinationOf, happened, laneOf } from './memory.ts';
import { countsAs, isArrival, isOnTheWay, rankOf } from './status.ts';

/**
 * "A rule counts a step as done by its milestone or by any actual milestone … further along": by what it makes of the
 * status, since papers and holds come at any time; and an attempted delivery has all before it.
 */
function isBeyond(milestone: Said, status: ShipmentStatus, memory: Memory): boolean {
  return lanesFor(milestone, memory).some((lane) => countsFor(status, milestone, lane, memory));
}

function lanesFor({ container_number }: Said, memory: Memory): readonly (readonly Said[])[] {
  const named = container_number === null ? memory.fields.container_numbers : [container_number];
  const actual = happened(memory);
  return named.length === 0 ? [actual] : named.map((number) => laneOf(actual, number));
}

export function hasDeparted(memory: Memory): boolean {
  return happened(memory).some(
    (milestone) => isDeparture(milestone, memory) || isBeyond(milestone, 'in_transit', memory),
  );
}

export function hasArrived(memory: Memory): boolean {
  return ataOf(memory) !== null || happened(memory).some((milestone) => isBeyond(milestone, 'arrived', memory));
}

const BY_SEA = ['ocean', 'barge', 'multimodal', null];

/** Under way where nobody tells anything between two ports. */
export function isAtSea(memory: Memory): boolean {
  return BY_SEA.includes(memory.fields.mode) && hasDeparted(memory) && !hasArrived(memory);
}

/** It left the terminal. */
export function hasLeftTerminal(lane: readonly Said[], memory: Memory): boolean {
  return lane.some((milestone) => countsFor('out_for_delivery', milestone, lane, memory));
}

/** "Discharge", or else what is further along; that the goods arrived says nothing of the terminal. */
export function dischargeOf(container: string | null, lane: readonly Said[], memory: Memory): Said | undefined {
  const discharged = lane.find(
    (milestone) => milestone.code === 'discharged' && countsFor('arrived', milestone, lane, memory),
  );
  if (discharged !== undefined || !isHandedOut(container, memory)) return discharged;
  return lane.find((milestone) => countsAs(milestone, lane, memory) === 'available_for_pickup');
}

/** "Gate-out", or else what is further along by its status: an attempt to deliver tells no such day. */
export function gateOutOf(container: string | null, lane: readonly Said[], memory: Memory): Said | undefined {
  const gatedOut = lane.find(
    (milestone) => milestone.code === 'gated_out' && countsFor('out_for_delivery', milestone, lane, memory),
  );
  if (gatedOut !== undefined || !isHandedOut(container, memory)) return gatedOut;
  return lane.find((milestone) => rankOf(countsAs(milestone, lane, memory) ?? 'pending') >= rankOf('out_for_delivery'));
}

/** Containers that leave a terminal through its gate: gate-outs are usual for "O R B". */
function isHandedOut(container: string | null, { fields: { mode } }: Memory): boolean {
  return container !== null && ['ocean', 'rail', 'barge', 'multimodal', null].includes(mode);
}

function countsFor(status: ShipmentStatus, milestone: Said, lane: readonly Said[], memory: Memory): boolean {
  const as = countsAs(milestone, lane, memory);
  return milestone.code === 'delivery_attempted' || (as !== null && rankOf(as) >= rankOf(status));
}

const STOPS = ['transshipment_arrived', 'transshipment_discharged'];

/** "Arrived or discharged at transshipment": also by an arrival known not to be the end. */
export function isStop(milestone: Said, memory: Memory): boolean {
  const { code, location } = milestone;
  if (STOPS.includes(code)) return location === null || !endsOf(memory).includes(location);
  return (isArrival(milestone, memory) || code === 'rail_arrived') && isOnTheWay(milestone, memory);
}

function endsOf(memory: Memory): readonly (string | null)[] {
  return [destinationOf(memory), memory.legs.value.at(-1)?.destination_port ?? null];
}

/**
 * "Loaded", at that time or later, onto whatever it goes on with: `loaded_on_vessel`, a departure, "or any actual milestone …
 * further along" than these, which moves it and is no stop.
 */
export function isLoadedAfter(stop: Said, lane: readonly Said[], memory: Memory): boolean {
  return lane.some(
    (milestone) =>
      milestone.occurred_at >= stop.occurred_at &&
      !isStop(milestone, memory) &&
      (isDeparture(milestone, memory) || (isMovement(milestone, memory) && milestone.sequence >= 50)),
  );
}
