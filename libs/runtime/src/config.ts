import { readFileSync } from 'node:fs';
import type { Logger } from '@tracking/ports';
import { ConfigError } from './setting-types.ts';
import {
  type OptionalValue,
  type SettingDefinition,
  SETTING_NAMES,
  type SettingName,
  SETTINGS,
  type SettingValue,
} from './settings.ts';

/** Prefixes of setting names that no other program uses. */
const SETTING_PREFIXES_FOR_MISSPELLING_CHECK = [
  'ADMINISTRATION_',
  'KAFKA_SASL_',
  'MANAGEMENT_',
  'MCP_',
  'RATE_LIMIT_',
  'RETENTION_',
  'WEBHOOKS_',
];
/**
 * Variables in which Kubernetes describes the surrounding services to each process. Their names start with the name of
 * a service.
 */
const KUBERNETES_VARIABLE_PATTERN = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?)$/;

/** Environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of a program. Every error is a {@link ConfigError} that names the variable and never contains a
 * secret.
 */
export class ConfigReader {
  private readonly readNames = new Set<SettingName>();

  constructor(private readonly env: EnvironmentVariables) {}

  /** Returns variables that are probably misspelled names of the settings read so far. */
  findMisspelledVariables(): readonly MisspelledVariable[] {
    return findMisspelledVariables(this.env, this.readNames);
  }

  /**
   * Reads a setting.
   * @param programDefault default of the calling program, if it differs from the declared default
   * @throws ConfigError
   */
  readSetting<N extends SettingName>(name: N, programDefault: string): SettingValue<N>;
  readSetting<N extends SettingName>(name: N): OptionalValue<N>;
  readSetting(name: SettingName, programDefault?: string): unknown {
    const { type, default: declaredDefault }: SettingDefinition = SETTINGS[name];
    const text = this.readSettingText(name) ?? programDefault ?? declaredDefault;
    return text === undefined ? undefined : type(text, name);
  }

  /** Reads a setting that must be set. @throws ConfigError */
  readRequiredSetting<N extends SettingName>(name: N): SettingValue<N> {
    const value = this.readSetting(name);
    if (value === undefined) throw new ConfigError(`${name} is not set`);
    return value as SettingValue<N>;
  }

  /**
   * Returns the text of a setting from `NAME`, or from the file that `NAME_FILE` names. An empty variable counts as not
   * set. An empty file is an error, because the secret may not have been written yet.
   */
  private readSettingText(name: SettingName): string | undefined {
    this.readNames.add(name);
    const value = this.env[name];
    const file = this.env[`${name}_FILE`];
    if (value && file) throw new ConfigError(`${name} and ${name}_FILE are both set: set only one of them`);
    if (!file) return value || undefined;
    const content = readSettingFile(file, `${name}_FILE`);
    if (content === '') throw new ConfigError(`${name}_FILE: ${file} is empty`);
    return content;
  }
}

function readSettingFile(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new ConfigError(`${setting}: the file ${file} cannot be read (${reason})`);
  }
}

/** Environment variable that is not a setting, and the setting whose name is similar. */
export interface MisspelledVariable {
  readonly variable: string;
  readonly likely: string;
}

/**
 * Finds variables that look like misspelled settings of a program. A variable that is closer to another program's
 * setting is ignored.
 * @param settingNames names of the program's settings
 */
export function findMisspelledVariables(
  env: Readonly<Record<string, string | undefined>>,
  settingNames: Iterable<string>,
): readonly MisspelledVariable[] {
  const withFiles = (names: Iterable<string>) => [...names].flatMap((name) => [name, `${name}_FILE`]);
  const own = new Set(withFiles(settingNames));
  const known = new Set([...withFiles(SETTING_NAMES), ...own]);
  return Object.entries(env).flatMap(([variable, value]) => {
    if (!value || known.has(variable) || !/^[A-Z][A-Z0-9_]*$/.test(variable)) return [];
    const likely = findClosestName(variable, known);
    return likely !== undefined && own.has(likely) ? [{ variable, likely }] : [];
  });
}

export function warnOfMisspelledVariables(logger: Logger, found: readonly MisspelledVariable[]): void {
  for (const { variable, likely } of found) {
    logger.warn({ variable, likely }, `${variable} is not a setting; did you mean ${likely}?`);
  }
}

function findClosestName(variable: string, names: Iterable<string>): string | undefined {
  const prefix = KUBERNETES_VARIABLE_PATTERN.test(variable)
    ? undefined
    : SETTING_PREFIXES_FOR_MISSPELLING_CHECK.find((each) => variable.startsWith(each));
  const candidates = [...names]
    .map((name) => ({ name, edits: computeEditDistance(variable, name) }))
    .filter(
      ({ name, edits }) => edits <= computeMaxEditDistance(name) || (prefix !== undefined && name.startsWith(prefix)),
    )
    .sort((one, other) => one.edits - other.edits);
  return candidates[0]?.name;
}

/**
 * Returns the maximum number of edits at which two names count as the same: 0 for short names, which resemble other
 * words too easily.
 */
function computeMaxEditDistance({ length }: string): number {
  if (length < 8) return 0;
  if (length < 12) return 1;
  return length < 15 ? 2 : 3;
}

/**
 * Counts the edits between two names: letters inserted, deleted or replaced, and neighbours swapped (optimal string
 * alignment).
 */
function computeEditDistance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = getNumberAt(last, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const swapped = areNeighbouringLettersSwapped(one, i, other, j) ? getNumberAt(before, j - 2) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, getNumberAt(last, j) + 1, getNumberAt(row, j - 1) + 1));
    }
    [before, last] = [last, row];
  }
  return getNumberAt(last, other.length);
}

/**
 * Returns true if the two letters before `i` in the first text are the swapped letters before `j` in the second text.
 */
function areNeighbouringLettersSwapped(one: string, i: number, other: string, j: number): boolean {
  return i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
}

function getNumberAt(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
