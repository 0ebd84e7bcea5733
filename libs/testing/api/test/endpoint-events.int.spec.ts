import { randomUUID } from 'node:crypto';
import { EVENT_TYPES_ABOUT_ENDPOINTS, EVENT_TYPES, NEWEST_API_VERSION } from '@tracking/contracts';
import type { EventEnvelope, JsonObject } from '@tracking/contracts';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { expectEventMatchesDescription } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let receiver: ClientWebhookTestReceiver;
let faulty: ClientWebhookTestReceiver;
let key: string;

beforeAll(async () => {
  // The event is due at the first failed attempt.
  api = await startApi({ webhooks: { failingAfterMs: 0 } });
  receiver = await startClientReceiver();
  faulty = await startClientReceiver();
  key = await api.key('admin');
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
  await faulty.close();
});

const post = ({ id }: JsonObject, action: string, json: unknown): Promise<ApiResponse> =>
  api.call('POST', `/v1/webhook_endpoints/${String(id)}/${action}`, { key, json });
async function publish(): Promise<void> {
  const workspace_id = await api.workspace();
  const scope = { environment: 'live', workspace_id, api_version: NEWEST_API_VERSION } as const;
  const created_at = new Date().toISOString();
  await api.publish({ id: `evt_${randomUUID()}`, type: 'shipment.created', created_at, ...scope, data: {} });
}
/** Returns received bodies of the wanted events. */
const arrived = (wanted: (event: EventEnvelope) => boolean): readonly EventEnvelope[] =>
  receiver
    .deliveries()
    .map(({ body }) => JSON.parse(String(body)) as EventEnvelope)
    .filter(wanted);
const sandboxEvent = (type: string): Promise<EventEnvelope> =>
  eventually(() => {
    const [event] = arrived((one) => one.type === type && one.sandbox === true);
    expect(event).toBeDefined();
    return event as EventEnvelope;
  });

/** Returns the names of all nested fields. Names inside a map that clients fill are omitted. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return Array.isArray(value) ? [] : 'value';
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, name === 'headers' ? 'map' : shapeOf(inner)]),
  );
}

describe('a sandbox event', () => {
  it('of each type matches the description of live events, and is marked as sandbox', async () => {
    const endpoint = await createEnabledEndpoint(api, key, receiver.url);
    for (const type of EVENT_TYPES) {
      expect((await post(endpoint, 'test', { type })).status).toBe(202);
      const event = await sandboxEvent(type);
      expectEventMatchesDescription(type, event);
      expect(event).toMatchObject({ type, environment: 'live', workspace_id: await api.workspace() });
      // A body with an unknown field or a missing one does not match the description.
      expect(() => expectEventMatchesDescription(type, { ...event, data: { ...event.data, more: 1 } })).toThrow('more');
      const { data: _data, ...without } = event;
      expect(() => expectEventMatchesDescription(type, without)).toThrow('data');
    }
  });
});

describe('an event of an endpoint', () => {
  it('matches its description and the sandbox event, and is not in the event log', async () => {
    const failing = await createEnabledEndpoint(api, key, faulty.url, { headers: { 'x-token': 'hidden-value' } });
    const listener = await createEnabledEndpoint(api, key, receiver.url, {
      event_types: [...EVENT_TYPES_ABOUT_ENDPOINTS],
    });
    faulty.setReceiverBehaviour(hostileReceiverBehaviours.answers(410));
    await publish();
    const about = (one: EventEnvelope) => (one.data['endpoint'] as JsonObject | undefined)?.['id'] === failing['id'];
    const dead = await eventually(() => {
      const [event] = arrived((one) => one.type === 'webhook_delivery.dead_lettered' && about(one));
      expect(event).toBeDefined();
      return event as EventEnvelope;
    });
    expect(dead.data).toMatchObject({
      endpoint: { headers: { 'x-token': '********' } },
      delivery: { endpoint_id: failing['id'], event_type: 'shipment.created', status: 'dead_lettered' },
      reason: { code: 'unexpected_status' },
    });
    expect(JSON.stringify(dead)).not.toContain('hidden-value');
    expect(JSON.stringify(dead)).not.toContain(failing['secret']);

    faulty.setReceiverBehaviour(hostileReceiverBehaviours.answers(500));
    await post(failing, 'enable', undefined);
    await publish();
    const failed = await eventually(() => {
      const [event] = arrived((one) => one.type === 'webhook_endpoint.failing' && about(one));
      expect(event).toBeDefined();
      return event as EventEnvelope;
    });
    for (const event of [dead, failed]) {
      expectEventMatchesDescription(event.type, event);
      await post(listener, 'test', { type: event.type });
      const { sandbox: _sandbox, ...invented } = await sandboxEvent(event.type);
      expect(shapeOf(invented)).toEqual(shapeOf(event));
      const shown = await api.call('GET', `/v1/events/${event.id}`, { key });
      expect(shown.status).toBe(404);
      const listed = await api.call('GET', `/v1/events?type=${event.type}`, { key });
      expect([listed.status, listed.body['error']]).toEqual([
        400,
        expect.objectContaining({ code: 'validation_failed', param: 'type' }),
      ]);
      const found = await api.call('GET', `/v1/webhook_deliveries?event_type=${event.type}&event_id=${event.id}`, {
        key,
      });
      expect(found.body['data']).toEqual([expect.objectContaining({ endpoint_id: listener['id'] })]);
    }
  });
});
