import type { EventType, Scope, Timestamp } from '@tracking/contracts';
import { type EventReference, announcementOf, publicEventId } from '@tracking/shipments-domain';
import type { Place } from '@tracking/subscriptions';
import type { ReadModel, ReadModelRow } from '../read-model.ts';
import { SCOPE_FIELDS, scopeOf } from '../scope.ts';

/** One public event: what it takes to find it, and to make it again. Never changes. */
export interface PublishedEventRow extends ReadModelRow, EventReference, Scope {
  readonly type: EventType;
  readonly created_at: Timestamp;
  /**
   * The order in which events are listed: the position of the stored event, or a place further on if it could not be
   * handled when its turn came.
   */
  readonly position: Place;
  /**
   * Set for an event that may stand long after events of later times: it came from another store, or could not be handled
   * when its turn came.
   */
  readonly imported?: true;
}

/** Every event that is published, one row each. */
export const publishedEventsModel: ReadModel<PublishedEventRow, 'published_events'> = {
  name: 'published_events',
  version: 2,
  indexes: [
    // With what a list may be narrowed by: events that it leaves out are passed over without a look at their rows.
    { name: 'by_position', fields: [...SCOPE_FIELDS, 'position', 'created_at'] },
    { name: 'by_type', fields: [...SCOPE_FIELDS, 'type', 'position', 'created_at'] },
    { name: 'by_stream', fields: ['stream', 'position'] },
    { name: 'by_time', fields: [...SCOPE_FIELDS, 'created_at', 'position'] },
    { name: 'imported', fields: [...SCOPE_FIELDS, 'imported', 'position'], only: 'imported' },
    // Of all scopes: for whoever follows the log.
    { name: 'in_order', fields: ['position'] },
  ],
  scoped: true,
  retainedFrom: ({ created_at }) => created_at,

  apply({ id, stream, position, place, event, scope }) {
    const announcement = announcementOf(event);
    if (announcement === undefined) return [];
    if (!scope) throw new Error('a stream that does not begin with a shipment');
    return [
      {
        id: publicEventId(id),
        ...scopeOf(scope),
        type: announcement.type,
        created_at: event.metadata.recorded_at,
        stream,
        revision: event.revision,
        position: place ?? position,
        ...((event.metadata.imported === true || place !== undefined) && { imported: true as const }),
      },
    ];
  },
};
