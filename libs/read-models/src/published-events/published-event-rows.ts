import type { Environment, EventType, Timestamp } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import { type EventReference, announcementOf, publicEventId } from '@tracking/shipments-domain';
import type { ReadModel, Row } from '../read-model.ts';

/** One public event: what it takes to find it, and to make it again. Never changes. */
export interface PublishedEventRow extends Row, EventReference {
  readonly workspace_id: string;
  readonly environment: Environment;
  readonly type: EventType;
  readonly created_at: Timestamp;
  /** Of the stored event: the order in which events are listed, which is that of their publication. */
  readonly position: Position;
}

const SCOPE = ['workspace_id', 'environment'];

/** Every event that is published, one row each. */
export const publishedEventsModel: ReadModel<PublishedEventRow> = {
  name: 'published_events',
  version: 1,
  indexes: [
    // With what a list may be narrowed by: events that it leaves out are passed over without a look at their rows.
    { name: 'by_position', fields: [...SCOPE, 'position', 'created_at'] },
    { name: 'by_type', fields: [...SCOPE, 'type', 'position', 'created_at'] },
    { name: 'by_stream', fields: ['stream', 'position'] },
    { name: 'by_time', fields: [...SCOPE, 'created_at', 'position'] },
  ],
  scoped: true,

  reads: () => [],

  apply({ id, stream, position, event, scope }) {
    const announcement = announcementOf(event);
    if (announcement === undefined) return [];
    if (!scope) throw new Error('a stream that does not begin with a shipment');
    return [
      {
        id: publicEventId(id),
        workspace_id: scope.workspace_id,
        environment: scope.environment,
        type: announcement.type,
        created_at: event.metadata.recorded_at,
        stream,
        revision: event.revision,
        position,
      },
    ];
  },
};
