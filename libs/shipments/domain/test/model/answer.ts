import type { Leg } from '@tracking/contracts';
import { hasValidCheckDigit } from '../../src/references.ts';
import { containerTimes, lastMilestone } from './actual-times.ts';
import { isSuperseded } from './estimates.ts';
import {
  type ModelMemory,
  EMPTY_CONTAINER_FIELDS,
  findDestination,
  actualMilestones,
  compareInListOrder,
  milestonesOfContainer,
  findOrigin,
} from './memory.ts';
import { laneStatus, shipmentStatus } from './status.ts';

/** Returns the expected shipment after the last command. */
export function expectedAnswer(memory: ModelMemory) {
  const { status, by } = shipmentStatus(memory);
  return {
    fields: readClientFields(memory),
    status,
    status_milestone_id: by?.id ?? null,
    ...readTimes(memory),
    legs: readLegs(memory),
    containers: memory.fields.container_numbers.map((number) => readContainer(number, memory)),
    last_milestone: lastMilestone(actualMilestones(memory)),
    milestones: readMilestones(memory),
  };
}

/** Returns the fields of a shipment that only clients set. */
function readClientFields(memory: ModelMemory) {
  const { etd: _etd, eta: _eta, legs: _legs, ...fields } = memory.fields;
  return { ...fields, origin_port: findOrigin(memory), destination_port: findDestination(memory) };
}

function readTimes({ answered: { etd, eta, original_eta, atd, ata } }: ModelMemory) {
  return { etd, eta, original_eta, atd, ata };
}

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
    return [{ mode, carrier_scac, vessel: null, voyage: null, origin_port, destination_port, etd, eta, atd, ata }];
  }
  return memory.answered.legs;
}

function readContainer(number: string, memory: ModelMemory) {
  const lane = milestonesOfContainer(actualMilestones(memory), number);
  const { status, by } = laneStatus(lane, memory);
  return {
    number,
    valid_check_digit: hasValidCheckDigit(number),
    status,
    status_milestone_id: by?.id ?? null,
    last_milestone: lastMilestone(lane),
    ...containerTimes(number, memory),
    ...(memory.containers.get(number) ?? EMPTY_CONTAINER_FIELDS),
  };
}

function readMilestones(memory: ModelMemory) {
  return memory.milestones.toSorted(compareInListOrder).map((milestone) => {
    const { id, code, classifier, occurred_at, external_id, container_number, location, note, revision, retracted } =
      milestone;
    const shown = { id, code, classifier, occurred_at, external_id, container_number, location, note, revision };
    return { ...shown, retracted, superseded: !retracted && isSuperseded(milestone, memory) };
  });
}
