import type { AuditEntry, Shipment, WorkspaceSettings } from '@tracking/contracts';
import { scaleTimeout } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import type { SystemUnderTest } from '../subject.ts';
import { createTestTenant } from '../tenant.ts';

const CONCURRENT_WRITE_COUNT = 50;

export function declareConditionalRequestTests(subject: () => SystemUnderTest): void {
  describe('one of many writes with the same If-Match is applied, across all gateways', () => {
    let api: AxiosInstance;
    beforeEach(async () => {
      ({ api } = await createTestTenant(subject()));
    }, scaleTimeout(30_000));

    /** Sends concurrent writes with the current ETag. One write succeeds, and the others report the new ETag. */
    async function expectOneConcurrentWriteWins(
      path: string,
      write: (n: number, headers: object) => Promise<AxiosResponse>,
    ): Promise<void> {
      const before = String((await api.get(path)).headers['etag']);
      const answers = await Promise.all(
        Array.from({ length: CONCURRENT_WRITE_COUNT }, (_, n) => write(n, { 'If-Match': before })),
      );
      const done = answers.filter(({ status }) => status < 300);
      const refused = answers.filter(({ status }) => status === 412);
      expect([done.length, refused.length]).toEqual([1, CONCURRENT_WRITE_COUNT - 1]);
      const newest = String(done[0]?.headers['etag']);
      expect(newest).not.toBe(before);
      for (const { data, headers } of refused) {
        expect([data.error.code, headers['etag']]).toEqual(['precondition_failed', newest]);
      }
      expect((await api.get(path)).headers['etag']).toBe(newest);
    }

    test(
      'a shipment',
      async () => {
        const created = await api.post<Shipment>('/v1/shipments', { external_id: 'RACE' });
        const path = `/v1/shipments/${created.data.id}`;
        for (let round = 0; round < 3; round++) {
          await expectOneConcurrentWriteWins(path, (n, headers) =>
            api.post('/v1/shipments', { external_id: 'RACE', house_bill: `HB-${round}-${n}` }, { headers }),
          );
          const occurred_at = '2026-01-01T00:00:00Z';
          await expectOneConcurrentWriteWins(path, (n, headers) =>
            api.post(
              `${path}/milestones`,
              { code: 'in_transit_checkpoint', occurred_at, location: `${round} ${n}` },
              { headers },
            ),
          );
        }
        const listed = await api.get<{ data: unknown[] }>(`${path}/milestones`);
        expect(listed.data.data).toHaveLength(3);
      },
      scaleTimeout(60_000),
    );

    test(
      'a webhook endpoint',
      async () => {
        const url = 'https://127.0.0.1/never-asked';
        const made = await api.post('/v1/webhook_endpoints', { url, event_types: ['*'] });
        expect(made.status).toBe(201);
        const path = `/v1/webhook_endpoints/${String(made.data.id)}`;
        await expectOneConcurrentWriteWins(path, (n, headers) => api.patch(path, { description: `${n}` }, { headers }));
        await expectOneConcurrentWriteWins(path, (_, headers) => api.post(`${path}/disable`, {}, { headers }));
      },
      scaleTimeout(60_000),
    );

    test(
      'settings of the workspace',
      async () => {
        for (let round = 0; round < 3; round++) {
          await expectOneConcurrentWriteWins('/v1/settings', (n, headers) => {
            const eta_slip = { after_hours: 100 * (round + 1) + n };
            return api.patch('/v1/settings', { exceptions: { eta_slip } }, { headers });
          });
        }
        const { data } = await api.get<WorkspaceSettings>('/v1/settings');
        const log = await api.get<{ data: readonly AuditEntry[] }>('/v1/audit_log?type=settings.changed');
        const told = log.data.data.map(({ outcome, changes }) => [outcome, Object.keys(changes)]);
        expect([data.version, told]).toEqual([4, Array(3).fill(['done', ['exceptions.eta_slip.after_hours']])]);
        expect(log.data.data[0]?.changes['exceptions.eta_slip.after_hours']?.to).toBe(
          data.exceptions.eta_slip.after_hours,
        );
      },
      scaleTimeout(60_000),
    );
  });
}
