import { createHash } from 'node:crypto';
import {
  type HttpOnlyCookie,
  toClientNetworkPrefix,
  requireRequestQuota,
  type TokenSigner,
  listClientNetworkPrefixes,
} from '@tracking/http';
import { normalizeEmailForComparison, type ClientInPasswordQueue } from '@tracking/identity';
import type { Clock, RequestQuota } from '@tracking/ports';
import type { FastifyRequest } from 'fastify';

/** Sign-in attempts per minute with one e-mail address, from all networks: 14,400 a day. */
const MAX_SIGN_INS_PER_EMAIL_PER_MINUTE = 10;
/** Sign-in attempts per minute from one network. All people in an office may share one IP address. */
const MAX_SIGN_INS_PER_NETWORK = 30;
/** Sign-in attempts per minute on one known device. */
const MAX_SIGN_INS_PER_DEVICE = 10;
/** Sign-in attempts per minute on all known devices of one e-mail address, which bounds the use of stolen cookies. */
const MAX_ON_KNOWN_DEVICES_PER_MINUTE = 30;

const TOO_MANY_ATTEMPTS_MESSAGE = 'Too many attempts per minute. Wait before the next attempt.';

/** The address and device of a sign-in attempt. */
interface SignInAttemptOrigin {
  readonly address: string;
  /** Id of the known device; see {@link KnownSignInDevices}. */
  readonly device: string | undefined;
}

/**
 * Limits how fast passwords can be guessed. Successful attempts count too, and so do unknown e-mail addresses, so that
 * a refusal does not reveal whether the address exists. Existing sessions are not affected.
 */
export class SignInThrottle {
  constructor(private readonly quota: RequestQuota) {}

  /**
   * Counts an attempt against the allowance of its known device. An attempt without a known device, or above the
   * device's allowance, counts against the limits that all clients share.
   * @throws RequestError `rate_limited`
   */
  async countSignInAttempt(email: string, { address, device }: SignInAttemptOrigin): Promise<void> {
    const account = computeAccountDigest(email);
    if (device !== undefined && (await this.admitSignInFromDevice(account, device))) return;
    await this.takeSignInAttempt(`sign-in:address:${toClientNetworkPrefix(address)}`, MAX_SIGN_INS_PER_NETWORK);
    await this.takeSignInAttempt(`sign-in:account:${account}`, MAX_SIGN_INS_PER_EMAIL_PER_MINUTE);
  }

  /**
   * Limits guesses of the password in an open session. These guesses are counted separately from sign-ins, so that
   * other clients cannot prevent a user from changing the password.
   * @throws RequestError `rate_limited`
   */
  async countPasswordChangeAttempt(userId: string): Promise<void> {
    await this.takeSignInAttempt(`password:${userId}`, MAX_SIGN_INS_PER_EMAIL_PER_MINUTE);
  }

  private async admitSignInFromDevice(account: string, device: string): Promise<boolean> {
    const own = await this.quota.takeQuotaForRequest(`sign-in:device:${device}`, MAX_SIGN_INS_PER_DEVICE);
    return (
      own.admitted &&
      (await this.quota.takeQuotaForRequest(`sign-in:devices:${account}`, MAX_ON_KNOWN_DEVICES_PER_MINUTE)).admitted
    );
  }

  private async takeSignInAttempt(key: string, limit: number): Promise<void> {
    await requireRequestQuota(this.quota, key, limit, TOO_MANY_ATTEMPTS_MESSAGE);
  }
}

/** Milliseconds for which a device stays known after a sign-in. */
const KNOWN_DEVICE_MS = 180 * 24 * 60 * 60 * 1_000;
/** Maximum number of known addresses of this process, of which each takes about 200 bytes. */
const MAX_SIGN_IN_ADDRESSES_KEPT_IN_PROCESS = 10_000;

/** A sign-in attempt, seen against earlier successful ones. */
interface RecognizedSignInAttempt {
  /** Id of the device, if it is known for the e-mail address. */
  readonly device: string | undefined;
  /** The share of the queue of password hashes: that of the user if the device or address is known. */
  readonly client: ClientInPasswordQueue;
}

/**
 * Recognizes devices and addresses from which the user of an e-mail address signed in before, so that strangers who try
 * passwords do not lock the user out. Devices have a cookie: its sealed value holds the id and expiry of the device, and
 * is bound to the e-mail address. Each sign-in replaces the cookie. Addresses are known until this process ends.
 */
export class KnownSignInDevices {
  /** E-mail addresses with networks, the latest sign-in last. */
  private readonly addresses = new Set<string>();

  constructor(
    private readonly sealer: TokenSigner,
    private readonly cookie: HttpOnlyCookie,
    private readonly clock: Clock,
  ) {}

  recognizeKnownSignInDevice(request: Pick<FastifyRequest, 'headers' | 'ip'>, email: string): RecognizedSignInAttempt {
    const device = this.getKeyOfKnownSignInDevice(request, email);
    const isKnown = device !== undefined || this.addresses.has(getAccountNetworkKey(request, email));
    const shares = isKnown ? [computeAccountDigest(email)] : listClientNetworkPrefixes(request.ip);
    return { device, client: { shares, isKnown } };
  }

  /**
   * Makes the device and address known after a successful sign-in. Returns the `Set-Cookie` header for the device, the
   * same for a repeat of the command.
   */
  rememberSignInDevice(
    request: Pick<FastifyRequest, 'ip'>,
    email: string,
    { id, at }: { readonly id: string; readonly at: string },
  ): string {
    const address = getAccountNetworkKey(request, email);
    this.addresses.delete(address);
    this.addresses.add(address);
    const [oldest] = this.addresses;
    if (oldest !== undefined && this.addresses.size > MAX_SIGN_IN_ADDRESSES_KEPT_IN_PROCESS)
      this.addresses.delete(oldest);
    const expires = new Date(Date.parse(at) + KNOWN_DEVICE_MS);
    const text = `${computeDigest(id)} ${expires.toISOString()}`;
    return this.cookie.formatSetCookie(this.sealer.sealTextWithMac(text, createAccountBindingOfCookie(email)), expires);
  }

  private getKeyOfKnownSignInDevice(request: Pick<FastifyRequest, 'headers'>, email: string): string | undefined {
    const [id, expires = ''] =
      this.sealer
        .readTextOfVerifiedToken(this.cookie.readCookie(request) ?? '', createAccountBindingOfCookie(email))
        ?.split(' ') ?? [];
    return this.clock().toISOString() < expires ? id : undefined;
  }
}

function getAccountNetworkKey({ ip }: Pick<FastifyRequest, 'ip'>, email: string): string {
  return `${computeAccountDigest(email)} ${toClientNetworkPrefix(ip)}`;
}

function createAccountBindingOfCookie(email: string) {
  return { purpose: 'known-device', binding: computeAccountDigest(email) } as const;
}

/** Returns a digest of an e-mail address, so that neither the quota nor a cookie contains the address. */
function computeAccountDigest(email: string): string {
  return computeDigest(normalizeEmailForComparison(email));
}

function computeDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
