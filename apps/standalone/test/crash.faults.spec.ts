import { IS_SOAK_RUN } from '@tracking/testing';
import type { Milestone, Shipment } from '@tracking/contracts';
import {
  listAllItems,
  runCliProcessForOutput,
  createTestApiClient,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
} from './standalone-process.ts';

const CYCLES = IS_SOAK_RUN ? 12 : 4;
const CLIENTS = 24;
const CODES = ['booking_confirmed', 'gated_in', 'loaded_on_vessel', 'vessel_departed', 'vessel_arrived'] as const;

/** Writes that the API acknowledged: versions by shipment id, and milestone ids by shipment. */
interface Acknowledged {
  readonly versions: Map<string, number>;
  readonly milestones: Map<string, Set<string>>;
}

/** Writes until the server ends; kills it during a write after `killAfter` acknowledged writes. */
async function loadUntilKilled(dataDir: string, key: string, cycle: number, known: Acknowledged): Promise<void> {
  const server = await startStandaloneProcess(dataDir, { RATE_LIMIT_PER_MINUTE: '1000000' });
  const api = createTestApiClient(server.url, key);
  const killAfter = 20 + cycle * 37;
  let acknowledged = 0;
  let killed = false;
  const acknowledge = () => {
    acknowledged += 1;
    if (acknowledged === killAfter) {
      killed = true;
      server.child.kill('SIGKILL');
    }
  };
  const one = async (worker: number) => {
    for (let turn = 0; !killed; turn += 1) {
      const reference = `order-${(worker * 7 + turn) % 60}`;
      const created = await api.post('/v1/shipments', {
        external_id: reference,
        house_bill: `HB-${cycle}-${turn}`,
        mode: 'ocean',
        destination_port: 'NLRTM',
      });
      expect([200, 201]).toContain(created.status);
      const id = String(created.data.id);
      known.versions.set(id, Math.max(known.versions.get(id) ?? 0, Number(created.data.version)));
      acknowledge();
      const recorded = await api.post(`/v1/shipments/${id}/milestones`, {
        code: CODES[turn % CODES.length],
        occurred_at: new Date(Date.UTC(2026, 0, 1) + (cycle * 1_000 + worker * 40 + turn) * 60_000).toISOString(),
      });
      expect([200, 201]).toContain(recorded.status);
      known.milestones.set(id, (known.milestones.get(id) ?? new Set()).add(String(recorded.data.id)));
      acknowledge();
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: CLIENTS }, (_, worker) => one(worker)));
  await server.stop('SIGKILL');
  for (const outcome of outcomes) {
    // Clients see broken connections after the kill. Every response must be a success.
    if (outcome.status === 'rejected' && !('isAxiosError' in Object(outcome.reason))) throw outcome.reason;
  }
  expect(acknowledged).toBeGreaterThanOrEqual(killAfter);
}

describe('kill -9 under load', () => {
  it('loses no acknowledged write, leaves no partial stream, and restarts without repair', async () => {
    await withTemporaryFolder(async (dataDir) => {
      const key = await createKey(dataDir);
      const known: Acknowledged = { versions: new Map(), milestones: new Map() };
      for (let cycle = 0; cycle < CYCLES; cycle += 1) await loadUntilKilled(dataDir, key, cycle, known);

      const server = await startStandaloneProcess(dataDir, { RATE_LIMIT_PER_MINUTE: '1000000' });
      const api = createTestApiClient(server.url, key);
      const read = async () => {
        const shipments = await listAllItems<Shipment>(api, '/v1/shipments');
        const milestones: Record<string, Milestone[]> = {};
        for (const { id } of shipments)
          milestones[id] = await listAllItems<Milestone>(api, `/v1/shipments/${id}/milestones`);
        return { shipments, milestones };
      };
      const before = await read();

      const byId = new Map(before.shipments.map((shipment) => [shipment.id, shipment]));
      for (const [id, version] of known.versions) expect(byId.get(id)?.version).toBeGreaterThanOrEqual(version);
      for (const [id, ids] of known.milestones) {
        const listed = new Set(before.milestones[id]?.map((milestone) => milestone.id));
        expect([...ids].filter((milestone) => !listed.has(milestone))).toEqual([]);
      }
      expect(new Set(before.shipments.map((shipment) => shipment.external_id)).size).toBe(before.shipments.length);

      await runCliProcessForOutput(dataDir, 'read-models', 'rebuild');
      expect(await read()).toEqual(before);
      expect(JSON.parse(await runCliProcessForOutput(dataDir, 'parked', 'list', '--json'))).toEqual({ data: [] });
      await server.stop();
    });
  }, 240_000);
});
