import { eventually } from '@tracking/testing';
import { answer } from '../../test/fake-receivers.ts';
import { type RunningWebhooks, SCOPE, WebhooksTestStage } from '../../test/stage.ts';
import type { WebhookReplay } from '../index.ts';

const URL_A = 'https://a.example.com/hooks';

describe('a replay', () => {
  let stage: WebhooksTestStage;
  let webhooks: RunningWebhooks;
  beforeEach(async () => {
    stage = await WebhooksTestStage.open();
    webhooks = await stage.start();
  });
  afterEach(() => stage.close());

  const create = (endpoint_id: string, filter = {}) =>
    webhooks.replays.create({ ...stage.command(), endpoint_id, filter });
  const ended = (id: string, api = webhooks): Promise<WebhookReplay> =>
    eventually(async () => {
      const replay = await api.replays.get({ ...SCOPE, replay_id: id });
      expect(replay.status).toBe('completed');
      return replay;
    });
  const sent = () => stage.receivers.at(URL_A).map(({ headers }) => String(headers['service-event-id']));
  /** Of a minute ago, each a millisecond after the one before. */
  const events = (count: number) => {
    const first = Date.parse(stage.now()) - 60_000;
    return Array.from({ length: count }, (_, n) => stage.event({ created_at: new Date(first + n).toISOString() }));
  };

  it('sends what was missed, from before the endpoint was made too, once each and oldest first', async () => {
    const missed = events(120);
    const endpoint = await stage.endpoint(webhooks, URL_A, { max_concurrency: 1 });
    const live = stage.event();
    await stage.publish(live);
    await eventually(() => expect(sent()).toEqual([live.id]));
    const { id } = await create(endpoint.id);
    expect(await ended(id)).toMatchObject({ matched: 120, done: 120, failed: 0 });
    expect(sent()).toEqual([live.id, ...missed.map((event) => event.id)]);
  });

  it('sends dead letters again by a new schedule, and counts those that fail once more', async () => {
    const endpoint = await stage.endpoint(webhooks, URL_A);
    stage.receivers.behave(URL_A, () => answer(410));
    const gone = stage.event();
    await stage.publish(gone);
    await eventually(async () => {
      const { status } = await webhooks.endpoints.get({ ...SCOPE, endpoint_id: endpoint.id });
      expect(status).toBe('disabled');
    });
    stage.receivers.behave(URL_A, () => answer(500));
    await webhooks.endpoints.enable({ ...stage.command(), endpoint_id: endpoint.id });
    const { id } = await create(endpoint.id, { statuses: ['dead_lettered'] });
    expect(await ended(id)).toMatchObject({ matched: 1, done: 0, failed: 1 });
    expect(await stage.delivery(webhooks, endpoint.id, gone.id)).toMatchObject({ status: 'retrying' });
  });

  it('is gone on with by another process where its own died, and counts each delivery once', async () => {
    const missed = events(200);
    const endpoint = await stage.endpoint(webhooks, URL_A);
    let answered = 0;
    stage.receivers.behave(URL_A, (request) => {
      answered += 1;
      if (answered === 70) webhooks.process.kill();
      return stage.receivers.good(request);
    });
    const { id } = await create(endpoint.id);
    await eventually(() => expect(answered).toBeGreaterThanOrEqual(70));
    const other = await stage.start();
    expect(await ended(id, other)).toMatchObject({ matched: 200, done: 200, failed: 0 });
    expect(new Set(sent())).toEqual(new Set(missed.map((event) => event.id)));
  });

  it('stops when it is canceled, and goes on from there', async () => {
    const missed = events(200);
    const endpoint = await stage.endpoint(webhooks, URL_A, { max_concurrency: 1 });
    const { promise: go, resolve } = Promise.withResolvers<void>();
    stage.receivers.behave(URL_A, async (request) => {
      if (stage.receivers.at(URL_A).length > 20) await go;
      return stage.receivers.good(request);
    });
    const { id: replay_id } = await create(endpoint.id);
    await eventually(() => expect(sent().length).toBe(21));
    const canceled = await webhooks.replays.cancel({ ...stage.command(), replay_id });
    expect(canceled).toMatchObject({ status: 'canceled' });
    expect(canceled.matched).toBeLessThan(60);
    resolve();
    await eventually(() => expect(sent().length).toBe(canceled.matched));
    await webhooks.replays.resume({ ...stage.command(), replay_id });
    expect(await ended(replay_id)).toMatchObject({ matched: 200, done: 200 });
    expect(sent().toSorted()).toEqual(missed.map((event) => event.id).toSorted());
  });

  it('is the only one of its endpoint', async () => {
    const endpoint = await stage.endpoint(webhooks, URL_A);
    stage.receivers.behave(URL_A, () => answer(500));
    events(100);
    await create(endpoint.id);
    await expect(create(endpoint.id)).rejects.toMatchObject({ code: 'replay_running' });
  });

  it('ends with its endpoint', async () => {
    const endpoint = await stage.endpoint(webhooks, URL_A);
    stage.receivers.behave(URL_A, () => answer(500));
    events(100);
    const { id: replay_id } = await create(endpoint.id);
    await webhooks.endpoints.remove({ ...stage.command(), endpoint_id: endpoint.id });
    await eventually(async () => {
      const { status } = await webhooks.replays.get({ ...SCOPE, replay_id });
      expect(status).toBe('canceled');
    });
  });
});
