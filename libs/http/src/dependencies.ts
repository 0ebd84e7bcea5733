import type { Clock, Logger, Metrics, Quota } from '@tracking/ports';
import type { HealthReport } from '@tracking/runtime';
import type { AuthenticateKey } from './authentication/key-authenticator.ts';
import type { AuthenticateSession } from './authentication/session-authenticator.ts';
import type { IdempotencyClaims } from './idempotency/idempotency-claims.ts';
import type { ReadModelProgress } from './read-your-writes/read-your-writes.ts';

/** Injection tokens of the dependencies that every feature may use. */
export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
export const HEALTH = Symbol('health');
export const SETTINGS = Symbol('settings');

/** Dependencies of the server itself; each feature names its own beside them. */
export interface HttpDependencies {
  readonly identity: { readonly authenticateSession: AuthenticateSession };
  readonly authenticateKey: AuthenticateKey;
  readonly readModels: ReadModelProgress<never>;
  readonly quota: Quota;
  readonly idempotency: IdempotencyClaims;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: () => HealthReport;
  readonly settings: HttpSettings;
}

export interface HttpSettings {
  /** URL of the web application, without a trailing slash; links to shipments begin with it. */
  readonly appUrl: string;
  /** URL of this API for its clients, without a trailing slash and without `/v1`. */
  readonly baseUrl: string;
  /** The built web application, which is served beside the API; absent where there is none. */
  readonly webAppFolder?: string;
  readonly rateLimitPerMinute: number;
  /** CIDRs or addresses whose `X-Forwarded-*` headers are trusted. */
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
}
