import { jest } from '@jest/globals';
import { eventually, waitForSimulatedDelay } from '@tracking/testing';
import { type RetryPolicy, requestExtraAttempt } from '@tracking/webhooks-domain';
import Stripe from 'stripe';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { type FakeBehaviour, createReceiverAnswer, TIMEOUT_FAILURE } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import type { WebhookEndpoint } from '../operation-types.ts';
import { DEAD_LETTERS_TOPIC } from '../settings.ts';
import {
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';

const URL_A = 'https://a.example.com/hook';
const URL_B = 'https://b.example.com/hook';
/** Soon, and then not again before the test ends. */
const ONCE_SOON: RetryPolicy = { firstMs: 20, factor: 100_000, capMs: 3_600_000, windowMs: 3_600_000 };
/** Three or four attempts. */
const SHORT: RetryPolicy = { firstMs: 20, factor: 2, capMs: 1_000, windowMs: 150 };
const NEVER: RetryPolicy = { firstMs: 3_600_000, factor: 1, capMs: 3_600_000, windowMs: 7_200_000 };

jest.setTimeout(30_000);

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(() => harness.closeWebhooksHarness());

const on = (endpoint_id: string) => ({ ...harness.createSampleWebhookCommand(), endpoint_id });
const about = (delivery_id: string) => ({ ...harness.createSampleWebhookCommand(), delivery_id });
const failing: FakeBehaviour = () => createReceiverAnswer(500, { 'x-from': 'receiver' }, 'sorry');
/** Behaves as configured at first, and answers 200 afterwards. */
const first = (times: number, behaviour: FakeBehaviour): FakeBehaviour => {
  let count = 0;
  return (request) => ((count += 1) <= times ? behaviour(request) : harness.receivers.respondWithOk(request));
};
const untilIs = (endpoint_id: string, event_id: string, expected: object) =>
  eventually(async () => {
    const delivery = await harness.getDelivery(webhooks, endpoint_id, event_id);
    expect(delivery).toMatchObject(expected);
    return delivery;
  });

describe('an attempt', () => {
  beforeEach(async () => void (webhooks = await harness.startWebhooks({ policy: ONCE_SOON })));

  test('has the headers of a delivery and a verifiable signature', async () => {
    const { id, secret } = await harness.createEnabledEndpoint(webhooks, URL_A, {
      headers: { Authorization: 'Bearer mine' },
    });
    const event = harness.addAcknowledgedEventToLog({ type: 'milestone.recorded' });
    await harness.publishEventsToBrokerForTest(event);
    await untilIs(id, event.id, { status: 'succeeded' });
    const [request] = harness.receivers.listDeliveriesReceivedAtUrl(URL_A);
    expect(request?.headers).toEqual({
      authorization: 'Bearer mine',
      'content-type': 'application/json',
      'service-event-id': event.id,
      'service-event-type': 'milestone.recorded',
      'service-signature': expect.any(String) as string,
      traceparent: expect.any(String) as string,
      'webhook-id': event.id,
      'webhook-signature': expect.stringMatching(/^v1,/) as string,
      'webhook-timestamp': expect.any(String) as string,
    });
    const { webhooks: verifier } = new Stripe('sk_test_unused');
    const header = request?.headers['service-signature'] ?? '';
    expect(verifier.constructEvent(request?.body ?? '', header, secret)).toMatchObject({ id: event.id });
    expect(() => verifier.constructEvent(`${request?.body} `, header, secret)).toThrow(/signature/);
  });

  test('is retried with the same bytes and a new signature', async () => {
    const { id, secret } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(
      URL_A,
      first(1, () => ((harness.clockOffset += 2_000), createReceiverAnswer(500))),
    );
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await untilIs(id, event.id, { status: 'succeeded', attempts_count: 2 });
    const [one, two] = harness.receivers.listDeliveriesReceivedAtUrl(URL_A);
    expect(two?.body).toBe(one?.body);
    expect(two?.headers['service-event-id']).toBe(one?.headers['service-event-id']);
    expect(two?.headers['service-signature']).not.toBe(one?.headers['service-signature']);
    const { webhooks: verifier } = new Stripe('sk_test_unused');
    for (const { body, headers } of [one, two].filter((request) => request !== undefined)) {
      verifier.constructEvent(body, headers['service-signature'] ?? '', secret);
    }
  });

  test('is a span in the trace of the causing request, across restarts', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, failing);
    const event = harness.addAcknowledgedEventToLog();
    const headers = { 'request-id': 'req_1', traceparent: `00-${trace}-b7ad6b7169203331-01` };
    await harness.sendMessages(harness.createEventMessage(event, headers));
    await untilIs(id, event.id, { attempts_count: 2 });
    await webhooks.stop();
    webhooks = await harness.startWebhooks();
    harness.receivers.setFakeReceiverBehaviour(URL_A, (request) => harness.receivers.respondWithOk(request));
    const { id: delivery } = await harness.getDelivery(webhooks, id, event.id);
    await webhooks.deliveries.retry(about(delivery));
    await untilIs(id, event.id, { status: 'succeeded', attempts_count: 3 });
    const sent = harness.receivers.listDeliveriesReceivedAtUrl(URL_A).map((request) => request.headers['traceparent']);
    const span = new RegExp(`^00-${trace}-(?!0{16}|b7ad6b7169203331)[0-9a-f]{16}-01$`);
    expect(sent).toEqual([1, 2, 3].map(() => expect.stringMatching(span) as string));
    expect(new Set(sent).size).toBe(3);
    const lines = harness.lines.filter((line) => line['delivery'] === delivery);
    expect(lines.map(({ request_id, trace_id }) => ({ request_id, trace_id }))).toEqual(
      lines.map(() => ({ request_id: 'req_1', trace_id: trace })),
    );
    expect(lines.length).toBeGreaterThanOrEqual(3);
  });

  test.each([undefined, 'nonsense', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`])(
    'of an event with traceparent %j belongs to a trace of that event',
    async (traceparent) => {
      await harness.createEnabledEndpoint(webhooks, URL_A);
      await harness.createEnabledEndpoint(webhooks, URL_B);
      harness.receivers.setFakeReceiverBehaviour(URL_A, first(1, failing));
      const event = harness.addAcknowledgedEventToLog();
      await harness.sendMessages(harness.createEventMessage(event, { traceparent }));
      const sent = await eventually(() => {
        const requests = [
          ...harness.receivers.listDeliveriesReceivedAtUrl(URL_A),
          ...harness.receivers.listDeliveriesReceivedAtUrl(URL_B),
        ];
        expect(requests).toHaveLength(3);
        return requests.map(({ headers }) => headers['traceparent'] ?? '');
      });
      const traces = sent.map((text) => /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-00$/.exec(text)?.[1]);
      expect([new Set(sent).size, new Set(traces).size]).toEqual([3, 1]);
      expect(traces[0]).toBeDefined();
    },
  );

  test('requested by a person is made immediately by a process whose clock is behind', async () => {
    await webhooks.stop();
    const process = new SimulatedKillableProcess();
    process.clockOffset = -3_600_000;
    webhooks = await harness.startWebhooks({}, process);
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    const sent = await webhooks.endpoints.test({ ...on(id), type: 'shipment.created' });
    await untilIs(id, sent.event_id, { status: 'succeeded' });
    await webhooks.deliveries.retry(about(sent.id));
    await untilIs(id, sent.event_id, { attempts_count: 2 });
  });

  test('that fails is logged once for its endpoint, and so is the next success', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, first(3, failing));
    await harness.publishEventsToBrokerForTest(
      harness.addAcknowledgedEventToLog(),
      harness.addAcknowledgedEventToLog(),
      harness.addAcknowledgedEventToLog(),
      harness.addAcknowledgedEventToLog(),
    );
    await eventually(async () => {
      expect(await harness.listDeliveries(webhooks, { statuses: ['succeeded'] })).toHaveLength(4);
    });
    const told = harness.lines.filter(({ level, endpoint }) => endpoint === id && level !== 'debug');
    expect(told).toMatchObject([
      { level: 'warn', message: 'webhooks: an endpoint is failing', reason: 'The endpoint answered 500.' },
      { level: 'info', message: 'webhooks: an endpoint answers again' },
    ]);
    expect(JSON.stringify(told)).not.toContain('a.example.com');
  });

  test('logs that it was sent again, and its outcome', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(
      URL_A,
      first(1, () => ({ ...createReceiverAnswer(500), resent: true })),
    );
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const { attempts } = await untilIs(id, event.id, { status: 'succeeded' });
    expect(attempts).toMatchObject([{ status_code: 500, resent: true }, { status_code: 200 }]);
    expect(attempts[1]).not.toHaveProperty('resent');
  });

  test('is logged with its outcome', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, first(1, failing));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const delivery = await untilIs(id, event.id, { status: 'succeeded' });
    const times = { at: expect.any(String) as string, duration_ms: expect.any(Number) as number, manual: false };
    expect(delivery).toMatchObject({
      event_id: event.id,
      event_type: 'shipment.created',
      attempts_count: 2,
      last_error: null,
      next_attempt_at: null,
      completed_at: expect.any(String) as string,
      payload: { ...event, api_version: '2026-11-01' },
    });
    expect(delivery.attempts).toEqual([
      {
        ...times,
        number: 1,
        status_code: 500,
        error: { code: 'unexpected_status', message: 'The endpoint answered 500.' },
        response: { headers: { 'x-from': 'receiver' }, body: 'sorry' },
      },
      { ...times, number: 2, status_code: 200, error: null, response: { headers: {}, body: '' } },
    ]);
  });

  test('without an answer is logged with the reason', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(
      URL_A,
      first(1, () => TIMEOUT_FAILURE),
    );
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const { attempts } = await untilIs(id, event.id, { status: 'succeeded' });
    expect(attempts[0]).toMatchObject({ status_code: null, response: null, error: { code: 'timeout' } });
  });

  test("respects the endpoint's maximum concurrency", async () => {
    await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 3 });
    await harness.createEnabledEndpoint(webhooks, URL_B);
    const slowly: FakeBehaviour = async () => {
      await waitForSimulatedDelay(5);
      return createReceiverAnswer(200);
    };
    harness.receivers.setFakeReceiverBehaviour(URL_A, slowly);
    harness.receivers.setFakeReceiverBehaviour(URL_B, slowly);
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 60 }, () => harness.addAcknowledgedEventToLog()),
    );
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['succeeded'] })).toHaveLength(120),
    );
    expect(harness.receivers.mostAtOnce.get(URL_A)).toBe(3);
    expect(harness.receivers.mostAtOnce.get(URL_B)).toBe(16);
  });
});

describe('a delivery that keeps failing', () => {
  test('becomes a dead letter at the end of its window, and is announced', async () => {
    webhooks = await harness.startWebhooks({ policy: SHORT });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, failing);
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const attempted = await untilIs(id, event.id, { status: 'dead_lettered', next_attempt_at: null });
    const { attempts } = attempted;
    const span = Date.parse(attempts.at(-1)?.at ?? '') - Date.parse(attempts[0]?.at ?? '');
    expect(span).toBeGreaterThanOrEqual(SHORT.windowMs);
    // A slow process fits no attempt between the first and the last.
    expect(attempts.length).toBeGreaterThanOrEqual(2);
    const [message, ...more] = await harness.readMessages(DEAD_LETTERS_TOPIC, 1);
    expect(more).toEqual([]);
    expect(message).toMatchObject({ key: id, headers: { 'event-id': event.id } });
    expect(JSON.parse(message?.value ?? '')).toMatchObject({
      endpoint_id: id,
      event_id: event.id,
      status: 'dead_lettered',
      attempts_count: attempts.length,
      ...SAMPLE_SCOPE,
      reason: 'unexpected_status',
      endpoint: { id, url: URL_A, description: null, status: 'enabled' },
      event: { id: event.id, type: event.type },
      latest_attempts: attempts.slice(-3).map(({ number, status_code }) => ({ number, status_code, answer: 'sorry' })),
      replay: {
        url: 'https://api.example.com/v1/webhook_dead_letters/replay',
        body: { delivery_ids: [attempted.id] },
        command: `dead-letters replay ${attempted.id} --all-workspaces`,
      },
    });
    expect(message?.value).not.toContain('x-from');
  });

  test('succeeds if its last attempt does', async () => {
    webhooks = await harness.startWebhooks({ policy: SHORT });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    const begin = Date.now();
    harness.receivers.setFakeReceiverBehaviour(URL_A, ({ at }) =>
      createReceiverAnswer(at < begin + SHORT.windowMs ? 500 : 200),
    );
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await untilIs(id, event.id, { status: 'succeeded', last_error: null });
    expect(webhooks.metrics.getMetricValue('webhook_dead_letters_total')).toBe(0);
  });

  test('keeps its schedule across restarts', async () => {
    webhooks = await harness.startWebhooks({ policy: { ...ONCE_SOON, firstMs: 3_600_000 } });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, first(1, failing));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const { next_attempt_at } = await untilIs(id, event.id, { status: 'retrying' });
    await webhooks.stop();
    webhooks = await harness.startWebhooks();
    harness.clockOffset = 3_000_000;
    expect(await harness.getDelivery(webhooks, id, event.id)).toMatchObject({ next_attempt_at, attempts_count: 1 });
    harness.clockOffset = 4_000_000;
    const { attempts } = await untilIs(id, event.id, { status: 'succeeded', attempts_count: 2 });
    expect(Date.parse(attempts[1]?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(next_attempt_at ?? ''));
  });

  test('is attempted after an outage of ours that lasted longer than its window', async () => {
    webhooks = await harness.startWebhooks();
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, first(1, failing));
    const [failed, untried] = [harness.addAcknowledgedEventToLog(), harness.addAcknowledgedEventToLog()];
    await harness.publishEventsToBrokerForTest(failed);
    await untilIs(id, failed.id, { status: 'retrying' });
    await webhooks.stop();
    await harness.publishEventsToBrokerForTest(untried);
    harness.clockOffset = 100 * 3_600_000;
    webhooks = await harness.startWebhooks();
    await untilIs(id, failed.id, { status: 'succeeded', attempts_count: 2 });
    await untilIs(id, untried.id, { status: 'succeeded', attempts_count: 1 });
  });
});

describe('an endpoint that answers 410', () => {
  test('is disabled; the delivery becomes a dead letter, and others wait until it is enabled', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 1 });
    harness.receivers.setFakeReceiverBehaviour(
      URL_A,
      first(1, () => createReceiverAnswer(410)),
    );
    const [one, two] = [harness.addAcknowledgedEventToLog(), harness.addAcknowledgedEventToLog()];
    await harness.publishEventsToBrokerForTest(one);
    await harness.publishEventsToBrokerForTest(two);
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['dead_lettered'] })).toHaveLength(1),
    );
    await eventually(async () =>
      expect(await webhooks.endpoints.get(on(id))).toMatchObject({
        status: 'disabled',
        disabled_reason: 'gone',
      }),
    );
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['pending'] })).toHaveLength(1),
    );
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
    await webhooks.endpoints.enable(on(id));
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['succeeded'] })).toHaveLength(1),
    );
  });
});

describe('endpoints that answer 410 while the event store is unreachable', () => {
  const GONE = Array.from({ length: 6 }, (_, n) => `${URL_A}/${n}`);
  const statuses = async () => {
    const { items } = await webhooks.endpoints.list({ ...SAMPLE_SCOPE, limit: 50 });
    return items.map(({ url, status }) => [url, status]);
  };

  test('are disabled once it is reachable, without delaying other endpoints', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER, maxInFlight: 2 });
    for (const url of GONE) {
      await harness.createEnabledEndpoint(webhooks, url);
      harness.receivers.setFakeReceiverBehaviour(url, () => createReceiverAnswer(410));
    }
    harness.logIsAway = true;
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    const dead = { statuses: ['dead_lettered'] };
    await eventually(async () => expect(await harness.listDeliveries(webhooks, dead)).toHaveLength(GONE.length));
    harness.logIsAway = false;
    await eventually(async () => expect(await statuses()).toEqual(GONE.toReversed().map((url) => [url, 'disabled'])));
    expect(GONE.map((url) => harness.receivers.listDeliveriesReceivedAtUrl(url).length)).toEqual(GONE.map(() => 1));
  });

  test('are disabled before their process has stopped', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER, drainMs: 10_000 });
    await harness.createEnabledEndpoint(webhooks, URL_A);
    let stopped: Promise<void> = Promise.resolve();
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => {
      stopped = webhooks.stop();
      return createReceiverAnswer(410);
    });
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1));
    await stopped;
    expect(await statuses()).toEqual([[URL_A, 'disabled']]);
  });
});

describe('an endpoint that answers 429 with Retry-After', () => {
  const holding: FakeBehaviour = () => createReceiverAnswer(429, { 'retry-after': '60' });

  test('gets nothing for that time, and no attempt is consumed', async () => {
    webhooks = await harness.startWebhooks({ policy: ONCE_SOON });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 1 });
    const other = await harness.createEnabledEndpoint(webhooks, URL_B);
    harness.receivers.setFakeReceiverBehaviour(URL_A, first(1, holding));
    const events = [
      harness.addAcknowledgedEventToLog(),
      harness.addAcknowledgedEventToLog(),
      harness.addAcknowledgedEventToLog(),
    ];
    for (const event of events) await harness.publishEventsToBrokerForTest(event);
    for (const event of events) await untilIs(other.id, event.id, { status: 'succeeded' });
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['retrying'] })).toHaveLength(1),
    );
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
    // Also in another process.
    await webhooks.stop();
    webhooks = await harness.startWebhooks({ policy: ONCE_SOON });
    const late = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(late);
    await untilIs(other.id, late.id, { status: 'succeeded' });
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
    harness.clockOffset = 61_000;
    for (const event of [...events, late]) await untilIs(id, event.id, { status: 'succeeded' });
  });

  test('is not held at another URL', async () => {
    webhooks = await harness.startWebhooks({ policy: ONCE_SOON });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, holding);
    const held = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(held);
    await untilIs(id, held.id, { status: 'retrying' });
    await webhooks.endpoints.change({ ...on(id), fields: { url: URL_B } });
    await webhooks.endpoints.verify(on(id));
    await webhooks.endpoints.enable(on(id));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await untilIs(id, event.id, { status: 'succeeded' });
    await untilIs(id, held.id, { status: 'succeeded', attempts_count: 2 });
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_B)).toHaveLength(2);
  });

  test('gets the last attempt after a hold that ends beyond the window', async () => {
    webhooks = await harness.startWebhooks({ policy: SHORT });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, holding);
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await untilIs(id, event.id, { status: 'retrying', attempts_count: 1 });
    harness.clockOffset = 61_000;
    await untilIs(id, event.id, { status: 'dead_lettered', attempts_count: 2 });
  });
});

describe('in the middle of retries', () => {
  let other: WebhookEndpoint;
  beforeEach(async () => {
    webhooks = await harness.startWebhooks({ policy: { ...SHORT, windowMs: 1_000 } });
    other = await harness.createEnabledEndpoint(webhooks, URL_B, { event_types: ['document.approved'] });
  });

  /** Resolves when everything that was due has been handled, shown by another endpoint's delivery. */
  async function overtaken(): Promise<void> {
    const event = harness.addAcknowledgedEventToLog({ type: 'document.approved' });
    await harness.publishEventsToBrokerForTest(event);
    await untilIs(other.id, event.id, { status: 'succeeded' });
  }

  test('disabling holds pending deliveries and their windows; enabling continues', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A, { event_types: ['shipment.created'] });
    harness.receivers.setFakeReceiverBehaviour(URL_A, failing);
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await untilIs(id, event.id, { status: 'retrying' });
    await webhooks.endpoints.disable(on(id));
    await overtaken();
    const held = await harness.getDelivery(webhooks, id, event.id);
    harness.clockOffset = 3_600_000;
    await overtaken();
    expect(await harness.getDelivery(webhooks, id, event.id)).toEqual(held);
    await webhooks.endpoints.enable(on(id));
    const after = await untilIs(id, event.id, { attempts_count: held.attempts_count + 1 });
    expect(after.status).toBe('retrying');
    await untilIs(id, event.id, { status: 'dead_lettered' });
  });

  test('deleting discards pending deliveries and keeps the log', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A, {
      max_concurrency: 1,
      event_types: ['shipment.created'],
    });
    harness.receivers.setFakeReceiverBehaviour(URL_A, failing);
    const events = Array.from({ length: 30 }, () => harness.addAcknowledgedEventToLog());
    await harness.publishEventsToBrokerForTest(...events);
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['retrying'] })).not.toEqual([]),
    );
    await webhooks.endpoints.remove(on(id));
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['discarded'] })).toHaveLength(30),
    );
    await overtaken();
    const count = harness.receivers.listDeliveriesReceivedAtUrl(URL_A).length;
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    harness.clockOffset = 3_600_000;
    await overtaken();
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(count);
    const log = await harness.listDeliveries(webhooks, { endpoint_id: id });
    expect(log).toHaveLength(30);
    const tried = log.find(({ attempts_count }) => attempts_count > 0);
    const detail = await webhooks.deliveries.get({ scopes: [SAMPLE_SCOPE], delivery_id: tried?.id ?? '' });
    expect(detail.attempts).toHaveLength(tried?.attempts_count ?? 0);
  });

  test('deleting during an attempt ends the delivery with it', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    harness.receivers.setFakeReceiverBehaviour(URL_A, async () => {
      await released;
      return createReceiverAnswer(500);
    });
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1));
    await webhooks.endpoints.remove(on(id));
    release();
    await untilIs(id, event.id, { status: 'discarded', attempts_count: 1, next_attempt_at: null });
  });
});

describe('requests of a person', () => {
  test('a retry is one attempt and keeps the schedule', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, first(2, failing));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const before = await untilIs(id, event.id, { status: 'retrying' });
    expect(await webhooks.deliveries.retry(about(before.id))).toMatchObject({
      id: before.id,
      status: 'retrying',
    });
    const after = await untilIs(id, event.id, { attempts_count: 2 });
    expect(after).toMatchObject({ status: 'retrying', next_attempt_at: before.next_attempt_at });
    expect(after.attempts.map(({ manual }) => manual)).toEqual([false, true]);
    await webhooks.deliveries.retry(about(before.id));
    await untilIs(id, event.id, { status: 'succeeded', attempts_count: 3, next_attempt_at: null });
  });

  test('a retried dead letter that fails again stays one; one that succeeds is a success', async () => {
    webhooks = await harness.startWebhooks({ policy: { ...SHORT, windowMs: 1 } });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, failing);
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const dead = await untilIs(id, event.id, { status: 'dead_lettered' });
    await webhooks.deliveries.retry(about(dead.id));
    await untilIs(id, event.id, { status: 'dead_lettered', attempts_count: dead.attempts_count + 1 });
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(200));
    await webhooks.deliveries.retry(about(dead.id));
    await untilIs(id, event.id, { status: 'succeeded' });
    expect(await harness.readMessages(DEAD_LETTERS_TOPIC, 1)).toHaveLength(1);
  });

  test('a retry is sent to enabled endpoints only', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, failing);
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const delivery = await untilIs(id, event.id, { status: 'retrying' });
    await webhooks.endpoints.disable(on(id));
    await expect(webhooks.deliveries.retry(about(delivery.id))).rejects.toMatchObject({
      code: 'endpoint_not_enabled',
    });
    await webhooks.endpoints.remove(on(id));
    await expect(webhooks.deliveries.retry(about(delivery.id))).rejects.toMatchObject({
      code: 'endpoint_not_enabled',
      message: expect.stringContaining('deleted'),
    });
  });

  test('a retry waits neither for a hold nor for due deliveries', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 1 });
    harness.receivers.setFakeReceiverBehaviour(
      URL_A,
      first(1, () => createReceiverAnswer(503, { 'retry-after': '3600' })),
    );
    const [one, two] = [harness.addAcknowledgedEventToLog(), harness.addAcknowledgedEventToLog()];
    await harness.publishEventsToBrokerForTest(one);
    const held = await untilIs(id, one.id, { status: 'retrying' });
    await harness.publishEventsToBrokerForTest(two);
    await untilIs(id, two.id, { status: 'pending' });
    await webhooks.deliveries.retry(about(held.id));
    await untilIs(id, one.id, { status: 'succeeded' });
    expect(await harness.getDelivery(webhooks, id, two.id)).toMatchObject({ status: 'pending' });
  });

  test('a test reaches a disabled endpoint, however many retries wait', async () => {
    webhooks = await harness.startWebhooks();
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await webhooks.endpoints.disable(on(id));
    const letters = await storeDeadLetters(harness, 300, { endpoint_id: id });
    const stored = await harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
    const retried = letters.map((letter) => convertToDeliveryDocument(requestExtraAttempt(letter, harness.now())));
    await stored.writeMany(retried.map((document) => ({ kind: 'upsert', document })));
    await webhooks.stop();
    webhooks = await harness.startWebhooks();
    for (let sent = 1; sent <= 2; sent += 1) {
      await webhooks.endpoints.test({ ...on(id), type: 'shipment.created' });
      await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(sent));
    }
    await webhooks.endpoints.enable(on(id));
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(302), {
      deadlineMs: 20_000,
    });
  });

  test('discarding ends a delivery; a success cannot be discarded', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, first(1, failing));
    const [one, two] = [harness.addAcknowledgedEventToLog(), harness.addAcknowledgedEventToLog()];
    await harness.publishEventsToBrokerForTest(one);
    const delivery = await untilIs(id, one.id, { status: 'retrying' });
    expect(await webhooks.deliveries.discard(about(delivery.id))).toMatchObject({ status: 'discarded' });
    expect(await webhooks.deliveries.discard(about(delivery.id))).toMatchObject({ status: 'discarded' });
    await harness.publishEventsToBrokerForTest(two);
    const done = await untilIs(id, two.id, { status: 'succeeded' });
    await expect(webhooks.deliveries.discard(about(done.id))).rejects.toMatchObject({
      code: 'delivery_succeeded',
    });
    harness.clockOffset = 4_000_000;
    await webhooks.endpoints.test({ ...on(id), type: 'shipment.created' });
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(3));
    expect(await harness.getDelivery(webhooks, id, one.id)).toMatchObject({ status: 'discarded', attempts_count: 1 });
  });

  test('discarding during an attempt takes effect, unless it was delivered', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    for (const [status, end] of [
      [500, 'discarded'],
      [200, 'succeeded'],
    ] as const) {
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      harness.receivers.setFakeReceiverBehaviour(URL_A, async () => {
        await released;
        return createReceiverAnswer(status);
      });
      const event = harness.addAcknowledgedEventToLog();
      await harness.publishEventsToBrokerForTest(event);
      const delivery = await untilIs(id, event.id, { status: 'pending' });
      await eventually(() =>
        expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A).at(-1)?.body).toContain(event.id),
      );
      await webhooks.deliveries.discard(about(delivery.id));
      release();
      await untilIs(id, event.id, { status: end, attempts_count: 1, attempts: [{ status_code: status }] });
    }
  });
});

describe('the log', () => {
  test('is listed newest first, page by page, with every filter', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const a = await harness.createEnabledEndpoint(webhooks, URL_A);
    const b = await harness.createEnabledEndpoint(webhooks, URL_B, { event_types: ['shipment.updated'] });
    harness.receivers.setFakeReceiverBehaviour(URL_B, failing);
    const events = [];
    for (let n = 0; n < 6; n += 1) {
      harness.clockOffset += 1_000;
      const event = harness.addAcknowledgedEventToLog({ type: n % 2 === 0 ? 'shipment.created' : 'shipment.updated' });
      events.push(event);
      await harness.publishEventsToBrokerForTest(event);
      await untilIs(a.id, event.id, { status: 'succeeded' });
      if (n % 2 === 1) await untilIs(b.id, event.id, { status: 'retrying' });
    }
    const list = async (filter: object) => {
      const seen = [];
      for (let after: readonly string[] | null = []; after !== null;) {
        const resume: object = after.length === 0 ? {} : { after };
        const page: Awaited<ReturnType<typeof webhooks.deliveries.list>> = await webhooks.deliveries.list({
          scopes: [SAMPLE_SCOPE],
          filter,
          limit: 2,
          ...resume,
        });
        seen.push(...page.items);
        after = page.next;
      }
      return seen;
    };
    const all = await list({});
    expect(all).toHaveLength(9);
    expect(all.map(({ created_at }) => created_at)).toEqual(
      all
        .map(({ created_at }) => created_at)
        .toSorted()
        .reverse(),
    );
    expect(await list({ endpoint_id: b.id })).toHaveLength(3);
    expect(await list({ endpoint_id: b.id, statuses: ['succeeded'] })).toEqual([]);
    expect(await list({ event_types: ['shipment.updated'] })).toHaveLength(6);
    expect(await list({ event_id: events[1]?.id })).toHaveLength(2);
    expect(await list({ statuses: ['retrying', 'succeeded'] })).toHaveLength(9);
    expect(await list({ since: events[4]?.created_at })).toHaveLength(3);
    expect(await list({ until: events[0]?.created_at })).toHaveLength(1);
    const stranger = { ...SAMPLE_SCOPE, environment: 'test' as const };
    for (const filter of [{}, { endpoint_id: a.id }, { event_id: events[0]?.id ?? '' }]) {
      expect((await webhooks.deliveries.list({ scopes: [stranger], filter, limit: 9 })).items).toEqual([]);
    }
    await expect(webhooks.deliveries.get({ scopes: [stranger], delivery_id: all[0]?.id ?? '' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
