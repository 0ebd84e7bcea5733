import type { HttpDependencies } from '@tracking/http';
import type { Identity } from '@tracking/identity';
import type { SettingsOfWorkspaces } from '@tracking/workspace-settings';

/** Injection tokens of single {@link IdentityHttpDependencies}. */
export const IDENTITY_TOKEN = Symbol('identity');
export const WORKSPACE_SETTINGS_TOKEN = Symbol('settings of workspaces');

/** Dependencies of the routes about users, keys, sessions and settings. */
export interface IdentityHttpDependencies extends HttpDependencies {
  /** Users, service accounts, keys, sessions and the audit log. */
  readonly identity: Identity;
  /** Settings by workspace. */
  readonly workspaceSettings: Pick<SettingsOfWorkspaces, 'getSettings' | 'changeSettings'>;
}
