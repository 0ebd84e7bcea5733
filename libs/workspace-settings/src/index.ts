export { SettingsOfWorkspaces, type ChangeSettings, type SettingsChange } from './settings-of-workspaces.ts';
