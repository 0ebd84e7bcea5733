import type { ShipmentException } from '@tracking/contracts';

/** What an event sets of an exception: all fields, or those that it changes. */
export type ExceptionChange = Pick<ShipmentException, 'id'> & Partial<ShipmentException>;

/** True if the change holds the whole exception, so that the previous one is not needed. */
export function isWholeException(change: ExceptionChange): change is ShipmentException {
  return change.opened_at !== undefined;
}

/** The exception after a change. @param before undefined where none is known */
export function exceptionAfter(change: ExceptionChange, before: ShipmentException | undefined): ShipmentException {
  if (isWholeException(change)) return change;
  if (before === undefined) throw new Error(`${change.id} changed and was never opened`);
  return { ...before, ...change };
}

/** Puts the exception after a change in its place, or behind all others. */
export function putException(exceptions: ShipmentException[], change: ExceptionChange): void {
  const place = exceptions.findIndex(({ id }) => id === change.id);
  const after = exceptionAfter(change, exceptions[place]);
  if (place === -1) exceptions.push(after);
  else exceptions[place] = after;
}
