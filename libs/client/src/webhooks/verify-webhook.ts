import type { EndpointVerification, WebhookEvent } from '../events/event-types.ts';
import { schemes, type SignedRequest } from './signature-schemes.ts';
import { WebhookFormError, WebhookSignatureError, WebhookTimestampError } from './webhook-errors.ts';

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookToVerify {
  /** The body, byte for byte as it came: parsed and written again it is another one. */
  readonly rawBody: string | Uint8Array | ArrayBuffer;
  /** Of the request, in whatever case: those of fetch, or of Node. */
  readonly headers: Headers | HeaderRecord;
  /** The `whsec_…` of the endpoint; several while it is changed. */
  readonly secret: string | readonly string[];
  /** Seconds that the clocks may differ and the request be under way: 300 unless told. */
  readonly tolerance?: number;
  /** What is now, for tests. */
  readonly now?: Date;
}

const TOLERANCE_SECONDS = 300;

/**
 * Makes sure that a delivery is from the service and new, and answers its event. Looks at `Service-Signature`, or at the
 * headers of Standard Webhooks where that is not there; compares in constant time. Deliveries come at least once: drop the
 * ids that you know.
 * @throws WebhookFormError for what is no delivery, WebhookSignatureError for what the secret did not sign,
 * WebhookTimestampError for what it signed too long ago
 */
export async function verifyWebhook(webhook: WebhookToVerify): Promise<WebhookEvent | EndpointVerification> {
  const body = bytesOf(webhook.rawBody);
  const header = headerReader(webhook.headers);
  const secrets = [webhook.secret].flat().filter((secret) => typeof secret === 'string' && secret !== '');
  // An empty one would sign whatever anybody sends.
  if (secrets.length === 0) throw new TypeError('verifyWebhook needs the secret of the endpoint.');
  const scheme = schemes.find(({ names }) => names.some((name) => header(name) !== undefined));
  if (scheme === undefined) throw new WebhookFormError('The request has no signature.');
  const signed = scheme.read(header);
  if (!(await isSigned(signed, body, secrets))) {
    throw new WebhookSignatureError('No secret of the endpoint made the signature.');
  }
  const seconds = (webhook.now ?? new Date()).getTime() / 1_000;
  if (Math.abs(seconds - signed.timestamp) > (webhook.tolerance ?? TOLERANCE_SECONDS)) {
    throw new WebhookTimestampError(`The request was signed at ${signed.timestamp}, too far from now.`);
  }
  return eventOf(body);
}

async function isSigned(signed: SignedRequest, body: Uint8Array, secrets: readonly string[]): Promise<boolean> {
  const prefix = new TextEncoder().encode(signed.prefix);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  const verdicts: boolean[] = [];
  for (const secret of secrets) {
    const bytes = signed.keyOf(secret);
    if (bytes === undefined) continue;
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of signed.signatures) {
      verdicts.push(await crypto.subtle.verify('HMAC', key, signature, content));
    }
  }
  return verdicts.includes(true);
}

function bytesOf(rawBody: unknown): Uint8Array {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (ArrayBuffer.isView(rawBody)) return new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer);
  throw new TypeError('rawBody must be the text or the bytes that came, not what was parsed of them.');
}

function headerReader(headers: WebhookToVerify['headers']): (name: string) => string | undefined {
  const isHeaders = (given: typeof headers): given is Headers => typeof given['forEach'] === 'function';
  const entries = isHeaders(headers) ? [...headers] : Object.entries(headers);
  const byName = new Map(entries.map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = byName.get(name);
    return value === undefined ? undefined : [value].flat().join(', ');
  };
}

function eventOf(body: Uint8Array): WebhookEvent | EndpointVerification {
  let event: Partial<WebhookEvent>;
  try {
    event = Object(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch (cause) {
    throw new WebhookFormError('The body is no JSON.', { cause });
  }
  if (typeof event.type !== 'string' || typeof event.data !== 'object' || event.data === null) {
    throw new WebhookFormError('The body is no event.');
  }
  return event as WebhookEvent;
}
