import type { WorkspaceScope, ShipmentRecord, ShipmentStatus } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import {
  evolveShipmentRecord,
  convertStreamNameToShipmentId,
  computeRecordMemoryWeight,
} from '@tracking/shipments-domain';
import { type ReadModel, type ReadModelRow, SCOPE_FIELDS, pickScopeFields } from '../read-model.ts';
import { listShipmentSearchTerms } from './shipment-terms.ts';

/** Row of one shipment, with separate fields for filters and sorting. */
export interface ShipmentReadModelRow extends ReadModelRow, WorkspaceScope {
  readonly record: ShipmentRecord;
  /** Position of the last event that the row reflects. */
  readonly position: Position;
  readonly created_at: string;
  readonly updated_at: string;
  readonly eta: string | null;
  readonly status: ShipmentStatus;
  readonly has_open_exceptions: boolean;
  readonly terms: readonly string[];
}

/** Read model of shipments in API format, one row per shipment. */
export const shipmentsReadModel: ReadModel<ShipmentReadModelRow, 'shipments'> = {
  name: 'shipments',
  version: 6,
  // Fields after the id are filter fields, so that a scan skips non-matching rows without reading them.
  indexes: [
    { name: 'by_term', fields: [...SCOPE_FIELDS, 'terms', 'created_at', 'id'], arrayField: 'terms' },
    { name: 'by_created_at', fields: [...SCOPE_FIELDS, 'created_at', 'id', 'eta'] },
    { name: 'by_updated_at', fields: [...SCOPE_FIELDS, 'updated_at', 'id', 'created_at', 'status'] },
    { name: 'by_eta', fields: [...SCOPE_FIELDS, 'eta', 'id', 'created_at', 'status'] },
  ],
  scoped: true,

  // The first event reads no earlier row. If the first event is repeated, all later events are repeated too.
  listRowIdsNeededToProjectEvent: ({ stream, event }) =>
    event.revision === 0 ? [] : [convertStreamNameToShipmentId(stream)],

  applyEventToRows({ stream, position, event }, row) {
    const before = row(convertStreamNameToShipmentId(stream));
    if (before && before.revision >= event.revision) return [];
    const expected = (before?.revision ?? -1) + 1;
    // A gap between events is refused, because a row with a missing event would look complete.
    if (event.revision !== expected)
      throw new Error(`expected revision ${expected} of the stream, got ${event.revision}`);
    const scope = event.type === 'shipment.created.v1' ? event.data : before;
    if (!scope) throw new Error(`event ${event.type} has no shipment`);
    const record = evolveShipmentRecord(before?.record, event);
    return [
      {
        ...pickSortAndFilterFieldsOfShipment(record),
        terms: listShipmentSearchTerms(record, before),
        ...pickScopeFields(scope),
        id: convertStreamNameToShipmentId(stream),
        record,
        revision: event.revision,
        position,
      },
    ];
  },

  weight: ({ record }) => computeRecordMemoryWeight(record),
};

function pickSortAndFilterFieldsOfShipment({
  created_at,
  updated_at,
  eta,
  status,
  open_exceptions_count,
}: ShipmentRecord) {
  return { created_at, updated_at, eta, status, has_open_exceptions: open_exceptions_count > 0 };
}
