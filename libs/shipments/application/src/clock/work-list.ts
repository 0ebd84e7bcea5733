import type { Scope, Timestamp } from '@tracking/contracts';

/** A shipment whose rules are to be checked since some moment. */
export interface DueShipment extends Scope {
  readonly id: string;
  readonly due_at: Timestamp;
}

/** What the clock goes by: of each shipment the moment that its last append names. It may be behind, and no harm comes of it. */
export interface WorkList {
  /**
   * What is due by `until`, the longest due first.
   * @param after the last of the page before
   * @throws Unavailable
   */
  due(until: Timestamp, limit: number, after?: DueShipment): Promise<readonly DueShipment[]>;
}
