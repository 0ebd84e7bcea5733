import { isIPv6 } from 'node:net';
import type { Quota } from '@tracking/ports';
import { rateLimited } from '../errors/request-error.ts';

/**
 * Counts one more under the key.
 * @param limit a minute
 * @param refusal what is said beyond it
 * @throws RequestError `rate_limited`
 */
export async function withinQuota(quota: Quota, key: string, limit: number, refusal: string): Promise<void> {
  const { admitted, retryAfter } = await quota.take(key, limit);
  if (!admitted) throw rateLimited(refusal, retryAfter);
}

/** What one customer of a network has: of IPv6 a /64, in which anybody may choose among 2^64 addresses. */
export function networkOf(address: string): string {
  const inner = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (inner !== undefined) return inner;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? address).split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - groups.length - behind.length;
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...behind];
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
