import type { PublicAddresses, PublishedEvent, ShipmentException } from '@tracking/contracts';
import { type EventStore, type StoredEvent, UnavailableError } from '@tracking/ports';
import {
  type EventReference,
  evolveShipmentRecord,
  applyChangeToException,
  readExceptionChange,
  type MakeEvents,
  toPublicEvent,
  type ShipmentEvent,
  type ShipmentStateAfterEvent,
  upcastStoredShipmentEvent,
  computeRecordMemoryWeight,
} from '@tracking/shipments-domain';
import { LRUCache } from 'lru-cache';
import { readEventsInSlices } from '../shipment-cache.ts';

const MAX_CONCURRENT_STREAM_READS = 4;
/** Number of events that are recreated at first, before their size is known. */
const INITIAL_RECREATED_EVENT_COUNT = 32;

export interface PublishedEventMakerOptions {
  readonly eventStore: EventStore;
  /** Base addresses of links in events, the same as the publisher's. */
  readonly addresses: PublicAddresses;
  /**
   * Number of shipments of ordinary size kept in memory, so that the next page of a shipment can continue from the last
   * page; 1,000 by default.
   */
  readonly cachedShipments?: number;
}

/**
 * Returns a function that recreates public events from their streams, byte for byte as published. It omits events that
 * cannot be recreated; the publisher did not publish these either, because it parked their streams.
 */
export function createPublicEventRecreator({
  eventStore,
  addresses,
  cachedShipments = 1_000,
}: PublishedEventMakerOptions): MakeEvents {
  const cache = createFoldedShipmentCache(cachedShipments);

  const makeFrom = async (stream: string, wanted: ReadonlySet<number>, made: Map<string, PublishedEvent>) => {
    const revisions = [...wanted].sort((a, b) => a - b);
    const [first = 0, last = 0] = [revisions[0], revisions[revisions.length - 1]];
    const kept = cache.get(stream);
    const before = kept !== undefined && kept.revision < first ? kept : undefined;
    try {
      const seen: FoldStreamOptions['seen'] = (stored, event, after) => {
        const body = wanted.has(event.revision) ? toPublicEvent(stored.id, event, after, addresses) : undefined;
        if (body !== undefined) made.set(body.id, body);
      };
      const folded = await foldStream(eventStore, stream, { before, to: last, seen });
      if (folded !== undefined) cache.set(stream, folded);
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
    }
  };

  const makeAll = async (references: readonly EventReference[]) => {
    const wanted = new Map<string, Set<number>>();
    for (const { stream, revision } of references) {
      const revisions = wanted.get(stream) ?? new Set();
      wanted.set(stream, revisions.add(revision));
    }
    const made = new Map<string, PublishedEvent>();
    const streams = wanted.entries();
    const makeSome = async () => {
      for (const [stream, revisions] of streams) await makeFrom(stream, revisions, made);
    };
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_STREAM_READS, wanted.size) }, makeSome));
    return made;
  };

  return async (references, maxBytes) => {
    const events: PublishedEvent[] = [];
    let bytes = 0;
    let covered = 0;
    for (
      let count = INITIAL_RECREATED_EVENT_COUNT;
      covered < references.length;
      count = estimateFittingEvents(maxBytes, bytes, covered)
    ) {
      const some = references.slice(covered, covered + count);
      const made = await makeAll(some);
      for (const { id } of some) {
        const event = made.get(id);
        bytes += event === undefined ? 0 : Buffer.byteLength(JSON.stringify(event));
        if (bytes > maxBytes && events.length > 0) return { events, covered };
        if (event !== undefined) events.push(event);
        covered += 1;
      }
    }
    return { events, covered };
  };
}

/** Estimates how many more events fit, if they are as large as the previous events. */
function estimateFittingEvents(maxBytes: number, bytes: number, events: number): number {
  return bytes === 0 ? 2 * events : Math.max(1, Math.ceil((maxBytes - bytes) / (bytes / events)));
}

/** A shipment directly after the event at `revision`, with the data for snapshots. */
export interface FoldedShipment extends ShipmentStateAfterEvent {
  readonly revision: number;
}

/**
 * Creates a cache for a number of shipments of ordinary size. It always has room for one shipment, whatever its size:
 * otherwise each event of a large shipment would read the whole stream again.
 */
export function createFoldedShipmentCache(shipments: number): LRUCache<string, FoldedShipment> {
  const sizeCalculation = (shipment: FoldedShipment) => Math.min(shipments, computeShipmentMemoryWeight(shipment));
  return new LRUCache({ maxSize: shipments, sizeCalculation });
}

/** Returns the weight of a shipment in memory; an ordinary shipment has weight 1. */
export function computeShipmentMemoryWeight({ record, exceptions }: FoldedShipment): number {
  const characters = exceptions.reduce((sum, each) => sum + JSON.stringify(each).length, 0);
  return computeRecordMemoryWeight(record) + Math.round(characters / 1_000);
}

/**
 * Returns the shipment after the next event.
 * @throws Error if the event is not the next one, because the snapshot would be incomplete
 */
export function foldNextEvent(before: FoldedShipment | undefined, event: ShipmentEvent): FoldedShipment {
  const expected = (before?.revision ?? -1) + 1;
  if (event.revision !== expected) throw new Error(`expected revision ${expected}, found ${event.revision}`);
  const scope = event.type === 'shipment.created.v1' ? event.data : before;
  if (scope === undefined) throw new Error(`${event.type} does not create a shipment`);
  const { workspace_id, environment } = scope;
  const record = evolveShipmentRecord(before?.record, event);
  return {
    workspace_id,
    environment,
    record,
    exceptions: applyExceptionChange(before, event),
    revision: event.revision,
  };
}

/**
 * Returns the exceptions after an event. Drops resolved exceptions with the next change of another exception, because
 * they never change again.
 */
function applyExceptionChange(before: FoldedShipment | undefined, event: ShipmentEvent): readonly ShipmentException[] {
  const known = before?.exceptions ?? [];
  const change = readExceptionChange(event);
  if (change === undefined) return known;
  const others = known.filter(({ id, status }) => id !== change.id && status !== 'resolved');
  return [
    ...others,
    applyChangeToException(
      change,
      known.find(({ id }) => id === change.id),
    ),
  ];
}

interface FoldStreamOptions {
  /** The shipment after the last folded event; undefined before the first event. */
  readonly before: FoldedShipment | undefined;
  /** Revision of the last event to fold. The event is stored. */
  readonly to: number;
  /** Called with every folded event and the shipment directly after it. */
  readonly seen?: (stored: StoredEvent, event: ShipmentEvent, after: FoldedShipment) => void;
}

/**
 * Continues to fold a stream up to and including the event at `to`.
 * @throws UnavailableError; any other error means that the stream cannot be folded
 */
export async function foldStream(
  store: EventStore,
  stream: string,
  { before, to, seen }: FoldStreamOptions,
): Promise<FoldedShipment | undefined> {
  let folded = before;
  const range = { from: (before?.revision ?? -1) + 1, to, isStored: true };
  for await (const events of readEventsInSlices(store, stream, range)) {
    for (const stored of events) {
      const event = upcastStoredShipmentEvent(stored);
      folded = foldNextEvent(folded, event);
      seen?.(stored, event, folded);
    }
  }
  return folded;
}
