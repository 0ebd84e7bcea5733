import { WebhookFormError } from './webhook-errors.ts';

/** What a request says of its signature. */
export interface SignedRequest {
  /** Unix seconds. */
  readonly timestamp: number;
  /** What was signed before the body. */
  readonly prefix: string;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
  /** Undefined where no key can be made of the secret. */
  readonly keyOf: (secret: string) => Uint8Array<ArrayBuffer> | undefined;
}

interface Scheme {
  /** Any of these headers, in lower case, shows it. */
  readonly names: readonly string[];
  /** @throws WebhookFormError */
  readonly read: (header: (name: string) => string | undefined) => SignedRequest;
}

const PREFIX = 'whsec_';

/** `Service-Signature: t=<unix seconds>,v1=<hex>`, several `v1` while a secret is changed; the key is the whole secret. */
const service: Scheme = {
  names: ['service-signature'],
  read: (header) => {
    const parts = (header('service-signature') ?? '').split(',').map((part) => part.trim().split('='));
    const t = parts.find(([name]) => name === 't')?.[1] ?? '';
    const signatures = parts.flatMap(([name, value = '']) => (name === 'v1' ? (fromHex(value) ?? []) : []));
    return { ...signedAt(t, signatures), prefix: `${t}.`, keyOf: (secret) => new TextEncoder().encode(secret) };
  },
};

/** Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature: v1,<base64> …`; the key is what `whsec_` heads. */
const standard: Scheme = {
  names: ['webhook-signature', 'webhook-id', 'webhook-timestamp'],
  read: (header) => {
    const t = header('webhook-timestamp') ?? '';
    const parts = (header('webhook-signature') ?? '').split(/\s+/).map((part) => part.split(','));
    const signatures = parts.flatMap(([name, value = '']) => (name === 'v1' ? (fromBase64(value) ?? []) : []));
    return {
      ...signedAt(t, signatures),
      prefix: `${header('webhook-id') ?? ''}.${t}.`,
      keyOf: (secret) => fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret),
    };
  },
};

export const schemes: readonly Scheme[] = [service, standard];

function signedAt(t: string, signatures: SignedRequest['signatures']): Pick<SignedRequest, 'timestamp' | 'signatures'> {
  if (!/^\d{1,12}$/.test(t)) throw new WebhookFormError('The signature has no timestamp.');
  if (signatures.length === 0) throw new WebhookFormError('The signature has no value that can be read.');
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
