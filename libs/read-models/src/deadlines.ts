import type { Scope, ShipmentStatus, Timestamp } from '@tracking/contracts';
import { type EventMetadata, nextCheckTime, type ShipmentEvent, shipmentIdOf } from '@tracking/shipments-domain';
import type { ActiveRows } from './active-rows.ts';
import { type ReadModel, type ReadModelRow, pickScope } from './read-model.ts';

/**
 * When the rules of a shipment are to be checked next. Its revision is that of the last event that changed the row: most
 * change nothing, and then nothing is written.
 */
export interface DeadlineRow extends ReadModelRow, Scope {
  /** As the last event says; absent where time alone changes nothing, or where that event was imported. */
  readonly due_at?: Timestamp;
  /** Whether it came to its end. The row stays: it tells late writes of earlier events from new ones. */
  readonly ended: boolean;
  readonly has_open_exceptions: boolean;
  /**
   * Whether no re-check can change anything about it: it has ended, no exception is open, and it does not wait for a moment
   * that another system knew.
   */
  readonly over: boolean;
}

/** Statuses that a shipment does not leave unless a client or a milestone changes it; `delivered` is not one of them. */
const TERMINAL_STATUSES: readonly ShipmentStatus[] = ['cancelled', 'completed', 'returned'];

/** The work list of the clock, and of whoever has to check a workspace's shipments by other settings: one row for each shipment. */
export const deadlinesModel: ReadModel<DeadlineRow, 'deadlines'> = {
  name: 'deadlines',
  version: 3,
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
    const due_at = nextCheckTime(event.metadata);
    const ended = isEndedAfter(event, before);
    const has_open_exceptions = hasOpenExceptionsAfter(event, before);
    const over = ended && !has_open_exceptions && !hasImportedCheck(event.metadata);
    const state = { ended, has_open_exceptions, over };
    if (before && hasSameState(before, { due_at, ...state })) return [];
    const { revision } = event;
    return [{ id, ...pickScope(scope), ...(due_at !== null && { due_at }), ...state, revision }];
  },
};

type DeadlineState = Pick<DeadlineRow, 'ended' | 'has_open_exceptions' | 'over'>;

function hasSameState(before: DeadlineRow, after: DeadlineState & { readonly due_at: Timestamp | null }): boolean {
  return (
    before.ended === after.ended &&
    before.has_open_exceptions === after.has_open_exceptions &&
    before.over === after.over &&
    (before.due_at ?? null) === after.due_at
  );
}

/** Reports whether the system that the event comes from waited for a moment, such as the expiry of an upload. */
function hasImportedCheck({ imported, next_check_at }: EventMetadata): boolean {
  return imported === true && next_check_at !== null;
}

function isEndedAfter(event: ShipmentEvent, before: DeadlineRow | undefined): boolean {
  const status = newStatusOf(event);
  return status === undefined ? (before?.ended ?? false) : TERMINAL_STATUSES.includes(status);
}

function hasOpenExceptionsAfter({ type, data }: ShipmentEvent, before: DeadlineRow | undefined): boolean {
  const isAboutOne = type === 'exception.opened.v1' || type === 'exception.resolved.v2';
  return isAboutOne ? data.open_exceptions_count > 0 : (before?.has_open_exceptions ?? false);
}

function newStatusOf({ type, data }: ShipmentEvent): ShipmentStatus | undefined {
  if (type === 'shipment.created.v1') return data.shipment.status;
  return type === 'shipment.changed.v1' ? data.changes.status?.to : undefined;
}

/** A shipment whose rules are to be checked. */
export interface DueShipment extends Scope {
  readonly id: string;
  readonly due_at: Timestamp;
}

/** A shipment about which other settings may change something: it has not ended, or an exception of it is open. */
export interface UnsettledShipment extends Scope {
  readonly id: string;
}

/** Which shipments are to be checked, as the read model has it. */
export class DeadlineQueries {
  constructor(private readonly active: ActiveRows<DeadlineRow>) {}

  /**
   * What is due by `until`, the longest due first; nothing else is looked at.
   * @param after the last of the page before
   * @throws Unavailable
   */
  async due(until: Timestamp, limit: number, after?: DueShipment): Promise<readonly DueShipment[]> {
    const rows = await this.active.rows();
    const found = await rows.find({
      filter: { due_at: { lte: until } },
      sort: { fields: ['due_at', 'id'] },
      limit,
      ...(after && { after: [after.due_at, after.id] }),
    });
    return found.flatMap((row) => {
      const { id, due_at } = row;
      return due_at === undefined ? [] : [{ id, ...pickScope(row), due_at }];
    });
  }

  /**
   * The first workspace with a shipment, by id.
   * @param after the one before it
   * @throws Unavailable
   */
  async nextWorkspace(after: string | undefined): Promise<string | undefined> {
    const rows = await this.active.rows();
    const [first] = await rows.find({
      filter: after === undefined ? {} : { workspace_id: { gt: after } },
      sort: { fields: ['workspace_id', 'over', 'id'] },
      limit: 1,
    });
    return first?.workspace_id;
  }

  /**
   * Shipments of the workspace that other settings may change something about, live and test ones, in the order of their ids.
   * @param after the id of the last of the page before
   * @throws Unavailable
   */
  async ofWorkspace(
    workspaceId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly UnsettledShipment[]> {
    const rows = await this.active.rows();
    const found = await rows.find({
      filter: { workspace_id: workspaceId, over: false },
      sort: { fields: ['id'] },
      limit,
      ...(after !== undefined && { after: [after] }),
    });
    return found.map((row) => ({ id: row.id, ...pickScope(row) }));
  }
}
