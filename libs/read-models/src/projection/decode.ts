import type { StoredEvent } from '@tracking/ports';
import { upcast } from '@tracking/shipments-domain';
import type { EventMetadata, ShipmentEvent } from '@tracking/shipments-domain';

/** The stored event in its newest version. @throws where no version of this code knows its type: the stream is parked */
export function decode(stored: StoredEvent): ShipmentEvent {
  const body = upcast(stored.type, stored.data);
  // Metadata is written by one place, the command handlers, with every event since the first.
  return { ...body, metadata: stored.metadata as unknown as EventMetadata, revision: stored.revision };
}
