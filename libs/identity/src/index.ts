export type { ApiKeys, NewKeyRequest } from './api-keys.ts';
export { Identity, type IdentityOptions } from './identity.ts';
export type { Changed, IdentityCommand } from './identity-command.ts';
export { permissionsOf } from './permissions.ts';
export type { Principal } from './principal.ts';
export { DEFAULT_WORKSPACE, type Workspaces } from './workspaces.ts';
