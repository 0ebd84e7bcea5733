import { timingSafeEqual } from 'node:crypto';
import { Busy } from '@tracking/ports';
import { HASH_COST, argon2id, newSalt, phcOf, readPhc } from './password-hash.ts';
import type { HashCost } from './password-hash.ts';
import { MAX_PASSWORD_LENGTH, normalised } from './password-rules.ts';

export interface PasswordsOptions {
  /** Of new hashes; OWASP's unless told. Those of before keep theirs until the password is right once more. */
  readonly cost?: HashCost;
  /** Most hashes that wait for the one under way: at about 30 ms each, what somebody still waits for. */
  readonly maxWaiting?: number;
  /** Computes one hash; argon2id unless told. */
  readonly derive?: typeof argon2id;
}

const ENGINE = 'passwords';

/** Whether too many passwords waited: refused before anything was written, as whoever needs a hash computes it first. */
export function isPasswordsBusy(error: unknown): boolean {
  return error instanceof Busy && error.engine === ENGINE;
}

/**
 * Hashes passwords, one after another: whoever sends a thousand wrong ones keeps one core busy at most, and finds the
 * queue full.
 */
export class Passwords {
  readonly #cost: HashCost;
  readonly #maxWaiting: number;
  readonly #derive: typeof argon2id;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ cost = HASH_COST, maxWaiting = 100, derive = argon2id }: PasswordsOptions = {}) {
    this.#cost = cost;
    this.#maxWaiting = maxWaiting;
    this.#derive = derive;
  }

  /**
   * What is stored of a password: a PHC string.
   * @throws Busy where too many wait
   */
  async hash(password: string): Promise<string> {
    const salt = newSalt();
    const digest = await this.#compute(password, this.#cost, salt);
    return phcOf({ cost: this.#cost, salt, digest });
  }

  /**
   * Whether it is the password. Without a stored one (nobody has that e-mail, or has not set a password yet) it takes
   * as much work, and it is not.
   * @throws Busy where too many wait
   */
  async verify(password: string, stored: string | null | undefined): Promise<boolean> {
    if (!stored) {
      await this.#compute(password, this.#cost, newSalt());
      return false;
    }
    const { cost, salt, digest } = readPhc(stored);
    const computed = await this.#compute(password, cost, salt);
    return computed.length === digest.length && timingSafeEqual(computed, digest) && !isTooLong(password);
  }

  /** Whether it was hashed at another cost than new ones are: to be hashed again when the password is at hand. */
  isOutdated(stored: string): boolean {
    const { cost } = readPhc(stored);
    return (Object.keys(cost) as (keyof HashCost)[]).some((each) => cost[each] !== this.#cost[each]);
  }

  async #compute(password: string, cost: HashCost, salt: Uint8Array): Promise<Uint8Array> {
    if (this.#waiting >= this.#maxWaiting) throw new Busy(ENGINE, `${this.#waiting} wait to be hashed`);
    this.#waiting += 1;
    // What no password can be is not normalised: that may be a megabyte.
    const text = isTooLong(password) ? '' : normalised(password);
    const turn = this.#last.then(() => {
      this.#waiting -= 1;
      return this.#derive(text, cost, salt);
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** In code units, of which a character has two at most, before it is normalised. */
function isTooLong(password: string): boolean {
  return password.length > 4 * MAX_PASSWORD_LENGTH;
}
