import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode, FieldError, FieldErrorCode, PublicAddresses, WarningCode } from '@tracking/contracts';
import type { Clock, Logger, Metrics, RequestQuota } from '@tracking/ports';
import type { ConnectionLimits, HealthReport } from '@tracking/runtime';
import type { FastifyInstance } from 'fastify';
import type { AuthenticateKey, AuthenticateSession } from './authentication/authenticators.ts';
import type { IdempotencyClaims } from './idempotency/idempotency-claims.ts';
import type { OperationId } from './operations/operations.ts';
import type { ReadModelProgress } from './read-your-writes/read-your-writes.ts';

/** Injection token of the clock, which every feature may use. */
export const CLOCK_INJECTION_TOKEN = Symbol('clock');
/** Injection token of the logger, which every feature may use. */
export const LOGGER_INJECTION_TOKEN = Symbol('logger');
/** Injection token of the health report, which every feature may use. */
export const HEALTH_INJECTION_TOKEN = Symbol('health');
/** Injection token of the HTTP settings, which every feature may use. */
export const SETTINGS_INJECTION_TOKEN = Symbol('settings');

/** Dependencies of the server itself. Each feature declares additional dependencies. */
export interface HttpDependencies {
  readonly identity: { readonly authenticateSession: AuthenticateSession };
  readonly authenticateKey: AuthenticateKey;
  readonly readModels: ReadModelProgress<never>;
  readonly quota: RequestQuota;
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
  /** Folder of the built web application, which is served beside the API; absent if there is none. */
  readonly webAppFolder?: string;
  /** Limit of one key or session. */
  readonly rateLimitPerMinute: number;
  /**
   * Limit of all keys and sessions of one user or service account, in multiples of `rateLimitPerMinute`; 4 by default.
   */
  readonly rateLimitOwnerFactor?: number;
  /** CIDRs or addresses whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies: readonly string[];
  /** Bounds of client connections; see `CONNECTION_LIMITS` for the defaults. */
  readonly connections?: Partial<ConnectionLimits>;
  /**
   * Milliseconds for which open connections may finish when the API closes; 0 by default. See
   * `drainConnectionsWhenClosing`.
   */
  readonly drainMs?: number;
  /** Secret that signs cursors and consistency tokens; the same on every replica. At least 32 bytes. */
  readonly cursorSecret: Uint8Array;
  /** Time that a list waits to include the client's own last write, in milliseconds; 5,000 by default. */
  readonly readYourWritesWaitMs?: number;
  /**
   * Time that the response to a write waits for the read models, in milliseconds, for clients whose next request may
   * reach another replica. 0 by default.
   */
  readonly writeResponseWaitMs?: number;
  /** Time that a write waits for the read model before the check for duplicates, in milliseconds; 200 by default. */
  readonly duplicatesWaitMs?: number;
}

/** A feature of the API: a Nest module class. An application lists the features that it serves. */
export interface HttpFeature<Dependencies> {
  /** Returns the module with its controllers, given the dependencies that it names. */
  readonly createModuleWithDependencies: (dependencies: Dependencies) => DynamicModule;
  readonly docs?: FeatureDocs;
  readonly hooks?: FeatureHooks;
}

/** Intersection of the dependencies of all given features. */
export type DependenciesOf<Feature extends HttpFeature<never>> = (
  Feature extends HttpFeature<infer Dependencies> ? (each: Dependencies) => void : never
) extends (all: infer All) => void
  ? All
  : never;

/** Adds hooks to the server, using the providers of the application. */
type AddHooks = (server: FastifyInstance, app: INestApplicationContext) => void;

/** Hooks of a feature, by their position among those of the server. */
export interface FeatureHooks {
  /** Hooks that run after the client is admitted and before parameters and body are read. */
  readonly afterAdmission?: AddHooks;
  /** Hooks that run after the body is read and before the `Idempotency-Key` is checked. */
  readonly afterBody?: AddHooks;
  /** Hook that runs before the server closes, while requests are still open. */
  readonly beforeClose?: AddHooks;
}

/** Additions of a feature to the OpenAPI description and to the pages below /docs. */
export interface FeatureDocs {
  /** Documentation of the error codes that only this feature returns. */
  readonly errors?: Readonly<Partial<Record<ErrorCode, ErrorOrWarningCodeDocumentation>>>;
  /** Documentation of the codes of single invalid fields. */
  readonly fields?: Readonly<Partial<Record<FieldErrorCode, ErrorOrWarningCodeDocumentation>>>;
  readonly warnings?: Readonly<Partial<Record<WarningCode, ErrorOrWarningCodeDocumentation>>>;
  /** Error codes of rules that an operation's declaration does not show. */
  readonly refusals?: Readonly<Partial<Record<OperationId, readonly ErrorCode[]>>>;
  /** Noun and example id of a single resource, by the collection in its path. */
  readonly resources?: Readonly<Record<string, readonly [noun: string, exampleId: string]>>;
  /** Description and example of other path parameters, by name. */
  readonly pathParameters?: Readonly<Record<string, readonly [description: string, example: string]>>;
  /** Examples of whole schemas, by name. */
  readonly samples?: Readonly<Record<string, object | undefined>>;
  /** Example values of fields by name, for fields without an example in their schema or in a sample. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Schemas that no operation refers to by its types. */
  readonly models?: readonly Type[];
  /** Adds content to the OpenAPI description that decorators cannot express. */
  readonly describe?: (document: OpenAPIObject) => void;
  /** HTML pages below /docs, by name. */
  readonly pages?: Readonly<Record<string, (addresses: PublicAddresses) => string>>;
}

/** Documentation of a code: about three sentences in plain words. */
export interface ErrorOrWarningCodeDocumentation {
  /** Meaning of the code. */
  readonly meaning: string;
  /** Example of a request that gets this code. */
  readonly exampleRequest: string;
  /** Error message that `exampleRequest` gets. */
  readonly message: string;
  /** Action for the client. */
  readonly action: string;
  /** Field that the example names, for the code of a field or a warning. */
  readonly param?: string;
  /** Invalid fields of the example, for the code of an error. */
  readonly details?: readonly FieldError[];
}

/** Creates the documentation of a code from its four texts. */
export function createErrorCodeDocs(
  meaning: string,
  exampleRequest: string,
  message: string,
  action: string,
): ErrorOrWarningCodeDocumentation {
  return { meaning, exampleRequest, message, action };
}
