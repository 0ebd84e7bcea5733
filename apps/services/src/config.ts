import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  ConfigError,
  ConfigReader,
  type EnvironmentVariables,
  type MisspelledVariable,
  type Program,
  SETTINGS,
  SETTING_NAMES,
  createIntegerSettingParser,
  findMisspelledVariables,
} from '@tracking/runtime';

interface ServicesConfig {
  /** Number of replicas of each service. */
  readonly replicas: number;
  readonly port: number;
  /** Folder for the engines' data and all logs. */
  readonly folder: string;
  readonly enginesDir: string | undefined;
  readonly eventStoreDbUrl: string | undefined;
  readonly kafkaBrokers: string | undefined;
  readonly mongoUrl: string | undefined;
  /** All other settings, which the services receive unchanged. The default settings allow webhooks to this machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that look like misspelled settings. */
  readonly misspelt: readonly MisspelledVariable[];
}

/** Settings that allow webhook receivers on this machine, as `npm run dev` does. */
const SETTINGS_ALLOWING_LOCAL_RECEIVERS = {
  WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8,::1/128',
  WEBHOOKS_ALLOW_HTTP: 'true',
};

/** Names of settings that this program sets itself: the addresses of services and engines, and their secrets. */
const RESERVED_SETTING_NAME_PATTERN =
  /^(HOST|.*PORT|MANAGEMENT_HOST|(EVENTSTOREDB|MONGODB|SHIPMENTS|WEBHOOKS)_URL|KAFKA_BROKERS|SECRETS_KEY|.*_TOKEN)$/;
const SERVICE_PROGRAMS: readonly Program[] = ['gateway', 'shipments', 'projections', 'webhooks', 'setup'];
const FORWARDED_SETTING_NAMES = SETTING_NAMES.filter(
  (name) =>
    !RESERVED_SETTING_NAME_PATTERN.test(name) && SETTINGS[name].programs.some((one) => SERVICE_PROGRAMS.includes(one)),
);

/** Reads the arguments and settings. @throws ConfigError */
export function loadConfig(args: readonly string[], env: EnvironmentVariables = process.env): ServicesConfig {
  const { replicas } = parseReplicasArgument(args);
  const read = new ConfigReader(env);
  const enginesDir = resolve(read.readSetting('ENGINES_DIR'));
  return {
    replicas: createIntegerSettingParser(1, 10)(replicas, '--replicas'),
    port: read.readSetting('PORT'),
    folder: resolve(read.readSetting('DATA_DIR', './data/services')),
    enginesDir: existsSync(enginesDir) ? enginesDir : undefined,
    eventStoreDbUrl: read.readSetting('EVENTSTOREDB_URL'),
    kafkaBrokers: read.readSetting('KAFKA_BROKERS')?.join(','),
    mongoUrl: read.readSetting('MONGODB_URL'),
    env: { ...SETTINGS_ALLOWING_LOCAL_RECEIVERS, ...selectForwardedSettings(env) },
    misspelt: findMisspelledVariables(env, SETTING_NAMES),
  };
}

function selectForwardedSettings(env: EnvironmentVariables): Readonly<Record<string, string>> {
  const names = FORWARDED_SETTING_NAMES.flatMap((name) => [name, `${name}_FILE`]);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

function parseReplicasArgument(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { replicas: { type: 'string', default: '1' } } }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
