import { jest } from '@jest/globals';
import type { PublishedEvent } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import { type ReceivedRequest, type FakeAnswer, createReceiverAnswer } from '../../test/fake-receivers.ts';
import { ProcessWithFlakyDocumentStore } from '../../test/flaky-process.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import {
  type HarnessEndpoint,
  type RunningWebhooks,
  SAMPLE_SCOPE,
  WebhooksTestHarness,
} from '../../test/webhooks-test-harness.ts';
import { DELIVERIES_COLLECTION_SPEC } from '../store/delivery-document.ts';

jest.setTimeout(120_000);

const URL_A = 'https://a.example.com/hooks';
const URL_B = 'https://b.example.com/hooks';
const OTHER = 'https://other.example.com/hooks';
const MISSED = 200;

const idsOf = (arrived: readonly ReceivedRequest[]) => arrived.map(({ headers }) => headers['service-event-id'] ?? '');

describe('in the middle of a replay', () => {
  let harness: WebhooksTestHarness;
  let webhooks: RunningWebhooks;
  let endpoint: HarnessEndpoint;
  let missed: readonly PublishedEvent[];
  let replay_id: string;
  /** Requests of the replay wait here once this many have arrived. */
  let gate: PromiseWithResolvers<void>;

  beforeEach(async () => {
    harness = await WebhooksTestHarness.openWebhooksHarness();
    webhooks = await harness.startWebhooks();
    const first = Date.parse(harness.now()) - 60_000;
    missed = Array.from({ length: MISSED }, (_, n) =>
      harness.addAcknowledgedEventToLog({ created_at: new Date(first + n).toISOString() }),
    );
    await harness.createEnabledEndpoint(webhooks, OTHER);
    // Fewer concurrent attempts than a replay takes, so that some deliveries wait.
    endpoint = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 4 });
    gate = Promise.withResolvers();
  });
  afterEach(async () => {
    gate.resolve();
    await harness.closeWebhooksHarness();
  });

  const on = () => ({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id });
  const sent = (url = URL_A) => idsOf(harness.receivers.listDeliveriesReceivedAtUrl(url));
  const replay = (api = webhooks) => api.replays.get({ ...SAMPLE_SCOPE, replay_id });
  /** Starts a replay of missed events, and waits until some deliveries are in progress at the gate. */
  const begin = async (
    beforeGate = 50,
    at: (request: ReceivedRequest) => FakeAnswer = (request) => harness.receivers.respondWithOk(request),
  ) => {
    harness.receivers.setFakeReceiverBehaviour(URL_A, async (request) => {
      if (sent().length > beforeGate) await gate.promise;
      return at(request);
    });
    ({ id: replay_id } = await webhooks.replays.create({ ...on(), filter: {} }));
    await eventually(() => expect(sent().length).toBeGreaterThan(beforeGate));
  };
  /** The attempts in progress end; then another endpoint receives a hundred events, one after the other. */
  const workGoesOn = async (api = webhooks) => {
    gate.resolve();
    await eventually(() => expect(api.metrics.getMetricValue('webhook_attempts_in_flight')).toBe(0));
    for (let n = 0; n < 100; n += 1) {
      // Not of the types that the replay's endpoint subscribes to.
      const event = harness.addAcknowledgedEventToLog();
      await harness.publishEventsToBrokerForTest(event);
      await eventually(() => expect(sent(OTHER)).toContain(event.id));
    }
  };
  const completed = (api = webhooks) =>
    eventually(async () => {
      const now = await replay(api);
      expect(now.status).toBe('completed');
      return now;
    });
  const missedIds = () => missed.map(({ id }) => id).toSorted();

  test.each([['by its owner'], ['while its owner is dead']])(
    'endpoint deleted %s: the replay is canceled, pending deliveries are discarded, the log is kept',
    async (how) => {
      await begin();
      const api = await harness.startWebhooks({}, new SimulatedKillableProcess(), harness.receivers, true);
      if (how === 'by its owner') {
        await webhooks.endpoints.remove(on());
      } else {
        webhooks.process.simulateProcessKill();
        await api.endpoints.remove(on());
        webhooks = await harness.startWebhooks();
      }
      const atMost = sent().length;
      await workGoesOn();
      await eventually(async () => expect(await replay()).toMatchObject({ status: 'canceled' }));
      expect(sent()).toHaveLength(atMost);
      const log = await harness.listDeliveries(webhooks, { endpoint_id: endpoint.id });
      expect(new Set(log.map(({ status }) => status))).toEqual(new Set(['succeeded', 'discarded']));
      expect(log.filter(({ status }) => status === 'succeeded').length).toBeGreaterThan(0);
      await expect(
        webhooks.replays.resume({ ...harness.createSampleWebhookCommand(), replay_id }),
      ).rejects.toMatchObject({
        code: 'not_found',
      });
    },
  );

  test.each([['the same process'], ['another process']])(
    'endpoint disabled: everything is held, and continues in %s once enabled',
    async (which) => {
      await begin();
      await webhooks.endpoints.disable(on());
      const held = sent().length;
      await workGoesOn();
      if (which === 'another process') {
        webhooks.process.simulateProcessKill();
        webhooks = await harness.startWebhooks();
        await workGoesOn();
      }
      expect(sent()).toHaveLength(held);
      expect(await replay()).toMatchObject({ status: 'running' });
      await webhooks.endpoints.enable(on());
      expect(await completed()).toMatchObject({ matched: expect.any(Number), failed: 0 });
      const { matched, done } = await replay();
      expect(done).toBe(matched);
      const arrived = sent();
      expect(new Set(arrived).size).toBe(arrived.length);
      expect(arrived).toEqual(expect.arrayContaining(missedIds()));
    },
  );

  test('endpoint URL changed: nothing is sent before verification and enabling, everything else to the new URL', async () => {
    await begin();
    await webhooks.endpoints.change({ ...on(), fields: { url: URL_B } });
    const before = sent();
    await workGoesOn();
    expect(sent()).toEqual(before);
    expect(sent(URL_B)).toEqual([]);
    await webhooks.endpoints.verify(on());
    expect(sent(URL_B)).toEqual([]);
    expect(await replay()).toMatchObject({ status: 'running' });
    await webhooks.endpoints.enable(on());
    const { matched, done } = await completed();
    expect(done).toBe(matched);
    expect(sent()).toEqual(before);
    const arrived = [...before, ...sent(URL_B)];
    expect(new Set(arrived).size).toBe(arrived.length);
    expect(arrived).toEqual(expect.arrayContaining(missedIds()));
  });

  test('endpoint answers 410: it is disabled, and the replay continues once it is enabled', async () => {
    let gone: string | undefined;
    await begin(50, (request) => {
      if (gone !== undefined || sent().length <= 50) return harness.receivers.respondWithOk(request);
      [gone] = idsOf([request]);
      return createReceiverAnswer(410);
    });
    gate.resolve();
    await eventually(async () => {
      const { status, disabled_reason } = await webhooks.endpoints.get({
        ...SAMPLE_SCOPE,
        endpoint_id: endpoint.id,
      });
      expect([status, disabled_reason]).toEqual(['disabled', 'gone']);
    });
    expect(await replay()).toMatchObject({ status: 'running' });
    await webhooks.endpoints.enable(on());
    expect(await completed()).toMatchObject({ matched: MISSED, done: MISSED - 1, failed: 1 });
    expect(await harness.getDelivery(webhooks, endpoint.id, gone ?? '')).toMatchObject({ status: 'dead_lettered' });
    expect(new Set(sent())).toEqual(new Set(missedIds()));
  });

  test('some deliveries discarded: these are not sent and count as failed, and the rest continues', async () => {
    await begin();
    const waiting = async () => {
      const pending = await harness.listDeliveries(webhooks, { endpoint_id: endpoint.id, statuses: ['pending'] });
      const underWay = new Set(sent());
      return pending.filter(({ event_id }) => !underWay.has(event_id));
    };
    const given = await eventually(async () => {
      const found = await waiting();
      expect(found.length).toBeGreaterThan(0);
      return found;
    });
    for (const { id } of given)
      await webhooks.deliveries.discard({ ...harness.createSampleWebhookCommand(), delivery_id: id });
    gate.resolve();
    expect(await completed()).toMatchObject({ matched: MISSED, done: MISSED - given.length, failed: given.length });
    const arrived = sent();
    expect(given.filter(({ event_id }) => arrived.includes(event_id))).toEqual([]);
    expect(arrived).toHaveLength(MISSED - given.length);
  });

  test('events stored before it are missing from the event log: the replay waits for them', async () => {
    harness.eventLog.shown = 120;
    ({ id: replay_id } = await webhooks.replays.create({ ...on(), filter: {} }));
    await workGoesOn();
    // Others may arrive before those already there.
    expect(await replay()).toMatchObject({ status: 'running', matched: 0 });
    harness.eventLog.shown = Infinity;
    const { matched, done } = await completed();
    expect(done).toBe(matched);
    expect(sent()).toEqual(expect.arrayContaining(missedIds()));
  });

  test('document store fails intermittently: nothing is omitted, and each delivery is counted once', async () => {
    const flaky = new ProcessWithFlakyDocumentStore();
    await webhooks.stop();
    webhooks = await harness.startWebhooks({}, flaky);
    await begin();
    flaky.flaky = true;
    gate.resolve();
    await eventually(() => expect(new Set(sent()).size).toBe(MISSED), { deadlineMs: 60_000 });
    flaky.flaky = false;
    expect(await completed()).toMatchObject({ matched: MISSED, done: MISSED, failed: 0 });
  });

  test('document store stores a new schedule without a response: the delivery is still sent', async () => {
    const flaky = new ProcessWithFlakyDocumentStore();
    await webhooks.stop();
    webhooks = await harness.startWebhooks({}, flaky);
    await begin();
    flaky.afterWritesTo = DELIVERIES_COLLECTION_SPEC.name;
    gate.resolve();
    await eventually(() =>
      expect(harness.lines).toContainEqual(
        expect.objectContaining({ message: expect.stringContaining('webhooks: replaying failed') }),
      ),
    );
    flaky.afterWritesTo = undefined;
    expect(await completed()).toMatchObject({ matched: MISSED, done: MISSED, failed: 0 });
    expect(new Set(sent())).toEqual(new Set(missedIds()));
  });

  test('canceled and resumed by processes that die: it keeps its state and progress, and counts each delivery once', async () => {
    await begin();
    const api = await harness.startWebhooks({}, new SimulatedKillableProcess(), harness.receivers, true);
    const cancel = { ...harness.createSampleWebhookCommand(), replay_id };
    await api.replays.cancel(cancel);
    webhooks.process.simulateProcessKill();
    webhooks = await harness.startWebhooks();
    await workGoesOn();
    const canceled = await api.replays.cancel(cancel);
    expect(canceled).toMatchObject({ status: 'canceled' });
    expect(canceled.matched).toBeLessThan(MISSED);
    const untilThen = sent().filter((id) => missedIds().includes(id));
    expect(new Set(untilThen).size).toBe(canceled.matched);
    const resume = { ...harness.createSampleWebhookCommand(), replay_id };
    webhooks.process.simulateProcessKill();
    await api.replays.resume(resume);
    webhooks = await harness.startWebhooks();
    await eventually(() => expect(new Set(sent()).size).toBeGreaterThan(canceled.matched + 50));
    webhooks.process.simulateProcessKill();
    await api.replays.resume(resume);
    webhooks = await harness.startWebhooks();
    expect(await completed()).toMatchObject({ matched: MISSED, done: MISSED, failed: 0 });
    expect(sent()).toEqual(expect.arrayContaining(missedIds()));
  });
});
