import type { HttpDependencies } from '@tracking/http';
import type { Identity } from '@tracking/identity';
import type { SettingsOfWorkspaces } from '@tracking/workspace-settings';

/** Injection tokens of single {@link IdentityHttpDependencies}. */
export const IDENTITY = Symbol('identity');
export const WORKSPACE_SETTINGS = Symbol('settings of workspaces');

export interface IdentityHttpDependencies extends HttpDependencies {
  readonly identity: Identity;
  readonly workspaceSettings: Pick<SettingsOfWorkspaces, 'get' | 'change'>;
}
