import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import type { Counter, EventStore, NewEvent, Position, RevisionRange, StoredEvent } from '@tracking/ports';
import {
  fold,
  type ShipmentCommand,
  type ShipmentEvent,
  type ShipmentEventBody,
  type ShipmentState,
  upcastStoredShipmentEvent,
} from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';

/**
 * A shipment, folded from its stream up to `revision`. `position` is the position of the event at that revision, or a
 * later position.
 */
export interface LoadedShipment {
  readonly state: ShipmentState;
  readonly revision: number;
  readonly position: Position;
  /** Approximate number of characters in the shipment's milestones and exceptions. */
  readonly characters: number;
}

/**
 * Returns the number of characters that an event adds to a shipment permanently; negative if it removes more. Shipment
 * events add nothing, because their data replaces former data.
 */
export function countCharactersKeptByEvent({ type, data }: { readonly type: string; readonly data: object }): number {
  if (type.startsWith('shipment.')) return 0;
  const { drops = [], ...added } = data as { readonly drops?: readonly string[] };
  const { length } = JSON.stringify(added);
  // A dropped milestone is about as long as the milestone that the event adds. The ids of dropped ones are not kept.
  return length - drops.length * (length - ESTIMATED_CHARACTERS_PER_DROPPED_REPORT);
}

/** Characters that take as much memory as the times of a dropped report. */
const ESTIMATED_CHARACTERS_PER_DROPPED_REPORT = 24;

/**
 * Returns a command's event in the form for appending, without its position in the store. Each decision has its own
 * event ids. The store therefore recognizes a repeated append of one decision, and refuses another decision on the same
 * command if the first one is stored.
 */
export function toNewEvent(event: ShipmentEvent): NewEvent {
  return {
    id: randomUUID(),
    type: event.type,
    data: event.data as unknown as JsonObject,
    metadata: event.metadata as unknown as JsonObject,
  };
}

/** Returns the events of one decision, in order, with their metadata. */
export function addMetadataToShipmentEvents(
  command: ShipmentCommand,
  bodies: readonly ShipmentEventBody[],
  nextCheckAt: string | null,
  firstRevision: number,
): readonly ShipmentEvent[] {
  return bodies.map((body, index) => ({
    ...body,
    metadata: {
      command_id: command.id,
      command_index: index,
      recorded_at: command.at,
      actor: command.actor,
      request_id: command.request_id,
      traceparent: command.traceparent,
      next_check_at: nextCheckAt,
    },
    revision: firstRevision + index,
  }));
}

/** Maximum number of events per read. An event has up to 1 MB, and several streams are read concurrently. */
export const MAX_EVENTS_PER_READ = 32;

/**
 * Reads the events of a stream from `from` to `to`, inclusive, in slices, so that a long stream is never completely in
 * memory.
 * @throws UnavailableError
 */
export async function* readEventsInSlices(
  store: Pick<EventStore, 'read'>,
  stream: string,
  { from = 0, to = Number.MAX_SAFE_INTEGER, ...stored }: RevisionRange = {},
): AsyncIterable<readonly StoredEvent[]> {
  for (let next = from; next <= to; next += MAX_EVENTS_PER_READ) {
    const events = await store.read(stream, {
      from: next,
      to: Math.min(to, next + MAX_EVENTS_PER_READ - 1),
      ...stored,
    });
    if (events.length > 0) yield events;
    if (events.length < MAX_EVENTS_PER_READ) return;
  }
}

/**
 * Returns the current shipment from its stream; undefined if it does not exist. Reads only the events after `known`,
 * because earlier events never change. Returns `known` itself if there are no new events.
 * @throws UnavailableError
 */
export async function readShipment(
  store: EventStore,
  stream: string,
  known?: LoadedShipment,
): Promise<LoadedShipment | undefined> {
  let { state, characters = 0 }: Partial<LoadedShipment> = known ?? {};
  let last: StoredEvent | undefined;
  for await (const events of readEventsInSlices(store, stream, {
    from: known === undefined ? 0 : known.revision + 1,
  })) {
    state = fold(events.map(upcastStoredShipmentEvent), state);
    characters = events.reduce((sum, event) => sum + countCharactersKeptByEvent(event), characters);
    last = events.at(-1);
  }
  if (last === undefined) return known;
  return state && { state, revision: last.revision, position: last.position, characters };
}

export interface ShipmentCacheLimits {
  readonly shipments: number;
  /** Maximum size in bytes, approximately. The sizes of shipments differ by a factor of a thousand. */
  readonly bytes: number;
}

/** Bytes of a command's id and revision in memory. */
const MEMORY_BYTES_PER_REMEMBERED_COMMAND = 150;

/**
 * Estimates the heap bytes of a folded shipment from the length of its text. Clients decide how long lists and notes
 * are, so shipments differ in size.
 */
export function estimateShipmentHeapBytes({ state, characters }: Pick<LoadedShipment, 'state' | 'characters'>): number {
  const lasting = Math.max(0, characters);
  return (
    1_000 +
    2 * JSON.stringify(state.record).length +
    lasting +
    MEMORY_BYTES_PER_REMEMBERED_COMMAND * state.commands.length
  );
}

/**
 * Cache of the most recently used folded shipments. A cached shipment is stale if another replica appended to its
 * stream. In this case an append at its revision fails, and a command that writes nothing is decided again after a new
 * read.
 */
export class ShipmentCache {
  private readonly shipments: LRUCache<string, LoadedShipment>;

  constructor(
    limits: ShipmentCacheLimits,
    private readonly reads: Counter,
  ) {
    const { shipments: max, bytes: maxSize } = limits;
    this.shipments = new LRUCache<string, LoadedShipment>({ max, maxSize, sizeCalculation: estimateShipmentHeapBytes });
  }

  get size(): number {
    return this.shipments.size;
  }

  getShipment(id: string): LoadedShipment | undefined {
    const shipment = this.shipments.get(id);
    this.reads.add(1, { result: shipment === undefined ? 'miss' : 'hit' });
    return shipment;
  }

  /** Caches the shipment unless the cached version is newer. Readers and the writer of a shipment run concurrently. */
  cacheShipment(id: string, shipment: LoadedShipment): void {
    const kept = this.shipments.peek(id);
    if (kept === undefined || kept.revision <= shipment.revision) this.shipments.set(id, shipment);
  }

  dropCachedShipment(id: string): void {
    this.shipments.delete(id);
  }
}
