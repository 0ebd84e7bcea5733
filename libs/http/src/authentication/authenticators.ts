import { type Environment, ENVIRONMENTS, type Principal } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';
import { invalidRequest, unauthenticated } from '../errors/request-error.ts';

/** One way to tell who makes a request. The API has a list of them; the first that knows the request decides. */
export interface Authenticator {
  /**
   * The principal; undefined where the request carries no credentials of this kind.
   * @throws RequestError 401 where it carries some that are not valid; Unavailable
   */
  authenticate(request: FastifyRequest): Promise<Principal | undefined>;
}

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

/** Answers the principal of a session by its token; undefined where it has ended. @throws Unavailable */
export type AuthenticateSession = (token: string, environment: Environment) => Promise<Principal | undefined>;

/** A browser's session, by its cookie. A request with an `Authorization` header never is one: the key decides. */
export class SessionAuthenticator implements Authenticator {
  constructor(
    private readonly authenticateSession: AuthenticateSession,
    private readonly cookie: SessionCookie,
  ) {}

  async authenticate(request: FastifyRequest): Promise<Principal | undefined> {
    const token = sessionToken(request, this.cookie);
    if (token === undefined) return undefined;
    const principal = await this.authenticateSession(token, environmentOf(request));
    if (!principal) throw unauthenticated('invalid_session', 'The session has ended, or is none: sign in again.');
    return principal;
  }
}

/** The token of a request that is made with a session. */
export function sessionToken(request: Pick<FastifyRequest, 'headers'>, cookie: SessionCookie): string | undefined {
  return request.headers.authorization === undefined ? cookie.read(request) : undefined;
}

/** Where a session's request works: what the header `Environment` says, `live` without. @throws RequestError */
export function environmentOf({ headers }: Pick<FastifyRequest, 'headers'>): Environment {
  const sent = headers['environment'];
  if (sent === undefined) return 'live';
  const known = ENVIRONMENTS.find((environment) => environment === String(sent).toLowerCase());
  if (known) return known;
  const message = `Must be one of ${ENVIRONMENTS.join(', ')}.`;
  throw invalidRequest([{ param: 'Environment', code: 'invalid_value', message }]);
}

/** The cookie of a session, as browsers of one deployment get it. */
export class SessionCookie {
  readonly name: string;
  private readonly attributes: string;

  /** @param baseUrl where browsers reach the API: over https they never send the cookie without, nor to another host */
  constructor(baseUrl: string) {
    const isSecure = baseUrl.startsWith('https:');
    this.name = isSecure ? '__Host-session' : 'session';
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  /** Its token in a request; undefined where there is none. */
  read({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
    for (const pair of headers.cookie?.split(';') ?? []) {
      const at = pair.indexOf('=');
      if (at > 0 && pair.slice(0, at).trim() === this.name) return pair.slice(at + 1).trim();
    }
    return undefined;
  }

  /** A `Set-Cookie` that gives it. @param expires when it ends at the latest */
  give(token: string, expires: Date): string {
    return `${this.name}=${token}; ${this.attributes}; Expires=${expires.toUTCString()}`;
  }

  /** A `Set-Cookie` that takes it away. */
  take(): string {
    return this.give('', new Date(0));
  }
}
