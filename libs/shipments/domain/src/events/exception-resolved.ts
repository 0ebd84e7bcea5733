import type { ShipmentException } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';

export interface ExceptionResolved {
  readonly type: 'exception.resolved.v1';
  readonly data: { readonly exception: ShipmentException; readonly open_exceptions_count: number };
}

export const exceptionResolved: StoredEventDescriptor<ExceptionResolved> = {
  type: 'exception.resolved.v1',
  applyToRecord: (record, { open_exceptions_count }) => ({ ...record, open_exceptions_count }),
  exception: ({ exception }) => exception,
  applyToState(draft, { exception }) {
    const place = draft.exceptions.findIndex(({ id }) => id === exception.id);
    draft.exceptions[place] = exception;
  },
  tell({ exception }) {
    const status = exception.acknowledged_at === null ? 'open' : 'acknowledged';
    const from = { ...exception, status, resolution: null, resolved_at: null };
    return { type: 'exception.resolved', changes: { exception: { from, to: exception } } };
  },
  announce: ({ exception }) => ({ type: 'exception.resolved', data: () => ({ exception }) }),
};
