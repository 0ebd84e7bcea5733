import {
  AUTOMATIC_EXCEPTION_TYPES,
  type AutomaticExceptionType,
  DEFAULT_EXCEPTION_SETTINGS,
  DEFAULT_RULE_SETTINGS,
  type DocumentType,
  type ExceptionSettings,
  type Mode,
  TRANSPORT_MODES,
  type RuleSettings,
  type SettingsRecheckStatus,
  type WorkspaceSettings,
} from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';

/** The stored settings of a workspace, with the time of the last change. */
export interface StoredSettings
  extends WorkspaceSettingOverrides, Pick<WorkspaceSettings, 'version' | 'updated_at' | 'updated_by'> {}

/** Progress of the recheck; absent if the last change of the settings is older than the recheck feature. */
interface StoredRecheck {
  readonly recheck?: SettingsRecheckStatus & {
    /** Id of the shipment that the recheck checked last. */
    readonly after: string | null;
  };
  /** True until the recheck is finished. The index contains only documents with this value. */
  readonly is_rechecking?: true;
  /** Progress counter that guards concurrent writes. A change of the settings resets the counter to 0. */
  readonly recheck_step?: number;
}

export interface SettingsDocument extends Document, StoredSettings, StoredRecheck {
  /** Id of the command that made the last change. */
  readonly changed_by: string;
  /** Settings before the last command, so that a repeated command returns the same result. */
  readonly before: StoredSettings;
}

export type SettingsDocuments = Collection<SettingsDocument>;

export const WORKSPACE_SETTINGS_COLLECTION_SPEC: CollectionSpec = {
  name: 'workspace_settings',
  indexes: [{ name: 'rechecking', fields: ['is_rechecking', 'id'] }],
};

/** The rules and defaults with which all workspaces were last rechecked. The collection has one document. */
export interface LastRecheckedRules extends Document {
  readonly rules: string;
}

export const CHECKED_RULES_COLLECTION_SPEC: CollectionSpec = { name: 'checked_rules', indexes: [] };

/** Recheck fields that are stored with the change of the settings, so that a crash after the change loses nothing. */
export const PENDING_RECHECK_FIELDS: Required<StoredRecheck> = {
  recheck: { state: 'pending', checked: 0, started_at: null, finished_at: null, after: null },
  is_rechecking: true,
  recheck_step: 0,
};

/** Settings of a workspace without derived fields. */
export type DecidedSettings = Omit<WorkspaceSettings, 'recheck'>;

export function toEffectiveWorkspaceSettings({
  version,
  updated_at,
  updated_by,
  ...set
}: StoredSettings): DecidedSettings {
  return { ...computeEffectiveSettings(set), version, updated_at, updated_by };
}

export function toWorkspaceSettings(stored: StoredSettings & StoredRecheck): WorkspaceSettings {
  return { ...toEffectiveWorkspaceSettings(stored), recheck: removeCursorFromRecheck(stored) };
}

function removeCursorFromRecheck({ recheck }: StoredRecheck): SettingsRecheckStatus | null {
  if (recheck === undefined) return null;
  const { after: _cursor, ...progress } = recheck;
  return progress;
}

/**
 * The values that a workspace has changed. Values equal to their defaults are not stored, so that the workspace gets
 * improved defaults of later versions.
 */
export interface WorkspaceSettingOverrides {
  readonly exceptions: Readonly<Partial<Record<AutomaticExceptionType, Partial<ExceptionSettings>>>>;
  readonly required_documents: Readonly<Partial<Record<Mode, readonly DocumentType[]>>>;
}

export const NO_CHANGED_SETTINGS: WorkspaceSettingOverrides = { exceptions: {}, required_documents: {} };

/** Returns the effective settings: the changed values and the defaults of all other values. */
export function computeEffectiveSettings({ exceptions, required_documents }: WorkspaceSettingOverrides): RuleSettings {
  return {
    exceptions: createRecordFromNames(AUTOMATIC_EXCEPTION_TYPES, (type) =>
      mergeExceptionSettingsWithDefaults(type, exceptions[type] ?? {}),
    ),
    required_documents: createRecordFromNames(TRANSPORT_MODES, (mode) => required_documents[mode] ?? []),
  };
}

/** Returns the changed values of effective settings: the inverse of {@link computeEffectiveSettings}. */
export function pickValuesThatDifferFromDefault({
  exceptions,
  required_documents,
}: RuleSettings): WorkspaceSettingOverrides {
  const differing = AUTOMATIC_EXCEPTION_TYPES.map(
    (type) =>
      [type, pickSettingsDifferentFromDefaults(exceptions[type], DEFAULT_RULE_SETTINGS.exceptions[type])] as const,
  );
  return {
    exceptions: Object.fromEntries(differing.filter(([, fields]) => Object.keys(fields).length > 0)),
    required_documents: Object.fromEntries(
      TRANSPORT_MODES.filter((mode) => required_documents[mode].length > 0).map((mode) => [
        mode,
        required_documents[mode],
      ]),
    ),
  };
}

function mergeExceptionSettingsWithDefaults(
  type: AutomaticExceptionType,
  set: Partial<ExceptionSettings>,
): ExceptionSettings {
  const defaults: ExceptionSettings = DEFAULT_EXCEPTION_SETTINGS[type];
  return { ...defaults, ...set, by_mode: sortSettingsInTransportModeOrder({ ...defaults.by_mode, ...set.by_mode }) };
}

function pickSettingsDifferentFromDefaults(
  settings: ExceptionSettings,
  defaults: ExceptionSettings,
): Partial<ExceptionSettings> {
  const { by_mode, ...plain } = settings;
  const modes = Object.entries(by_mode).filter(([mode, hours]) => hours !== defaults.by_mode[mode as Mode]);
  const fields = Object.entries(plain).filter(([name, value]) => value !== defaults[name as keyof typeof plain]);
  return { ...Object.fromEntries(fields), ...(modes.length > 0 && { by_mode: Object.fromEntries(modes) }) };
}

/** Sorts members in the order of {@link TRANSPORT_MODES}. */
function sortSettingsInTransportModeOrder(by_mode: ExceptionSettings['by_mode']): ExceptionSettings['by_mode'] {
  return Object.fromEntries(
    TRANSPORT_MODES.flatMap((mode) => (by_mode[mode] === undefined ? [] : [[mode, by_mode[mode]]])),
  );
}

function createRecordFromNames<Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Value,
): Readonly<Record<Name, Value>> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
}
