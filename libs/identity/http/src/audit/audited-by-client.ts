import type { AuditedByRequest } from '@tracking/http';
import type { Identity } from '@tracking/identity';

/** Who makes a request of the public API: who has credentials, or who holds the one-time link that the path names. */
export function auditedByClient({ links }: Pick<Identity, 'links'>): AuditedByRequest {
  return async (request) => {
    const { principal, ip: address } = request;
    if (principal) return { workspace_id: principal.workspace_id, actor: principal.actor, address };
    const { token } = request.params as { readonly token?: string };
    const holder = token === undefined ? undefined : await links.holder(token);
    if (!holder) return undefined;
    const { workspace_id, user_id, purpose } = holder;
    const type = purpose === 'password_reset' ? 'user.password_changed' : 'user.joined';
    return { workspace_id, actor: { type: 'user', id: user_id }, address, type };
  };
}
