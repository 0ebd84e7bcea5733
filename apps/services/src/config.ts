import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, ConfigReader, SETTINGS, misspelt, type Environment, type Misspelt } from '@tracking/runtime';

/** Where engines that start without Docker are looked for. */
const ENGINES_DIR = '../shared/engines';

export interface ServicesConfig {
  /** Of each service. */
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

const PASSED = /^(WEBHOOKS_(?!URL)|RATE_LIMIT|RETENTION_|KAFKA_(?!BROKERS)|PLACES_FILE|LOG_LEVEL|APP_URL|BASE_URL)/;

/** @throws ConfigError */
export function loadConfig(args: readonly string[], env: Environment = process.env): ServicesConfig {
  const { replicas } = options(args);
  const read = new ConfigReader({ ...env, REPLICAS: replicas });
  const enginesDir = resolve(read.string('ENGINES_DIR', ENGINES_DIR));
  return {
    replicas: read.integer('REPLICAS', 1, 1, 10),
    port: read.integer('PORT', 3000, 1, 65535),
    folder: resolve(read.string('DATA_DIR', './data/services')),
    enginesDir: existsSync(enginesDir) ? enginesDir : undefined,
    eventStoreDbUrl: read.optional('EVENTSTOREDB_URL'),
    kafkaBrokers: read.optional('KAFKA_BROKERS'),
    mongoUrl: read.optional('MONGODB_URL'),
    env: { ...LOCAL_RECEIVERS, ...passed(env) },
    misspelt: misspelt(env, SETTINGS),
  };
}

function passed(env: Environment): Readonly<Record<string, string>> {
  const given = Object.entries(env).flatMap(([name, value]) => (value && PASSED.test(name) ? [[name, value]] : []));
  return Object.fromEntries(given) as Record<string, string>;
}

function options(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: { replicas: { type: 'string' } } }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
