/** Types of error responses. Each error code belongs to exactly one type. */
export type ErrorType =
  'invalid_request' | 'authentication' | 'permission' | 'not_found' | 'conflict' | 'rate_limit' | 'internal';

/**
 * Every stable error code with its type. Clients depend on the codes, so a code is never renamed or reused. Codes of
 * single fields (in `details`) are in {@link FieldErrorCode}.
 */
export const ERROR_CODES = {
  validation_failed: 'invalid_request',
  unknown_parameter: 'invalid_request',
  malformed_json: 'invalid_request',
  body_too_large: 'invalid_request',
  storage_quota_exceeded: 'invalid_request',
  unsupported_media_type: 'invalid_request',
  invalid_cursor: 'invalid_request',
  external_id_immutable: 'invalid_request',
  reference_required: 'invalid_request',
  limit_exceeded: 'invalid_request',
  size_mismatch: 'invalid_request',
  checksum_mismatch: 'invalid_request',
  unsupported_document_type: 'invalid_request',
  empty_file: 'invalid_request',
  malformed_multipart: 'invalid_request',
  range_not_satisfiable: 'invalid_request',
  invalid_consistency_token: 'invalid_request',
  method_not_allowed: 'invalid_request',
  method_not_implemented: 'invalid_request',
  request_timeout: 'invalid_request',
  expectation_failed: 'invalid_request',
  headers_too_large: 'invalid_request',
  missing_api_key: 'authentication',
  invalid_api_key: 'authentication',
  invalid_credentials: 'authentication',
  invalid_session: 'authentication',
  permission_denied: 'permission',
  invalid_upload_url: 'permission',
  csrf: 'permission',
  not_found: 'not_found',
  no_open_shipment: 'not_found',
  ambiguous_shipment: 'conflict',
  already_delivered: 'conflict',
  cancelled_by_milestone: 'conflict',
  milestone_retracted: 'conflict',
  milestone_exists: 'conflict',
  exception_resolved: 'conflict',
  document_not_pending: 'conflict',
  document_not_uploaded: 'conflict',
  document_damaged: 'conflict',
  document_reviewed: 'conflict',
  document_replaced: 'conflict',
  upload_missing: 'conflict',
  workspace_exists: 'conflict',
  user_exists: 'conflict',
  user_not_active: 'conflict',
  last_admin: 'conflict',
  key_not_active: 'conflict',
  too_many_keys: 'conflict',
  idempotency_key_reused: 'conflict',
  idempotency_in_progress: 'conflict',
  endpoint_not_verified: 'conflict',
  endpoint_not_enabled: 'conflict',
  secret_unreadable: 'conflict',
  delivery_succeeded: 'conflict',
  replay_running: 'conflict',
  replay_completed: 'conflict',
  precondition_failed: 'conflict',
  rate_limited: 'rate_limit',
  too_many_streams: 'rate_limit',
  storage_full: 'internal',
  busy: 'internal',
  unavailable: 'internal',
  read_model_behind: 'internal',
  internal_error: 'internal',
} as const satisfies Record<string, ErrorType>;
export type ErrorCode = keyof typeof ERROR_CODES;

/** Stable codes of invalid fields. */
export const FIELD_ERROR_CODES = [
  'required',
  'invalid_type',
  'invalid_value',
  'too_long',
  'too_many',
  'unknown_field',
  'read_only_field',
  'unknown_parameter',
  'invalid_container_number',
  'invalid_scac',
  'invalid_port',
  'invalid_timestamp',
  'invalid_date',
  'timestamp_in_future',
  'timestamp_out_of_range',
  'unknown_timezone',
  'unknown_code',
  'unknown_container',
  'unknown_milestone',
  'unknown_document',
  'source_not_allowed',
  'external_id_immutable',
  'reference_required',
  'limit_exceeded',
  'invalid_cursor',
] as const;
export type FieldErrorCode = (typeof FIELD_ERROR_CODES)[number];

/** One invalid field. `param` is a path such as `shipper.name`, `container_numbers[1]`, `legs[0].etd`. */
export interface FieldError {
  readonly param: string;
  readonly code: FieldErrorCode;
  readonly message: string;
}

/** A remark about accepted data that the client should check. Only responses to writes contain warnings. */
export interface Warning {
  readonly code: WarningCode;
  readonly param: string | null;
  readonly message: string;
}
/** Stable codes of warnings. */
export const WARNING_CODES = [
  'unknown_field',
  'read_only_field',
  'header_dropped',
  'invalid_container_number',
  'unknown_port',
  'eta_before_etd',
  'possible_duplicate',
  'code_unusual_for_mode',
  'shipment_cancelled',
  'overridden_by_user',
  'outdated_report',
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

/** The body of every error response. */
export interface ErrorBody {
  readonly error: {
    readonly type: ErrorType;
    readonly code: ErrorCode;
    readonly message: string;
    readonly param: string | null;
    readonly details: readonly FieldError[];
    readonly request_id: string;
  };
}

/**
 * An error by which a business rule refuses a command. The command wrote nothing. Each transport maps the code to a
 * status.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: readonly FieldError[] = [],
  ) {
    super(message);
  }
}

/**
 * Resource versions that a command accepts: a list of versions; `any`, if the resource must exist; or `none`, if it
 * must not exist yet.
 */
export type ExpectedVersions = readonly number[] | 'any' | 'none';

/** Error for a resource that does not have the version that the client requires. The command wrote nothing. */
export class PreconditionFailedError extends DomainError {
  /** @param version current version of the resource; null if it does not exist */
  constructor(readonly version: number | null) {
    super(
      'precondition_failed',
      version === null
        ? 'The resource does not exist yet, so no If-Match can match.'
        : `The resource is now at version ${version}. Read it again before you change it.`,
    );
  }
}

/**
 * Checks that a resource has an expected version. Call it with the state that the command changes, so that no other
 * change can happen in between. Do not call it for a command that was already executed.
 * @param version version of the resource; null if the resource does not exist
 * @throws PreconditionFailedError
 */
export function requireMatchingVersion(version: number | null, expected: ExpectedVersions | undefined): void {
  if (!matchesExpectedVersion(version, expected)) throw new PreconditionFailedError(version);
}

function matchesExpectedVersion(version: number | null, expected: ExpectedVersions | undefined): boolean {
  if (expected === undefined) return true;
  if (expected === 'none') return version === null;
  return version !== null && (expected === 'any' || expected.includes(version));
}
