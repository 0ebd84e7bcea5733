import type { JsonObject } from '@tracking/contracts';
import type { EventMetadata } from './events/event-data.ts';
import type { ShipmentEvent } from './events/stored-events.ts';
import { upcast } from './upcast.ts';

/** An event of a shipment's stream as a store holds it. */
interface Stored {
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
  readonly revision: number;
}

/**
 * A stored event in its newest version. Every reader of a stream passes through here.
 * @throws UnknownEventType
 */
export function toShipmentEvent({ type, data, metadata, revision }: Stored): ShipmentEvent {
  // Metadata is written by one place, the command handlers, with every event since the first.
  return { ...upcast(type, data), metadata: metadata as unknown as EventMetadata, revision };
}
