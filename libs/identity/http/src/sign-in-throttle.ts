import { createHash } from 'node:crypto';
import { type HttpOnlyCookie, identifyNetwork, requireQuota, type TokenSealer } from '@tracking/http';
import type { Clock, Quota } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';

/** Sign-in attempts per minute with one e-mail address, from all networks: 14,400 a day. */
const MAX_PER_ACCOUNT = 10;
/** Sign-in attempts per minute from one network. All people in an office may share one IP address. */
const MAX_PER_NETWORK = 30;
/** Sign-in attempts per minute on one known device. */
const MAX_PER_DEVICE = 10;
/** Sign-in attempts per minute on all known devices of one e-mail address, which bounds the use of stolen cookies. */
const MAX_PER_DEVICES = 30;

const REFUSAL = 'Too many attempts per minute. Wait before the next attempt.';

/** The address and device of a sign-in attempt. */
interface AttemptOrigin {
  readonly address: string;
  /** Id of the known device; see {@link KnownDevices}. */
  readonly device: string | undefined;
}

/**
 * Limits how fast passwords can be guessed. Successful attempts count too, and so do unknown e-mail addresses, so that
 * a refusal does not reveal whether the address exists. Existing sessions are not affected.
 */
export class SignInThrottle {
  constructor(private readonly quota: Quota) {}

  /**
   * Counts an attempt against the allowance of its known device. Without one, or if that allowance is used up, counts the
   * attempt against the limits that all clients share.
   * @throws RequestError `rate_limited`
   */
  async signIn(email: string, { address, device }: AttemptOrigin): Promise<void> {
    const account = accountOf(email);
    if (device !== undefined && (await this.admitsDevice(account, device))) return;
    await this.take(`sign-in:address:${identifyNetwork(address)}`, MAX_PER_NETWORK);
    await this.take(`sign-in:account:${account}`, MAX_PER_ACCOUNT);
  }

  /**
   * Limits guesses of the password in an open session. Counted separately from sign-ins, so that others cannot prevent a
   * user from changing the password.
   * @throws RequestError `rate_limited`
   */
  async changePassword(userId: string): Promise<void> {
    await this.take(`password:${userId}`, MAX_PER_ACCOUNT);
  }

  private async admitsDevice(account: string, device: string): Promise<boolean> {
    const own = await this.quota.take(`sign-in:device:${device}`, MAX_PER_DEVICE);
    return own.admitted && (await this.quota.take(`sign-in:devices:${account}`, MAX_PER_DEVICES)).admitted;
  }

  private async take(key: string, limit: number): Promise<void> {
    await requireQuota(this.quota, key, limit, REFUSAL);
  }
}

/** Time for which a device is known after a sign-in. */
const KNOWN_DEVICE_MS = 180 * 24 * 60 * 60 * 1_000;

/**
 * Recognizes devices on which the user of an e-mail address signed in before, so that strangers who try passwords do not
 * lock the user out. The sealed value of a cookie holds the id and expiry of the device, and is bound to the e-mail
 * address. Each sign-in replaces the cookie. Nothing is stored.
 */
export class KnownDevices {
  constructor(
    private readonly sealer: TokenSealer,
    private readonly cookie: HttpOnlyCookie,
    private readonly clock: Clock,
  ) {}

  /** Returns the id of the device if it is known for this e-mail address. */
  find(request: Pick<FastifyRequest, 'headers'>, email: string): string | undefined {
    const [id, expires = ''] = this.sealer.open(this.cookie.read(request) ?? '', sealOf(email))?.split(' ') ?? [];
    return this.clock().toISOString() < expires ? id : undefined;
  }

  /**
   * Returns the `Set-Cookie` header for a device on which the user has just signed in; the same for a repeat of the
   * command.
   */
  remember(email: string, { id, at }: { readonly id: string; readonly at: string }): string {
    const expires = new Date(Date.parse(at) + KNOWN_DEVICE_MS);
    const text = `${digestOf(id)} ${expires.toISOString()}`;
    return this.cookie.issue(this.sealer.close(text, sealOf(email)), expires);
  }
}

function sealOf(email: string) {
  return { purpose: 'known-device', binding: accountOf(email) } as const;
}

/** Returns a digest of an e-mail address, so that neither the quota nor a cookie contains the address. */
function accountOf(email: string): string {
  return digestOf(email.trim().normalize('NFKC').toLowerCase());
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
