import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';

jest.setTimeout(60_000);

const URL = 'https://a.example.com/hook';
const HOUR = 3_600_000;
const DAYS = 3 * 24 * HOUR;
const SOON: RetryPolicy = { firstMs: 50, factor: 1, capMs: 50, windowMs: 30 * 24 * HOUR };

let harness: WebhooksTestHarness;
let process: SimulatedKillableProcess;
let webhooks: RunningWebhooks;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  process = new SimulatedKillableProcess();
  webhooks = await harness.startWebhooks({ policy: SOON }, process);
});
afterEach(() => harness.closeWebhooksHarness());

const attemptCount = () => harness.receivers.listDeliveriesReceivedAtUrl(URL).length;

describe('an endpoint of a process whose wall clock is set', () => {
  test.each([3 * HOUR, -3 * HOUR])('gets new events at once after %i ms with attempts in progress', async (step) => {
    await harness.createEnabledEndpoint(webhooks, URL);
    const gate = Promise.withResolvers<void>();
    harness.receivers.setFakeReceiverBehaviour(URL, () => gate.promise.then(() => createReceiverAnswer(200)));
    await harness.publishEventsToBrokerForTest(...Array.from({ length: 4 }, () => harness.addAcknowledgedEventToLog()));
    await eventually(() => expect(attemptCount()).toBe(4));
    process.clockOffset += step;
    gate.resolve();
    for (let sent = 5; sent <= 10; sent += 1) {
      await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
      await eventually(() => expect(attemptCount()).toBe(sent));
    }
  });

  test.each(['by the same process', 'by the next process'])(
    'is attempted after days forward and back %s',
    async (by) => {
      await harness.createEnabledEndpoint(webhooks, URL);
      harness.receivers.setFakeReceiverBehaviour(URL, () => createReceiverAnswer(500));
      await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
      await eventually(() => expect(attemptCount()).toBeGreaterThan(1));
      process.clockOffset += DAYS;
      await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
      const before = attemptCount();
      await eventually(() => expect(attemptCount()).toBeGreaterThan(before + 4));
      process.clockOffset -= DAYS;
      if (by === 'by the next process') {
        await webhooks.stop();
        webhooks = await harness.startWebhooks({ policy: SOON });
      }
      harness.receivers.setFakeReceiverBehaviour(URL, () => createReceiverAnswer(200));
      await eventually(
        async () => {
          const [all] = [await webhooks.deliveries.list({ scopes: [SAMPLE_SCOPE], filter: {}, limit: 10 })];
          expect(all.items.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
        },
        { deadlineMs: 10_000 },
      );
    },
  );

  test('waits no longer than it asked for with Retry-After', async () => {
    await harness.createEnabledEndpoint(webhooks, URL);
    harness.receivers.setFakeReceiverBehaviour(URL, () => createReceiverAnswer(429, { 'retry-after': '1' }));
    process.clockOffset += DAYS;
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(() => expect(attemptCount()).toBe(1));
    process.clockOffset -= DAYS;
    harness.receivers.setFakeReceiverBehaviour(URL, () => createReceiverAnswer(200));
    await eventually(() => expect(attemptCount()).toBe(2), { deadlineMs: 10_000 });
  });
});
