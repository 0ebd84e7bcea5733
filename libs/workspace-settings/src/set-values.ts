import {
  AUTOMATIC_EXCEPTION_TYPES,
  DEFAULT_EXCEPTION_SETTINGS,
  DEFAULT_RULE_SETTINGS,
  MODES,
} from '@tracking/contracts';
import type { AutomaticExceptionType, DocumentType, ExceptionSettings, Mode, RuleSettings } from '@tracking/contracts';

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
