import { eventually } from '@tracking/testing';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { ProcessWithFlakyDocumentStore } from '../../test/flaky-process.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import type { WebhookReplay } from '../index.ts';
import { PAYLOADS_COLLECTION_SPEC, type PayloadDocument } from '../store/delivery-document.ts';

const URL_A = 'https://a.example.com/hooks';
/** A delivery that fails once becomes a dead letter. */
const NO_WINDOW = { policy: { firstMs: 1, factor: 1, capMs: 1, windowMs: 0 } };

describe('a replay', () => {
  let harness: WebhooksTestHarness;
  let webhooks: RunningWebhooks;
  beforeEach(async () => {
    harness = await WebhooksTestHarness.openWebhooksHarness();
    webhooks = await harness.startWebhooks();
  });
  afterEach(() => harness.closeWebhooksHarness());

  const create = (endpoint_id: string, filter = {}) =>
    webhooks.replays.create({ ...harness.createSampleWebhookCommand(), endpoint_id, filter });
  const ended = (id: string, api = webhooks, deadlineMs = 20_000): Promise<WebhookReplay> =>
    eventually(
      async () => {
        const replay = await api.replays.get({ ...SAMPLE_SCOPE, replay_id: id });
        expect(replay.status).toBe('completed');
        return replay;
      },
      { deadlineMs },
    );
  const sent = () =>
    harness.receivers.listDeliveriesReceivedAtUrl(URL_A).map(({ headers }) => String(headers['service-event-id']));
  /** Events of a minute ago, a millisecond apart. */
  const events = (count: number) => {
    const first = Date.parse(harness.now()) - 60_000;
    return Array.from({ length: count }, (_, n) =>
      harness.addAcknowledgedEventToLog({ created_at: new Date(first + n).toISOString() }),
    );
  };

  it("sends missed events, including those from before the endpoint's creation, once each and oldest first", async () => {
    const missed = events(120);
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 1 });
    const live = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(live);
    await eventually(() => expect(sent()).toEqual([live.id]));
    const { id } = await create(endpoint.id);
    expect(await ended(id)).toMatchObject({ matched: 120, done: 120, failed: 0 });
    expect(sent()).toEqual([live.id, ...missed.map((event) => event.id)]);
  });

  it('sends missed events with the body that others received, even if it would be rendered differently today', async () => {
    const other = await harness.createEnabledEndpoint(webhooks, 'https://b.example.com/hooks');
    const event = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(event);
    await eventually(async () =>
      expect(await harness.getDelivery(webhooks, other.id, event.id)).toMatchObject({ status: 'succeeded' }),
    );
    await webhooks.stop();
    const stored = await harness.engine.documentStore.collection<PayloadDocument>(PAYLOADS_COLLECTION_SPEC);
    const [payload] = await stored.find({ filter: {}, limit: 1 });
    if (payload === undefined) throw new Error('no body is stored');
    const body = JSON.stringify({ ...(JSON.parse(payload.body) as object), made: 'by an earlier version' });
    await stored.upsert({ ...payload, body });
    webhooks = await harness.startWebhooks();
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    await ended((await create(endpoint.id)).id);
    expect(harness.receivers.listDeliveriesReceivedAtUrl(URL_A).map((request) => request.body)).toEqual([body]);
  });

  it('sends dead letters again with a new schedule, and counts those that fail again', async () => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(410));
    const gone = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(gone);
    await eventually(async () => {
      const { status } = await webhooks.endpoints.get({ ...SAMPLE_SCOPE, endpoint_id: endpoint.id });
      expect(status).toBe('disabled');
    });
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    await webhooks.endpoints.enable({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id });
    const { id } = await create(endpoint.id, { statuses: ['dead_lettered'] });
    expect(await ended(id)).toMatchObject({ matched: 1, done: 0, failed: 1 });
    expect(await harness.getDelivery(webhooks, endpoint.id, gone.id)).toMatchObject({ status: 'retrying' });
  });

  it('sends dead letters of events dated in the future, after the clock was set back', async () => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await storeDeadLetters(harness, 2, { endpoint_id });
    harness.clockOffset -= 3_600_000;
    const { id } = await create(endpoint_id, { statuses: ['dead_lettered'] });
    expect(await ended(id)).toMatchObject({ matched: 2, done: 2 });
  });

  it('is continued by another process if its own died, and counts each delivery once', async () => {
    const missed = events(200);
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    let answered = 0;
    harness.receivers.setFakeReceiverBehaviour(URL_A, (request) => {
      answered += 1;
      if (answered === 70) webhooks.process.simulateProcessKill();
      return harness.receivers.respondWithOk(request);
    });
    const { id } = await create(endpoint.id);
    await eventually(() => expect(answered).toBeGreaterThanOrEqual(70));
    const other = await harness.startWebhooks();
    expect(await ended(id, other)).toMatchObject({ matched: 200, done: 200, failed: 0 });
    expect(new Set(sent())).toEqual(new Set(missed.map((event) => event.id)));
  });

  it('stops when canceled, and continues from there when resumed', async () => {
    const missed = events(200);
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 1 });
    const { promise: go, resolve } = Promise.withResolvers<void>();
    harness.receivers.setFakeReceiverBehaviour(URL_A, async (request) => {
      if (harness.receivers.listDeliveriesReceivedAtUrl(URL_A).length > 20) await go;
      return harness.receivers.respondWithOk(request);
    });
    const { id: replay_id } = await create(endpoint.id);
    await eventually(() => expect(sent().length).toBe(21));
    const canceled = await webhooks.replays.cancel({ ...harness.createSampleWebhookCommand(), replay_id });
    expect(canceled).toMatchObject({ status: 'canceled' });
    expect(canceled.matched).toBeLessThan(60);
    resolve();
    await eventually(() => expect(sent().length).toBe(canceled.matched));
    await webhooks.replays.resume({ ...harness.createSampleWebhookCommand(), replay_id });
    expect(await ended(replay_id)).toMatchObject({ matched: 200, done: 200 });
    expect(sent().toSorted()).toEqual(missed.map((event) => event.id).toSorted());
  });

  it('is the only one of its endpoint', async () => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    events(100);
    await create(endpoint.id);
    await expect(create(endpoint.id)).rejects.toMatchObject({ code: 'replay_running' });
  });

  it('ends with its endpoint', async () => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    events(100);
    const { id: replay_id } = await create(endpoint.id);
    await webhooks.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id });
    await eventually(async () => {
      const { status } = await webhooks.replays.get({ ...SAMPLE_SCOPE, replay_id });
      expect(status).toBe('canceled');
    });
  });

  it('misses nothing of a long log, whatever part of it was recorded', async () => {
    const first = Date.parse(harness.now()) - 60_000;
    const recorded = new Set<string>();
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 100 });
    const all = Array.from({ length: 1_200 }, (_, n) => {
      // Many events with the same time.
      return harness.addAcknowledgedEventToLog({ created_at: new Date(first + Math.floor(n / 70)).toISOString() });
    });
    for (const [n, event] of all.entries()) if (n % 3 === 0) recorded.add(event.id);
    await harness.publishEventsToBrokerForTest(...all.filter(({ id }) => recorded.has(id)));
    await eventually(() => expect(new Set(sent())).toEqual(recorded), { deadlineMs: 20_000 });
    const { id } = await create(endpoint.id);
    expect(await ended(id)).toMatchObject({ matched: 800, done: 800, failed: 0 });
    const missed = all.filter((event) => !recorded.has(event.id));
    expect(sent().slice(recorded.size).toSorted()).toEqual(missed.map((event) => event.id).toSorted());
  });

  it('counts events that cannot be rebuilt as failed', async () => {
    const [broken, ...good] = events(3);
    harness.eventLog.broken.add(broken?.id ?? '');
    const { id } = await create((await harness.createEnabledEndpoint(webhooks, URL_A)).id);
    expect(await ended(id)).toMatchObject({ matched: 3, done: 2, failed: 1 });
    expect(sent()).toEqual(good.map((event) => event.id));
  });

  it('includes everything acknowledged before it, although the event log lags and clocks differ', async () => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.eventLog.shown = 0;
    const acknowledged = harness.addAcknowledgedEventToLog({
      created_at: new Date(Date.parse(harness.now()) + 30_000).toISOString(),
    });
    const { id, until, created_at } = await create(endpoint.id, { until: '2999-01-01T00:00:00.000Z' });
    expect(until).toBe(created_at);
    const later = harness.addAcknowledgedEventToLog();
    await eventually(() => expect(harness.lines).toContainEqual(expect.objectContaining({ level: 'warn' })));
    expect((await webhooks.replays.get({ ...SAMPLE_SCOPE, replay_id: id })).status).toBe('running');
    harness.eventLog.shown = Infinity;
    expect(await ended(id)).toMatchObject({ matched: 1, done: 1 });
    expect(sent()).toEqual([acknowledged.id]);
    const next = await create(endpoint.id, { until: harness.now() });
    expect(await ended(next.id)).toMatchObject({ matched: 1 });
    expect(sent()).toEqual([acknowledged.id, later.id]);
  });

  it('skips deliveries that a person discarded since they were found', async () => {
    await webhooks.stop();
    webhooks = await harness.startWebhooks(NO_WINDOW);
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 1 });
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    await harness.publishEventsToBrokerForTest(...events(20));
    const dead = await eventually(async () => {
      const found = await harness.listDeliveries(webhooks, { statuses: ['dead_lettered'] });
      expect(found).toHaveLength(20);
      return found;
    });
    const before = sent().length;
    const { promise: go, resolve } = Promise.withResolvers<void>();
    harness.receivers.setFakeReceiverBehaviour(URL_A, async (request) => {
      await go;
      return harness.receivers.respondWithOk(request);
    });
    const { id } = await create(endpoint.id, { statuses: ['dead_lettered'] });
    await eventually(() => expect(sent().length).toBe(before + 1));
    const given = dead[0];
    await webhooks.deliveries.discard({ ...harness.createSampleWebhookCommand(), delivery_id: given?.id ?? '' });
    resolve();
    expect(await ended(id)).toMatchObject({ matched: 19, done: 19, failed: 0 });
    expect(sent().slice(before)).not.toContain(given?.event_id);
  });

  it('counts each delivery once if writes fail before or after taking effect', async () => {
    await webhooks.stop();
    const process = new ProcessWithFlakyDocumentStore();
    webhooks = await harness.startWebhooks({}, process);
    const api = await harness.startWebhooks({}, new SimulatedKillableProcess(), harness.receivers, true);
    const missed = events(60);
    const endpoint = await harness.createEnabledEndpoint(api, URL_A, { max_concurrency: 2 });
    process.flaky = true;
    const { id } = await api.replays.create({
      ...harness.createSampleWebhookCommand(),
      endpoint_id: endpoint.id,
      filter: {},
    });
    expect(await ended(id, api, 30_000)).toMatchObject({ matched: 60, done: 60, failed: 0 });
    process.flaky = false;
    expect(new Set(sent())).toEqual(new Set(missed.map((event) => event.id)));
  });

  it('is reported to its owner when another one is requested', async () => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    const live = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(live);
    // Nothing else makes its owner read it.
    await eventually(() => expect(sent()).toEqual([live.id]));
    events(1);
    // Dies when the replay is stored.
    const mortal = await harness.startWebhooks({}, new SimulatedKillableProcess(2, true), harness.receivers, true);
    void mortal.replays.create({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id, filter: {} });
    await eventually(() => expect(mortal.process.dead).toBe(true));
    const [{ id = '' } = {}] = (await webhooks.replays.list({ ...SAMPLE_SCOPE, limit: 1 })).items;
    await expect(create(endpoint.id)).rejects.toMatchObject({ code: 'replay_running' });
    expect(await ended(id)).toMatchObject({ done: 1 });
  });

  it.each([
    ['all', () => ({})],
    ['that endpoint’s', (endpoint_id: string) => ({ endpoint_id })],
  ])('is reported to its owner when dead letters are requested, %s', async (_which, filterOf) => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    const live = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(live);
    await eventually(() => expect(sent()).toEqual([live.id]));
    await storeDeadLetters(harness, 3, { endpoint_id: endpoint.id });
    // Dies when the replay is stored.
    const mortal = await harness.startWebhooks({}, new SimulatedKillableProcess(2, true), harness.receivers, true);
    void mortal.deadLetters.replay({ ...harness.createSampleWebhookCommand(), filter: {} });
    await eventually(() => expect(mortal.process.dead).toBe(true));
    const [{ id = '' } = {}] = (await webhooks.replays.list({ ...SAMPLE_SCOPE, limit: 1 })).items;
    const again = webhooks.deadLetters.replay({
      ...harness.createSampleWebhookCommand(),
      filter: filterOf(endpoint.id),
    });
    // The requested replay itself is refused.
    await again.catch(({ code }: { code: string }) => expect(code).toBe('replay_running'));
    expect(await ended(id)).toMatchObject({ done: 3 });
  });

  it('ends with its endpoint if the deleting process died before notifying the owner and the request is repeated', async () => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(503, { 'retry-after': '3600' }));
    events(20);
    const { id: replay_id } = await create(endpoint.id);
    // The delivery waits for an hour by then.
    await eventually(() => expect(sent()).not.toEqual([]));
    const mortal = await harness.startWebhooks({}, new SimulatedKillableProcess(2, true), harness.receivers, true);
    void mortal.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id });
    await eventually(() => expect(mortal.process.dead).toBe(true));
    const again = webhooks.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id });
    await expect(again).rejects.toMatchObject({ code: 'not_found' });
    await eventually(async () => {
      expect(await webhooks.replays.get({ ...SAMPLE_SCOPE, replay_id })).toMatchObject({ status: 'canceled' });
      const statuses = (await harness.listDeliveries(webhooks)).map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set(['discarded']));
    });
  });

  it('keeps its version if a command changes nothing', async () => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    const { id: replay_id } = await create(endpoint.id);
    const { version } = await ended(replay_id);
    expect(await webhooks.replays.cancel({ ...harness.createSampleWebhookCommand(), replay_id })).toMatchObject({
      status: 'completed',
      version,
    });
    expect(await webhooks.replays.get({ ...SAMPLE_SCOPE, replay_id })).toMatchObject({ version });
  });

  it('is returned again by a repeated command, whatever happened to its endpoint', async () => {
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    const command = { ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id, filter: {} };
    const { id } = await webhooks.replays.create(command);
    await ended(id);
    await webhooks.endpoints.disable({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id });
    expect(await webhooks.replays.create(command)).toMatchObject({ id, status: 'completed' });
  });

  it('discards its pending deliveries if its endpoint is deleted', async () => {
    events(10);
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    const { promise: go, resolve } = Promise.withResolvers<void>();
    harness.eventLog.making = () => go;
    await create(endpoint.id);
    await eventually(async () => {
      const [replay] = (await webhooks.replays.list({ ...SAMPLE_SCOPE, limit: 1 })).items;
      expect(replay?.matched).toBe(8);
    });
    await webhooks.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id: endpoint.id });
    resolve();
    await eventually(async () => {
      const statuses = (await harness.listDeliveries(webhooks)).map(({ status }) => status);
      expect(statuses).toEqual(Array(8).fill('discarded'));
    });
    expect(sent()).toEqual([]);
  });

  it('belongs to another process after its owner was suspended, which sends nothing more when it resumes', async () => {
    const missed = events(40);
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A);
    const { promise: go, resolve } = Promise.withResolvers<void>();
    let isHeld = false;
    harness.eventLog.making = () => {
      if (isHeld) return Promise.resolve();
      isHeld = true;
      return go;
    };
    const { id } = await create(endpoint.id);
    await eventually(() => expect(isHeld).toBe(true));
    webhooks.process.simulateUnnoticedLeaseLoss();
    const other = await harness.startWebhooks();
    expect(await ended(id, other)).toMatchObject({ matched: 40, done: 40, failed: 0 });
    resolve();
    // The process notices that it is no longer the owner.
    await webhooks.stop();
    expect(sent().toSorted()).toEqual(missed.map((event) => event.id).toSorted());
    expect(await other.replays.get({ ...SAMPLE_SCOPE, replay_id: id })).toMatchObject({
      matched: 40,
      done: 40,
      failed: 0,
    });
  });

  it('lets live events go first, but still gets its turn', async () => {
    const missed = events(30);
    const endpoint = await harness.createEnabledEndpoint(webhooks, URL_A, { max_concurrency: 2 });
    const gates = Array.from({ length: 60 }, () => Promise.withResolvers<void>());
    let asked = 0;
    harness.receivers.setFakeReceiverBehaviour(URL_A, async (request) => {
      asked += 1;
      await gates[asked - 1]?.promise;
      return harness.receivers.respondWithOk(request);
    });
    const { id } = await create(endpoint.id);
    await eventually(() => expect(sent()).toHaveLength(2));
    const live = harness.addAcknowledgedEventToLog();
    await harness.publishEventsToBrokerForTest(live);
    await harness.waitUntilEventsRecorded();
    gates[0]?.resolve();
    await eventually(() => expect(sent()).toHaveLength(3));
    expect(sent()[2]).toBe(live.id);
    for (const { resolve } of gates) resolve();
    expect(await ended(id)).toMatchObject({ matched: 30, done: 30 });
    expect(sent().filter((one) => one !== live.id)).toEqual(missed.map((event) => event.id));
  });

  it('reports its progress while its last deliveries take long', async () => {
    const [slow] = events(3);
    const { promise: go, resolve } = Promise.withResolvers<void>();
    harness.receivers.setFakeReceiverBehaviour(URL_A, async (request) => {
      if (request.headers['service-event-id'] === slow?.id) await go;
      return harness.receivers.respondWithOk(request);
    });
    const { id: replay_id } = await create((await harness.createEnabledEndpoint(webhooks, URL_A)).id);
    await eventually(async () => {
      expect(await webhooks.replays.get({ ...SAMPLE_SCOPE, replay_id })).toMatchObject({ status: 'running', done: 2 });
    });
    resolve();
    expect(await ended(replay_id)).toMatchObject({ done: 3 });
  });
});
