import type { Scope, ShipmentRecord, ShipmentStatus } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import { evolveRecord, shipmentIdOf, weightOfRecord } from '@tracking/shipments-domain';
import { type ReadModel, type ReadModelRow, SCOPE_FIELDS, pickScope } from '../read-model.ts';
import { termsOf } from './shipment-terms.ts';

/** One shipment; what lists filter and sort by stands beside the record. */
export interface ShipmentRow extends ReadModelRow, Scope {
  readonly record: ShipmentRecord;
  /** Of the last event that the row reflects. */
  readonly position: Position;
  readonly created_at: string;
  readonly updated_at: string;
  readonly eta: string | null;
  readonly status: ShipmentStatus;
  readonly has_open_exceptions: boolean;
  readonly terms: readonly string[];
}

/** Shipments as they are answered, one row each. */
export const shipmentsModel: ReadModel<ShipmentRow, 'shipments'> = {
  name: 'shipments',
  version: 4,
  // Behind the id: what is filtered while such an index is walked, so that rows that are left out are not looked at.
  indexes: [
    { name: 'by_term', fields: [...SCOPE_FIELDS, 'terms', 'created_at', 'id'], arrayField: 'terms' },
    { name: 'by_created_at', fields: [...SCOPE_FIELDS, 'created_at', 'id', 'eta'] },
    { name: 'by_updated_at', fields: [...SCOPE_FIELDS, 'updated_at', 'id', 'created_at', 'status'] },
    { name: 'by_eta', fields: [...SCOPE_FIELDS, 'eta', 'id', 'created_at', 'status'] },
  ],
  scoped: false,

  // A stream begins with nothing: where its beginning comes again, so does all that made the row after it.
  reads: ({ stream, event }) => (event.revision === 0 ? [] : [shipmentIdOf(stream)]),

  apply({ stream, position, event }, row) {
    const before = row(shipmentIdOf(stream));
    if (before && before.revision >= event.revision) return [];
    const expected = (before?.revision ?? -1) + 1;
    // Never without the event between: the row would look whole and not be.
    if (event.revision !== expected) throw new Error(`revision ${event.revision} where ${expected} comes next`);
    const scope = event.type === 'shipment.created.v1' ? event.data : before;
    if (!scope) throw new Error(`${event.type} of no shipment`);
    const record = evolveRecord(before?.record, event);
    return [
      {
        ...listed(record),
        terms: termsOf(record, before),
        ...pickScope(scope),
        id: shipmentIdOf(stream),
        record,
        revision: event.revision,
        position,
      },
    ];
  },

  weight: ({ record }) => weightOfRecord(record),
};

function listed({ created_at, updated_at, eta, status, open_exceptions_count }: ShipmentRecord) {
  return { created_at, updated_at, eta, status, has_open_exceptions: open_exceptions_count > 0 };
}
