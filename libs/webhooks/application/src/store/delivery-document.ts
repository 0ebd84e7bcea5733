import { hash } from 'node:crypto';
import type { ApiVersion, Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { type Delivery, type NewDelivery, isScheduled, newDelivery } from '@tracking/webhooks-domain';
import { LRUCache } from 'lru-cache';
import type { WebhookAttempt, WebhookDelivery } from '../requests-and-answers.ts';

/** An attempt as the log has it. */
export interface StoredAttempt extends WebhookAttempt {
  /** It made its delivery a dead letter: a replay makes that forget it. */
  readonly dead_lettered?: true;
}

/** A delivery as stored: with what leads the endpoint's owner to it while there is something to do. */
export interface DeliveryDocument extends Document, Delivery {
  /** Where it waits for an attempt, or to be announced as a dead letter; absent when it waits for nothing. */
  readonly queue?: string;
  /** When that is due. */
  readonly due_at?: Timestamp;
  /** Of a dead letter: the code of its `last_error`; absent from all others. */
  readonly reason?: string;
  /** When it was given up; absent from all others, and from sandbox events. */
  readonly discarded_at?: Timestamp;
  /** The latest attempt, in the same write as what it led to; absent before the first. */
  readonly latest_attempt?: StoredAttempt;
  /** Id of the last command that changed it; absent where none did. */
  readonly changed_by?: string;
}

const ORDER = ['created_at', 'id'];
/** What else lists filter by: what they leave out an engine passes over in the index, without a look at the deliveries. */
const LOOKED_AT = ['event_type', 'event_created_at', 'reason'];

export const DELIVERIES: CollectionSpec = {
  name: 'webhook_deliveries',
  indexes: [
    { name: 'queue', fields: ['queue', 'due_at', 'id'] },
    { name: 'scope', fields: ['workspace_id', 'environment', 'status', ...ORDER, ...LOOKED_AT] },
    { name: 'endpoint', fields: ['endpoint_id', 'status', ...ORDER, ...LOOKED_AT] },
    { name: 'event', fields: ['event_id', 'payload_id'] },
    // What statistics count attempts by. What was never attempted is not in it: a new delivery is an entry less to write.
    { name: 'attempted', fields: ['endpoint_id', 'last_attempt_at', 'id'], only: 'last_attempt_at' },
    // What dead letters are counted by; few deliveries are one.
    {
      name: 'dead_letters',
      fields: ['workspace_id', 'environment', 'reason', 'endpoint_id', 'event_type', 'event_created_at'],
      only: 'reason',
    },
    // What statistics count discards by; few deliveries are one.
    { name: 'discards', fields: ['endpoint_id', 'discarded_at'], only: 'discarded_at' },
  ],
};

/**
 * The same, for what is done again should a power cut lose it: a record goes together with the offset of its message,
 * and an attempt whose outcome is lost is made again. What somebody asked for is written through {@link DELIVERIES}.
 */
export const REPEATABLE_DELIVERIES: CollectionSpec = { ...DELIVERIES, durability: 'ordered' };

/**
 * The one delivery of this event to this endpoint: recording it again finds it there. Begins with the event's time, so that
 * what is recorded together is stored together: of an event for fifty endpoints an engine writes a few pages, not fifty.
 */
export function deliveryId(endpointId: string, event: { readonly id: string; readonly created_at: Timestamp }): string {
  const time = Math.max(0, Date.parse(event.created_at)).toString(16).padStart(12, '0');
  return `dlv_${time}${hash('sha256', `${endpointId} ${event.id}`).slice(0, 20)}`;
}

/** Scheduled attempts of an endpoint wait in one queue; what a person asked for goes before it. */
export function scheduledQueue(endpointId: string): string {
  return endpointId;
}
export function expressQueue(endpointId: string): string {
  return `${endpointId}!`;
}
/** Dead letters that the topic has not been told of. */
export const ANNOUNCEMENTS = 'dead-letters';

const UNKNOWN_REASON = 'unknown';

export function endpointOfQueue(queue: string): string {
  return queue.replace(/!$/, '');
}

/** Whether there is an attempt to be made. */
export function awaitsAttempt({ queue }: DeliveryDocument): boolean {
  return queue !== undefined && queue !== ANNOUNCEMENTS;
}

/** What is replayed is due behind live events, and goes as soon as there is room where none of them is due. */
export function mayGoEarly({ replay_id, first_attempt_at }: Delivery): boolean {
  return replay_id !== undefined && first_attempt_at === null;
}

export function toDocument(delivery: Delivery): DeliveryDocument {
  const { queue: _queue, due_at: _due, reason: _reason, discarded_at: _at, ...rest } = delivery as DeliveryDocument;
  return { ...rest, ...marks(rest), ...queueing(rest) };
}

/** What a delivery says of its event. */
export type AboutEvent = Pick<
  NewDelivery,
  'workspace_id' | 'environment' | 'event_id' | 'event_type' | 'event_created_at' | 'origin'
>;

/** The delivery of an event to an endpoint, as it is recorded. */
export function recordedDelivery(
  about: AboutEvent,
  endpoint_id: string,
  payload_id: string,
  at: Timestamp,
): DeliveryDocument {
  const id = deliveryId(endpoint_id, { id: about.event_id, created_at: about.event_created_at });
  return toDocument(newDelivery({ ...about, id, endpoint_id, payload_id, sandbox: false }, at));
}

/** What the few have that an index of their own leads to. */
function marks(delivery: Delivery): Pick<DeliveryDocument, 'reason' | 'discarded_at'> {
  const { status, sandbox, last_error, completed_at: at } = delivery;
  if (status === 'dead_lettered') return { reason: last_error?.code ?? UNKNOWN_REASON };
  return status === 'discarded' && !sandbox && at !== null ? { discarded_at: at } : {};
}

function queueing(delivery: Delivery): Pick<DeliveryDocument, 'queue' | 'due_at'> {
  const { endpoint_id, status, manual_at, next_attempt_at, completed_at, announced_at } = delivery;
  if (manual_at !== null) return { queue: expressQueue(endpoint_id), due_at: manual_at };
  if (status === 'dead_lettered' && completed_at !== null && announced_at === null) {
    return { queue: ANNOUNCEMENTS, due_at: completed_at };
  }
  if (!isScheduled(delivery) || next_attempt_at === null) return {};
  const queue = delivery.sandbox ? expressQueue(endpoint_id) : scheduledQueue(endpoint_id);
  // What was recorded at once is attempted in the order in which it happened. The earlier of two clocks, where they differ:
  // that of the event's process, if it is ahead, puts nothing off.
  const isLive = delivery.attempts_count === 0 && delivery.replay_id === undefined;
  const untried = isLive && delivery.event_created_at < next_attempt_at;
  return { queue, due_at: untried ? delivery.event_created_at : next_attempt_at };
}

export function toDelivery(delivery: Delivery): WebhookDelivery {
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

/** An attempt before the latest one, kept beside its delivery so that this stays small however often it fails. */
export interface AttemptDocument extends Document, StoredAttempt {}

export const ATTEMPTS: CollectionSpec = { name: 'webhook_attempts', indexes: [], durability: 'ordered' };

const FIRST_KEPT = 50;
const LATEST_KEPT = 50;

/** Returns true for the first 50 and the latest 50 attempts. One more than these is stored. */
export function isAttemptShown(number: number, count: number): boolean {
  return number <= FIRST_KEPT || number > count - LATEST_KEPT;
}

/** The id of an attempt beside its delivery. After the first 50 attempts, a later one replaces the oldest of the latest 50. */
export function attemptId(deliveryId: string, number: number): string {
  const place = number <= FIRST_KEPT ? number : FIRST_KEPT + 1 + ((number - FIRST_KEPT - 1) % LATEST_KEPT);
  return `${deliveryId}.${place}`;
}

/** The ids of all attempts that are kept beside a delivery with this many. */
export function attemptIds(deliveryId: string, count: number): readonly string[] {
  const places = Math.max(0, Math.min(count - 1, FIRST_KEPT + LATEST_KEPT));
  return Array.from({ length: places }, (_, index) => `${deliveryId}.${index + 1}`);
}

/** The body of an event in one payload version: written once, before or with its first delivery, and never changed. */
export interface PayloadDocument extends Document {
  readonly body: string;
  readonly created_at: Timestamp;
}

export const PAYLOADS: CollectionSpec = { name: 'webhook_payloads', indexes: [], durability: 'ordered' };

export function payloadId(eventId: string, apiVersion: ApiVersion): string {
  return `${eventId}.${apiVersion}`;
}

/** The id of the event whose body it is. */
export function eventOfPayload(payloadId: string): string {
  return payloadId.slice(0, payloadId.lastIndexOf('.'));
}

/** Bodies by id; the latest used are kept in memory, up to a number of bytes. */
export class Payloads {
  private readonly kept: LRUCache<string, Buffer>;

  /** @param maxBytes of bodies in memory */
  constructor(
    private readonly documents: Collection<PayloadDocument>,
    maxBytes: number,
  ) {
    this.kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: (body) => body.length });
  }

  /** In memory. */
  get bytes(): number {
    return this.kept.calculatedSize;
  }

  /** Those of the ids that are stored. */
  async existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set((await this.documents.getMany(ids)).map(({ id }) => id));
  }

  async store(payloads: readonly PayloadDocument[]): Promise<void> {
    await this.documents.writeMany(payloads.map((document) => ({ kind: 'insert', document })));
  }

  /** Keeps a stored body at hand: its attempts follow at once. */
  keep(id: string, body: string): void {
    if (!this.kept.has(id)) this.kept.set(id, Buffer.from(body));
  }

  /** As bytes, if it is at hand. */
  atHand(id: string): Buffer | undefined {
    return this.kept.get(id);
  }

  async read(id: string): Promise<Buffer | undefined> {
    const document = await this.documents.get(id);
    if (document === undefined) return undefined;
    this.keep(id, document.body);
    return this.kept.get(id) ?? Buffer.from(document.body);
  }
}
