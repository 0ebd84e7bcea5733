import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import type { RetryPolicy } from '@tracking/webhooks-domain';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { ProcessWithFlakyDocumentStore } from '../../test/flaky-process.ts';
import { type HarnessEndpoint, type RunningWebhooks, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import { DEFERRED_DELIVERIES_COLLECTION_SPEC, type DeferredDeliveriesDocument } from './deferred-deliveries.ts';

const HEALTHY = 'https://healthy.example.com/hook';
const FAILING = 'https://failing.example.com/hook';
/** Never within a test. */
const NEVER: RetryPolicy = { firstMs: 3_600_000, factor: 1, capMs: 3_600_000, windowMs: 7_200_000 };

jest.setTimeout(30_000);

let harness: WebhooksTestHarness;
let process: ProcessWithFlakyDocumentStore;
let webhooks: RunningWebhooks;
let failing: HarnessEndpoint;

const late = async () => {
  const documents = await harness.engine.documentStore.collection<DeferredDeliveriesDocument>(
    DEFERRED_DELIVERIES_COLLECTION_SPEC,
  );
  return documents.find({ filter: {}, sort: { fields: ['id'] }, limit: 100 });
};
const ofFailing = (api = webhooks) => harness.listDeliveries(api, { endpoint_id: failing.id });
const putOff = () => webhooks.metrics.getMetricValue('webhook_deliveries_put_off_total');
const events = (count: number) => Array.from({ length: count }, () => harness.addAcknowledgedEventToLog());

/** An endpoint with an open circuit, beside a healthy one. */
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  process = new ProcessWithFlakyDocumentStore();
  webhooks = await harness.startWebhooks({ policy: NEVER }, process);
  await harness.createEnabledEndpoint(webhooks, HEALTHY);
  failing = await harness.createEnabledEndpoint(webhooks, FAILING);
  harness.receivers.setFakeReceiverBehaviour(FAILING, () => createReceiverAnswer(500));
  await harness.publishEventsToBrokerForTest(...events(20));
  await eventually(async () => {
    const before = putOff();
    await harness.publishEventsToBrokerForTest(...events(1));
    await harness.waitUntilEventsRecorded();
    expect(putOff() - before).toBe(1);
  });
  await eventually(async () => expect(await late()).toEqual([]));
});
afterEach(async () => {
  process.releaseWrites();
  await harness.closeWebhooksHarness();
});

/** Events that the others have received, while recording for the failing endpoint is deferred. */
async function putOffSome(): Promise<readonly string[]> {
  process.holdDeliveriesTo = failing.id;
  const some = events(3);
  const arrived = harness.receivers.listDeliveriesReceivedAtUrl(HEALTHY).length;
  await harness.publishEventsToBrokerForTest(...some);
  await harness.waitUntilEventsRecorded();
  await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(HEALTHY)).toHaveLength(arrived + 3));
  await eventually(() => expect(process.atGate).toBe(1));
  expect(await late()).toHaveLength(3);
  return some.map(({ id }) => id);
}

describe('events deferred for an endpoint', () => {
  test('are recorded when there is time, and the deferral is deleted', async () => {
    const ids = await putOffSome();
    const age = () => webhooks.metrics.getMetricValue('webhook_late_records_seconds');
    harness.clockOffset += 5_000;
    expect(age()).toBeGreaterThanOrEqual(5);
    process.releaseWrites();
    await eventually(async () => expect(await late()).toEqual([]));
    const recorded = (await ofFailing()).map(({ event_id }) => event_id);
    expect(recorded).toEqual(expect.arrayContaining([...ids]));
    await eventually(() => expect(age()).toBe(0));
  });

  test('are recorded by another process if this one ends before', async () => {
    const ids = await putOffSome();
    process.simulateProcessKill();
    const second = await harness.startWebhooks({ policy: NEVER });
    await eventually(async () => {
      const recorded = (await ofFailing(second)).map(({ event_id }) => event_id);
      expect(recorded).toEqual(expect.arrayContaining([...ids]));
    });
    await eventually(async () => expect(await late()).toEqual([]));
  });

  test('stay unchanged if they were recorded just before a crash', async () => {
    await putOffSome();
    const documents = await harness.engine.documentStore.collection<DeferredDeliveriesDocument>(
      DEFERRED_DELIVERIES_COLLECTION_SPEC,
    );
    const again = await late();
    process.releaseWrites();
    await eventually(async () => expect(await late()).toEqual([]));
    // Each is attempted once, and then waits for an hour.
    await eventually(async () => {
      expect(await harness.listDeliveries(webhooks, { endpoint_id: failing.id, statuses: ['pending'] })).toEqual([]);
    });
    const before = await ofFailing();
    for (const each of again) await documents.insert(each);
    await eventually(async () => expect(await late()).toEqual([]));
    expect(await ofFailing()).toEqual(before);
  });

  test('are recorded in the order of arrival', async () => {
    process.holdDeliveriesTo = failing.id;
    // All of one shipment, because others may be consumed concurrently.
    const { data } = harness.addAcknowledgedEventToLog();
    const many = Array.from({ length: 120 }, () => harness.addAcknowledgedEventToLog({ data }));
    await harness.publishEventsToBrokerForTest(...many);
    await harness.waitUntilEventsRecorded();
    const ids = many.map(({ id }) => id);
    expect((await late()).map(({ about }) => about.event_id)).toEqual(ids.slice(0, 100));
  });

  test('are not recorded if the endpoint is deleted in the meantime', async () => {
    await putOffSome();
    const before = await harness.listDeliveries(webhooks, { endpoint_id: failing.id });
    const passive = await harness.startWebhooks({}, undefined, undefined, true);
    await passive.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id: failing.id });
    process.simulateProcessKill();
    const second = await harness.startWebhooks({ policy: NEVER });
    await eventually(async () => expect(await late()).toEqual([]));
    expect(await ofFailing(second)).toHaveLength(before.length);
    await eventually(async () => {
      const statuses = ['pending', 'retrying'];
      expect(await harness.listDeliveries(second, { endpoint_id: failing.id, statuses })).toEqual([]);
    });
  });

  test('are limited by their waiting time: later ones are recorded immediately', async () => {
    await putOffSome();
    harness.clockOffset += 301_000;
    await eventually(
      async () => {
        const before = putOff();
        await harness.publishEventsToBrokerForTest(...events(1));
        // Held like the deferred ones.
        await eventually(async () => expect(await harness.readRecordingLag()).toBe(1), { deadlineMs: 500 });
        expect(putOff()).toBe(before);
      },
      { deadlineMs: 10_000 },
    );
    process.releaseWrites();
    await harness.waitUntilEventsRecorded();
    await eventually(async () =>
      expect(await ofFailing()).toHaveLength(harness.receivers.listDeliveriesReceivedAtUrl(HEALTHY).length),
    );
  });
});

test('are all recorded immediately if no endpoint keeps up', async () => {
  harness.receivers.setFakeReceiverBehaviour(HEALTHY, () => createReceiverAnswer(500));
  await harness.publishEventsToBrokerForTest(...events(20));
  await harness.waitUntilEventsRecorded();
  await eventually(async () => {
    const before = putOff();
    const [event] = events(1);
    if (event === undefined) return;
    await harness.publishEventsToBrokerForTest(event);
    await harness.waitUntilEventsRecorded();
    expect(putOff() - before).toBe(0);
    expect(await harness.listDeliveries(webhooks, { event_id: event.id })).toHaveLength(2);
  });
});
