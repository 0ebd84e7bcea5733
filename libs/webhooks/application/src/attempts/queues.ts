import type { Collection } from '@tracking/ports';
import { abandoned } from '@tracking/webhooks-domain';
import {
  ANNOUNCEMENTS,
  type DeliveryDocument,
  endpointOfQueue,
  expressQueue,
  scheduledQueue,
  toDocument,
} from '../deliveries/delivery-document.ts';
import { MOST_EXPRESS, type Page, type PageContent } from './backlog.ts';
import { BEGINNING, type Place } from './waiting-list.ts';

const AT_ONCE = 200;
const IN_ORDER = { fields: ['due_at', 'id'] } as const;

/** What waits for attempts, as it is stored. */
export class Queues {
  constructor(private readonly deliveries: Collection<DeliveryDocument>) {}

  /** Reads a page of an endpoint's backlog. */
  async read(endpointId: string, page: Page): Promise<PageContent> {
    const [scheduled, express] = await Promise.all([
      page.after === undefined ? [] : this.scheduled(endpointId, after(page.after), page.limit),
      page.express ? this.find(expressQueue(endpointId), undefined, MOST_EXPRESS) : [],
    ]);
    return { scheduled, express };
  }

  /** An endpoint's scheduled deliveries in the order in which they come due. */
  scheduled(endpointId: string, after: readonly string[] | undefined, limit: number) {
    return this.find(scheduledQueue(endpointId), after, limit);
  }

  /** Every endpoint for which something waits, found by skipping from queue to queue along the index. */
  async *endpoints(): AsyncIterable<string> {
    let queue = '';
    let endpoint = '';
    for (;;) {
      const [next] = await this.deliveries.find({
        filter: { queue: { gt: queue } },
        sort: { fields: ['queue', 'due_at', 'id'] },
        limit: 1,
      });
      if (next?.queue === undefined) return;
      queue = next.queue;
      const found = endpointOfQueue(queue);
      if (found !== endpoint && queue !== ANNOUNCEMENTS) yield found;
      endpoint = found;
    }
  }

  /** Discards everything that waits for a deleted endpoint. */
  async discard(endpointId: string, at: string): Promise<void> {
    for (const queue of [scheduledQueue(endpointId), expressQueue(endpointId)]) {
      for (;;) {
        const waiting = await this.find(queue, undefined, AT_ONCE);
        if (waiting.length === 0) break;
        await this.replace(waiting.map((delivery) => [delivery, toDocument(abandoned(delivery, at))]));
      }
    }
  }

  /** Writes changed deliveries where they are as they were read. */
  async replace(changes: readonly (readonly [before: DeliveryDocument, after: DeliveryDocument])[]): Promise<void> {
    await this.deliveries.writeMany(
      changes.map(([{ revision }, document]) => ({ kind: 'upsert', document, guard: { revision } })),
    );
  }

  private find(queue: string, after: readonly string[] | undefined, limit: number) {
    const resume = after === undefined ? {} : { after };
    return this.deliveries.find({ filter: { queue }, sort: IN_ORDER, limit, ...resume });
  }
}

function after({ due, id }: Place): readonly string[] | undefined {
  return due === BEGINNING.due ? undefined : [new Date(due).toISOString(), id];
}
