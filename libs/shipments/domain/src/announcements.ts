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
import { type ShipmentEvent, descriptorOf } from './events/stored-events.ts';
import { exceptionChange } from './evolve.ts';

/** An event's place, from which its public form can be made again. */
export interface EventReference {
  /** Of the public event: `evt_` and the stored event's UUID. */
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
}

/** Public events made again from their places. */
export interface MadeEvents {
  /** In the order of the references. Events that cannot be made are left out. */
  readonly events: readonly PublishedEvent[];
  /** Number of references, from the first on, that these events answer. At least 1, unless there was no reference. */
  readonly covered: number;
}

/**
 * Makes public events again.
 * @param maxBytes ends the answer before the event that would exceed it, as JSON; the first event always fits
 * @throws Unavailable
 */
export type MakeEvents = (references: readonly EventReference[], maxBytes: number) => Promise<MadeEvents>;

/** A shipment as it was right after an event, and whose it is. */
export interface Snapshot {
  readonly workspace_id: string;
  readonly environment: PublishedEvent['environment'];
  readonly record: ShipmentRecord;
  /** At least those that are not resolved and the one that the event changed. */
  readonly exceptions: readonly ShipmentException[];
}

/**
 * What is announced of a stored event; undefined for one that announces nothing. Everyone who must know asks here, so that
 * what is listed was published.
 */
export function announcementOf({ type, data }: ShipmentEvent): Announcement | undefined {
  return descriptorOf(type).announce?.(data);
}

/**
 * The entry of a stored event in the history of its shipment; undefined for an event that clients do not see.
 * @param exception right after the event, needed for an event that sets some fields of one
 */
export function historyNoteOf({ type, data }: ShipmentEvent, exception?: ShipmentException): HistoryNote | undefined {
  return descriptorOf(type).historyNote?.(data, exception);
}

export function publicEventId(storedEventId: string): string {
  return `evt_${storedEventId}`;
}

/**
 * The public event of a stored one. The same arguments give the same JSON text, so that an event published twice is the
 * same bytes.
 * @param after the shipment right after the event
 */
export function publicEvent(
  storedEventId: string,
  event: ShipmentEvent,
  after: Snapshot,
  addresses: PublicAddresses,
): PublishedEvent | undefined {
  const announcement = announcementOf(event);
  if (announcement === undefined) return undefined;
  const { workspace_id, environment, record } = after;
  const changed = exceptionChange(event);
  const exception = changed && after.exceptions.find(({ id }) => id === changed.id);
  const about = { shipment_id: record.id, external_id: record.external_id, shipment_version: record.version };
  const data = { ...about, ...announcement.data(shipmentResource(record, addresses.appUrl), addresses, exception) };
  return {
    id: publicEventId(storedEventId),
    type: announcement.type,
    created_at: event.metadata.recorded_at,
    api_version: NEWEST_API_VERSION,
    environment,
    workspace_id,
    // All of it came out of stored JSON, or is made here of text and numbers.
    data: data as unknown as JsonObject,
  };
}

/** The resource: the record, and the link to it in the web application. */
export function shipmentResource(record: ShipmentRecord, appUrl: string): Shipment {
  return { ...record, url: `${appUrl}/shipments/${record.id}` };
}
