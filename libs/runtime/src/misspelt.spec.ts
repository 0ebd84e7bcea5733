import type { Logger } from '@tracking/ports';
import { ConfigReader } from './config.ts';
import { misspelt, warnOfMisspelt } from './misspelt.ts';
import { SETTING_NAMES } from './settings.ts';

const OWN = ['HOST', 'PORT', 'DATA_DIR', 'LOG_LEVEL', 'SECRETS_KEY', 'TRUSTED_PROXIES', 'RATE_LIMIT_PER_MINUTE'];
const WEBHOOKS = ['WEBHOOKS_TIMEOUT', 'WEBHOOKS_RETRY_FIRST', 'WEBHOOKS_RETRY_CAP', 'RETENTION_DELIVERIES'];
const STANDALONE = [...OWN, ...WEBHOOKS, 'MANAGEMENT_PORT', 'BASE_URL', 'APP_URL'];
const found = (names: readonly string[], own: readonly string[] = STANDALONE) =>
  misspelt(Object.fromEntries(names.map((name) => [name, 'x'])), own);

describe('misspelt settings', () => {
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

  it('are none of the settings, of whatever program, nor those as files', () => {
    expect(found([...SETTING_NAMES, ...SETTING_NAMES.map((name) => `${name}_FILE`)])).toEqual([]);
  });

  it.each([
    ['of the system', 'PATH HOME HOSTNAME HOSTTYPE LOGNAME PWD SHELL TERM USER LANG TZ TMPDIR PORTS POST SORT'],
    ['of tools', 'NODE_ENV NODE_OPTIONS DEBUG CI npm_config_port npm_package_name DATABASE_URL API_URL LOG_FORMAT'],
    ['of other programs', 'KAFKA_HEAP_OPTS KAFKA_HOME MONGODB_URI EVENTSTORE_INSECURE REDIS_URL SERVICE_PORT RETRY'],
    ['of Kubernetes', 'WEBHOOKS_SERVICE_HOST WEBHOOKS_SERVICE_PORT WEBHOOKS_SERVICE_PORT_GRPC WEBHOOKS_PORT'],
    ['of Kubernetes, by port', 'WEBHOOKS_PORT_4002_TCP WEBHOOKS_PORT_4002_TCP_ADDR KUBERNETES_SERVICE_HOST'],
  ])('are no variables %s', (_whose, names) => {
    expect(found(names.split(' '))).toEqual([]);
  });

  it('are told by the program that they are meant for', () => {
    expect(found(['KAFKA_BROKER'])).toEqual([]);
    const likely = 'KAFKA_BROKERS';
    expect(found(['KAFKA_BROKER'], ['LOG_LEVEL', likely])).toEqual([{ variable: 'KAFKA_BROKER', likely }]);
  });

  it('are none where they are empty', () => {
    expect(misspelt({ DATADIR: '', LOGLEVEL: undefined }, STANDALONE)).toEqual([]);
  });

  it('are compared with what was asked for, and told without their values', () => {
    const read = new ConfigReader({ SECRET_KEY: 'sesame', LOG_LEVEL: 'info' });
    expect(read.misspelt()).toEqual([]);
    read.get('SECRETS_KEY');
    const lines: unknown[] = [];
    const silent = () => undefined;
    const logger: Logger = {
      debug: silent,
      info: silent,
      warn: (fields, message) => void lines.push([fields, message]),
      error: silent,
    };
    warnOfMisspelt(logger, read.misspelt());
    expect(lines).toEqual([
      [{ variable: 'SECRET_KEY', likely: 'SECRETS_KEY' }, 'SECRET_KEY is no setting, did you mean SECRETS_KEY?'],
    ]);
  });
});
