import { PERMISSIONS } from '@tracking/contracts';
import type { CredentialsHolder, Timestamp } from '@tracking/contracts';
import type { Collection } from '@tracking/ports';
import type { ApiKeyDocument } from './api-key-document.ts';
import { permissionsOf } from './permissions.ts';
import type { Principal } from './principal.ts';
import type { ServiceAccounts } from './service-accounts.ts';
import type { Sessions } from './sessions.ts';
import type { UserDocument } from './user-document.ts';
import type { Workspaces } from './workspaces.ts';

export interface CredentialsHolderParts {
  readonly workspaces: Workspaces;
  readonly users: Collection<UserDocument>;
  readonly accounts: Pick<ServiceAccounts, 'getMany'>;
  readonly keys: Collection<ApiKeyDocument>;
  readonly sessions: Sessions;
}

type Owner = Pick<CredentialsHolder, 'user' | 'service_account' | 'role'>;

/** Who makes a request, as they ask it themselves. */
export async function credentialsHolder(
  parts: CredentialsHolderParts,
  principal: Principal,
): Promise<CredentialsHolder | undefined> {
  const { workspace_id, environment } = principal;
  const [owner, workspace, expires_at] = await Promise.all([
    ownerOf(parts, principal),
    parts.workspaces.get(workspace_id),
    endOf(parts, principal),
  ]);
  if (!owner || expires_at === undefined) return undefined;
  const allowed = permissionsOf(owner.role, environment);
  const permissions = PERMISSIONS.filter((permission) => allowed.has(permission));
  return { ...owner, workspace: { id: workspace.id, name: workspace.name }, permissions, environment, expires_at };
}

async function ownerOf({ users, accounts }: CredentialsHolderParts, principal: Principal): Promise<Owner | undefined> {
  const { id } = principal.actor;
  if (principal.type === 'service_account_key') {
    const [account] = await accounts.getMany([id]);
    return account && { user: null, service_account: { id, name: account.name }, role: account.role };
  }
  const user = await users.get(id);
  return user && { user: { id, name: user.name, email: user.email }, service_account: null, role: user.role };
}

/** Undefined where the key or session is not there any more. */
async function endOf(
  { keys, sessions }: CredentialsHolderParts,
  { type, credential_id }: Principal,
): Promise<Timestamp | null | undefined> {
  if (type === 'session') return (await sessions.documents.get(credential_id))?.expires_at;
  const key = await keys.get(credential_id);
  return key && (key.expires_at ?? null);
}
