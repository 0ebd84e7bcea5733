import { randomUUID } from 'node:crypto';
import { EVENT_MESSAGE_HEADERS, NEWEST_API_VERSION, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { EmbeddedSqliteEngine } from '@tracking/embedded';
import { createOutboundHttp } from '@tracking/outbound-http';
import { noMetrics, silentLogger, waitForSimulatedDelay } from '@tracking/testing';
import { WEBHOOK_BROKER_TOPICS, WebhooksFeature } from '../src/index.ts';
import { FakeEventLog } from './fake-event-log.ts';

/**
 * A process that records and delivers, to be killed: `delivering-process DATA_DIR ENDPOINT_URL publish|drain`. It
 * writes a line `published <event id>` for each event that the broker has accepted, and `idle` when nothing is pending.
 */
const [dataDir = '', url = '', task = ''] = process.argv.slice(2);
const sampleScope = { workspace_id: 'wsp_one', environment: 'live' } as const;
const createSampleWebhookCommand = () => ({ ...sampleScope, id: randomUUID(), at: new Date().toISOString() });
/** Log position after the head of the empty event store, at which the endpoint is enabled. */
const LOG_POSITION_OF_ENDPOINT_ENABLING = '1';
const printLine = (line: string) => process.stdout.write(`${line}\n`);

const embeddedEngine = await EmbeddedSqliteEngine.openEmbeddedEngine({
  dataDir,
  logger: silentLogger,
  metrics: noMetrics,
});
await embeddedEngine.messageBroker.ensureTopics([SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_BROKER_TOPICS]);
const runningWebhooks = await WebhooksFeature.start({
  eventStore: embeddedEngine.eventStore,
  eventLog: new FakeEventLog(),
  documentStore: embeddedEngine.documentStore,
  broker: embeddedEngine.messageBroker,
  leases: embeddedEngine.leases,
  outbound: createOutboundHttp({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true }),
  secretsKey: new Uint8Array(32),
  clock: () => new Date(),
  random: Math.random,
  logger: silentLogger,
  metrics: noMetrics,
  settings: {
    addresses: { appUrl: 'https://app.example.com', baseUrl: 'https://api.example.com' },
    policy: { firstMs: 20, factor: 2, capMs: 200, windowMs: 3_600_000 },
  },
});

if ((await runningWebhooks.endpoints.list({ ...sampleScope, limit: 1 })).items.length === 0) {
  const fields = { url, event_types: ['*'] };
  const { id: endpoint_id } = await runningWebhooks.endpoints.create({ ...createSampleWebhookCommand(), fields });
  await runningWebhooks.endpoints.verify({ ...createSampleWebhookCommand(), endpoint_id });
  await runningWebhooks.endpoints.enable({ ...createSampleWebhookCommand(), endpoint_id });
}
printLine('ready');

while (task === 'publish') {
  const ids = Array.from({ length: 5 }, () => `evt_${randomUUID()}`);
  const messages = ids.map((id) => {
    const made = { created_at: new Date().toISOString(), api_version: NEWEST_API_VERSION };
    const event = { id, type: 'shipment.created', ...made, ...sampleScope, data: {} };
    const headers = {
      [EVENT_MESSAGE_HEADERS.id]: id,
      [EVENT_MESSAGE_HEADERS.position]: LOG_POSITION_OF_ENDPOINT_ENABLING,
    };
    return { key: id, value: JSON.stringify(event), headers };
  });
  await embeddedEngine.messageBroker.publishMessages(SHIPMENT_EVENTS_TOPIC.name, messages);
  for (const id of ids) printLine(`published ${id}`);
  await waitForSimulatedDelay(1);
}
for (;;) {
  const lag = await embeddedEngine.messageBroker.readConsumerLag(SHIPMENT_EVENTS_TOPIC.name, 'webhooks');
  const statuses = ['pending', 'retrying'] as const;
  const { items } = await runningWebhooks.deliveries.list({
    scopes: [sampleScope],
    filter: { statuses },
    limit: 1,
  });
  if (lag === 0 && items.length === 0) break;
  await waitForSimulatedDelay(10);
}
printLine('idle');
await runningWebhooks.stop();
await embeddedEngine.closeEngine();
