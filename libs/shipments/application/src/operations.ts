import type { PublicAddresses, PublishedEvent } from '@tracking/contracts';
import type { EventStore, Position } from '@tracking/ports';
import type { EventReference, MadeEvents, MakeEvents } from '@tracking/shipments-domain';
import { type EventTransfer, eventTransfer } from './event-transfer.ts';
import { eventMaker } from './publisher/event-maker.ts';
import type { ShipmentsService } from './shipments-service.ts';

/**
 * What other processes ask of shipments: each operation has one request and one answer, JSON by their types, and an rpc
 * in shipments.proto.
 */
export interface ShipmentOperations {
  readonly shipments: ShipmentsService;
  readonly events: EventOperations;
}

/** For those who have no event store. All methods throw `Unavailable`. */
export interface EventOperations extends EventTransfer {
  /** The end of the log; undefined while it is empty. */
  head(): Promise<Position | undefined>;
  /**
   * Makes public events again, as {@link MakeEvents} does. Callers of the version before send no `max_bytes` and get
   * the events alone, however large; so do all callers from a service of that version.
   */
  makeEvents(request: {
    readonly references: readonly EventReference[];
    readonly max_bytes?: number;
  }): Promise<MadeEvents | readonly PublishedEvent[]>;
}

/** Makes public events in the process that has the event store. */
export function makeEventsBy({ makeEvents }: Pick<EventOperations, 'makeEvents'>): MakeEvents {
  return async (references, max_bytes) => {
    const made = await makeEvents({ references, max_bytes });
    return 'covered' in made ? made : { events: made, covered: references.length };
  };
}

/** @param addresses the same as the publisher's */
export function eventOperations(eventStore: EventStore, addresses: PublicAddresses): EventOperations {
  const makeEvents = eventMaker({ eventStore, addresses });
  return {
    ...eventTransfer(eventStore),
    head: () => eventStore.head(),
    makeEvents: async ({ references, max_bytes }) => {
      if (max_bytes !== undefined) return makeEvents(references, max_bytes);
      return (await makeEvents(references, Infinity)).events;
    },
  };
}
