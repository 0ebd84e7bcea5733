import {
  type ApiVersion,
  EVENT_TYPES,
  type FieldError,
  type JsonObject,
  type JsonValue,
  PAYLOAD_FORMS,
  PAYLOAD_VERSION_CONVERTER,
  type PayloadForm,
  type PayloadVersionConverter,
} from '@tracking/contracts';
import { STANDARD_EVENT_TYPES_WILDCARD, isKnownEventType } from './endpoint.ts';

/** Fields of an endpoint that clients set. */
export interface EditableEndpointFields {
  readonly url: string;
  readonly event_types: readonly string[];
  readonly description: string | null;
  readonly api_version: ApiVersion;
  /** Form of the data of events that are sent to the endpoint. */
  readonly payload: PayloadForm;
  /** Custom headers sent with every delivery. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum number of concurrent attempts. */
  readonly max_concurrency: number;
}

export const DEFAULT_MAX_CONCURRENCY = 16;
const MAX_ENDPOINT_CONCURRENCY = 100;
const MAX_URL_LENGTH = 1_000;
const MAX_DESCRIPTION_LENGTH = 1_000;

/** Default fields of a new endpoint. Its payloads are pinned to the newest version. */
export const DEFAULT_ENDPOINT_FIELDS = {
  description: null,
  payload: 'full',
  headers: {},
  max_concurrency: DEFAULT_MAX_CONCURRENCY,
} as const satisfies Partial<EditableEndpointFields>;

export interface CheckedEndpointFields {
  /** Normalized fields of the request. Use them only if `errors` is empty. */
  readonly fields: Partial<EditableEndpointFields>;
  /** Validation errors, one for each invalid field. */
  readonly errors: readonly FieldError[];
}

/**
 * Checks the fields of a request to create an endpoint (`url` and `event_types` are then required) or to change one.
 * Unknown fields are ignored.
 * @param refuses returns the reason why deliveries to this URL would be refused before name resolution; undefined if
 *   the URL is allowed
 */
export function checkEndpointFields(
  input: JsonObject,
  required: boolean,
  refuses: (url: string) => string | undefined,
  versions: PayloadVersionConverter = PAYLOAD_VERSION_CONVERTER,
): CheckedEndpointFields {
  const errors: FieldError[] = [];
  const fail: ReportFieldError = (param, code, message) => void errors.push({ param, code, message });
  const fields: { -readonly [K in keyof EditableEndpointFields]?: EditableEndpointFields[K] } = {};
  const checkField = <K extends keyof EditableEndpointFields>(
    name: K,
    check: (value: JsonValue) => EditableEndpointFields[K] | undefined,
  ) => {
    const value = input[name];
    if (value === undefined) return;
    const checked = check(value);
    if (checked !== undefined) fields[name] = checked;
  };
  checkField('url', (value) => checkEndpointUrl(value, refuses, fail));
  checkField('event_types', (value) => checkEventTypes(value, fail));
  checkField('description', (value) => checkEndpointDescription(value, fail));
  checkField('api_version', (value) => checkApiVersionOfEndpoint(value, versions, fail));
  checkField('payload', (value) => parseEndpointPayloadForm(value, fail));
  checkField('headers', (value) => checkEndpointHeaders(value, fail));
  checkField('max_concurrency', (value) => checkMaxConcurrency(value, fail));
  for (const name of ['url', 'event_types'] as const) {
    if (required && input[name] === undefined) fail(name, 'required', `${name} is required.`);
  }
  return { fields, errors };
}

function checkEndpointUrl(
  url: JsonValue,
  refuses: (url: string) => string | undefined,
  fail: ReportFieldError,
): string | undefined {
  if (typeof url !== 'string') return void fail('url', 'invalid_type', 'url must be a string.');
  if (url.length > MAX_URL_LENGTH) {
    return void fail('url', 'too_long', `url must not be longer than ${MAX_URL_LENGTH} characters.`);
  }
  if (!isStorableText(url)) return void fail('url', 'invalid_value', `url ${INVALID_TEXT_MESSAGE}`);
  // A URL parser drops or encodes white space, so the URL in use would differ from the one shown.
  if (/\s/.test(url)) return void fail('url', 'invalid_value', 'url must not contain white space.');
  const reason = refuses(url);
  return reason === undefined ? url : void fail('url', 'invalid_value', reason);
}

function checkEventTypes(value: JsonValue, fail: ReportFieldError): readonly string[] | undefined {
  if (!Array.isArray(value))
    return void fail('event_types', 'invalid_type', 'event_types must be an array of strings.');
  if (value.length === 0) return void fail('event_types', 'required', 'event_types must not be empty.');
  if (value.length > 100)
    return void fail('event_types', 'too_many', 'event_types must not have more than 100 entries.');
  const known = (value as readonly JsonValue[]).map((type, index) => {
    if (typeof type === 'string' && (type === STANDARD_EVENT_TYPES_WILDCARD || isKnownEventType(type))) return type;
    const allowed = [STANDARD_EVENT_TYPES_WILDCARD, ...EVENT_TYPES].join(', ');
    return void fail(`event_types[${index}]`, 'invalid_value', `Unknown event type. Allowed: ${allowed}.`);
  });
  const types = known.filter((type) => type !== undefined);
  return types.length === value.length ? [...new Set(types)] : undefined;
}

function checkEndpointDescription(value: JsonValue, fail: ReportFieldError): string | null | undefined {
  if (value === null) return null;
  if (typeof value !== 'string')
    return void fail('description', 'invalid_type', 'description must be a string or null.');
  if (!isStorableText(value)) return void fail('description', 'invalid_value', `description ${INVALID_TEXT_MESSAGE}`);
  if (value.length <= MAX_DESCRIPTION_LENGTH) return value;
  const message = `description must not be longer than ${MAX_DESCRIPTION_LENGTH} characters.`;
  return void fail('description', 'too_long', message);
}

const INVALID_TEXT_MESSAGE = 'must not contain NUL characters or unpaired surrogates.';

/** Some storage engines reject NUL characters and unpaired surrogates. */
function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function checkApiVersionOfEndpoint(
  value: JsonValue,
  versions: PayloadVersionConverter,
  fail: ReportFieldError,
): ApiVersion | undefined {
  if (value === null) return versions.newest;
  const message = `api_version must be one of ${versions.names.join(', ')}.`;
  return versions.findApiVersion(value) ?? void fail('api_version', 'invalid_value', message);
}

function parseEndpointPayloadForm(value: JsonValue, fail: ReportFieldError): PayloadForm | undefined {
  if (value === null) return DEFAULT_ENDPOINT_FIELDS.payload;
  const message = `payload must be one of ${PAYLOAD_FORMS.join(', ')}.`;
  return PAYLOAD_FORMS.find((form) => form === value) ?? void fail('payload', 'invalid_value', message);
}

function checkMaxConcurrency(value: JsonValue, fail: ReportFieldError): number | undefined {
  if (value === null) return DEFAULT_MAX_CONCURRENCY;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_ENDPOINT_CONCURRENCY)
    return value;
  const message = `max_concurrency must be a whole number from 1 to ${MAX_ENDPOINT_CONCURRENCY}.`;
  return void fail('max_concurrency', 'invalid_value', message);
}

/**
 * Placeholder shown instead of a header's value. If a change request contains the placeholder, the stored value is
 * kept.
 */
export const HEADER_VALUE_MASK = '********';

const MAX_ENDPOINT_HEADERS = 20;
const MAX_HEADER_VALUE_LENGTH = 1_000;
/** A header name: a token (RFC 9110, section 5.6.2). */
const HEADER_NAME_PATTERN = /^[!#$%&'*+\-.^_`|~0-9a-z]{1,100}$/;
/**
 * A header value: visible ASCII, with spaces and tabs inside only. Excludes line breaks and characters that transports
 * alter.
 */
const HEADER_VALUE_PATTERN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** Reserved headers: those that every delivery sets, and those that control the connection. */
const RESERVED_HEADERS = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'traceparent',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
]);

/** Records the error of an invalid field. */
type ReportFieldError = (param: string, code: FieldError['code'], message: string) => void;

/**
 * Checks the custom headers of an endpoint. Reserved headers are refused. Returns the headers with names in lower case.
 */
function checkEndpointHeaders(value: JsonValue, fail: ReportFieldError): Readonly<Record<string, string>> | undefined {
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    return void fail('headers', 'invalid_type', 'headers must be an object of strings.');
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_ENDPOINT_HEADERS) {
    return void fail('headers', 'too_many', `headers must not have more than ${MAX_ENDPOINT_HEADERS} entries.`);
  }
  const headers = new Map<string, string>();
  for (const [given, content] of entries) {
    const param = `headers.${given.slice(0, 100)}`;
    const name = given.toLowerCase();
    if (!HEADER_NAME_PATTERN.test(name)) fail(param, 'invalid_value', 'This is not a valid header name.');
    else if (isReservedHeader(name)) fail(param, 'invalid_value', 'This header is reserved by the service.');
    else if (headers.has(name))
      fail(param, 'invalid_value', 'This HTTP header appears twice. Case does not distinguish headers.');
    else if (isHeaderValue(content, param, fail)) headers.set(name, content);
  }
  return headers.size === entries.length ? Object.fromEntries(headers) : undefined;
}

function isHeaderValue(content: JsonValue, param: string, fail: ReportFieldError): content is string {
  if (typeof content !== 'string') fail(param, 'invalid_type', 'The header value must be a string.');
  else if (content.length > MAX_HEADER_VALUE_LENGTH) {
    fail(param, 'too_long', `The header value must not be longer than ${MAX_HEADER_VALUE_LENGTH} characters.`);
  } else if (!HEADER_VALUE_PATTERN.test(content)) {
    fail(
      param,
      'invalid_value',
      'The header value must consist of visible ASCII characters, without leading or trailing spaces.',
    );
  } else return true;
  return false;
}

function isReservedHeader(name: string): boolean {
  return RESERVED_HEADERS.has(name) || name.startsWith('service-') || name.startsWith('proxy-');
}
