import type { Collection } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { storeDeadLetters } from '../../test/dead-letters.ts';
import { createReceiverAnswer } from '../../test/fake-receivers.ts';
import { type RunningWebhooks, SAMPLE_SCOPE, WebhooksTestHarness } from '../../test/webhooks-test-harness.ts';
import type { DeadLetterReplayResult, DeliveryFilter, WebhookReplay } from '../operation-types.ts';
import { DeadLetterCounter } from '../store/dead-letter-counts.ts';
import { DELIVERIES_COLLECTION_SPEC, type DeliveryDocument } from '../store/delivery-document.ts';

const URL_A = 'https://a.example.com/hook';
const URL_B = 'https://b.example.com/hook';
const STRANGER = { ...SAMPLE_SCOPE, workspace_id: 'wsp_two' };

let harness: WebhooksTestHarness;
let webhooks: RunningWebhooks;
beforeEach(async () => {
  harness = await WebhooksTestHarness.openWebhooksHarness();
  webhooks = await harness.startWebhooks();
});
afterEach(() => harness.closeWebhooksHarness());

const summary = (filter = {}, scope = SAMPLE_SCOPE) => webhooks.deadLetters.summary({ ...scope, filter });
const dead = (endpoint_id: string) => harness.listDeliveries(webhooks, { endpoint_id, statuses: ['dead_lettered'] });
const ended = (replay: WebhookReplay | undefined, api = webhooks): Promise<WebhookReplay> =>
  eventually(async () => {
    const now = await api.replays.get({ ...SAMPLE_SCOPE, replay_id: replay?.id ?? '' });
    expect(now.status).toBe('completed');
    return now;
  });
const ago = (ms: number) => new Date(Date.parse(harness.now()) - ms).toISOString();

describe('summary of dead letters', () => {
  test('counts matching dead letters of one scope by reason, endpoint and event type', async () => {
    const a = await harness.createEnabledEndpoint(webhooks, URL_A);
    const b = await harness.createEnabledEndpoint(webhooks, URL_B);
    const old = ago(3_600_000);
    await storeDeadLetters(harness, 7, { endpoint_id: a.id });
    await storeDeadLetters(harness, 5, { endpoint_id: a.id, reason: 'dns_failed', at: old });
    await storeDeadLetters(harness, 3, { endpoint_id: b.id, event_type: 'shipment.updated' });
    await storeDeadLetters(harness, 2, { endpoint_id: b.id, workspace_id: STRANGER.workspace_id });
    await webhooks.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id: b.id });
    expect(await summary()).toEqual({
      count: 15,
      is_exact: true,
      by_reason: [
        { reason: 'timeout', count: 10, is_exact: true },
        { reason: 'dns_failed', count: 5, is_exact: true },
      ],
      by_endpoint: [
        { endpoint_id: a.id, url: URL_A, status: 'enabled', count: 12, is_exact: true },
        { endpoint_id: b.id, url: URL_B, status: 'deleted', count: 3, is_exact: true },
      ],
      by_event_type: [
        { event_type: 'shipment.created', count: 12, is_exact: true },
        { event_type: 'shipment.updated', count: 3, is_exact: true },
      ],
    });
    expect((await summary({}, STRANGER)).count).toBe(2);
    expect((await summary({ reasons: ['dns_failed', 'tls_failed'] })).count).toBe(5);
    expect((await summary({ endpoint_id: b.id })).count).toBe(3);
    expect((await summary({ event_types: ['shipment.updated'] })).count).toBe(3);
    expect((await summary({ since: ago(60_000) })).count).toBe(10);
    expect((await summary({ until: old, endpoint_id: a.id })).count).toBe(5);
  });

  test('includes new dead letters and excludes settled ones', async () => {
    const { id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(410));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () => expect(await summary()).toMatchObject({ count: 1 }));
    expect((await summary()).by_reason).toMatchObject([{ reason: 'unexpected_status' }]);
    const [delivery] = await dead(id);
    await webhooks.deliveries.discard({ ...harness.createSampleWebhookCommand(), delivery_id: delivery?.id ?? '' });
    expect(await summary()).toMatchObject({ count: 0, by_endpoint: [] });
  });

  test('reports counts as inexact beyond the limits, and reads no more rows than that', async () => {
    const [one, two, three] = ['whe_1', 'whe_2', 'whe_3'];
    for (const endpoint_id of [one, two, three]) {
      await storeDeadLetters(harness, 50, { endpoint_id });
      await storeDeadLetters(harness, 2, { endpoint_id, reason: 'dns_failed' });
    }
    const stored = await harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
    let rows = 0;
    // Every suite checks that the queries themselves read only the rows that they return.
    const counted: Pick<Collection<DeliveryDocument>, 'find' | 'count'> = {
      find: async (query) => {
        const found = await stored.find(query);
        rows += found.length;
        return found;
      },
      count: async (filter, options) => {
        const count = await stored.count(filter, options);
        rows += count;
        return count;
      },
    };
    const limits = { kinds: 5, ofEach: 20, inAll: 30 };
    const counts = new DeadLetterCounter(counted as Collection<DeliveryDocument>, limits);
    const { groups, isWhole } = await counts.countDeadLettersByKind(SAMPLE_SCOPE, {});
    expect(isWhole).toBe(false);
    expect(groups.map(({ count, is_exact }) => [count, is_exact])).toEqual([
      [2, true],
      [2, true],
      [2, true],
      [20, false],
      [4, false],
    ]);
    expect(rows).toBeLessThanOrEqual(3 * limits.kinds + limits.inAll);
    rows = 0;
    expect(
      (await counts.countDeadLettersByKind(SAMPLE_SCOPE, { endpoint_id: two, reasons: ['timeout'] })).groups,
    ).toMatchObject([{ count: 20, is_exact: false }]);
    expect(rows).toBeLessThanOrEqual(limits.kinds + 1 + limits.ofEach + 1);
  });

  test('finds the selected dead letters among many others', async () => {
    const reasons = ['connection_refused', 'dns_failed', 'timeout', 'unexpected_status'];
    const types = ['milestone.recorded', 'shipment.created', 'shipment.updated'] as const;
    const endpoints = ['whe_1', 'whe_2', 'whe_3'];
    for (const reason of reasons) {
      for (const event_type of types) {
        for (const endpoint_id of endpoints) await storeDeadLetters(harness, 1, { endpoint_id, reason, event_type });
      }
    }
    const stored = await harness.engine.documentStore.collection<DeliveryDocument>(DELIVERIES_COLLECTION_SPEC);
    const counts = new DeadLetterCounter(stored, { kinds: 12, ofEach: 20, inAll: 40 });
    const counted = async (filter: object) => {
      const { groups, isWhole } = await counts.countDeadLettersByKind(SAMPLE_SCOPE, filter);
      return [groups.length, isWhole];
    };
    expect(await counted({})).toEqual([12, false]);
    for (const reason of reasons) {
      expect(await counted({ reasons: [reason] })).toEqual([9, true]);
      for (const endpoint_id of endpoints) {
        expect(await counted({ reasons: [reason], endpoint_id })).toEqual([3, true]);
        for (const event_type of types) {
          expect(await counted({ reasons: [reason], endpoint_id, event_types: [event_type] })).toEqual([1, true]);
        }
      }
      for (const event_type of types) {
        expect(await counted({ reasons: [reason], event_types: [event_type] })).toEqual([3, true]);
      }
    }
    expect(await counted({ reasons: ['dns_failed', 'unexpected_status'], endpoint_id: 'whe_2' })).toEqual([6, true]);
    expect(await counted({ reasons: ['body_too_large'] })).toEqual([0, true]);
    expect(
      (await counts.findNewestDeadLetterTimes(SAMPLE_SCOPE, { reasons: ['timeout', 'unexpected_status'] })).size,
    ).toBe(3);
  });
});

describe('deliveries', () => {
  test('are listed by reason, which only dead letters have', async () => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    const [letter] = await storeDeadLetters(harness, 1, { endpoint_id, reason: 'tls_failed' });
    await storeDeadLetters(harness, 2, { endpoint_id });
    harness.receivers.setFakeReceiverBehaviour(URL_A, () => createReceiverAnswer(500));
    await harness.publishEventsToBrokerForTest(harness.addAcknowledgedEventToLog());
    await eventually(async () =>
      expect(await harness.listDeliveries(webhooks, { statuses: ['retrying'] })).toHaveLength(1),
    );
    const found = async (filter: DeliveryFilter) =>
      (await harness.listDeliveries(webhooks, filter)).map(({ id }) => id);
    expect(await found({ reasons: ['tls_failed'] })).toEqual([letter?.id]);
    expect(await found({ reasons: ['tls_failed'], endpoint_id, since: ago(60_000) })).toEqual([letter?.id]);
    expect(await found({ reasons: ['tls_failed'], event_id: letter?.event_id ?? '' })).toEqual([letter?.id]);
    expect(await found({ endpoint_id, since: ago(0), until: ago(60_000) })).toEqual([]);
    expect(await found({ reasons: ['unexpected_status'] })).toEqual([]);
    expect(await found({ reasons: ['timeout'], statuses: ['retrying'] })).toEqual([]);
  });
});

describe('dead letters', () => {
  const settle = (how: 'replay' | 'discard', filter: object = {}, command = harness.createSampleWebhookCommand()) =>
    webhooks.deadLetters[how]({ ...command, filter });
  const one = ({ replays }: DeadLetterReplayResult) => replays[0];

  test('are replayed for each enabled endpoint, with a reason for each other endpoint', async () => {
    const a = await harness.createEnabledEndpoint(webhooks, URL_A);
    const b = await harness.createEnabledEndpoint(webhooks, URL_B);
    const gone = await harness.createEnabledEndpoint(webhooks, URL_B);
    const letters = await storeDeadLetters(harness, 4, { endpoint_id: a.id });
    await storeDeadLetters(harness, 3, { endpoint_id: a.id, reason: 'dns_failed' });
    await storeDeadLetters(harness, 2, { endpoint_id: b.id });
    await storeDeadLetters(harness, 2, { endpoint_id: gone.id });
    await webhooks.endpoints.disable({ ...harness.createSampleWebhookCommand(), endpoint_id: b.id });
    await webhooks.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id: gone.id });

    const { replays, refused } = await settle('replay', { reasons: ['timeout'] });
    expect(replays).toMatchObject([
      { endpoint_id: a.id, action: 'replay', statuses: ['dead_lettered'], reasons: ['timeout'] },
    ]);
    const reasons = new Map(refused.map(({ endpoint_id, code }) => [endpoint_id, code]));
    expect(reasons).toEqual(
      new Map([
        [b.id, 'endpoint_not_enabled'],
        [gone.id, 'not_found'],
      ]),
    );
    expect(await ended(replays[0])).toMatchObject({ matched: 4, done: 4 });
    const sent = harness.receivers.listDeliveriesReceivedAtUrl(URL_A).map(({ headers }) => headers['service-event-id']);
    expect(sent.toSorted()).toEqual(letters.map(({ event_id }) => event_id).toSorted());
    expect(await dead(a.id)).toHaveLength(3);
    await expect(settle('replay', { endpoint_id: b.id })).rejects.toMatchObject({ code: 'endpoint_not_enabled' });
    await expect(settle('replay', { endpoint_id: 'whe_none' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('are replayed or discarded by their ids', async () => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    const letters = await storeDeadLetters(harness, 5, { endpoint_id });
    const ids = letters.map(({ id }) => id);
    expect(await ended(one(await settle('replay', { delivery_ids: ids.slice(0, 2) })))).toMatchObject({ done: 2 });
    expect(await ended(one(await settle('discard', { delivery_ids: ids.slice(1, 4) })))).toMatchObject({
      matched: 2,
      done: 2,
    });
    expect((await dead(endpoint_id)).map(({ id }) => id)).toEqual(ids.slice(4));
    await expect(
      settle('discard', { delivery_ids: ids }, harness.createSampleWebhookCommand(STRANGER)),
    ).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('are discarded by filter, including those of deleted endpoints', async () => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await storeDeadLetters(harness, 450, { endpoint_id });
    await storeDeadLetters(harness, 3, { endpoint_id, reason: 'dns_failed' });
    await storeDeadLetters(harness, 2, { endpoint_id, event_type: 'shipment.updated' });
    await storeDeadLetters(harness, 2, { endpoint_id, workspace_id: STRANGER.workspace_id });
    await webhooks.endpoints.remove({ ...harness.createSampleWebhookCommand(), endpoint_id });
    const filter = { reasons: ['timeout'], event_types: ['shipment.created'] };
    const { replays } = await settle('discard', filter);
    expect(replays).toMatchObject([{ action: 'discard', endpoint_id }]);
    expect(await ended(one({ replays, refused: [] }))).toMatchObject({ matched: 450, done: 450, failed: 0 });
    expect((await summary()).by_reason).toMatchObject([
      { reason: 'dns_failed', count: 3 },
      { reason: 'timeout', count: 2 },
    ]);
    expect((await summary({}, STRANGER)).count).toBe(2);
    expect(await settle('discard', filter)).toEqual({ replays: [], refused: [] });
  });

  test('are settled once, however often the command is repeated', async () => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await storeDeadLetters(harness, 3, { endpoint_id });
    const command = harness.createSampleWebhookCommand();
    const first = one(await settle('discard', {}, command));
    await ended(first);
    await storeDeadLetters(harness, 3, { endpoint_id });
    expect(one(await settle('discard', {}, command))).toMatchObject({ id: first?.id, status: 'completed', done: 3 });
    expect(await dead(endpoint_id)).toHaveLength(3);
  });

  test('of events dated in the future, after the clock was set back, are settled like others', async () => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    const { id: other } = await harness.createEnabledEndpoint(webhooks, URL_B);
    const [letter] = await storeDeadLetters(harness, 3, { endpoint_id });
    await storeDeadLetters(harness, 2, { endpoint_id: other });
    harness.clockOffset -= 3_600_000;
    expect((await summary()).count).toBe(5);
    const named = one(await settle('replay', { delivery_ids: [letter?.id] }));
    expect(await ended(named)).toMatchObject({ matched: 1, done: 1 });
    const told = one(await settle('replay', { endpoint_id, until: ago(-7_200_000) }));
    // Bounded by what is stored: deliveries that die later are not included.
    expect(told?.until).toBe(letter?.event_created_at);
    expect(await ended(told)).toMatchObject({ matched: 2, done: 2 });
    expect(await settle('discard', { until: harness.now() })).toEqual({ replays: [], refused: [] });
    const given = one(await settle('discard', { since: ago(-60_000) }));
    expect(await ended(given)).toMatchObject({ endpoint_id: other, matched: 2, done: 2 });
    await expect(settle('discard', { since: ago(-60_000) })).rejects.toMatchObject({ code: 'validation_failed' });
  });

  test('whose discard was canceled stay, and are discarded when it is resumed', async () => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await storeDeadLetters(harness, 900, { endpoint_id });
    const replay_id = one(await settle('discard'))?.id ?? '';
    const canceled = await webhooks.replays.cancel({ ...harness.createSampleWebhookCommand(), replay_id });
    expect(canceled.status).toBe('canceled');
    const { count } = await summary();
    await webhooks.replays.resume({ ...harness.createSampleWebhookCommand(), replay_id });
    expect(await ended(canceled)).toMatchObject({ matched: 900, done: 900 });
    expect([count > 0, (await summary()).count]).toEqual([true, 0]);
  });

  test('are discarded by another process if the first one dies, and each is counted once', async () => {
    const { id: endpoint_id } = await harness.createEnabledEndpoint(webhooks, URL_A);
    await storeDeadLetters(harness, 1_000, { endpoint_id });
    const replay = one(await settle('discard'));
    await eventually(async () => expect((await summary()).count).toBeLessThan(1_000));
    webhooks.process.simulateProcessKill();
    const other = await harness.startWebhooks();
    expect(await ended(replay, other)).toMatchObject({ matched: 1_000, done: 1_000, failed: 0 });
    expect((await other.deadLetters.summary({ ...SAMPLE_SCOPE, filter: {} })).count).toBe(0);
  });
});
