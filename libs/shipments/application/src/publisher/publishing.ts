import { setImmediate } from 'node:timers/promises';
import { EVENT_HEADERS, type PublicAddresses, type PublishedEvent } from '@tracking/contracts';
import {
  type Counter,
  type EventStore,
  type Logger,
  type Message,
  type MessageBroker,
  MessageRefused,
  type Position,
  type StoredEvent,
  Unavailable,
} from '@tracking/ports';
import { pause } from '@tracking/resilience';
import { publicEvent, toShipmentEvent } from '@tracking/shipments-domain';
import type { EventFailure, EventHandler } from '@tracking/subscriptions';
import { LRUCache } from 'lru-cache';
import { type Folded, foldNext, foldStream, cacheWeight } from './event-maker.ts';

/** Well below what brokers take at once. What follows is sent when these are acknowledged, so as not to overtake them. */
const MAX_BATCH_CHARACTERS = 512 * 1024;
/** Events made into messages before others get their turn on the thread: about a millisecond. */
const EVENTS_PER_TURN = 50;
const CONCURRENT_STREAMS = 16;

interface PublishingParts {
  readonly eventStore: EventStore;
  readonly broker: MessageBroker;
  readonly topic: string;
  readonly readModels: ReadModelGate;
  readonly addresses: PublicAddresses;
  /** Ordinary shipments kept in memory. */
  readonly cachedShipments: number;
  /** By `type`. */
  readonly published: Counter;
  /** Aborts when somebody else may be at work on the partition. */
  readonly lost: AbortSignal;
}

interface AnnouncedMessage {
  readonly message: Message;
  readonly type: string;
  readonly stored: StoredEvent;
  /** The shipment right before the event. */
  readonly before: Folded | undefined;
}

/** Announcements made and not sent yet, and the shipments as they are after them. */
interface Slice {
  announcements: AnnouncedMessage[];
  characters: number;
  /** Of the last event that is announced. */
  position: Position;
  readonly after: Map<string, Folded>;
}

/**
 * Publishes the events of the partition that it holds, in their order. A shipment is remembered as it was after its last
 * event that was published: what comes again, after an engine's failure or with a retry, is recognised by that.
 */
export class Publishing implements EventHandler {
  private readonly shipments: LRUCache<string, Folded>;

  constructor(private readonly parts: PublishingParts) {
    this.shipments = new LRUCache({ maxSize: parts.cachedShipments, sizeCalculation: cacheWeight });
  }

  async handle(events: readonly StoredEvent[], signal: AbortSignal): Promise<readonly EventFailure[]> {
    const failures = new Map<string, EventFailure>();
    const before = await this.shipmentsBefore(events, failures);
    let slice = emptySlice();
    for (const [index, stored] of events.entries()) {
      if (index % EVENTS_PER_TURN === EVENTS_PER_TURN - 1) await setImmediate();
      if (failures.has(stored.stream)) continue;
      try {
        this.add(slice, stored, slice.after.get(stored.stream) ?? before.get(stored.stream));
      } catch (error) {
        failures.set(stored.stream, { event: stored, error });
      }
      if (slice.characters < MAX_BATCH_CHARACTERS) continue;
      await this.send(slice, failures, signal);
      for (const [stream, shipment] of slice.after) before.set(stream, shipment);
      slice = emptySlice();
    }
    await this.send(slice, failures, signal);
    return [...failures.values()];
  }

  /** @param before the shipment as far as it is folded */
  private add(slice: Slice, stored: StoredEvent, before: Folded | undefined): void {
    if (before !== undefined && before.revision >= stored.revision) return;
    const event = toShipmentEvent(stored);
    const after = foldNext(before, event);
    const published = publicEvent(stored.id, event, after, this.parts.addresses);
    if (published !== undefined) {
      const value = JSON.stringify(published);
      const message = { key: after.record.id, value, headers: messageHeaders(published, stored) };
      slice.announcements.push({ message, type: published.type, stored, before });
      slice.characters += value.length;
      slice.position = stored.position;
    }
    slice.after.set(stored.stream, after);
  }

  private async send(slice: Slice, failures: Map<string, EventFailure>, signal: AbortSignal): Promise<void> {
    if (slice.announcements.length > 0) {
      await this.parts.readModels.wait(slice.position, slice.announcements.length, signal);
      await this.publish(slice, failures);
      const types = new Map<string, number>();
      for (const { type } of slice.announcements) types.set(type, (types.get(type) ?? 0) + 1);
      for (const [type, count] of types) this.parts.published.add(count, { type });
    }
    for (const [stream, shipment] of slice.after) this.shipments.set(stream, shipment);
  }

  /** A message that the broker will never take is a failure of its stream; the slice goes without it. */
  private async publish(slice: Slice, failures: Map<string, EventFailure>): Promise<void> {
    while (slice.announcements.length > 0) {
      this.parts.lost.throwIfAborted();
      const messages = slice.announcements.map(({ message }) => message);
      try {
        return await this.parts.broker.publish(this.parts.topic, messages);
      } catch (error) {
        const refused = error instanceof MessageRefused ? slice.announcements[error.index] : undefined;
        if (refused === undefined) throw error;
        failures.set(refused.stored.stream, { event: refused.stored, error });
        removeStream(refused, slice);
      }
    }
  }

  /** The shipments as they were before their first event here, or later; those that cannot be folded fail. */
  private async shipmentsBefore(events: readonly StoredEvent[], failures: Map<string, EventFailure>) {
    const before = new Map<string, Folded>();
    const unknown: StoredEvent[] = [];
    const seen = new Set<string>();
    for (const event of events) {
      if (seen.has(event.stream)) continue;
      seen.add(event.stream);
      const known = this.shipments.get(event.stream);
      if (known !== undefined) before.set(event.stream, known);
      if ((known?.revision ?? -1) + 1 < event.revision) unknown.push(event);
    }
    const streams = unknown.values();
    const readSome = async () => {
      for (const event of streams) {
        const { stream, revision } = event;
        try {
          const folded = await foldStream(this.parts.eventStore, stream, {
            before: before.get(stream),
            to: revision - 1,
          });
          if (folded !== undefined) before.set(stream, folded);
        } catch (error) {
          if (error instanceof Unavailable) throw error;
          failures.set(stream, { event, error });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(CONCURRENT_STREAMS, unknown.length) }, readSome));
    return before;
  }
}

/** What consumers need to know beside the event, whose bytes are public. The same however often it is published. */
function messageHeaders({ id, type }: PublishedEvent, { position, metadata }: StoredEvent): Message['headers'] {
  const { request_id, traceparent } = metadata;
  return {
    [EVENT_HEADERS.id]: id,
    [EVENT_HEADERS.type]: type,
    [EVENT_HEADERS.position]: position,
    ...(typeof request_id === 'string' && { [EVENT_HEADERS.requestId]: request_id }),
    ...(typeof traceparent === 'string' && { [EVENT_HEADERS.traceparent]: traceparent }),
  };
}

function emptySlice(): Slice {
  return { announcements: [], characters: 0, position: '', after: new Map() };
}

/** With all of its stream that comes after it. */
function removeStream({ stored, before }: AnnouncedMessage, slice: Slice): void {
  const { stream, revision } = stored;
  slice.announcements = slice.announcements.filter((one) => {
    return one.stored.stream !== stream || one.stored.revision < revision;
  });
  if (before === undefined) slice.after.delete(stream);
  else slice.after.set(stream, before);
}

/** Whether everything up to the position is in all read models, now or within the time. */
export type ReadModelsReached = (position: Position, timeoutMs: number) => Promise<boolean>;

/** How soon it is noticed while waiting that the work is to end. */
const ABORT_CHECK_MS = 250;

/**
 * Nobody is told of what the read models do not show yet, so that whoever is told can read it. Read models that stand
 * still are not waited for again until they have caught up.
 */
export class ReadModelGate {
  private behindSince: number | undefined;
  private hasGivenUp = false;

  constructor(
    private readonly reached: ReadModelsReached,
    /** For how long they may be behind, in ms. */
    private readonly patienceMs: number,
    private readonly ahead: Counter,
    private readonly logger: Logger,
  ) {}

  /**
   * Resolves when events up to the position may be published.
   * @param events how many they are
   * @throws the signal's reason once it aborts
   */
  async wait(position: Position, events: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const began = performance.now();
      const left = (this.behindSince ?? began) + this.patienceMs - began;
      if (await this.hasReached(position, Math.max(0, Math.min(ABORT_CHECK_MS, left)))) break;
      signal.throwIfAborted();
      this.behindSince ??= began;
      if (performance.now() - this.behindSince >= this.patienceMs) {
        this.publishAnyway(events);
        return;
      }
    }
    if (this.hasGivenUp) this.logger.info({}, 'the read models show again what is published');
    this.behindSince = undefined;
    this.hasGivenUp = false;
  }

  private publishAnyway(events: number): void {
    this.ahead.add(events);
    if (this.hasGivenUp) return;
    this.hasGivenUp = true;
    this.logger.warn({ patience_ms: this.patienceMs }, 'events are published that the read models do not show yet');
  }

  /** An error counts as not reached. */
  private async hasReached(position: Position, timeoutMs: number): Promise<boolean> {
    try {
      return await this.reached(position, timeoutMs);
    } catch {
      await pause(timeoutMs);
      return false;
    }
  }
}
