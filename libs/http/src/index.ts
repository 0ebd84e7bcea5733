export { Audited, AUDITED_BY, type AuditedByRequest, AuditTrail, reportChange } from './audit/audit-trail.ts';
export { environmentOf, HttpOnlyCookie, SessionCookie } from './authentication/authenticators.ts';
export { createHttpApi, describeRoutes } from './create-http-api.ts';
export {
  CLOCK,
  type DependenciesOf,
  entry,
  type FeatureDocs,
  type FeatureHooks,
  type HttpDependencies,
  type HttpSettings,
  LOGGER,
  SETTINGS,
} from './http-feature.ts';
export { ActorResource, ErrorDetailResource } from './docs/error.resource.ts';
export { eventSchemaName, type JsonSchema, pascalCase, schemaRef } from './docs/described.ts';
export { documentationPage, jsonBlock } from './docs/documentation-page.ts';
export { MISSING_EXAMPLE } from './docs/examples.ts';
export { errorBody, ErrorFilter } from './errors/error-response.ts';
export { invalidRequest, notFound, RequestError, unauthenticated } from './errors/request-error.ts';
export {
  CLAIMS_COLLECTION,
  type IdempotencyClaim,
  IdempotencyClaims,
  type IdempotencyOptions,
} from './idempotency/idempotency-claims.ts';
export { makeRetriesSafe } from './idempotency/safe-retries.ts';
export {
  type Access,
  deprecationHeaders,
  type Deprecations,
  type OperationId,
  OPERATIONS,
  requirePermission,
} from './operations/operations.ts';
export { MayBeUnavailable, Operation, refusal } from './operations/operation.ts';
export { Cursors, limitOf, page, type PageContent, PageDto, recordPage } from './paging/paging.ts';
export { etagOf, etagOfContent, expectedVersionsOf, matchesTag } from './preconditions/preconditions.ts';
export { ReadYourWrites } from './read-your-writes/read-your-writes.ts';
export { WriteResponder, type WriteResponse, type WrittenResource } from './read-your-writes/write-responder.ts';
export { Admission, credentialsOf } from './authentication/admission.ts';
export { waitForRoom } from './server/response-budget.ts';
export {
  Command,
  type CommandContext,
  commandContext,
  type CommandIdentity,
  commandIdentityOf,
  currentRequest,
  CurrentScope,
  Identified,
  newRequestId,
  principalOf,
  requestFields,
  scopeOf,
  type Sent,
  SentBody,
} from './server/request.ts';
export { createFastifyAdapter, nestLogger } from './server/fastify-adapter.ts';
export { FILE_KIND, FORM_KIND, type FormFile, incoming, readForm } from './server/streamed-bodies.ts';
export { isLargerThan, json, JSON_LIMIT, mergePatch, ANONYMOUS_BODY_LIMIT } from './server/json-body.ts';
export { networkOf, requireQuota } from './server/quota.ts';
export { Observation } from './server/observation.ts';
export { responseHeaders } from './server/response-headers.ts';
export { MIB, type RouteBody, sizeOf } from './server/route-bodies.ts';
export { Routes } from './server/routes.ts';
export { Sealer } from './server/seal.ts';
export {
  fault,
  type FieldCheck,
  idOf,
  inLowerCase,
  isObject,
  MAX_TEXT,
  oneOf,
  selectedOf,
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
  EnumList,
  QueryEnumList,
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
export {
  BodyPipe,
  draftBody,
  NO_BODY,
  OptionalBodyPipe,
  PlainBodyPipe,
  type ReadBody,
} from './validation/read-body.ts';
export { type DtoClass, fieldsOf, readDto, unknownFields } from './validation/read-dto.ts';
export { parseTimestamp } from './validation/timestamp.ts';
