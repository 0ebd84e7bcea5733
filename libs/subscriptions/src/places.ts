import type { Position } from '@tracking/ports';

/**
 * Place of an event in the order in which a subscriber handles events: its position. An event that waited in a parked
 * stream gets a place behind everything that was handled before it, so that readers who are further by then still come to
 * it. Places compare as strings, among each other and with positions.
 */
export type Place = string;

const SEPARATOR = '.';
const EPOCH_DIGITS = String(Number.MAX_SAFE_INTEGER).length;
const NUMBER_DIGITS = 10;

/**
 * A place behind the event at the position, and before the next position.
 * @param epoch of the lease: later holders get later places
 * @param number grows within the epoch
 */
export function placeBehind(position: Position, epoch: number, number: number): Place {
  const suffix = [String(epoch).padStart(EPOCH_DIGITS, '0'), String(number).padStart(NUMBER_DIGITS, '0')];
  return [position, ...suffix].join(SEPARATOR);
}

/** The last position of the log that is not behind the place. */
export function positionOf(place: Place): Position {
  const [position = place] = place.split(SEPARATOR, 1);
  return position;
}

/** A place that is not before any place behind the position, but before the next position. */
export function endOf(position: Position): Place {
  return `${positionOf(position)}${SEPARATOR}~`;
}
