import type { ApiCaller, BodyOf, EndpointVerification, QueryOf, WebhookEvent } from './api.ts';
import type { PostOptions, ReadOptions, RequestOptions, WriteOptions } from './call.ts';

const WEBHOOK_TIMESTAMP_TOLERANCE_SECONDS = 300;
const SECRET_PREFIX = 'whsec_';

export class WebhookEndpoints {
  constructor(private readonly api: ApiCaller) {}

  /** Creates an endpoint. Only this response contains the signing `secret`; reads omit it. */
  create(endpoint: BodyOf<'createWebhookEndpoint'>, options?: PostOptions) {
    return this.api.call('createWebhookEndpoint', { body: endpoint }, options);
  }

  list(query: QueryOf<'listWebhookEndpoints'> = {}, options?: RequestOptions) {
    return this.api.list('listWebhookEndpoints', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getWebhookEndpoint', { path: { id } }, options);
  }

  /** Results of the deliveries to an endpoint by hour, for the last day by default. */
  stats(id: string, query: QueryOf<'getWebhookEndpointStats'> = {}, options?: RequestOptions) {
    return this.api.call('getWebhookEndpointStats', { path: { id }, query }, options);
  }

  patch(id: string, changes: BodyOf<'changeWebhookEndpoint'>, options?: WriteOptions) {
    return this.api.call('changeWebhookEndpoint', { path: { id }, body: changes }, options);
  }

  /** Deletes an endpoint and discards its pending deliveries. */
  delete(id: string, options?: WriteOptions) {
    return this.api.call(
      'deleteWebhookEndpoint',
      { path: { id }, resultIfDeleted: { id, deleted: true, warnings: [] } },
      options,
    );
  }

  /** Sends a challenge to the endpoint. `last_verification` holds the result. */
  verify(id: string, options?: PostOptions) {
    return this.api.call('verifyWebhookEndpoint', { path: { id } }, options);
  }

  /** Starts the delivery of live events. */
  enable(id: string, options?: PostOptions) {
    return this.api.call('enableWebhookEndpoint', { path: { id } }, options);
  }

  disable(id: string, options?: PostOptions) {
    return this.api.call('disableWebhookEndpoint', { path: { id } }, options);
  }

  /**
   * Returns a new signing `secret`. Deliveries are also signed with the old secret for `expires_in_seconds`, one day by
   * default.
   */
  rotateSecret(id: string, rotation: BodyOf<'rotateWebhookSecret'> = {}, options?: PostOptions) {
    return this.api.call('rotateWebhookSecret', { path: { id }, body: rotation }, options);
  }

  /** Returns the valid signing secrets. Only admins may call this method, and the audit log records each call. */
  revealSecret(id: string, options?: PostOptions) {
    return this.api.call('revealWebhookSecret', { path: { id } }, options);
  }

  /** Sends the endpoint an example event of the type. */
  test(id: string, type: BodyOf<'testWebhookEndpoint'>['type'], options?: PostOptions) {
    return this.api.call('testWebhookEndpoint', { path: { id }, body: { type } }, options);
  }
}

export class WebhookDeliveries {
  constructor(private readonly api: ApiCaller) {}

  list(query: QueryOf<'listWebhookDeliveries'> = {}, options?: RequestOptions) {
    return this.api.list('listWebhookDeliveries', { query }, options);
  }

  /** Returns a delivery with its payload and attempts. */
  get(id: string, options?: ReadOptions) {
    return this.api.call('getWebhookDelivery', { path: { id } }, options);
  }

  /** Attempts a delivery once more, as soon as possible. */
  retry(id: string, options?: PostOptions) {
    return this.api.call('retryWebhookDelivery', { path: { id } }, options);
  }

  discard(id: string, options?: PostOptions) {
    return this.api.call('discardWebhookDelivery', { path: { id } }, options);
  }
}

/**
 * Bulk operations on deliveries that failed permanently. `webhookDeliveries.list({ status: 'dead_lettered' })` lists
 * them.
 */
export class WebhookDeadLetters {
  constructor(private readonly api: ApiCaller) {}

  /** Counts dead letters by reason, endpoint and event type. */
  summary(query: QueryOf<'summarizeWebhookDeadLetters'> = {}, options?: RequestOptions) {
    return this.api.call('summarizeWebhookDeadLetters', { query }, options);
  }

  /** Delivers dead letters again, with one replay for each endpoint. */
  replay(which: BodyOf<'replayWebhookDeadLetters'> = {}, options?: PostOptions) {
    return this.api.call('replayWebhookDeadLetters', { body: which }, options);
  }

  /** Discards dead letters. */
  discard(which: BodyOf<'discardWebhookDeadLetters'> = {}, options?: PostOptions) {
    return this.api.call('discardWebhookDeadLetters', { body: which }, options);
  }
}

/** Replays, which send failed or missed events to an endpoint again. */
export class WebhookReplays {
  constructor(private readonly api: ApiCaller) {}

  /** Starts a replay of the events that match the filter. `get` returns the progress. */
  create(endpointId: string, filter: BodyOf<'createWebhookReplay'> = {}, options?: PostOptions) {
    return this.api.call('createWebhookReplay', { path: { id: endpointId }, body: filter }, options);
  }

  list(query: QueryOf<'listWebhookReplays'> = {}, options?: RequestOptions) {
    return this.api.list('listWebhookReplays', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getWebhookReplay', { path: { id } }, options);
  }

  /** Stops a replay from starting deliveries. Deliveries that it started continue. */
  cancel(id: string, options?: PostOptions) {
    return this.api.call('cancelWebhookReplay', { path: { id } }, options);
  }

  /** Continues a canceled replay. */
  resume(id: string, options?: PostOptions) {
    return this.api.call('resumeWebhookReplay', { path: { id } }, options);
  }
}

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookToVerify {
  /** Request body as received, byte for byte. A body that was parsed and serialized again has another signature. */
  readonly rawBody: string | Uint8Array | ArrayBuffer;
  /** Request headers from fetch or Node. Names can have any case. */
  readonly headers: Headers | HeaderRecord;
  /** Signing secret of the endpoint, `whsec_…`. Pass several secrets during a rotation. */
  readonly secret: string | readonly string[];
  /** Maximum age of the signature in seconds, including clock differences; 300 by default. */
  readonly tolerance?: number;
  /** Current time. Set it only in tests. */
  readonly now?: Date;
}

/**
 * Verifies that the service sent a delivery recently, and returns its event. Checks `Service-Signature`; if this header
 * is missing, checks the headers of Standard Webhooks. The comparison takes constant time. Events are delivered at
 * least once, so ignore IDs that you have processed.
 * @throws WebhookFormError if the request is not a delivery, WebhookSignatureError for a wrong signature,
 * WebhookTimestampError if it was signed too long ago
 */
export async function verifyWebhook(webhook: WebhookToVerify): Promise<WebhookEvent | EndpointVerification> {
  const body = convertBodyToBytes(webhook.rawBody);
  const header = createWebhookHeaderReader(webhook.headers);
  const secrets = [webhook.secret].flat().filter((secret) => typeof secret === 'string' && secret !== '');
  // Anyone could forge signatures with an empty secret.
  if (secrets.length === 0) throw new TypeError('verifyWebhook requires the secret of the endpoint.');
  const scheme = SIGNATURE_SCHEMES.find(({ names }) => names.some((name) => header(name) !== undefined));
  if (scheme === undefined) throw new WebhookFormError('The request has no signature.');
  const signed = scheme.read(header);
  if (!(await hasValidSignature(signed, body, secrets))) {
    throw new WebhookSignatureError('The signature does not match any secret of the endpoint.');
  }
  const seconds = (webhook.now ?? new Date()).getTime() / 1_000;
  if (Math.abs(seconds - signed.timestamp) > (webhook.tolerance ?? WEBHOOK_TIMESTAMP_TOLERANCE_SECONDS)) {
    throw new WebhookTimestampError(
      `The request was signed at ${signed.timestamp}, which differs too much from the current time.`,
    );
  }
  return parseEvent(body);
}

async function hasValidSignature(
  signed: ParsedWebhookSignature,
  body: Uint8Array,
  secrets: readonly string[],
): Promise<boolean> {
  const prefix = new TextEncoder().encode(signed.prefix);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  const results: boolean[] = [];
  for (const secret of secrets) {
    const bytes = signed.deriveKey(secret);
    if (bytes === undefined) continue;
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of signed.signatures) {
      results.push(await crypto.subtle.verify('HMAC', key, signature, content));
    }
  }
  return results.includes(true);
}

function convertBodyToBytes(rawBody: unknown): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (ArrayBuffer.isView(rawBody)) return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer);
  throw new TypeError('rawBody must be the received text or bytes, not a parsed value.');
}

function createWebhookHeaderReader(headers: WebhookToVerify['headers']): (name: string) => string | undefined {
  const isHeaders = (given: typeof headers): given is Headers => typeof given['forEach'] === 'function';
  const entries = isHeaders(headers) ? [...headers] : Object.entries(headers);
  const byName = new Map(entries.map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = byName.get(name);
    return value === undefined ? undefined : [value].flat().join(', ');
  };
}

function parseEvent(body: Uint8Array): WebhookEvent | EndpointVerification {
  let event: Partial<WebhookEvent>;
  try {
    event = Object(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch (cause) {
    throw new WebhookFormError('The body is not JSON.', { cause });
  }
  if (typeof event.type !== 'string' || typeof event.data !== 'object' || event.data === null) {
    throw new WebhookFormError('The body is not an event.');
  }
  return event as WebhookEvent;
}

/** The signature fields of a request. */
interface ParsedWebhookSignature {
  /** Time of the signature in Unix seconds. */
  readonly timestamp: number;
  /** Text before the body in the signed content. */
  readonly prefix: string;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
  /** Returns the signing key of a secret; undefined if the text is not a secret. */
  readonly deriveKey: (secret: string) => Uint8Array<ArrayBuffer> | undefined;
}

interface SignatureScheme {
  /** Header names of the scheme, in lower case. A request with any of these headers uses the scheme. */
  readonly names: readonly string[];
  /** Reads the signature fields of a request. @throws WebhookFormError */
  readonly read: (header: (name: string) => string | undefined) => ParsedWebhookSignature;
}

/**
 * Format of `Service-Signature`: `t=<unix seconds>,v1=<hex>`, with several `v1` during a rotation. The key is the whole
 * secret.
 */
const serviceSignatureScheme: SignatureScheme = {
  names: ['service-signature'],
  read: (header) => {
    const parts = (header('service-signature') ?? '').split(',').map((part) => part.trim().split('='));
    const t = parts.find(([name]) => name === 't')?.[1] ?? '';
    const signatures = parts.flatMap(([name, value = '']) => (name === 'v1' ? (fromHex(value) ?? []) : []));
    return {
      ...parseSignature(t, signatures),
      prefix: `${t}.`,
      deriveKey: (secret) => new TextEncoder().encode(secret),
    };
  },
};

/**
 * Scheme of Standard Webhooks: `webhook-signature: v1,<base64>`, with several separated by spaces during a rotation.
 * The key is the decoded secret without its prefix.
 */
const standardScheme: SignatureScheme = {
  names: ['webhook-signature', 'webhook-id', 'webhook-timestamp'],
  read: (header) => {
    const t = header('webhook-timestamp') ?? '';
    const parts = (header('webhook-signature') ?? '').split(/\s+/).map((part) => part.split(','));
    const signatures = parts.flatMap(([name, value = '']) => (name === 'v1' ? (fromBase64(value) ?? []) : []));
    return {
      ...parseSignature(t, signatures),
      prefix: `${header('webhook-id') ?? ''}.${t}.`,
      deriveKey: (secret) => fromBase64(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret),
    };
  },
};

const SIGNATURE_SCHEMES: readonly SignatureScheme[] = [serviceSignatureScheme, standardScheme];

function parseSignature(
  t: string,
  signatures: ParsedWebhookSignature['signatures'],
): Pick<ParsedWebhookSignature, 'timestamp' | 'signatures'> {
  if (!/^\d{1,12}$/.test(t)) throw new WebhookFormError('The signature has no timestamp.');
  if (signatures.length === 0) throw new WebhookFormError('The signature contains no valid value.');
  return { timestamp: Number(t), signatures };
}

function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return undefined;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return bytes.length === 0 ? undefined : bytes;
  } catch {
    return undefined;
  }
}

/** Base class of verification errors. Ignore the request and respond with 400. */
export abstract class WebhookVerificationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The signature is missing or malformed, or the body is not an event. */
export class WebhookFormError extends WebhookVerificationError {}
/** The signature matches none of the secrets. Another party may have sent the request. */
export class WebhookSignatureError extends WebhookVerificationError {}
/** The signature is too old or in the future. Another party may have repeated the request. */
export class WebhookTimestampError extends WebhookVerificationError {}
