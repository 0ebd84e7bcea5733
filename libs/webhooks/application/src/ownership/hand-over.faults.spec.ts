import { jest } from '@jest/globals';
import { NEWEST_API_VERSION } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { eventually, waitForSimulatedDelay } from '@tracking/testing';
import { type RetryPolicy, computeShardOfEndpoint } from '@tracking/webhooks-domain';
import { type FakeBehaviour, createReceiverAnswer } from '../../test/fake-receivers.ts';
import { ProcessWithFlakyDocumentStore } from '../../test/flaky-process.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import {
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  PAYLOADS_COLLECTION_SPEC,
  type PayloadDocument,
  createDeliveryDocument,
  createPayloadId,
} from '../store/delivery-document.ts';

jest.setTimeout(60_000);

const POLICY: RetryPolicy = { firstMs: 20, factor: 1, capMs: 20, windowMs: 3_600_000 };
const FULL_PAYLOAD = { version: NEWEST_API_VERSION, form: 'full' } as const;
const URLS = Array.from({ length: 6 }, (_, index) => `https://${index}.example.com/hook`);

let harness: WebhooksTestHarness;
let endPublishing: () => Promise<unknown>;
beforeEach(async () => {
  endPublishing = () => Promise.resolve();
  harness = await WebhooksTestHarness.openWebhooksHarness();
});
afterEach(async () => {
  await endPublishing().catch(() => undefined);
  await harness.closeWebhooksHarness();
});

const slowly: FakeBehaviour = async (request) => {
  await waitForSimulatedDelay(3);
  return harness.receivers.respondWithOk(request);
};

/** Publishes `atOnce` events at a time. The returned function stops it and resolves with the number of events. */
function publishing(atOnce = 1): () => Promise<number> {
  let isPublishing = true;
  const publish = async () => {
    let events = 0;
    for (; isPublishing; events += atOnce) {
      await Promise.all(
        Array.from({ length: atOnce }, () => harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog())),
      );
      await waitForSimulatedDelay(2);
    }
    return events;
  };
  const published = publish();
  const end = () => {
    isPublishing = false;
    return published;
  };
  endPublishing = end;
  return end;
}
/** Number of arrivals of each (endpoint, event). */
function arrivals(): readonly number[] {
  const counts = new Map<string, number>();
  for (const url of URLS) {
    for (const { headers } of harness.receivers.listDeliveriesReceivedAtUrl(url)) {
      const key = `${url} ${headers['service-event-id'] ?? ''}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts.values()];
}

const repetitions = () => arrivals().reduce((sum, times) => sum + times - 1, 0);

/** Resolves once a process has delivered something. */
const succeedsAt = ({ metrics }: RunningWebhooks) =>
  eventually(() => expect(metrics.getMetricValue('webhook_attempts_total{outcome="success"}')).toBeGreaterThan(0));

/** Two processes, the first of which owns all shards, while events are being published and endpoints answer slowly. */
async function twoUnderLoad() {
  const first = await harness.startWebhooks({ policy: POLICY });
  for (const url of URLS) await harness.createEnabledEndpoint(first, url);
  for (const url of URLS) harness.receivers.setFakeReceiverBehaviour(url, slowly);
  const second = await harness.startWebhooks({ policy: POLICY });
  const published = publishing();
  await eventually(() => expect(arrivals().length).toBeGreaterThan(50));
  return { first, second, published };
}

/** Stops publishing; resolves once every event has arrived at every endpoint, and none is pending. */
async function deliversAll(process: RunningWebhooks, published: () => Promise<number>): Promise<void> {
  await succeedsAt(process);
  const events = await published();
  await eventually(() => expect(arrivals()).toHaveLength(events * URLS.length));
  await eventually(async () =>
    expect(await harness.listDeliveries(process, { statuses: ['pending', 'retrying'] })).toEqual([]),
  );
}

describe('two processes', () => {
  test('share the work: one attempts deliveries that the other recorded', async () => {
    const owner = await harness.startWebhooks({ policy: POLICY });
    for (const url of URLS) await harness.createEnabledEndpoint(owner, url);
    const other = await harness.startWebhooks({ policy: POLICY });
    expect(owner.metrics.getMetricValue('webhook_shards_owned')).toBe(64);
    expect(other.metrics.getMetricValue('webhook_shards_owned')).toBe(0);
    const published = publishing();
    await eventually(() => {
      for (const { metrics } of [owner, other]) {
        expect(metrics.getMetricValue('webhook_deliveries_recorded_total')).toBeGreaterThan(0);
      }
    });
    const events = await published();
    await eventually(() => expect(arrivals()).toHaveLength(events * URLS.length));
    expect(arrivals().every((times) => times === 1)).toBe(true);
    expect(other.metrics.getMetricValue('webhook_attempts_total{outcome="success"}')).toBe(0);
  });

  test('carry out requests made to either of them', async () => {
    const owner = await harness.startWebhooks({ policy: { ...POLICY, firstMs: 3_600_000, capMs: 3_600_000 } });
    const other = await harness.startWebhooks({ policy: POLICY });
    const { id } = await harness.createEnabledEndpoint(owner, URLS[0] ?? '');
    const on = () => ({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
    harness.receivers.setFakeReceiverBehaviour(URLS[0] ?? '', () => createReceiverAnswer(500));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const delivery = await eventually(async () => {
      const found = await harness.getDelivery(other, id, event.id);
      expect(found.status).toBe('retrying');
      return found;
    });
    await other.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: delivery.id });
    await eventually(async () =>
      expect(await harness.getDelivery(other, id, event.id)).toMatchObject({ attempts_count: 2 }),
    );
    const late = harness.addAcknowledgedEventToLog();
    await other.endpoints.disable(on());
    await harness.publishEventsToBrokerForTest(late);
    await eventually(async () =>
      expect(await harness.getDelivery(other, id, late.id)).toMatchObject({ status: 'pending' }),
    );
    const sandbox = await other.endpoints.test({ ...on(), type: 'shipment.created' });
    await eventually(async () =>
      expect(await other.deliveries.get({ scopes: [SAMPLE_SCOPE], delivery_id: sandbox.id })).toMatchObject({
        attempts_count: 1,
      }),
    );
    expect(await harness.getDelivery(other, id, late.id)).toMatchObject({ status: 'pending', attempts_count: 0 });
    await other.endpoints.enable(on());
    await eventually(async () =>
      expect(await harness.getDelivery(other, id, late.id)).toMatchObject({ attempts_count: 1 }),
    );
    await other.endpoints.remove(on());
    await eventually(async () =>
      expect(await harness.getDelivery(owner, id, event.id)).toMatchObject({ status: 'discarded' }),
    );
  });

  test('hand over without loss or repetition when one is stopped', async () => {
    const { first, second, published } = await twoUnderLoad();
    await first.stop();
    await deliversAll(second, published);
    expect(second.metrics.getMetricValue('webhook_shards_owned')).toBe(64);
    expect(arrivals().every((times) => times === 1)).toBe(true);
  });

  test('lose nothing when one is killed, and repeat only its attempts in progress', async () => {
    const { first, second, published } = await twoUnderLoad();
    first.process.simulateProcessKill();
    const inDoubt = first.process.unanswered;
    await deliversAll(second, published);
    expect(repetitions()).toBeLessThanOrEqual(inDoubt);
  });

  test('continue when one loses its shards and survives', async () => {
    const { first, second, published } = await twoUnderLoad();
    first.process.simulateLeaseLoss();
    const inDoubt = first.process.unanswered;
    await eventually(() => expect(second.metrics.getMetricValue('webhook_shards_owned')).toBe(64));
    expect(first.metrics.getMetricValue('webhook_shards_owned')).toBe(0);
    await deliversAll(second, published);
    expect(repetitions()).toBeLessThanOrEqual(inDoubt);
  });

  test('attempt nothing twice if one lost its shards while its store was unreachable', async () => {
    const flaky = new ProcessWithFlakyDocumentStore();
    const first = await harness.startWebhooks(
      { policy: { ...POLICY, firstMs: 300, capMs: 300 }, freshnessMs: 0 },
      flaky,
    );
    const url = URLS[0] ?? '';
    const { id } = await harness.createEnabledEndpoint(first, url);
    harness.receivers.setFakeReceiverBehaviour(url, () => createReceiverAnswer(500));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    const second = await harness.startWebhooks({ policy: POLICY });
    await eventually(async () =>
      expect(await harness.getDelivery(second, id, event.id)).toMatchObject({ status: 'retrying' }),
    );
    flaky.down = true;
    // It is the first one's turn, which cannot read what it needs.
    await eventually(() => expect(first.metrics.getMetricValue('webhook_attempts_in_flight')).toBe(1));
    const arrivedBefore = harness.receivers.listDeliveriesReceivedAtUrl(url).length;
    const answered = Promise.withResolvers<ReturnType<typeof createReceiverAnswer>>();
    harness.receivers.setFakeReceiverBehaviour(url, () => answered.promise);
    first.process.simulateLeaseLoss();
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(arrivedBefore + 1));
    flaky.down = false;
    await eventually(() => expect(first.metrics.getMetricValue('webhook_attempts_in_flight')).toBe(0), {
      deadlineMs: 10_000,
    });
    answered.resolve(createReceiverAnswer(200));
    await eventually(async () =>
      expect(await harness.getDelivery(second, id, event.id)).toMatchObject({ status: 'succeeded' }),
    );
    expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(arrivedBefore + 1);
  });

  describe('continue if one was suspended until the other had its shards', () => {
    /** Successful attempts. */
    const attempts = ({ metrics }: RunningWebhooks) =>
      metrics.getMetricValue('webhook_attempts_total{outcome="success"}');

    test('send deliveries that the first was recording only from the other', async () => {
      const still = new ProcessWithFlakyDocumentStore();
      const first = await harness.startWebhooks({ policy: POLICY }, still);
      const url = URLS[0] ?? '';
      const { id } = await harness.createEnabledEndpoint(first, url);
      still.holdDeliveriesTo = id;
      const event = harness.addAcknowledgedEventToLog();
      await harness.publishEventsToBrokerForTest(event);
      await eventually(() => expect(still.atGate).toBe(1));
      const second = await harness.startWebhooks({ policy: POLICY });
      still.simulateUnnoticedLeaseLoss();
      await eventually(() => expect(second.metrics.getMetricValue('webhook_shards_owned')).toBe(64));
      still.releaseWrites();
      await eventually(async () =>
        expect(await harness.getDelivery(second, id, event.id)).toMatchObject({ status: 'succeeded' }),
      );
      expect([attempts(first), attempts(second)]).toEqual([0, 1]);
      expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(1);
    });

    test('leave wake-ups to the other', async () => {
      const first = await harness.startWebhooks({ policy: POLICY, pollMs: 1 });
      const ids: string[] = [];
      for (const url of URLS) ids.push((await harness.createEnabledEndpoint(first, url)).id);
      // The first one checks long before it.
      const second = await harness.startWebhooks({ policy: POLICY, pollMs: 300 });
      const asked = await harness.startWebhooks({ policy: POLICY }, undefined, undefined, true);
      first.process.simulateUnnoticedLeaseLoss();
      await eventually(() => expect(second.metrics.getMetricValue('webhook_shards_owned')).toBe(64));
      await Promise.all(
        ids.map((endpoint_id) =>
          asked.endpoints.test({ ...harness.createSampleWebhookCommand(), endpoint_id, type: 'shipment.created' }),
        ),
      );
      await eventually(() =>
        expect(URLS.map((url) => harness.receivers.listDeliveriesReceivedAtUrl(url).length)).toEqual(URLS.map(() => 1)),
      );
      expect(attempts(first)).toBe(0);
    });
  });

  test('send a delivery once if both record it, and the owner last', async () => {
    const slow = new ProcessWithFlakyDocumentStore();
    const freshnessMs = 200;
    const owner = await harness.startWebhooks({ policy: POLICY, freshnessMs }, slow);
    const url = URLS[0] ?? '';
    const { id } = await harness.createEnabledEndpoint(owner, url);
    const of = { data: { shipment_id: 'shp_1', shipment: { id: 'shp_1' } } };
    const [earlier, event] = [harness.addAcknowledgedEventToLog(of), harness.addAcknowledgedEventToLog(of)];
    // The first batch of a partition is always read again.
    await harness.publishEventsToBrokerForTest(earlier);
    await eventually(async () =>
      expect(await harness.getDelivery(owner, id, earlier.id)).toMatchObject({ status: 'succeeded' }),
    );
    slow.holdDeliveriesTo = id;
    await harness.publishEventsToBrokerForTest(event);
    await eventually(() => expect(slow.atGate).toBe(1));
    const other = await harness.startWebhooks({ policy: POLICY });
    // The other process gets the message too, as after a rebalance of the consumers. It consumes half of the partitions.
    await harness.sendMessages(
      ...Array.from({ length: 16 }, (_, n) => ({ ...harness.createEventMessage(event), key: `key-${n}` })),
    );
    await eventually(async () =>
      expect(await harness.getDelivery(other, id, event.id)).toMatchObject({ status: 'succeeded' }),
    );
    await waitForSimulatedDelay(freshnessMs);
    slow.releaseWrites();
    await harness.waitUntilEventsRecorded();
    const later = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(later);
    await eventually(async () =>
      expect(await harness.getDelivery(other, id, later.id)).toMatchObject({ status: 'succeeded' }),
    );
    expect(await harness.getDelivery(other, id, event.id)).toMatchObject({ attempts_count: 1 });
    expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(3);
  });

  test('send nothing to an endpoint that was disabled long after its event was read', async () => {
    const slow = new ProcessWithFlakyDocumentStore();
    const freshnessMs = 200;
    const owner = await harness.startWebhooks({ policy: POLICY, freshnessMs, pollMs: 1_000_000 }, slow);
    const url = URLS[0] ?? '';
    const { id } = await harness.createEnabledEndpoint(owner, url);
    const of = { data: { shipment_id: 'shp_1', shipment: { id: 'shp_1' } } };
    const [sent, held] = [harness.addAcknowledgedEventToLog(of), harness.addAcknowledgedEventToLog(of)];
    await harness.publishEventsToBrokerForTest(sent);
    await eventually(async () =>
      expect(await harness.getDelivery(owner, id, sent.id)).toMatchObject({ status: 'succeeded' }),
    );
    slow.holdDeliveriesTo = id;
    await harness.publishEventsToBrokerForTest(held);
    await eventually(() => expect(slow.atGate).toBe(1));
    const asked = await harness.startWebhooks({ policy: POLICY }, undefined, undefined, true);
    const on = () => ({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
    await asked.endpoints.disable(on());
    await waitForSimulatedDelay(freshnessMs);
    slow.releaseWrites();
    await harness.waitUntilEventsRecorded();
    // A sandbox event is sent to a disabled endpoint, after all that was due before.
    await owner.endpoints.test({ ...on(), type: 'shipment.created' });
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(2));
    expect(await harness.getDelivery(owner, id, held.id)).toMatchObject({ status: 'pending', attempts_count: 0 });
  });

  test('send a delivery that the owner cannot read yet, because its engine has a new primary', async () => {
    let reads = 0;
    const readLate = <T extends Document>(collection: Collection<T>): Collection<T> => {
      const get: Collection<T>['get'] = (id) => ((reads += 1) < 3 ? Promise.resolve(undefined) : collection.get(id));
      return Object.assign(Object.create(collection) as Collection<T>, { get });
    };
    const process = new SimulatedKillableProcess();
    const wrapped = process.wrapDocumentStoreWithFaults(harness.engine.documentStore);
    jest.spyOn(process, 'wrapDocumentStoreWithFaults').mockReturnValue({
      ...wrapped,
      collection: async <T extends Document>(spec: CollectionSpec) => {
        const collection = await wrapped.collection<T>(spec);
        return spec.name === DELIVERIES_COLLECTION_SPEC.name ? readLate(collection) : collection;
      },
    });
    const owner = await harness.startWebhooks({ policy: POLICY, pollMs: 1_000_000 }, process);
    const { id } = await harness.createEnabledEndpoint(owner, URLS[0] ?? '');
    const { id: event_id, type: event_type, created_at } = harness.addAcknowledgedEventToLog();
    const about = { ...SAMPLE_SCOPE, event_id, event_type, event_created_at: created_at };
    const delivery = createDeliveryDocument(about, id, createPayloadId(event_id, FULL_PAYLOAD), created_at);
    const [deliveries, payloads] = await Promise.all([
      harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC),
      harness.engine.documentStore.collection<PayloadDocument>(PAYLOADS_COLLECTION_SPEC),
    ]);
    await payloads.insert({ id: delivery.payload_id, body: '{}', created_at });
    await deliveries.insert(delivery);
    const asked = await harness.startWebhooks({ policy: POLICY }, undefined, undefined, true);
    await owner.owners.takeDeliveries({ deliveries: [delivery], payloads: {} });
    await eventually(async () =>
      expect(await harness.getDelivery(asked, id, event_id)).toMatchObject({ status: 'succeeded', attempts_count: 1 }),
    );
    expect(reads).toBeGreaterThanOrEqual(3);
  });

  test('cancel attempts in progress when one loses its shards', async () => {
    const first = await harness.startWebhooks({ policy: POLICY });
    const url = URLS[0] ?? '';
    const { id } = await harness.createEnabledEndpoint(first, url, { max_concurrency: 1 });
    const second = await harness.startWebhooks({ policy: POLICY });
    harness.receivers.setFakeReceiverBehaviour(url, () => new Promise(() => undefined));
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await eventually(() => expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(1));
    harness.receivers.setFakeReceiverBehaviour(url, () => createReceiverAnswer(200));
    first.process.simulateLeaseLoss();
    await eventually(async () =>
      expect(await harness.getDelivery(second, id, event.id)).toMatchObject({ status: 'succeeded', attempts_count: 1 }),
    );
    expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(2);
    expect(harness.receivers.mostAtOnce.get(url)).toBe(1);
  });

  test("never exceed an endpoint's concurrency when one loses its shards", async () => {
    const first = await harness.startWebhooks({ policy: POLICY });
    const url = URLS[0] ?? '';
    const { id } = await harness.createEnabledEndpoint(first, url, { max_concurrency: 2 });
    harness.receivers.setFakeReceiverBehaviour(url, slowly);
    const second = await harness.startWebhooks({ policy: POLICY });
    const published = publishing(4);
    await eventually(() => expect(arrivals().length).toBeGreaterThan(20));
    await first.stop();
    await succeedsAt(second);
    const events = await published();
    await eventually(() => expect(arrivals()).toHaveLength(events));
    expect(harness.receivers.mostAtOnce.get(url)).toBe(2);
    expect(computeShardOfEndpoint(id)).toBeLessThan(64);
    await second.stop();
  });
});
