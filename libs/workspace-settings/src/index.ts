export type { Recheck, RecheckProgress, Rechecks } from './rechecks.ts';
export { SettingsOfWorkspaces, type ChangeSettingsRequest, type SettingsChange } from './settings-of-workspaces.ts';
