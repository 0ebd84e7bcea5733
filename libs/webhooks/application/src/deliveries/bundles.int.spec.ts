import { jest } from '@jest/globals';
import type { PublishedEvent } from '@tracking/contracts';
import type { Query } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { type RetryPolicy, newDelivery } from '@tracking/webhooks-domain';
import { answer } from '../../test/fake-receivers.ts';
import { type EndpointOnStage, type Running, SCOPE, Stage } from '../../test/stage.ts';
import { BUNDLES, type BundleDocument, Bundles } from './bundles.ts';
import {
  ATTEMPTS,
  type AttemptDocument,
  DELIVERIES,
  type DeliveryDocument,
  deliveryId,
  toDocument,
} from './delivery-document.ts';
import { DeliveryQueries } from './delivery-queries.ts';
import { PAYLOADS, type PayloadDocument, payloadId } from './payloads.ts';

jest.setTimeout(30_000);

const HANGS = 'https://hangs.example.com/';
const ANSWERS = 'https://answers.example.com/';
const NEVER: RetryPolicy = { firstMs: 3_600_000, factor: 1, capMs: 3_600_000, windowMs: 7_200_000 };
const DAY_MS = 86_400_000;

let stage: Stage;
let webhooks: Running;
let endpoint: EndpointOnStage;
let wake: (status: number) => void;
beforeEach(async () => {
  stage = await Stage.open();
  webhooks = await stage.start({ policy: NEVER, sweepMs: 20 });
  await behind();
});
afterEach(async () => {
  wake(200);
  await stage.close();
});

/** Deliveries for it before a test. */
let before: number;

/** An endpoint that hangs, with more waiting than is held in memory: what follows is recorded in bundles, and stays there. */
async function behind(): Promise<void> {
  endpoint = await stage.endpoint(webhooks, HANGS, { max_concurrency: 1 });
  const gate = Promise.withResolvers<ReturnType<typeof answer>>();
  wake = (status) => gate.resolve(answer(status));
  stage.receivers.behave(HANGS, () => gate.promise);
  await stage.publish(...Array.from({ length: 64 }, () => stage.event()));
  await stage.consumed();
  await eventually(() => expect(stage.receivers.at(HANGS)).toHaveLength(1));
  stage.clockOffset += 1_000;
  for (before = 64; late() === 0; before += 1) {
    await stage.publish(stage.event());
    await stage.consumed();
  }
  expect(await list()).toHaveLength(before);
  expect(await bundles()).toBe(0);
}

const late = () => webhooks.metrics.value('webhook_deliveries_recorded_late_total');
const bundles = async () => (await stage.engine.documentStore.collection(BUNDLES)).count({});
const list = (filter: object = {}) => stage.deliveries(webhooks, { endpoint_id: endpoint.id, ...filter });
const eventsOf = (deliveries: readonly { readonly event_id: string }[]) => deliveries.map(({ event_id }) => event_id);
const ids = (events: readonly PublishedEvent[]) => events.map(({ id }) => id);

/** In so many bundles, one after the other, each a minute after the one before. */
async function recordBundles(
  count: number,
  each: number,
  type: PublishedEvent['type'] = 'shipment.created',
): Promise<PublishedEvent[]> {
  const all: PublishedEvent[] = [];
  for (let n = 0; n < count; n += 1) {
    stage.clockOffset += 60_000;
    const events = Array.from({ length: each }, () => stage.event({ type }));
    all.push(...events);
    const expected = late() + each;
    await stage.publish(...events);
    await eventually(() => expect(late()).toBe(expected));
  }
  await stage.consumed();
  return all;
}

async function collections() {
  const { documentStore } = stage.engine;
  const [bundles, deliveries, attempts, payloads] = await Promise.all([
    documentStore.collection<BundleDocument>(BUNDLES),
    documentStore.collection<DeliveryDocument>(DELIVERIES),
    documentStore.collection<AttemptDocument>(ATTEMPTS),
    documentStore.collection<PayloadDocument>(PAYLOADS),
  ]);
  return { stored: bundles, bundles: new Bundles(bundles, deliveries), deliveries, attempts, payloads };
}

async function queriesWith(Kind: typeof Bundles): Promise<DeliveryQueries> {
  const { stored, deliveries, attempts, payloads } = await collections();
  return new DeliveryQueries(deliveries, new Kind(stored, deliveries), attempts, payloads);
}

function newFor(endpoint_id: string, event: PublishedEvent): DeliveryDocument {
  const { id: event_id, type: event_type, created_at: event_created_at } = event;
  const payload_id = payloadId(event_id, '2026-11-01');
  const about = { ...SCOPE, event_id, event_type, event_created_at, payload_id, endpoint_id, sandbox: false };
  return toDocument(newDelivery({ ...about, id: deliveryId(endpoint_id, event) }, stage.now()));
}

async function pages(filter: object, limit: number): Promise<string[][]> {
  const found: string[][] = [];
  let after: readonly string[] | null = [];
  while (after !== null) {
    const resume: object = after.length === 0 ? {} : { after };
    const page: Awaited<ReturnType<typeof webhooks.deliveries.list>> = await webhooks.deliveries.list({
      scopes: [SCOPE],
      filter,
      limit,
      ...resume,
    });
    found.push(eventsOf(page.items));
    after = page.next;
  }
  return found;
}

test('a bundle is taken apart in its turn: not while what comes before it fills what is held in memory', async () => {
  await recordBundles(3, 2);
  const gate = Promise.withResolvers<ReturnType<typeof answer>>();
  let more = 20;
  stage.receivers.behave(HANGS, () => ((more -= 1) >= 0 ? answer(500) : gate.promise));
  wake(500);
  // Of the 64 that came before, with several pages read on the way.
  await eventually(() => expect(stage.receivers.at(HANGS)).toHaveLength(22));
  expect(await bundles()).toBe(3);
  gate.resolve(answer(500));
  await eventually(async () => expect(await bundles()).toBe(0));
});

describe('deliveries in bundles', () => {
  test('stay in the trace of what caused their events', async () => {
    stage.clockOffset += 60_000;
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const headers = { 'request-id': 'req_1', traceparent: `00-${trace}-b7ad6b7169203331-01` };
    const events = Array.from({ length: 5 }, () => stage.event());
    const expected = late() + 5;
    await stage.send(...events.map((event) => stage.message(event, headers)));
    await eventually(() => expect(late()).toBe(expected));
    expect(await bundles()).toBe(1);
    stage.receivers.behave(HANGS, (request) => stage.receivers.good(request));
    wake(200);
    const traces = () =>
      stage.receivers
        .at(HANGS)
        .filter(({ headers }) => ids(events).includes(headers['service-event-id'] ?? ''))
        .map(({ headers }) => headers['traceparent']?.split('-')[1]);
    await eventually(() => expect(traces()).toEqual(events.map(() => trace)));
    const attempts = () => stage.lines.filter(({ event }) => ids(events).includes(String(event)));
    await eventually(() => expect(attempts().map(({ request_id }) => request_id)).toEqual(events.map(() => 'req_1')));
  });

  test('are listed each once, newest first, and only those bundles taken apart that are looked at', async () => {
    const events = await recordBundles(5, 4);
    expect(await bundles()).toBe(5);
    const all = await pages({ statuses: ['pending'] }, 3);
    expect(all.flat().slice(0, 20).toSorted()).toEqual(ids(events).toSorted());
    expect(ids(events.slice(16))).toEqual(expect.arrayContaining(all[0] ?? []));
    expect([all.flat().length, new Set(all.flat()).size]).toEqual([before + 20, before + 20]);
    expect(await bundles()).toBe(0);

    const more = await recordBundles(3, 4);
    const newest = await webhooks.deliveries.list({ scopes: [SCOPE], filter: {}, limit: 2 });
    expect(ids(more.slice(8))).toEqual(expect.arrayContaining(eventsOf(newest.items)));
    expect(await bundles()).toBe(2);
    expect(await list({ statuses: ['succeeded'] })).toEqual([]);
    expect(await bundles()).toBe(2);
  });

  test('are found by type, time and event', async () => {
    const created = await recordBundles(2, 2);
    const recorded = await recordBundles(2, 2, 'milestone.recorded');
    expect(eventsOf(await list({ event_type: 'milestone.recorded' })).toSorted()).toEqual(ids(recorded).toSorted());
    expect(await bundles()).toBe(2);
    const [early, later] = [created[1], created[2]];
    const earlier = eventsOf(await list({ until: early?.created_at }));
    expect(earlier).toHaveLength(before + 2);
    expect(earlier).toEqual(expect.arrayContaining(ids(created.slice(0, 2))));
    expect(await bundles()).toBe(1);
    expect(eventsOf(await list({ since: later?.created_at, event_type: 'shipment.created' })).toSorted()).toEqual(
      ids(created.slice(2)).toSorted(),
    );
    const [one] = await recordBundles(1, 2);
    expect(await stage.deliveries(webhooks, { event_id: one?.id })).toMatchObject([{ status: 'pending' }]);
  });

  test('are read, retried and discarded by their ids, in their workspace only', async () => {
    const events = await recordBundles(3, 2);
    const [one, two, three] = [0, 2, 4].map((n) => deliveryId(endpoint.id, events[n] ?? stage.event()));
    const elsewhere = { scopes: [{ ...SCOPE, workspace_id: 'wsp_two' }], delivery_id: one ?? '' };
    await expect(webhooks.deliveries.get(elsewhere)).rejects.toMatchObject({ code: 'not_found' });
    expect(await bundles()).toBe(3);
    expect(await webhooks.deliveries.get({ scopes: [SCOPE], delivery_id: one ?? '' })).toMatchObject({
      event_id: events[0]?.id,
      status: 'pending',
      payload: { id: events[0]?.id },
    });
    expect(await bundles()).toBe(2);
    await webhooks.deliveries.discard({ ...stage.command(), delivery_id: two ?? '' });
    await webhooks.deliveries.retry({ ...stage.command(), delivery_id: three ?? '' });
    expect(await bundles()).toBe(0);
    wake(200);
    await eventually(async () => expect(await list({ statuses: ['succeeded'] })).toHaveLength(before + 5));
    expect(await list({ statuses: ['discarded'] })).toMatchObject([{ id: two, attempts_count: 0 }]);
    for (const unknown of ['dlv_zz', `dlv_${'f'.repeat(32)}`, 'dlv_']) {
      const reading = webhooks.deliveries.get({ scopes: [SCOPE], delivery_id: unknown });
      await expect(reading).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  test('are discarded with their endpoint, and stay in the log', async () => {
    const events = await recordBundles(3, 2);
    await webhooks.endpoints.remove({ ...stage.command(), endpoint_id: endpoint.id });
    await eventually(async () => expect(await list({ statuses: ['discarded'] })).toHaveLength(before + 6));
    expect(eventsOf(await list({ statuses: ['discarded'] }))).toEqual(expect.arrayContaining(ids(events)));
    expect([await bundles(), (await list({ statuses: ['pending', 'retrying'] })).length]).toEqual([0, 0]);
  });

  test('go out in order, over a restart too, each once, though some were recorded twice', async () => {
    const events = await recordBundles(6, 3);
    const again = events.slice(3, 6);
    await stage.publish(...again);
    await eventually(() => expect(late()).toBe(22));
    const stopped = webhooks.stop();
    wake(200);
    await stopped;
    stage.receivers.behave(HANGS, () => answer(200));
    webhooks = await stage.start({ policy: NEVER });
    await eventually(async () => expect(await list({ statuses: ['succeeded'] })).toHaveLength(before + 18));
    expect(await bundles()).toBe(0);
    const arrived = stage.receivers.at(HANGS).map(({ body }) => JSON.parse(body) as PublishedEvent);
    expect([arrived.length, new Set(ids(arrived)).size]).toEqual([before + 18, before + 18]);
    const times = arrived.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted());
  });

  test('are listed also when another takes them apart while the list is made', async () => {
    const events = await recordBundles(2, 2);
    class Others extends Bundles {
      override async takeApartFirst(query: Query): Promise<boolean> {
        await super.takeApartFirst({ ...query, limit: 50 });
        return false;
      }
    }
    const { items } = await (await queriesWith(Others)).list({ scopes: [SCOPE], filter: {}, limit: 4 });
    expect(eventsOf(items).toSorted()).toEqual(ids(events).toSorted());
  });

  test('do not keep a list from its end, however fast more of them are recorded', async () => {
    const events = await recordBundles(2, 2);
    let looks = 0;
    class Growing extends Bundles {
      override async takeApartFirst(query: Query): Promise<boolean> {
        looks += 1;
        expect(looks).toBeLessThan(20);
        stage.clockOffset += 1_000;
        await this.store([newFor(endpoint.id, stage.event())]);
        return super.takeApartFirst(query);
      }
    }
    const { items } = await (await queriesWith(Growing)).list({ scopes: [SCOPE], filter: {}, limit: 4 });
    expect(eventsOf(items).toSorted()).toEqual(ids(events).toSorted());
  });

  test('are found by a process that starts where nothing else waits for their endpoint', async () => {
    const other = await stage.endpoint(webhooks, ANSWERS);
    await webhooks.stop();
    const event = stage.event();
    const delivery = newFor(other.id, event);
    const { bundles, payloads } = await collections();
    await bundles.store([delivery]);
    await payloads.insert({ id: delivery.payload_id, body: JSON.stringify(event), created_at: event.created_at });
    webhooks = await stage.start({ policy: NEVER });
    await eventually(() => expect(stage.receivers.at(ANSWERS)).toMatchObject([{ body: JSON.stringify(event) }]));
  });

  test('keep the bodies of their events, however old those are; what is done does not come again from them', async () => {
    const answers = await stage.endpoint(webhooks, ANSWERS);
    const [event = stage.event()] = await recordBundles(1, 1);
    await eventually(async () => expect(await stage.deliveries(webhooks, { statuses: ['succeeded'] })).toHaveLength(1));
    const { bundles, payloads } = await collections();
    await bundles.store([newFor(answers.id, event)]);
    stage.clockOffset += 31 * DAY_MS;
    await eventually(() => expect(webhooks.metrics.value('webhook_deliveries_deleted_total')).toBe(1));
    await webhooks.stop();
    expect(await payloads.count({})).toBe(before + 1);
    expect(await stage.deliveries(webhooks, { endpoint_id: answers.id })).toEqual([]);
    expect(await stage.delivery(webhooks, endpoint.id, event.id)).toMatchObject({ payload: { id: event.id } });
  });
});
