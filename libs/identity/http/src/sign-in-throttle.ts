import { createHash } from 'node:crypto';
import { networkOf, withinQuota } from '@tracking/http';
import type { Quota } from '@tracking/ports';

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
    await withinQuota(this.quota, key, limit, 'Too many tries within a minute; wait before the next.');
  }
}

/** Of an e-mail, so that the counts hold none. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
