import type { ReadModelStatus, Shipment } from '@tracking/contracts';
import { eventually, scaleTimeout } from '@tracking/testing';
import axios from 'axios';
import { runCli, runCliJson, type SystemUnderTest } from '../subject.ts';
import { createReadAfterWriteHeaders, listAllItems, createTestTenant } from '../tenant.ts';

export function declareServerOperationTests(subject: () => SystemUnderTest): void {
  describe('operation', () => {
    test(
      'read models are rebuilt during writes and contain all of them',
      async () => {
        const { api } = await createTestTenant(subject());
        const names = async () => {
          const { data } = await runCliJson<{ data: ReadModelStatus[] }>(subject(), 'read-models', 'list');
          return new Map(data.map(({ name, generation }) => [name, generation]));
        };
        const before = await names();
        const acknowledged = new Map<string, number>();
        let isRebuilding = true;
        const write = async (worker: number) => {
          let last;
          for (let turn = 0; isRebuilding; turn += 1) {
            last = await api.post<Shipment>('/v1/shipments', {
              external_id: `W-${worker}-${turn % 5}`,
              house_bill: `HB-${turn}`,
            });
            expect([200, 201]).toContain(last.status);
            acknowledged.set(last.data.id, last.data.version);
          }
          return last;
        };
        const writing = Promise.all([0, 1, 2].map(write));
        await runCli(subject(), 'read-models', 'rebuild');
        isRebuilding = false;
        const lasts = await writing;
        await eventually(
          async () => {
            const listed = await listAllItems<Shipment>(
              api,
              '/v1/shipments',
              {},
              lasts[0] && createReadAfterWriteHeaders(lasts[0]),
            );
            expect(new Map(listed.map(({ id, version }) => [id, version]))).toEqual(acknowledged);
          },
          { deadlineMs: 60_000 },
        );
        for (const [name, generation] of await names()) expect(generation).toBeGreaterThan(before.get(name) ?? 0);
      },
      scaleTimeout(180_000),
    );

    test('no events are parked, and every process is ready and serves its metrics', async () => {
      expect(await runCliJson(subject(), 'parked', 'list')).toEqual({ data: [] });
      for (const url of subject().managementUrls) {
        await eventually(async () =>
          expect((await axios.get(`${url}/health/ready`)).data).toMatchObject({ status: 'ready' }),
        );
        expect((await axios.get<string>(`${url}/metrics`)).data).toMatch(/^# TYPE \w+ counter$/m);
      }
    });
  });
}
