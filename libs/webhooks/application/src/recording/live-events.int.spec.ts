import { jest } from '@jest/globals';
import type { PublishedEvent } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import { ENDPOINTS_COLLECTION_SPEC, type EndpointDocument } from '../endpoints/endpoint-document.ts';

const URL_A = 'https://a.example.com/hook';
const URL_B = 'https://b.example.com/hook';
const CLOCKS = [-3_600_000, -500, 0, 500, 3_600_000];

jest.setTimeout(30_000);

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  webhooks = await harness.startWebhooks();
});
afterEach(() => harness.closeWebhooksHarness());

const on = (endpoint_id: string) => ({ ...harness.createSampleWebhookCommand(), endpoint_id });
const idsOf = (events: readonly PublishedEvent[]) => events.map(({ id }) => id).sort();
/** Ids of the events recorded for the endpoint once everything is consumed. */
async function recorded(endpoint_id: string): Promise<readonly string[]> {
  await harness.waitUntilEventsRecorded();
  return (await harness.listDeliveries(webhooks, { endpoint_id })).map(({ event_id }) => event_id).sort();
}
const expectRecorded = (endpoint_id: string, ...events: readonly PublishedEvent[]) =>
  eventually(async () => expect(await recorded(endpoint_id)).toEqual(idsOf(events)));

describe('an event is live for an endpoint by its log position', () => {
  test.each(CLOCKS)('if the clock steps by %d ms after enabling', async (step) => {
    const before = harness.addAcknowledgedEventToLog();
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.clockOffset += step;
    const after = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(before, after);
    await expectRecorded(id, after);
  });

  test.each(CLOCKS)('if the enabling process is %d ms ahead of the one that made the event', async (ahead) => {
    await webhooks.stop();
    const process = new SimulatedKillableProcess();
    process.clockOffset = ahead;
    webhooks = await harness.startWebhooks({}, process);
    const before = harness.addAcknowledgedEventToLog();
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    const after = harness.addAcknowledgedEventToLog();
    await webhooks.endpoints.disable(on(id));
    const later = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(before, after, later);
    await expectRecorded(id, after);
  });

  test("if the enabling edge is ahead of the event's edge", async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await webhooks.endpoints.disable(on(id));
    harness.clockOffset += 60_000;
    await webhooks.endpoints.enable(on(id));
    harness.clockOffset -= 60_000;
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await expectRecorded(id, event);
  });

  test('however often it was enabled and disabled before anything is consumed', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await webhooks.stop();
    // Only answers, and consumes nothing.
    webhooks = await harness.startWebhooks({}, new SimulatedKillableProcess(), harness.receivers, true);
    const live: PublishedEvent[] = [];
    const all: PublishedEvent[] = [];
    for (let round = 0; round < 5; round += 1) {
      const during = harness.addAcknowledgedEventToLog();
      await webhooks.endpoints.disable(on(id));
      const meanwhile = harness.addAcknowledgedEventToLog();
      harness.clockOffset += round % 2 === 0 ? 1_000 : -2_000;
      await webhooks.endpoints.enable(on(id));
      live.push(during);
      all.push(during, meanwhile);
    }
    await harness.publishEventsToBrokerForTest(...all);
    harness.clockOffset += 86_400_000;
    await webhooks.stop();
    webhooks = await harness.startWebhooks();
    await expectRecorded(id, ...live);
  });

  test('while a changed URL awaits its verification', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await webhooks.endpoints.change({ ...on(id), fields: { url: URL_B } });
    harness.clockOffset -= 500;
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await expectRecorded(id, event);
  });

  test('independently of the time of its first or repeated publication', async () => {
    const before = harness.addAcknowledgedEventToLog();
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.clockOffset += 10;
    const after = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(after);
    // Its publication had failed until now; then the broker lost its topic, and everything is published again.
    await harness.publishEventsToBrokerForTest(before);
    await harness.publishEventsToBrokerForTest(before, after);
    await expectRecorded(id, after);
  });

  test('with a disabling by 410 at a log position, too', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(410));
    const first = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(first);
    await eventually(async () =>
      expect(await webhooks.endpoints.get(on(id))).toMatchObject({
        status: 'disabled',
        disabled_reason: 'gone',
      }),
    );
    harness.clockOffset -= 3_600_000;
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await expectRecorded(id, first);
  });
});

describe("while the log's head cannot be read", () => {
  test('enabling and disabling are refused, and succeed when repeated', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.logIsAway = true;
    await expect(webhooks.endpoints.disable(on(id))).rejects.toBeInstanceOf(UnavailableError);
    expect(await webhooks.endpoints.get(on(id))).toMatchObject({ status: 'enabled' });
    harness.logIsAway = false;
    const before = harness.addAcknowledgedEventToLog();
    await webhooks.endpoints.disable(on(id));
    harness.logIsAway = true;
    await expect(webhooks.endpoints.enable(on(id))).rejects.toBeInstanceOf(UnavailableError);
    const meanwhile = harness.addAcknowledgedEventToLog();
    harness.logIsAway = false;
    await webhooks.endpoints.enable(on(id));
    const after = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(before, meanwhile, after);
    await expectRecorded(id, before, after);
  });

  test('an endpoint is deleted all the same', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.logIsAway = true;
    expect(await webhooks.endpoints.remove(on(id))).toEqual({ id, deleted: true });
    await expect(webhooks.endpoints.get(on(id))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('an endpoint that answers 410 gets nothing, and is disabled as soon as possible', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 1 });
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(410));
    harness.logIsAway = true;
    const events = [harness.addAcknowledgedEventToLog(), harness.addAcknowledgedEventToLog()];
    await harness.publishEventsToBrokerForTest(...events);
    await expectRecorded(id, ...events);
    const dead = () => harness.listDeliveries(webhooks, { endpoint_id: id, statuses: ['dead_lettered'] });
    await eventually(async () => expect(await dead()).toHaveLength(1));
    expect(await webhooks.endpoints.get(on(id))).toMatchObject({ status: 'enabled' });
    harness.logIsAway = false;
    await eventually(async () =>
      expect(await webhooks.endpoints.get(on(id))).toMatchObject({
        status: 'disabled',
        disabled_reason: 'gone',
      }),
    );
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A)).toHaveLength(1);
    const statuses = (await harness.listDeliveries(webhooks, { endpoint_id: id })).map(({ status }) => status);
    expect(statuses.sort()).toEqual(['dead_lettered', 'pending']);
  });
});

test('a message without a position is parked', async () => {
  const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
  await harness.sendMessages(harness.createEventMessage(harness.addAcknowledgedEventToLog(), { position: undefined }));
  await eventually(async () => {
    const { items } = await webhooks.parked.list({ limit: 10 });
    expect(items).toEqual([expect.objectContaining({ error: 'the message has no position header' })]);
  });
  expect(await recorded(id)).toEqual([]);
});

test('an endpoint whose stored period has no places receives all events and does not stop other recording', async () => {
  const { id: faulty } = await harness.createEnabledEndpoint(webhooks, URL_A);
  const { id: sound } = await harness.createEnabledEndpoint(webhooks, URL_B);
  const documents = await harness.engine.documentStore.collection<EndpointDocument>(ENDPOINTS_COLLECTION_SPEC);
  const stored = await documents.get(faulty);
  const enabled_periods = stored?.enabled_periods.map(({ from, to }) => ({ from, to }));
  await documents.upsert({ ...stored, enabled_periods, revision: 99 } as unknown as EndpointDocument);
  const event = harness.addAcknowledgedEventToLog();
  await harness.publishEventsToBrokerForTest(event);
  await expectRecorded(sound, event);
  await expectRecorded(faulty, event);
  await webhooks.endpoints.disable(on(faulty));
  const later = harness.addAcknowledgedEventToLog();
  await harness.publishEventsToBrokerForTest(later);
  await expectRecorded(sound, event, later);
  await expectRecorded(faulty, event);
});
