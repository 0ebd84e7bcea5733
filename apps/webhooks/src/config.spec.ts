import { loadConfig } from './config.ts';

const ENV = {
  KAFKA_BROKERS: 'kafka:9092',
  MONGODB_URL: 'mongodb://mongodb:27017',
  SHIPMENTS_URL: 'shipments:4001',
  SERVICES_TOKEN: 't'.repeat(32),
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
};
const OWN = { SERVICES_TLS_CERT: 'cert', SERVICES_TLS_KEY: 'key' };

describe('settings of webhooks', () => {
  test('say where shipments are', () => {
    expect(loadConfig(ENV).shipments).toEqual({ services: { shipments: 'dns:///shipments:4001' } });
    const { SHIPMENTS_URL: _, ...others } = ENV;
    expect(() => loadConfig(others)).toThrow('SHIPMENTS_URL');
  });

  test('have shipments called by TLS where webhooks are', () => {
    expect(loadConfig({ ...ENV, ...OWN }).shipments).toMatchObject({ tls: true });
    expect(loadConfig({ ...ENV, ...OWN, SERVICES_TLS_CA: 'ca' })).toMatchObject({
      tls: { ca: 'ca', cert: 'cert', key: 'key' },
      shipments: { tls: { ca: 'ca', cert: 'cert', key: 'key' } },
    });
  });
});
