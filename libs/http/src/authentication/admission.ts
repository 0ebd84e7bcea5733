import { isInScope, type Principal } from '@tracking/contracts';
import type { Quota } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateLimited, RequestError, unauthenticated } from '../errors/request-error.ts';
import { requireAccess } from '../operations/operations.ts';
import { SAFE_METHODS } from '../server/route-bodies.ts';
import { type Authenticator, KEY_HEADER_HINT, type SessionCookie, sessionToken } from './authenticators.ts';

/**
 * Admits requests: finds the principal, counts its quota and checks its access, in this order. Runs before the body is
 * read, so that nothing is parsed without credentials and every response to a known principal shows its quota.
 */
export class Admission {
  constructor(
    private readonly authenticators: readonly Authenticator[],
    private readonly quota: Quota,
    private readonly limitPerMinute: number,
  ) {}

  /** @throws RequestError 401, 429, 403 */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { access = 'open' } = request.routeOptions.config;
    if (access === 'open') return;
    const principal = await this.principal(request);
    const decision = await this.quota.take(principal.credential_id, this.limitPerMinute);
    reply.header('X-RateLimit-Limit', decision.limit);
    reply.header('X-RateLimit-Remaining', decision.remaining);
    reply.header('X-RateLimit-Reset', decision.resetAt);
    if (!decision.admitted) {
      throw rateLimited(`The limit of ${decision.limit} requests per minute is exceeded.`, decision.retryAfter);
    }
    requireAccess(principal, access);
    request.principal = principal;
  }

  /**
   * Returns true if a request with a long response would still be admitted. Does not count against its quota again.
   * @throws Unavailable
   */
  async isStillAdmitted(request: FastifyRequest): Promise<boolean> {
    const { access = 'open' } = request.routeOptions.config;
    const before = request.principal;
    try {
      const now = await this.principal(request);
      if (access !== 'open') requireAccess(now, access);
      return before !== null && now.credential_id === before.credential_id && isInScope(now, before);
    } catch (error) {
      if (error instanceof RequestError) return false;
      throw error;
    }
  }

  private async principal(request: FastifyRequest): Promise<Principal> {
    for (const authenticator of this.authenticators) {
      const principal = await authenticator.authenticate(request);
      if (principal) return principal;
    }
    throw unauthenticated('missing_api_key', `The request has no API key: ${KEY_HEADER_HINT}`);
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True if the route begins a session. The request must then come from our own pages, like the writes of a session.
     */
    beginsSession?: boolean;
  }
}

/**
 * Accepted values of `Sec-Fetch-Site`. `none` is a typed or bookmarked address. `same-site` is refused: it is another
 * origin, possibly of another owner.
 */
const TRUSTED_FETCH_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses writes that another site makes with a browser's cookie. A page of another site cannot send `X-Requested-With`,
 * because no CORS header allows it, and browsers name the origin of each request. Browsers never send keys by themselves,
 * so requests with a key are not checked.
 */
export class CrossSiteRequests {
  private readonly origins: ReadonlySet<string>;

  /** @param ownUrls URLs of the API and the web application */
  constructor(
    private readonly cookie: SessionCookie,
    ownUrls: readonly string[],
  ) {
    this.origins = new Set(ownUrls.map((url) => new URL(url).origin));
  }

  /** @throws RequestError `csrf` */
  refuse(request: Pick<FastifyRequest, 'method' | 'headers' | 'routeOptions'>): void {
    if (SAFE_METHODS.has(request.method) || !this.appliesTo(request)) return;
    const { origin, 'sec-fetch-site': site, 'x-requested-with': requestedWith } = request.headers;
    if (
      (site !== undefined && !TRUSTED_FETCH_SITES.has(String(site))) ||
      (origin !== undefined && !this.origins.has(origin))
    ) {
      throw new RequestError('csrf', `The request comes from a site other than ${[...this.origins].join(', ')}.`);
    }
    if (!requestedWith) throw new RequestError('csrf', 'Send the header X-Requested-With, with any value.');
  }

  private appliesTo(request: Pick<FastifyRequest, 'headers' | 'routeOptions'>): boolean {
    const { beginsSession, access = 'open' } = request.routeOptions.config;
    return beginsSession === true || (access !== 'open' && sessionToken(request, this.cookie) !== undefined);
  }
}
