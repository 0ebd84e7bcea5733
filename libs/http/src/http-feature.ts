import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode, FieldErrorCode, PublicAddresses, WarningCode } from '@tracking/contracts';
import type { Clock, Logger, Metrics, Quota } from '@tracking/ports';
import type { HealthReport } from '@tracking/runtime';
import type { FastifyInstance } from 'fastify';
import type { AuthenticateKey, AuthenticateSession } from './authentication/authenticators.ts';
import type { IdempotencyClaims } from './idempotency/idempotency-claims.ts';
import type { OperationId } from './operations/operations.ts';
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
  readonly writeResponseWaitMs?: number;
  /** How long a write that may have duplicates waits for the read model to show it, in milliseconds; 200 by default. */
  readonly duplicatesWaitMs?: number;
}

/** A feature of the API: a Nest module class. An app lists those that it serves. */
export interface HttpFeature<Dependencies> {
  /** The module with its controllers, from the dependencies that it names. */
  readonly with: (dependencies: Dependencies) => DynamicModule;
  readonly docs?: FeatureDocs;
  readonly hooks?: FeatureHooks;
}

/** Everything that the features together depend on. */
export type DependenciesOf<Feature extends HttpFeature<never>> = (
  Feature extends HttpFeature<infer Dependencies> ? (each: Dependencies) => void : never
) extends (all: infer All) => void
  ? All
  : never;

/** Adds hooks to the server, with the providers of the application at hand. */
type AddHooks = (server: FastifyInstance, app: INestApplicationContext) => void;

/** Hooks of a feature, by their place among those of the server. */
export interface FeatureHooks {
  /** After the client is admitted, before the parameters and the body are read. */
  readonly afterAdmission?: AddHooks;
  /** After the body is read, before a request is compared with earlier ones under its `Idempotency-Key`. */
  readonly afterBody?: AddHooks;
  /** Before the server closes, while requests are still open. */
  readonly beforeClose?: AddHooks;
}

/** What a feature adds to the description of the API and to the pages below /docs. */
export interface FeatureDocs {
  /** Meaning of the error codes that only this feature answers. */
  readonly errors?: Readonly<Partial<Record<ErrorCode, CodeEntry>>>;
  /** Meaning of the codes of single faulty fields. */
  readonly fields?: Readonly<Partial<Record<FieldErrorCode, CodeEntry>>>;
  readonly warnings?: Readonly<Partial<Record<WarningCode, CodeEntry>>>;
  /** Codes with which operations refuse by rules of their own, beside those that follow from their declaration. */
  readonly refusals?: Readonly<Partial<Record<OperationId, readonly ErrorCode[]>>>;
  /** Noun and example id of a single resource, by the collection in its path. */
  readonly resources?: Readonly<Record<string, readonly [noun: string, exampleId: string]>>;
  /** Description and example of other path parameters, by name. */
  readonly pathParameters?: Readonly<Record<string, readonly [description: string, example: string]>>;
  /** Examples of whole schemas, by name. */
  readonly samples?: Readonly<Record<string, object | undefined>>;
  /** Example values of fields by name, where neither their schema nor a sample has one. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Schemas that no operation refers to by its types. */
  readonly models?: readonly Type[];
  /** Adds to the description what the decorators cannot. */
  readonly describe?: (document: OpenAPIObject) => void;
  /** Pages below /docs in HTML, by name. */
  readonly pages?: Readonly<Record<string, (addresses: PublicAddresses) => string>>;
}

/** What the documentation says of a code: three sentences or so, in plain words. */
export interface CodeEntry {
  /** What it means. */
  readonly meaning: string;
  /** What was asked for, or sent, and is answered with it. */
  readonly exampleRequest: string;
  /** The message of that answer. */
  readonly message: string;
  /** What the client does about it. */
  readonly action: string;
}

/** In this order. */
export function entry(meaning: string, exampleRequest: string, message: string, action: string): CodeEntry {
  return { meaning, exampleRequest, message, action };
}
