import { jest } from '@jest/globals';
import { NEWEST_API_VERSION, type PublishedEvent, SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { MessageRefusedError } from '@tracking/ports';
import { eventually, noMetrics } from '@tracking/testing';
import { markDeliveryDiscarded } from '@tracking/webhooks-domain';
import { ProcessWithFlakyDocumentStore } from '../../test/flaky-process.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import { PARKED_TOPIC } from '../settings.ts';
import {
  DELIVERIES_COLLECTION_SPEC,
  type DeliveryDocument,
  convertToDeliveryDocument,
  createDeliveryDocument,
  createPayloadId,
} from '../store/delivery-document.ts';
import { DeliveryRecordCreator } from './recorder.ts';

describe('recording', () => {
  const URL_A = 'https://a.example.com/hook';
  const URL_B = 'https://b.example.com/hook';

  jest.setTimeout(30_000);

  let harness: WebhooksTestHarness;
  let webhooks: RunningWebhooks;

  beforeEach(async () => {
    harness = await WebhooksTestHarness.openWebhooksHarness();
    webhooks = await harness.startWebhooks();
  });
  afterEach(() => harness.closeWebhooksHarness());

  const succeeded = (count: number) =>
    eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['succeeded'] })).toHaveLength(count),
    );
  const raw = (value: string) =>
    harness.engine.messageBroker.publishMessages(SHIPMENT_EVENTS_TOPIC.name, [{ key: 'k', value, headers: {} }]);

  describe('recording', () => {
    test('a delivery that a crash left without its body, and that was discarded since, is not sent', async () => {
      const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
      const { documentStore } = harness.engine;
      const deliveries = await documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
      const event = harness.addAcknowledgedEventToLog();
      const { id: event_id, type: event_type, created_at: event_created_at } = event;
      const about = { ...SAMPLE_SCOPE, event_id, event_type, event_created_at };
      const payloadId = createPayloadId(event_id, { version: NEWEST_API_VERSION, form: 'full' });
      const left = createDeliveryDocument(about, id, payloadId, event_created_at);
      await deliveries.insert(convertToDeliveryDocument(markDeliveryDiscarded(left, harness.now())));
      await harness.publishEventsToBrokerForTest(event);
      await harness.waitUntilEventsRecorded();
      await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
      await succeeded(1);
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
      expect(await harness.getDelivery(webhooks, id, event_id)).toMatchObject({
        ...{ status: 'discarded', attempts_count: 0, payload: { id: event_id } },
      });
    });

    test('an event makes one delivery for each subscribed endpoint, with the same event id and bytes', async () => {
      await harness.createEnabledEndpoint(webhooks, URL_A);
      await harness.createEnabledEndpoint(webhooks, URL_B, { event_types: ['shipment.created'] });
      await harness.createEnabledEndpoint(webhooks, 'https://c.example.com/', { event_types: ['document.approved'] });
      await harness.createEnabledEndpoint(
        webhooks,
        'https://d.example.com/',
        {},
        { ...SAMPLE_SCOPE, workspace_id: 'wsp_two' },
      );
      await harness.createEnabledEndpoint(
        webhooks,
        'https://e.example.com/',
        {},
        { ...SAMPLE_SCOPE, environment: 'test' },
      );
      const event = harness.addAcknowledgedEventToLog();
      await harness.publishEventsToBrokerForTest(event);
      await succeeded(2);
      const [a, b] = [
        harness.receivers.listDeliveriesReceivedAtUrl(URL_A),
        harness.receivers.listDeliveriesReceivedAtUrl(URL_B),
      ];
      expect([a.length, b.length]).toEqual([1, 1]);
      expect(a[0]?.body).toBe(b[0]?.body);
      expect(JSON.parse(a[0]?.body ?? '')).toEqual({ ...event, api_version: '2026-11-01' });
      expect(harness.receivers.arrived.filter(({ url }) => /\/\/[cde]\./.test(url))).toHaveLength(3); // their challenges
    });

    test('the same event makes no second delivery, in the same batch or later', async () => {
      await harness.createEnabledEndpoint(webhooks, URL_A);
      const events = Array.from({ length: 20 }, () => harness.addAcknowledgedEventToLog());
      await harness.publishEventsToBrokerForTest(...events, ...events);
      await succeeded(20);
      await harness.publishEventsToBrokerForTest(...events);
      await harness.waitUntilEventsRecorded();
      await succeeded(20);
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(20);
    });

    test('republishing everything to a new process delivers nothing', async () => {
      await harness.createEnabledEndpoint(webhooks, URL_A);
      const events = Array.from({ length: 20 }, () => harness.addAcknowledgedEventToLog());
      await harness.publishEventsToBrokerForTest(...events);
      await succeeded(20);
      await webhooks.stop();
      webhooks = await harness.startWebhooks();
      await harness.publishEventsToBrokerForTest(...events);
      await harness.waitUntilEventsRecorded();
      const last = harness.addAcknowledgedEventToLog();
      await harness.publishEventsToBrokerForTest(last);
      await succeeded(21);
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(21);
    });

    test('a later endpoint receives nothing from before it was enabled', async () => {
      const before = harness.addAcknowledgedEventToLog();
      harness.clockOffset += 10;
      const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
      await harness.publishEventsToBrokerForTest(before, harness.addAcknowledgedEventToLog());
      await succeeded(1);
      await harness.waitUntilEventsRecorded();
      expect(await harness.listDeliveries(webhooks, { endpoint_id: id, event_id: before.id })).toEqual([]);
    });

    test('an event created while the endpoint was enabled is recorded even if consumed later', async () => {
      const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
      const on = () => ({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
      const during = harness.addAcknowledgedEventToLog();
      harness.clockOffset += 10;
      await webhooks.endpoints.disable(on());
      harness.clockOffset += 10;
      const after = harness.addAcknowledgedEventToLog();
      await harness.publishEventsToBrokerForTest(during, after);
      await harness.waitUntilEventsRecorded();
      const recorded = await harness.listDeliveries(webhooks);
      expect(recorded).toMatchObject([{ event_id: during.id, status: 'pending' }]);
      await webhooks.endpoints.enable(on());
      await succeeded(1);
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
    });

    test('recording continues for a changed URL, which receives pending deliveries once verified and enabled', async () => {
      const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
      const on = () => ({ ...harness.createSampleWebhookCommand(), endpoint_id: id });
      await webhooks.endpoints.change({ ...on(), fields: { url: URL_B } });
      const event = harness.addAcknowledgedEventToLog();
      await harness.publishEventsToBrokerForTest(event);
      await harness.waitUntilEventsRecorded();
      expect(await harness.getDelivery(webhooks, id, event.id)).toMatchObject({ status: 'pending', attempts_count: 0 });
      await webhooks.endpoints.verify(on());
      await webhooks.endpoints.enable(on());
      await succeeded(1);
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toEqual([]);
      expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_B)).toHaveLength(1);
    });

    test('unknown event types are accepted', async () => {
      await harness.createEnabledEndpoint(webhooks, URL_A);
      await harness.publishEventsToBrokerForTest(
        harness.addAcknowledgedEventToLog({ type: 'shipment.teleported' as PublishedEvent['type'] }),
        harness.addAcknowledgedEventToLog(),
      );
      await succeeded(1);
      expect(await harness.readMessages(PARKED_TOPIC, 0)).toEqual([]);
      expect((await webhooks.parked.list({ limit: 10 })).items).toEqual([]);
    });
  });

  describe('a message that is not a valid event', () => {
    test.each(['', 'not json', '[]', 'null', '"text"', '{}', '{"id":"evt_1","type":"shipment.created"}'])(
      '%j is parked, and everything else continues',
      async (value) => {
        await harness.createEnabledEndpoint(webhooks, URL_A);
        await raw(value);
        await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
        await succeeded(1);
        await harness.waitUntilEventsRecorded();
        const [parked] = await harness.readMessages(PARKED_TOPIC, 1);
        expect(parked).toMatchObject({ value, headers: { 'parked-because': expect.any(String) as string } });
        expect(webhooks.metrics.getMetricValue('webhook_parked_messages_total')).toBe(1);
        const { items } = await webhooks.parked.list({ limit: 10 });
        expect(items).toMatchObject([
          { topic: SHIPMENT_EVENTS_TOPIC.name, key: 'k', error: expect.any(String) as string },
        ]);
      },
    );

    test('is parked once, however often it is received', async () => {
      await webhooks.stop();
      // Dies when the message is parked and its offset is not committed.
      const mortal = new SimulatedKillableProcess(3);
      await harness.startWebhooks({}, mortal);
      await raw('nonsense');
      await eventually(() => expect(mortal.dead).toBe(true));
      webhooks = await harness.startWebhooks();
      await harness.waitUntilEventsRecorded();
      expect(await harness.readMessages(PARKED_TOPIC, 1)).toHaveLength(1);
      expect((await webhooks.parked.list({ limit: 10 })).items).toHaveLength(1);
    });

    test('is parked even if the topic of parked messages refuses it', async () => {
      const process = new SimulatedKillableProcess();
      const { makeBrokerKillable: wrapBroker } = process;
      process.makeBrokerKillable = (inner) => ({
        ...wrapBroker.call(process, inner),
        publishMessages: (topic) => Promise.reject(new MessageRefusedError(topic, 0, 'too large')),
      });
      await webhooks.stop();
      webhooks = await harness.startWebhooks({}, process);
      await raw('no JSON');
      await eventually(async () => expect((await webhooks.parked.list({ limit: 9 })).items).toHaveLength(1));
      await harness.waitUntilEventsRecorded();
    });

    test('stays parked if it is retried and still invalid', async () => {
      await raw('nonsense');
      await harness.waitUntilEventsRecorded();
      const [parked] = (await webhooks.parked.list({ limit: 10 })).items;
      expect(await webhooks.parked.retry({ id: parked?.id ?? '' })).toEqual({ recorded: false });
      expect((await webhooks.parked.list({ limit: 10 })).items).toHaveLength(1);
      await expect(webhooks.parked.retry({ id: 'other' })).rejects.toMatchObject({ code: 'not_found' });
    });
  });
});

const DEADLINE = { deadlineMs: 20_000 };

describe('metrics of blocked webhooks', () => {
  let harness: WebhooksTestHarness;
  beforeEach(async () => void (harness = await WebhooksTestHarness.openWebhooksHarness()));
  afterEach(() => harness.closeWebhooksHarness());

  test('include the number of waiting events, even if no process records', async () => {
    const idle = new SimulatedKillableProcess();
    const { makeBrokerKillable: wrapBroker } = idle;
    const goOn = Promise.withResolvers<void>();
    idle.makeBrokerKillable = (inner) => {
      const own = wrapBroker.call(idle, inner);
      return { ...own, consume: (...given) => goOn.promise.then(() => own.consume(...given)) };
    };
    const { metrics } = await harness.startWebhooks({ lagPollMs: 5 }, idle);
    await harness.publishEventsToBrokerForTest(
      harness.addAcknowledgedEventToLog(),
      harness.addAcknowledgedEventToLog(),
      harness.addAcknowledgedEventToLog(),
    );
    await eventually(() => expect(metrics.getMetricValue('webhook_events_waiting')).toBe(3), DEADLINE);
    goOn.resolve();
    await eventually(() => expect(metrics.getMetricValue('webhook_events_waiting')).toBe(0), DEADLINE);
  });

  test('include the number of failed retries', async () => {
    const flaky = new ProcessWithFlakyDocumentStore();
    const { metrics } = await harness.startWebhooks({}, flaky);
    flaky.down = true;
    const tries = () => metrics.getMetricValue('retries_total{what="checking for wake-ups"}');
    await eventually(() => expect(tries()).toBeGreaterThan(2));
    flaky.down = false;
  });
});

test.each([
  ['reads the retention watermark and the endpoints at the same time', '2026-11-28T12:00:00.000Z', 1],
  ['does not read the retention watermark for an event that is younger than it', '2026-12-20T12:00:00.000Z', 0],
])('recording %s', async (_title, created_at, reads) => {
  let watermarkReads = 0;
  const listed = Promise.withResolvers<void>();
  const recorded: unknown[] = [];
  const dependencies = {
    endpoints: { listEndpointsOfScope: () => Promise.resolve(listed.resolve()).then(() => []) },
    watermark: {
      readRetentionWatermark: () => {
        watermarkReads += 1;
        return listed.promise.then(() => '');
      },
    },
    retentionMs: 30 * 86_400_000,
    payloads: { findStoredPayloadIds: () => Promise.resolve(new Set()) },
    deliveries: { getMany: () => Promise.resolve([]) },
    deferred: { deferDeliveries: () => Promise.resolve() },
    owner: { notifyOwningProcesses: (ids: unknown) => Promise.resolve(recorded.push(ids)) },
    clock: () => new Date('2026-12-20T12:00:00.000Z'),
    metrics: noMetrics,
  } as unknown as ConstructorParameters<typeof DeliveryRecordCreator>[0];
  const event = { ...SAMPLE_SCOPE, id: 'evt_1', type: 'shipment.created', created_at };
  await new DeliveryRecordCreator(dependencies).recordDeliveriesOfEvents([
    event as Parameters<DeliveryRecordCreator['recordDeliveriesOfEvents']>[0][number],
  ]);
  expect(recorded).toEqual([[]]);
  expect(watermarkReads).toBe(reads);
});
