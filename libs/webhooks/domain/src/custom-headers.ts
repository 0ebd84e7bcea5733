import type { FieldError, JsonValue } from '@tracking/contracts';

/** Shown in place of a header's value. Sent back in a change, it keeps the value that is stored. */
export const MASK = '********';

const MAX_HEADERS = 20;
const MAX_VALUE_LENGTH = 1_000;
/** A token of RFC 9110, section 5.6.2. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]{1,100}$/;
/** Visible ASCII, inner spaces and tabs: nothing that could end the line or that transports change. */
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** What deliveries carry themselves, and what belongs to the connection. */
const OURS = new Set([
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

/** Notes a faulty field. */
export type Fail = (param: string, code: FieldError['code'], message: string) => void;

/** Headers that an endpoint's owner wants with every delivery; never over ours. Names come out in lower case. */
export function checkHeaders(value: JsonValue, fail: Fail): Readonly<Record<string, string>> | undefined {
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    return void fail('headers', 'invalid_type', 'headers must be an object of strings.');
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_HEADERS) {
    return void fail('headers', 'too_many', `headers must not have more than ${MAX_HEADERS} entries.`);
  }
  const headers = new Map<string, string>();
  for (const [given, content] of entries) {
    const param = `headers.${given.slice(0, 100)}`;
    const name = given.toLowerCase();
    if (!NAME.test(name)) fail(param, 'invalid_value', 'This is not the name of a header.');
    else if (isOurs(name)) fail(param, 'invalid_value', 'This header is set by the service.');
    else if (headers.has(name)) fail(param, 'invalid_value', 'This header is given twice.');
    else if (isValue(content, param, fail)) headers.set(name, content);
  }
  return headers.size === entries.length ? Object.fromEntries(headers) : undefined;
}

function isValue(content: JsonValue, param: string, fail: Fail): content is string {
  if (typeof content !== 'string') fail(param, 'invalid_type', 'The value of a header must be a string.');
  else if (content.length > MAX_VALUE_LENGTH) {
    fail(param, 'too_long', `The value of a header must not be longer than ${MAX_VALUE_LENGTH} characters.`);
  } else if (!VALUE.test(content)) {
    fail(param, 'invalid_value', 'The value of a header must be visible ASCII, without spaces at its ends.');
  } else return true;
  return false;
}

function isOurs(name: string): boolean {
  return OURS.has(name) || name.startsWith('service-') || name.startsWith('proxy-');
}
