import { randomUUID } from 'node:crypto';
import { eventually, passOperationsThroughJson } from '@tracking/testing';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../test/webhooks-test-harness.ts';
import type { WebhookOperations } from './webhooks-api.ts';

const URL_A = 'https://a.example.com/hook';
let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;
let client: WebhookOperations;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  webhooks = await harness.startWebhooks();
  client = passOperationsThroughJson<WebhookOperations>(webhooks);
});
afterEach(() => harness.closeWebhooksHarness());

describe('webhooks, called from another process,', () => {
  test('answer as in their own process', async () => {
    const endpoint = await harness.createEnabledEndpoint(client, URL_A);
    expect(await client.endpoints.get({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id })).toEqual(
      await webhooks.endpoints.get({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id }),
    );
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await eventually(async () =>
      expect(await harness.getDelivery(client, endpoint.id, event.id)).toMatchObject({ status: 'succeeded' }),
    );
    expect(await harness.getDelivery(client, endpoint.id, event.id)).toEqual(
      await harness.getDelivery(webhooks, endpoint.id, event.id),
    );
    expect(await client.endpoints.list({ ...SAMPLE_SCOPE, limit: 5 })).toEqual(
      await webhooks.endpoints.list({ ...SAMPLE_SCOPE, limit: 5 }),
    );
    expect(await client.parked.list({ limit: 5 })).toEqual({ items: [], next: null });
    const about = { ...harness.createSampleWebhookCommand(), filter: {} };
    expect(await client.deadLetters.replay(about)).toEqual({ replays: [], refused: [] });
    expect(await client.deadLetters.summary(about)).toEqual(await webhooks.deadLetters.summary(about));
  });

  test('refuse as in their own process', async () => {
    const fields = { url: 'http://a.example.com', event_types: [] };
    await expect(client.endpoints.create({ ...harness.createSampleWebhookCommand(), fields })).rejects.toMatchObject({
      name: 'DomainError',
      code: 'validation_failed',
      details: [{ param: 'url' }, { param: 'event_types' }],
    });
    const created = await client.endpoints.create({
      ...harness.createSampleWebhookCommand(),
      fields: { url: URL_A, event_types: ['*'] },
    });
    await expect(
      client.endpoints.enable({ ...harness.createSampleWebhookCommand(), endpoint_id: created.id }),
    ).rejects.toMatchObject({
      code: 'endpoint_not_verified',
    });
    await expect(
      client.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: `dlv_${randomUUID()}` }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});
