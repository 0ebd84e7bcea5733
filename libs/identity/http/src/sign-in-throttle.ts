import { createHash } from 'node:crypto';
import { networkOf, requireQuota } from '@tracking/http';
import type { Quota } from '@tracking/ports';

/** Sign-in attempts per minute with one e-mail address, from all networks: 14,400 a day. */
const MAX_PER_ACCOUNT = 10;
/** Sign-in attempts per minute from one network. All people in an office may share one IP address. */
const MAX_PER_NETWORK = 30;

/**
 * Limits how fast passwords can be guessed. Successful attempts count too, and so do unknown e-mail addresses, so that
 * a refusal does not reveal whether the address exists. Existing sessions are not affected.
 */
export class SignInThrottle {
  constructor(private readonly quota: Quota) {}

  /** @throws RequestError `rate_limited` */
  async signIn(email: string, address: string): Promise<void> {
    await this.take(`sign-in:address:${networkOf(address)}`, MAX_PER_NETWORK);
    await this.take(`sign-in:account:${digestOf(email.trim().normalize('NFKC').toLowerCase())}`, MAX_PER_ACCOUNT);
  }

  /**
   * Limits guesses of the password in an open session. Counted separately from sign-ins, so that others cannot prevent a
   * user from changing the password.
   * @throws RequestError `rate_limited`
   */
  async changePassword(userId: string): Promise<void> {
    await this.take(`password:${userId}`, MAX_PER_ACCOUNT);
  }

  private async take(key: string, limit: number): Promise<void> {
    await requireQuota(this.quota, key, limit, 'Too many attempts per minute. Wait before the next attempt.');
  }
}

/** Returns a digest of an e-mail address, so that the quota does not store the address. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
