import type { PlaceDirectory } from '@tracking/contracts';
import type { Identity } from '@tracking/identity';
import type { Clock, EventStore, Logger, Metrics, ObjectStore, Quota } from '@tracking/ports';
import type { ReadModels } from '@tracking/read-models';
import type { HealthReport } from '@tracking/runtime';
import type { ShipmentsService } from '@tracking/shipments';
import type { WebhookOperations } from '@tracking/webhooks';
import type { SettingsOfWorkspaces } from '@tracking/workspace-settings';
import type { EventsService } from './events/events-service.ts';
import type { IdempotencyClaims } from './idempotency/idempotency-claims.ts';
import type { EventStreamSettings } from './events/stream/event-streams.ts';

/** Under which single {@link HttpApiDependencies} are injected: each provider names those that it uses. */
export const IDENTITY = Symbol('identity');
export const SHIPMENTS = Symbol('shipments');
export const READ_MODELS = Symbol('read models');
export const WEBHOOKS = Symbol('webhooks');
export const WORKSPACE_SETTINGS = Symbol('settings of workspaces');
export const EVENTS = Symbol('events');
export const HEAD = Symbol('head of the event store');
export const PLACES = Symbol('places');
export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
export const HEALTH = Symbol('health');
export const SETTINGS = Symbol('settings');

/** Everything the public API needs. Which engines stand behind it, it cannot know. */
export interface HttpApiDependencies {
  readonly shipments: ShipmentsService;
  readonly readModels: Pick<ReadModels, 'queries' | 'progress' | 'allReached'>;
  readonly identity: Identity;
  /** Whose key it is; undefined whatever is wrong with it. @throws Unavailable */
  readonly authenticateKey: Identity['authenticateKey'];
  /** The end of the event store's log. @throws Unavailable */
  readonly head: EventStore['head'];
  readonly quota: Quota;
  readonly idempotency: IdempotencyClaims;
  /** The bytes of documents. */
  readonly objects: Pick<ObjectStore, 'put' | 'get' | 'delete'>;
  readonly places: PlaceDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: () => HealthReport;
  readonly webhooks: Pick<WebhookOperations, 'endpoints' | 'deliveries' | 'replays' | 'deadLetters' | 'stats'>;
  readonly workspaceSettings: Pick<SettingsOfWorkspaces, 'get' | 'change'>;
  readonly events: EventsService;
  readonly settings: HttpApiSettings;
}

export interface HttpApiSettings {
  /** Where the web application is, without a trailing slash; links to shipments begin with it. */
  readonly appUrl: string;
  /** Where this API is reached by its clients, without a trailing slash and without `/v1`. */
  readonly baseUrl: string;
  /** The built web application, which is served beside the API; absent where there is none. */
  readonly webAppFolder?: string;
  readonly rateLimitPerMinute: number;
  /** CIDRs or addresses whose `X-Forwarded-*` headers are believed. */
  readonly trustedProxies: readonly string[];
  /** Signs cursors and consistency tokens; the same on every replica. At least 32 bytes. */
  readonly cursorSecret: Uint8Array;
  /** How long a list waits to show the client's own last write, in milliseconds; 5,000 by default. */
  readonly readYourWritesWaitMs?: number;
  /**
   * How long the answer to a write waits for the read models, in milliseconds: where the client's next request may come
   * to another replica. 0 by default.
   */
  readonly answerWaitMs?: number;
  /** How long a write that may have duplicates waits for the read model to show it, in milliseconds; 200 by default. */
  readonly duplicatesWaitMs?: number;
  /** Bounds and times of event streams, where they are others than usual. */
  readonly eventStreams?: Partial<EventStreamSettings>;
}
