export {
  RecordInAuditLog,
  AUDITED_ACTOR_INJECTION_TOKEN,
  type AuditedByRequest,
  AuditTrail,
  reportChangeForAudit,
} from './audit/audit-trail.ts';
export { HttpOnlyCookie, readEnvironmentOfRequest, SessionCookie } from './authentication/authenticators.ts';
export { createHttpApi, describeRoutesInOpenApi } from './create-http-api.ts';
export {
  CLOCK_INJECTION_TOKEN,
  type DependenciesOf,
  createErrorCodeDocs,
  type FeatureDocs,
  type FeatureHooks,
  type HttpDependencies,
  type HttpSettings,
  LOGGER_INJECTION_TOKEN,
  SETTINGS_INJECTION_TOKEN,
} from './http-feature.ts';
export { ActorResource, ErrorDetailResource } from './docs/error.resource.ts';
export {
  createEventSchemaName,
  type JsonSchema,
  listOpenApiOperations,
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
  IDEMPOTENCY_CLAIMS_COLLECTION_SPEC,
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
export {
  DeclareServiceUnavailableOpenApiResponse,
  DeclareApiOperation,
  DeclareErrorResponse,
} from './operations/operation.ts';
export {
  PageCursorCodec,
  parsePageLimit,
  readListPage,
  type ItemsAndNextPosition,
  PageDto,
  readListPageByTextPosition,
} from './paging/paging.ts';
export { formatEtag, computeContentEtag, getExpectedVersions, matchesEtag } from './preconditions/preconditions.ts';
export { ReadYourWrites } from './read-your-writes/read-your-writes.ts';
export { WriteResponder, type WriteResponse, type WrittenResource } from './read-your-writes/write-responder.ts';
export { RequestAdmission, describeCredentialKindOfActor } from './authentication/admission.ts';
export { waitForResponseBudget } from './server/response-budget.ts';
export {
  InjectCommandContext,
  type CommandContext,
  createCommandContext,
  type CommandIdAndTime,
  getCommandIdentity,
  getCurrentRequestOrigin,
  InjectWorkspaceScope,
  InjectCommandIdentity,
  createRequestId,
  requirePrincipal,
  createRequestLogFields,
  getRequestScope,
  type RequestBodyToCheck,
  InjectRequestBody,
} from './server/request.ts';
export { createFastifyAdapter, createNestLogger } from './server/fastify-adapter.ts';
export { FILE_BODY_KIND, FORM_BODY_KIND, type FormFile, readBodyChunks, readForm } from './server/streamed-bodies.ts';
export {
  isLargerAsJsonThan,
  createJsonBodyRule,
  DEFAULT_JSON_BODY_BYTES,
  createMergePatchBodyRule,
  ANONYMOUS_JSON_BODY_BYTES,
} from './server/json-body.ts';
export { toClientNetworkPrefix, listClientNetworkPrefixes, requireRequestQuota } from './server/quota.ts';
export { RequestLogAndMetrics } from './server/observation.ts';
export { createResponseHeadersByRouteKind } from './server/response-headers.ts';
export { BYTES_PER_MIB, type AcceptedRouteBody, formatSize } from './server/route-bodies.ts';
export { RouteRegistry } from './server/routes.ts';
export { TokenSigner } from './server/seal.ts';
export {
  createFieldError,
  type FieldCheck,
  createIdCheck,
  createCaseInsensitiveEnumParser,
  isJsonObject,
  checkPasswordFieldIsNonEmptyString,
  DEFAULT_MAX_CHARS,
  checkEnumValue,
  selectKnownValuesOfCommaSeparatedList,
  checkText,
  createMaxTextLengthCheck,
} from './validation/checks.ts';
export {
  CalendarDateProperty,
  PageCursorProperty,
  CheckedProperty,
  type FieldDecoratorOptions,
  type OpenApiFieldOverrides,
  BooleanQueryProperty,
  PropertyCheckedByFeature,
  IdProperty,
  PageLimitProperty,
  ObjectProperty,
  ObjectListProperty,
  EnumProperty,
  PasswordProperty,
  IdQueryProperty,
  ListQueryProperty,
  EnumQueryProperty,
  TextQueryProperty,
  TimeQueryProperty,
  ResponseSchemaBase,
  EnumListProperty,
  EnumListQueryProperty,
  TextProperty,
  TextListProperty,
  TextMapProperty,
  TextMapPatchProperty,
  FlexibleTimeProperty,
  TimestampProperty,
  TimeZoneProperty,
  DecimalProperty,
  WholeNumberProperty,
} from './validation/fields.ts';
export {
  CHANGE_SCHEMA,
  DeriveRequestClassFromResource,
  createPageResourceClass,
  RESPONSE_TIME_SCHEMA,
  WithWarnings,
} from './validation/mapped-types.ts';
export { NoParameters, readAndValidateQueryParameters } from './validation/parameters.ts';
export {
  RequestBodyValidationPipe,
  parseBodyAndCollectFaults,
  BODY_IGNORING_PIPE,
  DeclaredBodyFieldsAsJsonPipe,
  type RequestBodyWithWarnings,
} from './validation/read-body.ts';
export {
  type DtoClass,
  getFieldDeclarations,
  readAndValidateObject,
  findUnknownFields,
} from './validation/read-dto.ts';
export { parseTimestamp } from './validation/timestamp.ts';
