import type { Timestamp } from '@tracking/contracts';
import {
  shipmentAta,
  shipmentAtd,
  isDeparture,
  isDepartureBy,
  hasNoPlace,
  isVisit,
  legAta,
  legAtd,
} from './actual-times.ts';
import {
  type ModelMemory,
  type ModelMilestone,
  isByRoad,
  countingMilestones,
  findDestination,
  milestonesOfContainer,
  findOrigin,
} from './memory.ts';
import { cancellations } from './status.ts';

/** Returns true if a newer estimate for the same code, container, location and source exists. */
export function isSuperseded(estimate: ModelMilestone, memory: ModelMemory): boolean {
  if (estimate.classifier !== 'estimated') return false;
  return memory.milestones.some(
    (other) =>
      !other.retracted &&
      other.classifier === 'estimated' &&
      seriesKey(other) === seriesKey(estimate) &&
      other.said > estimate.said,
  );
}

function seriesKey({ code, container_number, location, source }: ModelMilestone): string {
  return JSON.stringify([code, container_number, location, source]);
}

function currentEstimates(memory: ModelMemory): readonly ModelMilestone[] {
  return countingMilestones(memory).filter(
    (milestone) => milestone.classifier === 'estimated' && !isSuperseded(milestone, memory),
  );
}

/**
 * Returns true if an estimate with the code is an estimated arrival: `vessel_arrived`, `flight_arrived`,
 * `arrived_at_destination`; by rail also 105 and 106; by road and courier also `delivered`.
 */
function estimatesArrival({ code, location }: ModelMilestone, memory: ModelMemory): boolean {
  if (['vessel_arrived', 'flight_arrived', 'arrived_at_destination'].includes(code)) return true;
  const legs = memory.legs.value;
  const leg = legs.find(({ destination_port }) => destination_port === location) ?? legs.at(-1);
  const modes = [memory.fields.mode, leg?.mode ?? null];
  if (['rail_arrived', 'rail_unloaded'].includes(code)) return modes.includes('rail');
  return code === 'delivered' && modes.some(isByRoad);
}

/** Returns true if an estimate with the code is an estimated departure, by the mode of the shipment or of the leg. */
function estimatesDeparture(milestone: ModelMilestone, memory: ModelMemory): boolean {
  const legs = memory.legs.value;
  const leg = legs.find(({ origin_port }) => origin_port === milestone.location) ?? legs[0];
  return isDeparture(milestone, memory) || isDepartureBy(leg?.mode ?? null, milestone, memory);
}

/**
 * Returns true if the estimate is for the shipment: its location is absent, free text, `destination_port` or the port
 * of the last leg. An estimate at another location sets the time of its leg.
 */
function isEndOfShipment(milestone: ModelMilestone, memory: ModelMemory): boolean {
  const ports = [findDestination(memory), memory.legs.value.at(-1)?.destination_port];
  return hasNoPlace(milestone, memory) || ports.includes(milestone.location);
}

function isStartOfShipment(milestone: ModelMilestone, memory: ModelMemory): boolean {
  const ports = [findOrigin(memory), memory.legs.value[0]?.origin_port];
  return hasNoPlace(milestone, memory) || ports.includes(milestone.location);
}

/**
 * Returns the estimates of the arrival. If an estimate of `arrived_at_destination` exists, only such estimates count.
 */
function arrivalsOfShipment(memory: ModelMemory): readonly ModelMilestone[] {
  const arrivals = currentEstimates(memory).filter(
    (milestone) => estimatesArrival(milestone, memory) && isEndOfShipment(milestone, memory),
  );
  const final = arrivals.filter(({ code }) => code === 'arrived_at_destination');
  return final.length === 0 ? arrivals : final;
}

/** Returns the estimates of the departure. */
function departuresOfShipment(memory: ModelMemory): readonly ModelMilestone[] {
  return currentEstimates(memory).filter(
    (milestone) => estimatesDeparture(milestone, memory) && isStartOfShipment(milestone, memory),
  );
}

/** Returns the newest estimate of each container among the newer estimates. */
function newestPerContainer(
  said: number,
  estimates: readonly ModelMilestone[],
  memory: ModelMemory,
): readonly ModelMilestone[] {
  const newer = estimates.filter((estimate) => estimate.said > said);
  const containers = memory.fields.container_numbers;
  const lanes = containers.length === 0 ? [newer] : containers.map((number) => milestonesOfContainer(newer, number));
  return [...new Set(lanes.flatMap((lane) => lane.toSorted((a, b) => a.said - b.said).at(-1) ?? []))];
}

/**
 * Returns the newer estimates with the latest time for the containers. Returns several if they agree, and none if no
 * estimate is newer.
 */
function newerEstimates(
  said: number,
  estimates: readonly ModelMilestone[],
  memory: ModelMemory,
): readonly ModelMilestone[] {
  const newest = newestPerContainer(said, estimates, memory);
  const latest = newest
    .map(({ occurred_at }) => occurred_at)
    .toSorted()
    .at(-1);
  return newest.filter(({ occurred_at }) => occurred_at === latest);
}

function latestEstimateAfter(
  said: number,
  estimates: readonly ModelMilestone[],
  memory: ModelMemory,
): Timestamp | undefined {
  return newerEstimates(said, estimates, memory)[0]?.occurred_at;
}

/**
 * Returns the newest statement of `eta` by an upsert, a PATCH (also null) or an estimate. If the shipment has no ETA of
 * its own, it has the ETA of its last leg.
 */
function newestEta(memory: ModelMemory): Timestamp | null {
  const { value, said } = memory.eta;
  const last = memory.legs.value.length - 1;
  if (value === null && memory.legs.value[last]?.eta != null) return legEta(last, memory);
  return latestEstimateAfter(said, arrivalsOfShipment(memory), memory) ?? value;
}

function newestEtd(memory: ModelMemory): Timestamp | null {
  const { value, said } = memory.etd;
  if (value === null && memory.legs.value[0]?.etd != null) return legEtd(0, memory);
  return latestEstimateAfter(said, departuresOfShipment(memory), memory) ?? value;
}

/** Returns the leg's ETA. After the leg's arrival, only the client can change it. */
function legEta(index: number, memory: ModelMemory): Timestamp | null {
  const { value: legs } = memory.legs;
  const said = memory.legs.said[index]?.eta ?? 0;
  const leg = legs[index];
  if (leg === undefined) return null;
  if (legAta(index, memory) !== null && said !== memory.now) return memory.answered.legs[index]?.eta ?? null;
  const forShipment = arrivalsOfShipment(memory);
  const there = currentEstimates(memory).filter(
    (milestone) =>
      estimatesArrival(milestone, memory) &&
      isVisit(milestone, index, 'destination_port', memory) &&
      !isEndOfShipment(milestone, memory),
  );
  const known = [...there, ...forShipment.filter((milestone) => isVisit(milestone, index, 'destination_port', memory))];
  const speaking = index === legs.length - 1 ? [...there, ...forShipment] : known;
  return latestEstimateAfter(said, speaking, memory) ?? leg.eta;
}

function legEtd(index: number, memory: ModelMemory): Timestamp | null {
  const { value: legs } = memory.legs;
  const said = memory.legs.said[index]?.etd ?? 0;
  const leg = legs[index];
  if (leg === undefined) return null;
  if (legAtd(index, memory) !== null && said !== memory.now) return memory.answered.legs[index]?.etd ?? null;
  const there = currentEstimates(memory).filter(
    (milestone) => estimatesDeparture(milestone, memory) && isVisit(milestone, index, 'origin_port', memory),
  );
  const speaking = index === 0 ? [...new Set([...there, ...departuresOfShipment(memory)])] : there;
  return latestEstimateAfter(said, speaking, memory) ?? leg.etd;
}

/** Returns the shipment's ETA. After `ata`, only a PATCH with `eta` can change it. */
function shipmentEta(memory: ModelMemory, isPatch: boolean): Timestamp | null {
  const { value: legs, said } = memory.legs;
  const ofLeg = memory.eta.value === null && legs.at(-1)?.eta != null ? (said.at(-1)?.eta ?? 0) : 0;
  const isSetNow = isPatch && Math.max(memory.eta.said, ofLeg) === memory.now;
  return shipmentAta(memory) === null || isSetNow ? newestEta(memory) : memory.answered.eta;
}

/** Returns the shipment's ETD. After the departure, only the client can change it. */
function shipmentEtd(memory: ModelMemory): Timestamp | null {
  const { value: legs, said } = memory.legs;
  const set = memory.etd.value === null && legs[0]?.etd != null ? (said[0]?.etd ?? 0) : memory.etd.said;
  const isSetNow = Math.max(memory.etd.said, set) === memory.now;
  return shipmentAtd(memory) === null || isSetNow ? newestEtd(memory) : memory.answered.etd;
}

/**
 * Returns the expected times after a command. The model stores them, because they stay after a departure and an
 * arrival.
 */
export function expectedTimes(memory: ModelMemory, isPatch: boolean): ModelMemory['answered'] {
  const eta = shipmentEta(memory, isPatch);
  return {
    etd: shipmentEtd(memory),
    eta,
    original_eta: memory.answered.original_eta ?? eta,
    atd: shipmentAtd(memory),
    ata: shipmentAta(memory),
    legs: memory.legs.value.map((leg, index) => ({
      ...leg,
      etd: legEtd(index, memory),
      eta: legEta(index, memory),
      atd: legAtd(index, memory),
      ata: legAta(index, memory),
    })),
    cancelledByMilestone: cancellations(memory).length > 0,
  };
}
