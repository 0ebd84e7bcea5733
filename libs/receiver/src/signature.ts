import { createHmac, timingSafeEqual } from 'node:crypto';

/** Deliveries older than this many seconds are refused, to prevent replay: docs/reference/delivery.md#signature. */
const MAX_AGE_SECONDS = 300;

export type Verdict = 'valid' | 'malformed' | 'too_old' | 'wrong_signature';

/**
 * Whether a delivery was signed with the endpoint's secret, recently.
 * @param header the `Service-Signature` header: `t=<unix seconds>,v1=<hex>`; several `v1` while a secret is being rolled
 * @param body the raw request body, byte for byte
 * @param secret the whole `whsec_…` string
 * @param now epoch milliseconds
 */
export function verifySignature(header: string | undefined, body: Uint8Array, secret: string, now: number): Verdict {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('='));
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? '';
  const signatures = parts.flatMap(([name, value]) => (name === 'v1' && value ? [value] : []));
  if (!/^\d{1,12}$/.test(timestamp) || signatures.length === 0) return 'malformed';
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  const matches = signatures.some((signature) => {
    const given = Buffer.from(signature, 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!matches) return 'wrong_signature';
  return now / 1000 - Number(timestamp) > MAX_AGE_SECONDS ? 'too_old' : 'valid';
}
