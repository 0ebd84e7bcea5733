import type { Leg, LegFields } from '@tracking/contracts';
import { hasValidCheckDigit } from '../../src/references.ts';
import { computeContainerTimes, findLastMilestone } from './actual-times.ts';
import { convertToUtcAtPlace, getPrecisionOfSentTime } from './days.ts';
import { isEstimateSuperseded } from './estimates.ts';
import {
  type ShipmentModelState,
  EMPTY_CONTAINER_FIELDS,
  findDestinationPort,
  compareMilestonesInListOrder,
  findOriginPort,
} from './memory.ts';
import { computeStatusOfContainerMilestones, computeShipmentStatus } from './status.ts';
import { listGoodsMilestones, isReplacedByLaterReport, listMilestonesOfContainerGoods } from './trips.ts';

/** Returns the expected shipment after the last command. */
export function createExpectedShipment(memory: ShipmentModelState) {
  const { status, by } = computeShipmentStatus(memory);
  return {
    fields: pickShipmentFieldsSetByClients(memory),
    status,
    status_milestone_id: by?.id ?? null,
    ...computeTimesExpectedByModel(memory),
    legs: computeExpectedLegs(memory),
    containers: memory.fields.container_numbers.map((number) => computeExpectedContainer(number, memory)),
    last_milestone: findLastMilestone(listGoodsMilestones(memory)),
    milestones: listMilestonesExpectedByModel(memory),
  };
}

/** Returns the fields of a shipment that only clients set. */
function pickShipmentFieldsSetByClients(memory: ShipmentModelState) {
  const { etd: _etd, eta: _eta, legs: _legs, ...fields } = memory.fields;
  return { ...fields, origin_port: findOriginPort(memory), destination_port: findDestinationPort(memory) };
}

function computeTimesExpectedByModel(memory: ShipmentModelState) {
  const { original_eta, atd, ata, ...answered } = memory.answered;
  const ports = { origin_port: findOriginPort(memory), destination_port: findDestinationPort(memory) };
  return {
    ...convertExpectedTimesToResponse(answered, ports),
    original_eta: original_eta && convertToUtcAtPlace(original_eta, ports.destination_port),
    original_eta_precision: getPrecisionOfSentTime(original_eta),
    atd,
    ata,
  };
}

/** Returns expected times in the form of responses. */
function convertExpectedTimesToResponse({ etd, eta }: Times, { origin_port, destination_port }: Ports) {
  return {
    etd: etd && convertToUtcAtPlace(etd, origin_port),
    etd_precision: getPrecisionOfSentTime(etd),
    eta: eta && convertToUtcAtPlace(eta, destination_port),
    eta_precision: getPrecisionOfSentTime(eta),
  };
}
type Times = Pick<LegFields, 'etd' | 'eta'>;
type Ports = Pick<LegFields, 'origin_port' | 'destination_port'>;

/**
 * Returns the expected legs. Without legs, the shipment has one leg from origin to destination, or none if it has
 * neither port.
 */
function computeExpectedLegs(memory: ShipmentModelState): readonly Leg[] {
  const given = memory.legs.value;
  const { mode, carrier_scac } = memory.fields;
  const [origin_port, destination_port] = [findOriginPort(memory), findDestinationPort(memory)];
  const { etd, eta, atd, ata } = memory.answered;
  if (given.length === 0) {
    if (origin_port === null && destination_port === null) return [];
    const own = { mode, carrier_scac, vessel: null, voyage: null, origin_port, destination_port, atd, ata };
    return [{ ...own, ...convertExpectedTimesToResponse({ etd, eta }, own) }];
  }
  return memory.answered.legs.map((leg) => ({ ...leg, ...convertExpectedTimesToResponse(leg, leg) }));
}

function computeExpectedContainer(number: string, memory: ShipmentModelState) {
  const lane = listMilestonesOfContainerGoods(number, memory);
  const { status, by } = computeStatusOfContainerMilestones(lane, memory);
  return {
    number,
    valid_check_digit: hasValidCheckDigit(number),
    status,
    status_milestone_id: by?.id ?? null,
    last_milestone: findLastMilestone(lane),
    ...computeContainerTimes(number, memory),
    ...(memory.containers.get(number) ?? EMPTY_CONTAINER_FIELDS),
  };
}

function listMilestonesExpectedByModel(memory: ShipmentModelState) {
  return memory.milestones.toSorted(compareMilestonesInListOrder).map((milestone) => {
    const { id, code, classifier, occurred_at, occurred_at_precision, external_id, container_number } = milestone;
    const { location, note, revision, retracted } = milestone;
    const shown = {
      ...{ id, code, classifier, occurred_at, occurred_at_precision, external_id, container_number },
      ...{ location, note, revision },
    };
    return {
      ...shown,
      retracted,
      superseded: !retracted && (isEstimateSuperseded(milestone, memory) || isReplacedByLaterReport(milestone, memory)),
    };
  });
}
