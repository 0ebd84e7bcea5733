export {
  RecordInAuditLog,
  AUDITED_BY_TOKEN,
  type AuditedByRequest,
  AuditTrail,
  auditChange,
} from './audit/audit-trail.ts';
export { HttpOnlyCookie, readEnvironmentHeader, SessionCookie } from './authentication/authenticators.ts';
export { createHttpApi, describeRoutes } from './create-http-api.ts';
export {
  CLOCK_TOKEN,
  type DependenciesOf,
  createErrorCodeDocs,
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
export { MISSING_EXAMPLE_PLACEHOLDER } from './docs/examples.ts';
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
export { registerIdempotencyHooks } from './idempotency/safe-retries.ts';
export {
  type Access,
  createDeprecationHeaders,
  type Deprecations,
  type OperationId,
  ACCESS_BY_OPERATION,
  requirePermission,
} from './operations/operations.ts';
export { MayBeUnavailable, PublicRoute, ErrorResponse } from './operations/operation.ts';
export {
  Cursors,
  parsePageLimit,
  readListPage,
  type PageContent,
  PageDto,
  readListPageByTextPosition,
} from './paging/paging.ts';
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
  ScopeOfRequest,
  CurrentCommandIdentity,
  createRequestId,
  requirePrincipal,
  createRequestLogFields,
  getRequestScope,
  type SentRequest,
  RequestBody,
} from './server/request.ts';
export { createFastifyAdapter, nestLogger } from './server/fastify-adapter.ts';
export { FILE_BODY_KIND, FORM_BODY_KIND, type FormFile, readBodyChunks, readForm } from './server/streamed-bodies.ts';
export {
  isLargerAsJsonThan,
  createJsonBodyRule,
  DEFAULT_JSON_BODY_BYTES,
  mergePatchBody,
  ANONYMOUS_JSON_BODY_BYTES,
} from './server/json-body.ts';
export { toClientNetworkPrefix, listClientNetworkPrefixes, requireRequestQuota } from './server/quota.ts';
export { RequestObserver } from './server/observation.ts';
export { createResponseHeaders } from './server/response-headers.ts';
export { BYTES_PER_MIB, type RouteBody, formatSize } from './server/route-bodies.ts';
export { RouteRegistry } from './server/routes.ts';
export { TokenSealer } from './server/seal.ts';
export {
  createFieldError,
  type FieldCheck,
  checkId,
  createEnumConversion,
  isJsonObject,
  checkPassword,
  DEFAULT_MAX_CHARS,
  checkEnumValue,
  selectValuesInList,
  checkText,
  checkTextUpToLength,
} from './validation/checks.ts';
export {
  CalendarDateField,
  PageCursorField,
  CheckedField,
  type FieldOptions,
  type FieldVariant,
  BooleanQueryField,
  UncheckedField,
  IdField,
  PageLimitField,
  ObjectField,
  ObjectListField,
  EnumField,
  PasswordField,
  IdQueryField,
  ListQueryField,
  EnumQueryField,
  TextQueryField,
  TimeQueryField,
  Resource,
  EnumListField,
  EnumListQueryField,
  TextField,
  TextListField,
  TextMapField,
  TextMapPatchField,
  FlexibleTimeField,
  TimestampField,
  TimeZoneField,
  DecimalField,
  WholeNumberField,
} from './validation/fields.ts';
export {
  CHANGE_SCHEMA,
  DeriveRequestClass,
  DerivePageClass,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from './validation/mapped-types.ts';
export { NoParameters, readParameters } from './validation/parameters.ts';
export { BodyPipe, parseDraftBody, NO_BODY_PIPE, PlainBodyPipe, type ReadBody } from './validation/read-body.ts';
export { type DtoClass, getDeclaredFields, readAndValidateObject, findUnknownFields } from './validation/read-dto.ts';
export { parseTimestamp } from './validation/timestamp.ts';
