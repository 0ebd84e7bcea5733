import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  ConfigError,
  ConfigReader,
  type EnvironmentVariables,
  type Misspelt,
  type Program,
  SETTINGS,
  SETTING_NAMES,
  integer,
  misspelt,
} from '@tracking/runtime';

interface ServicesConfig {
  /** Replicas of each service. */
  readonly replicas: number;
  readonly port: number;
  /** Keeps the engines' data and all logs. */
  readonly folder: string;
  readonly enginesDir: string | undefined;
  readonly eventStoreDbUrl: string | undefined;
  readonly kafkaBrokers: string | undefined;
  readonly mongoUrl: string | undefined;
  /** All other settings go to the services as they are; webhooks may go to this machine unless they say otherwise. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that are no settings, and look like one. */
  readonly misspelt: readonly Misspelt[];
}

/** As `npm run dev` allows them. */
const LOCAL_RECEIVERS = { WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8,::1/128', WEBHOOKS_ALLOW_HTTP: 'true' };

/** Where the services, their engines and their secrets are, is up to this program. */
const OWN =
  /^(HOST|.*PORT|MANAGEMENT_HOST|(EVENTSTOREDB|MONGODB|SHIPMENTS|WEBHOOKS)_URL|KAFKA_BROKERS|SECRETS_KEY|.*_TOKEN)$/;
const SERVICES: readonly Program[] = ['gateway', 'shipments', 'projections', 'webhooks', 'setup'];
const PASSED = SETTING_NAMES.filter(
  (name) => !OWN.test(name) && SETTINGS[name].of.some((one) => SERVICES.includes(one)),
);

/** @throws ConfigError */
export function loadConfig(args: readonly string[], env: EnvironmentVariables = process.env): ServicesConfig {
  const { replicas } = options(args);
  const read = new ConfigReader(env);
  const enginesDir = resolve(read.get('ENGINES_DIR'));
  return {
    replicas: integer(1, 10)(replicas, '--replicas'),
    port: read.get('PORT'),
    folder: resolve(read.get('DATA_DIR', './data/services')),
    enginesDir: existsSync(enginesDir) ? enginesDir : undefined,
    eventStoreDbUrl: read.get('EVENTSTOREDB_URL'),
    kafkaBrokers: read.get('KAFKA_BROKERS')?.join(','),
    mongoUrl: read.get('MONGODB_URL'),
    env: { ...LOCAL_RECEIVERS, ...passed(env) },
    misspelt: misspelt(env, SETTING_NAMES),
  };
}

function passed(env: EnvironmentVariables): Readonly<Record<string, string>> {
  const names = PASSED.flatMap((name) => [name, `${name}_FILE`]);
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

function options(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { replicas: { type: 'string', default: '1' } } }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
