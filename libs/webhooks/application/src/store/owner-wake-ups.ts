import { randomUUID } from 'node:crypto';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { shardOf } from '@tracking/webhooks-domain';

/** Something about this endpoint changed: its owner, another process, is to read anew what is stored. */
export interface WakeUpDocument extends Document {
  readonly shard: number;
  /** Of the latest change: a wake-up is taken away only as it was when it was read. */
  readonly token: string;
}

export const WAKE_UPS: CollectionSpec = {
  name: 'webhook_nudges',
  indexes: [{ name: 'shard', fields: ['shard'] }],
};

const AT_ONCE = 500;

/** Wake-ups between processes: whoever stores something about an endpoint that another process owns wakes its owner. */
export class OwnerWakeUps {
  constructor(private readonly documents: Collection<WakeUpDocument>) {}

  /** Stored when it resolves; to be called after what it is about was stored. */
  async request(endpointIds: readonly string[]): Promise<void> {
    await this.documents.writeMany(
      endpointIds.map((id) => ({ kind: 'upsert', document: { id, shard: shardOf(id), token: randomUUID() } })),
    );
  }

  /**
   * Hands over the wake-ups for these shards.
   * @param reload answers whether this process still owns the endpoint: then its wake-up is taken away
   */
  async take(shards: readonly number[], reload: (endpointId: string) => Promise<boolean>): Promise<void> {
    if (shards.length === 0) return;
    const left = await this.documents.find({ filter: { shard: { in: shards } }, limit: AT_ONCE });
    for (const { id, token } of left) {
      if (await reload(id)) await this.documents.delete(id, { token });
    }
  }
}
