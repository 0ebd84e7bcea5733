import type { PageOf } from '@tracking/contracts';
import { type Collection, Unavailable } from '@tracking/ports';
import { type Delivery, discarded, isAttempted, retryRequested } from '@tracking/webhooks-domain';
import type { ShardOwner } from '../attempts/shard-owner.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import { deliverySucceeded, endpointNotEnabled, endpointNotVerified, noSuchEndpoint } from '../refusals.ts';
import { isRepeated } from '../repeated-command.ts';
import type {
  DeliveryCommand,
  ListDeliveries,
  Scope,
  WebhookDelivery,
  WebhookDeliveryDetail,
} from '../requests-and-answers.ts';
import type { Recounts } from '../stats/hour-document.ts';
import { type DeliveryDocument, toDelivery, toDocument } from '../store/delivery-document.ts';
import type { WebhookDeliveries } from '../webhooks-api.ts';
import type { DeliveryQueries } from '../store/delivery-queries.ts';

const MAX_TRIES = 20;

type DeliveryChange = (delivery: DeliveryDocument) => Delivery | Promise<Delivery>;

export interface DeliveriesParts {
  readonly documents: Collection<DeliveryDocument>;
  readonly queries: DeliveryQueries;
  readonly endpoints: EndpointStore;
  readonly owner: ShardOwner;
  readonly recounts: Recounts;
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
    return this.changeOne(command, async (now) => {
      if (now.status === 'succeeded') throw deliverySucceeded();
      await this.parts.recounts.beforeDiscards([now.endpoint_id], command.at);
      return discarded(now, command.at);
    });
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
