import type { EventEnvelope } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import { type EndpointWithReceivedDeliveries, EndpointServer } from '../receiver.ts';
import { runCliJson, type SystemUnderTest } from '../subject.ts';
import {
  createReadAfterWriteHeaders,
  listAllItems,
  createTestTenant,
  createShipmentReturningEvent,
  type TestTenant,
} from '../tenant.ts';

interface Replay {
  readonly id: string;
  readonly endpoint_id: string;
  readonly status: string;
  readonly matched: number;
  readonly done: number;
  readonly failed: number;
}

const LONG_WAIT_OPTIONS = { deadlineMs: 60_000 };
/** Maximum number of deliveries that a replay may have started before it is canceled. */
const MAX_DELIVERIES_BEFORE_CANCEL = 8;

export function declareWebhookReplayTests(subject: () => SystemUnderTest): void {
  describe('webhook replays', () => {
    let tenant: TestTenant;
    let receiver: EndpointServer;
    beforeEach(async () => {
      tenant = await createTestTenant(subject());
      receiver = await EndpointServer.startEndpointServer();
    }, scaleTimeout(30_000));
    afterEach(async () => {
      expect(receiver.faults).toEqual([]);
      await receiver.closeEndpointServer();
    });

    const event = (external_id: string) => createShipmentReturningEvent(tenant.api, external_id);
    const switched = async ({ id }: EndpointWithReceivedDeliveries, how: 'enable' | 'disable') =>
      expect((await tenant.api.post(`/v1/webhook_endpoints/${id}/${how}`)).status).toBe(200);
    const ask = ({ id }: EndpointWithReceivedDeliveries, filter: object) =>
      tenant.api.post<Replay>(`/v1/webhook_endpoints/${id}/replay`, filter);
    const begun = async (hook: EndpointWithReceivedDeliveries, filter: object): Promise<string> => {
      const { status, data } = await ask(hook, filter);
      expect([status, data]).toMatchObject([202, { endpoint_id: hook.id, status: 'running' }]);
      return data.id;
    };
    const change = (id: string, how: 'cancel' | 'resume') => tenant.api.post(`/v1/webhook_replays/${id}/${how}`);
    const completed = (id: string): Promise<Replay> =>
      eventually(async () => {
        const { data } = await tenant.api.get<Replay>(`/v1/webhook_replays/${id}`);
        expect(data.status).toBe('completed');
        return data;
      }, LONG_WAIT_OPTIONS);
    /** Waits until this many deliveries to the endpoint are stored as succeeded. */
    const succeeded = ({ id }: EndpointWithReceivedDeliveries, count: number) =>
      eventually(async () => {
        const params = { endpoint_id: id, status: 'succeeded' };
        expect(await listAllItems(tenant.api, '/v1/webhook_deliveries', params)).toHaveLength(count);
      }, LONG_WAIT_OPTIONS);
    const times = (ids: readonly string[], count: number) => ids.map((id) => [id, count] as const);

    test(
      'a replay sends each event once that an endpoint missed while disabled, and sends delivered events again on request',
      async () => {
        const { api } = tenant;
        const hook = await receiver.createEnabledEndpoint(api, '/hook', { max_concurrency: 1 });
        const witness = await receiver.createEnabledEndpoint(api, '/witness');
        const before = await event('BEFORE');
        const shipment_id = String(before.data['shipment_id']);
        const recorded = await api.post(`/v1/shipments/${shipment_id}/milestones`, {
          code: 'gated_in',
          occurred_at: '2026-11-01T08:00:00Z',
        });
        const [created, ...others] = await listAllItems<EventEnvelope>(
          api,
          '/v1/events',
          { shipment_id },
          createReadAfterWriteHeaders(recorded),
        );
        expect([created?.id, others.map(({ type }) => type)]).toEqual([
          before.id,
          expect.arrayContaining(['milestone.recorded']),
        ]);
        const beside = others.map(({ id }) => id);
        await succeeded(hook, 1 + beside.length);

        await switched(hook, 'disable');
        const missed: string[] = [];
        for (const n of [1, 2, 3]) missed.push((await event(`MISSED-${n}`)).id);
        await succeeded(witness, 1 + beside.length + missed.length);
        await switched(hook, 'enable');
        expect(hook.came).toEqual(new Map(times([before.id, ...beside], 1)));

        const first = await begun(hook, { statuses: ['missed'] });
        expect(await completed(first)).toMatchObject({ matched: 3, done: 3, failed: 0 });
        expect(hook.came).toEqual(new Map(times([before.id, ...beside, ...missed], 1)));
        // Oldest first.
        expect([...hook.came.keys()].slice(-missed.length)).toEqual(missed);
        for (const id of missed) expect(receiver.findEvent(id)).toMatchObject({ id, type: 'shipment.created' });

        const second = await begun(hook, { statuses: ['succeeded'], event_types: ['shipment.created'] });
        expect(await completed(second)).toMatchObject({ matched: 4, done: 4, failed: 0 });
        expect(hook.came).toEqual(new Map([...times([before.id, ...missed], 2), ...times(beside, 1)]));
        expect(witness.came).toEqual(new Map(times([before.id, ...beside, ...missed], 1)));

        const listed = await listAllItems<Replay>(api, '/v1/webhook_replays', { endpoint_id: hook.id });
        expect(listed.map(({ id, matched }) => [id, matched])).toEqual([
          [second, 4],
          [first, 3],
        ]);
        expect(await listAllItems(api, '/v1/webhook_replays', { endpoint_id: witness.id })).toEqual([]);
        const { workspace } = tenant;
        expect(await runCliJson(subject(), 'replays', 'list', '--workspace', workspace)).toMatchObject({
          data: listed.map(({ id, matched }) => ({ id, workspace, status: 'completed', matched, done: matched })),
        });

        const stranger = await createTestTenant(subject());
        const strange = await stranger.api.get(`/v1/webhook_replays/${first}`);
        expect([strange.status, strange.data.error.code]).toEqual([404, 'not_found']);
        expect((await stranger.api.post(`/v1/webhook_replays/${first}/resume`)).status).toBe(404);
      },
      scaleTimeout(180_000),
    );

    test(
      'one replay runs at a time per endpoint; canceled it starts no more deliveries, and resumed it completes',
      async () => {
        const { api } = tenant;
        const hook = await receiver.createEnabledEndpoint(api, '/hook', { max_concurrency: 1 });
        const shipments = Array.from({ length: MAX_DELIVERIES_BEFORE_CANCEL + 4 }, (_, n) => ({
          external_id: `MANY-${n}`,
        }));
        expect((await api.post('/v1/shipments/bulk', { shipments })).status).toBe(200);
        await succeeded(hook, shipments.length);
        const many = [...hook.came.keys()];
        const again = () => many.filter((id) => hook.came.get(id) === 2).length;

        const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>();
        hook.behave = () => mayAnswer.then(() => 204);
        const replay = await begun(hook, { statuses: ['succeeded'] });
        await eventually(() => expect(again()).toBe(1), LONG_WAIT_OPTIONS);
        const other = await ask(hook, {});
        expect([other.status, other.data]).toMatchObject([409, { error: { code: 'replay_running' } }]);
        const canceled = await change(replay, 'cancel');
        expect([canceled.status, canceled.data.status]).toEqual([200, 'canceled']);
        letAnswer();

        // Deliveries that were started continue. A live event follows them.
        await succeeded(hook, many.length);
        const live = await event('LIVE');
        await succeeded(hook, many.length + 1);
        const begunBefore = again();
        expect(begunBefore).toBeGreaterThanOrEqual(1);
        expect(begunBefore).toBeLessThanOrEqual(MAX_DELIVERIES_BEFORE_CANCEL);
        expect((await api.get(`/v1/webhook_replays/${replay}`)).data.status).toBe('canceled');

        const resumed = await change(replay, 'resume');
        expect([resumed.status, resumed.data.status]).toEqual([200, 'running']);
        const count = many.length;
        expect(await completed(replay)).toMatchObject({ matched: count, done: count, failed: 0 });
        expect(hook.came).toEqual(new Map([...times(many, 2), [live.id, 1]]));
        expect(hook.excesses).toEqual([]);
        const late = await change(replay, 'resume');
        expect([late.status, late.data.error.code]).toEqual([409, 'replay_completed']);
      },
      scaleTimeout(180_000),
    );
  });
}
