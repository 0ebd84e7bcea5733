import type { Principal } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';
import { unauthenticated } from '../errors/request-error.ts';
import type { Authenticator } from './authenticator.ts';

export const HOW_TO_SEND_A_KEY =
  'send the header Authorization: Bearer <API_KEY>, the word Bearer and a space before the key.';
/** Longer than any key of ours: what exceeds it is not worth a look-up. */
const MAX_KEY_LENGTH = 200;

/** Answers the principal of a valid key; undefined for any other. @throws Unavailable */
export type AuthenticateKey = (key: string) => Promise<Principal | undefined>;

/** `Authorization: Bearer <API_KEY>` (RFC 6750). */
export class KeyAuthenticator implements Authenticator {
  constructor(private readonly authenticateKey: AuthenticateKey) {}

  async authenticate({ headers }: FastifyRequest): Promise<Principal | undefined> {
    if (!headers.authorization) return undefined;
    const key = /^Bearer +([!-~]+) *$/i.exec(headers.authorization)?.[1];
    // Told of every key alike: it is not looked up.
    if (key === undefined) {
      throw unauthenticated('invalid_api_key', `The header is not of its form: ${HOW_TO_SEND_A_KEY}`);
    }
    const principal = key.length <= MAX_KEY_LENGTH ? await this.authenticateKey(key) : undefined;
    // One answer whatever is wrong with it: unknown, revoked, expired, or no key at all.
    if (!principal) throw unauthenticated('invalid_api_key', 'The API key is not valid.');
    return principal;
  }
}
