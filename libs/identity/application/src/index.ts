export type { ApiKeys, NewKeyRequest, RotatedKey } from './api-keys.ts';
export {
  type AuditFilter,
  type AuditLog,
  type AuditedCommand,
  type OpenAuditEntry,
  createIdentitySweeper,
  type IdentitySweeperDependencies,
} from './audit-log.ts';
export { IDENTITY_COLLECTIONS } from './collections.ts';
export { MAX_EMAIL_LENGTH, describeEmailFault, normalizeEmailForComparison } from './user-store.ts';
export type { FirstAdmin } from './first-admin.ts';
export type { ChangeResult, IdentityCommand } from './identity-command.ts';
export { Identity, type IdentityOptions } from './identity.ts';
export { ACCESS_TO_ALL_KEYS, getKeysWithinReach, type KeyAccess, getPermissions } from './principal.ts';
export type { LinkCommand, LinkDetails, LinkHolder, LinkUse, OneTimeLink } from './secrets.ts';
export type { OneTimeLinks } from './one-time-links.ts';
export type { PasswordClient } from './password-queue.ts';
export { describePasswordFault, isPasswordQueueFull, type PasswordsOptions } from './passwords.ts';
export { describeNameFault } from './records.ts';
export type { ServiceAccounts } from './service-accounts.ts';
export type { StartedSession, Sessions } from './sessions.ts';
export type { SignInCommand, SignInRequest, PasswordChange, UserPasswords } from './sign-in.ts';
export type { ChangedWithLink, NewUser, UserChanges, Users } from './users.ts';
export { DEFAULT_WORKSPACE, type Workspaces } from './workspaces.ts';
