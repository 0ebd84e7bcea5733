import type { JsonObject } from '@tracking/contracts';
import type { Counter, EventStore, NewEvent, Position, StoredEvent } from '@tracking/ports';
import {
  fold,
  type ShipmentCommand,
  type ShipmentEvent,
  type ShipmentEventBody,
  type ShipmentState,
  toShipmentEvent,
} from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import { eventId } from './ids.ts';

/** A shipment folded from its stream up to `revision`; `position` is that of the event there, or a little later. */
export interface LoadedShipment {
  readonly state: ShipmentState;
  readonly revision: number;
  readonly position: Position;
  /** How much text its milestones and exceptions hold, roughly. */
  readonly characters: number;
}

/** Characters that an event adds to a shipment for good: what is set on the shipment itself replaces what was there. */
export function lastingCharacters({ type, data }: { readonly type: string; readonly data: object }): number {
  return type.startsWith('shipment.') ? 0 : JSON.stringify(data).length;
}

/** An event of a command as it is stored, but for its place in the stream. */
export function toNewEvent(event: ShipmentEvent): NewEvent {
  return {
    id: eventId(event.metadata.command_id, event.metadata.command_index),
    type: event.type,
    data: event.data as unknown as JsonObject,
    metadata: event.metadata as unknown as JsonObject,
  };
}

/** What one decision makes, in order, with the metadata that every event carries. */
export function eventsOf(
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

/** Events of a stream read at once. An event has up to 1 MB, and several streams are read at the same time. */
const SLICE_SIZE = 32;

/**
 * The events of a stream from `from` up to and including `to`, in slices, so that a long stream is never in memory whole.
 * @throws Unavailable
 */
export async function* readSlices(
  store: Pick<EventStore, 'read'>,
  stream: string,
  { from = 0, to = Number.MAX_SAFE_INTEGER }: { readonly from?: number; readonly to?: number } = {},
): AsyncIterable<readonly StoredEvent[]> {
  for (let next = from; next <= to; next += SLICE_SIZE) {
    const events = await store.read(stream, { from: next, to: Math.min(to, next + SLICE_SIZE - 1) });
    if (events.length > 0) yield events;
    if (events.length < SLICE_SIZE) return;
  }
}

/**
 * The shipment as its stream has it now; undefined when there is none. Reads only what follows `known`, since a stream's
 * past never changes; returns `known` itself when nothing was added.
 * @throws Unavailable
 */
export async function readShipment(
  store: EventStore,
  stream: string,
  known?: LoadedShipment,
): Promise<LoadedShipment | undefined> {
  let { state, characters = 0 }: Partial<LoadedShipment> = known ?? {};
  let last: StoredEvent | undefined;
  for await (const events of readSlices(store, stream, { from: known === undefined ? 0 : known.revision + 1 })) {
    state = fold(events.map(toShipmentEvent), state);
    characters = events.reduce((sum, event) => sum + lastingCharacters(event), characters);
    last = events.at(-1);
  }
  if (last === undefined) return known;
  return state && { state, revision: last.revision, position: last.position, characters };
}

export interface CacheLimits {
  readonly shipments: number;
  /** Bytes, roughly: shipments differ in size by a factor of a thousand. */
  readonly bytes: number;
}

/** A command's id and revision, as it is remembered. */
const SEEN_COMMAND_BYTES = 150;

/** Rough heap bytes of a folded shipment. By its text: lists and notes are the clients' to fill. */
export function roughBytes({ state, characters }: Pick<LoadedShipment, 'state' | 'characters'>): number {
  return 1_000 + 2 * JSON.stringify(state.record).length + characters + SEEN_COMMAND_BYTES * state.commands.length;
}

/**
 * The shipments used last, folded. What it holds may be behind the stream (another replica appended): an append at a
 * revision held here fails then, and what writes nothing is decided again on a fresh read.
 */
export class ShipmentCache {
  private readonly shipments: LRUCache<string, LoadedShipment>;

  constructor(
    limits: CacheLimits,
    private readonly reads: Counter,
  ) {
    const { shipments: max, bytes: maxSize } = limits;
    this.shipments = new LRUCache<string, LoadedShipment>({ max, maxSize, sizeCalculation: roughBytes });
  }

  get size(): number {
    return this.shipments.size;
  }

  get(id: string): LoadedShipment | undefined {
    const shipment = this.shipments.get(id);
    this.reads.add(1, { result: shipment === undefined ? 'miss' : 'hit' });
    return shipment;
  }

  /** Keeps it, unless what is kept already is newer: readers and the writer of a shipment run side by side. */
  put(id: string, shipment: LoadedShipment): void {
    const kept = this.shipments.peek(id);
    if (kept === undefined || kept.revision <= shipment.revision) this.shipments.set(id, shipment);
  }

  drop(id: string): void {
    this.shipments.delete(id);
  }
}
