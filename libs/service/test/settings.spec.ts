import { jest } from '@jest/globals';
import { ConfigReader, SETTINGS } from '@tracking/runtime';

const APPS = ['standalone', 'gateway', 'shipments', 'projections', 'webhooks', 'setup'];
/** Read by the command line, by development tools, or by Docker Compose alone. */
const OF_OTHERS = ['ADMINISTRATION_URL', 'API_KEY', 'API_PORTS', 'ENGINES_DIR', 'MANAGEMENT_PORTS'];

/** Everything that is needed, and what makes other settings be read. */
const ENV = {
  ADMINISTRATION_TOKEN: 'a-token-of-thirty-two-characters',
  EVENTSTOREDB_URL: 'esdb://127.0.0.1:2113?tls=false',
  KAFKA_BROKERS: '127.0.0.1:9092',
  KAFKA_SASL_MECHANISM: 'plain',
  KAFKA_SASL_PASSWORD: 'secret',
  KAFKA_SASL_USERNAME: 'somebody',
  MONGODB_URL: 'mongodb://127.0.0.1:27017',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  SERVICES_TOKEN: 'a-token-of-thirty-two-characters',
  SHIPMENTS_URL: '127.0.0.1:4001',
  WEBHOOKS_URL: '127.0.0.1:4002',
};

it('the settings that misspelt ones are compared with are those that are read', async () => {
  const asked = jest.spyOn(ConfigReader.prototype, 'optional');
  for (const app of APPS) {
    // A computed path: no project imports an app, but for this look at all of them.
    const { loadConfig } = (await import(`../../../apps/${app}/src/config.ts`)) as { loadConfig(env: object): object };
    loadConfig(ENV);
  }
  const names = new Set([...asked.mock.calls.map(([name]) => name), ...OF_OTHERS]);
  asked.mockRestore();
  expect([...names].sort()).toEqual([...SETTINGS].sort());
});
