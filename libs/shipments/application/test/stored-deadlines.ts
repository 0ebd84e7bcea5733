import type { EventStore } from '@tracking/ports';
import { convertStreamNameToShipmentId, toShipmentStreamName } from '@tracking/shipments-domain';
import type { DueShipment, DueShipmentSource } from '../src/clock/rule-clock.ts';

/** A simple work list that reads every stream each time. */
export class SimpleDueShipmentList implements DueShipmentSource {
  /** Ids of all shipments in the work list. */
  readonly ids: string[] = [];
  private frozen: readonly DueShipment[] | undefined;

  constructor(private readonly store: () => EventStore) {}

  /** Freezes the work list, so that it becomes stale like a delayed projection. */
  async freezeDeadlineList(): Promise<void> {
    this.frozen = await this.readWholeDeadlineList();
  }

  unfreezeWorkList(): void {
    this.frozen = undefined;
  }

  async listDueShipments(until: string, limit: number, after?: DueShipment): Promise<readonly DueShipment[]> {
    const place = ({ due_at, id }: DueShipment) => `${due_at} ${id}`;
    const rows = this.frozen ?? (await this.readWholeDeadlineList());
    return rows
      .filter((row) => row.due_at <= until && (after === undefined || place(row) > place(after)))
      .toSorted((one, other) => (place(one) < place(other) ? -1 : 1))
      .slice(0, limit);
  }

  private async readWholeDeadlineList(): Promise<readonly DueShipment[]> {
    const rows = await Promise.all(this.ids.map((id) => this.readDueRowOfStream(toShipmentStreamName(id))));
    return rows.flat();
  }

  private async readDueRowOfStream(stream: string): Promise<readonly DueShipment[]> {
    const events = await this.store().read(stream);
    const metadata = events.at(-1)?.metadata;
    const due_at = metadata?.['imported'] === true ? null : metadata?.['next_check_at'];
    const { workspace_id, environment } = events[0]?.data as Pick<DueShipment, 'workspace_id' | 'environment'>;
    return typeof due_at === 'string'
      ? [{ id: convertStreamNameToShipmentId(stream), workspace_id, environment, due_at }]
      : [];
  }
}
