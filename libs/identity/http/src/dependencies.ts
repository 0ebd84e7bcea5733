import type { HttpDependencies } from '@tracking/http';
import type { IdentityServices } from '@tracking/identity';
import type { WorkspaceSettingsStore } from '@tracking/workspace-settings';

/** Injection tokens of single {@link IdentityHttpDependencies}. */
export const IDENTITY_INJECTION_TOKEN = Symbol('identity');
export const WORKSPACE_SETTINGS_INJECTION_TOKEN = Symbol('settings of workspaces');

/** Dependencies of the routes about users, keys, sessions and settings. */
export interface IdentityHttpDependencies extends HttpDependencies {
  /** Users, service accounts, keys, sessions and the audit log. */
  readonly identity: IdentityServices;
  /** Settings by workspace. */
  readonly workspaceSettings: Pick<WorkspaceSettingsStore, 'getWorkspaceSettings' | 'changeSettings'>;
}
