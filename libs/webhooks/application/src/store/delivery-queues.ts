import type { Collection, Document, Query } from '@tracking/ports';
import { endDeliveryOfDeletedEndpoint } from '@tracking/webhooks-domain';
import {
  DEAD_LETTER_ANNOUNCEMENT_QUEUE,
  type DeliveryDocument,
  type ScopedEndpoint,
  getEndpointOfQueue,
  getExpressQueueName,
  getQueueKeyOfScheduledAttempts,
  toDeliveryShardValuesOfScopes,
  convertToDeliveryDocument,
} from './delivery-document.ts';

/** A position in the order in which an endpoint's deliveries are due, with ties ordered by id. */
export interface DeliveryQueuePosition {
  /** Due time, in epoch milliseconds. */
  readonly due: number;
  readonly id: string;
}
export const QUEUE_START_POSITION: DeliveryQueuePosition = { due: -Infinity, id: '' };
export const QUEUE_END_POSITION: DeliveryQueuePosition = { due: Infinity, id: '' };

export function isQueuePositionAfter(one: DeliveryQueuePosition, other: DeliveryQueuePosition): boolean {
  return one.due === other.due ? one.id > other.id : one.due > other.due;
}

export function createQueuePosition({ id, due_at, created_at }: DeliveryDocument): DeliveryQueuePosition {
  return { due: Date.parse(due_at ?? created_at), id };
}

const ORDER_BY_DUE_TIME = { fields: ['due_at', 'id'] } as const;

/** Queues of the stored deliveries that wait for attempts. */
export class DeliveryQueues {
  constructor(private readonly deliveries: Collection<DeliveryDocument>) {}

  /** Reads an endpoint's scheduled deliveries after a position, in the order in which they are due. */
  readScheduledDeliveriesAfter(
    { due, id }: DeliveryQueuePosition,
    endpoint: ScopedEndpoint,
    limit: number,
  ): Promise<readonly DeliveryDocument[]> {
    const after = due === QUEUE_START_POSITION.due ? undefined : [new Date(due).toISOString(), id];
    return this.findDeliveriesInQueue(endpoint, getQueueKeyOfScheduledAttempts(endpoint.id), {
      limit,
      ...(after && { after }),
    });
  }

  /** Reads an endpoint's requested retries and sandbox events, longest waiting first. */
  readExpressDeliveries(endpoint: ScopedEndpoint, limit: number): Promise<readonly DeliveryDocument[]> {
    return this.findDeliveriesInQueue(endpoint, getExpressQueueName(endpoint.id), { limit });
  }

  /** Reads an endpoint's sandbox events. Skips retries that were requested before the endpoint was disabled. */
  readPendingSandboxEventDeliveries(endpoint: ScopedEndpoint, limit: number): Promise<readonly DeliveryDocument[]> {
    const filter = { queue: getExpressQueueName(endpoint.id), sandbox: true };
    const shards = toDeliveryShardValuesOfScopes(endpoint);
    return this.deliveries.find({ filter, sort: ORDER_BY_DUE_TIME, limit, index: 'queue', shards });
  }

  /** Yields the id of every endpoint with a pending delivery. */
  async *listEndpointsWithPendingDeliveries(): AsyncIterable<string> {
    let endpoint = '';
    for await (const { queue } of readFirstDocumentPerValue(this.deliveries, ['queue', 'due_at', 'id'])) {
      if (queue === undefined) return;
      const found = getEndpointOfQueue(queue);
      if (found !== endpoint && queue !== DEAD_LETTER_ANNOUNCEMENT_QUEUE) yield found;
      endpoint = found;
    }
  }

  /** Discards some pending deliveries of a deleted endpoint. Returns the number found; 0 if none is pending. */
  async discardPendingDeliveries(endpoint: ScopedEndpoint, at: string, limit: number): Promise<number> {
    const scheduled = await this.findDeliveriesInQueue(endpoint, getQueueKeyOfScheduledAttempts(endpoint.id), {
      limit,
    });
    const waiting =
      scheduled.length > 0
        ? scheduled
        : await this.findDeliveriesInQueue(endpoint, getExpressQueueName(endpoint.id), { limit });
    // Skip a delivery that changed after the read: the next page contains it again.
    await this.deliveries.writeMany(
      waiting.map((delivery) => {
        const document = convertToDeliveryDocument(endDeliveryOfDeletedEndpoint(delivery, at));
        return { kind: 'upsert', document, guard: { revision: delivery.revision } };
      }),
    );
    return waiting.length;
  }

  private findDeliveriesInQueue(endpoint: ScopedEndpoint, queue: string, page: Pick<Query, 'after' | 'limit'>) {
    const by = { index: 'queue', shards: toDeliveryShardValuesOfScopes(endpoint) };
    return this.deliveries.find({ filter: { queue }, sort: ORDER_BY_DUE_TIME, ...page, ...by });
  }
}

/**
 * Yields the first document for each value of the first field, which must be a text. Skips from value to value in the
 * index of these fields.
 */
export async function* readFirstDocumentPerValue<F extends string, T extends Document & { readonly [K in F]?: string }>(
  collection: Collection<T>,
  fields: readonly [F, ...string[]],
): AsyncIterable<T> {
  const [field] = fields;
  let value = '';
  for (;;) {
    const [next] = await collection.find({ filter: { [field]: { gt: value } }, sort: { fields }, limit: 1 });
    if (next?.[field] === undefined) return;
    value = next[field];
    yield next;
  }
}
