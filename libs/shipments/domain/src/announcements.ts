import { NEWEST_API_VERSION } from '@tracking/contracts';
import type {
  JsonObject,
  PublicAddresses,
  PublishedEvent,
  Shipment,
  ShipmentException,
  ShipmentRecord,
} from '@tracking/contracts';
import type { Announcement, HistoryNote } from './events/descriptor.ts';
import { type ShipmentEvent, findDescriptor } from './events/stored-events.ts';
import { readExceptionChange } from './evolve.ts';

/** Position of a stored event, from which its public event can be recreated. */
export interface EventReference {
  /** Id of the public event: `evt_` and the stored event's UUID. */
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
}

/** Public events that were recreated from references. */
export interface RecreatedEvents {
  /** Events in the order of the references. Events that cannot be recreated are omitted. */
  readonly events: readonly PublishedEvent[];
  /** Number of references, from the first on, that were processed. At least 1, unless there was no reference. */
  readonly covered: number;
}

/**
 * Recreates public events.
 * @param maxBytes maximum size of the events as JSON; the first event is always included
 * @throws Unavailable
 */
export type MakeEvents = (references: readonly EventReference[], maxBytes: number) => Promise<RecreatedEvents>;

/** A shipment right after an event, with its scope. */
export interface ShipmentSnapshot {
  readonly workspace_id: string;
  readonly environment: PublishedEvent['environment'];
  readonly record: ShipmentRecord;
  /** All unresolved exceptions, and the one that the event changed. */
  readonly exceptions: readonly ShipmentException[];
}

/**
 * Returns the announcement of a stored event; undefined if it announces nothing. Both the publisher and the list of
 * published events use this function, so that they agree.
 */
export function findAnnouncement({ type, data }: ShipmentEvent): Announcement | undefined {
  return findDescriptor(type).announce?.(data);
}

/**
 * Returns the entry of a stored event in the history of its shipment; undefined for an event that clients do not see.
 * @param exception the exception right after the event; needed for an event that sets only some of its fields
 */
export function findHistoryNote({ type, data }: ShipmentEvent, exception?: ShipmentException): HistoryNote | undefined {
  return findDescriptor(type).historyNote?.(data, exception);
}

export function toPublicEventId(storedEventId: string): string {
  return `evt_${storedEventId}`;
}

/**
 * Returns the public event of a stored event. Equal arguments give equal JSON text, so publishing an event twice sends
 * the same bytes.
 * @param after the shipment right after the event
 */
export function toPublicEvent(
  storedEventId: string,
  event: ShipmentEvent,
  after: ShipmentSnapshot,
  addresses: PublicAddresses,
): PublishedEvent | undefined {
  const announcement = findAnnouncement(event);
  if (announcement === undefined) return undefined;
  const { workspace_id, environment, record } = after;
  const changed = readExceptionChange(event);
  const exception = changed && after.exceptions.find(({ id }) => id === changed.id);
  const about = { shipment_id: record.id, external_id: record.external_id, shipment_version: record.version };
  const data = { ...about, ...announcement.data(toShipmentResource(record, addresses.appUrl), addresses, exception) };
  return {
    id: toPublicEventId(storedEventId),
    type: announcement.type,
    created_at: event.metadata.recorded_at,
    api_version: NEWEST_API_VERSION,
    environment,
    workspace_id,
    // The data consists of stored JSON, text and numbers only.
    data: data as unknown as JsonObject,
  };
}

/** Returns the public resource: the record with its link to the web application. */
export function toShipmentResource(record: ShipmentRecord, appUrl: string): Shipment {
  return { ...record, url: `${appUrl}/shipments/${record.id}` };
}
