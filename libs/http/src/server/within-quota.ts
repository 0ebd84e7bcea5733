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
