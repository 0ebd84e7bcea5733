import { isIPv4, isIPv6 } from 'node:net';
import type { RequestQuota } from '@tracking/ports';
import { createRateLimitedError } from '../errors/request-error.ts';

/**
 * Counts one request under the key.
 * @param limit per minute
 * @param refusal message of the error
 * @throws RequestError `rate_limited`
 */
export async function requireRequestQuota(
  quota: RequestQuota,
  key: string,
  limit: number,
  refusal: string,
): Promise<void> {
  const { admitted, retryAfter } = await quota.takeQuotaForRequest(key, limit);
  if (!admitted) throw createRateLimitedError(refusal, retryAfter);
}

/**
 * Returns the network of a client address. For IPv6, that is the /64 prefix, because a customer can use all of its
 * addresses.
 */
export function toClientNetworkPrefix(address: string): string {
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

/**
 * Returns the networks among which work is shared fairly, widest first: for IPv4 the /24; for IPv6 the /48 and the /56,
 * which are the usual sizes of a provider's and a customer's network.
 */
export function listClientNetworkPrefixes(address: string): readonly string[] {
  const network = toClientNetworkPrefix(address);
  if (isIPv4(network)) return [network.slice(0, network.lastIndexOf('.'))];
  const [first, second, third, fourth] = network.split(':');
  if (fourth === undefined) return [network];
  const wide = [first, second, third].join(':');
  return [wide, `${wide}:${Number.parseInt(fourth, 16) >> 8}`];
}
