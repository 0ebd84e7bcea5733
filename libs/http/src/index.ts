export { AuditTrail, tellAudit } from './audit/audit-trail.ts';
export type { AuditedChange } from './audit/audited-changes.ts';
export { Audited, AUDITED_BY, type AuditedByRequest } from './audit/audited.ts';
export { environmentOf } from './authentication/session-authenticator.ts';
export { SessionCookie } from './authentication/session-cookie.ts';
export { createHttpApi, describeRoutes } from './create-http-api.ts';
export { CLOCK, type HttpDependencies, type HttpSettings, LOGGER, SETTINGS } from './dependencies.ts';
export { ActorResource } from './docs/actor.resource.ts';
export { entry } from './docs/code-entry.ts';
export { eventSchemaName, type JsonSchema, pascalCase, schemaRef } from './docs/described.ts';
export { documentationPage, jsonBlock } from './docs/documentation-page.ts';
export { ErrorDetailResource } from './docs/error.resource.ts';
export { NO_VALUE } from './docs/examples.ts';
export { errorBody } from './errors/error-answer.ts';
export { ErrorFilter } from './errors/error-filter.ts';
export { invalidRequest, notFound, RequestError, unauthenticated } from './errors/request-error.ts';
export type { DependenciesOf, FeatureDocs, FeatureHooks, HttpFeature } from './http-feature.ts';
export { CLAIMS, type IdempotencyClaim } from './idempotency/idempotency-claim.ts';
export { IdempotencyClaims, type IdempotencyOptions } from './idempotency/idempotency-claims.ts';
export { type Access, requirePermission } from './operations/access.ts';
export { deprecationHeaders, type Deprecations } from './operations/deprecations.ts';
export { MayBeUnavailable, Operation, refusal } from './operations/operation.ts';
export { type OperationId, OPERATIONS } from './operations/operations.ts';
export { Cursors } from './paging/cursors.ts';
export { PageDto } from './paging/page.dto.ts';
export { page, type PageContent, recordPage } from './paging/page.ts';
export { etagOf, etagOfContent, names } from './preconditions/entity-tags.ts';
export { ifMatchOf } from './preconditions/preconditions.ts';
export { ReadYourWrites } from './read-your-writes/read-your-writes.ts';
export { Admission } from './server/admission.ts';
export { roomForPage } from './server/answers-under-way.ts';
export { type CommandIdentity, commandIdentityOf } from './server/command-identity.ts';
export { createFastifyAdapter } from './server/fastify-adapter.ts';
export { type FormFile, readForm } from './server/form.ts';
export { json, JSON_LIMIT, mergePatch, STRANGERS_BODY_LIMIT } from './server/json-body.ts';
export { isLargerThan } from './server/json-size.ts';
export { nestLogger } from './server/nest-logger.ts';
export { networkOf } from './server/network.ts';
export { Observation } from './server/observation.ts';
export { Command, CurrentScope, Identified, IfMatch, type Sent, SentBody } from './server/request-decorators.ts';
export {
  type CommandContext,
  commandContext,
  currentRequest,
  newRequestId,
  principalOf,
  requestFields,
  scopeOf,
} from './server/request.ts';
export { responseHeaders } from './server/response-headers.ts';
export type { RouteBody } from './server/route-bodies.ts';
export { Routes } from './server/routes.ts';
export { Sealer } from './server/seal.ts';
export { MIB, sizeOf } from './server/sizes.ts';
export { FILE_KIND, FORM_KIND, incoming } from './server/streamed-bodies.ts';
export { withinQuota } from './server/within-quota.ts';
export {
  fault,
  type FieldCheck,
  idOf,
  inLowerCase,
  isObject,
  MAX_TEXT,
  oneOf,
  text,
  textUpTo,
} from './validation/checks.ts';
export {
  CalendarDate,
  Cursor,
  field,
  type FieldOptions,
  type FieldVariant,
  Flag,
  Forwarded,
  Id,
  Limit,
  Nested,
  NestedList,
  OneOf,
  Password,
  QueryId,
  QueryList,
  QueryOneOf,
  QueryText,
  QueryTime,
  Resource,
  SomeListed,
  SomeOf,
  Text,
  TextList,
  TextMap,
  TextMapPatch,
  Timestamp,
  TimeZone,
  WholeNumber,
} from './validation/fields.ts';
export { FROM_TO, InputType, PageType, TIME, WithWarnings } from './validation/mapped-types.ts';
export { NoParameters, readParameters } from './validation/parameters.ts';
export { BodyPipe, draftBody, NO_BODY, OptionalBodyPipe, type ReadBody } from './validation/read-body.ts';
export { type DtoClass, fieldsOf, readDto, unknownFields } from './validation/read-dto.ts';
export { parseTimestamp } from './validation/timestamp.ts';
