import {
  DomainError,
  ERROR_CODES,
  type ErrorCode,
  type FieldError,
  type ShipmentRecord,
  type Warning,
} from '@tracking/contracts';

/**
 * Refuses a command if anything is wrong, with every faulty field at once. Under the code that they have in common where
 * that is one of whole requests, else as `validation_failed`.
 * @throws DomainError
 */
export function refuseIfAny(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const isCommon = isErrorCode(first.code) && errors.every(({ code }) => code === first.code);
  const code: ErrorCode = isCommon && isErrorCode(first.code) ? first.code : 'validation_failed';
  throw new DomainError(code, errors.length === 1 ? first.message : `${errors.length} fields are not valid.`, errors);
}

/** The same whether it does not exist or is another's: ids tell nobody anything. */
export function noSuchShipment(): DomainError {
  return new DomainError('not_found', 'There is no such shipment.');
}

/** Writes to a cancelled shipment are stored, and warn unless they take the cancellation back. */
export function whileCancelled(before: ShipmentRecord, after: ShipmentRecord): readonly Warning[] {
  if (before.status !== 'cancelled' || after.status !== 'cancelled') return [];
  return [{ code: 'shipment_cancelled', param: null, message: 'The shipment is cancelled.' }];
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
