import { ENVIRONMENTS } from '@tracking/contracts';
import type { Environment, Principal } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';
import { invalidRequest, unauthenticated } from '../errors/request-error.ts';
import type { Authenticator } from './authenticator.ts';
import type { SessionCookie } from './session-cookie.ts';

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
