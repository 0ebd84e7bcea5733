import { jest } from '@jest/globals';
import {
  type ApiVersion,
  type JsonObject,
  type PublishedEvent,
  PAYLOAD_VERSION_CONVERTER,
  PayloadVersionConverter,
} from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';

const [OLD, NEW] = ['2026-11-01', '2027-03-01'] as readonly string[] as [ApiVersion, ApiVersion];
const OLD_URL = 'https://old.example.com/hook';
const NEW_URL = 'https://new.example.com/hook';

jest.setTimeout(30_000);

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;

/** A second version, in which the shipment's reference has another name. */
const two = new PayloadVersionConverter([
  {
    name: OLD,
    downgrade: (_type, { reference, ...data }) => ({
      ...data,
      ...(reference !== undefined && { external_id: reference }),
    }),
  },
  { name: NEW },
]);

beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  harness.versions = two;
  webhooks = await harness.startWebhooks();
});
afterEach(() => harness.closeWebhooksHarness());

/** An event as created once the second version exists. */
const newEvent = (fields: Partial<PublishedEvent> = {}) =>
  harness.addAcknowledgedEventToLog({ api_version: NEW, data: { shipment_id: 'shp_1', reference: 'PO-1' }, ...fields });
const bodiesAt = (url: string) =>
  harness.receivers.listDeliveriesReceivedAtUrl(url).map(({ body }) => JSON.parse(body) as JsonObject);
const received = (url: string, count: number) =>
  eventually(() => {
    expect(harness.receivers.listDeliveriesReceivedAtUrl(url)).toHaveLength(count);
    return bodiesAt(url)[count - 1];
  });
const inOld = { api_version: OLD, data: { shipment_id: 'shp_1', external_id: 'PO-1' } };
const inNew = { api_version: NEW, data: { shipment_id: 'shp_1', reference: 'PO-1' } };

describe('with a second version of the payload', () => {
  test('an endpoint is pinned to the newest version at its creation, and receives each event in its own version with the same id', async () => {
    const pinned = await harness.createEnabledEndpoint(webhooks, OLD_URL, { api_version: OLD });
    const newest = await harness.createEnabledEndpoint(webhooks, NEW_URL);
    expect([pinned.api_version, newest.api_version]).toEqual([OLD, NEW]);
    const event = newEvent();
    await harness.publishEventsToBrokerForTest(event);
    expect([await received(OLD_URL, 1), await received(NEW_URL, 1)]).toEqual([
      { ...event, ...inOld },
      { ...event, ...inNew },
    ]);
    await expect(
      webhooks.endpoints.change({
        ...harness.createSampleWebhookCommand(),
        endpoint_id: pinned.id,
        fields: { api_version: '2020-01-01' },
      }),
    ).rejects.toMatchObject({
      details: [{ param: 'api_version', message: expect.stringContaining(`${OLD}, ${NEW}`) }],
    });
  });

  test('another version applies to later recordings; an event keeps its bytes', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, OLD_URL, { api_version: OLD });
    harness.receivers.setFakeReceiverBehaviour(OLD_URL, () => createReceiverAnswer(500));
    const before = newEvent();
    await harness.publishEventsToBrokerForTest(before);
    await received(OLD_URL, 1);
    harness.receivers.setFakeReceiverBehaviour(OLD_URL, (request) => harness.receivers.respondWithOk(request));
    const changed = await webhooks.endpoints.change({
      ...harness.createSampleWebhookCommand(),
      endpoint_id: id,
      fields: { api_version: NEW },
    });
    expect(changed).toMatchObject({ api_version: NEW, status: 'enabled' });
    const delivery = await eventually(async () => {
      const found = await harness.getDelivery(webhooks, id, before.id);
      expect(found.status).toBe('retrying');
      return found;
    });
    await webhooks.deliveries.retry({ ...harness.createSampleWebhookCommand(), delivery_id: delivery.id });
    await received(OLD_URL, 2);
    const [first, again] = harness.receivers.listDeliveriesReceivedAtUrl(OLD_URL);
    expect(again?.body).toBe(first?.body);
    const after = newEvent();
    await harness.publishEventsToBrokerForTest(after);
    expect(await received(OLD_URL, 3)).toEqual({ ...after, ...inNew });
  });

  test('sandbox events and missed events of a replay are sent in the endpoint’s version', async () => {
    const missed = newEvent({ created_at: new Date(Date.parse(harness.now()) - 60_000).toISOString() });
    const { id } = await harness.createEnabledEndpoint(webhooks, OLD_URL, { api_version: OLD });
    await webhooks.endpoints.test({
      ...harness.createSampleWebhookCommand(),
      endpoint_id: id,
      type: 'shipment.created',
    });
    expect(await received(OLD_URL, 1)).toMatchObject({ api_version: OLD, sandbox: true });
    await webhooks.replays.create({ ...harness.createSampleWebhookCommand(), endpoint_id: id, filter: {} });
    expect(await received(OLD_URL, 2)).toEqual({ ...missed, ...inOld });
  });

  test('an event that cannot be converted to an older version is parked alone until it can', async () => {
    const picky = (reference: unknown) => ({ external_id: (reference as string).trim() });
    harness.versions = new PayloadVersionConverter([
      { name: OLD, downgrade: (_type, { reference, ...data }) => ({ ...data, ...picky(reference) }) },
      { name: NEW },
    ]);
    await webhooks.stop();
    webhooks = await harness.startWebhooks();
    await harness.createEnabledEndpoint(webhooks, OLD_URL, { api_version: OLD });
    const broken = newEvent({ data: { shipment_id: 'shp_1' } });
    await harness.publishEventsToBrokerForTest(broken, newEvent());
    expect(await received(OLD_URL, 1)).toMatchObject(inOld);
    await harness.waitUntilEventsRecorded();
    const [parked, ...others] = (await webhooks.parked.list({ limit: 10 })).items;
    expect(others).toEqual([]);
    expect(parked?.error).toMatch(/^the event cannot be converted to an older payload version: /);
    expect(await webhooks.parked.retry({ id: parked?.id ?? '' })).toEqual({ recorded: false });
    await webhooks.stop();
    harness.versions = two;
    webhooks = await harness.startWebhooks();
    expect(await webhooks.parked.retry({ id: parked?.id ?? '' })).toEqual({ recorded: true });
    expect(await received(OLD_URL, 2)).toMatchObject({ id: broken.id, data: { shipment_id: 'shp_1' } });
  });

  test('an event of a newer publisher is parked where its version is unknown, and recorded where it is known', async () => {
    await webhooks.stop();
    harness.versions = PAYLOAD_VERSION_CONVERTER;
    const behind = await harness.startWebhooks();
    await harness.createEnabledEndpoint(behind, OLD_URL);
    const event = newEvent();
    await harness.publishEventsToBrokerForTest(event, harness.addAcknowledgedEventToLog());
    await received(OLD_URL, 1);
    await harness.waitUntilEventsRecorded();
    const [parked] = (await behind.parked.list({ limit: 10 })).items;
    expect(parked).toMatchObject({ error: 'api_version of the event is unknown to this process' });
    expect(await behind.parked.retry({ id: parked?.id ?? '' })).toEqual({ recorded: false });
    await behind.stop();
    harness.versions = two;
    webhooks = await harness.startWebhooks();
    expect(await webhooks.parked.retry({ id: parked?.id ?? '' })).toEqual({ recorded: true });
    expect(await received(OLD_URL, 2)).toEqual({ ...event, ...inOld });
    expect(
      (await harness.listDeliveries(webhooks, { event_id: event.id }, SAMPLE_SCOPE))[0]?.attempts_count,
    ).toBeLessThanOrEqual(1);
  });
});
