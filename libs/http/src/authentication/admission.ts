import { isInScope, type Principal } from '@tracking/contracts';
import type { Quota } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { rateLimited, RequestError, unauthenticated } from '../errors/request-error.ts';
import { requireAccess } from '../operations/operations.ts';
import { type Authenticator, HOW_TO_SEND_A_KEY, type SessionCookie, sessionToken } from './authenticators.ts';

/**
 * Who may pass: the principal, its quota, its access, in this order. Runs before the body is read, so that nothing
 * is parsed for strangers and every answer to a known principal, also about a broken body, shows its quota.
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
      throw rateLimited(`More than ${decision.limit} requests within a minute.`, decision.retryAfter);
    }
    requireAccess(principal, access);
    request.principal = principal;
  }

  /**
   * Whether a request that was admitted, and is answered for long, would be admitted now. Its quota is not asked again.
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
    throw unauthenticated('missing_api_key', `There is no API key: ${HOW_TO_SEND_A_KEY}`);
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether it begins a session, so that it must come from our own pages like a session's writes. */
    beginsSession?: boolean;
  }
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** `none`: typed or bookmarked by the person. `same-site` is another origin, which somebody else may own. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses writes that another site makes with a browser's cookie. A page elsewhere cannot send `X-Requested-With`, as no
 * CORS allows it; and browsers say of each request where it comes from. Keys are in no browser by themselves: requests
 * with one are not looked at.
 */
export class CrossSiteRequests {
  private readonly origins: ReadonlySet<string>;

  /** @param ownUrls of the API and the web application */
  constructor(
    private readonly cookie: SessionCookie,
    ownUrls: readonly string[],
  ) {
    this.origins = new Set(ownUrls.map((url) => new URL(url).origin));
  }

  /** @throws RequestError `csrf` */
  refuse(request: Pick<FastifyRequest, 'method' | 'headers' | 'routeOptions'>): void {
    if (READING.has(request.method) || !this.concerns(request)) return;
    const { origin, 'sec-fetch-site': site, 'x-requested-with': requestedWith } = request.headers;
    if ((site !== undefined && !OWN_SITES.has(String(site))) || (origin !== undefined && !this.origins.has(origin))) {
      throw new RequestError('csrf', `The request comes from another site than ${[...this.origins].join(', ')}.`);
    }
    if (!requestedWith) throw new RequestError('csrf', 'Send the header X-Requested-With, with any value.');
  }

  private concerns(request: Pick<FastifyRequest, 'headers' | 'routeOptions'>): boolean {
    const { beginsSession, access = 'open' } = request.routeOptions.config;
    return beginsSession === true || (access !== 'open' && sessionToken(request, this.cookie) !== undefined);
  }
}
