import type { JsonObject, ShipmentException } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';

export interface ExceptionOpenedEvent {
  readonly type: 'exception.opened.v1';
  readonly data: { readonly exception: ShipmentException; readonly open_exceptions_count: number };
}

export const exceptionOpenedEventDescriptor: StoredEventDescriptor<ExceptionOpenedEvent> = {
  type: 'exception.opened.v1',
  applyToRecord: (record, { open_exceptions_count }) => ({ ...record, open_exceptions_count }),
  exception: ({ exception }) => exception,
  createHistoryNote: ({ exception }) => ({
    type: 'exception.opened',
    changes: { exception: { from: null, to: exception } },
  }),
  announce: ({ exception }) => ({ type: 'exception.opened', data: () => ({ exception }) }),
};

/** A person acknowledged or assigned an exception, or its rule found new details. The exception stays open. */
export interface ExceptionUpdatedEvent {
  readonly type: 'exception.updated.v1';
  readonly data: {
    readonly exception: ShipmentException;
    readonly previous: ShipmentException;
    /** Note of the person; null for a change by a rule. */
    readonly note: string | null;
  };
}

export const exceptionUpdatedEventDescriptor: StoredEventDescriptor<ExceptionUpdatedEvent> = {
  type: 'exception.updated.v1',
  exception: ({ exception }) => exception,
  applyToState(draft, { exception, note }) {
    if (note === null) return;
    draft.acknowledgementNotes = new Map([...draft.acknowledgementNotes, [exception.id, note]]);
  },
  createHistoryNote: ({ exception, previous, note }) => ({
    type: 'exception.updated',
    changes: { exception: { from: previous, to: exception }, ...(note !== null && { note: { from: null, to: note } }) },
  }),
  announce: ({ exception }) => ({ type: 'exception.updated', data: () => ({ exception }) }),
};

/**
 * An exception was resolved. The event contains only the changed fields, because cancelling a shipment resolves all its
 * exceptions in one append. Resolved exceptions never change again.
 */
export interface ExceptionResolvedEvent {
  readonly type: 'exception.resolved.v2';
  readonly data: {
    readonly exception_id: string;
    readonly resolution: NonNullable<ShipmentException['resolution']>;
    readonly resolved_at: NonNullable<ShipmentException['resolved_at']>;
    readonly open_exceptions_count: number;
  };
}

export const exceptionResolvedEventDescriptor: StoredEventDescriptor<ExceptionResolvedEvent> = {
  type: 'exception.resolved.v2',
  formerVersions: [{ type: 'exception.resolved.v1', upcast: upcastExceptionResolvedV1 }],
  applyToRecord: (record, { open_exceptions_count }) => ({ ...record, open_exceptions_count }),
  exception: ({ exception_id: id, resolution, resolved_at }) => ({ id, status: 'resolved', resolution, resolved_at }),
  createHistoryNote(_data, exception) {
    if (exception === undefined) return undefined;
    const status = exception.acknowledged_at === null ? 'open' : 'acknowledged';
    const from = { ...exception, status, resolution: null, resolved_at: null };
    return { type: 'exception.resolved', changes: { exception: { from, to: exception } } };
  },
  announce: () => ({
    type: 'exception.resolved',
    data: (_shipment, _addresses, exception) => ({ exception }),
  }),
};

/** Converts version 1 of the event, which contained the whole exception, to version 2. */
function upcastExceptionResolvedV1(data: JsonObject): JsonObject {
  const { exception, open_exceptions_count = 0 } = data;
  const { id = '', resolution = null, resolved_at = null } = exception as JsonObject;
  return { exception_id: id, resolution, resolved_at, open_exceptions_count };
}

/**
 * The conditions of exceptions that a person resolved have ended. If such a condition occurs again, a new exception
 * opens. The event is not announced.
 */
export interface ExceptionConditionsEndedEvent {
  readonly type: 'exception.conditions_ended.v1';
  readonly data: { readonly exception_ids: readonly string[] };
}

export const exceptionConditionsEndedEventDescriptor: StoredEventDescriptor<ExceptionConditionsEndedEvent> = {
  type: 'exception.conditions_ended.v1',
  applyToState(draft, { exception_ids }) {
    draft.endedConditions = new Set([...draft.endedConditions, ...exception_ids]);
  },
};
