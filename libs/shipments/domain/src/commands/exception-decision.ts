import type { ShipmentException, Warning } from '@tracking/contracts';
import { type ShipmentState, findException } from '../state.ts';

/** What all commands about one exception answer. */
export interface ExceptionAnswer {
  readonly exception: ShipmentException;
  /** Of the shipment right after. */
  readonly shipment_version: number;
  readonly warnings: readonly Warning[];
}

export function answerException({ exceptionId }: { readonly exceptionId: string }, after: ShipmentState) {
  return { exception: findException(after, exceptionId), shipment_version: after.record.version };
}

/** As it is with another exception in the place of the one that it has of that id, so many of them not resolved. */
export function withException(
  { exceptions, record, ...state }: ShipmentState,
  changed: ShipmentException,
  open_exceptions_count = record.open_exceptions_count,
): ShipmentState {
  return {
    ...state,
    record: { ...record, open_exceptions_count },
    exceptions: exceptions.map((each) => (each.id === changed.id ? changed : each)),
  };
}
