import { type Timestamp, findMilestoneCode } from '@tracking/contracts';
import { hasValidCheckDigit } from '../../src/references.ts';
import { isDeparture } from './actual-times.ts';
import { type Memory, type Said, happened, laneOf } from './memory.ts';
import {
  cancellations,
  isCancelledTooLate,
  isSailingOn,
  laneStatus,
  ownStatus,
  rankOf,
  shipmentStatus,
} from './status.ts';

const DAY_MS = 86_400_000;

/** `type container` of every exception that is open by rule, sorted. */
export function openExceptions(memory: Memory): readonly string[] {
  // "[Cancelling] resolves open exceptions … Actual movements among [later ones] open `movement_after_cancel`."
  const open = shipmentStatus(memory).status === 'cancelled' ? movementsAfterCancel(memory) : ordinary(memory);
  return [...new Set(open)].sort();
}

function ordinary(memory: Memory): readonly string[] {
  return [...customsHolds(memory), ...failedDeliveries(memory), ...conflicts(memory), ...wrongNumbers(memory)];
}

/** "A hold …: for the container that the milestone names, else one for the shipment", while it holds any container. */
function customsHolds(memory: Memory): readonly string[] {
  return happened(memory)
    .filter(({ code }) => code === 'customs_hold' || code === 'customs_inspection')
    .filter((hold) =>
      lanesOf(hold, memory).some((lane) => !isDelivered(lane, memory) && !isCleared(hold, lane, memory)),
    )
    .map(({ container_number }) => `customs_hold ${container_number}`);
}

/**
 * "A hold before the first departure is cleared by export_customs_cleared or a later departure, one after it by
 * import_customs_cleared or what cannot happen without it (available_for_pickup and beyond)"; "dated at or after it"; "a rule
 * counts a step as done by its milestone or by any … further along": what is under way has departed.
 */
function isCleared(hold: Said, lane: readonly Said[], memory: Memory): boolean {
  const departures = lane.filter((milestone) => isDeparture(milestone, memory));
  const [departed] = departures.length > 0 ? departures : lane.filter((milestone) => isUnderWay(milestone, memory));
  const later = lane.filter(({ occurred_at }) => occurred_at >= hold.occurred_at);
  const { etd } = memory.answered;
  const mayBeAtOrigin = departed === undefined && !lane.some(({ code }) => code === 'delivery_attempted');
  // "Before the first departure only an export clearance or a departure": but once the ETD has passed.
  const tooEarly = ({ occurred_at }: Said) => mayBeAtOrigin && etd !== null && occurred_at < etd;
  if (later.some((milestone) => isImported(milestone, memory) && !tooEarly(milestone))) return true;
  return departed === undefined
    ? later.some(({ code }) => code === 'export_customs_cleared')
    : hold.occurred_at <= departed.occurred_at;
}

function isUnderWay(milestone: Said, memory: Memory): boolean {
  const status = ownStatus(milestone, memory);
  const counts = status !== null && status !== 'cancelled' && !isSailingOn(milestone, memory);
  return counts && rankOf(status) >= rankOf('in_transit');
}

function isImported(milestone: Said, memory: Memory): boolean {
  if (['import_customs_cleared', 'delivery_attempted'].includes(milestone.code)) return true;
  const status = ownStatus(milestone, memory);
  return status !== null && status !== 'cancelled' && rankOf(status) >= rankOf('available_for_pickup');
}

/** "delivery_failed: delivery_attempted … delivered." */
function failedDeliveries(memory: Memory): readonly string[] {
  return happened(memory)
    .filter(({ code }) => code === 'delivery_attempted')
    .filter((attempt) => lanesOf(attempt, memory).some((lane) => !isDelivered(lane, memory)))
    .map(({ container_number }) => `delivery_failed ${container_number}`);
}

/** "`delivered` and beyond resolve all automatic ones but …" */
function isDelivered(lane: readonly Said[], memory: Memory): boolean {
  return rankOf(laneStatus(lane, memory).status) >= rankOf('delivered');
}

/** What happened to the container that it names, else to each. */
function lanesOf({ container_number }: Said, memory: Memory): readonly (readonly Said[])[] {
  const named = container_number === null ? memory.fields.container_numbers : [container_number];
  const actual = happened(memory);
  return named.length === 0 ? [actual] : named.map((number) => laneOf(actual, number));
}

/**
 * "`delivered`, `empty_returned` or `returned_to_shipper` dated > 24 h before a movement (codes 20 to 40, 50 to 110, 130 to
 * 140) of the same container; `booking_cancelled` after delivery", "for each container (a milestone that names none counts
 * for each); without containers, once for the shipment".
 */
function conflicts(memory: Memory): readonly string[] {
  const numbers = memory.fields.container_numbers;
  const found = (numbers.length === 0 ? [null] : numbers)
    .filter((container) =>
      hasConflict(container === null ? happened(memory) : laneOf(happened(memory), container), memory),
    )
    .map((container) => `milestone_conflict ${container}`);
  return isCancelledTooLate(memory) ? [...found, 'milestone_conflict null'] : found;
}

function hasConflict(lane: readonly Said[], memory: Memory): boolean {
  const ends = lane.filter(({ code }) => ['delivered', 'empty_returned', 'returned_to_shipper'].includes(code));
  const movements = lane.filter((milestone) => isMovement(milestone, memory) && milestone.sequence <= 140);
  return ends.some((end) => movements.some((movement) => ms(movement.occurred_at) - ms(end.occurred_at) > DAY_MS));
}

/** "Actual movements (codes 20 to 40, 50 to 110, 130 and up)." */
export function isMovement(milestone: Said, memory: Memory): boolean {
  const sequence = findMilestoneCode(milestone.code)?.sequence ?? 0;
  const moves = (sequence >= 20 && sequence <= 40) || (sequence >= 50 && sequence <= 110) || sequence >= 130;
  return moves && !isSailingOn(milestone, memory);
}

function ms(time: Timestamp): number {
  return Date.parse(time);
}

/** "Check digit fails." */
function wrongNumbers({ fields }: Memory): readonly string[] {
  return fields.container_numbers
    .filter((number) => hasValidCheckDigit(number) === false)
    .map((number) => `invalid_container_number ${number}`);
}

/** "An actual movement after cancelling." */
function movementsAfterCancel(memory: Memory): readonly string[] {
  const since = [memory.cancelled, ...cancellations(memory).map(({ recorded }) => recorded)].filter(
    (at) => at !== null,
  );
  return happened(memory)
    .filter((milestone) => isMovement(milestone, memory) && milestone.recorded > Math.min(...since))
    .map(({ container_number }) => `movement_after_cancel ${container_number}`);
}
