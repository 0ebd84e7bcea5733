import type { WorkspaceSettings } from '@tracking/contracts';
import { eventually, patient } from '@tracking/testing';
import type { Subject } from '../subject.ts';
import { newKey, newTenant } from '../tenant.ts';

export function settingsJourney(subject: () => Subject): void {
  test(
    'settings that are changed at one gateway are seen at every other within 5 s, and by nobody who may not',
    async () => {
      const { workspace, gateways } = await newTenant(subject());
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
        await eventually(async () => expect(await seen()).toEqual(expected), { deadlineMs: 5_000 });
      }
      const faulty = await gateways[0]!.patch('/v1/settings', { exceptions: { eta_slip: { after_hours: -1 } } });
      expect([faulty.status, faulty.data.error.param]).toEqual([400, 'exceptions.eta_slip.after_hours']);
      const { api } = await newKey(subject(), workspace, 'operator');
      expect((await api.get('/v1/settings')).status).toBe(403);
    },
    patient(60_000),
  );
}
