import type { PublicAddresses, PublishedEvent } from '@tracking/contracts';
import type { EventStore, Position } from '@tracking/ports';
import type { EventReference } from '@tracking/shipments-domain';
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
  /** Public events, made again from their streams, in the order asked for; those that cannot be made are left out. */
  makeEvents(request: { readonly references: readonly EventReference[] }): Promise<readonly PublishedEvent[]>;
}

/** @param addresses the same as the publisher's */
export function eventOperations(eventStore: EventStore, addresses: PublicAddresses): EventOperations {
  const makeEvents = eventMaker({ eventStore, addresses });
  return {
    ...eventTransfer(eventStore),
    head: () => eventStore.head(),
    makeEvents: ({ references }) => makeEvents(references),
  };
}
