export type { Recheck, RecheckProgress, Rechecks } from './rechecks.ts';
export { SettingsOfWorkspaces, type ChangeSettings, type SettingsChange } from './settings-of-workspaces.ts';
