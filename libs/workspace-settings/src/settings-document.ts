import {
  AUTOMATIC_EXCEPTION_TYPES,
  type AutomaticExceptionType,
  DEFAULT_EXCEPTION_SETTINGS,
  DEFAULT_RULE_SETTINGS,
  type DocumentType,
  type ExceptionSettings,
  type Mode,
  MODES,
  type RuleSettings,
  type SettingsRecheck,
  type WorkspaceSettings,
} from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';

/** What a workspace set, and when. */
export interface StoredSettings extends SetValues, Pick<WorkspaceSettings, 'version' | 'updated_at' | 'updated_by'> {}

/** How far shipments are checked again; absent where the settings changed last before that was done. */
interface StoredRecheck {
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

/** What a workspace set: only what differs from the defaults, so that it gets the better ones of a later version. */
export interface SetValues {
  readonly exceptions: Readonly<Partial<Record<AutomaticExceptionType, Partial<ExceptionSettings>>>>;
  readonly required_documents: Readonly<Partial<Record<Mode, readonly DocumentType[]>>>;
}

export const NOTHING_SET: SetValues = { exceptions: {}, required_documents: {} };

/** What holds for a workspace that set this. */
export function valuesOf({ exceptions, required_documents }: SetValues): RuleSettings {
  return {
    exceptions: byName(AUTOMATIC_EXCEPTION_TYPES, (type) => exceptionSettings(type, exceptions[type] ?? {})),
    required_documents: byName(MODES, (mode) => required_documents[mode] ?? []),
  };
}

/** The opposite of {@link valuesOf}. */
export function setValuesOf({ exceptions, required_documents }: RuleSettings): SetValues {
  const differing = AUTOMATIC_EXCEPTION_TYPES.map(
    (type) => [type, differences(exceptions[type], DEFAULT_RULE_SETTINGS.exceptions[type])] as const,
  );
  return {
    exceptions: Object.fromEntries(differing.filter(([, fields]) => Object.keys(fields).length > 0)),
    required_documents: Object.fromEntries(
      MODES.filter((mode) => required_documents[mode].length > 0).map((mode) => [mode, required_documents[mode]]),
    ),
  };
}

function exceptionSettings(type: AutomaticExceptionType, set: Partial<ExceptionSettings>): ExceptionSettings {
  const defaults: ExceptionSettings = DEFAULT_EXCEPTION_SETTINGS[type];
  return { ...defaults, ...set, by_mode: inOrder({ ...defaults.by_mode, ...set.by_mode }) };
}

function differences(settings: ExceptionSettings, defaults: ExceptionSettings): Partial<ExceptionSettings> {
  const { by_mode, ...plain } = settings;
  const modes = Object.entries(by_mode).filter(([mode, hours]) => hours !== defaults.by_mode[mode as Mode]);
  const fields = Object.entries(plain).filter(([name, value]) => value !== defaults[name as keyof typeof plain]);
  return { ...Object.fromEntries(fields), ...(modes.length > 0 && { by_mode: Object.fromEntries(modes) }) };
}

/** As modes stand everywhere. */
function inOrder(by_mode: ExceptionSettings['by_mode']): ExceptionSettings['by_mode'] {
  return Object.fromEntries(MODES.flatMap((mode) => (by_mode[mode] === undefined ? [] : [[mode, by_mode[mode]]])));
}

function byName<Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Value,
): Readonly<Record<Name, Value>> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
}
