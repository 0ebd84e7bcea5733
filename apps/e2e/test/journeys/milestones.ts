import type { EventEnvelope, Milestone, Shipment, Warning } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { AxiosResponse } from 'axios';
import { EndpointServer } from '../receiver.ts';
import type { SystemUnderTest } from '../subject.ts';
import { createReadAfterWriteHeaders, listAllItems, createKey, createTestTenant, type TestTenant } from '../tenant.ts';

type Written = AxiosResponse<Milestone & { readonly warnings: readonly Warning[] }>;

export function declareMilestoneTests(subject: () => SystemUnderTest): void {
  describe('milestones', () => {
    let tenant: TestTenant;
    let feed: TestTenant['api'];
    let path: string;
    beforeEach(async () => {
      tenant = await createTestTenant(subject(), 'operator');
      ({ api: feed } = await createKey(subject(), tenant.workspace, 'feed'));
      const fields = { external_id: 'MS-1', mode: 'ocean', origin_port: 'CNSHA', destination_port: 'NLRTM' };
      path = `/v1/shipments/${(await tenant.api.post<Shipment>('/v1/shipments', fields)).data.id}`;
    }, scaleTimeout(30_000));

    const warned = ({ data }: Written) => data.warnings.map(({ code }) => code);
    const departed = {
      code: 'vessel_departed',
      occurred_at: '2026-03-01T10:00:00Z',
      location: 'CNSHA',
      source: 'carrier',
      external_id: 'EV-1',
    };

    test("a user's correction of a milestone survives repeats from its feed at any gateway", async () => {
      const { api, gateways } = tenant;
      const poll = (fields: object = {}): Promise<Written> =>
        feed.post(`${path}/milestones`, { ...departed, ...fields });
      const first = await poll();
      const milestone = `${path}/milestones/${first.data.id}`;
      const corrected: Written = await api.patch(milestone, { occurred_at: '2026-03-02T10:00:00Z', note: 'by phone' });
      expect([first.status, corrected.status, corrected.data.revision]).toEqual([201, 200, 2]);
      const again = await poll();
      expect([again.status, warned(again)]).toEqual([200, ['overridden_by_user']]);
      expect({ ...again.data, warnings: [] }).toEqual(corrected.data);
      const news = await poll({ occurred_at: '2026-03-03T10:00:00Z' });
      expect(news.data).toMatchObject({ occurred_at: '2026-03-03T10:00:00.000Z', note: 'by phone', revision: 3 });

      const retracted: Written = await api.delete(milestone);
      const twice: Written = await api.delete(milestone);
      expect([retracted.status, twice.data]).toEqual([200, retracted.data]);
      const repeated = await poll({ occurred_at: '2026-03-03T10:00:00Z' });
      expect([repeated.status, repeated.data.id, warned(repeated)]).toEqual([
        200,
        first.data.id,
        ['overridden_by_user'],
      ]);
      const late = await api.patch(milestone, { note: 'x' });
      expect([late.status, late.data.error.code]).toEqual([409, 'milestone_retracted']);

      const headers = createReadAfterWriteHeaders(repeated);
      for (const gateway of gateways) {
        const { warnings: _, ...expected } = retracted.data;
        expect((await gateway.get(milestone, { headers })).data).toEqual(expected);
        expect((await gateway.get<Shipment>(path, { headers })).data).toMatchObject({ status: 'pending', atd: null });
      }
      expect(await listAllItems(api, `${path}/milestones`, {}, headers)).toEqual([]);
      expect(await listAllItems(api, `${path}/milestones`, { include_retracted: true }, headers)).toHaveLength(1);
      const events = await listAllItems<EventEnvelope>(api, '/v1/events', {}, headers);
      expect(events.map(({ type }) => type)).toEqual([
        'shipment.created',
        'milestone.recorded',
        'shipment.updated',
        'shipment.updated',
        'shipment.updated',
        'milestone.retracted',
        'shipment.updated',
      ]);
      expect(events.at(-1)?.data).toMatchObject({ changes: { milestone: { to: null }, status: { to: 'pending' } } });
    });

    test('the retraction of an actual milestone is delivered to subscribers', async () => {
      const receiver = await EndpointServer.startEndpointServer();
      try {
        const { api: developer } = await createKey(subject(), tenant.workspace, 'developer');
        const hook = await receiver.createEnabledEndpoint(developer, '/hook', { event_types: ['milestone.retracted'] });
        const recorded: Written = await feed.post(`${path}/milestones`, departed);
        const retracted: Written = await tenant.api.delete(`${path}/milestones/${recorded.data.id}`);
        await eventually(() => expect(hook.came.size).toBe(1));
        const { warnings: _, ...milestone } = retracted.data;
        const [id = ''] = hook.came.keys();
        expect(receiver.findEvent(id)).toMatchObject({ type: 'milestone.retracted', data: { milestone } });
      } finally {
        await receiver.closeEndpointServer();
      }
    });

    test('retracting an estimate restores the previous one; retracting a cancellation reopens the shipment', async () => {
      const { api } = tenant;
      const post = (fields: object): Promise<Written> => api.post(`${path}/milestones`, fields);
      const shown = async (written: Written) =>
        (await api.get<Shipment>(path, { headers: createReadAfterWriteHeaders(written) })).data;
      const estimate = { code: 'vessel_arrived', classifier: 'estimated', location: 'NLRTM' };
      await post({ ...estimate, occurred_at: '2026-04-01T00:00:00Z' });
      const newer = await post({ ...estimate, occurred_at: '2026-04-05T00:00:00Z' });
      expect((await shown(newer)).eta).toBe('2026-04-05T00:00:00.000Z');
      const back: Written = await api.delete(`${path}/milestones/${newer.data.id}`);
      expect((await shown(back)).eta).toBe('2026-04-01T00:00:00.000Z');
      const cancelled = await post({ code: 'booking_cancelled', occurred_at: '2026-02-01T00:00:00Z' });
      expect((await shown(cancelled)).status).toBe('cancelled');
      const reopened: Written = await api.delete(`${path}/milestones/${cancelled.data.id}`);
      expect(await shown(reopened)).toMatchObject({ status: 'pending', status_milestone_id: null });
    });

    test('one of many concurrent corrections of the same version is applied, across all gateways', async () => {
      const { api, gateways } = tenant;
      const { data, headers } = await api.post<Milestone>(`${path}/milestones`, { ...departed, source: 'manual' });
      const tag = { 'If-Match': String(headers['etag']) };
      const correct = async (n: number) => {
        const gateway = gateways[n % gateways.length] ?? api;
        return gateway.patch(`${path}/milestones/${data.id}`, { note: `${n}` }, { headers: tag });
      };
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => correct(n)));
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
    });
  });
}
