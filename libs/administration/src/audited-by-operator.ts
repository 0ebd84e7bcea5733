import type { AuditType } from '@tracking/contracts';
import type { AuditedByRequest, AuditTrail } from '@tracking/http';
import type { FastifyRequest } from 'fastify';
import type { AdministrationDependencies } from './dependencies.ts';
import type { NamedScope } from './operated-scopes.ts';
import { OPERATOR } from './operator.ts';

/** In the workspace that the body names; without one there is nothing to change, and the handler says so. */
export function auditedByOperator({
  workspaces,
}: Pick<AdministrationDependencies['identity'], 'workspaces'>): AuditedByRequest {
  return async ({ body }) => {
    const { workspace } = (body ?? {}) as { readonly workspace?: unknown };
    const found = typeof workspace === 'string' ? await workspaces.find(workspace) : undefined;
    return found && { workspace_id: found.id, actor: OPERATOR, address: null };
  };
}

/** Runs what changes something in one of the scopes that a request is about: each has an entry of its own. */
export function auditedIn<T>(
  trail: AuditTrail,
  request: FastifyRequest,
  {
    workspace_id,
    environment,
    type,
    target,
  }: NamedScope & { readonly type: AuditType; readonly target: string | null },
  work: () => Promise<T>,
): Promise<T> {
  const by = { workspace_id, actor: OPERATOR, address: null };
  return trail.during(request, { type, by, target, part: `${workspace_id} ${environment}` }, work);
}
