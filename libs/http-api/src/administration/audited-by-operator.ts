import type { AuditedByRequest } from '../audit/audited.ts';
import type { AdministrationDependencies } from './dependencies.ts';
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
