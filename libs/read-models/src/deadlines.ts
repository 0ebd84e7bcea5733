import type { WorkspaceScope, ShipmentStatus, Timestamp } from '@tracking/contracts';
import {
  type EventMetadata,
  readNextCheckTime,
  type ShipmentEvent,
  convertStreamNameToShipmentId,
} from '@tracking/shipments-domain';
import type { ActiveGenerationSelector } from './active-rows.ts';
import { type ReadModel, type ReadModelRow, pickScopeFields } from './read-model.ts';

/**
 * Row with the time of a shipment's next rule check. `revision` is the revision of the last event that changed the row,
 * because most events do not change it and cause no write.
 */
export interface NextRuleCheckRow extends ReadModelRow, WorkspaceScope {
  /**
   * Time of the next check, from the last event. Absent if only events can change the shipment, or if the event was
   * imported.
   */
  readonly due_at?: Timestamp;
  /** True if the shipment has ended. The row is kept, so that a late write of an earlier event is recognized. */
  readonly ended: boolean;
  readonly has_open_exceptions: boolean;
  /**
   * True if a recheck cannot change the shipment: it has ended, has no open exception, and has no pending check from an
   * import.
   */
  readonly over: boolean;
}

/** Statuses that only a client or a milestone can change. They do not include `delivered`. */
export const FINAL_SHIPMENT_STATUSES: readonly ShipmentStatus[] = ['cancelled', 'completed', 'returned'];

/**
 * Work list of the rule clock, and of the rechecks after a workspace's settings change. It has one row per shipment.
 */
export const deadlinesReadModel: ReadModel<NextRuleCheckRow, 'deadlines'> = {
  name: 'deadlines',
  version: 3,
  indexes: [
    { name: 'by_due_at', fields: ['due_at', 'id'] },
    { name: 'by_workspace', fields: ['workspace_id', 'over', 'id'] },
  ],
  scoped: false,

  listRowIdsNeededToProjectEvent: ({ stream, event }) =>
    event.revision === 0 ? [] : [convertStreamNameToShipmentId(stream)],

  applyEventToRows({ stream, event }, row) {
    const id = convertStreamNameToShipmentId(stream);
    const before = row(id);
    if (before && before.revision >= event.revision) return [];
    const scope = event.type === 'shipment.created.v1' ? event.data : before;
    if (!scope) throw new Error(`event ${event.type} has no shipment`);
    const due_at = readNextCheckTime(event.metadata);
    const ended = isShipmentEndedAfterEvent(event, before);
    const has_open_exceptions = hasOpenExceptionsAfter(event, before);
    const over = ended && !has_open_exceptions && !isImportedEventWithScheduledCheck(event.metadata);
    const state = { ended, has_open_exceptions, over };
    if (before && isSameDeadlineState(before, { due_at, ...state })) return [];
    const { revision } = event;
    return [{ id, ...pickScopeFields(scope), ...(due_at !== null && { due_at }), ...state, revision }];
  },
};

type DeadlineState = Pick<NextRuleCheckRow, 'ended' | 'has_open_exceptions' | 'over'>;

function isSameDeadlineState(
  before: NextRuleCheckRow,
  after: DeadlineState & { readonly due_at: Timestamp | null },
): boolean {
  return (
    before.ended === after.ended &&
    before.has_open_exceptions === after.has_open_exceptions &&
    before.over === after.over &&
    (before.due_at ?? null) === after.due_at
  );
}

/** Returns true if the event was imported from a system that had scheduled a check, such as the expiry of an upload. */
function isImportedEventWithScheduledCheck({ imported, next_check_at }: EventMetadata): boolean {
  return imported === true && next_check_at !== null;
}

function isShipmentEndedAfterEvent(event: ShipmentEvent, before: NextRuleCheckRow | undefined): boolean {
  const status = readStatusSetByEvent(event);
  return status === undefined ? (before?.ended ?? false) : FINAL_SHIPMENT_STATUSES.includes(status);
}

function hasOpenExceptionsAfter({ type, data }: ShipmentEvent, before: NextRuleCheckRow | undefined): boolean {
  const isAboutOne = type === 'exception.opened.v1' || type === 'exception.resolved.v2';
  return isAboutOne ? data.open_exceptions_count > 0 : (before?.has_open_exceptions ?? false);
}

function readStatusSetByEvent({ type, data }: ShipmentEvent): ShipmentStatus | undefined {
  if (type === 'shipment.created.v1') return data.shipment.status;
  return type === 'shipment.changed.v1' ? data.changes.status?.to : undefined;
}

/** A shipment whose rules are due for a check. */
export interface DueShipment extends WorkspaceScope {
  readonly id: string;
  readonly due_at: Timestamp;
}

/** A shipment that changed settings can affect: it has not ended, or it has an open exception. */
export interface ShipmentAffectedBySettings extends WorkspaceScope {
  readonly id: string;
}

/** Queries for shipments whose rules must be checked. */
export class DueRuleCheckQueries {
  constructor(private readonly active: ActiveGenerationSelector<NextRuleCheckRow>) {}

  /**
   * Lists shipments that are due at `until`, the longest overdue first. Reads only rows of due shipments.
   * @param after last shipment of the previous page
   * @throws UnavailableError
   */
  async listDueShipments(until: Timestamp, limit: number, after?: DueShipment): Promise<readonly DueShipment[]> {
    const rows = await this.active.openActiveGenerationRows();
    const found = await rows.find({
      filter: { due_at: { lte: until } },
      sort: { fields: ['due_at', 'id'] },
      limit,
      ...(after && { after: [after.due_at, after.id] }),
    });
    return found.flatMap((row) => {
      const { id, due_at } = row;
      return due_at === undefined ? [] : [{ id, ...pickScopeFields(row), due_at }];
    });
  }

  /**
   * Returns the id of the next workspace that has shipments, in id order.
   * @param after id of the previous workspace
   * @throws UnavailableError
   */
  async findNextWorkspace(after: string | undefined): Promise<string | undefined> {
    const rows = await this.active.openActiveGenerationRows();
    const [first] = await rows.find({
      filter: after === undefined ? {} : { workspace_id: { gt: after } },
      sort: { fields: ['workspace_id', 'over', 'id'] },
      limit: 1,
    });
    return first?.workspace_id;
  }

  /**
   * Returns the workspace's live and test shipments that changed settings can affect, in id order.
   * @param after id of the last shipment of the previous page
   * @throws UnavailableError
   */
  async listUnsettledShipments(
    workspaceId: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly ShipmentAffectedBySettings[]> {
    const rows = await this.active.openActiveGenerationRows();
    const found = await rows.find({
      filter: { workspace_id: workspaceId, over: false },
      sort: { fields: ['id'] },
      limit,
      ...(after !== undefined && { after: [after] }),
    });
    return found.map((row) => ({ id: row.id, ...pickScopeFields(row) }));
  }
}
