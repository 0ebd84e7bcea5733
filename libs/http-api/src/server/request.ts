import { randomUUID } from 'node:crypto';
import type { Permission } from '@tracking/contracts';
import type { Principal } from '@tracking/identity';
import type { Clock } from '@tracking/ports';
import type { Scope } from '@tracking/read-models';
import type { CommandContext } from '@tracking/shipments';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key it is; set on every route that has a permission, before its handler runs. */
    principal: Principal | null;
  }
  interface FastifyContextConfig {
    /** What the key must be allowed to do. Routes without one are open to everybody. */
    permission?: Permission;
  }
}

/** Who asks. Only for routes that require a permission. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error('a route without a permission has no principal');
  return request.principal;
}

export function scopeOf(request: FastifyRequest): Scope {
  const { workspace_id, environment } = principalOf(request);
  return { workspace_id, environment };
}

/** `Prefer: handling=strict` (RFC 7240): what would be ignored or warned about is refused. */
export function isStrict(request: FastifyRequest): boolean {
  const prefer = request.headers['prefer'];
  return prefer !== undefined && /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(String(prefer));
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What every command carries, made once per request. */
export function commandContext(request: FastifyRequest, clock: Clock): CommandContext {
  const { workspace_id, environment, actor } = principalOf(request);
  const traceparent = request.headers['traceparent'];
  return {
    id: randomUUID(),
    at: clock().toISOString(),
    workspace_id,
    environment,
    actor,
    request_id: request.id,
    traceparent: typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : null,
    strict: isStrict(request),
  };
}
