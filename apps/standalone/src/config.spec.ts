import { resolve } from 'node:path';
import { ConfigError, loadConfig } from './config.ts';

describe('settings of the standalone server', () => {
  it('needs none', () => {
    expect(loadConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      baseUrl: undefined,
      dataDir: resolve('./data'),
      rateLimitPerMinute: 1000,
      managementPort: 9464,
      trustedProxies: [],
      logLevel: 'info',
    });
  });

  it.each([
    'PORT',
    'BASE_URL',
    'APP_URL',
    'SECRETS_KEY',
    'RATE_LIMIT_PER_MINUTE',
    'MANAGEMENT_PORT',
    'TRUSTED_PROXIES',
    'LOG_LEVEL',
    'WEBHOOKS_ALLOWED_CIDRS',
    'WEBHOOKS_ALLOW_HTTP',
    'WEBHOOKS_RETRY_FIRST',
    'WEBHOOKS_RETRY_FACTOR',
    'WEBHOOKS_RETRY_CAP',
    'WEBHOOKS_RETRY_WINDOW',
    'WEBHOOKS_TIMEOUT',
    'WEBHOOKS_RECOVERY_AFTER',
    'RETENTION_DELIVERIES',
    'RETENTION_DEAD_LETTERS',
  ])('names %s when it is wrong', (name) => {
    expect(() => loadConfig({ [name]: '?' })).toThrow(ConfigError);
    expect(() => loadConfig({ [name]: '?' })).toThrow(new RegExp(`^${name}: `));
  });
});
