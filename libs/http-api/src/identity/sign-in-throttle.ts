import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Quota } from '@tracking/ports';
import { rateLimited } from '../errors/request-error.ts';

/** Tries per minute with one e-mail, from wherever they come: whoever guesses has 14,400 a day. */
const PER_ACCOUNT = 10;
/** Tries per minute from one address: an office may have one for all who work there. */
const PER_ADDRESS = 30;

/**
 * Bounds how fast passwords are guessed. Tries count, right and wrong alike, for the e-mail as it was typed, whether or
 * not anybody has it: nothing is told by a refusal. Sessions that exist are not concerned.
 */
export class SignInThrottle {
  constructor(private readonly quota: Quota) {}

  /** @throws RequestError `rate_limited` */
  async signIn(email: string, address: string): Promise<void> {
    await this.take(`sign-in:address:${networkOf(address)}`, PER_ADDRESS);
    await this.take(`sign-in:account:${digestOf(email.trim().normalize('NFKC').toLowerCase())}`, PER_ACCOUNT);
  }

  /**
   * Bounds how fast the password is guessed by who found a session open. Counted apart from the sign-in, so that strangers
   * cannot keep somebody from changing it.
   * @throws RequestError `rate_limited`
   */
  async changePassword(userId: string): Promise<void> {
    await this.take(`password:${userId}`, PER_ACCOUNT);
  }

  private async take(key: string, limit: number): Promise<void> {
    const { admitted, retryAfter } = await this.quota.take(key, limit);
    if (admitted) return;
    throw rateLimited('Too many tries within a minute; wait before the next.', retryAfter);
  }
}

/** Of an e-mail, so that the counts hold none. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
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
