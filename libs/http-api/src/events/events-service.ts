import type { EventEnvelope, EventType, Timestamp } from '@tracking/contracts';
import type { Position } from '@tracking/ports';
import type { Listed, Scope, SortValues } from '@tracking/read-models';

/** Under which an {@link EventsService} is injected. */
export const EVENTS = Symbol('EventsService');

export interface EventFilter {
  /** Any of these; at least one. */
  readonly type?: readonly EventType[];
  readonly shipment_id?: string;
  /** Bounds of `created_at`, inclusive. */
  readonly since?: Timestamp;
  readonly until?: Timestamp;
  /** Id of an event: only those that follow it in the list. */
  readonly after?: string;
}

export interface EventListQuery {
  readonly filter: EventFilter;
  readonly limit: number;
  /** `next` of the page before, under the same filter. */
  readonly after?: SortValues | undefined;
}

/** The public events of a scope, as they are delivered, whether or not an endpoint wanted them. */
export interface EventsService {
  /** Oldest first. @throws Unavailable */
  list(scope: Scope, query: EventListQuery): Promise<Listed<EventEnvelope>>;
  get(scope: Scope, id: string): Promise<EventEnvelope | undefined>;
  /** Whether the events of everything stored up to the position are there, now or within the time. */
  reached(position: Position, timeoutMs: number): Promise<boolean>;
}
