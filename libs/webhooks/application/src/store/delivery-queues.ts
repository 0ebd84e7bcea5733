import type { Collection, Document } from '@tracking/ports';
import { markAbandoned } from '@tracking/webhooks-domain';
import {
  ANNOUNCEMENT_QUEUE,
  type DeliveryDocument,
  endpointOfQueue,
  expressQueue,
  scheduledQueue,
  toDocument,
} from './delivery-document.ts';

/** A position in the order in which deliveries of an endpoint come due; ties by id. */
export interface QueuePosition {
  /** Epoch milliseconds. */
  readonly due: number;
  readonly id: string;
}
export const QUEUE_START: QueuePosition = { due: -Infinity, id: '' };
export const QUEUE_END: QueuePosition = { due: Infinity, id: '' };

export function isAfter(one: QueuePosition, other: QueuePosition): boolean {
  return one.due === other.due ? one.id > other.id : one.due > other.due;
}

export function queuePosition({ id, due_at, created_at }: DeliveryDocument): QueuePosition {
  return { due: Date.parse(due_at ?? created_at), id };
}

const DUE_ORDER = { fields: ['due_at', 'id'] } as const;

/** The stored deliveries that wait for attempts. */
export class DeliveryQueues {
  constructor(private readonly deliveries: Collection<DeliveryDocument>) {}

  /** The scheduled deliveries of an endpoint that come due after a position, in that order. */
  scheduledAfter({ due, id }: QueuePosition, endpointId: string, limit: number): Promise<readonly DeliveryDocument[]> {
    const after = due === QUEUE_START.due ? undefined : [new Date(due).toISOString(), id];
    return this.find(scheduledQueue(endpointId), after, limit);
  }

  /** Requested retries and sandbox events, the longest waiting first. */
  express(endpointId: string, limit: number): Promise<readonly DeliveryDocument[]> {
    return this.find(expressQueue(endpointId), undefined, limit);
  }

  /** The sandbox events among these; skips retries that were requested before their endpoint was disabled. */
  sandbox(endpointId: string, limit: number): Promise<readonly DeliveryDocument[]> {
    const filter = { queue: expressQueue(endpointId), sandbox: true };
    return this.deliveries.find({ filter, sort: DUE_ORDER, limit, index: 'queue' });
  }

  /** Every endpoint for which a delivery waits. */
  async *endpoints(): AsyncIterable<string> {
    let endpoint = '';
    for await (const { queue } of firstPerValue(this.deliveries, ['queue', 'due_at', 'id'])) {
      if (queue === undefined) return;
      const found = endpointOfQueue(queue);
      if (found !== endpoint && queue !== ANNOUNCEMENT_QUEUE) yield found;
      endpoint = found;
    }
  }

  /** Discards some deliveries that wait for a deleted endpoint. Returns how many were found; 0 if none waits. */
  async discard(endpointId: string, at: string, limit: number): Promise<number> {
    const scheduled = await this.find(scheduledQueue(endpointId), undefined, limit);
    const waiting = scheduled.length > 0 ? scheduled : await this.find(expressQueue(endpointId), undefined, limit);
    // A delivery that changed since is found again.
    await this.deliveries.writeMany(
      waiting.map((delivery) => {
        const document = toDocument(markAbandoned(delivery, at));
        return { kind: 'upsert', document, guard: { revision: delivery.revision } };
      }),
    );
    return waiting.length;
  }

  private find(queue: string, after: readonly string[] | undefined, limit: number) {
    const resume = after === undefined ? {} : { after };
    return this.deliveries.find({ filter: { queue }, sort: DUE_ORDER, limit, ...resume });
  }
}

/**
 * The first document for each value of the first of these fields, which is a text. Skips from value to value along the index
 * of these fields.
 */
export async function* firstPerValue<F extends string, T extends Document & { readonly [K in F]?: string }>(
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
