import { randomUUID } from 'node:crypto';
import { eventually, passOperationsThroughJson } from '@tracking/testing';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestStage } from '../test/stage.ts';
import type { WebhookOperations } from './webhooks-api.ts';

const URL_A = 'https://a.example.com/hook';
let stage: WebhooksTestStage;
let webhooks: RunningWebhooks;
let client: WebhookOperations;

beforeEach(async () => {
  stage = await WebhooksTestStage.openWebhooksStage();
  webhooks = await stage.startWebhooks();
  client = passOperationsThroughJson<WebhookOperations>(webhooks);
});
afterEach(() => stage.closeWebhooksStage());

describe('webhooks, called from another process,', () => {
  test('answer as in their own process', async () => {
    const endpoint = await stage.createEnabledEndpoint(client, URL_A);
    expect(await client.endpoints.get({ ...stage.createCommand(), endpoint_id: endpoint.id })).toEqual(
      await webhooks.endpoints.get({ ...stage.createCommand(), endpoint_id: endpoint.id }),
    );
    const event = stage.addEvent();
    await stage.publishEvents(event);
    await eventually(async () =>
      expect(await stage.getDelivery(client, endpoint.id, event.id)).toMatchObject({ status: 'succeeded' }),
    );
    expect(await stage.getDelivery(client, endpoint.id, event.id)).toEqual(
      await stage.getDelivery(webhooks, endpoint.id, event.id),
    );
    expect(await client.endpoints.list({ ...SAMPLE_SCOPE, limit: 5 })).toEqual(
      await webhooks.endpoints.list({ ...SAMPLE_SCOPE, limit: 5 }),
    );
    expect(await client.parked.list({ limit: 5 })).toEqual({ items: [], next: null });
    const about = { ...stage.createCommand(), filter: {} };
    expect(await client.deadLetters.replay(about)).toEqual({ replays: [], refused: [] });
    expect(await client.deadLetters.summary(about)).toEqual(await webhooks.deadLetters.summary(about));
  });

  test('refuse as in their own process', async () => {
    const fields = { url: 'http://a.example.com', event_types: [] };
    await expect(client.endpoints.create({ ...stage.createCommand(), fields })).rejects.toMatchObject({
      name: 'DomainError',
      code: 'validation_failed',
      details: [{ param: 'url' }, { param: 'event_types' }],
    });
    const created = await client.endpoints.create({
      ...stage.createCommand(),
      fields: { url: URL_A, event_types: ['*'] },
    });
    await expect(client.endpoints.enable({ ...stage.createCommand(), endpoint_id: created.id })).rejects.toMatchObject({
      code: 'endpoint_not_verified',
    });
    await expect(
      client.deliveries.retry({ ...stage.createCommand(), delivery_id: `dlv_${randomUUID()}` }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});
