import { randomUUID } from 'node:crypto';
import type { Shipment } from '@tracking/contracts';
import { IS_SOAK_RUN, eventually, waitForSimulatedDelay } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { createTestApiClient, createKey, startStandaloneProcess, withTemporaryFolder } from './standalone-process.ts';

const KILLS = IS_SOAK_RUN ? 5 : 2;
const AT_ONCE = 20;
const SETTINGS = { RATE_LIMIT_PER_MINUTE: '1000000' };

describe('kill -9 of a server with many concurrent writes with the same If-Match', () => {
  it('carries out one of them, and its repeat gets the same response', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const key = await createKey(dataDir);
      let server = await startStandaloneProcess(dataDir, SETTINGS);
      const { data: shipment } = await createTestApiClient(server.url, key).post<Shipment>('/v1/shipments', {
        house_bill: 'HB',
      });
      const path = `/v1/shipments/${shipment.id}`;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = createTestApiClient(server.url, key);
        const tag = String((await before.get(path)).headers['etag']);
        const names = Array.from({ length: AT_ONCE }, () => randomUUID());
        const send = (api: AxiosInstance, name: string): Promise<AxiosResponse<{ id?: string }>> =>
          api.post(
            `${path}/milestones`,
            { code: 'in_transit_checkpoint', occurred_at: '2026-01-01T00:00:00Z', location: name },
            { headers: { 'Idempotency-Key': name, 'If-Match': tag } },
          );
        const sending = Promise.allSettled(names.map((name) => send(before, name)));
        await waitForSimulatedDelay(5 + 10 * kill);
        await server.stop('SIGKILL');
        const told = (await sending).flatMap((sent) =>
          sent.status === 'fulfilled' && sent.value.status === 201 ? [sent.value.data.id] : [],
        );
        server = await startStandaloneProcess(dataDir, SETTINGS);
        const after = createTestApiClient(server.url, key);
        const repeated = await Promise.all(
          names.map((name) =>
            eventually(async () => {
              const answer = await send(after, name);
              expect([201, 412]).toContain(answer.status);
              return answer;
            }),
          ),
        );
        const done = repeated.filter(({ status }) => status === 201);
        expect(done).toHaveLength(1);
        expect([[], [done[0]?.data.id]]).toContainEqual(told);
        expect((await after.get(path)).headers['etag']).toBe(done[0]?.headers['etag']);
      }
      const { data } = await createTestApiClient(server.url, key).get<{ data: unknown[] }>(`${path}/milestones`);
      expect(data.data).toHaveLength(KILLS);
      await server.stop();
    });
  }, 240_000);
});
