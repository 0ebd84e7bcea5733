import type { SettingsRecheck, WorkspaceSettings } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { valuesOf } from './set-values.ts';
import type { SetValues } from './set-values.ts';

/** What a workspace set, and when. */
export interface StoredSettings extends SetValues, Pick<WorkspaceSettings, 'version' | 'updated_at' | 'updated_by'> {}

/** How far shipments are checked again; absent where the settings changed last before that was done. */
export interface StoredRecheck {
  readonly recheck?: SettingsRecheck & {
    /** Id of the last shipment that was checked. */
    readonly after: string | null;
  };
  /** Until it is done: only these are in the index. */
  readonly is_rechecking?: true;
  /** Grows with its progress, by which nobody overwrites what another wrote; a change of settings begins at 0. */
  readonly recheck_step?: number;
}

export interface SettingsDocument extends Document, StoredSettings, StoredRecheck {
  /** The command of the last change. */
  readonly changed_by: string;
  /** As they were before it: that command, repeated, answers the same. */
  readonly before: StoredSettings;
}

export type SettingsDocuments = Collection<SettingsDocument>;

export const SETTINGS_DOCUMENTS: CollectionSpec = {
  name: 'workspace_settings',
  indexes: [{ name: 'rechecking', fields: ['is_rechecking', 'id'] }],
};

/** By which rules and defaults all workspaces were last checked: one document. */
export interface CheckedRules extends Document {
  readonly rules: string;
}

export const CHECKED_RULES: CollectionSpec = { name: 'checked_rules', indexes: [] };

/** Stored with the change itself: a crash right after it loses nothing. */
export const TO_RECHECK: Required<StoredRecheck> = {
  recheck: { state: 'pending', checked: 0, started_at: null, finished_at: null, after: null },
  is_rechecking: true,
  recheck_step: 0,
};

/** What was decided, without what comes of it. */
export type DecidedSettings = Omit<WorkspaceSettings, 'recheck'>;

export function decidedSettings({ version, updated_at, updated_by, ...set }: StoredSettings): DecidedSettings {
  return { ...valuesOf(set), version, updated_at, updated_by };
}

export function workspaceSettings(stored: StoredSettings & StoredRecheck): WorkspaceSettings {
  return { ...decidedSettings(stored), recheck: shown(stored) };
}

function shown({ recheck }: StoredRecheck): SettingsRecheck | null {
  if (recheck === undefined) return null;
  const { after: _cursor, ...progress } = recheck;
  return progress;
}
