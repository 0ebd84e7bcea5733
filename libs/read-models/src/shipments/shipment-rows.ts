import type { Scope, ShipmentRecord, ShipmentStatus } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import { evolveRecord, shipmentIdOf, weightOfRecord } from '@tracking/shipments-domain';
import type { ReadModel, ReadModelRow } from '../read-model.ts';
import { SCOPE_FIELDS, scopeOf } from '../scope.ts';

/** One shipment; what lists filter and sort by stands beside the record. */
export interface ShipmentRow extends ReadModelRow, Scope {
  readonly record: ShipmentRecord;
  /** Of the last event that the row reflects. */
  readonly position: Position;
  readonly created_at: string;
  readonly status: ShipmentStatus;
  /** Still on its way: neither delivered or beyond, nor cancelled. */
  readonly active: boolean;
  readonly external_id: string | null;
  readonly house_bill: string | null;
  readonly container_numbers: readonly string[];
}

const ENDED: readonly ShipmentStatus[] = ['delivered', 'completed', 'returned', 'cancelled'];

/** Shipments as they are answered, one row each. */
export const shipmentsModel: ReadModel<ShipmentRow, 'shipments'> = {
  name: 'shipments',
  version: 1,
  indexes: [
    { name: 'by_created_at', fields: [...SCOPE_FIELDS, 'created_at', 'id'] },
    { name: 'by_status', fields: [...SCOPE_FIELDS, 'status', 'created_at', 'id'] },
    { name: 'by_external_id', fields: [...SCOPE_FIELDS, 'external_id'] },
    { name: 'by_house_bill', fields: [...SCOPE_FIELDS, 'house_bill', 'active'] },
    { name: 'by_container', fields: [...SCOPE_FIELDS, 'container_numbers', 'active'], arrayField: 'container_numbers' },
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
        ...searchable(record),
        ...scopeOf(scope),
        id: shipmentIdOf(stream),
        record,
        revision: event.revision,
        position,
      },
    ];
  },

  weight: ({ record }) => weightOfRecord(record),
};

/** What lists filter and sort by. */
function searchable(record: ShipmentRecord) {
  const { created_at, status, external_id, house_bill, container_numbers } = record;
  return { created_at, status, active: !ENDED.includes(status), external_id, house_bill, container_numbers };
}
