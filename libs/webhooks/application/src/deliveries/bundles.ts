import { hash } from 'node:crypto';
import type { Environment, Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document, Filter, Query } from '@tracking/ports';
import { newDelivery } from '@tracking/webhooks-domain';
import type { Scope } from '../requests.ts';
import { type DeliveryDocument, toDocument } from './delivery-document.ts';
import { firstOfEach } from './skip-scan.ts';

/** What the deliveries of a bundle do not have in common. */
type Bundled = Pick<DeliveryDocument, 'id' | 'event_id' | 'event_created_at' | 'origin' | 'payload_id' | 'created_at'>;

/**
 * New deliveries of one endpoint, for events of one type and second, in one document: what an endpoint that is behind
 * would not get soon. Each in a document with its indexes would keep those waiting that keep up.
 */
export interface BundleDocument extends Document {
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly endpoint_id: string;
  readonly event_type: string;
  /** Of all its events, as `2026-11-30T23:59:59`. */
  readonly second: string;
  /** When the first of them is due. */
  readonly due_at: Timestamp;
  readonly first_created_at: Timestamp;
  readonly last_created_at: Timestamp;
  readonly deliveries: readonly Bundled[];
}

const SCOPE = ['workspace_id', 'environment'] as const;
export const BY_CREATION = ['last_created_at', 'id'] as const;
/** What else lists filter by: so that an engine need not read the bundles themselves. */
const LOOKED_AT = ['first_created_at', 'event_type', 'second'] as const;

export const BUNDLES: CollectionSpec = {
  name: 'webhook_bundles',
  durability: 'ordered',
  indexes: [
    { name: 'queue', fields: ['endpoint_id', 'due_at', 'id'] },
    { name: 'endpoint', fields: ['endpoint_id', ...SCOPE, ...BY_CREATION, ...LOOKED_AT] },
    { name: 'scope', fields: [...SCOPE, ...BY_CREATION, ...LOOKED_AT] },
    { name: 'second', fields: [...SCOPE, 'second', 'id'] },
  ],
};

/** Those of a second are looked through this many at a time. */
const AT_ONCE = 50;

/** Deliveries that were recorded in bundles. Whoever wants to see or change some of them takes their bundle apart first. */
export class Bundles {
  constructor(
    private readonly bundles: Collection<BundleDocument>,
    private readonly deliveries: Collection<DeliveryDocument>,
  ) {}

  /**
   * Stores new deliveries as bundles, and answers those. May be repeated: a delivery in two of them is one when they are
   * taken apart.
   */
  async store(deliveries: readonly DeliveryDocument[]): Promise<readonly BundleDocument[]> {
    const kindOf = ({ endpoint_id, event_type, event_created_at }: DeliveryDocument) =>
      `${endpoint_id} ${event_type} ${secondOf(event_created_at)}`;
    const bundles = [...Map.groupBy(deliveries, kindOf).values()].map(bundle);
    await this.bundles.writeMany(bundles.map((document) => ({ kind: 'insert', document })));
    return bundles;
  }

  /** The bundles of an endpoint in the order in which they come due. */
  ofEndpoint(endpoint_id: string, limit: number): Promise<readonly BundleDocument[]> {
    return this.bundles.find({ filter: { endpoint_id }, sort: { fields: ['due_at', 'id'] }, limit });
  }

  /** Every endpoint with bundles. */
  async *endpoints(): AsyncIterable<string> {
    for await (const { endpoint_id } of firstOfEach(this.bundles, ['endpoint_id', 'due_at', 'id'])) yield endpoint_id;
  }

  /** Makes each of their deliveries a document, unless it is one. Interrupted in between, some are both for a while. */
  async takeApart(bundles: readonly BundleDocument[]): Promise<void> {
    if (bundles.length === 0) return;
    const inserts = bundles.flatMap(deliveriesOf).map((document) => ({ kind: 'insert', document }) as const);
    await this.deliveries.writeMany(inserts);
    const deletes = bundles.map(({ id }) => ({ kind: 'delete', id }) as const);
    await this.bundles.writeMany(deletes);
  }

  /** Takes the first ones that match apart. Answers whether there were any. */
  async takeApartFirst(query: Query): Promise<boolean> {
    const found = await this.bundles.find(query);
    await this.takeApart(found);
    return found.length > 0;
  }

  /** When the newest one of any of these scopes was recorded; undefined when there is none. */
  async newest(scopes: readonly Scope[]): Promise<Timestamp | undefined> {
    const found = scopes.map(({ workspace_id, environment }) =>
      this.bundles.find({
        filter: { workspace_id, environment },
        sort: { fields: BY_CREATION, descending: true },
        limit: 1,
      }),
    );
    const times = (await Promise.all(found)).flat().map(({ last_created_at }) => last_created_at);
    return times.toSorted().at(-1);
  }

  /** Takes those apart that hold such a delivery of an event of that time: all of them, there may be two with the same. */
  async takeApartWith(scopes: readonly Scope[], at: Timestamp, isWanted: (one: Bundled) => boolean): Promise<void> {
    for await (const bundle of this.ofSecond(scopes, at)) {
      if (bundle.deliveries.some(isWanted)) await this.takeApart([bundle]);
    }
  }

  private async *ofSecond(scopes: readonly Scope[], at: Timestamp): AsyncIterable<BundleDocument> {
    for (const { workspace_id, environment } of scopes) {
      const filter: Filter = { workspace_id, environment, second: secondOf(at) };
      let after: readonly string[] | undefined;
      for (;;) {
        const resume = after === undefined ? {} : { after };
        const page = await this.bundles.find({ filter, sort: { fields: ['id'] }, limit: AT_ONCE, ...resume });
        yield* page;
        const last = page.at(-1);
        if (last === undefined) break;
        after = [last.id];
      }
    }
  }
}

export function secondOf(at: Timestamp): string {
  return at.slice(0, 19);
}

/** @param some of one endpoint, event type and second */
function bundle(some: readonly DeliveryDocument[]): BundleDocument {
  const [first] = some;
  if (first === undefined) throw new TypeError('a bundle holds at least one delivery');
  const { workspace_id, environment, endpoint_id, event_type } = first;
  const [first_created_at, last_created_at] = range(some.map(({ created_at }) => created_at));
  return {
    // The same again is the same document.
    id: `bdl_${hash('sha256', some.map(({ id }) => id).join()).slice(0, 32)}`,
    workspace_id,
    environment,
    endpoint_id,
    event_type,
    second: secondOf(first.event_created_at),
    due_at: range(some.map(({ due_at, created_at }) => due_at ?? created_at))[0],
    first_created_at,
    last_created_at,
    deliveries: some.map(({ id, event_id, event_created_at, origin, payload_id, created_at }) => {
      return { id, event_id, event_created_at, ...(origin && { origin }), payload_id, created_at };
    }),
  };
}

function deliveriesOf({ workspace_id, environment, endpoint_id, event_type, deliveries }: BundleDocument) {
  const shared = { workspace_id, environment, endpoint_id, event_type, sandbox: false };
  return deliveries.map(({ created_at, ...own }) => toDocument(newDelivery({ ...shared, ...own }, created_at)));
}

function range(times: readonly Timestamp[]): readonly [Timestamp, Timestamp] {
  const sorted = times.toSorted();
  return [sorted[0] ?? '', sorted.at(-1) ?? ''];
}
