import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, UnavailableError } from '@tracking/ports';
import { ConfigReader, findMisspelledVariables, warnOfMisspelledVariables } from './config.ts';
import { convertMachineErrorToConfigError, ConfigError } from './setting-types.ts';
import { SETTING_NAMES } from './settings.ts';

const read = (env: Record<string, string>) => new ConfigReader(env);

describe('ConfigReader', () => {
  it('returns the default if a setting is missing or empty', () => {
    expect(read({}).readSetting('HOST')).toBe('127.0.0.1');
    expect(read({ PORT: '' }).readSetting('PORT')).toBe(3000);
    expect(read({}).readSetting('PORT', '4001')).toBe(4001);
    expect(read({ PORT: '80' }).readSetting('PORT', '4001')).toBe(80);
    expect(read({}).readSetting('PLACES_FILE')).toBeUndefined();
  });

  it.each([
    ['a missing setting', () => read({}).readRequiredSetting('MONGODB_URL')],
    ['a wrong value', () => read({ MONGODB_URL: 'a', PORT: '?' }).readSetting('PORT')],
    ['a missing file', () => read({ MONGODB_URL_FILE: '/does/not/exist' }).readSetting('MONGODB_URL')],
    ['an empty file', () => read({ MONGODB_URL_FILE: '/dev/null' }).readSetting('MONGODB_URL')],
    ['two sources', () => read({ MONGODB_URL: 'a', MONGODB_URL_FILE: '/b' }).readSetting('MONGODB_URL')],
  ])('rejects %s with one line that names the variable', (_, act) => {
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(/^(MONGODB_URL|PORT)(_FILE)?\b[^\n]*$/);
  });

  it('reads any setting from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'config-'));
    try {
      writeFileSync(join(folder, 'key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
      expect(read({ SECRETS_KEY_FILE: join(folder, 'key') }).readRequiredSetting('SECRETS_KEY')).toEqual(
        Buffer.alloc(32, 7),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('convertMachineErrorToConfigError', () => {
  it('reports errors of the machine or an engine as errors of the setting', async () => {
    const missing = readFile(join(tmpdir(), 'no', 'such', 'file'));
    await expect(convertMachineErrorToConfigError('DATA_DIR', missing)).rejects.toThrow(ConfigError);
    await expect(convertMachineErrorToConfigError('DATA_DIR', missing)).rejects.toThrow(/^DATA_DIR: ENOENT/);
    const broken = Promise.reject(new UnavailableError('storage', 'file is not a database'));
    await expect(convertMachineErrorToConfigError('DATA_DIR', broken)).rejects.toThrow(
      /^DATA_DIR: storage: file is not a database$/,
    );
  });

  it('passes results and other errors unchanged', async () => {
    await expect(convertMachineErrorToConfigError('PORT', Promise.resolve(1))).resolves.toBe(1);
    await expect(convertMachineErrorToConfigError('PORT', Promise.reject(new TypeError('ours')))).rejects.toThrow(
      TypeError,
    );
  });
});

const OWN = ['HOST', 'PORT', 'DATA_DIR', 'LOG_LEVEL', 'SECRETS_KEY', 'TRUSTED_PROXIES', 'RATE_LIMIT_PER_MINUTE'];
const WEBHOOKS = ['WEBHOOKS_TIMEOUT', 'WEBHOOKS_RETRY_FIRST', 'WEBHOOKS_RETRY_CAP', 'RETENTION_DELIVERIES'];
const STANDALONE = [...OWN, ...WEBHOOKS, 'MANAGEMENT_PORT', 'BASE_URL', 'APP_URL'];
const found = (names: readonly string[], own: readonly string[] = STANDALONE) =>
  findMisspelledVariables(Object.fromEntries(names.map((name) => [name, 'x'])), own);

describe('misspelled settings', () => {
  it.each([
    ['DATADIR', 'DATA_DIR'],
    ['DATA_DRI', 'DATA_DIR'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['BASE_URI', 'BASE_URL'],
    ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
    ['RATE_LIMIT_PER_MIN', 'RATE_LIMIT_PER_MINUTE'],
    ['RATE_LIMIT_PER_SECOND', 'RATE_LIMIT_PER_MINUTE'],
    ['WEBHOOK_TIMEOUT', 'WEBHOOKS_TIMEOUT'],
    ['WEBHOOKS_TIMEOUT_MS', 'WEBHOOKS_TIMEOUT'],
    ['WEBHOOKS_RETRY_FRIST', 'WEBHOOKS_RETRY_FIRST'],
    ['RETENTION_DELIVERY', 'RETENTION_DELIVERIES'],
    ['SECRET_KEY_FILE', 'SECRETS_KEY_FILE'],
    ['MANAGMENT_PORT', 'MANAGEMENT_PORT'],
  ])('%s is probably %s', (variable, likely) => {
    expect(found([variable])).toEqual([{ variable, likely }]);
  });

  it('include no settings of any program, nor their file variants', () => {
    expect(found([...SETTING_NAMES, ...SETTING_NAMES.map((name) => `${name}_FILE`)])).toEqual([]);
  });

  it.each([
    ['of the system', 'PATH HOME HOSTNAME HOSTTYPE LOGNAME PWD SHELL TERM USER LANG TZ TMPDIR PORTS POST SORT'],
    ['of tools', 'NODE_ENV NODE_OPTIONS DEBUG CI npm_config_port npm_package_name DATABASE_URL API_URL LOG_FORMAT'],
    ['of other programs', 'KAFKA_HEAP_OPTS KAFKA_HOME MONGODB_URI EVENTSTORE_INSECURE REDIS_URL SERVICE_PORT RETRY'],
    ['of Kubernetes', 'WEBHOOKS_SERVICE_HOST WEBHOOKS_SERVICE_PORT WEBHOOKS_SERVICE_PORT_GRPC WEBHOOKS_PORT'],
    ['of Kubernetes, by port', 'WEBHOOKS_PORT_4002_TCP WEBHOOKS_PORT_4002_TCP_ADDR KUBERNETES_SERVICE_HOST'],
  ])('include no variables %s', (_whose, names) => {
    expect(found(names.split(' '))).toEqual([]);
  });

  it('are reported by the program that they are meant for', () => {
    expect(found(['KAFKA_BROKER'])).toEqual([]);
    const likely = 'KAFKA_BROKERS';
    expect(found(['KAFKA_BROKER'], ['LOG_LEVEL', likely])).toEqual([{ variable: 'KAFKA_BROKER', likely }]);
  });

  it('are ignored if they are empty', () => {
    expect(findMisspelledVariables({ DATADIR: '', LOGLEVEL: undefined }, STANDALONE)).toEqual([]);
  });

  it('are compared with the settings that were read, and reported without their values', () => {
    const read = new ConfigReader({ SECRET_KEY: 'sesame', LOG_LEVEL: 'info' });
    expect(read.findMisspelledVariables()).toEqual([]);
    read.readSetting('SECRETS_KEY');
    const lines: unknown[] = [];
    const silent = () => undefined;
    const logger: Logger = {
      debug: silent,
      info: silent,
      warn: (fields, message) => void lines.push([fields, message]),
      error: silent,
    };
    warnOfMisspelledVariables(logger, read.findMisspelledVariables());
    expect(lines).toEqual([
      [{ variable: 'SECRET_KEY', likely: 'SECRETS_KEY' }, 'SECRET_KEY is not a setting; did you mean SECRETS_KEY?'],
    ]);
  });
});
