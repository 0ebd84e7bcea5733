import { isIPv6 } from 'node:net';
import type { Quota } from '@tracking/ports';
import { rateLimited } from '../errors/request-error.ts';

/**
 * Counts one request under the key.
 * @param limit per minute
 * @param refusal message of the error
 * @throws RequestError `rate_limited`
 */
export async function requireQuota(quota: Quota, key: string, limit: number, refusal: string): Promise<void> {
  const { admitted, retryAfter } = await quota.take(key, limit);
  if (!admitted) throw rateLimited(refusal, retryAfter);
}

/**
 * Returns the network of a client address. For IPv6, that is the /64 prefix, because a customer can use all of its
 * addresses.
 */
export function identifyNetwork(address: string): string {
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
