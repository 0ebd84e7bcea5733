import type { PageOf } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import { retryConflicts } from '@tracking/resilience';
import { type Delivery, discarded, isAttempted, retryRequested } from '@tracking/webhooks-domain';
import type { ShardOwner } from '../attempts/shard-owner.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import { deliverySucceeded, endpointNotEnabled, endpointNotVerified, endpointOfDeliveryDeleted } from '../refusals.ts';
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
      if (endpoint === undefined || endpoint.deleted) throw endpointOfDeliveryDeleted();
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

  /** Changes the delivery of the command; repeated, it changes nothing. @throws PreconditionFailed, Busy */
  private async changeOne(command: DeliveryCommand, change: DeliveryChange): Promise<WebhookDelivery> {
    const { documents, queries, owner } = this.parts;
    const { delivery_id: id } = command;
    const delivery = await retryConflicts(`delivery ${id}`, async () => {
      const before = await queries.require([command], id);
      if (isRepeated(before, command)) return before;
      const after = await change(before);
      if (after === before) return before;
      const written = toDocument({ ...after, changed_by: command.id } as DeliveryDocument);
      return (await documents.replace(written, { revision: before.revision })) ? written : undefined;
    });
    // Also of what changed nothing: perhaps it is repeated because nobody was told the first time.
    await owner.notify([delivery.endpoint_id]);
    return toDelivery(delivery);
  }
}
