import type { PublishedEvents } from '@tracking/read-models';

/** The public events of a scope, as they are delivered, whether or not an endpoint wanted them. */
export type EventsService = Pick<PublishedEvents, 'list' | 'get' | 'reached' | 'feed'>;
