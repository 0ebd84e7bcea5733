import { randomUUID } from 'node:crypto';
import type { Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { type HourCounts, hourOf, shardOf } from '@tracking/webhooks-domain';
import type { DeliveryDocument } from '../store/delivery-document.ts';

/** What became of the attempts at an endpoint in an hour: written by the endpoint's owner alone. */
export interface HourDocument extends Document, HourCounts {
  readonly endpoint_id: string;
  readonly hour: Timestamp;
  /** Of the lease under which it was written: what an earlier owner still writes is refused. */
  readonly epoch: number;
  /**
   * Shard of the endpoint while its owner may have stored outcomes that are not counted here. Absent once all are: an owner
   * that ends in between leaves it, and the next one finds it.
   */
  readonly open_in?: number;
  /** The time of {@link HourCounts.last_error}: what is sought has to be a field of its own. */
  readonly last_error_at: Timestamp | null;
  /** It could not be counted anew, since the log does not hold all of it any more. */
  readonly is_incomplete?: true;
}

/** Counted anew from the log should a power cut take them back. */
export const HOURS: CollectionSpec = {
  name: 'webhook_hours',
  indexes: [
    { name: 'endpoint', fields: ['endpoint_id', 'hour'] },
    { name: 'open', fields: ['open_in', 'id'] },
    { name: 'hour', fields: ['hour', 'id'] },
  ],
  durability: 'ordered',
};

/**
 * Attempts are counted again after their owner ended without a word, discards whenever a delivery is discarded, and whenever
 * a discarded one is replayed or delivered: any process may do that.
 */
export type Recounted = 'attempts' | 'discards';

/** A part of an hour's counts that may be wrong: the endpoint's owner is to count it anew. */
export interface RecountDocument extends Document {
  readonly endpoint_id: string;
  readonly hour: Timestamp;
  readonly part: Recounted;
  readonly shard: number;
  /** Of the latest request: it is taken away only as it was when it was read. */
  readonly token: string;
}

export const RECOUNTS: CollectionSpec = {
  name: 'webhook_recounts',
  indexes: [
    { name: 'shard', fields: ['shard', 'id'] },
    { name: 'endpoint', fields: ['endpoint_id'] },
  ],
  durability: 'ordered',
};

export function hourId(endpointId: string, hour: Timestamp): string {
  return `${endpointId}.${hour}`;
}

/** Requests to count an hour anew, from whoever knows that its counts may be wrong. */
export class Recounts {
  constructor(readonly documents: Collection<RecountDocument>) {}

  /** Stored when it resolves: the hour is counted after that, whether or not it is being counted now. */
  async request(part: Recounted, endpointId: string, hour: Timestamp): Promise<void> {
    await this.documents.upsert(requestOf(part, endpointId, hour));
  }

  /** Hours that a former owner left open: nothing of them has been counted yet by whoever finds that. */
  async leftOpen(hours: readonly Pick<HourDocument, 'endpoint_id' | 'hour'>[]): Promise<void> {
    await this.documents.writeMany(
      hours.map(({ endpoint_id, hour }) => ({ kind: 'insert', document: requestOf('attempts', endpoint_id, hour) })),
    );
  }

  /** Before any deliveries of these endpoints are discarded as of then: whatever becomes of that, it is counted. */
  async beforeDiscards(endpointIds: readonly string[], at: Timestamp): Promise<void> {
    for (const id of new Set(endpointIds)) await this.request('discards', id, hourOf(at));
  }

  /** Before any of these deliveries that are discarded is replayed or stored as delivered. */
  async beforeRestoring(deliveries: readonly DeliveryDocument[]): Promise<void> {
    const discarded = deliveries.flatMap(({ endpoint_id, discarded_at: at }) => (at ? [{ endpoint_id, at }] : []));
    const requests = discarded.map(({ endpoint_id, at }) => requestOf('discards', endpoint_id, hourOf(at)));
    for (const request of new Map(requests.map((each) => [each.id, each])).values()) {
      await this.documents.upsert(request);
    }
  }
}

function requestOf(part: Recounted, endpoint_id: string, hour: Timestamp): RecountDocument {
  const id = `${hourId(endpoint_id, hour)}.${part}`;
  return { id, endpoint_id, hour, part, shard: shardOf(endpoint_id), token: randomUUID() };
}
