import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type JsonValue,
  type ItemPage,
  type PageRequest,
  type Timestamp,
  isResourceInScope,
} from '@tracking/contracts';
import type { Collection, CollectionSpec, Document, Filter, FilterCondition, Query } from '@tracking/ports';
import type {
  DeliveryFilter,
  ListDeliveriesRequest,
  WorkspaceScope,
  WebhookAttempt,
  WebhookDelivery,
  DetailedWebhookDelivery,
} from '../operation-types.ts';
import { deliveryNotFoundError } from '../webhooks-api.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type PayloadDocument,
  type StoredAttempt,
  listAttemptIds,
  isAmongFirstOrLatestAttempts,
  toWebhookDelivery,
  toDeliveryShardValuesOfScopes,
} from './delivery-document.ts';

const DELIVERY_CREATION_ORDER_FIELDS = ['created_at', 'id'] as const;
/** Limit of one read. Higher than the number of deliveries that an event can have. */
const MAX_DELIVERIES_OF_EVENT = 5_000;
/** Largest assumed difference between the clocks of the processes that create and record an event. */
const MAX_CLOCK_DIFFERENCE_MS = 3_600_000;

/** Queries on the log of deliveries. */
export class DeliveryQueries {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly attempts: Collection<AttemptDocument>,
    private readonly payloads: Collection<PayloadDocument>,
  ) {}

  /** @throws not_found if the delivery is in none of these scopes */
  async requireDelivery(scopes: readonly WorkspaceScope[], id: string): Promise<DeliveryDocument> {
    const found = await this.deliveries.get(id, toDeliveryShardValuesOfScopes(...scopes));
    if (found === undefined || !isDeliveryInOneOfScopes(scopes, found)) throw deliveryNotFoundError();
    return found;
  }

  /** Returns the recorded deliveries with these ids, which belong to endpoints of the scope. */
  findDeliveriesByIds(scope: WorkspaceScope, ids: readonly string[]): Promise<readonly DeliveryDocument[]> {
    return this.deliveries.getMany(ids, toDeliveryShardValuesOfScopes(scope));
  }

  async getDeliveryDetail(scopes: readonly WorkspaceScope[], id: string): Promise<DetailedWebhookDelivery> {
    const delivery = await this.requireDelivery(scopes, id);
    const [payload, attempts] = await Promise.all([
      this.payloads.get(delivery.payload_id),
      this.attempts.getMany(listAttemptIds(id, delivery.attempts_count)),
    ]);
    // Count an attempt once: after an interruption it may be in both collections.
    const { attempts_count: count } = delivery;
    const earlier: StoredAttempt[] = attempts.filter(
      ({ number }) => number < count && isAmongFirstOrLatestAttempts(number, count),
    );
    const all = delivery.latest_attempt === undefined ? earlier : [...earlier, delivery.latest_attempt];
    return {
      ...toWebhookDelivery(delivery),
      payload: payload === undefined ? null : (JSON.parse(payload.body) as JsonValue),
      attempts: all.map(toWebhookAttempt).sort((one, other) => one.number - other.number),
    };
  }

  async listDeliveries({ scopes, filter, limit, after }: ListDeliveriesRequest): Promise<ItemPage<WebhookDelivery>> {
    const found = await this.findDeliveries(scopes, filter, {
      limit: limit + 1,
      ...(after === undefined ? {} : { after }),
    });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const next = found.length > limit && last !== undefined ? [last.created_at, last.id] : null;
    return { items: items.map(toWebhookDelivery), next };
  }

  /**
   * Returns the matching deliveries, ordered by creation. An index orders the deliveries of an endpoint or scope for
   * each status; results of several statuses are merged. Statuses are read in the order in which a delivery passes
   * through them, and pending ones again at the end, so that a delivery that changes its status in the meantime is
   * found.
   */
  async findDeliveries(
    scopes: readonly WorkspaceScope[],
    filter: DeliveryFilter,
    { limit, after }: PageRequest,
    descending = true,
  ): Promise<readonly DeliveryDocument[]> {
    const { event_id, endpoint_id, since } = filter;
    const statuses = listSelectedStatuses(filter);
    const direction = descending ? -1 : 1;
    const sort = { fields: DELIVERY_CREATION_ORDER_FIELDS, descending };
    const resume = after === undefined ? {} : { after };
    // Skip deliveries older than the event: a delivery is never recorded before its event.
    const isBounded = since !== undefined && (descending || after === undefined);
    const within = isBounded ? { created_at: { gte: subtractMaxClockDifference(since) } } : {};
    const shards = toDeliveryShardValuesOfScopes(...scopes);
    const find = (part: Filter, by: Pick<Query, 'index' | 'shards'> = {}) => {
      const conditions = { ...createDeliveryIndexConditions(filter), ...within, ...part };
      return this.deliveries.find({ filter: conditions, sort, limit, ...resume, ...by });
    };
    const ofStatus = async (status: DeliveryStatus): Promise<readonly DeliveryDocument[]> => {
      // No filter by scope is needed: all deliveries of an endpoint are in the endpoint's scope.
      if (endpoint_id !== undefined) return find({ endpoint_id, status }, { index: 'endpoint', shards });
      const ofScopes = scopes.map(({ workspace_id, environment }) => find({ workspace_id, environment, status }));
      return (await Promise.all(ofScopes)).flat();
    };
    const found: DeliveryDocument[] = [];
    if (event_id !== undefined) found.push(...(await this.findDeliveriesOfEvent(scopes, event_id)));
    else for (const status of orderDeliveryStatusesForReading(statuses)) found.push(...(await ofStatus(status)));
    // Keep the later form of a delivery that was read twice.
    const different = new Map(found.map((delivery) => [delivery.id, delivery]));
    return [...different.values()]
      .filter((delivery) => isDeliveryInOneOfScopes(scopes, delivery) && matchesDeliveryFilter(delivery, filter))
      .filter(
        (delivery) =>
          after === undefined || direction * compareText(createDeliverySortKey(delivery), after.join(' ')) > 0,
      )
      .sort((one, other) => direction * compareText(createDeliverySortKey(one), createDeliverySortKey(other)))
      .slice(0, limit);
  }

  /** Returns the deliveries of an event, at most one for each endpoint. */
  private findDeliveriesOfEvent(
    scopes: readonly WorkspaceScope[],
    event_id: string,
  ): Promise<readonly DeliveryDocument[]> {
    const shards = toDeliveryShardValuesOfScopes(...scopes);
    return this.deliveries.find({ filter: { event_id }, limit: MAX_DELIVERIES_OF_EVENT, index: 'event', shards });
  }
}

function toWebhookAttempt(attempt: StoredAttempt): WebhookAttempt {
  const { number, at, duration_ms, status_code, error, response, manual, resent } = attempt;
  return { number, at, duration_ms, status_code, error, response, manual, ...(resent && { resent }) };
}

function matchesDeliveryFilter(delivery: DeliveryDocument, filter: DeliveryFilter): boolean {
  const { endpoint_id, event_types, reasons, since, until } = filter;
  return (
    (endpoint_id === undefined || delivery.endpoint_id === endpoint_id) &&
    (event_types === undefined || event_types.includes(delivery.event_type)) &&
    (reasons === undefined || reasons.includes(delivery.reason ?? '')) &&
    listSelectedStatuses(filter).includes(delivery.status) &&
    (since === undefined || delivery.event_created_at >= since) &&
    (until === undefined || delivery.event_created_at <= until)
  );
}

const WAITING_DELIVERY_STATUSES: readonly DeliveryStatus[] = ['pending', 'retrying'];

/** Returns the statuses in reading order. Deliveries that have ended may be sent again and are then pending again. */
function orderDeliveryStatusesForReading(asked: readonly DeliveryStatus[]): readonly DeliveryStatus[] {
  const statuses = DELIVERY_STATUSES.filter((status) => asked.includes(status));
  const hasEnded = statuses.some((status) => !WAITING_DELIVERY_STATUSES.includes(status));
  return hasEnded
    ? [...statuses, ...statuses.filter((status) => WAITING_DELIVERY_STATUSES.includes(status))]
    : statuses;
}

/** Returns the selected statuses. Only dead letters have a reason. */
function listSelectedStatuses({ statuses = DELIVERY_STATUSES, reasons }: DeliveryFilter): readonly DeliveryStatus[] {
  return reasons === undefined ? statuses : statuses.filter((status) => status === 'dead_lettered');
}

function createDeliveryIndexConditions({ endpoint_id, event_types, reasons, since, until }: DeliveryFilter): Filter {
  const bounds = { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lte: until }) };
  return {
    ...(endpoint_id === undefined ? {} : { endpoint_id }),
    ...(event_types === undefined ? {} : { event_type: createOneOfValuesCondition(event_types) }),
    ...(reasons === undefined ? {} : { reason: createOneOfValuesCondition(reasons) }),
    ...(Object.keys(bounds).length === 0 ? {} : { event_created_at: bounds }),
  };
}

function createOneOfValuesCondition(values: readonly string[]): FilterCondition {
  const [only = ''] = values;
  return values.length === 1 ? only : { in: values };
}

function subtractMaxClockDifference(at: Timestamp): Timestamp {
  return new Date(Date.parse(at) - MAX_CLOCK_DIFFERENCE_MS).toISOString();
}

function isDeliveryInOneOfScopes(scopes: readonly WorkspaceScope[], delivery: DeliveryDocument): boolean {
  return scopes.some((scope) => isResourceInScope(delivery, scope));
}

function createDeliverySortKey({ created_at, id }: DeliveryDocument): string {
  return `${created_at} ${id}`;
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

export interface RetentionWatermarkDocument extends Document {
  readonly before: Timestamp;
}

export const RETENTION_WATERMARK_COLLECTION_SPEC: CollectionSpec = { name: 'webhook_forgotten', indexes: [] };

const RETENTION_WATERMARK_ID = 'deliveries';

/**
 * Stores the time up to which the log of deliveries has been deleted. An older event may have been delivered, so it is
 * never recorded again. The watermark is a time and not a log position, because an event that is not consumed yet may
 * precede one whose deliveries are deleted. A new event would count as old only if clocks differed by the whole
 * retention.
 */
export class RetentionWatermarkStore {
  constructor(private readonly documents: Collection<RetentionWatermarkDocument>) {}

  /** Returns the watermark; the empty text, which sorts before every timestamp, if nothing has been deleted. */
  async readRetentionWatermark(): Promise<Timestamp> {
    return (await this.documents.get(RETENTION_WATERMARK_ID))?.before ?? '';
  }

  /** Raises the watermark. Call this method before deleting deliveries that are older than the new watermark. */
  async raiseRetentionWatermark(before: Timestamp): Promise<void> {
    await this.documents.upsert({ id: RETENTION_WATERMARK_ID, before }, { before: { lt: before } });
  }
}
