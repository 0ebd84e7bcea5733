export { Audited, AUDITED_BY, type AuditedByRequest, AuditTrail, reportChange } from './audit/audit-trail.ts';
export { HttpOnlyCookie, readEnvironment, SessionCookie } from './authentication/authenticators.ts';
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
export { renderDocumentationPage, renderJsonBlock } from './docs/documentation-page.ts';
export { MISSING_EXAMPLE } from './docs/examples.ts';
export { createErrorBody, ErrorFilter } from './errors/error-response.ts';
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
  createDeprecationHeaders,
  type Deprecations,
  type OperationId,
  OPERATIONS,
  requirePermission,
} from './operations/operations.ts';
export { MayBeUnavailable, Operation, refusal } from './operations/operation.ts';
export { Cursors, parsePageLimit, page, type PageContent, PageDto, readPage } from './paging/paging.ts';
export { formatEtag, computeContentEtag, getExpectedVersions, matchesTag } from './preconditions/preconditions.ts';
export { ReadYourWrites } from './read-your-writes/read-your-writes.ts';
export { WriteResponder, type WriteResponse, type WrittenResource } from './read-your-writes/write-responder.ts';
export { Admission, describeCredentials } from './authentication/admission.ts';
export { waitForResponseBudget } from './server/response-budget.ts';
export {
  CurrentCommand,
  type CommandContext,
  createCommandContext,
  type CommandIdentity,
  getCommandIdentity,
  currentRequest,
  CurrentScope,
  CurrentCommandIdentity,
  createRequestId,
  requirePrincipal,
  requestFields,
  scopeOf,
  type SentRequest,
  SentBody,
} from './server/request.ts';
export { createFastifyAdapter, nestLogger } from './server/fastify-adapter.ts';
export { FILE_BODY_KIND, FORM_BODY_KIND, type FormFile, readBodyPieces, readForm } from './server/streamed-bodies.ts';
export {
  isLargerThan,
  jsonBody,
  DEFAULT_JSON_BODY_BYTES,
  mergePatchBody,
  ANONYMOUS_JSON_BODY_BYTES,
} from './server/json-body.ts';
export { identifyNetwork, identifySharingNetworks, requireQuota } from './server/quota.ts';
export { RequestObserver } from './server/observation.ts';
export { createResponseHeaders } from './server/response-headers.ts';
export { MIB, type RouteBody, formatSize } from './server/route-bodies.ts';
export { RouteRegistry } from './server/routes.ts';
export { TokenSealer } from './server/seal.ts';
export {
  fault,
  type FieldCheck,
  idOf,
  createLowerCaseConversion,
  isObject,
  DEFAULT_MAX_CHARS,
  checkOneOf,
  selectListed,
  text,
  checkTextUpTo,
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
export { CHANGE_SCHEMA, InputType, PageType, TIME, WithWarnings } from './validation/mapped-types.ts';
export { NoParameters, readParameters } from './validation/parameters.ts';
export {
  BodyPipe,
  draftBody,
  NO_BODY,
  OptionalBodyPipe,
  PlainBodyPipe,
  type ReadBody,
} from './validation/read-body.ts';
export { type DtoClass, getFields, readDto, findUnknownFields } from './validation/read-dto.ts';
export { parseTimestamp } from './validation/timestamp.ts';
