import { jest } from '@jest/globals';
import { eventually, choosePropertyTestRounds, waitForSimulatedDelay } from '@tracking/testing';
import { convertHoursToCounts, computeHourCountsFromStoredLog } from '../../test/counted-log.ts';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';

jest.setTimeout(300_000);

const URL_A = 'https://a.example.com/hooks';
const HOUR_MS = 3_600_000;
const SETTINGS = {
  statsWriteMs: 5,
  statsSettleMs: 20,
  policy: { firstMs: 10, factor: 1, capMs: 10, windowMs: 300 * HOUR_MS },
};
/** Counts of the latest tenth of a second die with their owner. */
const DYING = { ...SETTINGS, statsWriteMs: 100 };
/** Owners that end in different ways, one after the other. */
const REIGNS = choosePropertyTestRounds(60);

type End = 'at a call' | 'kill' | 'stand still' | 'lose leases' | 'stop';
const ENDS: readonly End[] = ['at a call', 'kill', 'at a call', 'stand still', 'at a call', 'lose leases', 'stop'];

test('statistics agree with the log however their owners end, hour after hour', async () => {
  const harness = await WebhooksTestHarness.openWebhooksHarness();
  try {
    harness.clockOffset = HOUR_MS / 2 - (Date.now() % HOUR_MS);
    const api = await harness.startWebhooks({}, new SimulatedKillableProcess(), harness.receivers, true);
    const { id } = await harness.createEnabledEndpoint(api, URL_A);
    let attempts = 0;
    // Every fourth attempt fails.
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer((attempts += 1) % 4 > 0 ? 200 : 500));
    const stats = (asked = {}) => api.stats.get({ ...SAMPLE_SCOPE, endpoint_id: id, ...asked });
    const load = async (count: number) => {
      for (let n = 0; n < count; n += 1) {
        await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
        await waitForSimulatedDelay(1);
      }
    };
    const given: string[] = [];
    /** Discards a pending delivery, if there is one. */
    const discard = async () => {
      const [waiting] = await harness.listDeliveries(api, { statuses: ['retrying'] });
      if (waiting === undefined) return;
      const discarding = api.deliveries.discard({ ...harness.createSampleWebhookCommand(), delivery_id: waiting.id });
      await discarding.then(
        () => given.push(waiting.id),
        (error: unknown) => expect(error).toMatchObject({ code: 'delivery_succeeded' }),
      );
    };
    const since = harness.now();
    const standing: RunningWebhooks[] = [];
    for (let reign = 0; reign < REIGNS; reign += 1) {
      const end = ENDS[reign % ENDS.length] ?? 'stop';
      const dieAt = end === 'at a call' ? 1 + ((reign * 37) % 90) : Infinity;
      const owner = await harness.startWebhooks(DYING, new SimulatedKillableProcess(dieAt, reign % 2 === 0));
      const before = attempts;
      const loaded = load(15);
      await eventually(() => expect(owner.process.dead || attempts > before + 5).toBe(true));
      await discard();
      if (end === 'stand still') {
        // The suspended owner resumes beside its successor, with its old counts.
        owner.process.simulateUnnoticedLeaseLoss();
        standing.push(owner);
      } else if (end === 'lose leases') {
        owner.process.simulateLeaseLoss();
        standing.push(owner);
      } else if (end === 'stop') await owner.stop();
      else owner.process.simulateProcessKill();
      await loaded;
      // One hour for each, so that no hour is recounted because of another.
      harness.clockOffset += HOUR_MS;
      while (standing.length > 1) await standing.shift()?.stop();
    }
    for (const owner of standing) await owner.stop();
    const last = await harness.startWebhooks(SETTINGS);
    await harness.waitUntilEventsRecorded();
    await eventually(
      async () => {
        expect(await harness.listDeliveries(api, { statuses: ['pending', 'retrying'] })).toEqual([]);
        const found = await stats({ since });
        expect(found.hours.map(({ is_exact }) => is_exact)).not.toContain(false);
        const log = await computeHourCountsFromStoredLog(harness.engine.documentStore, id);
        const said = convertHoursToCounts(found.hours);
        const plain = (hours: typeof said) =>
          hours
            .filter(({ longest }) => longest !== null)
            .map(({ deliveries, ...hour }) => ({ ...hour, deliveries: { ...deliveries, discarded: 0 } }));
        expect(plain(said)).toEqual(plain(log));
        // A delivery discarded during its attempt, and delivered, is in the log only as delivered.
        const discarded = given.map((delivery_id) => api.deliveries.get({ scopes: [SAMPLE_SCOPE], delivery_id }));
        const delivered = (await Promise.all(discarded)).filter(({ status }) => status === 'succeeded');
        const discards = (hours: typeof said) => hours.reduce((sum, { deliveries }) => sum + deliveries.discarded, 0);
        expect(discards(said)).toBeGreaterThanOrEqual(discards(log));
        expect(discards(said)).toBeLessThanOrEqual(discards(log) + delivered.length);
      },
      { deadlineMs: 60_000 },
    );
    expect((await stats({ since })).hours.length).toBeGreaterThan(1);
    await last.stop();
  } finally {
    await harness.closeWebhooksHarness();
  }
});
