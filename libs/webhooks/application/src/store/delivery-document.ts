import { hash } from 'node:crypto';
import { collectScopeFieldValues, type PayloadForm, type WorkspaceScope, type Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document, ShardValues } from '@tracking/ports';
import {
  type Delivery,
  type NewDelivery,
  type PayloadFormat,
  hasScheduledAttemptsLeft,
  createDelivery,
} from '@tracking/webhooks-domain';
import { LRUCache } from 'lru-cache';
import type { WebhookAttempt, WebhookDelivery } from '../operation-types.ts';

/** An attempt as stored. */
export interface StoredAttempt extends WebhookAttempt {
  /** Present if the attempt made its delivery a dead letter. A delivery does not show this after a replay. */
  readonly dead_lettered?: true;
}

/** A stored delivery, with index fields by which the endpoint's owner finds it while it has pending work. */
export interface DeliveryDocument extends Document, Delivery {
  /**
   * Queue in which the delivery waits for an attempt or for its announcement as a dead letter. Absent if the delivery
   * has ended.
   */
  readonly queue?: string;
  /** Time at which the attempt or announcement is due. */
  readonly due_at?: Timestamp;
  /** Error code of a dead letter (`last_error.code`); absent otherwise. */
  readonly reason?: string;
  /** Time at which the delivery was discarded; absent otherwise, and for sandbox events. */
  readonly discarded_at?: Timestamp;
  /** The latest attempt, written together with its outcome; absent before the first attempt. */
  readonly latest_attempt?: StoredAttempt;
  /** Id of the last command that changed the delivery; absent if no command did. */
  readonly changed_by?: string;
}

const DELIVERY_CREATION_ORDER_FIELDS = ['created_at', 'id'];
/** Fields that list filters use. An index with these fields skips deliveries without reading their documents. */
const DELIVERY_FILTER_FIELDS = ['event_type', 'event_created_at', 'reason'];

export const DELIVERIES_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_deliveries',
  indexes: [
    { name: 'queue', fields: ['queue', 'due_at', 'id'] },
    {
      name: 'scope',
      fields: ['workspace_id', 'environment', 'status', ...DELIVERY_CREATION_ORDER_FIELDS, ...DELIVERY_FILTER_FIELDS],
    },
    {
      name: 'endpoint',
      fields: ['endpoint_id', 'status', ...DELIVERY_CREATION_ORDER_FIELDS, ...DELIVERY_FILTER_FIELDS],
    },
    { name: 'event', fields: ['event_id', 'payload_id'] },
    // Index for recounting attempts. A new delivery is not in it, which saves a write.
    { name: 'attempted', fields: ['endpoint_id', 'last_attempt_at', 'id'], only: 'last_attempt_at' },
    // Index for counting dead letters, which are a small part of deliveries.
    {
      name: 'dead_letters',
      fields: ['workspace_id', 'environment', 'reason', 'endpoint_id', 'event_type', 'event_created_at'],
      only: 'reason',
    },
    // Index for recounting discards, which are few.
    { name: 'discards', fields: ['endpoint_id', 'discarded_at'], only: 'discarded_at' },
  ],
  shardKey: ['workspace_id', 'environment'],
};

/** An endpoint whose deliveries are read. */
export interface ScopedEndpoint extends WorkspaceScope {
  readonly id: string;
}

/** Returns the values of the shard key of deliveries in the scopes. */
export function toDeliveryShardValuesOfScopes(...scopes: readonly WorkspaceScope[]): ShardValues {
  return collectScopeFieldValues(scopes);
}

/**
 * Collection of deliveries for writes that the process repeats if a power cut loses them. A lost record is created
 * again from its message, and an attempt whose outcome is lost is made again. Client requests are written through
 * {@link DELIVERIES_COLLECTION_SPEC}.
 */
export const REPEATABLE_DELIVERIES_COLLECTION_SPEC: CollectionSpec = {
  ...DELIVERIES_COLLECTION_SPEC,
  durability: 'ordered',
};

/**
 * Returns the id of the delivery of an event to an endpoint. It is derived, so that repeated recording finds the same
 * delivery. It begins with the event's time, so that deliveries recorded together are stored together: for fifty
 * endpoints, an engine writes a few pages instead of fifty.
 */
export function createDeliveryId(
  endpointId: string,
  event: { readonly id: string; readonly created_at: Timestamp },
): string {
  const time = Math.max(0, Date.parse(event.created_at)).toString(16).padStart(12, '0');
  return `dlv_${time}${hash('sha256', `${endpointId} ${event.id}`).slice(0, 20)}`;
}

/**
 * Returns the name of an endpoint's queue of scheduled attempts. Its express queue of requested attempts has priority.
 */
export function getQueueKeyOfScheduledAttempts(endpointId: string): string {
  return endpointId;
}
export function getExpressQueueName(endpointId: string): string {
  return `${endpointId}!`;
}
/** Queue of dead letters that are not announced yet. */
export const DEAD_LETTER_ANNOUNCEMENT_QUEUE = 'dead-letters';

const UNKNOWN_FAILURE_REASON = 'unknown';

export function getEndpointOfQueue(queue: string): string {
  return queue.replace(/!$/, '');
}

/** Returns true if the delivery waits for an attempt. */
export function isWaitingForAttempt({ queue }: DeliveryDocument): boolean {
  return queue !== undefined && queue !== DEAD_LETTER_ANNOUNCEMENT_QUEUE;
}

/**
 * Returns true for a replayed delivery without an attempt since the replay. Such a delivery is sent after due live
 * events.
 */
export function isReplayedWithoutAttempt({ replay_id, first_attempt_at }: Delivery): boolean {
  return replay_id !== undefined && first_attempt_at === null;
}

export function convertToDeliveryDocument(delivery: Delivery): DeliveryDocument {
  const { queue: _queue, due_at: _due, reason: _reason, discarded_at: _at, ...rest } = delivery as DeliveryDocument;
  return { ...rest, ...createDeadLetterIndexFields(rest), ...createDeliveryQueueFields(rest) };
}

/** Fields of a delivery that describe its event. */
export type EventFields = Pick<
  NewDelivery,
  'workspace_id' | 'environment' | 'event_id' | 'event_type' | 'event_created_at' | 'origin'
>;

/** Creates the document of a new delivery. */
export function createDeliveryDocument(
  about: EventFields,
  endpoint_id: string,
  payload_id: string,
  at: Timestamp,
): DeliveryDocument {
  const id = createDeliveryId(endpoint_id, { id: about.event_id, created_at: about.event_created_at });
  return convertToDeliveryDocument(createDelivery({ ...about, id, endpoint_id, payload_id, sandbox: false }, at));
}

/** Returns the index fields of dead letters and discarded deliveries. */
function createDeadLetterIndexFields(delivery: Delivery): Pick<DeliveryDocument, 'reason' | 'discarded_at'> {
  const { status, sandbox, last_error, completed_at: at } = delivery;
  if (status === 'dead_lettered') return { reason: last_error?.code ?? UNKNOWN_FAILURE_REASON };
  return status === 'discarded' && !sandbox && at !== null ? { discarded_at: at } : {};
}

function createDeliveryQueueFields(delivery: Delivery): Pick<DeliveryDocument, 'queue' | 'due_at'> {
  const { endpoint_id, status, manual_at, next_attempt_at, completed_at, announced_at } = delivery;
  if (manual_at !== null) return { queue: getExpressQueueName(endpoint_id), due_at: manual_at };
  if (status === 'dead_lettered' && completed_at !== null && announced_at === null) {
    return { queue: DEAD_LETTER_ANNOUNCEMENT_QUEUE, due_at: completed_at };
  }
  if (!hasScheduledAttemptsLeft(delivery) || next_attempt_at === null) return {};
  const queue = delivery.sandbox ? getExpressQueueName(endpoint_id) : getQueueKeyOfScheduledAttempts(endpoint_id);
  // Use the earlier time, so that an event whose clock is ahead does not delay its delivery.
  const isLive = delivery.attempts_count === 0 && delivery.replay_id === undefined;
  const untried = isLive && delivery.event_created_at < next_attempt_at;
  return { queue, due_at: untried ? delivery.event_created_at : next_attempt_at };
}

export function toWebhookDelivery(delivery: Delivery): WebhookDelivery {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpoint_id,
    event_id: delivery.event_id,
    event_type: delivery.event_type,
    status: delivery.status,
    sandbox: delivery.sandbox,
    created_at: delivery.created_at,
    next_attempt_at: delivery.next_attempt_at,
    completed_at: delivery.completed_at,
    attempts_count: delivery.attempts_count,
    last_error: delivery.last_error,
    version: delivery.revision,
  };
}

/** An attempt before the latest one. Stored separately, so that the delivery's document stays small. */
export interface AttemptDocument extends Document, StoredAttempt {}

export const ATTEMPTS_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_attempts',
  indexes: [],
  durability: 'ordered',
  shardKey: [],
};

const FIRST_ATTEMPTS_KEPT = 50;
const LATEST_ATTEMPTS_KEPT = 50;

/** Returns true for the first 50 and the latest 50 attempts. One more attempt than these is stored. */
export function isAmongFirstOrLatestAttempts(number: number, count: number): boolean {
  return number <= FIRST_ATTEMPTS_KEPT || number > count - LATEST_ATTEMPTS_KEPT;
}

/**
 * Returns the id of a separately stored attempt. After the first 50 attempts, a later one replaces the oldest of the
 * latest 50.
 */
export function computeReusableAttemptSlotId(deliveryId: string, number: number): string {
  const place =
    number <= FIRST_ATTEMPTS_KEPT
      ? number
      : FIRST_ATTEMPTS_KEPT + 1 + ((number - FIRST_ATTEMPTS_KEPT - 1) % LATEST_ATTEMPTS_KEPT);
  return `${deliveryId}.${place}`;
}

/** Returns the ids of all separately stored attempts of a delivery with this number of attempts. */
export function listAttemptIds(deliveryId: string, count: number): readonly string[] {
  const places = Math.max(0, Math.min(count - 1, FIRST_ATTEMPTS_KEPT + LATEST_ATTEMPTS_KEPT));
  return Array.from({ length: places }, (_, index) => `${deliveryId}.${index + 1}`);
}

/**
 * Body of an event in one payload version and form. Written once, before or with its first delivery, and never changed.
 */
export interface PayloadDocument extends Document {
  readonly body: string;
  readonly created_at: Timestamp;
}

export const PAYLOADS_COLLECTION_SPEC: CollectionSpec = {
  name: 'webhook_payloads',
  indexes: [],
  durability: 'ordered',
  shardKey: [],
};

const THIN_PAYLOAD_ID_SUFFIX = '-thin';

export function createPayloadId(eventId: string, { version, form }: PayloadFormat): string {
  return `${eventId}.${version}${form === 'thin' ? THIN_PAYLOAD_ID_SUFFIX : ''}`;
}

/** Returns the form of the body with this id. */
export function getPayloadFormFromId(payloadId: string): PayloadForm {
  return payloadId.endsWith(THIN_PAYLOAD_ID_SUFFIX) ? 'thin' : 'full';
}

/** Returns the id of the thin form of the full body with this id. */
export function deriveThinPayloadIdFromFullPayloadId(fullPayloadId: string): string {
  return fullPayloadId + THIN_PAYLOAD_ID_SUFFIX;
}

/** Returns the id of the event that the body belongs to. */
export function getPayloadEventId(payloadId: string): string {
  return payloadId.slice(0, payloadId.lastIndexOf('.'));
}

/** Store of the bodies of deliveries. Caches the most recently used in memory, up to a number of bytes. */
export class PayloadStore {
  private readonly cache: LRUCache<string, Buffer>;

  /** @param maxBytes maximum bytes of bodies in memory */
  constructor(
    private readonly documents: Collection<PayloadDocument>,
    maxBytes: number,
  ) {
    this.cache = new LRUCache({ maxSize: maxBytes, sizeCalculation: (body) => body.length });
  }

  /** Bytes of the bodies in memory. */
  get bytes(): number {
    return this.cache.calculatedSize;
  }

  /** Returns the ids that are stored. */
  async findStoredPayloadIds(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set((await this.documents.getMany(ids)).map(({ id }) => id));
  }

  async storePayloads(payloads: readonly PayloadDocument[]): Promise<void> {
    await this.documents.writeMany(payloads.map((document) => ({ kind: 'insert', document })));
  }

  /** Caches a stored body for its attempts, which follow immediately. */
  cachePayloadBody(id: string, body: string): void {
    if (!this.cache.has(id)) this.cache.set(id, Buffer.from(body));
  }

  /** Returns the body from the cache; undefined if it is not cached. */
  getPayloadIfCached(id: string): Buffer | undefined {
    return this.cache.get(id);
  }

  async readPayload(id: string): Promise<Buffer | undefined> {
    const document = await this.documents.get(id);
    if (document === undefined) return undefined;
    this.cachePayloadBody(id, document.body);
    return this.cache.get(id) ?? Buffer.from(document.body);
  }
}
