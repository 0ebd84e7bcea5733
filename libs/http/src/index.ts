export { Audited, AUDITED_BY_TOKEN, type AuditedByRequest, AuditTrail, reportChange } from './audit/audit-trail.ts';
export { HttpOnlyCookie, readEnvironment, SessionCookie } from './authentication/authenticators.ts';
export { createHttpApi, describeRoutes } from './create-http-api.ts';
export {
  CLOCK_TOKEN,
  type DependenciesOf,
  createCodeEntry,
  type FeatureDocs,
  type FeatureHooks,
  type HttpDependencies,
  type HttpSettings,
  LOGGER_TOKEN,
  SETTINGS_TOKEN,
} from './http-feature.ts';
export { ActorResource, ErrorDetailResource } from './docs/error.resource.ts';
export {
  createEventSchemaName,
  type JsonSchema,
  listOperations,
  toPascalCase,
  createSchemaReference,
} from './docs/described.ts';
export { renderDocumentationPage, renderJsonBlock } from './docs/documentation-page.ts';
export { MISSING_EXAMPLE } from './docs/examples.ts';
export { createErrorBody, ErrorFilter } from './errors/error-response.ts';
export {
  createInvalidRequestError,
  createNotFoundError,
  RequestError,
  createUnauthenticatedError,
} from './errors/request-error.ts';
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
  ACCESS_BY_OPERATION,
  requirePermission,
} from './operations/operations.ts';
export { MayBeUnavailable, Operation, ErrorResponse } from './operations/operation.ts';
export { Cursors, parsePageLimit, readPage, type PageContent, PageDto, readTextKeyedPage } from './paging/paging.ts';
export { formatEtag, computeContentEtag, getExpectedVersions, matchesEtag } from './preconditions/preconditions.ts';
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
  getCurrentRequest,
  CurrentScope,
  CurrentCommandIdentity,
  createRequestId,
  requirePrincipal,
  requestFields,
  getScope,
  type SentRequest,
  SentBody,
} from './server/request.ts';
export { createFastifyAdapter, nestLogger } from './server/fastify-adapter.ts';
export { FILE_BODY_KIND, FORM_BODY_KIND, type FormFile, readBodyPieces, readForm } from './server/streamed-bodies.ts';
export {
  isLargerThan,
  createJsonBodyRule,
  DEFAULT_JSON_BODY_BYTES,
  mergePatchBody,
  ANONYMOUS_JSON_BODY_BYTES,
} from './server/json-body.ts';
export { identifyNetwork, identifySharingNetworks, requireQuota } from './server/quota.ts';
export { RequestObserver } from './server/observation.ts';
export { createResponseHeaders } from './server/response-headers.ts';
export { BYTES_PER_MIB, type RouteBody, formatSize } from './server/route-bodies.ts';
export { RouteRegistry } from './server/routes.ts';
export { TokenSealer } from './server/seal.ts';
export {
  createFieldError,
  type FieldCheck,
  checkId,
  createCanonicalConversion,
  isJsonObject,
  checkPassword,
  DEFAULT_MAX_CHARS,
  checkOneOf,
  selectListed,
  text,
  checkTextUpTo,
} from './validation/checks.ts';
export {
  CalendarDate,
  Cursor,
  CheckedField,
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
  QueryEnum,
  QueryText,
  QueryTime,
  Resource,
  EnumList,
  QueryEnumList,
  Text,
  TextList,
  TextMap,
  TextMapPatch,
  FlexibleTime,
  Timestamp,
  TimeZone,
  Decimal,
  WholeNumber,
} from './validation/fields.ts';
export { CHANGE_SCHEMA, InputType, PageType, RESPONSE_TIME_SCHEMA, WithWarnings } from './validation/mapped-types.ts';
export { NoParameters, readParameters } from './validation/parameters.ts';
export { BodyPipe, createDraftBody, NO_BODY_PIPE, PlainBodyPipe, type ReadBody } from './validation/read-body.ts';
export { type DtoClass, getFields, readDto, findUnknownFields } from './validation/read-dto.ts';
export { parseTimestamp } from './validation/timestamp.ts';
