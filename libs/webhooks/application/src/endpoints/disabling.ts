import { DomainError, type Timestamp } from '@tracking/contracts';
import type { Clock, EventStore, Logger } from '@tracking/ports';
import { BEGINNING_OF_LOG, type Moment, disabled } from '@tracking/webhooks-domain';
import { type EndpointDocument, hasSameUrl } from './endpoint-document.ts';
import type { EndpointStore } from './endpoint-store.ts';

export interface DisablingParts {
  readonly store: EndpointStore;
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * What answered 410 has been given up by its owner; unless its URL was changed, or it was deleted, in the meantime. Answers
 * the endpoint as it is then.
 * @throws Unavailable, where it is still to be done
 */
export async function disableGone(
  { store, eventStore, clock, logger }: DisablingParts,
  gone: EndpointDocument,
): Promise<EndpointDocument> {
  const { id, workspace_id } = gone;
  const at = clock().toISOString();
  let isDisabling = false;
  try {
    const endpoint = await store.update(id, at, async (now) => {
      isDisabling = hasSameUrl(now, gone) && now.status !== 'disabled';
      return isDisabling ? disabled(now, 'gone', await logMoment(eventStore, at)) : now;
    });
    const about = { endpoint: id, workspace: workspace_id };
    if (isDisabling) logger.info(about, 'webhooks: an endpoint answered 410 and is disabled');
    return endpoint;
  } catch (error) {
    const deleted = error instanceof DomainError ? await store.get(id) : undefined;
    if (deleted === undefined) throw error;
    return deleted;
  }
}

/**
 * How far the log has come, for an endpoint that is about to be enabled or disabled. To be asked anew for each try to write
 * it: an older head would leave out what was acknowledged since.
 * @throws Unavailable
 */
export async function logMoment(eventStore: Pick<EventStore, 'head'>, at: Timestamp): Promise<Moment> {
  return { at, head: (await eventStore.head()) ?? BEGINNING_OF_LOG };
}
