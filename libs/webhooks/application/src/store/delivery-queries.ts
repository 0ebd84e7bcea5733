import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type JsonValue,
  type ItemPage,
  type PageRequest,
  type Timestamp,
  isInScope,
} from '@tracking/contracts';
import type { Collection, CollectionSpec, Document, Filter } from '@tracking/ports';
import type {
  DeliveryFilter,
  ListDeliveries,
  Scope,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryDetail,
} from '../operation-types.ts';
import { noSuchDelivery } from '../webhooks-api.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type PayloadDocument,
  type StoredAttempt,
  attemptIds,
  isAttemptShown,
  toDelivery,
} from './delivery-document.ts';

const SORT_FIELDS = ['created_at', 'id'] as const;
/** More than an event can have deliveries. */
const MAX_DELIVERIES_OF_EVENT = 5_000;
/** Largest difference between the clocks of the processes that make and record an event. */
const MAX_CLOCK_DIFFERENCE_MS = 3_600_000;

/** The log of deliveries. */
export class DeliveryQueries {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly attempts: Collection<AttemptDocument>,
    private readonly payloads: Collection<PayloadDocument>,
  ) {}

  /** @throws not_found if it is of none of these scopes */
  async require(scopes: readonly Scope[], id: string): Promise<DeliveryDocument> {
    const found = await this.deliveries.get(id);
    if (found === undefined || !isInAnyScope(scopes, found)) throw noSuchDelivery();
    return found;
  }

  /** The recorded deliveries with these ids. */
  findByIds(ids: readonly string[]): Promise<readonly DeliveryDocument[]> {
    return this.deliveries.getMany(ids);
  }

  async detail(scopes: readonly Scope[], id: string): Promise<WebhookDeliveryDetail> {
    const delivery = await this.require(scopes, id);
    const [payload, attempts] = await Promise.all([
      this.payloads.get(delivery.payload_id),
      this.attempts.getMany(attemptIds(id, delivery.attempts_count)),
    ]);
    // After an interruption of its move an attempt is in both places.
    const { attempts_count: count } = delivery;
    const earlier: StoredAttempt[] = attempts.filter(({ number }) => number < count && isAttemptShown(number, count));
    const all = delivery.latest_attempt === undefined ? earlier : [...earlier, delivery.latest_attempt];
    return {
      ...toDelivery(delivery),
      payload: payload === undefined ? null : (JSON.parse(payload.body) as JsonValue),
      attempts: all.map(toAttempt).sort((one, other) => one.number - other.number),
    };
  }

  async list({ scopes, filter, limit, after }: ListDeliveries): Promise<ItemPage<WebhookDelivery>> {
    const found = await this.find(scopes, filter, { limit: limit + 1, ...(after === undefined ? {} : { after }) });
    const items = found.slice(0, limit);
    const last = items.at(-1);
    const next = found.length > limit && last !== undefined ? [last.created_at, last.id] : null;
    return { items: items.map(toDelivery), next };
  }

  /**
   * The deliveries that match, by creation. An index has those of an endpoint or a scope in order for each status; a list of
   * several statuses is merged. The statuses are read in the order in which a delivery has them, and those of waiting
   * deliveries once more: a delivery that changes its status meanwhile is found.
   */
  async find(
    scopes: readonly Scope[],
    filter: DeliveryFilter,
    { limit, after }: PageRequest,
    descending = true,
  ): Promise<readonly DeliveryDocument[]> {
    const { event_id, endpoint_id, since } = filter;
    const statuses = selectedStatuses(filter);
    const direction = descending ? -1 : 1;
    const sort = { fields: SORT_FIELDS, descending };
    const resume = after === undefined ? {} : { after };
    // No delivery was recorded before its event, so older ones are skipped. An ascending page that continues is past them.
    const isBounded = since !== undefined && (descending || after === undefined);
    const within = isBounded ? { created_at: { gte: subtractClockDifference(since) } } : {};
    const find = (part: Filter) =>
      this.deliveries.find({ filter: { ...indexConditions(filter), ...within, ...part }, sort, limit, ...resume });
    const ofStatus = async (status: DeliveryStatus): Promise<readonly DeliveryDocument[]> => {
      // All deliveries of an endpoint are of one scope.
      if (endpoint_id !== undefined) return find({ endpoint_id, status });
      const ofScopes = scopes.map(({ workspace_id, environment }) => find({ workspace_id, environment, status }));
      return (await Promise.all(ofScopes)).flat();
    };
    const found: DeliveryDocument[] = [];
    if (event_id !== undefined) found.push(...(await this.findByEvent(event_id)));
    else for (const status of readOrder(statuses)) found.push(...(await ofStatus(status)));
    // The later form of a delivery that was found twice counts.
    const different = new Map(found.map((delivery) => [delivery.id, delivery]));
    return [...different.values()]
      .filter((delivery) => isInAnyScope(scopes, delivery) && matches(delivery, filter))
      .filter((delivery) => after === undefined || direction * compareText(sortKey(delivery), after.join(' ')) > 0)
      .sort((one, other) => direction * compareText(sortKey(one), sortKey(other)))
      .slice(0, limit);
  }

  /** Few deliveries: one for each endpoint of a scope. */
  private findByEvent(event_id: string): Promise<readonly DeliveryDocument[]> {
    return this.deliveries.find({ filter: { event_id }, limit: MAX_DELIVERIES_OF_EVENT });
  }
}

function toAttempt(attempt: StoredAttempt): WebhookAttempt {
  const { number, at, duration_ms, status_code, error, response, manual, resent } = attempt;
  return { number, at, duration_ms, status_code, error, response, manual, ...(resent && { resent }) };
}

function matches(delivery: DeliveryDocument, filter: DeliveryFilter): boolean {
  const { endpoint_id, event_type, reason, since, until } = filter;
  return (
    (endpoint_id === undefined || delivery.endpoint_id === endpoint_id) &&
    (event_type === undefined || delivery.event_type === event_type) &&
    (reason === undefined || delivery.reason === reason) &&
    selectedStatuses(filter).includes(delivery.status) &&
    (since === undefined || delivery.event_created_at >= since) &&
    (until === undefined || delivery.event_created_at <= until)
  );
}

const WAITING_STATUSES: readonly DeliveryStatus[] = ['pending', 'retrying'];

/** Deliveries that have ended may be sent again: they wait then, as before. */
function readOrder(asked: readonly DeliveryStatus[]): readonly DeliveryStatus[] {
  const statuses = DELIVERY_STATUSES.filter((status) => asked.includes(status));
  const hasEnded = statuses.some((status) => !WAITING_STATUSES.includes(status));
  return hasEnded ? [...statuses, ...statuses.filter((status) => WAITING_STATUSES.includes(status))] : statuses;
}

/** Only dead letters have a reason. */
function selectedStatuses({ statuses = DELIVERY_STATUSES, reason }: DeliveryFilter): readonly DeliveryStatus[] {
  return reason === undefined ? statuses : statuses.filter((status) => status === 'dead_lettered');
}

function indexConditions({ endpoint_id, event_type, reason, since, until }: DeliveryFilter): Filter {
  const bounds = { ...(since === undefined ? {} : { gte: since }), ...(until === undefined ? {} : { lte: until }) };
  return {
    ...(endpoint_id === undefined ? {} : { endpoint_id }),
    ...(event_type === undefined ? {} : { event_type }),
    ...(reason === undefined ? {} : { reason }),
    ...(Object.keys(bounds).length === 0 ? {} : { event_created_at: bounds }),
  };
}

function subtractClockDifference(at: Timestamp): Timestamp {
  return new Date(Date.parse(at) - MAX_CLOCK_DIFFERENCE_MS).toISOString();
}

function isInAnyScope(scopes: readonly Scope[], delivery: DeliveryDocument): boolean {
  return scopes.some((scope) => isInScope(delivery, scope));
}

function sortKey({ created_at, id }: DeliveryDocument): string {
  return `${created_at} ${id}`;
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

export interface WatermarkDocument extends Document {
  readonly before: Timestamp;
}

export const RETENTION_WATERMARK: CollectionSpec = { name: 'webhook_forgotten', indexes: [] };

const WATERMARK_ID = 'deliveries';

/**
 * How far the log of deliveries has been deleted. It is unknown whether an event from before was delivered, so it is not
 * recorded, however often it is published. The watermark is a time and not a position in the event log: an event that is
 * not consumed yet may come before one whose deliveries are deleted. A new event would only count as old if clocks differed
 * by the whole retention.
 */
export class RetentionWatermark {
  constructor(private readonly documents: Collection<WatermarkDocument>) {}

  /** The empty text, before every timestamp, if nothing has been deleted. */
  async read(): Promise<Timestamp> {
    return (await this.documents.get(WATERMARK_ID))?.before ?? '';
  }

  /** Store it before the first of these deliveries is deleted. */
  async raise(before: Timestamp): Promise<void> {
    await this.documents.upsert({ id: WATERMARK_ID, before }, { before: { lt: before } });
  }
}
