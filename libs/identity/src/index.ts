export type { ApiKeys, NewKeyRequest, RotatedKey } from './api-keys.ts';
export { Identity, type IdentityOptions } from './identity.ts';
export type { Changed, IdentityCommand } from './identity-command.ts';
export { EVERY_KEY, keyReachOf, type KeyReach } from './key-reach.ts';
export type { PageOf, PageRequest } from './newest-first.ts';
export { permissionsOf } from './permissions.ts';
export type { Principal } from './principal.ts';
export type { ServiceAccounts } from './service-accounts.ts';
export { DEFAULT_WORKSPACE, type Workspaces } from './workspaces.ts';
