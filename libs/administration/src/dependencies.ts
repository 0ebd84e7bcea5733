import type { IdempotencyClaims } from '@tracking/http';
import type { IdentityServices } from '@tracking/identity';
import type { Clock, Leases, Logger } from '@tracking/ports';
import type { ReadModels } from '@tracking/read-models';
import type { EventTransferOperations, PartitionCountManager } from '@tracking/shipments';
import type { EventsService } from '@tracking/shipments-http';
import type { WebhookOperations } from '@tracking/webhooks';
import type { WorkspaceSettingsStore } from '@tracking/workspace-settings';

export interface AdministrationDependencies {
  readonly identity: Pick<IdentityServices, 'workspaces' | 'serviceAccounts' | 'keys' | 'users' | 'auditLog'>;
  /** Claims of requests with an `Idempotency-Key`. The public API may share them: operators own separate keys. */
  readonly idempotency: IdempotencyClaims;
  /** URL of the web application, without a trailing slash; one-time links begin with it. */
  readonly appUrl: string;
  /** Leases of all processes; without them, the route for them does not exist. */
  readonly leases?: Pick<Leases, 'listHeldLeases'>;
  /** Numbers of partitions of subscribers; without them, the routes for them do not exist. */
  readonly partitions?: Pick<
    PartitionCountManager,
    'subscribers' | 'listPartitionCountPerSubscriber' | 'requestPartitionCountChange'
  >;
  readonly readModels: Pick<
    ReadModels,
    'listReadModelStates' | 'rebuild' | 'listParkedShipments' | 'retryParkedStream'
  >;
  /** Import and export of events; without it, the routes for them do not exist. */
  readonly events?: EventTransferOperations;
  /** Requests checks of the shipments of workspaces after an import. */
  readonly workspaceSettings?: { readonly rechecks: Pick<WorkspaceSettingsStore['rechecks'], 'requestRecheck'> };
  /** Published events; without them, the routes for them do not exist. */
  readonly publishedEvents?: Pick<EventsService, 'listEvents'>;
  /** Webhooks; without them, the routes of deliveries do not exist. */
  readonly webhooks?: Pick<WebhookOperations, 'endpoints' | 'deliveries' | 'deadLetters' | 'replays' | 'parked'>;
  /** Ends a process that runs for one command only. Without it, the route for this does not exist. */
  readonly release?: () => void;
  readonly logger: Logger;
  /** Clock; the system's clock by default. */
  readonly clock?: Clock;
}

/** Injection tokens of single {@link AdministrationDependencies}. */
export const IDENTITY_INJECTION_TOKEN = Symbol('identity');
export const APP_URL_INJECTION_TOKEN = Symbol('address of the web application');
export const LEASES_INJECTION_TOKEN = Symbol('leases');
export const PARTITIONS_INJECTION_TOKEN = Symbol('partitions');
export const READ_MODELS_INJECTION_TOKEN = Symbol('read models');
export const EVENT_EXPORT_AND_IMPORT_INJECTION_TOKEN = Symbol('event transfer');
export const RECHECKS_INJECTION_TOKEN = Symbol('re-checks');
export const PUBLISHED_EVENTS_INJECTION_TOKEN = Symbol('published events');
export const WEBHOOKS_INJECTION_TOKEN = Symbol('webhooks');
export const FOLDER_RELEASE_INJECTION_TOKEN = Symbol('release of the data folder');
