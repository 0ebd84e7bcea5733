import { isResourceInScope, type Principal } from '@tracking/contracts';
import type { RequestQuota } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createRateLimitedError, RequestError, createUnauthenticatedError } from '../errors/request-error.ts';
import { requireAccess } from '../operations/operations.ts';
import { SAFE_METHODS } from '../server/route-bodies.ts';
import { type Authenticator, KEY_HEADER_HINT, type SessionCookie, readSessionToken } from './authenticators.ts';

/** Returns the words for an actor's credentials in messages, such as `keys of the service account`. */
export function describeCredentialKindOfActor({ type }: Principal['actor']): string {
  return type === 'user' ? 'keys and sessions of the user' : 'keys of the service account';
}

/** Numbers of requests per minute. */
interface RateLimits {
  /** Limit of one key or session. */
  readonly perCredential: number;
  /** Limit of all keys and sessions of one user or service account. */
  readonly perOwner: number;
}

/**
 * Admits requests: finds the principal, counts its quota and checks its access, in this order. Runs before the body is
 * read, so that nothing is parsed without credentials and every response to a known principal shows its quota.
 */
export class RequestAdmission {
  constructor(
    private readonly authenticators: readonly Authenticator[],
    private readonly quota: RequestQuota,
    private readonly limits: RateLimits,
  ) {}

  /** @throws RequestError 401, 429, 403 */
  async authenticateAndAdmitRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { access = 'open' } = request.routeOptions.config;
    if (access === 'open') return;
    const principal = await this.authenticateRequest(request);
    await this.countRequestAgainstLimits(principal, reply);
    requireAccess(principal, access);
    request.principal = principal;
  }

  /**
   * Returns true if the credentials of a long-running request are still valid. The check does not count against the
   * quota.
   * @throws UnavailableError
   */
  async areCredentialsStillValid(request: FastifyRequest): Promise<boolean> {
    const { access = 'open' } = request.routeOptions.config;
    const before = request.principal;
    try {
      const now = await this.authenticateRequest(request);
      if (access !== 'open') requireAccess(now, access);
      return before !== null && now.credential_id === before.credential_id && isResourceInScope(now, before);
    } catch (error) {
      if (error instanceof RequestError) return false;
      throw error;
    }
  }

  /**
   * Counts the request against two limits. The rate limit headers show the limit with fewer remaining requests. @throws
   * RequestError `rate_limited`
   */
  private async countRequestAgainstLimits({ credential_id, actor }: Principal, reply: FastifyReply): Promise<void> {
    const owner = `owner:${actor.id}`;
    this.quota.reserveExpectedRequests?.(owner, this.limits.perOwner);
    const own = await this.quota.takeQuotaForRequest(credential_id, this.limits.perCredential);
    // Take from the owner's limit only if the key's own limit allows the request.
    const all = own.admitted ? await this.quota.takeQuotaForRequest(owner, this.limits.perOwner) : own;
    const shown = all.remaining < own.remaining || !all.admitted ? all : own;
    reply.header('X-RateLimit-Limit', shown.limit);
    reply.header('X-RateLimit-Remaining', shown.remaining);
    reply.header('X-RateLimit-Reset', shown.resetAt);
    if (shown.admitted) return;
    const scope = own.admitted ? ` for all ${describeCredentialKindOfActor(actor)}` : '';
    throw createRateLimitedError(
      `The limit of ${shown.limit} requests per minute${scope} is exceeded.`,
      shown.retryAfter,
    );
  }

  private async authenticateRequest(request: FastifyRequest): Promise<Principal> {
    for (const authenticator of this.authenticators) {
      const principal = await authenticator.authenticateRequest(request);
      if (principal) return principal;
    }
    throw createUnauthenticatedError('missing_api_key', `The request has no API key: ${KEY_HEADER_HINT}`);
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True if the route begins a session. A request that begins a session must come from our own pages, like the writes
     * of a session.
     */
    beginsSession?: boolean;
  }
}

/**
 * Accepted values of `Sec-Fetch-Site`. Browsers send `none` for a typed or bookmarked address. `same-site` is refused,
 * because another subdomain may belong to another owner.
 */
const TRUSTED_SEC_FETCH_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses writes that another site makes with a browser's cookie. A page of another site cannot send `X-Requested-With`,
 * because no CORS header allows it, and browsers name the origin of each request. Browsers never send keys by themselves,
 * so requests with a key are not checked.
 */
export class CrossSiteRequestGuard {
  private readonly origins: ReadonlySet<string>;

  /** @param ownUrls URLs of the API and the web application */
  constructor(
    private readonly cookie: SessionCookie,
    ownUrls: readonly string[],
  ) {
    this.origins = new Set(ownUrls.map((url) => new URL(url).origin));
  }

  /** @throws RequestError `csrf` */
  refuseCrossSiteRequest(request: Pick<FastifyRequest, 'method' | 'headers' | 'routeOptions'>): void {
    if (SAFE_METHODS.has(request.method) || !this.needsCrossSiteCheck(request)) return;
    const { origin, 'sec-fetch-site': site, 'x-requested-with': requestedWith } = request.headers;
    if (
      (site !== undefined && !TRUSTED_SEC_FETCH_SITES.has(String(site))) ||
      (origin !== undefined && !this.origins.has(origin))
    ) {
      throw new RequestError('csrf', `The request comes from a site other than ${[...this.origins].join(', ')}.`);
    }
    if (!requestedWith) throw new RequestError('csrf', 'Send the header X-Requested-With, with any value.');
  }

  private needsCrossSiteCheck(request: Pick<FastifyRequest, 'headers' | 'routeOptions'>): boolean {
    const { beginsSession, access = 'open' } = request.routeOptions.config;
    return beginsSession === true || (access !== 'open' && readSessionToken(request, this.cookie) !== undefined);
  }
}
