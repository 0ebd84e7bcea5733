import type { FastifyRequest } from 'fastify';
import { RequestError } from '../errors/request-error.ts';
import { sessionToken } from './session-authenticator.ts';
import type { SessionCookie } from './session-cookie.ts';

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
