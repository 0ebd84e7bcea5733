import { jest } from '@jest/globals';
import { EVENT_HEADERS, type EventEnvelope } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestStage } from '../../test/stage.ts';
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

let stage: WebhooksTestStage;
let webhooks: RunningWebhooks;
beforeEach(async () => {
  stage = await WebhooksTestStage.openWebhooksStage();
  stage.receivers.respondWith(FAULTY, (request) =>
    request.headers['service-event-type'] === 'endpoint.verification'
      ? stage.receivers.respondWithOk(request)
      : createReceiverAnswer(500),
  );
});
afterEach(async () => {
  expect(stage.errors).toEqual([]);
  await stage.closeWebhooksStage();
});

type Told = EventEnvelope & { readonly data: { readonly [name: string]: Readonly<Record<string, unknown>> } };
/** Events about endpoints that arrived there, oldest first. */
const told = (url = TOLD): readonly Told[] =>
  stage.receivers
    .listDeliveriesAt(url)
    .map(({ body }) => JSON.parse(body) as Told)
    .filter(({ type }) => type === FAILING || type === DEAD);
const untilTold = (times = 1) =>
  eventually(() => {
    expect(told()).toHaveLength(times);
    return told().at(-1) as Told;
  });
/** Once this event is delivered, all earlier ones were handled. */
async function another(url = OTHER): Promise<void> {
  const before = stage.receivers.listDeliveriesAt(url).length;
  await stage.publishEvents(stage.addEvent({ type: 'document.uploaded' }));
  await eventually(() => expect(stage.receivers.listDeliveriesAt(url).length).toBeGreaterThan(before));
}
const other = () => stage.createEnabledEndpoint(webhooks, OTHER, { event_types: ['document.uploaded'] });
const on = (endpoint_id: string) => ({ ...stage.createCommand(), endpoint_id });
const statusOf = (endpoint_id: string, event_id: string) =>
  stage.getDelivery(webhooks, endpoint_id, event_id).then(({ status }) => status);

describe('the event about a dead letter', () => {
  beforeEach(async () => void (webhooks = await stage.startWebhooks({ policy: SHORT })));

  test('is sent to the other endpoints that subscribe to it, in the trace of the request', async () => {
    const secret = 'Bearer of the receiver';
    const faulty = await stage.createEnabledEndpoint(webhooks, FAULTY, {
      event_types: ['*', DEAD],
      headers: { token: secret },
    });
    const listener = await stage.createEnabledEndpoint(webhooks, TOLD, OPERATING);
    await stage.createEnabledEndpoint(webhooks, OTHER, { event_types: ['*', FAILING] });
    const event = stage.addEvent();
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const header = {
      [EVENT_HEADERS.traceparent]: `00-${trace}-b7ad6b7169203331-01`,
      [EVENT_HEADERS.requestId]: 'req_1',
    };
    await stage.sendMessages(stage.createMessage(event, header));
    const { id, created_at, data, ...envelope } = await untilTold();
    const dead = await stage.getDelivery(webhooks, faulty.id, event.id);
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
    const [request] = stage.receivers.listDeliveriesAt(TOLD);
    expect(request?.headers['traceparent']?.slice(3, 35)).toBe(trace);
    expect(JSON.stringify(request?.body)).not.toContain(faulty.secret);
    await eventually(async () => expect(await statusOf(listener.id, id)).toBe('succeeded'));
    expect([told(OTHER), told(FAULTY)]).toEqual([[], []]);
    expect(await stage.listDeliveries(webhooks, { event_id: id })).toHaveLength(1);
  });

  test('is sent to enabled endpoints of the same workspace and environment only', async () => {
    const scopes = [
      { ...SAMPLE_SCOPE, workspace_id: 'wsp_two' },
      { ...SAMPLE_SCOPE, environment: 'test' as const },
    ];
    for (const scope of scopes) await stage.createEnabledEndpoint(webhooks, OTHER, OPERATING, scope);
    const disabled = await stage.createEnabledEndpoint(webhooks, OTHER, OPERATING);
    await webhooks.endpoints.disable(on(disabled.id));
    const removed = await stage.createEnabledEndpoint(webhooks, OTHER, OPERATING);
    await webhooks.endpoints.remove(on(removed.id));
    await webhooks.endpoints.create({ ...stage.createCommand(), fields: { url: OTHER, ...OPERATING } });
    await stage.createEnabledEndpoint(webhooks, FAULTY);
    await stage.createEnabledEndpoint(webhooks, TOLD, OPERATING);
    await stage.publishEvents(stage.addEvent());
    const { id } = await untilTold();
    for (const scope of [SAMPLE_SCOPE, ...scopes]) {
      const found = await stage.listDeliveries(webhooks, { event_types: [DEAD] }, scope);
      expect(found.map(({ event_id }) => event_id)).toEqual(scope === SAMPLE_SCOPE ? [id] : []);
    }
  });

  test('is sent again after a replay that fails', async () => {
    const faulty = await stage.createEnabledEndpoint(webhooks, FAULTY);
    await stage.createEnabledEndpoint(webhooks, TOLD, OPERATING);
    const event = stage.addEvent();
    await stage.publishEvents(event);
    const first = await untilTold();
    const { id } = await stage.getDelivery(webhooks, faulty.id, event.id);
    stage.clockOffset += 1_000;
    await webhooks.deadLetters.replay({ ...stage.createCommand(), filter: { delivery_ids: [id] } });
    const second = await untilTold(2);
    expect(second.data['delivery']).toMatchObject({ id });
    expect(second.id).not.toBe(first.id);
  });

  test('is told of what an endpoint gave up for itself', async () => {
    const gone = await stage.createEnabledEndpoint(webhooks, FAULTY);
    stage.receivers.respondWith(FAULTY, () => createReceiverAnswer(410));
    await stage.createEnabledEndpoint(webhooks, TOLD, OPERATING);
    await stage.publishEvents(stage.addEvent());
    expect((await untilTold()).data['endpoint']).toMatchObject({ id: gone.id });
  });

  test('is not sent about deliveries of such events: two failing endpoints do not notify each other', async () => {
    await stage.createEnabledEndpoint(webhooks, FAULTY, { event_types: ['*', DEAD] });
    stage.receivers.respondWith(TOLD, () => createReceiverAnswer(500));
    const id = await registered(TOLD);
    await stage.publishEvents(stage.addEvent());
    await eventually(async () =>
      expect(await stage.listDeliveries(webhooks, { endpoint_id: id, statuses: ['dead_lettered'] })).toHaveLength(1),
    );
    await eventually(() => expect(webhooks.metrics.getMetricValue('webhook_dead_letters_total')).toBe(2));
    expect(await stage.readMessages(DEAD_LETTERS_TOPIC, 2)).toHaveLength(2);
    expect(await stage.listDeliveries(webhooks, { event_types: [DEAD] })).toHaveLength(1);
  });

  /** An endpoint that fails from its first delivery on. */
  async function registered(url: string): Promise<string> {
    stage.receivers.respondWith(url, (request) =>
      request.headers['service-event-type'] === 'endpoint.verification'
        ? stage.receivers.respondWithOk(request)
        : createReceiverAnswer(500),
    );
    return (await stage.createEnabledEndpoint(webhooks, url, OPERATING)).id;
  }
});

describe('the event about a failing endpoint', () => {
  beforeEach(async () => {
    webhooks = await stage.startWebhooks({ policy: LONG });
    await other();
    await stage.createEnabledEndpoint(webhooks, TOLD, OPERATING);
  });

  /** An endpoint with one failed attempt, and another two minutes later. */
  async function failsSince() {
    const { id } = await stage.createEnabledEndpoint(webhooks, FAULTY);
    const event = stage.addEvent();
    await stage.publishEvents(event);
    const attempted = async (attempts_count: number) =>
      eventually(async () =>
        expect(await stage.getDelivery(webhooks, id, event.id)).toMatchObject({ status: 'retrying', attempts_count }),
      );
    await attempted(1);
    const { attempts } = await stage.getDelivery(webhooks, id, event.id);
    stage.clockOffset += 3 * MINUTE;
    await attempted(2);
    return { id, since: attempts[0]?.at };
  }

  test('is sent after an hour without a success, once', async () => {
    const { id, since } = await failsSince();
    stage.clockOffset += 56 * MINUTE;
    await another();
    expect(told()).toEqual([]);
    stage.clockOffset += 2 * MINUTE;
    const event = await untilTold();
    expect(event).toMatchObject({
      type: FAILING,
      data: { endpoint: { id, status: 'enabled' }, failing_since: since, reason: { code: 'unexpected_status' } },
    });
    expect(Object.keys(event.data)).toEqual(['endpoint', 'failing_since', 'reason']);
    expect(Date.parse(event.created_at) - Date.parse(String(since))).toBeGreaterThanOrEqual(HOUR);
    stage.clockOffset += 30 * HOUR;
    await eventually(() => expect(stage.receivers.listDeliveriesAt(FAULTY)).toHaveLength(3));
    await another();
    expect(told()).toHaveLength(1);
  });

  test('is sent again after an answer in between, and not if it answered within the hour', async () => {
    const { id } = await failsSince();
    stage.receivers.respondWith(FAULTY, () => createReceiverAnswer(200));
    await stage.publishEvents(stage.addEvent());
    await eventually(() => expect(stage.receivers.listDeliveriesAt(FAULTY)).toHaveLength(3));
    stage.clockOffset += HOUR;
    await another();
    expect(told()).toEqual([]);
    stage.receivers.respondWith(FAULTY, () => createReceiverAnswer(503));
    const failed = stage.addEvent();
    await stage.publishEvents(failed);
    await eventually(async () => expect(await statusOf(id, failed.id)).toBe('retrying'));
    stage.clockOffset += HOUR;
    const first = await untilTold();
    stage.receivers.respondWith(FAULTY, () => createReceiverAnswer(200));
    await stage.publishEvents(stage.addEvent());
    await eventually(async () => expect(await statusOf(id, failed.id)).toBe('succeeded'));
    stage.receivers.respondWith(FAULTY, () => createReceiverAnswer(503));
    const again = stage.addEvent();
    await stage.publishEvents(again);
    await eventually(async () => expect(await statusOf(id, again.id)).toBe('retrying'));
    stage.clockOffset += HOUR + 1_000;
    const second = await untilTold(2);
    expect(second.id).not.toBe(first.id);
    expect(String(second.data['failing_since']) > String(first.data['failing_since'])).toBe(true);
  });

  test('is not sent while the endpoint is disabled, and afterwards only after another hour', async () => {
    const { id } = await failsSince();
    await webhooks.endpoints.disable(on(id));
    stage.clockOffset += 2 * HOUR;
    await another();
    await webhooks.endpoints.enable(on(id));
    // The endpoint may have been repaired while it was disabled: the next attempt shows.
    stage.clockOffset += 2 * HOUR;
    await another();
    expect(told()).toEqual([]);
    const event = stage.addEvent();
    await stage.publishEvents(event);
    expect((await untilTold()).data['endpoint']).toMatchObject({ id });
  });

  test('is sent by the next owner at the same time, about the same beginning', async () => {
    const { id, since } = await failsSince();
    await webhooks.stop();
    webhooks = await stage.startWebhooks({ policy: LONG });
    await another();
    expect(told()).toEqual([]);
    stage.clockOffset += 58 * MINUTE;
    const event = await untilTold();
    expect(event.data).toMatchObject({ endpoint: { id }, failing_since: since });
    expect(event.data['reason']).toEqual({ code: 'unexpected_status', message: 'The endpoint answered 500.' });
    await webhooks.stop();
    webhooks = await stage.startWebhooks({ policy: LONG });
    stage.clockOffset += 2 * HOUR;
    await another();
    expect(told()).toHaveLength(1);
  });

  test('is not sent about old failures before the new owner made an attempt', async () => {
    const { id } = await failsSince();
    for (const { id: delivery_id } of await stage.listDeliveries(webhooks, { endpoint_id: id })) {
      await webhooks.deliveries.discard({ ...stage.createCommand(), delivery_id });
    }
    await webhooks.stop();
    webhooks = await stage.startWebhooks({ policy: LONG });
    stage.clockOffset += 5 * HOUR;
    stage.receivers.respondWith(FAULTY, () => createReceiverAnswer(200));
    await stage.publishEvents(stage.addEvent());
    await eventually(async () =>
      expect(await stage.listDeliveries(webhooks, { endpoint_id: id, statuses: ['succeeded'] })).toHaveLength(1),
    );
    await another();
    expect(told()).toEqual([]);
  });
});
