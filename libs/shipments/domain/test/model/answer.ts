import type { Leg, LegFields } from '@tracking/contracts';
import { hasValidCheckDigit } from '../../src/references.ts';
import { computeContainerTimes, findLastMilestone } from './actual-times.ts';
import { convertToUtcAtPlace, getPrecisionOfSentTime } from './days.ts';
import { isEstimateSuperseded } from './estimates.ts';
import { type ModelMemory, EMPTY_CONTAINER_FIELDS, findDestination, compareInListOrder, findOrigin } from './memory.ts';
import { computeStatusOfLane, computeShipmentStatus } from './status.ts';
import { listGoodsMilestones, isReplacedByLaterReport, listLaneMilestones } from './trips.ts';

/** Returns the expected shipment after the last command. */
export function createExpectedShipment(memory: ModelMemory) {
  const { status, by } = computeShipmentStatus(memory);
  return {
    fields: readClientFields(memory),
    status,
    status_milestone_id: by?.id ?? null,
    ...readTimes(memory),
    legs: readLegs(memory),
    containers: memory.fields.container_numbers.map((number) => readContainer(number, memory)),
    last_milestone: findLastMilestone(listGoodsMilestones(memory)),
    milestones: readMilestones(memory),
  };
}

/** Returns the fields of a shipment that only clients set. */
function readClientFields(memory: ModelMemory) {
  const { etd: _etd, eta: _eta, legs: _legs, ...fields } = memory.fields;
  return { ...fields, origin_port: findOrigin(memory), destination_port: findDestination(memory) };
}

function readTimes(memory: ModelMemory) {
  const { original_eta, atd, ata, ...answered } = memory.answered;
  const ports = { origin_port: findOrigin(memory), destination_port: findDestination(memory) };
  return {
    ...readExpectedTimes(answered, ports),
    original_eta: original_eta && convertToUtcAtPlace(original_eta, ports.destination_port),
    original_eta_precision: getPrecisionOfSentTime(original_eta),
    atd,
    ata,
  };
}

/** Returns expected times in the form of responses. */
function readExpectedTimes({ etd, eta }: Times, { origin_port, destination_port }: Ports) {
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
function readLegs(memory: ModelMemory): readonly Leg[] {
  const given = memory.legs.value;
  const { mode, carrier_scac } = memory.fields;
  const [origin_port, destination_port] = [findOrigin(memory), findDestination(memory)];
  const { etd, eta, atd, ata } = memory.answered;
  if (given.length === 0) {
    if (origin_port === null && destination_port === null) return [];
    const own = { mode, carrier_scac, vessel: null, voyage: null, origin_port, destination_port, atd, ata };
    return [{ ...own, ...readExpectedTimes({ etd, eta }, own) }];
  }
  return memory.answered.legs.map((leg) => ({ ...leg, ...readExpectedTimes(leg, leg) }));
}

function readContainer(number: string, memory: ModelMemory) {
  const lane = listLaneMilestones(number, memory);
  const { status, by } = computeStatusOfLane(lane, memory);
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

function readMilestones(memory: ModelMemory) {
  return memory.milestones.toSorted(compareInListOrder).map((milestone) => {
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
