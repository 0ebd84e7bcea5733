import { randomUUID } from 'node:crypto';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { shardOf } from '@tracking/webhooks-domain';

/** Something about this endpoint changed: its owner, another process, is to look at what is stored. */
export interface NudgeDocument extends Document {
  readonly shard: number;
  /** Of the latest change: a nudge is taken away only as it was when it was read. */
  readonly token: string;
}

export const NUDGES: CollectionSpec = {
  name: 'webhook_nudges',
  indexes: [{ name: 'shard', fields: ['shard'] }],
};

const AT_ONCE = 500;

/** How processes tell the owner of an endpoint that there is something for it to do. Empty where one process does all. */
export class Nudges {
  constructor(private readonly documents: Collection<NudgeDocument>) {}

  /** Stored when it resolves; to be called after what it is about was stored. */
  async leave(endpointIds: readonly string[]): Promise<void> {
    await this.documents.writeMany(
      endpointIds.map((id) => ({ kind: 'upsert', document: { id, shard: shardOf(id), token: randomUUID() } })),
    );
  }

  /** Hands over what was left for these shards; each is taken away once `look` resolved. */
  async take(shards: readonly number[], look: (endpointId: string) => Promise<void>): Promise<void> {
    if (shards.length === 0) return;
    const left = await this.documents.find({ filter: { shard: { in: shards } }, limit: AT_ONCE });
    for (const { id, token } of left) {
      await look(id);
      await this.documents.delete(id, { token });
    }
  }
}
