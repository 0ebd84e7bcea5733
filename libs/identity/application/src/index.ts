export type { ApiKeys, NewKeyRequest, KeyRotationResult } from './api-keys.ts';
export {
  type AuditFilter,
  type AuditLog,
  type AuditedCommand,
  type PendingAuditEntry,
  createIdentitySweeper,
  type IdentitySweeperDependencies,
} from './audit-log.ts';
export { IDENTITY_COLLECTIONS } from './collections.ts';
export { MAX_EMAIL_LENGTH, describeEmailFault, normalizeEmailForComparison } from './user-store.ts';
export type { FirstAdminCreator } from './first-admin.ts';
export type { ChangeResult, IdentityCommand } from './identity-command.ts';
export { IdentityServices, type IdentityOptions } from './identity.ts';
export {
  ACCESS_TO_ALL_KEYS,
  getKeyAccessOfPrincipal,
  type AccessToApiKeys,
  getPermissionsOfRole,
} from './principal.ts';
export type {
  OneTimeLinkHolderCommand,
  OneTimeLinkDetails,
  OneTimeLinkHolder,
  RedeemOneTimeLinkInput,
  OneTimeLink,
} from './secrets.ts';
export type { OneTimeLinks } from './one-time-links.ts';
export type { ClientInPasswordQueue } from './password-queue.ts';
export { describePasswordFault, isPasswordQueueFullError, type PasswordsOptions } from './passwords.ts';
export { describeNameFault } from './records.ts';
export type { ServiceAccounts } from './service-accounts.ts';
export type { StartedSession, Sessions } from './sessions.ts';
export type { SignInCommand, SignInRequest, PasswordChange, UserPasswordChanger } from './sign-in.ts';
export type { ChangedUserWithLink, NewUser, UserChanges, Users } from './users.ts';
export { DEFAULT_WORKSPACE, type Workspaces } from './workspaces.ts';
