import { createHash } from 'node:crypto';
import { networkOf, requireQuota } from '@tracking/http';
import type { Quota } from '@tracking/ports';

/** Attempts per minute with one e-mail from all addresses: 14,400 a day. */
const PER_ACCOUNT = 10;
/** Attempts per minute from one network. An office may have one address for all its people. */
const PER_ADDRESS = 30;

/**
 * Limits how fast passwords can be guessed. Right and wrong attempts count, for any e-mail, so that a refusal does not
 * reveal whether the e-mail exists. Existing sessions are not affected.
 */
export class SignInThrottle {
  constructor(private readonly quota: Quota) {}

  /** @throws RequestError `rate_limited` */
  async signIn(email: string, address: string): Promise<void> {
    await this.take(`sign-in:address:${networkOf(address)}`, PER_ADDRESS);
    await this.take(`sign-in:account:${digestOf(email.trim().normalize('NFKC').toLowerCase())}`, PER_ACCOUNT);
  }

  /**
   * Limits guesses of the password in an open session. Counted separately from sign-ins, so that others cannot prevent a
   * user from changing the password.
   * @throws RequestError `rate_limited`
   */
  async changePassword(userId: string): Promise<void> {
    await this.take(`password:${userId}`, PER_ACCOUNT);
  }

  private async take(key: string, limit: number): Promise<void> {
    await requireQuota(this.quota, key, limit, 'Too many tries within a minute; wait before the next.');
  }
}

/** Digest of an e-mail, so that the quota does not store it. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
