import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { eventually, choosePropertyTestRounds, waitForSimulatedDelay } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { type FakeBehaviour, createReceiverAnswer, TIMEOUT_FAILURE } from '../../test/fake-receivers.ts';
import { ProcessWithFlakyDocumentStore } from '../../test/flaky-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';

jest.setTimeout(60_000);

const URL_A = 'https://a.example.com/hook';
const NEVER: RetryPolicy = { firstMs: 3_600_000, factor: 1, capMs: 3_600_000, windowMs: 7_200_000 };
const SOON: RetryPolicy = { firstMs: 50, factor: 1, capMs: 50, windowMs: 3_600_000 };

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(() => harness.closeWebhooksHarness());

const after = async (ms: number, result: ReturnType<FakeBehaviour>) => {
  await waitForSimulatedDelay(ms);
  return result;
};
const count = async (statuses: readonly string[], endpoint_id?: string) => {
  let all = 0;
  for (let next: readonly string[] | null = []; next !== null;) {
    const filter = { statuses, ...(endpoint_id === undefined ? {} : { endpoint_id }) } as object;
    const resume: object = next.length === 0 ? {} : { after: next };
    const page: Awaited<ReturnType<typeof webhooks.deliveries.list>> = await webhooks.deliveries.list({
      scopes: [SAMPLE_SCOPE],
      filter,
      limit: 500,
      ...resume,
    });
    all += page.items.length;
    next = page.next;
  }
  return all;
};

describe('endpoints that hang', () => {
  test('do not delay a healthy one, even if they could occupy every attempt', async () => {
    webhooks = await harness.startWebhooks({ policy: SOON, maxInFlight: 64 });
    const gate = Promise.withResolvers<void>();
    const hung = Array.from({ length: 20 }, (_, index) => `https://hung-${index}.example.com/`);
    for (const url of hung) {
      await harness.createEnabledEndpoint(webhooks, url);
      harness.receivers.setFakeReceiverBehaviour(url, () => gate.promise.then(() => TIMEOUT_FAILURE));
    }
    const healthy = await harness.createEnabledEndpoint(webhooks, URL_A);
    // The initial limits of all hanging endpoints together exceed what they may occupy.
    const { data } = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 4 }, () => harness.addAcknowledgedEventToLog({ data })),
    );
    await eventually(() =>
      expect(webhooks.metrics.getMetricValue('webhook_attempts_in_flight')).toBeGreaterThan(hung.length),
    );
    // None of the hanging attempts has ended, so each delivery passes beside them.
    for (let sent = 5; sent <= 54; sent += 1) {
      await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
      await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(sent));
    }
    await eventually(async () => expect(await count(['succeeded'], healthy.id)).toBe(54));
    gate.resolve();
  });
});

describe('an endpoint that keeps failing', () => {
  const FAILING = 'https://failing.example.com/';
  const busyLoop = () => {
    const time = { elapsed: 0, idle: 0 };
    harness.loopTime = () => ({ ...time });
    return time;
  };

  test('waits while the process is busy with others, and continues in spare time', async () => {
    const time = busyLoop();
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, FAILING);
    await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(FAILING, () => createReceiverAnswer(500));
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 200 }, () => harness.addAcknowledgedEventToLog()),
    );
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(200));
    const made = () => harness.receivers.listDeliveriesReceivedAtUrl(FAILING).length;
    await eventually(async () => expect(await count(['retrying'], id)).toBe(made()));
    // Attempts from saved spare time, and the first few before the endpoint was known to fail.
    const saved = made();
    expect(saved).toBeLessThan(30);

    time.elapsed += 1_000;
    await eventually(() => expect(made()).toBeGreaterThan(saved));
    expect(made()).toBeLessThan(200);
    await eventually(async () => {
      time.elapsed += 20;
      time.idle += 20;
      expect(await count(['retrying'], id)).toBe(200);
    });
    expect(made()).toBe(200);
  });

  test("receives a person's requests immediately", async () => {
    busyLoop();
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, FAILING);
    harness.receivers.setFakeReceiverBehaviour(FAILING, () => createReceiverAnswer(500));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await eventually(async () => expect(await count(['retrying'], id)).toBe(1));
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 100 }, () => harness.addAcknowledgedEventToLog()),
    );
    await harness.waitUntilEventsRecorded();
    const asked = (await harness.getDelivery(webhooks, id, event.id)).id;
    await webhooks.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: asked });
    await eventually(async () => expect((await harness.getDelivery(webhooks, id, event.id)).attempts_count).toBe(2));
    expect(await count(['pending'], id)).toBeGreaterThan(0);
  });

  test('receives new events immediately after it answered again, and its backlog in spare time', async () => {
    const time = busyLoop();
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, FAILING);
    let isFailing = true;
    harness.receivers.setFakeReceiverBehaviour(FAILING, () => createReceiverAnswer(isFailing ? 500 : 200));
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 100 }, () => harness.addAcknowledgedEventToLog()),
    );
    await harness.waitUntilEventsRecorded();
    await eventually(async () => expect(await count(['retrying'], id)).toBeGreaterThan(5));
    const [waiting] = await harness.listDeliveries(webhooks, { endpoint_id: id, statuses: ['pending'] });
    isFailing = false;
    await webhooks.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: waiting?.id ?? '' });
    await eventually(async () => expect(await count(['succeeded'], id)).toBe(1));
    expect(await count(['pending'], id)).toBeGreaterThan(0);
    await eventually(async () => {
      time.elapsed += 20;
      time.idle += 20;
      expect(await count(['pending'], id)).toBe(0);
    });

    const made = harness.receivers.listDeliveriesReceivedAtUrl(FAILING).length;
    harness.clockOffset += 1_000;
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 50 }, () => harness.addAcknowledgedEventToLog()),
    );
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(FAILING)).toHaveLength(made + 50));
  });
});

describe('a workspace whose receivers answer slowly', () => {
  const SLOW = Array.from({ length: 4 }, (_, index) => `https://slow-${index}.example.com/`);
  const other = { ...SAMPLE_SCOPE, workspace_id: 'wsp_two' };

  test.each([
    ['another workspace', other],
    ['another endpoint of its own', SAMPLE_SCOPE],
  ])('does not delay %s', async (_name, scope) => {
    webhooks = await harness.startWebhooks({ maxInFlight: 64 });
    for (const url of SLOW) await harness.createEnabledEndpoint(webhooks, url, { max_concurrency: 100 });
    // By then each of them may have occupied every attempt.
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 100 }, () => harness.addAcknowledgedEventToLog()),
    );
    await eventually(async () => expect(await count(['succeeded'])).toBe(100 * SLOW.length), { deadlineMs: 20_000 });
    const gate = Promise.withResolvers<void>();
    for (const url of SLOW)
      harness.receivers.setFakeReceiverBehaviour(url, () => gate.promise.then(() => createReceiverAnswer(200)));
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 50 }, () => harness.addAcknowledgedEventToLog()),
    );
    const atGate = () => webhooks.metrics.getMetricValue('webhook_attempts_in_flight');
    await eventually(() => expect(atGate()).toBeGreaterThan(40));

    await harness.createEnabledEndpoint(webhooks, URL_A, {}, scope);
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 10 }, () => harness.addAcknowledgedEventToLog(scope)),
    );
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(10));
    expect(atGate()).toBeGreaterThan(40);
    gate.resolve();
    await eventually(async () => expect(await count(['pending', 'retrying'])).toBe(0));
  });
});

describe('an endpoint that is behind', () => {
  const SLOW = 'https://slow.example.com/';

  test('does not delay its neighbor while its deliveries are stored, and receives all of them in order', async () => {
    const process = new ProcessWithFlakyDocumentStore();
    webhooks = await harness.startWebhooks({}, process);
    const { id } = await harness.createEnabledEndpoint(webhooks, SLOW, { max_concurrency: 1 });
    await harness.createEnabledEndpoint(webhooks, URL_A);
    const gate = Promise.withResolvers<void>();
    harness.receivers.setFakeReceiverBehaviour(SLOW, () => gate.promise.then(() => createReceiverAnswer(200)));
    const events: ReturnType<typeof harness.addAcknowledgedEventToLog>[] = [];
    const publish = async (count: number) => {
      for (let n = 0; n < count; n += 1) {
        events.push(harness.addAcknowledgedEventToLog());
        harness.clockOffset += 5;
      }
      await harness.publishEventsToBrokerForTest(...events.slice(-count));
    };
    // More than are held in memory for it.
    await publish(20);
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(20));
    await harness.waitUntilEventsRecorded();
    // The neighbor had 20 attempts too: it keeps up if only the slow endpoint's deliveries are in the second write.
    const recordedLate = () => webhooks.metrics.getMetricValue('webhook_deliveries_recorded_late_total');
    await eventually(async () => {
      const before = recordedLate();
      await publish(1);
      await harness.waitUntilEventsRecorded();
      expect(recordedLate() - before).toBe(1);
    });
    const stored = events.length;

    process.holdDeliveriesTo = id;
    await publish(1);
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(stored + 1));
    await eventually(() => expect(process.atGate).toBe(1));
    expect(await harness.readRecordingLag()).toBe(1);
    expect(await harness.listDeliveries(webhooks, { endpoint_id: id })).toHaveLength(stored);
    process.releaseWrites();
    gate.resolve();
    await eventually(async () => expect(await count(['succeeded'], id)).toBe(stored + 1));
    const arrived = harness.receivers
      .listDeliveriesReceivedAtUrl(SLOW)
      .map(({ headers }) => headers['service-event-id']);
    expect(arrived).toEqual(events.map((event) => event.id));
    await harness.waitUntilEventsRecorded();
  });

  test('receives an event once whose recording was not confirmed', async () => {
    const process = new ProcessWithFlakyDocumentStore();
    webhooks = await harness.startWebhooks({}, process);
    const { id } = await harness.createEnabledEndpoint(webhooks, SLOW, { max_concurrency: 1 });
    const gate = Promise.withResolvers<void>();
    harness.receivers.setFakeReceiverBehaviour(SLOW, () => gate.promise.then(() => createReceiverAnswer(200)));
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 20 }, () => harness.addAcknowledgedEventToLog()),
    );
    await harness.waitUntilEventsRecorded();
    process.afterWritesTo = 'webhook_deliveries';
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { event_id: event.id })).toHaveLength(1),
    );
    process.afterWritesTo = undefined;
    await harness.waitUntilEventsRecorded();
    gate.resolve();
    await eventually(async () => expect(await count(['succeeded'], id)).toBe(21));
    const ids = harness.receivers.listDeliveriesReceivedAtUrl(SLOW).map(({ headers }) => headers['service-event-id']);
    expect([ids.length, new Set(ids).size]).toEqual([21, 21]);
  });
});

describe('a workspace with a large backlog', () => {
  test('does not delay another one', async () => {
    webhooks = await harness.startWebhooks({ maxInFlight: 4 });
    const other = { ...SAMPLE_SCOPE, workspace_id: 'wsp_two' };
    const order: string[] = [];
    for (const [scope, url] of [
      [SAMPLE_SCOPE, URL_A],
      [SAMPLE_SCOPE, 'https://b.example.com/'],
      [other, 'https://c.example.com/'],
    ] as const) {
      await harness.createEnabledEndpoint(webhooks, url, {}, scope);
      harness.receivers.setFakeReceiverBehaviour(url, () => {
        order.push(scope.workspace_id);
        return after(1, createReceiverAnswer(200));
      });
    }
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 200 }, () => harness.addAcknowledgedEventToLog()),
      ...Array.from({ length: 20 }, () => harness.addAcknowledgedEventToLog(other)),
    );
    await eventually(() => expect(order).toHaveLength(420), { deadlineMs: 10_000 });
    // In turn: one of the other workspace with each of the first, so all are sent by about the fortieth.
    expect(order.lastIndexOf('wsp_two')).toBeLessThan(200);
  });
});

describe('a large backlog', () => {
  test('waits on disk, and is delivered in order with little of it in memory', async () => {
    const all = choosePropertyTestRounds(2_000);
    webhooks = await harness.startWebhooks({ policy: NEVER, maxWaiting: 100 });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 2 });
    await webhooks.endpoints.change({
      ...harness.createSampleWebhookCommand(),
      endpoint_id: id,
      fields: { url: `${URL_A}/2` },
    });
    for (let n = 0; n < all / 100; n += 1) {
      harness.clockOffset += 1;
      await harness.publishEventsToBrokerForTest(
        ...Array.from({ length: 100 }, () => harness.addAcknowledgedEventToLog()),
      );
    }
    await eventually(async () => expect(await count(['pending'])).toBe(all));
    let most = 0;
    harness.receivers.setFakeReceiverBehaviour(`${URL_A}/2`, (request) => {
      most = Math.max(most, webhooks.metrics.getMetricValue('webhook_waiting_in_memory'));
      return after(1, harness.receivers.respondWithOk(request));
    });
    await webhooks.endpoints.verify({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
    await webhooks.endpoints.enable({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
    await eventually(async () => expect(await count(['succeeded'])).toBe(all), { deadlineMs: 45_000 });
    expect(harness.receivers.listDeliveriesReceivedAtUrl(`${URL_A}/2`)).toHaveLength(all);
    expect(most).toBeLessThanOrEqual(300);
    const times = harness.receivers
      .listDeliveriesReceivedAtUrl(`${URL_A}/2`)
      .map(({ body }) => (JSON.parse(body) as { created_at: string }).created_at);
    const outOfOrder = times.filter((time, index) => index >= 2 && time < (times[index - 2] ?? ''));
    expect(outOfOrder).toEqual([]);
  });

  test('of failures is delivered by retries, without loss or repetition', async () => {
    const all = choosePropertyTestRounds(1_000);
    webhooks = await harness.startWebhooks({ policy: SOON, maxWaiting: 50 });
    await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 4 });
    let failures = all / 2;
    harness.receivers.setFakeReceiverBehaviour(URL_A, () =>
      (failures -= 1) >= 0 ? createReceiverAnswer(500) : createReceiverAnswer(200),
    );
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: all }, () => harness.addAcknowledgedEventToLog()),
    );
    await eventually(async () => expect(await count(['succeeded'])).toBe(all), { deadlineMs: 20_000 });
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1.5 * all);
  });
});

describe('an endpoint that answers again after failing for long', () => {
  test('receives its pending deliveries immediately, also across a restart, and none twice', async () => {
    const settings = { policy: NEVER, recoveryAfterMs: 60_000 };
    webhooks = await harness.startWebhooks(settings);
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 300 }, () => harness.addAcknowledgedEventToLog()),
    );
    await eventually(async () => expect(await count(['retrying'])).toBe(300), { deadlineMs: 10_000 });
    harness.clockOffset += 30_000;
    const [one] = await harness.listDeliveries(webhooks);
    await webhooks.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: one?.id ?? '' });
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(301));
    await eventually(async () => expect((await harness.listDeliveries(webhooks))[0]?.attempts_count).toBe(2));
    await webhooks.stop();
    webhooks = await harness.startWebhooks(settings);
    harness.clockOffset += 60_000;
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(200));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await count(['succeeded'], id)).toBe(301), { deadlineMs: 10_000 });
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(602);
    expect(harness.receivers.mostAtOnce.get(URL_A)).toBeLessThanOrEqual(16);
  });

  test('keeps the schedule of pending deliveries if it fails again after one success', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER, recoveryAfterMs: 60_000 });
    await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    await harness.publishEventsToBrokerForTest(
      ...Array.from({ length: 100 }, () => harness.addAcknowledgedEventToLog()),
    );
    await eventually(async () => expect(await count(['retrying'])).toBe(100));
    const before = await harness.listDeliveries(webhooks);
    harness.clockOffset += 120_000;
    let successes = 1;
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer((successes -= 1) >= 0 ? 200 : 500));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(() =>
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A).length).toBeGreaterThanOrEqual(104),
    );
    await webhooks.stop();
    const after = new Map((await harness.listDeliveries(webhooks)).map((delivery) => [delivery.id, delivery]));
    const changed = before.filter(({ id, version }) => after.get(id)?.version !== version);
    // Three failures in a row, and the attempts in progress beside them.
    expect(changed.length).toBeLessThanOrEqual(3 + 2);
    expect(changed.map(({ id }) => after.get(id)?.attempts_count)).toEqual(changed.map(() => 2));
  });

  test('keeps its schedule if it failed for a short time only', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await count(['retrying'])).toBe(1));
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(200));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await count(['succeeded'])).toBe(1));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await count(['succeeded'])).toBe(2));
    expect(await count(['retrying'])).toBe(1);
  });
});

describe('a process with another secrets key', () => {
  test('sends nothing that it cannot sign, logs an error, and damages nothing', async () => {
    webhooks = await harness.startWebhooks({ policy: SOON });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await webhooks.stop();
    const right = harness.secretsKey;
    harness.secretsKey = randomBytes(32);
    webhooks = await harness.startWebhooks({ policy: SOON });
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(() => expect(JSON.stringify(harness.errors)).toContain('sealed with another key'));
    expect(await harness.listDeliveries(webhooks)).toMatchObject([
      { endpoint_id: id, status: 'pending', attempts_count: 0 },
    ]);
    await webhooks.stop();
    harness.secretsKey = right;
    webhooks = await harness.startWebhooks({ policy: SOON });
    await eventually(async () => expect(await count(['succeeded'])).toBe(1));
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
  });
});

describe('a passive process', () => {
  test('sends nothing; its requests are carried out by the next active process', async () => {
    webhooks = await harness.startWebhooks({ policy: NEVER });
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await eventually(async () => expect(await count(['retrying'])).toBe(1));
    await webhooks.stop();
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(200));
    const passive = await harness.startWebhooks({ policy: NEVER }, undefined, undefined, true);
    const { id: delivery_id } = await harness.getDelivery(passive, id, event.id);
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await passive.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id });
    await passive.stop();
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
    expect(await harness.listDeliveries(passive)).toHaveLength(1);
    webhooks = await harness.startWebhooks({ policy: NEVER });
    await eventually(async () => expect(await count(['succeeded'])).toBe(2));
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(3);
  });
});
