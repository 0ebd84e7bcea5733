import type { ShipmentException } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';

export interface ExceptionOpened {
  readonly type: 'exception.opened.v1';
  readonly data: { readonly exception: ShipmentException; readonly open_exceptions_count: number };
}

export const exceptionOpened: StoredEventDescriptor<ExceptionOpened> = {
  type: 'exception.opened.v1',
  applyToRecord: (record, { open_exceptions_count }) => ({ ...record, open_exceptions_count }),
  exception: ({ exception }) => exception,
  tell: ({ exception }) => ({ type: 'exception.opened', changes: { exception: { from: null, to: exception } } }),
  announce: ({ exception }) => ({ type: 'exception.opened', data: () => ({ exception }) }),
};
