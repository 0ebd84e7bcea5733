import type { Permission } from '@tracking/contracts';
import type { Principal } from '@tracking/identity';
import type { Quota } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApiDependencies } from '../dependencies.ts';
import { RequestError } from '../errors/request-error.ts';

const HOW = 'send the header Authorization: Bearer <API_KEY>, the word Bearer and a space before the key.';
/** Longer than any key of ours: what exceeds it is not worth a look-up. */
const MAX_KEY_LENGTH = 200;

/**
 * Who may pass: the key, its quota, its permission, in this order. Runs before the body is read, so that nothing is
 * parsed for strangers and every answer to a known key, also about a broken body, shows its quota.
 */
export class Admission {
  constructor(
    private readonly authenticate: HttpApiDependencies['authenticate'],
    private readonly quota: Quota,
    private readonly limitPerMinute: number,
  ) {}

  /** @throws RequestError 401, 429, 403 */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { permission } = request.routeOptions.config;
    if (permission === undefined) return;
    const principal = await this.principal(request.headers.authorization);
    const decision = await this.quota.take(principal.key_id, this.limitPerMinute);
    reply.header('X-RateLimit-Limit', decision.limit);
    reply.header('X-RateLimit-Remaining', decision.remaining);
    reply.header('X-RateLimit-Reset', decision.resetAt);
    if (!decision.admitted) {
      const retryAfter = String(Math.max(1, decision.retryAfter));
      const message = `More than ${decision.limit} requests within a minute.`;
      throw new RequestError('rate_limited', message, [], { 'Retry-After': retryAfter });
    }
    requirePermission(principal, permission);
    request.principal = principal;
  }

  private async principal(header: string | undefined): Promise<Principal> {
    if (!header) throw unauthenticated('missing_api_key', `There is no API key: ${HOW}`);
    const key = /^Bearer +([!-~]+) *$/i.exec(header)?.[1];
    // Told of every key alike: it is not looked up.
    if (key === undefined) throw unauthenticated('invalid_api_key', `The header is not of its form: ${HOW}`);
    const principal = key.length <= MAX_KEY_LENGTH ? await this.authenticate(key) : undefined;
    // One answer whatever is wrong with it: unknown, revoked, expired, or no key at all.
    if (!principal) throw unauthenticated('invalid_api_key', 'The API key is not valid.');
    return principal;
  }
}

/** @throws RequestError 403 naming the permission */
export function requirePermission(principal: Principal, permission: Permission): void {
  if (principal.permissions.has(permission)) return;
  throw new RequestError('permission_denied', `The API key lacks the permission ${permission}.`);
}

function unauthenticated(code: 'missing_api_key' | 'invalid_api_key', message: string): RequestError {
  return new RequestError(code, message, [], { 'WWW-Authenticate': 'Bearer' });
}
