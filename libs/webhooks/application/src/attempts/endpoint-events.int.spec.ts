import { jest } from '@jest/globals';
import { EVENT_MESSAGE_HEADERS, type EventEnvelope } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import { DEAD_LETTERS_TOPIC } from '../settings.ts';

jest.setTimeout(30_000);

const [FAULTY, TOLD, OTHER] = ['faulty', 'told', 'other'].map((name) => `https://${name}.example.com/hook`) as [
  string,
  string,
  string,
];
const FAILING = 'webhook_endpoint.failing';
const DEAD = 'webhook_delivery.dead_lettered';
const OPERATING = { event_types: [FAILING, DEAD] };
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Two attempts, and then a dead letter. */
const SHORT: RetryPolicy = { firstMs: 10, factor: 1, capMs: 10, windowMs: 10 };
/** After two minutes, and then every day. */
const LONG: RetryPolicy = { firstMs: 2 * MINUTE, factor: 1_000, capMs: 24 * HOUR, windowMs: 72 * HOUR };

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  harness.receivers.setFakeReceiverBehaviour(FAULTY, (request) =>
    request.headers['service-event-type'] === 'endpoint.verification'
      ? harness.receivers.respondWithOk(request)
      : createReceiverAnswer(500),
  );
});
afterEach(async () => {
  expect(harness.errors).toEqual([]);
  await harness.closeWebhooksHarness();
});

type Told = EventEnvelope & { readonly data: { readonly [name: string]: Readonly<Record<string, unknown>> } };
/** Events about endpoints that arrived there, oldest first. */
const told = (url = TOLD): readonly Told[] =>
  harness.receivers
    .listDeliveriesReceivedAtUrl(url)
    .map(({ body }) => JSON.parse(body) as Told)
    .filter(({ type }) => type === FAILING || type === DEAD);
const untilTold = (times = 1) =>
  eventually(() => {
    expect(told()).toHaveLength(times);
    return told().at(-1) as Told;
  });
/** Once this event is delivered, all earlier ones were handled. */
async function another(url = OTHER): Promise<void> {
  const before = harness.receivers.listDeliveriesReceivedAtUrl(url).length;
  await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog({ type: 'document.uploaded' }));
  await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(url).length).toBeGreaterThan(before));
}
const other = () => harness.createEnabledEndpoint(webhooks, OTHER, { event_types: ['document.uploaded'] });
const on = (endpoint_id: string) => ({ ...harness.createSampleWebhookCommand(), endpoint_id });
const statusOf = (endpoint_id: string, event_id: string) =>
  harness.getDelivery(webhooks, endpoint_id, event_id).then(({ status }) => status);

describe('the event about a dead letter', () => {
  beforeEach(async () => void (webhooks = await harness.startWebhooks({ policy: SHORT })));

  test('is sent to the other endpoints that subscribe to it, in the trace of the request', async () => {
    const secret = 'Bearer of the receiver';
    const faulty = await harness.createEnabledEndpoint(webhooks, FAULTY, {
      event_types: ['*', DEAD],
      headers: { token: secret },
    });
    const listener = await harness.createEnabledEndpoint(webhooks, TOLD, OPERATING);
    await harness.createEnabledEndpoint(webhooks, OTHER, { event_types: ['*', FAILING] });
    const event = harness.addAcknowledgedEventToLog();
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const header = {
      [EVENT_MESSAGE_HEADERS.traceparent]: `00-${trace}-b7ad6b7169203331-01`,
      [EVENT_MESSAGE_HEADERS.requestId]: 'req_1',
    };
    await harness.sendMessages(harness.createEventMessage(event, header));
    const { id, created_at, data, ...envelope } = await untilTold();
    const dead = await harness.getDelivery(webhooks, faulty.id, event.id);
    const { payload: _payload, attempts: _attempts, version: _version, ...shown } = dead;
    expect(id).toMatch(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(envelope).toEqual({ type: DEAD, api_version: '2026-11-01', ...SAMPLE_SCOPE });
    expect(created_at).toBe(dead.completed_at);
    const { secret: _secret, ...endpoint } = faulty;
    expect(data).toEqual({
      endpoint: { ...endpoint, headers: { token: '********' } },
      delivery: { ...shown, version: expect.any(Number) as number },
      reason: { code: 'unexpected_status', message: 'The endpoint answered 500.' },
    });
    const [request] = harness.receivers.listDeliveriesReceivedAtUrl(TOLD);
    expect(request?.headers['traceparent']?.slice(3, 35)).toBe(trace);
    expect(JSON.stringify(request?.body)).not.toContain(faulty.secret);
    await eventually(async () => expect(await statusOf(listener.id, id)).toBe('succeeded'));
    expect([told(OTHER), told(FAULTY)]).toEqual([[], []]);
    expect(await harness.listDeliveries(webhooks, { event_id: id })).toHaveLength(1);
  });

  test('is sent to enabled endpoints of the same workspace and environment only', async () => {
    const scopes = [
      { ...SAMPLE_SCOPE, workspace_id: 'wsp_two' },
      { ...SAMPLE_SCOPE, environment: 'test' as const },
    ];
    for (const scope of scopes) await harness.createEnabledEndpoint(webhooks, OTHER, OPERATING, scope);
    const disabled = await harness.createEnabledEndpoint(webhooks, OTHER, OPERATING);
    await webhooks.endpoints.disable(on(disabled.id));
    const removed = await harness.createEnabledEndpoint(webhooks, OTHER, OPERATING);
    await webhooks.endpoints.remove(on(removed.id));
    await webhooks.endpoints.create({ ...harness.createSampleWebhookCommand(), fields: { url: OTHER, ...OPERATING } });
    await harness.createEnabledEndpoint(webhooks, FAULTY);
    await harness.createEnabledEndpoint(webhooks, TOLD, OPERATING);
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    const { id } = await untilTold();
    for (const scope of [SAMPLE_SCOPE, ...scopes]) {
      const found = await harness.listDeliveries(webhooks, { event_types: [DEAD] }, scope);
      expect(found.map(({ event_id }) => event_id)).toEqual(scope === SAMPLE_SCOPE ? [id] : []);
    }
  });

  test('is sent again after a replay that fails', async () => {
    const faulty = await harness.createEnabledEndpoint(webhooks, FAULTY);
    await harness.createEnabledEndpoint(webhooks, TOLD, OPERATING);
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const first = await untilTold();
    const { id } = await harness.getDelivery(webhooks, faulty.id, event.id);
    harness.clockOffset += 1_000;
    await webhooks.deadLetters.replay({ ...harness.createSampleWebhookCommand(), filter: { delivery_ids: [id] } });
    const second = await untilTold(2);
    expect(second.data['delivery']).toMatchObject({ id });
    expect(second.id).not.toBe(first.id);
  });

  test('is told of what an endpoint gave up for itself', async () => {
    const gone = await harness.createEnabledEndpoint(webhooks, FAULTY);
    harness.receivers.setFakeReceiverBehaviour(FAULTY, () => createReceiverAnswer(410));
    await harness.createEnabledEndpoint(webhooks, TOLD, OPERATING);
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    expect((await untilTold()).data['endpoint']).toMatchObject({ id: gone.id });
  });

  test('is not sent about deliveries of such events: two failing endpoints do not notify each other', async () => {
    await harness.createEnabledEndpoint(webhooks, FAULTY, { event_types: ['*', DEAD] });
    harness.receivers.setFakeReceiverBehaviour(TOLD, () => createReceiverAnswer(500));
    const id = await registered(TOLD);
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { endpoint_id: id, statuses: ['dead_lettered'] })).toHaveLength(1),
    );
    await eventually(() => expect(webhooks.metrics.getMetricValue('webhook_dead_letters_total')).toBe(2));
    expect(await harness.readMessages(DEAD_LETTERS_TOPIC, 2)).toHaveLength(2);
    expect(await harness.listDeliveries(webhooks, { event_types: [DEAD] })).toHaveLength(1);
  });

  /** An endpoint that fails from its first delivery on. */
  async function registered(url: string): Promise<string> {
    harness.receivers.setFakeReceiverBehaviour(url, (request) =>
      request.headers['service-event-type'] === 'endpoint.verification'
        ? harness.receivers.respondWithOk(request)
        : createReceiverAnswer(500),
    );
    return (await harness.createEnabledEndpoint(webhooks, url, OPERATING)).id;
  }
});

describe('the event about a failing endpoint', () => {
  beforeEach(async () => {
    webhooks = await harness.startWebhooks({ policy: LONG });
    await other();
    await harness.createEnabledEndpoint(webhooks, TOLD, OPERATING);
  });

  /** An endpoint with one failed attempt, and another two minutes later. */
  async function failsSince() {
    const { id } = await harness.createEnabledEndpoint(webhooks, FAULTY);
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const attempted = async (attempts_count: number) =>
      eventually(async () =>
        expect(await harness.getDelivery(webhooks, id, event.id)).toMatchObject({ status: 'retrying', attempts_count }),
      );
    await attempted(1);
    const { attempts } = await harness.getDelivery(webhooks, id, event.id);
    harness.clockOffset += 3 * MINUTE;
    await attempted(2);
    return { id, since: attempts[0]?.at };
  }

  test('is sent after an hour without a success, once', async () => {
    const { id, since } = await failsSince();
    harness.clockOffset += 56 * MINUTE;
    await another();
    expect(told()).toEqual([]);
    harness.clockOffset += 2 * MINUTE;
    const event = await untilTold();
    expect(event).toMatchObject({
      type: FAILING,
      data: { endpoint: { id, status: 'enabled' }, failing_since: since, reason: { code: 'unexpected_status' } },
    });
    expect(Object.keys(event.data)).toEqual(['endpoint', 'failing_since', 'reason']);
    expect(Date.parse(event.created_at) - Date.parse(String(since))).toBeGreaterThanOrEqual(HOUR);
    harness.clockOffset += 30 * HOUR;
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(FAULTY)).toHaveLength(3));
    await another();
    expect(told()).toHaveLength(1);
  });

  test('is sent again after an answer in between, and not if it answered within the hour', async () => {
    const { id } = await failsSince();
    harness.receivers.setFakeReceiverBehaviour(FAULTY, () => createReceiverAnswer(200));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(FAULTY)).toHaveLength(3));
    harness.clockOffset += HOUR;
    await another();
    expect(told()).toEqual([]);
    harness.receivers.setFakeReceiverBehaviour(FAULTY, () => createReceiverAnswer(503));
    const failed = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(failed);
    await eventually(async () => expect(await statusOf(id, failed.id)).toBe('retrying'));
    harness.clockOffset += HOUR;
    const first = await untilTold();
    harness.receivers.setFakeReceiverBehaviour(FAULTY, () => createReceiverAnswer(200));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await statusOf(id, failed.id)).toBe('succeeded'));
    harness.receivers.setFakeReceiverBehaviour(FAULTY, () => createReceiverAnswer(503));
    const again = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(again);
    await eventually(async () => expect(await statusOf(id, again.id)).toBe('retrying'));
    harness.clockOffset += HOUR + 1_000;
    const second = await untilTold(2);
    expect(second.id).not.toBe(first.id);
    expect(String(second.data['failing_since']) > String(first.data['failing_since'])).toBe(true);
  });

  test('is not sent while the endpoint is disabled, and afterwards only after another hour', async () => {
    const { id } = await failsSince();
    await webhooks.endpoints.disable(on(id));
    harness.clockOffset += 2 * HOUR;
    await another();
    await webhooks.endpoints.enable(on(id));
    // The endpoint may have been repaired while it was disabled: the next attempt shows.
    harness.clockOffset += 2 * HOUR;
    await another();
    expect(told()).toEqual([]);
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    expect((await untilTold()).data['endpoint']).toMatchObject({ id });
  });

  test('is sent by the next owner at the same time, about the same beginning', async () => {
    const { id, since } = await failsSince();
    await webhooks.stop();
    webhooks = await harness.startWebhooks({ policy: LONG });
    await another();
    expect(told()).toEqual([]);
    harness.clockOffset += 58 * MINUTE;
    const event = await untilTold();
    expect(event.data).toMatchObject({ endpoint: { id }, failing_since: since });
    expect(event.data['reason']).toEqual({ code: 'unexpected_status', message: 'The endpoint answered 500.' });
    await webhooks.stop();
    webhooks = await harness.startWebhooks({ policy: LONG });
    harness.clockOffset += 2 * HOUR;
    await another();
    expect(told()).toHaveLength(1);
  });

  test('is not sent about old failures before the new owner made an attempt', async () => {
    const { id } = await failsSince();
    for (const { id: delivery_id } of await harness.listDeliveries(webhooks, { endpoint_id: id })) {
      await webhooks.deliveries.discard({ ...harness.createSampleWebhookCommand(), delivery_id });
    }
    await webhooks.stop();
    webhooks = await harness.startWebhooks({ policy: LONG });
    harness.clockOffset += 5 * HOUR;
    harness.receivers.setFakeReceiverBehaviour(FAULTY, () => createReceiverAnswer(200));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { endpoint_id: id, statuses: ['succeeded'] })).toHaveLength(1),
    );
    await another();
    expect(told()).toEqual([]);
  });
});
