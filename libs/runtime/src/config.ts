import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { misspelt, type Misspelt } from './misspelt.ts';
import { SETTINGS } from './settings.ts';
import type { OptionalValue, Setting, SettingName, SettingValue } from './settings.ts';

/** Environment variables of a process. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Reads the settings of a program; every fault is a {@link ConfigError} that names the variable and never shows a secret. */
export class ConfigReader {
  private readonly asked = new Set<SettingName>();

  constructor(private readonly env: EnvironmentVariables) {}

  /** Variables that are probably meant for what was read so far, under another name. */
  misspelt(): readonly Misspelt[] {
    return misspelt(this.env, this.asked);
  }

  /**
   * @param otherwise the default of this program, where it has one of its own
   * @throws ConfigError
   */
  get<N extends SettingName>(name: N, otherwise: string): SettingValue<N>;
  get<N extends SettingName>(name: N): OptionalValue<N>;
  get(name: SettingName, otherwise?: string): unknown {
    const { type, default: usual }: Setting = SETTINGS[name];
    const text = this.text(name) ?? otherwise ?? usual;
    return text === undefined ? undefined : type(text, name);
  }

  /** @throws ConfigError also where it is missing */
  required<N extends SettingName>(name: N): SettingValue<N> {
    const value = this.get(name);
    if (value === undefined) throw new ConfigError(`${name} is not set`);
    return value as SettingValue<N>;
  }

  /**
   * The text, from `NAME` or from the file that `NAME_FILE` names. An empty variable counts as absent, an empty file is
   * a fault: a secret that is not there yet must not be taken for one that is not wanted.
   */
  private text(name: SettingName): string | undefined {
    this.asked.add(name);
    const value = this.env[name];
    const file = this.env[`${name}_FILE`];
    if (value && file) throw new ConfigError(`${name} and ${name}_FILE are both set: give one of them`);
    if (!file) return value || undefined;
    const content = contentOf(file, `${name}_FILE`);
    if (content === '') throw new ConfigError(`${name}_FILE: ${file} is empty`);
    return content;
  }
}

function contentOf(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new ConfigError(`${setting}: cannot read ${file} (${reason})`);
  }
}
