import { NEWEST_API_VERSION } from '@tracking/contracts';
import type {
  JsonObject,
  PublicAddresses,
  PublishedEvent,
  Shipment,
  ShipmentException,
  ShipmentRecord,
} from '@tracking/contracts';
import type { PublicEventMapping, EventHistoryEntry } from './events/descriptor.ts';
import { type ShipmentEvent, findStoredEventDescriptor } from './events/stored-events.ts';
import { readExceptionChange } from './evolve.ts';

/** Reference to a stored event, from which the public event can be recreated. */
export interface EventReference {
  /** Id of the public event: `evt_` and the UUID of the stored event. */
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
}

/** Public events that were recreated from references. */
export interface RecreatedEvents {
  /** Events in the order of the references. Events that cannot be recreated are omitted. */
  readonly events: readonly PublishedEvent[];
  /** Number of leading references that were processed. At least 1, unless no reference was given. */
  readonly covered: number;
}

/**
 * Recreates public events.
 * @param maxBytes maximum size of the events as JSON; the first event is always included
 * @throws UnavailableError
 */
export type MakeEvents = (references: readonly EventReference[], maxBytes: number) => Promise<RecreatedEvents>;

/** A shipment directly after an event, with its scope. */
export interface ShipmentStateAfterEvent {
  readonly workspace_id: string;
  readonly environment: PublishedEvent['environment'];
  readonly record: ShipmentRecord;
  /** All unresolved exceptions, and the exception that the event changed. */
  readonly exceptions: readonly ShipmentException[];
}

/**
 * Returns the announcement of a stored event; undefined if the event is not announced. The publisher and the list of
 * published events both use this function, so that they publish the same events.
 */
export function findPublicEventOfStoredEvent({ type, data }: ShipmentEvent): PublicEventMapping | undefined {
  return findStoredEventDescriptor(type).announce?.(data);
}

/**
 * Returns the history entry of a stored event; undefined for an event that clients do not see.
 * @param exception the exception directly after the event; needed for an event that sets only some of its fields
 */
export function findHistoryNoteOfEvent(
  { type, data }: ShipmentEvent,
  exception?: ShipmentException,
): EventHistoryEntry | undefined {
  return findStoredEventDescriptor(type).createHistoryNote?.(data, exception);
}

export function toPublicEventId(storedEventId: string): string {
  return `evt_${storedEventId}`;
}

/**
 * Returns the public event of a stored event. Equal arguments give equal JSON text, so a repeated publication sends the
 * same bytes.
 * @param after the shipment directly after the event
 */
export function toPublicEvent(
  storedEventId: string,
  event: ShipmentEvent,
  after: ShipmentStateAfterEvent,
  addresses: PublicAddresses,
): PublishedEvent | undefined {
  const announcement = findPublicEventOfStoredEvent(event);
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
    // The cast is safe, because the data is stored JSON, text and numbers.
    data: data as unknown as JsonObject,
  };
}

/** Returns the shipment of the public API: the record with its link to the web application. */
export function toShipmentResource(record: ShipmentRecord, appUrl: string): Shipment {
  return { ...record, url: `${appUrl}/shipments/${record.id}` };
}
