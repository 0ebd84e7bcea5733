import { createHmac, timingSafeEqual } from 'node:crypto';

const MAX_AGE_SECONDS = 300;

/**
 * Reports whether a request was signed with the endpoint's secret, at most five minutes ago.
 * @param header the `Service-Signature` header
 * @param body the raw body, byte for byte
 * @param secret the whole `whsec_…` string
 * @param now epoch seconds
 */
export function verify(header: string | undefined, body: Uint8Array, secret: string, now: number): boolean {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('='));
  const timestamp = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(timestamp) || now - Number(timestamp) > MAX_AGE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
  return parts.some(([name, value = '']) => {
    const given = Buffer.from(name === 'v1' ? value : '', 'hex');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
