import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';

jest.setTimeout(120_000);

const URL_A = 'https://a.example.com/hook';
const URL_B = 'https://b.example.com/hook';
const URL_C = 'https://c.example.com/hook';
const URL_D = 'https://d.example.com/hook';
const POLICY: RetryPolicy = { firstMs: 5, factor: 1, capMs: 5, windowMs: 3_600_000 };
const EVENTS = 3;

let harness: WebhooksTestHarness;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(() => harness.closeWebhooksHarness());

/** Events published first. The third and fourth endpoints leave one unanswered each. */
const BEFORE = 2;
const EXPECTED = 4 * (BEFORE + EVENTS);
/** Each window holds one delivery: an endpoint with more of them does not keep up. */
const SETTINGS = { policy: POLICY, maxWaiting: 0 };

/**
 * Publishes events for four endpoints to a process that dies at the given outgoing call. The first endpoint refuses
 * each event once. The third refuses its first event and then hangs, so its circuit is open and its later deliveries
 * are deferred. The fourth hangs at once, so it does not keep up and its later events are stored after those of the
 * others.
 * @returns whether the process survived, what arrived by endpoint and event, and how much it recorded late
 */
async function run(dieAt: number, before: boolean) {
  const workspace_id = `wsp_${dieAt}_${String(before)}`;
  const scope = { ...SAMPLE_SCOPE, workspace_id };
  const setUp = await harness.startWebhooks(SETTINGS);
  const urls = [URL_A, URL_B, URL_C, URL_D].map((url) => `${url}/${workspace_id}`);
  for (const url of urls) await harness.createEnabledEndpoint(setUp, url, { max_concurrency: 1 }, scope);
  await setUp.stop();
  await harness.publishEventsToBrokerForTest(
    ...Array.from({ length: BEFORE }, () => harness.addAcknowledgedEventToLog(scope)),
  );
  harness.clockOffset += 1_000;
  const refused = new Set<string>();
  const accepted: string[] = [];
  harness.receivers.setFakeReceiverBehaviour(urls[0] ?? '', ({ headers }) => {
    const id = headers['service-event-id'] ?? '';
    if (!refused.has(id)) {
      refused.add(id);
      return createReceiverAnswer(500);
    }
    accepted.push(`a ${id}`);
    return createReceiverAnswer(200);
  });
  harness.receivers.setFakeReceiverBehaviour(urls[1] ?? '', ({ headers }) => {
    accepted.push(`b ${headers['service-event-id'] ?? ''}`);
    return createReceiverAnswer(200);
  });
  const waken = Promise.withResolvers<ReturnType<typeof createReceiverAnswer>>();
  let isFirst = true;
  harness.receivers.setFakeReceiverBehaviour(urls[2] ?? '', ({ headers }) => {
    if (isFirst) {
      isFirst = false;
      return createReceiverAnswer(500);
    }
    accepted.push(`c ${headers['service-event-id'] ?? ''}`);
    return waken.promise;
  });
  harness.receivers.setFakeReceiverBehaviour(urls[3] ?? '', ({ headers }) => {
    accepted.push(`d ${headers['service-event-id'] ?? ''}`);
    return waken.promise;
  });
  const mortal = new SimulatedKillableProcess(dieAt, before);
  const first = await harness.startWebhooks(SETTINGS, mortal);
  await eventually(async () => {
    if (mortal.dead) return;
    const got = (name: string) => new Set(accepted.filter((one) => one.startsWith(name))).size;
    expect(['a', 'b', 'c', 'd'].map(got)).toEqual([BEFORE, BEFORE, 1, 1]);
    expect(await harness.readRecordingLag()).toBe(0);
  });
  await harness.publishEventsToBrokerForTest(
    ...Array.from({ length: EVENTS }, () => harness.addAcknowledgedEventToLog(scope)),
  );
  await eventually(async () => {
    if (!mortal.dead) expect(await harness.readRecordingLag()).toBe(0);
  });
  const late = first.metrics.getMetricValue('webhook_deliveries_recorded_late_total');
  const putOff = first.metrics.getMetricValue('webhook_deliveries_put_off_total');
  waken.resolve(createReceiverAnswer(200));
  const all = async (webhooks: typeof setUp) => {
    const done = await harness.listDeliveries(webhooks, { statuses: ['succeeded'] }, scope);
    expect(done).toHaveLength(EXPECTED);
  };
  await eventually(async () => {
    if (!mortal.dead) await all(setUp);
  });
  // The process writes its counts when it stops, and may die of that too.
  let hasStopped = false;
  if (!mortal.dead) void first.stop().then(() => (hasStopped = true));
  await eventually(() => expect(hasStopped || mortal.dead).toBe(true));
  const lived = !mortal.dead;
  const inDoubt = mortal.unanswered;
  const second = await harness.startWebhooks(SETTINGS);
  await eventually(() => all(second));
  await eventually(async () =>
    expect(
      await second.deliveries.list({
        scopes: [scope],
        filter: { statuses: ['pending', 'retrying'] },
        limit: 9,
      }),
    ).toMatchObject({ items: [] }),
  );
  await second.stop();
  expect(harness.errors).toEqual([]);
  return { lived, accepted, inDoubt, late, putOff };
}

describe('a process that dies', () => {
  test.each([
    ['before', true],
    ['after', false],
  ])('right %s any of its calls loses nothing, and repeats only unstored attempts', async (_, before) => {
    let duplicates = 0;
    let recordedLate = 0;
    let putOff = 0;
    for (let dieAt = 1; ; dieAt += 1) {
      const { lived, accepted, inDoubt, ...counted } = await run(dieAt, before);
      const distinct = new Set(accepted).size;
      expect({ dieAt, distinct }).toEqual({ dieAt, distinct: EXPECTED });
      // Attempts whose outcome was not stored when the process died; everything else arrives once.
      expect({ dieAt, repeated: accepted.length - distinct <= inDoubt }).toEqual({ dieAt, repeated: true });
      duplicates += accepted.length - distinct;
      recordedLate += counted.late;
      putOff += counted.putOff;
      if (lived) break;
      expect(dieAt).toBeLessThan(200);
    }
    // Fails if no death ever hit an attempt, because the test would then prove nothing.
    expect(duplicates).toBeGreaterThan(0);
    expect(recordedLate).toBeGreaterThan(0);
    expect(putOff).toBeGreaterThan(0);
  });
});
