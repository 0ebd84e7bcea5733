import type { JsonValue } from '@tracking/contracts';
import type { Collection, Filter } from '@tracking/ports';
import { DELIVERY_STATUSES, type DeliveryStatus } from '@tracking/webhooks-domain';
import { inScope } from '../endpoints/endpoint-store.ts';
import { noSuchDelivery } from '../refusals.ts';
import type {
  DeliveryFilter,
  ListDeliveries,
  Listed,
  PageRequest,
  Scope,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryDetail,
} from '../requests.ts';
import { type AttemptDocument, type DeliveryDocument, attemptIds, toDelivery } from './delivery-document.ts';
import type { PayloadDocument } from './payloads.ts';

const ORDER = ['created_at', 'id'] as const;

/** The log of deliveries. */
export class DeliveryQueries {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly attempts: Collection<AttemptDocument>,
    private readonly payloads: Collection<PayloadDocument>,
  ) {}

  /** @throws not_found when it is of none of these scopes */
  async require(scopes: readonly Scope[], id: string): Promise<DeliveryDocument> {
    const found = await this.deliveries.get(id);
    if (found === undefined || !isOfOne(scopes, found)) throw noSuchDelivery();
    return found;
  }

  async detail(scopes: readonly Scope[], id: string): Promise<WebhookDeliveryDetail> {
    const delivery = await this.require(scopes, id);
    const [payload, attempts] = await Promise.all([
      this.payloads.get(delivery.payload_id),
      this.attempts.getMany(attemptIds(id, delivery.attempts_count)),
    ]);
    const shown = attempts.map(({ id: _id, ...attempt }): WebhookAttempt => attempt);
    // Interrupted while it is being moved, an attempt is in both places.
    const earlier = shown.filter(({ number }) => number < delivery.attempts_count);
    const all = delivery.latest_attempt === undefined ? earlier : [...earlier, delivery.latest_attempt];
    return {
      ...toDelivery(delivery),
      payload: payload === undefined ? null : (JSON.parse(payload.body) as JsonValue),
      attempts: all.sort((one, other) => one.number - other.number),
    };
  }

  async list({ scopes, filter, limit, after }: ListDeliveries): Promise<Listed<WebhookDelivery>> {
    const found = await this.find(scopes, filter, { limit: limit + 1, ...(after === undefined ? {} : { after }) });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const next = found.length > limit && last !== undefined ? [last.created_at, last.id] : null;
    return { items: items.map(toDelivery), next };
  }

  /**
   * The deliveries that match, by creation. Those of an endpoint or a scope lie in order for each status in an index: what
   * is asked for over several is merged from the beginnings of each.
   */
  async find(
    scopes: readonly Scope[],
    filter: DeliveryFilter,
    page: PageRequest,
    descending = true,
  ): Promise<readonly DeliveryDocument[]> {
    const { event_id, endpoint_id, statuses = DELIVERY_STATUSES } = filter;
    const resume = page.after === undefined ? {} : { after: page.after };
    const sort = { fields: ORDER, descending };
    const find = (part: Filter) =>
      this.deliveries.find({ filter: { ...conditions(filter), ...part }, sort, limit: page.limit, ...resume });
    const ofStatus = (status: DeliveryStatus): readonly Promise<readonly DeliveryDocument[]>[] => {
      if (event_id !== undefined) return [find({ event_id, status })];
      // All that an endpoint has is of one scope.
      if (endpoint_id !== undefined) return [find({ endpoint_id, status })];
      return scopes.map(({ workspace_id, environment }) => find({ workspace_id, environment, status }));
    };
    const direction = descending ? -1 : 1;
    return (await Promise.all(statuses.flatMap(ofStatus)))
      .flat()
      .filter((delivery) => isOfOne(scopes, delivery))
      .sort((one, other) => direction * compare(one, other))
      .slice(0, page.limit);
  }
}

function conditions({ endpoint_id, event_type, since, until }: DeliveryFilter): Filter {
  const bounds = { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lte: until }) };
  return {
    ...(endpoint_id === undefined ? {} : { endpoint_id }),
    ...(event_type === undefined ? {} : { event_type }),
    ...(Object.keys(bounds).length === 0 ? {} : { event_created_at: bounds }),
  };
}

function isOfOne(scopes: readonly Scope[], delivery: DeliveryDocument): boolean {
  return scopes.some((scope) => inScope(delivery, scope));
}

function compare(one: DeliveryDocument, other: DeliveryDocument): number {
  const [left, right] = [`${one.created_at} ${one.id}`, `${other.created_at} ${other.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
