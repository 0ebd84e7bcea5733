export { WORKSPACE_SETTINGS_COLLECTION_SPEC } from './settings-document.ts';
export type { RequestedShipmentRecheck, RecheckProgressRecord, RecheckStore } from './rechecks.ts';
export {
  WorkspaceSettingsStore,
  type ChangeWorkspaceSettingsCommand,
  type SettingsChange,
} from './settings-of-workspaces.ts';
