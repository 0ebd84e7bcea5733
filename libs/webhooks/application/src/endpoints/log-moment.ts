import type { Timestamp } from '@tracking/contracts';
import type { EventStore } from '@tracking/ports';
import { BEGINNING_OF_LOG, type Moment } from '@tracking/webhooks-domain';

/**
 * How far the log has come, for an endpoint that is about to be enabled or disabled. To be asked anew for each try to write
 * it: an older head would leave out what was acknowledged since.
 * @throws Unavailable
 */
export async function logMoment(eventStore: Pick<EventStore, 'head'>, at: Timestamp): Promise<Moment> {
  return { at, head: (await eventStore.head()) ?? BEGINNING_OF_LOG };
}
