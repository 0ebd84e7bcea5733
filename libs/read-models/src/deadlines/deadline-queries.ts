import type { Scope, Timestamp } from '@tracking/contracts';
import type { ActiveRows } from '../active-rows.ts';
import { scopeOf } from '../scope.ts';
import type { DeadlineRow } from './deadline-rows.ts';

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
      return due_at === undefined ? [] : [{ id, ...scopeOf(row), due_at }];
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
    return found.map((row) => ({ id: row.id, ...scopeOf(row) }));
  }
}
