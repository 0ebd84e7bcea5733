import type { Principal } from '@tracking/contracts';
import { isInScope } from '@tracking/contracts';
import type { Quota } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from '../authentication/authenticator.ts';
import { HOW_TO_SEND_A_KEY } from '../authentication/key-authenticator.ts';
import { RequestError, rateLimited, unauthenticated } from '../errors/request-error.ts';
import { requireAccess } from '../operations/access.ts';

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
