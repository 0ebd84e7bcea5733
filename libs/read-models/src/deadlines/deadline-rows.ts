import type { Scope, ShipmentStatus, Timestamp } from '@tracking/contracts';
import { type ShipmentEvent, shipmentIdOf } from '@tracking/shipments-domain';
import type { ReadModel, ReadModelRow } from '../read-model.ts';
import { scopeOf } from '../scope.ts';

/**
 * When the rules of a shipment are to be checked next. Its revision is that of the last event that changed the row: most
 * change nothing, and then nothing is written.
 */
export interface DeadlineRow extends ReadModelRow, Scope {
  /** As the last event says; absent where time alone changes nothing. */
  readonly due_at?: Timestamp;
  /** Whether it is done with. The row stays: it tells late writes of earlier events from new ones. */
  readonly over: boolean;
}

const OVER: readonly ShipmentStatus[] = ['cancelled', 'completed', 'returned'];

/** The work list of the clock, and of whoever has to check all open shipments of a workspace: one row for each shipment. */
export const deadlinesModel: ReadModel<DeadlineRow, 'deadlines'> = {
  name: 'deadlines',
  version: 1,
  indexes: [
    { name: 'by_due_at', fields: ['due_at', 'id'] },
    { name: 'by_workspace', fields: ['workspace_id', 'over', 'id'] },
  ],
  scoped: false,

  reads: ({ stream, event }) => (event.revision === 0 ? [] : [shipmentIdOf(stream)]),

  apply({ stream, event }, row) {
    const id = shipmentIdOf(stream);
    const before = row(id);
    if (before && before.revision >= event.revision) return [];
    const scope = event.type === 'shipment.created.v1' ? event.data : before;
    if (!scope) throw new Error(`${event.type} of no shipment`);
    const due_at = event.metadata.next_check_at;
    const over = isOverAfter(event, before);
    if (before && before.over === over && (before.due_at ?? null) === due_at) return [];
    return [{ id, ...scopeOf(scope), ...(due_at !== null && { due_at }), over, revision: event.revision }];
  },
};

function isOverAfter(event: ShipmentEvent, before: DeadlineRow | undefined): boolean {
  const status = statusSetBy(event);
  return status === undefined ? (before?.over ?? false) : OVER.includes(status);
}

function statusSetBy({ type, data }: ShipmentEvent): ShipmentStatus | undefined {
  if (type === 'shipment.created.v1') return data.shipment.status;
  return type === 'shipment.changed.v1' ? data.changes.status?.to : undefined;
}
