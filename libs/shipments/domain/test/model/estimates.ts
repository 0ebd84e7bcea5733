import type { TimeOrDay, Timestamp } from '@tracking/contracts';
import {
  findActualArrivalOfShipment,
  findActualDepartureTimeOfShipment,
  isDeparture,
  isDepartureForMode,
  lacksKnownLocation,
  belongsToLeg,
  findActualArrivalOfLeg,
  findActualDepartureTimeOfLeg,
} from './actual-times.ts';
import { getTimeAsSent } from './days.ts';
import {
  type ShipmentModelState,
  type ModelMilestone,
  isByRoad,
  listCountingMilestones,
  findDestinationPort,
  listMilestonesOfContainer,
  findOriginPort,
} from './memory.ts';
import { isLaterReport } from './reports.ts';
import { listCancellationsBeforeDelivery } from './status.ts';

/** Returns true if a later report for the same code, container, location and source exists. */
export function isEstimateSuperseded(estimate: ModelMilestone, memory: ShipmentModelState): boolean {
  if (estimate.classifier !== 'estimated') return false;
  return memory.milestones.some(
    (other) =>
      !other.retracted &&
      other.classifier === 'estimated' &&
      createEstimateSeriesKey(other) === createEstimateSeriesKey(estimate) &&
      isLaterReport(other, estimate),
  );
}

function createEstimateSeriesKey({ code, container_number, location, source }: ModelMilestone): string {
  return JSON.stringify([code, container_number, location, source]);
}

/** Returns the estimates as they had been reported by the actual time; without an actual time, the current ones. */
function listEstimatesBeforeActualTime(
  actual: Timestamp | null,
  memory: ShipmentModelState,
): readonly ModelMilestone[] {
  const all = listCountingMilestones(memory).filter((milestone) => milestone.classifier === 'estimated');
  if (actual === null) return all.filter((milestone) => !isEstimateSuperseded(milestone, memory));
  return all.flatMap((milestone) => {
    const reports = [...milestone.former, milestone].filter(({ reported }) => reported <= actual);
    const last = reports.includes(milestone)
      ? milestone
      : reports.toSorted((a, b) => (isLaterReport({ ...a, id: '' }, { ...b, id: '' }) ? 1 : -1)).at(-1);
    return last === undefined ? [] : [{ ...milestone, ...last }];
  });
}

/**
 * Returns true if an estimate with the code is an estimated arrival: `vessel_arrived`, `flight_arrived`,
 * `arrived_at_destination`; by rail also 105 and 106; by road and courier also `delivered`.
 */
function estimatesArrival({ code, location }: ModelMilestone, memory: ShipmentModelState): boolean {
  if (['vessel_arrived', 'flight_arrived', 'arrived_at_destination'].includes(code)) return true;
  const legs = memory.legs.value;
  const leg = legs.find(({ destination_port }) => location !== null && destination_port === location) ?? legs.at(-1);
  const modes = [memory.fields.mode, leg?.mode ?? null];
  if (['rail_arrived', 'rail_unloaded'].includes(code)) return modes.includes('rail');
  return code === 'delivered' && modes.some(isByRoad);
}

/** Returns true if an estimate with the code is an estimated departure, by the mode of the shipment or of the leg. */
function estimatesDeparture(milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  const legs = memory.legs.value;
  const leg = legs.find(({ origin_port }) => origin_port !== null && origin_port === milestone.location) ?? legs[0];
  return isDeparture(milestone, memory) || isDepartureForMode(leg?.mode ?? null, milestone, memory);
}

/**
 * Returns true if the estimate is for the shipment: its location is absent, free text, or the destination. An estimate
 * at another location sets the time of its leg.
 */
function isEstimatedForDestination(milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  return lacksKnownLocation(milestone, memory) || milestone.location === findDestinationPort(memory);
}

function isEstimateForOrigin(milestone: ModelMilestone, memory: ShipmentModelState): boolean {
  const ports = [findOriginPort(memory), memory.legs.value[0]?.origin_port];
  return lacksKnownLocation(milestone, memory) || ports.includes(milestone.location);
}

/**
 * Returns the estimates of the arrival. If an estimate of `arrived_at_destination` exists, only such estimates count.
 */
function listArrivalEstimatesOfShipment(
  actual: Timestamp | null,
  memory: ShipmentModelState,
): readonly ModelMilestone[] {
  const arrivals = listEstimatesBeforeActualTime(actual, memory).filter(
    (milestone) => estimatesArrival(milestone, memory) && isEstimatedForDestination(milestone, memory),
  );
  const final = arrivals.filter(({ code }) => code === 'arrived_at_destination');
  return final.length === 0 ? arrivals : final;
}

/** Returns the estimates of the departure. */
function listDepartureEstimatesOfShipment(
  actual: Timestamp | null,
  memory: ShipmentModelState,
): readonly ModelMilestone[] {
  return listEstimatesBeforeActualTime(actual, memory).filter(
    (milestone) => estimatesDeparture(milestone, memory) && isEstimateForOrigin(milestone, memory),
  );
}

/** Returns true if the estimate was reported after the client's statement. */
function isReportedAfterClientValue(
  { reported, said }: ModelMilestone,
  given: number,
  memory: ShipmentModelState,
): boolean {
  const at = memory.times[given] ?? '';
  return reported === at ? said > given : reported > at;
}

/** Returns the newest estimate of each container among the estimates after the client's statement. */
function selectNewestEstimatePerContainer(
  given: number,
  estimates: readonly ModelMilestone[],
  memory: ShipmentModelState,
): readonly ModelMilestone[] {
  const newer = estimates.filter((estimate) => isReportedAfterClientValue(estimate, given, memory));
  const containers = memory.fields.container_numbers;
  const lanes =
    containers.length === 0 ? [newer] : containers.map((number) => listMilestonesOfContainer(newer, number));
  const sort = (lane: readonly ModelMilestone[]) => lane.toSorted((a, b) => (isLaterReport(a, b) ? 1 : -1));
  return [...new Set(lanes.flatMap((lane) => sort(lane).at(-1) ?? []))];
}

/** Returns the time of the newest estimates after the client's statement; undefined if there are none. */
function findNewestEstimateTimeAfterClientValue(
  given: number,
  estimates: readonly ModelMilestone[],
  memory: ShipmentModelState,
): TimeOrDay | undefined {
  const latest = selectNewestEstimatePerContainer(given, estimates, memory)
    .toSorted((a, b) => (a.occurred_at < b.occurred_at ? -1 : 1))
    .at(-1);
  return latest && getTimeAsSent(latest);
}

/**
 * Returns the ETA that was reported last, by the client or an estimate before the arrival. If the shipment has no ETA of
 * its own, it has the ETA of its last leg.
 */
function computeShipmentEta(memory: ShipmentModelState): TimeOrDay | null {
  const ata = findActualArrivalOfShipment(memory);
  const arrivals = listArrivalEstimatesOfShipment(ata, memory);
  if (ata !== null) {
    const { value, said } = memory.etaAtArrival;
    return findNewestEstimateTimeAfterClientValue(said, arrivals, memory) ?? value;
  }
  const { value, said } = memory.eta;
  const last = memory.legs.value.length - 1;
  if (value === null && memory.legs.value[last]?.eta != null) return computeEtaOfLeg(last, memory);
  return findNewestEstimateTimeAfterClientValue(said, arrivals, memory) ?? value;
}

/** Returns the ETD that was reported last, by the client or an estimate before the departure. */
function computeShipmentEtd(memory: ShipmentModelState): TimeOrDay | null {
  const { value, said } = memory.etd;
  if (value === null && memory.legs.value[0]?.etd != null) return computeEtdOfLeg(0, memory);
  return (
    findNewestEstimateTimeAfterClientValue(
      said,
      listDepartureEstimatesOfShipment(findActualDepartureTimeOfShipment(memory), memory),
      memory,
    ) ?? value
  );
}

function computeEtaOfLeg(index: number, memory: ShipmentModelState): TimeOrDay | null {
  const { value: legs } = memory.legs;
  const said = memory.legs.said[index]?.eta ?? 0;
  const leg = legs[index];
  if (leg === undefined) return null;
  const actual = findActualArrivalOfLeg(index, memory);
  const forShipment = listArrivalEstimatesOfShipment(actual, memory);
  const there = listEstimatesBeforeActualTime(actual, memory).filter(
    (milestone) =>
      estimatesArrival(milestone, memory) &&
      belongsToLeg(milestone, index, 'destination_port', memory) &&
      !isEstimatedForDestination(milestone, memory),
  );
  const known = [
    ...there,
    ...forShipment.filter((milestone) => belongsToLeg(milestone, index, 'destination_port', memory)),
  ];
  const speaking = index === legs.length - 1 ? [...there, ...forShipment] : known;
  return findNewestEstimateTimeAfterClientValue(said, speaking, memory) ?? leg.eta;
}

function computeEtdOfLeg(index: number, memory: ShipmentModelState): TimeOrDay | null {
  const { value: legs } = memory.legs;
  const said = memory.legs.said[index]?.etd ?? 0;
  const leg = legs[index];
  if (leg === undefined) return null;
  const actual = findActualDepartureTimeOfLeg(index, memory);
  const there = listEstimatesBeforeActualTime(actual, memory).filter(
    (milestone) => estimatesDeparture(milestone, memory) && belongsToLeg(milestone, index, 'origin_port', memory),
  );
  const speaking = index === 0 ? [...there, ...listDepartureEstimatesOfShipment(actual, memory)] : there;
  return findNewestEstimateTimeAfterClientValue(said, speaking, memory) ?? leg.etd;
}

/** Returns the ETA that was reported first, by the client or an estimate before the arrival, unless a patch set it. */
function computeOriginalEta(memory: ShipmentModelState): TimeOrDay | null {
  const { value, since } = memory.originalEta;
  if (value !== null) return value;
  const ata = findActualArrivalOfShipment(memory) ?? '~';
  const given = [memory.firstEta, memory.etaAtArrival]
    .map((statement) => ({ value: statement.value, at: memory.times[statement.said] ?? '' }))
    .find((statement) => statement.value !== null && (since === '' || statement.at > since));
  const reports = listCountingMilestones(memory)
    .flatMap((milestone) => [
      ...milestone.former.map((report) => ({ ...milestone, ...report })),
      ...(milestone.classifier === 'estimated' ? [milestone] : []),
    ])
    .filter(
      (report) =>
        report.reported > since &&
        report.reported <= ata &&
        estimatesArrival(report, memory) &&
        isEstimatedForDestination(report, memory),
    )
    .toSorted((a, b) => {
      if (a.reported !== b.reported) return a.reported < b.reported ? -1 : 1;
      return isLaterReport({ ...a, id: '' }, { ...b, id: '' }) ? -1 : 1;
    });
  const [first] = reports;
  if (given !== undefined && (first === undefined || given.at <= first.reported)) return given.value;
  return first === undefined ? null : getTimeAsSent(first);
}

/** Returns the expected times after a command. */
export function computeExpectedTimes(memory: ShipmentModelState): ShipmentModelState['answered'] {
  return {
    etd: computeShipmentEtd(memory),
    eta: computeShipmentEta(memory),
    original_eta: computeOriginalEta(memory),
    atd: findActualDepartureTimeOfShipment(memory),
    ata: findActualArrivalOfShipment(memory),
    legs: memory.legs.value.map((leg, index) => ({
      ...leg,
      etd: computeEtdOfLeg(index, memory),
      eta: computeEtaOfLeg(index, memory),
      atd: findActualDepartureTimeOfLeg(index, memory),
      ata: findActualArrivalOfLeg(index, memory),
    })),
    cancelledByMilestone: listCancellationsBeforeDelivery(memory).length > 0,
  };
}
