import type { ShipmentException } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';

/** A person acknowledged or assigned it, or a rule found it to be otherwise than before. It stays open. */
export interface ExceptionUpdated {
  readonly type: 'exception.updated.v1';
  readonly data: {
    readonly exception: ShipmentException;
    readonly previous: ShipmentException;
    /** Of the person. */
    readonly note: string | null;
  };
}

export const exceptionUpdated: StoredEventDescriptor<ExceptionUpdated> = {
  type: 'exception.updated.v1',
  exception: ({ exception }) => exception,
  applyToState(draft, { exception, note }) {
    if (note === null) return;
    draft.acknowledgementNotes = new Map([...draft.acknowledgementNotes, [exception.id, note]]);
  },
  tell: ({ exception, previous, note }) => ({
    type: 'exception.updated',
    changes: { exception: { from: previous, to: exception }, ...(note !== null && { note: { from: null, to: note } }) },
  }),
  announce: ({ exception }) => ({ type: 'exception.updated', data: () => ({ exception }) }),
};
