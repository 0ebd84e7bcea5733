import { eventually } from '@tracking/testing';
import { convertHoursToCounts, computeHourCountsFromStoredLog } from '../../test/counted-log.ts';
import { createReceiverAnswer, TIMEOUT_FAILURE } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import type { WebhookStats } from '../index.ts';
import { HOUR_RECOUNTS_COLLECTION_SPEC } from './hour-log.ts';

const URL_A = 'https://a.example.com/hooks';
const HOUR_MS = 3_600_000;
/** No attempt but the first within a test. */
const SETTINGS = {
  statsWriteMs: 5,
  statsSettleMs: 20,
  policy: { firstMs: 60_000, factor: 1, capMs: 60_000, windowMs: HOUR_MS },
};

describe('statistics of an endpoint', () => {
  let harness: WebhooksTestHarness;
  let webhooks: RunningWebhooks;
  let id: string;
  beforeEach(async () => {
    harness = await WebhooksTestHarness.openWebhooksHarness();
    // In the middle of an hour, so that no hour ends within a test by accident.
    harness.clockOffset = HOUR_MS / 2 - (Date.now() % HOUR_MS);
    webhooks = await harness.startWebhooks(SETTINGS);
    id = (await harness.createEnabledEndpoint(webhooks, URL_A)).id;
  });
  afterEach(() => harness.closeWebhooksHarness());

  const stats = (api = webhooks, asked = {}): Promise<WebhookStats> =>
    api.stats.get({ ...SAMPLE_SCOPE, endpoint_id: id, ...asked });
  const publish = async (count: number) => {
    const events = Array.from({ length: count }, () => harness.addAcknowledgedEventToLog());
    await harness.publishEventsToBrokerForTest(...events);
    return events;
  };
  /** Resolves once the counters match the log and are exact. */
  const exact = (api = webhooks): Promise<WebhookStats> =>
    eventually(
      async () => {
        const found = await stats(api);
        expect(convertHoursToCounts(found.hours)).toEqual(
          await computeHourCountsFromStoredLog(harness.engine.documentStore, id),
        );
        expect(found.hours.map(({ is_exact }) => is_exact)).not.toContain(false);
        return found;
      },
      { deadlineMs: 10_000 },
    );
  const attempted = (count: number) =>
    eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(count));

  it('return the outcomes of attempts and deliveries, and durations, for each hour', async () => {
    expect(await stats()).toMatchObject({ hours: [], last_success_at: null, last_error: null });
    const answers = [
      createReceiverAnswer(200),
      TIMEOUT_FAILURE,
      createReceiverAnswer(500),
      { ...createReceiverAnswer(200), durationMs: 70.4 },
    ];
    harness.receivers.setFakeReceiverBehaviour(
      URL_A,
      () => answers[harness.receivers.listDeliveriesReceivedAtUrl(URL_A).length - 1] ?? createReceiverAnswer(200),
    );
    for (let n = 1; n <= 4; n += 1) {
      await publish(1);
      await attempted(n);
    }
    await eventually(async () => expect((await stats()).hours[0]?.attempts).toEqual({ succeeded: 2, failed: 2 }));
    const found = await exact();
    expect(found.hours).toEqual([
      {
        hour: `${harness.now().slice(0, 13)}:00:00.000Z`,
        attempts: { succeeded: 2, failed: 2 },
        deliveries: { succeeded: 2, dead_lettered: 0, discarded: 0 },
        latency_ms: { p50: 1, p95: 70, p99: 70, max: 70 },
        is_exact: true,
      },
    ]);
    expect(found.last_error).toMatchObject({ code: 'unexpected_status', status_code: 500 });
    expect(found.last_success_at).not.toBeNull();
    const [oldest] = (await harness.listDeliveries(webhooks, { statuses: ['retrying'] })).toReversed();
    expect(found.waiting).toEqual({ count: 2, is_at_least: false, oldest_at: oldest?.created_at });
  });

  it('include the last success and error from before the requested hours', async () => {
    await publish(1);
    await eventually(async () => expect((await stats()).last_success_at).not.toBeNull());
    const { last_success_at } = await exact();
    harness.clockOffset += 48 * HOUR_MS;
    expect(await stats()).toMatchObject({ hours: [], last_success_at });
    const since = new Date(Date.parse(harness.now()) - 49 * HOUR_MS).toISOString();
    expect((await stats(webhooks, { since })).hours).toHaveLength(1);
  });

  it.each([
    ['ends before it begins', { since: '2026-11-02T00:00:00.000Z', until: '2026-11-01T00:00:00.000Z' }],
    ['is longer than 30 days', { since: '2026-10-01T00:00:00.000Z', until: '2026-10-31T00:00:00.001Z' }],
  ])('refuse a period that %s', async (_, time) => {
    await expect(stats(webhooks, time)).rejects.toMatchObject({ code: 'validation_failed' });
  });

  it('include only endpoints of one workspace and environment', async () => {
    const get = (scope: object) => webhooks.stats.get({ ...SAMPLE_SCOPE, ...scope, endpoint_id: id });
    await expect(get({ environment: 'test' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(get({ workspace_id: 'wsp_two' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('exclude sandbox events', async () => {
    const { id: delivery_id } = await webhooks.endpoints.test({
      ...harness.createSampleWebhookCommand(),
      endpoint_id: id,
      type: 'shipment.created',
    });
    await eventually(async () => {
      const { status } = await webhooks.deliveries.get({ scopes: [SAMPLE_SCOPE], delivery_id });
      expect(status).toBe('succeeded');
    });
    await publish(1);
    await eventually(async () => expect((await stats()).hours[0]?.attempts).toEqual({ succeeded: 1, failed: 0 }));
  });

  it('continue in the same hour in another process', async () => {
    await publish(3);
    await attempted(3);
    await webhooks.stop();
    const other = await harness.startWebhooks(SETTINGS);
    expect((await stats(other)).hours).toMatchObject([{ attempts: { succeeded: 3, failed: 0 }, is_exact: true }]);
    await publish(2);
    await eventually(async () => expect((await stats(other)).hours[0]?.attempts.succeeded).toBe(5));
    await exact(other);
  });

  it('are recounted from the log if their process died before writing its counts', async () => {
    await webhooks.stop();
    const mortal = await harness.startWebhooks({ ...SETTINGS, statsWriteMs: 60_000 });
    let answered = 0;
    harness.receivers.setFakeReceiverBehaviour(URL_A, () =>
      createReceiverAnswer((answered += 1) % 3 === 0 ? 500 : 200),
    );
    await publish(30);
    const ended = { statuses: ['succeeded', 'retrying'] as const };
    await eventually(async () => expect(await harness.listDeliveries(mortal, ended)).toHaveLength(30));
    mortal.process.simulateProcessKill();
    expect(convertHoursToCounts((await stats(webhooks)).hours)).toMatchObject([
      { attempts: { succeeded: 0, failed: 0 } },
    ]);
    const waits = await harness.startWebhooks({ ...SETTINGS, statsSettleMs: 60_000 });
    await eventually(async () => expect((await stats(waits)).hours).toMatchObject([{ is_exact: false }]));
    await waits.stop();
    const other = await harness.startWebhooks(SETTINGS);
    const { hours } = await exact(other);
    expect(hours).toMatchObject([{ attempts: { succeeded: 20, failed: 10 } }]);
  });

  it('are recounted at the end of an hour with attempts all the time', async () => {
    const mortal = await harness.startWebhooks(SETTINGS, new SimulatedKillableProcess());
    await webhooks.stop();
    await publish(5);
    await attempted(5);
    mortal.process.simulateProcessKill();
    const other = await harness.startWebhooks({ ...SETTINGS, statsSettleMs: 400 });
    let isOver = false;
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => {
      if (!isOver) void publish(1);
      return createReceiverAnswer(200);
    });
    await publish(1);
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A).length).toBeGreaterThan(100));
    expect((await stats(other)).hours).toMatchObject([{ is_exact: false }]);
    harness.clockOffset += HOUR_MS;
    await eventually(async () => expect((await stats(other)).hours[0]?.is_exact).toBe(true), { deadlineMs: 40_000 });
    isOver = true;
    await harness.waitUntilEventsRecorded();
    await exact(other);
  });

  it("count a person's discards, and none twice", async () => {
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    await publish(3);
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['retrying'] })).toHaveLength(3),
    );
    const [one, two] = await harness.listDeliveries(webhooks);
    const command = { ...harness.createSampleWebhookCommand(), delivery_id: one?.id ?? '' };
    await webhooks.deliveries.discard(command);
    await webhooks.deliveries.discard(command);
    await webhooks.deliveries.discard({ ...harness.createSampleWebhookCommand(), delivery_id: two?.id ?? '' });
    await eventually(async () => expect((await stats()).hours[0]?.deliveries.discarded).toBe(2));
    const { waiting } = await exact();
    expect(waiting.count).toBe(1);
  });

  it.each(['is retried', 'is replayed', 'arrives after all'])(
    'do not count a discarded delivery after it %s',
    async (how) => {
      // A recount request is carried out after this time, by when the delivery has to be stored.
      await webhooks.stop();
      webhooks = await harness.startWebhooks({ ...SETTINGS, statsSettleMs: 200 });
      const { promise: answered, resolve } = Promise.withResolvers<void>();
      harness.receivers.setFakeReceiverBehaviour(URL_A, async () => {
        if (how === 'arrives after all') await answered;
        return createReceiverAnswer(how === 'arrives after all' ? 200 : 500);
      });
      await publish(1);
      await attempted(1);
      const [delivery] = await harness.listDeliveries(webhooks);
      const about = { ...harness.createSampleWebhookCommand(), delivery_id: delivery?.id ?? '' };
      if (how !== 'arrives after all') {
        await eventually(async () => expect((await stats()).hours[0]?.attempts.failed).toBe(1));
      }
      await webhooks.deliveries.discard(about);
      await eventually(async () => expect((await stats()).hours[0]?.deliveries.discarded).toBe(1));
      await exact();
      if (how !== 'arrives after all')
        harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(200));
      if (how === 'is retried') await webhooks.deliveries.retry({ ...about, ...harness.createSampleWebhookCommand() });
      if (how === 'is replayed') {
        await webhooks.replays.create({
          ...harness.createSampleWebhookCommand(),
          endpoint_id: id,
          filter: { statuses: ['discarded'] },
        });
      }
      resolve();
      await eventually(async () =>
        expect(await harness.listDeliveries(webhooks, { statuses: ['succeeded'] })).toHaveLength(1),
      );
      await eventually(async () => expect((await stats()).hours[0]?.deliveries.discarded).toBe(0));
      await exact();
    },
  );

  it('count dead letters, including those replayed later', async () => {
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(410));
    await publish(1);
    await eventually(async () => expect((await stats()).hours[0]?.deliveries.dead_lettered).toBe(1));
    harness.receivers.setFakeReceiverBehaviour(URL_A, (request) => harness.receivers.respondWithOk(request));
    await webhooks.endpoints.enable({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
    await webhooks.replays.create({ ...harness.createSampleWebhookCommand(), endpoint_id: id, filter: {} });
    await eventually(async () => expect((await stats()).hours[0]?.deliveries.succeeded).toBe(1));
    webhooks.process.simulateProcessKill();
    const other = await harness.startWebhooks(SETTINGS);
    const { hours } = await exact(other);
    expect(hours).toMatchObject([{ deliveries: { succeeded: 1, dead_lettered: 1 } }]);
  });

  it('report an hour as inexact if the log does not contain all of it', async () => {
    const short = { ...SETTINGS, retention: { deliveriesMs: 1, deadLettersMs: 1 }, sweepMs: 20 };
    await webhooks.stop();
    const mortal = await harness.startWebhooks(SETTINGS);
    await publish(5);
    await eventually(async () => expect((await stats(mortal)).hours[0]?.attempts.succeeded).toBe(5));
    mortal.process.simulateProcessKill();
    const sweeping = await harness.startWebhooks({ ...short, statsSettleMs: 60_000 });
    await eventually(async () => expect(await harness.listDeliveries(sweeping)).toEqual([]));
    await sweeping.stop();
    const other = await harness.startWebhooks(SETTINGS);
    const requests = await harness.engine.documentStore.collection(HOUR_RECOUNTS_COLLECTION_SPEC);
    await eventually(async () => expect(await requests.count({})).toBe(0));
    expect((await stats(other)).hours).toMatchObject([{ attempts: { succeeded: 5 }, is_exact: false }]);
  });

  it('are deleted with the log', async () => {
    await publish(1);
    await eventually(async () => expect((await stats()).hours).toHaveLength(1));
    await webhooks.stop();
    harness.clockOffset += 3 * HOUR_MS;
    const other = await harness.startWebhooks({
      ...SETTINGS,
      retention: { deliveriesMs: HOUR_MS, deadLettersMs: HOUR_MS },
      sweepMs: 20,
    });
    await eventually(async () => expect((await stats(other)).hours).toEqual([]));
  });
});
