import { randomUUID } from 'node:crypto';
import { DirectCommandChannel } from '@tracking/embedded';
import { eventually, silentLogger } from '@tracking/testing';
import { type Running, SCOPE, Stage } from '../test/stage.ts';
import { serveWebhooks, webhooksClient } from './command-service.ts';
import type { WebhooksApi } from './webhooks-api.ts';

const URL_A = 'https://a.example.com/hook';
let stage: Stage;
let webhooks: Running;
let client: WebhooksApi;

beforeEach(async () => {
  stage = await Stage.open();
  webhooks = await stage.start();
  const channel = new DirectCommandChannel(silentLogger);
  serveWebhooks(channel, webhooks);
  client = webhooksClient(channel, 5_000);
});
afterEach(() => stage.close());

describe('webhooks over the command channel', () => {
  test('answer as they do in their own process', async () => {
    const endpoint = await stage.endpoint(client, URL_A);
    expect(await client.endpoints.get({ ...stage.command(), endpoint_id: endpoint.id })).toEqual(
      await webhooks.endpoints.get({ ...stage.command(), endpoint_id: endpoint.id }),
    );
    const event = stage.event();
    await stage.publish(event);
    await eventually(async () =>
      expect(await stage.delivery(client, endpoint.id, event.id)).toMatchObject({ status: 'succeeded' }),
    );
    expect(await stage.delivery(client, endpoint.id, event.id)).toEqual(
      await stage.delivery(webhooks, endpoint.id, event.id),
    );
    expect(await client.endpoints.list({ ...SCOPE, limit: 5 })).toEqual(
      await webhooks.endpoints.list({ ...SCOPE, limit: 5 }),
    );
    expect(await client.parked.list({ limit: 5 })).toEqual({ items: [], next: null });
    expect(await client.deliveries.replayDeadLetters({ at: stage.now(), scopes: [SCOPE], filter: {} })).toEqual({
      matched: 0,
      done: 0,
    });
  });

  test('refuse as they do in their own process', async () => {
    const fields = { url: 'http://a.example.com', event_types: [] };
    await expect(client.endpoints.create({ ...stage.command(), fields })).rejects.toMatchObject({
      name: 'DomainError',
      code: 'validation_failed',
      details: [{ param: 'url' }, { param: 'event_types' }],
    });
    const created = await client.endpoints.create({ ...stage.command(), fields: { url: URL_A, event_types: ['*'] } });
    await expect(client.endpoints.enable({ ...stage.command(), endpoint_id: created.id })).rejects.toMatchObject({
      code: 'endpoint_not_verified',
    });
    await expect(
      client.deliveries.retry({ ...stage.command(), delivery_id: `dlv_${randomUUID()}` }),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});
