import type { JsonObject, ShipmentException } from '@tracking/contracts';
import type { StoredEventDescriptor } from './descriptor.ts';

/**
 * An exception closed. Holds only what that changes: cancelling a shipment resolves all its exceptions in one append. A
 * resolved exception never changes again.
 */
export interface ExceptionResolved {
  readonly type: 'exception.resolved.v2';
  readonly data: {
    readonly exception_id: string;
    readonly resolution: NonNullable<ShipmentException['resolution']>;
    readonly resolved_at: NonNullable<ShipmentException['resolved_at']>;
    readonly open_exceptions_count: number;
  };
}

export const exceptionResolved: StoredEventDescriptor<ExceptionResolved> = {
  type: 'exception.resolved.v2',
  formerVersions: [{ type: 'exception.resolved.v1', upcast: withoutUnchangedFields }],
  applyToRecord: (record, { open_exceptions_count }) => ({ ...record, open_exceptions_count }),
  exception: ({ exception_id: id, resolution, resolved_at }) => ({ id, status: 'resolved', resolution, resolved_at }),
  tell(_data, exception) {
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

/** The first version held the whole exception. */
function withoutUnchangedFields(data: JsonObject): JsonObject {
  const { exception, open_exceptions_count = 0 } = data;
  const { id = '', resolution = null, resolved_at = null } = exception as JsonObject;
  return { exception_id: id, resolution, resolved_at, open_exceptions_count };
}
