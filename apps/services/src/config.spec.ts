import { resolve } from 'node:path';
import { ConfigError } from '@tracking/runtime';
import { loadConfig } from './config.ts';

describe('settings of the services on this machine', () => {
  it('are all optional, and webhooks may be sent to this machine', () => {
    expect(loadConfig([], {})).toMatchObject({
      replicas: 1,
      port: 3000,
      folder: resolve('data/services'),
      env: { WEBHOOKS_ALLOWED_CIDRS: '127.0.0.0/8,::1/128', WEBHOOKS_ALLOW_HTTP: 'true' },
      misspelt: [],
    });
  });

  it('are passed to the services, except those that the program sets itself', () => {
    const given = { WEBHOOKS_ALLOWED_CIDRS: '10.0.0.0/8', WEBHOOKS_ALLOW_HTTP: 'false', PLACES_FILE: 'places.csv' };
    const others = { PATH: '/bin', WEBHOOKS_URL: 'elsewhere:1', KAFKA_BROKERS: '127.0.0.1:9092', LOG_LEVEL: '' };
    const { env, kafkaBrokers } = loadConfig([], { ...given, ...others });
    expect(env).toEqual(given);
    expect(kafkaBrokers).toBe('127.0.0.1:9092');
  });

  it('are reported if they are probably misspelled, for any of the services', () => {
    const { misspelt } = loadConfig([], { KAFKA_BROKER: 'x', WEBHOOK_TIMEOUT: '5s', PATH: '/bin' });
    expect(misspelt.map(({ likely }) => likely)).toEqual(['KAFKA_BROKERS', 'WEBHOOKS_TIMEOUT']);
  });

  it('are rejected with the name of the invalid setting', () => {
    expect(() => loadConfig(['--replicas', '0'], {})).toThrow(ConfigError);
    expect(() => loadConfig(['--nonsense'], {})).toThrow(ConfigError);
    expect(() => loadConfig([], { PORT: '?' })).toThrow(/^PORT: /);
  });
});
