import type { EtaChange, HistoryEntry, Milestone, Shipment, ShipmentExplanation } from '@tracking/contracts';
import { scaleTimeout } from '@tracking/testing';
import type { SystemUnderTest } from '../subject.ts';
import { createReadAfterWriteHeaders, listAllItems, createTestTenant, type TestTenant } from '../tenant.ts';

export function declareShipmentHistoryTests(subject: () => SystemUnderTest): void {
  describe('the past of a shipment', () => {
    let tenant: TestTenant;
    beforeEach(async () => {
      tenant = await createTestTenant(subject(), 'feed');
    }, scaleTimeout(30_000));

    test('every gateway returns the history, ETA history, explanation and past states of a shipment', async () => {
      const { api, gateways } = tenant;
      const made = await api.post<Shipment>('/v1/shipments', {
        external_id: 'PAST-1',
        mode: 'ocean',
        origin_port: 'CNSHA',
        destination_port: 'NLRTM',
        eta: '2026-04-01T00:00:00Z',
      });
      const path = `/v1/shipments/${made.data.id}`;
      const estimate = { code: 'vessel_arrived', classifier: 'estimated', source: 'carrier' };
      const post = (fields: object) => api.post<Milestone>(`${path}/milestones`, fields);
      const first = await post({ ...estimate, occurred_at: '2026-04-03T00:00:00Z', reason_code: 'port_congestion' });
      const second = await post({ ...estimate, occurred_at: '2026-04-02T00:00:00Z' });
      const before = await api.get<Shipment>(path, { headers: createReadAfterWriteHeaders(second) });
      const milestonesBefore = await api.get(`${path}/milestones?classifier=all`, {
        headers: createReadAfterWriteHeaders(second),
      });
      await api.delete(`${path}/milestones/${second.data.id}`);
      const departed = await post({ code: 'vessel_departed', occurred_at: '2026-03-01T10:00:00Z', location: 'CNSHA' });

      for (const gateway of gateways) {
        const entries = await listAllItems<HistoryEntry>(gateway, `${path}/history`, { limit: 3 });
        expect(entries.at(-1)).toMatchObject({ type: 'shipment.created', version: 1, actor: { name: 'feed' } });
        expect(entries.map(({ type }) => type)).toContain('milestone.retracted');
        expect(entries[0]).toMatchObject({ type: 'shipment.updated', changes: { status: { to: 'in_transit' } } });

        const etas = await listAllItems<EtaChange>(gateway, `${path}/eta_history`, { limit: 2 });
        expect(etas.map(({ slip_hours, source, milestone_id }) => [slip_hours, source, milestone_id])).toEqual([
          [24, 'carrier', first.data.id],
          [-24, 'carrier', second.data.id],
          [48, 'carrier', first.data.id],
          [null, 'client', null],
        ]);

        const { data: explanation } = await gateway.get<ShipmentExplanation>(`${path}/explanation`);
        expect(explanation).toMatchObject({
          status: { value: 'in_transit', rule: 'highest_rank', milestone_id: departed.data.id },
          eta: { value: '2026-04-03T00:00:00.000Z', rule: 'newest_estimate', milestone_id: first.data.id },
        });
        const rules = new Map(explanation.milestones.map(({ milestone_id, rule }) => [milestone_id, rule]));
        expect(rules.get(second.data.id)).toBe('retracted');

        const as_of = before.data.updated_at;
        const then = await gateway.get<Shipment>(path, { params: { as_of } });
        expect([then.data, then.headers['etag']]).toEqual([before.data, before.headers['etag']]);
        const milestones = await gateway.get(`${path}/milestones`, { params: { as_of, classifier: 'all' } });
        expect(milestones.data).toEqual(milestonesBefore.data);
        const early = await gateway.get(path, { params: { as_of: '2020-01-01T00:00:00Z' } });
        const late = await gateway.get(path, { params: { as_of: '2999-01-01T00:00:00Z' } });
        expect([early.status, late.status]).toEqual([404, 400]);
      }
    });
  });
}
