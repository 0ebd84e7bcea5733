import type { WebhookDelivery } from '@tracking/client';

export interface Shown {
  readonly rows: readonly WebhookDelivery[];
  /** Those that are not among the rows yet. */
  readonly newer: number;
}

/** What was read page by page, with what changed of it since, each where it stands: rows never move under the pointer. */
export function withNewest(read: readonly WebhookDelivery[], newest: readonly WebhookDelivery[]): Shown {
  const now = new Map(newest.map((delivery) => [delivery.id, delivery]));
  const known = new Set(read.map(({ id }) => id));
  const rows = read.map((delivery) => {
    const changed = now.get(delivery.id);
    return changed !== undefined && changed.version > delivery.version ? changed : delivery;
  });
  return { rows, newer: newest.filter(({ id }) => !known.has(id)).length };
}
