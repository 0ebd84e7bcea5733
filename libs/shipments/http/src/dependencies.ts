import type { Actor, PlaceDirectory } from '@tracking/contracts';
import type { HttpDependencies, HttpSettings } from '@tracking/http';
import type { EventStore } from '@tracking/ports';
import type { PublishedEventReader, ReadModels } from '@tracking/read-models';
import type { ShipmentsService } from '@tracking/shipments';
import type { EventStreamSettings } from './events/event-streams.ts';

/** Injection tokens for the members of {@link ShipmentsHttpDependencies}. */
export const SHIPMENTS_INJECTION_TOKEN = Symbol('shipments');
export const READ_MODELS_INJECTION_TOKEN = Symbol('read models');
export const PLACES_INJECTION_TOKEN = Symbol('places');
export const EVENTS_INJECTION_TOKEN = Symbol('events');
export const ACTOR_NAMES_INJECTION_TOKEN = Symbol('names of actors');

export interface ShipmentsHttpDependencies extends HttpDependencies {
  readonly shipments: ShipmentsService;
  readonly readModels: Pick<ReadModels, 'queries' | 'progress' | 'waitForAllReadModels'>;
  readonly identity: HttpDependencies['identity'] & {
    /** Returns current names of actors by id. @throws UnavailableError */
    namesOf(actors: readonly Actor[]): Promise<ReadonlyMap<string, string | null>>;
  };
  readonly places: PlaceDirectory;
  readonly events: EventsService;
  /** Returns the last position of the event store's log. @throws UnavailableError */
  readonly head: EventStore['head'];
  readonly settings: HttpSettings & {
    /** Limits and times of event streams. An absent setting has its default. */
    readonly eventStreams?: Partial<EventStreamSettings>;
  };
}

/** The public events of a scope, in the form in which webhook endpoints receive them. */
export type EventsService = Pick<
  PublishedEventReader,
  'listEvents' | 'getEvent' | 'waitUntilPositionReached' | 'createPublishedEventFeed'
>;
