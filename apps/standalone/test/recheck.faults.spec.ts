import type { WorkspaceSettings } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import type { AxiosInstance } from 'axios';
import {
  listAllItems,
  createTestApiClient,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
} from './standalone-process.ts';

const SHIPMENTS = 1_000;
const AT_ONCE = 500;
/** Numbers of checked shipments after which the server is killed; 0 is right after the change is acknowledged. */
const KILLS = [0, 1, 500];

interface Updated {
  readonly data: {
    readonly shipment_id: string;
    readonly exception: { readonly type: string; readonly severity: string };
  };
}

/** Creates shipments held by customs and returns their ids. */
async function hold(api: AxiosInstance): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let from = 0; from < SHIPMENTS; from += AT_ONCE) {
    const shipments = Array.from({ length: AT_ONCE }, (_, n) => ({ external_id: `order-${from + n}`, mode: 'ocean' }));
    const made = await api.post<{ data: { shipment: { id: string } }[] }>('/v1/shipments/bulk', { shipments });
    const page = made.data.data.map(({ shipment }) => shipment.id);
    const occurred_at = new Date(Date.now() - 60_000).toISOString();
    const milestones = page.map((shipment_id) => ({ shipment_id, code: 'customs_hold', occurred_at }));
    const recorded = await api.post<{ data: { status: number }[] }>('/v1/milestones/bulk', { milestones });
    expect(recorded.data.data.filter(({ status }) => status !== 201)).toEqual([]);
    ids.push(...page);
  }
  return ids;
}

describe('kill -9 of a server that checks shipments after a settings change', () => {
  it('continues where it stopped: each shipment is checked, and reported once', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const key = await createKey(dataDir, 'live', 'admin');
      const start = async () => {
        const server = await startStandaloneProcess(dataDir, { RATE_LIMIT_PER_MINUTE: '1000000' });
        return { server, api: createTestApiClient(server.url, key) };
      };
      let { server, api } = await start();
      const recheck = async () => {
        const { data } = await api.get<WorkspaceSettings>('/v1/settings');
        expect(data.version).toBe(2);
        return data.recheck;
      };
      const ids = await hold(api);
      const changed = await api.patch('/v1/settings', { exceptions: { customs_hold: { severity: 'low' } } });
      expect([changed.status, changed.data.recheck.state]).toEqual([200, 'pending']);
      let killedAmid = 0;
      for (const checked of KILLS) {
        await eventually(async () => expect((await recheck())?.checked).toBeGreaterThanOrEqual(checked));
        const before = await recheck();
        await server.stop('SIGKILL');
        ({ server, api } = await start());
        const after = await recheck();
        expect(after?.checked).toBeGreaterThanOrEqual(before?.checked ?? 0);
        expect(after?.started_at).toBe(before?.started_at ?? after?.started_at);
        if (before?.state === 'running') killedAmid += 1;
      }
      expect(killedAmid).toBeGreaterThan(0);
      await eventually(async () => {
        expect(await recheck()).toMatchObject({ state: 'done', checked: SHIPMENTS, finished_at: expect.any(String) });
      });
      const updated = await eventually(async () => {
        const events = await listAllItems<Updated>(api, '/v1/events?type=exception.updated');
        expect(events.length).toBeGreaterThanOrEqual(SHIPMENTS);
        return events;
      });
      expect(updated.map(({ data }) => data.shipment_id).sort()).toEqual([...ids].sort());
      expect(new Set(updated.map(({ data }) => `${data.exception.type} ${data.exception.severity}`))).toEqual(
        new Set(['customs_hold low']),
      );
      await server.stop();
    });
  }, 240_000);
});
