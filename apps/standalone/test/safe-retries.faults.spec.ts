import { randomUUID } from 'node:crypto';
import type { Milestone, Shipment } from '@tracking/contracts';
import { IS_SOAK_RUN, eventually, waitForSimulatedDelay } from '@tracking/testing';
import type { AxiosInstance, AxiosResponse } from 'axios';
import {
  listAllItems,
  createTestApiClient,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
} from './standalone-process.ts';

const KILLS = IS_SOAK_RUN ? 16 : 4;
const AT_ONCE = 50;
/** Delays of the kills after the first request, in milliseconds. */
const LATER_MS = 8;

/** The response that every repeat gets, byte for byte, except that its `Consistency-Token` may be later. */
function told({ status, data, headers }: AxiosResponse<string>): string {
  const names = ['content-type', 'location', 'etag'];
  return JSON.stringify([status, data, names.map((name) => headers[name] ?? null)]);
}

describe('kill -9 of a server that receives the same POST fifty times concurrently', () => {
  it('leaves one resource, and every repeat gets the same response', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const key = await createKey(dataDir);
      let server = await startStandaloneProcess(dataDir, { RATE_LIMIT_PER_MINUTE: '1000000' });
      const { data: shipment } = await createTestApiClient(server.url, key).post<Shipment>('/v1/shipments', {
        house_bill: 'HB',
      });
      const bills: string[] = [];
      for (let kill = 0; kill < KILLS; kill += 1) {
        const house_bill = `HB-${kill}`;
        bills.push(house_bill);
        const occurred_at = new Date(Date.UTC(2026, 0, 1) + kill * 60_000).toISOString();
        const requests = [
          ['/v1/shipments', { house_bill }, randomUUID()],
          [`/v1/shipments/${shipment.id}/milestones`, { code: 'gated_in', occurred_at }, randomUUID()],
        ] as const;
        const answers = requests.map(() => new Set<string>());
        const send = async (api: AxiosInstance, index: number): Promise<number> => {
          const [path, body, name] = requests[index] ?? requests[0];
          const headers = { 'Idempotency-Key': name };
          const answer = await api.post<string>(path, body, { headers, transformResponse: (text: string) => text });
          if (answer.status < 300) answers[index]?.add(told(answer));
          else expect([409, 503]).toContain(answer.status);
          return answer.status;
        };
        const before = createTestApiClient(server.url, key);
        const sent = Array.from({ length: AT_ONCE }, (_, turn) => send(before, turn % requests.length));
        const sending = Promise.allSettled(sent);
        await waitForSimulatedDelay(kill * LATER_MS);
        await server.stop('SIGKILL');
        for (const outcome of await sending) {
          if (outcome.status === 'rejected' && !('isAxiosError' in Object(outcome.reason))) throw outcome.reason;
        }
        server = await startStandaloneProcess(dataDir, { RATE_LIMIT_PER_MINUTE: '1000000' });
        const after = createTestApiClient(server.url, key);
        const again = Array.from({ length: AT_ONCE }, (_, turn) =>
          eventually(async () => expect(await send(after, turn % requests.length)).toBe(201)),
        );
        await Promise.all(again);
        expect(answers.map(({ size }) => size)).toEqual([1, 1]);
        const reused = await after.post('/v1/shipments', {}, { headers: { 'Idempotency-Key': requests[0][2] } });
        expect([reused.status, reused.data.error.code]).toEqual([409, 'idempotency_key_reused']);
      }
      const api = createTestApiClient(server.url, key);
      const shipments = await listAllItems<Shipment>(api, '/v1/shipments');
      expect(shipments.map(({ house_bill }) => house_bill).sort()).toEqual(['HB', ...bills].sort());
      expect(await listAllItems<Milestone>(api, `/v1/shipments/${shipment.id}/milestones`)).toHaveLength(KILLS);
      await server.stop();
    });
  }, 240_000);
});
