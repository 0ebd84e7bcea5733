import { setImmediate } from 'node:timers/promises';
import { EVENT_MESSAGE_HEADERS, type EventType, type PublicAddresses, type PublishedEvent } from '@tracking/contracts';
import {
  type Counter,
  type EventStore,
  type Logger,
  type BrokerMessage,
  type MessageBroker,
  MessageRefusedError,
  type Position,
  type StoredEvent,
  UnavailableError,
} from '@tracking/ports';
import { pauseFor } from '@tracking/resilience';
import { toPublicEvent, upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import type { EventFailure, EventHandler } from '@tracking/subscriptions';
import type { LRUCache } from 'lru-cache';
import {
  computeShipmentMemoryWeight,
  createFoldedShipmentCache,
  type FoldedShipment,
  foldNextEvent,
  foldStream,
} from './event-maker.ts';

/**
 * Maximum characters per batch, well below the limits of brokers. To keep the order, the next batch is sent only after
 * the broker has acknowledged the previous one.
 */
const MAX_CHARACTERS_PER_BROKER_BATCH = 512 * 1024;
/** Number of events that are converted before the thread can do other work: about 1 ms. */
const MAX_EVENTS_BETWEEN_YIELDS = 50;
const MAX_STREAMS_PUBLISHED_CONCURRENTLY = 16;
/** Maximum number of shipments that are read together. One can be a thousand times as large as an ordinary one. */
const MAX_SHIPMENTS_PER_READ = 32;
/**
 * Weight of the shipments in memory at which their announcements are sent before further shipments are read. An ordinary
 * shipment has weight 1.
 */
const MAX_TOTAL_SHIPMENT_WEIGHT = 8_000;

interface PublishingDependencies {
  readonly eventStore: EventStore;
  readonly broker: MessageBroker;
  readonly topic: string;
  readonly readModels: EventPublicationGate;
  readonly addresses: PublicAddresses;
  /** Number of shipments of ordinary size kept in memory. */
  readonly cachedShipments: number;
  /** Published events by `type`. */
  readonly published: Counter;
  /** Aborts when another process may have the lease of the partition. */
  readonly lost: AbortSignal;
}

interface BrokerMessageOfPublicEvent {
  readonly message: BrokerMessage;
  readonly type: EventType;
  readonly stored: StoredEvent;
  /** The shipment directly before the event. */
  readonly before: FoldedShipment | undefined;
}

/** Announcements to send in the next batch, and the shipments after them. */
interface AnnouncementBatch {
  announcements: BrokerMessageOfPublicEvent[];
  characters: number;
  readonly after: Map<string, FoldedShipment>;
}

/**
 * Publishes the events of its partition in order. Keeps each shipment after its last published event, so that it
 * recognizes events that are repeated after a failure of an engine or a retry.
 */
export class PartitionEventPublisher implements EventHandler {
  private readonly shipments: LRUCache<string, FoldedShipment>;

  constructor(private readonly parts: PublishingDependencies) {
    this.shipments = createFoldedShipmentCache(parts.cachedShipments);
  }

  async handleEventBatchOfPartition(
    events: readonly StoredEvent[],
    signal: AbortSignal,
  ): Promise<readonly EventFailure[]> {
    const failures = new Map<string, EventFailure>();
    const before = new Map<string, FoldedShipment | undefined>();
    let weight = 0;
    let slice = createEmptyAnnouncementBatch();
    const publishSlice = async () => {
      await this.publishAnnouncementBatch(slice, failures, signal);
      for (const [stream, shipment] of slice.after) before.set(stream, shipment);
      slice = createEmptyAnnouncementBatch();
    };
    for (const [index, stored] of events.entries()) {
      if (index % MAX_EVENTS_BETWEEN_YIELDS === MAX_EVENTS_BETWEEN_YIELDS - 1) await setImmediate();
      const isUnread = !before.has(stored.stream) && !failures.has(stored.stream);
      if (isUnread && weight > MAX_TOTAL_SHIPMENT_WEIGHT) {
        await publishSlice();
        before.clear();
        weight = 0;
      }
      if (isUnread) weight += await this.readShipmentsBeforeEvents(events.slice(index), before, failures);
      if (failures.has(stored.stream)) continue;
      try {
        this.addAnnouncementOfEvent(slice, stored, slice.after.get(stored.stream) ?? before.get(stored.stream));
      } catch (error) {
        failures.set(stored.stream, { event: stored, error });
      }
      if (slice.characters >= MAX_CHARACTERS_PER_BROKER_BATCH) await publishSlice();
    }
    await this.publishAnnouncementBatch(slice, failures, signal);
    return [...failures.values()];
  }

  /** @param before the shipment before the events; undefined if they create it */
  private addAnnouncementOfEvent(
    slice: AnnouncementBatch,
    stored: StoredEvent,
    before: FoldedShipment | undefined,
  ): void {
    if (before !== undefined && before.revision >= stored.revision) return;
    const event = upcastStoredShipmentEvent(stored);
    const after = foldNextEvent(before, event);
    const published = toPublicEvent(stored.id, event, after, this.parts.addresses);
    if (published !== undefined) {
      const value = JSON.stringify(published);
      const message = { key: after.record.id, value, headers: createMessageHeaders(published, stored) };
      slice.announcements.push({ message, type: published.type, stored, before });
      slice.characters += value.length;
    }
    slice.after.set(stored.stream, after);
  }

  private async publishAnnouncementBatch(
    slice: AnnouncementBatch,
    failures: Map<string, EventFailure>,
    signal: AbortSignal,
  ): Promise<void> {
    if (slice.announcements.length > 0) {
      const awaited = slice.announcements.map(({ type, stored }) => {
        return { type, stream: stored.stream, position: stored.position };
      });
      await this.parts.readModels.waitForReadModelsBeforePublishing(awaited, signal);
      await this.publishMessages(slice, failures);
      const counts = new Map<string, number>();
      for (const { type } of slice.announcements) counts.set(type, (counts.get(type) ?? 0) + 1);
      for (const [type, count] of counts) this.parts.published.add(count, { type });
    }
    for (const [stream, shipment] of slice.after) this.shipments.set(stream, shipment);
  }

  /**
   * Publishes the messages. If the broker always refuses a message, its stream fails and its later messages are removed
   * from the batch.
   */
  private async publishMessages(slice: AnnouncementBatch, failures: Map<string, EventFailure>): Promise<void> {
    while (slice.announcements.length > 0) {
      this.parts.lost.throwIfAborted();
      const messages = slice.announcements.map(({ message }) => message);
      try {
        return await this.parts.broker.publishMessages(this.parts.topic, messages);
      } catch (error) {
        const refused = error instanceof MessageRefusedError ? slice.announcements[error.index] : undefined;
        if (refused === undefined) throw error;
        failures.set(refused.stored.stream, { event: refused.stored, error });
        dropAnnouncementsFromRefusedOnward(refused, slice);
      }
    }
  }

  /**
   * Adds shipments before their first event, or later, to `before`. Ends when it has read the maximum number. A shipment
   * that cannot be folded is recorded as a failure.
   * @returns the weight of the shipments that were read
   */
  private async readShipmentsBeforeEvents(
    events: readonly StoredEvent[],
    before: Map<string, FoldedShipment | undefined>,
    failures: Map<string, EventFailure>,
  ): Promise<number> {
    const unknown: StoredEvent[] = [];
    for (const event of events) {
      if (before.has(event.stream) || failures.has(event.stream)) continue;
      if (unknown.length >= MAX_SHIPMENTS_PER_READ) break;
      const known = this.shipments.get(event.stream);
      before.set(event.stream, known);
      if ((known?.revision ?? -1) + 1 < event.revision) unknown.push(event);
    }
    let weight = 0;
    const streams = unknown.values();
    const readSome = async () => {
      for (const event of streams) {
        const { stream, revision } = event;
        try {
          const folded = await foldStream(this.parts.eventStore, stream, {
            before: before.get(stream),
            to: revision - 1,
          });
          before.set(stream, folded);
          if (folded !== undefined) weight += computeShipmentMemoryWeight(folded);
        } catch (error) {
          if (error instanceof UnavailableError) throw error;
          failures.set(stream, { event, error });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_STREAMS_PUBLISHED_CONCURRENTLY, unknown.length) }, readSome));
    return weight;
  }
}

/** Returns headers with data that the public event does not contain. Repeated publications have equal headers. */
function createMessageHeaders(
  { id, type }: PublishedEvent,
  { position, metadata }: StoredEvent,
): BrokerMessage['headers'] {
  const { request_id, traceparent } = metadata;
  return {
    [EVENT_MESSAGE_HEADERS.id]: id,
    [EVENT_MESSAGE_HEADERS.type]: type,
    [EVENT_MESSAGE_HEADERS.position]: position,
    ...(typeof request_id === 'string' && { [EVENT_MESSAGE_HEADERS.requestId]: request_id }),
    ...(typeof traceparent === 'string' && { [EVENT_MESSAGE_HEADERS.traceparent]: traceparent }),
  };
}

function createEmptyAnnouncementBatch(): AnnouncementBatch {
  return { announcements: [], characters: 0, after: new Map() };
}

/** Removes an announcement and all later announcements of its stream. */
function dropAnnouncementsFromRefusedOnward(
  { stored, before }: BrokerMessageOfPublicEvent,
  slice: AnnouncementBatch,
): void {
  const { stream, revision } = stored;
  slice.announcements = slice.announcements.filter((one) => {
    return one.stored.stream !== stream || one.stored.revision < revision;
  });
  if (before === undefined) slice.after.delete(stream);
  else slice.after.set(stream, before);
}

/** Returns true if the read models contain all events up to the position, now or within the timeout. */
export type ReadModelsReached = (position: Position, timeoutMs: number) => Promise<boolean>;

/** An event that waits for its publication. */
export interface AwaitedEvent {
  readonly stream: string;
  readonly position: Position;
  readonly type: EventType;
}

/** Returns true if the read models with the data of these events contain them, now or within the timeout. */
export type ReadModelsContain = (events: readonly AwaitedEvent[], timeoutMs: number) => Promise<boolean>;

/** Maximum milliseconds until a waiting publisher notices that it must stop. */
const ABORT_CHECK_MS = 250;

/**
 * Delays publication until the read models contain the events, so that consumers can read the resources that events
 * name. After a timeout, publishes without waiting until the read models have caught up.
 */
export class EventPublicationGate {
  private behindSince: number | undefined;
  private hasGivenUp = false;

  constructor(
    private readonly contain: ReadModelsContain,
    /** Maximum milliseconds for which publication waits for the read models. */
    private readonly patienceMs: number,
    private readonly ahead: Counter,
    private readonly logger: Logger,
  ) {}

  /**
   * Resolves when the events may be published.
   * @throws the reason of the signal when it aborts
   */
  async waitForReadModelsBeforePublishing(events: readonly AwaitedEvent[], signal: AbortSignal): Promise<void> {
    for (;;) {
      const began = performance.now();
      const left = (this.behindSince ?? began) + this.patienceMs - began;
      if (await this.haveReadModelsReached(events, Math.max(0, Math.min(ABORT_CHECK_MS, left)))) break;
      signal.throwIfAborted();
      this.behindSince ??= began;
      if (performance.now() - this.behindSince >= this.patienceMs) {
        this.warnOfEventsPublishedBeforeReadModels(events.length);
        return;
      }
    }
    if (this.hasGivenUp) this.logger.info({}, 'the read models have caught up with the published events');
    this.behindSince = undefined;
    this.hasGivenUp = false;
  }

  private warnOfEventsPublishedBeforeReadModels(events: number): void {
    this.ahead.add(events);
    if (this.hasGivenUp) return;
    this.hasGivenUp = true;
    this.logger.warn(
      { patience_ms: this.patienceMs },
      'the read models are behind; publishing events without waiting for them any longer',
    );
  }

  /** Returns true if the read models contain the events. An error counts as false. */
  private async haveReadModelsReached(events: readonly AwaitedEvent[], timeoutMs: number): Promise<boolean> {
    try {
      return await this.contain(events, timeoutMs);
    } catch {
      await pauseFor(timeoutMs);
      return false;
    }
  }
}
