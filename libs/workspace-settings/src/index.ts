export { SETTINGS_DOCUMENTS } from './settings-document.ts';
export type { SettingsRecheck, RecheckProgress, RecheckStore } from './rechecks.ts';
export { SettingsOfWorkspaces, type ChangeSettingsRequest, type SettingsChange } from './settings-of-workspaces.ts';
