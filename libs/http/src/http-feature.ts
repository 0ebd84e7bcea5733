import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorCode, FieldErrorCode, PublicAddresses, WarningCode } from '@tracking/contracts';
import type { FastifyInstance } from 'fastify';
import type { CodeEntry } from './docs/code-entry.ts';
import type { OperationId } from './operations/operations.ts';

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
export type AddHooks = (server: FastifyInstance, app: INestApplicationContext) => void;

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
