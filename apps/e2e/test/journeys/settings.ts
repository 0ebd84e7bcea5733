import type { WorkspaceSettings } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import type { SystemUnderTest } from '../subject.ts';
import { createKey, createTestTenant } from '../tenant.ts';

export function declareSettingsTests(subject: () => SystemUnderTest): void {
  test(
    'settings changed at one gateway apply at every other, and only to permitted users',
    async () => {
      const { workspace, gateways } = await createTestTenant(subject());
      const seen = () =>
        Promise.all(
          gateways.map(async (gateway) => {
            const { status, data } = await gateway.get<WorkspaceSettings>('/v1/settings');
            return [status, data.version, data.exceptions.eta_slip.after_hours];
          }),
        );
      const before = await seen();
      for (const [turn, gateway] of gateways.entries()) {
        const after_hours = 60 + turn;
        const changed = await gateway.patch<WorkspaceSettings>('/v1/settings', {
          exceptions: { eta_slip: { after_hours } },
        });
        expect([changed.status, changed.data.exceptions.eta_slip.after_hours]).toEqual([200, after_hours]);
        const expected = before.map(() => [200, changed.data.version, after_hours]);
        await eventually(async () => expect(await seen()).toEqual(expected));
      }
      const faulty = await gateways[0]!.patch('/v1/settings', { exceptions: { eta_slip: { after_hours: -1 } } });
      expect([faulty.status, faulty.data.error.param]).toEqual([400, 'exceptions.eta_slip.after_hours']);
      const { api } = await createKey(subject(), workspace, 'operator');
      expect((await api.get('/v1/settings')).status).toBe(403);
    },
    scaleTimeout(60_000),
  );

  test(
    'open shipments are checked against changed settings, and the progress is visible',
    async () => {
      const { gateways } = await createTestTenant(subject());
      const [api, other] = [gateways[0]!, gateways.at(-1)!];
      const { data: shipment } = await api.post('/v1/shipments', { external_id: 'PO-1', mode: 'ocean' });
      const occurred_at = new Date(Date.now() - 60_000).toISOString();
      await api.post(`/v1/shipments/${shipment.id}/milestones`, { code: 'customs_hold', occurred_at });
      const changed = await api.patch('/v1/settings', { exceptions: { customs_hold: { severity: 'critical' } } });
      expect(changed.data.recheck).toEqual({ state: 'pending', checked: 0, started_at: null, finished_at: null });
      await eventually(async () => {
        const { data, headers } = await other.get<WorkspaceSettings>('/v1/settings');
        expect(data.recheck).toMatchObject({ state: 'done', checked: 1, finished_at: expect.any(String) });
        expect(headers.etag).toBe(changed.headers.etag);
      });
      await eventually(async () => {
        const { data } = await other.get(`/v1/shipments/${shipment.id}/exceptions`);
        expect(data.data).toMatchObject([{ type: 'customs_hold', status: 'open', severity: 'critical' }]);
      });
    },
    scaleTimeout(60_000),
  );
}
