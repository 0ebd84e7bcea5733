import { type Collection, Unavailable } from '@tracking/ports';
import { type Delivery, discarded, isAttempted, replayed, retryRequested } from '@tracking/webhooks-domain';
import type { ShardOwner } from '../attempts/shard-owner.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import { deliverySucceeded, endpointNotEnabled, endpointNotVerified, noSuchEndpoint } from '../refusals.ts';
import { isRepeated } from '../repeated-command.ts';
import type {
  DeadLetterAnswer,
  DeadLetterCommand,
  DeliveryCommand,
  ListDeliveries,
  PageOf,
  Scope,
  WebhookDelivery,
  WebhookDeliveryDetail,
} from '../requests.ts';
import { type DeliveryDocument, toDelivery, toDocument } from '../store/delivery-document.ts';
import type { WebhookDeliveries } from '../webhooks-api.ts';
import type { DeliveryQueries } from '../store/delivery-queries.ts';

const AT_ONCE = 200;
const MAX_TRIES = 20;

type DeliveryChange = (delivery: DeliveryDocument) => Delivery | Promise<Delivery>;

export interface DeliveriesParts {
  readonly documents: Collection<DeliveryDocument>;
  readonly queries: DeliveryQueries;
  readonly endpoints: EndpointStore;
  readonly owner: ShardOwner;
}

/** The use cases of deliveries: docs/reference/delivery.md#deliveries. */
export class Deliveries implements WebhookDeliveries {
  constructor(private readonly parts: DeliveriesParts) {}

  list(request: ListDeliveries): Promise<PageOf<WebhookDelivery>> {
    return this.parts.queries.list(request);
  }

  get(request: { readonly scopes: readonly Scope[]; readonly delivery_id: string }): Promise<WebhookDeliveryDetail> {
    return this.parts.queries.detail(request.scopes, request.delivery_id);
  }

  async retry(command: DeliveryCommand): Promise<WebhookDelivery> {
    return this.changeOne(command, async (now) => {
      const endpoint = await this.parts.endpoints.get(now.endpoint_id);
      if (endpoint === undefined || endpoint.deleted) throw noSuchEndpoint();
      if (now.sandbox && !endpoint.verified) throw endpointNotVerified();
      if (!now.sandbox && !isAttempted(endpoint)) throw endpointNotEnabled();
      return retryRequested(now, command.at);
    });
  }

  async discard(command: DeliveryCommand): Promise<WebhookDelivery> {
    return this.changeOne(command, (now) => {
      if (now.status === 'succeeded') throw deliverySucceeded();
      return discarded(now, command.at);
    });
  }

  async replayDeadLetters(command: DeadLetterCommand): Promise<DeadLetterAnswer> {
    // What belongs to a deleted endpoint has nowhere to go.
    const goes = new Map<string, boolean>();
    // Each a millisecond after the one before: so their order is kept, and they do not all come at once.
    let due = Date.parse(command.at);
    return this.changeDeadLetters(command, async (delivery) => {
      const { endpoint_id } = delivery;
      const known = goes.get(endpoint_id) ?? (await this.parts.endpoints.get(endpoint_id))?.deleted === false;
      goes.set(endpoint_id, known);
      due += 1;
      return known ? replayed(delivery, new Date(due).toISOString()) : delivery;
    });
  }

  discardDeadLetters(command: DeadLetterCommand): Promise<DeadLetterAnswer> {
    return this.changeDeadLetters(command, (delivery) => discarded(delivery, command.at));
  }

  /** Oldest first. Interrupted and repeated, it finds those that are left. */
  private async changeDeadLetters(command: DeadLetterCommand, change: DeliveryChange): Promise<DeadLetterAnswer> {
    let matched = 0;
    let done = 0;
    const touched = new Set<string>();
    const changeIfDead: DeliveryChange = (now) => (now.status === 'dead_lettered' ? change(now) : now);
    try {
      for await (const found of this.deadLetters(command)) {
        matched += 1;
        touched.add(found.endpoint_id);
        const [before, after] = await this.change(found, changeIfDead);
        if (after !== before) done += 1;
      }
    } finally {
      // Also when it was interrupted: what is changed by then is not found again.
      await this.parts.owner.notify([...touched]);
    }
    return { matched, done };
  }

  private async *deadLetters({ scopes, ids, filter }: DeadLetterCommand): AsyncIterable<DeliveryDocument> {
    const { queries } = this.parts;
    if (ids !== undefined) {
      const found: DeliveryDocument[] = [];
      for (const id of new Set(ids)) found.push(await queries.require(scopes, id));
      const dead = found.filter(({ status }) => status === 'dead_lettered');
      yield* dead.sort((one, other) => (one.created_at < other.created_at ? -1 : 1));
      return;
    }
    let after: readonly string[] | undefined;
    for (;;) {
      const wanted = { ...filter, statuses: ['dead_lettered'] as const };
      const resume = after === undefined ? {} : { after };
      const page = await queries.find(scopes, wanted, { limit: AT_ONCE, ...resume }, false);
      const last = page.at(-1);
      if (last === undefined) return;
      after = [last.created_at, last.id];
      yield* page;
    }
  }

  /** Changes the delivery of the command; repeated, it changes nothing. @throws PreconditionFailed */
  private async changeOne(command: DeliveryCommand, change: DeliveryChange): Promise<WebhookDelivery> {
    const delivery = await this.parts.queries.require([command], command.delivery_id);
    const [, after] = await this.change(delivery, async (now) => {
      if (isRepeated(now, command)) return now;
      const after = await change(now);
      return after === now ? now : { ...after, changed_by: command.id };
    });
    // Also of what changed nothing: perhaps it is repeated because nobody was told the first time.
    await this.parts.owner.notify([delivery.endpoint_id]);
    return toDelivery(after);
  }

  /** Applies a change to the delivery as it is, again when that was changed in between. Unchanged, it is not written. */
  private async change(
    delivery: DeliveryDocument,
    change: DeliveryChange,
  ): Promise<readonly [before: Delivery, after: Delivery]> {
    const { documents, queries } = this.parts;
    let before = delivery;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const after = await change(before);
      if (after === before) return [before, before];
      if (await documents.replace(toDocument(after), { revision: before.revision })) return [before, after];
      before = await queries.require([before], before.id);
    }
    throw new Unavailable('document store', `delivery ${delivery.id} is being changed by too many at once`);
  }
}
