import type { PublishedEvents } from '@tracking/read-models';

/** Under which an {@link EventsService} is injected. */
export const EVENTS = Symbol('EventsService');

/** The public events of a scope, as they are delivered, whether or not an endpoint wanted them. */
export type EventsService = Pick<PublishedEvents, 'list' | 'get' | 'reached'>;
