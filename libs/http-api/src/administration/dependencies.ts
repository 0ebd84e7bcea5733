import type { Identity } from '@tracking/identity';
import type { Clock, Logger } from '@tracking/ports';
import type { ReadModels } from '@tracking/read-models';
import type { EventTransfer } from '@tracking/shipments';
import type { WebhookOperations } from '@tracking/webhooks';
import type { EventsService } from '../events/events-service.ts';

export interface AdministrationDependencies {
  readonly identity: Pick<Identity, 'workspaces' | 'keys'>;
  readonly readModels: Pick<ReadModels, 'list' | 'rebuild' | 'parked' | 'retryParked'>;
  /** Without it there are no routes of events. */
  readonly events?: EventTransfer;
  /** Without it there are no routes of published events. */
  readonly publishedEvents?: Pick<EventsService, 'list'>;
  /** Without it there are no routes of deliveries. */
  readonly webhooks?: Pick<WebhookOperations, 'deliveries' | 'parked'>;
  readonly logger: Logger;
  /** The system's, unless told. */
  readonly clock?: Clock;
}

/** Injects {@link AdministrationDependencies}. */
export const ADMINISTRATION = Symbol('administration dependencies');
