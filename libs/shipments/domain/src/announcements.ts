import type { JsonObject, Milestone, PublishedEvent, Shipment, ShipmentRecord } from '@tracking/contracts';
import type { Changes, ShipmentEvent, ShipmentException } from './events.ts';

/** What an event tells the outside. */
export type Announcement =
  | { readonly type: 'shipment.created' }
  | { readonly type: 'shipment.updated'; readonly changes: Changes }
  | { readonly type: 'milestone.recorded'; readonly milestone: Milestone }
  | { readonly type: 'exception.opened' | 'exception.resolved'; readonly exception: ShipmentException };

/** An event's place, from which its public form can be made again. */
export interface EventReference {
  /** Of the public event: `evt_` and the stored event's UUID. */
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
}

/** A shipment as it was right after an event, and whose it is. */
export interface Snapshot {
  readonly workspace_id: string;
  readonly environment: PublishedEvent['environment'];
  readonly record: ShipmentRecord;
}

/**
 * The one public event that a stored event becomes; undefined for one that announces nothing: docs/reference/events.md#types.
 * Everyone who must know asks here, so that what is listed was published.
 */
export function announcementOf({ type, data }: ShipmentEvent): Announcement | undefined {
  switch (type) {
    case 'shipment.created.v1':
      return { type: 'shipment.created' };
    case 'shipment.changed.v1':
      return { type: 'shipment.updated', changes: data.changes };
    case 'milestone.recorded.v1':
      return announceRecorded(data.milestone);
    case 'milestone.corrected.v1':
      // The correction of an actual one stands in the changes of the `shipment.changed.v1` that follows.
      return data.previous.classifier === 'actual' ? undefined : announceRecorded(data.milestone);
    case 'exception.opened.v1':
      return { type: 'exception.opened', exception: data.exception };
    case 'exception.resolved.v1':
      return { type: 'exception.resolved', exception: data.exception };
    case 'shipment.updated.v1':
    case 'shipment.ports_given.v1':
    case 'shipment.cancelled.v1':
    case 'shipment.reopened.v1':
      return undefined;
  }
}

export function publicEventId(storedEventId: string): string {
  return `evt_${storedEventId}`;
}

/**
 * The public event of a stored one. The same arguments give the same JSON text, so that an event published twice is the
 * same bytes.
 * @param after the shipment right after the event
 * @param appUrl where the web application is, without a slash at the end
 */
export function publicEvent(
  storedEventId: string,
  event: ShipmentEvent,
  after: Snapshot,
  appUrl: string,
): PublishedEvent | undefined {
  const announcement = announcementOf(event);
  if (announcement === undefined) return undefined;
  const { workspace_id, environment, record } = after;
  const about = { shipment_id: record.id, external_id: record.external_id, shipment_version: record.version };
  const data = { ...about, ...dataOf(announcement, record, appUrl) };
  return {
    id: publicEventId(storedEventId),
    type: announcement.type,
    created_at: event.metadata.recorded_at,
    environment,
    workspace_id,
    // All of it came out of stored JSON, or is made here of text and numbers.
    data: data as unknown as JsonObject,
  };
}

function dataOf(announcement: Announcement, record: ShipmentRecord, appUrl: string): object {
  switch (announcement.type) {
    case 'shipment.created':
      return { shipment: shipmentResource(record, appUrl) };
    case 'shipment.updated':
      return { shipment: shipmentResource(record, appUrl), changes: announcement.changes };
    case 'milestone.recorded':
      return { milestone: announcement.milestone };
    case 'exception.opened':
    case 'exception.resolved':
      return { exception: announcement.exception };
  }
}

/** The resource: the record, and the link to it in the web application. */
export function shipmentResource(record: ShipmentRecord, appUrl: string): Shipment {
  return { ...record, url: `${appUrl}/shipments/${record.id}` };
}

function announceRecorded(milestone: Milestone): Announcement | undefined {
  return milestone.classifier === 'actual' ? { type: 'milestone.recorded', milestone } : undefined;
}
