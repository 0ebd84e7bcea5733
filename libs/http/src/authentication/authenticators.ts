import { type Environment, ENVIRONMENTS, type Principal } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';
import { createInvalidRequestError, createUnauthenticatedError } from '../errors/request-error.ts';

/** One kind of credentials. The first authenticator that finds its kind in a request decides. */
export interface Authenticator {
  /**
   * Returns the principal; undefined if the request has no credentials of this kind.
   * @throws RequestError 401 if they are not valid; UnavailableError
   */
  authenticateRequest(request: FastifyRequest): Promise<Principal | undefined>;
}

export const KEY_HEADER_HINT =
  'send the header Authorization: Bearer <API_KEY>, with a space between the word Bearer and the key.';
/** Longest API key, in characters. Longer texts are refused without a look-up. */
const MAX_API_KEY_LENGTH = 200;

/** Returns the principal of a valid key; undefined for any other text. @throws UnavailableError */
export type AuthenticateKey = (key: string) => Promise<Principal | undefined>;

/** Authenticates requests with `Authorization: Bearer <API_KEY>` (RFC 6750). */
export class KeyAuthenticator implements Authenticator {
  constructor(private readonly authenticateKey: AuthenticateKey) {}

  async authenticateRequest({ headers }: FastifyRequest): Promise<Principal | undefined> {
    if (!headers.authorization) return undefined;
    const key = /^Bearer +([!-~]+) *$/i.exec(headers.authorization)?.[1];
    // Refuse before the look-up, so that the error does not reveal whether the key exists.
    if (key === undefined) {
      throw createUnauthenticatedError('invalid_api_key', `The Authorization header is malformed: ${KEY_HEADER_HINT}`);
    }
    const principal = key.length <= MAX_API_KEY_LENGTH ? await this.authenticateKey(key) : undefined;
    // Return the same error for unknown, revoked and expired keys.
    if (!principal) throw createUnauthenticatedError('invalid_api_key', 'The API key is not valid.');
    return principal;
  }
}

/** Returns the principal of a session by its token; undefined if the session has ended. @throws UnavailableError */
export type AuthenticateSession = (token: string, environment: Environment) => Promise<Principal | undefined>;

/** Authenticates a browser's session by its cookie. If a request has an `Authorization` header too, the key decides. */
export class SessionAuthenticator implements Authenticator {
  constructor(
    private readonly authenticateSession: AuthenticateSession,
    private readonly cookie: SessionCookie,
  ) {}

  async authenticateRequest(request: FastifyRequest): Promise<Principal | undefined> {
    const token = readSessionToken(request, this.cookie);
    if (token === undefined) return undefined;
    const principal = await this.authenticateSession(token, readEnvironmentOfRequest(request));
    if (!principal)
      throw createUnauthenticatedError('invalid_session', 'The session is unknown or has ended: sign in again.');
    return principal;
  }
}

/** Returns the session token of a request. Undefined if the request has no session cookie, or has a key. */
export function readSessionToken(request: Pick<FastifyRequest, 'headers'>, cookie: SessionCookie): string | undefined {
  return request.headers.authorization === undefined ? cookie.readCookie(request) : undefined;
}

/** Returns the environment of a session's request: the header `Environment`, `live` by default. @throws RequestError */
export function readEnvironmentOfRequest({ headers }: Pick<FastifyRequest, 'headers'>): Environment {
  const sent = headers['environment'];
  if (sent === undefined) return 'live';
  const known = ENVIRONMENTS.find((environment) => environment === String(sent).toLowerCase());
  if (known) return known;
  const message = `Must be one of ${ENVIRONMENTS.join(', ')}.`;
  throw createInvalidRequestError([{ param: 'Environment', code: 'invalid_value', message }]);
}

/** A cookie of one deployment that no script can read. */
export class HttpOnlyCookie {
  readonly name: string;
  private readonly attributes: string;

  /** @param baseUrl URL of the API. If it is https, browsers send the cookie only over https and to this host. */
  constructor(baseUrl: string, plainName: string) {
    const isSecure = baseUrl.startsWith('https:');
    this.name = isSecure ? `__Host-${plainName}` : plainName;
    this.attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  /** Returns the cookie's value in a request; undefined if the request lacks the cookie. */
  readCookie({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
    for (const pair of headers.cookie?.split(';') ?? []) {
      const at = pair.indexOf('=');
      if (at > 0 && pair.slice(0, at).trim() === this.name) return pair.slice(at + 1).trim();
    }
    return undefined;
  }

  /** Returns a `Set-Cookie` header that sets the cookie. @param expires time at which the browser deletes the cookie */
  formatSetCookie(value: string, expires: Date): string {
    return `${this.name}=${value}; ${this.attributes}; Expires=${expires.toUTCString()}`;
  }

  /** Returns a `Set-Cookie` header that removes the cookie. */
  formatRemoveCookie(): string {
    return this.formatSetCookie('', new Date(0));
  }
}

/** The cookie that contains the token of a session. */
export class SessionCookie extends HttpOnlyCookie {
  constructor(baseUrl: string) {
    super(baseUrl, 'session');
  }
}
