import type { PublishedEvent } from '@tracking/contracts';
import { jest } from '@jest/globals';
import { eventually } from '@tracking/testing';
import { MemoryBroker } from '../../test/memory-broker.ts';
import { type Running, SCOPE, Stage } from '../../test/stage.ts';
import { CONSUMER_GROUP, EVENTS_TOPIC, PARKED_TOPIC } from '../topics.ts';

const URL_A = 'https://a.example.com/hook';
const URL_B = 'https://b.example.com/hook';

jest.setTimeout(30_000);

let stage: Stage;
let webhooks: Running;

beforeEach(async () => {
  stage = await Stage.open();
  webhooks = await stage.start();
});
afterEach(() => stage.close());

/** Resolves when everything published was consumed. */
const consumed = () =>
  eventually(async () => expect(await new MemoryBroker(stage.topics).lag(EVENTS_TOPIC, CONSUMER_GROUP)).toBe(0));
const succeeded = (count: number) =>
  eventually(async () => expect(await stage.deliveries(webhooks, { statuses: ['succeeded'] })).toHaveLength(count));
const raw = (value: string) => stage.topics.append(EVENTS_TOPIC, [{ key: 'k', value, headers: {} }]);

describe('recording', () => {
  test('an event makes one delivery for each endpoint that wants it, with the same event id and bytes', async () => {
    await stage.endpoint(webhooks, URL_A);
    await stage.endpoint(webhooks, URL_B, { event_types: ['shipment.created'] });
    await stage.endpoint(webhooks, 'https://c.example.com/', { event_types: ['document.approved'] });
    await stage.endpoint(webhooks, 'https://d.example.com/', {}, { ...SCOPE, workspace_id: 'wsp_two' });
    await stage.endpoint(webhooks, 'https://e.example.com/', {}, { ...SCOPE, environment: 'test' });
    const event = stage.event();
    stage.publish(event);
    await succeeded(2);
    const [a, b] = [stage.receivers.at(URL_A), stage.receivers.at(URL_B)];
    expect([a.length, b.length]).toEqual([1, 1]);
    expect(a[0]?.body).toBe(b[0]?.body);
    expect(JSON.parse(a[0]?.body ?? '')).toEqual({ ...event, api_version: '2026-11-01' });
    expect(stage.receivers.arrived.filter(({ url }) => /\/\/[cde]\./.test(url))).toHaveLength(3); // their challenges
  });

  test('the same event again delivers nothing twice, in the same batch or later', async () => {
    await stage.endpoint(webhooks, URL_A);
    const events = Array.from({ length: 20 }, () => stage.event());
    stage.publish(...events, ...events);
    await succeeded(20);
    stage.publish(...events);
    await consumed();
    await succeeded(20);
    expect(stage.receivers.at(URL_A)).toHaveLength(20);
  });

  test('republishing everything to a process that knows nothing of it delivers nothing', async () => {
    await stage.endpoint(webhooks, URL_A);
    const events = Array.from({ length: 20 }, () => stage.event());
    stage.publish(...events);
    await succeeded(20);
    await webhooks.stop();
    stage.topics.committed.clear();
    webhooks = await stage.start();
    stage.publish(...events);
    await consumed();
    const last = stage.event();
    stage.publish(last);
    await succeeded(21);
    expect(stage.receivers.at(URL_A)).toHaveLength(21);
  });

  test('an endpoint that comes later gets nothing from before it was enabled', async () => {
    const before = stage.event();
    stage.clockOffset += 10;
    const { id } = await stage.endpoint(webhooks, URL_A);
    stage.publish(before, stage.event());
    await succeeded(1);
    await consumed();
    expect(await stage.deliveries(webhooks, { endpoint_id: id, event_id: before.id })).toEqual([]);
  });

  test('what was created while the endpoint was enabled is recorded also when that is consumed later', async () => {
    const { id } = await stage.endpoint(webhooks, URL_A);
    const command = { ...stage.command(), endpoint_id: id };
    const during = stage.event();
    stage.clockOffset += 10;
    await webhooks.endpoints.disable({ ...command, at: stage.now() });
    stage.clockOffset += 10;
    const after = stage.event();
    stage.publish(during, after);
    await consumed();
    const recorded = await stage.deliveries(webhooks);
    expect(recorded).toMatchObject([{ event_id: during.id, status: 'pending' }]);
    await webhooks.endpoints.enable({ ...command, at: stage.now() });
    await succeeded(1);
    expect(stage.receivers.at(URL_A)).toHaveLength(1);
  });

  test('a changed URL goes on recording, and gets what waited once it is verified and enabled', async () => {
    const { id } = await stage.endpoint(webhooks, URL_A);
    const on = () => ({ ...stage.command(), endpoint_id: id });
    await webhooks.endpoints.change({ ...on(), fields: { url: URL_B } });
    const event = stage.event();
    stage.publish(event);
    await consumed();
    expect(await stage.delivery(webhooks, id, event.id)).toMatchObject({ status: 'pending', attempts_count: 0 });
    await webhooks.endpoints.verify(on());
    await webhooks.endpoints.enable(on());
    await succeeded(1);
    expect(stage.receivers.at(URL_A)).toEqual([]);
    expect(stage.receivers.at(URL_B)).toHaveLength(1);
  });

  test('events of types that are not known yet do no harm', async () => {
    await stage.endpoint(webhooks, URL_A);
    stage.publish(stage.event({ type: 'shipment.teleported' as PublishedEvent['type'] }), stage.event());
    await succeeded(1);
    expect(stage.topics.messages(PARKED_TOPIC)).toEqual([]);
  });
});

describe('a message that is no event', () => {
  test.each(['', 'not json', '[]', 'null', '"text"', '{}', '{"id":"evt_1","type":"shipment.created"}'])(
    '%j is parked, and everything else goes on',
    async (value) => {
      await stage.endpoint(webhooks, URL_A);
      raw(value);
      stage.publish(stage.event());
      await succeeded(1);
      await consumed();
      const [parked] = stage.topics.messages(PARKED_TOPIC);
      expect(parked).toMatchObject({ value, headers: { 'parked-because': expect.any(String) as string } });
      expect(webhooks.metrics.value('webhook_parked_messages_total')).toBe(1);
      const { items } = await webhooks.parked.list({ limit: 10 });
      expect(items).toMatchObject([{ topic: EVENTS_TOPIC, key: 'k', error: expect.any(String) as string }]);
    },
  );

  test('is parked once, however often it comes', async () => {
    raw('nonsense');
    await consumed();
    await webhooks.stop();
    stage.topics.committed.clear();
    webhooks = await stage.start();
    await consumed();
    expect(stage.topics.messages(PARKED_TOPIC)).toHaveLength(1);
    expect((await webhooks.parked.list({ limit: 10 })).items).toHaveLength(1);
  });

  test('stays parked when it is taken up again and still is none', async () => {
    raw('nonsense');
    await consumed();
    const [parked] = (await webhooks.parked.list({ limit: 10 })).items;
    expect(await webhooks.parked.retry({ id: parked?.id ?? '' })).toEqual({ recorded: false });
    expect((await webhooks.parked.list({ limit: 10 })).items).toHaveLength(1);
    await expect(webhooks.parked.retry({ id: 'other' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
