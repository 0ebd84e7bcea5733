import { randomUUID } from 'node:crypto';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let receiver: ClientWebhookTestReceiver;
let key: string;
let path: string;

beforeAll(async () => {
  api = await startApi();
  receiver = await startClientReceiver();
  key = await api.key('developer');
  path = `/v1/webhook_endpoints/${String((await createEnabledEndpoint(api, key, receiver.url))['id'])}/stats`;
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

const stats = (query = '', by = key): Promise<ApiResponse> => api.call('GET', `${path}${query}`, { key: by });

async function publish(): Promise<void> {
  const about = { type: 'shipment.created', api_version: '2026-11-01', environment: 'live' } as const;
  const created_at = new Date().toISOString();
  const workspace_id = await api.workspace();
  await api.publish({ id: `evt_${randomUUID()}`, ...about, created_at, workspace_id, data: { shipment_id: 'shp_a' } });
}

describe('statistics of an endpoint', () => {
  it('tell what became of what was sent to it', async () => {
    const { body: before } = await stats();
    expect(before).toMatchObject({
      endpoint_id: path.split('/')[3],
      hours: [],
      waiting: { count: 0, is_at_least: false, oldest_at: null },
      last_success_at: null,
      last_error: null,
    });
    const length = Date.parse(String(before['until'])) - Date.parse(String(before['since']));
    expect(length).toBe(86_400_000);

    await publish();
    await eventually(() => expect(receiver.deliveries()).toHaveLength(1));
    receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(503, ''));
    await publish();
    await eventually(
      async () => {
        const { status, body } = await stats('?since=2026-11-01T00:00:00%2B01:00&until=2026-11-20T00:00:00Z');
        expect(status).toBe(200);
        expect(body).toMatchObject({ since: '2026-10-31T23:00:00.000Z', until: '2026-11-20T00:00:00.000Z', hours: [] });
        expect(body['last_success_at']).toEqual(expect.any(String));
        expect(body['last_error']).toMatchObject({ code: 'unexpected_status', status_code: 503 });
      },
      { deadlineMs: 10_000 },
    );
    const { body } = await stats();
    const hours = body['hours'] as Record<string, unknown>[];
    expect(hours.length).toBeGreaterThan(0);
    for (const hour of hours) {
      expect(hour).toEqual({
        hour: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/),
        attempts: { succeeded: expect.any(Number), failed: expect.any(Number) },
        deliveries: { succeeded: expect.any(Number), dead_lettered: 0, discarded: 0 },
        latency_ms: Object.fromEntries(['p50', 'p95', 'p99', 'max'].map((name) => [name, expect.any(Number)])),
        is_exact: true,
      });
    }
    expect(body['waiting']).toMatchObject({ count: 1, is_at_least: false, oldest_at: expect.any(String) });
  });

  it.each([
    ['?since=yesterday', 'since'],
    ['?until=5', 'until'],
    ['?since=2026-11-02T00:00:00Z&until=2026-11-01T00:00:00Z', 'since'],
    ['?since=2026-10-01T00:00:00Z&until=2026-11-01T00:00:00Z', 'since'],
    ['?since=0001-01-01T00:00:00Z&until=0001-01-01T00:00:00Z', 'since'],
    ['?until=0000-01-01T00:00:00Z', 'until'],
    ['?hours=5', 'hours'],
  ])('refuse %s', async (query, param) => {
    const { status, body } = await stats(query);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain(`"param":"${param}"`);
  });

  it('are those of the own workspace and environment only', async () => {
    expect((await stats('', await api.key('developer', 'test'))).status).toBe(404);
    expect((await api.call('GET', '/v1/webhook_endpoints/whe_x/stats', { key })).status).toBe(404);
  });
});
