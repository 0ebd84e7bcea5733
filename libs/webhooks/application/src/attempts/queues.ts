import type { Collection } from '@tracking/ports';
import { abandoned } from '@tracking/webhooks-domain';
import type { BundleDocument, Bundles } from '../deliveries/bundles.ts';
import {
  ANNOUNCEMENTS,
  type DeliveryDocument,
  endpointOfQueue,
  expressQueue,
  scheduledQueue,
  toDocument,
} from '../deliveries/delivery-document.ts';
import { firstOfEach } from '../deliveries/skip-scan.ts';
import { MOST_EXPRESS, type Page, type PageContent } from './backlog.ts';
import { BEGINNING, END, type Place, isAfter, placeOf } from './waiting-list.ts';

const AT_ONCE = 200;
/** Looked at for a page of a backlog. */
const MOST_BUNDLES = 20;
const IN_ORDER = { fields: ['due_at', 'id'] } as const;

/** What waits for attempts, as it is stored. */
export class Queues {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly bundles: Bundles,
  ) {}

  /** Reads a page of an endpoint's backlog. */
  async read(endpointId: string, page: Page): Promise<PageContent> {
    const [{ scheduled, end }, express] = await Promise.all([
      page.after === undefined ? { scheduled: [], end: END } : this.readScheduled(endpointId, page.after, page.limit),
      page.express ? this.find(expressQueue(endpointId), undefined, MOST_EXPRESS) : [],
    ]);
    return { scheduled, express, end };
  }

  private async readScheduled(endpointId: string, from: Place, limit: number) {
    // First of all: others may take some of them apart meanwhile, and what is read may lack those.
    const bundles = await this.bundles.ofEndpoint(endpointId, MOST_BUNDLES);
    const first = beginningOf(bundles[0]);
    const scheduled = await this.scheduled(endpointId, after(from), limit);
    const last = scheduled.at(-1);
    const isFull = last !== undefined && scheduled.length === limit && !isAfter(placeOf(last), first);
    if (first === END || isFull) return { scheduled, end: first };
    const end = await this.takeApart(bundles, limit);
    return { scheduled: await this.scheduled(endpointId, after(from), limit), end };
  }

  /** Takes the first of these apart, for so many deliveries or a little more. Answers where the others begin. */
  private async takeApart(bundles: readonly BundleDocument[], count: number): Promise<Place> {
    let found = 0;
    const first: BundleDocument[] = [];
    for (const bundle of bundles) {
      if (found >= count) break;
      first.push(bundle);
      found += bundle.deliveries.length;
    }
    await this.bundles.takeApart(first);
    const next = bundles[first.length];
    // Where there were as many as were asked for there may be more, and they begin no earlier.
    const last = bundles.length === MOST_BUNDLES ? bundles.at(-1) : undefined;
    return beginningOf(next ?? last);
  }

  /** An endpoint's scheduled deliveries in the order in which they come due. */
  scheduled(endpointId: string, after: readonly string[] | undefined, limit: number) {
    return this.find(scheduledQueue(endpointId), after, limit);
  }

  /** Every endpoint for which something waits; some twice. */
  async *endpoints(): AsyncIterable<string> {
    yield* this.bundles.endpoints();
    yield* this.queuedEndpoints();
  }

  private async *queuedEndpoints(): AsyncIterable<string> {
    let endpoint = '';
    for await (const { queue } of firstOfEach(this.deliveries, ['queue', 'due_at', 'id'])) {
      if (queue === undefined) return;
      const found = endpointOfQueue(queue);
      if (found !== endpoint && queue !== ANNOUNCEMENTS) yield found;
      endpoint = found;
    }
  }

  /** Discards everything that waits for a deleted endpoint. */
  async discard(endpointId: string, at: string): Promise<void> {
    while (
      await this.bundles.takeApartFirst({ filter: { endpoint_id: endpointId }, sort: IN_ORDER, limit: MOST_BUNDLES })
    );
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

/** Before everything in it. */
export function beginningOf(bundle: Pick<BundleDocument, 'due_at'> | undefined): Place {
  return bundle === undefined ? END : { due: Date.parse(bundle.due_at), id: '' };
}

function after({ due, id }: Place): readonly string[] | undefined {
  return due === BEGINNING.due ? undefined : [new Date(due).toISOString(), id];
}
