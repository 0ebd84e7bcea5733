import { jest } from '@jest/globals';
import type { EventEnvelope, Shipment, ShipmentException } from '@tracking/contracts';
import { eventually } from '@tracking/testing';
import {
  listAllItems,
  createTestApiClient,
  createKey,
  startStandaloneProcess,
  withTemporaryFolder,
  type StandaloneProcess,
} from './standalone-process.ts';

jest.setTimeout(180_000);

const SHIPMENTS = 600;
const HOUR_MS = 3_600_000;
const PATIENT = { deadlineMs: 60_000 };
/** The clock is two hours ahead, as after a downtime. */
const LATER = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  NODE_OPTIONS: `--import ${new URL(`stepping-clock.mjs?ahead=${2 * HOUR_MS}`, import.meta.url).href}`,
};

/** Number of shipments that a process has checked because of time. */
async function checked({ managementUrl }: StandaloneProcess): Promise<number> {
  const { data } = await createTestApiClient(managementUrl, 'none').get<string>('/metrics');
  return Number(/^clock_checks_total\{outcome="checked"[^}]*\} (\d+)$/m.exec(data)?.[1] ?? 0);
}

/** Planned departures from half a day ago, and up to an hour later. */
async function create(folder: string, key: string): Promise<void> {
  const server = await startStandaloneProcess(folder, { RATE_LIMIT_PER_MINUTE: '1000000' });
  const api = createTestApiClient(server.url, key);
  for (let first = 0; first < SHIPMENTS; first += 300) {
    const shipments = Array.from({ length: 300 }, (_, n) => ({
      external_id: `PO-${first + n}`,
      mode: 'ocean',
      etd: new Date(Date.now() - (11 * HOUR_MS + (first + n) * 1_000)).toISOString(),
    }));
    const { data } = await api.post<{ data: { status: number }[] }>('/v1/shipments/bulk', { shipments });
    expect(data.data.every(({ status }) => status === 201)).toBe(true);
  }
  await server.stop();
}

describe('many exceptions that became due during a downtime', () => {
  it('open once each, although the process is killed repeatedly', () =>
    withTemporaryFolder(async (folder) => {
      const key = await createKey(folder);
      await create(folder, key);
      let left = SHIPMENTS;
      for (const enough of [1, 40, 80]) {
        const server = await startStandaloneProcess(folder, LATER);
        let done = 0;
        const hasBegun = eventually(async () => {
          done = await checked(server);
          expect(done).toBeGreaterThanOrEqual(enough);
        }, PATIENT);
        await hasBegun.finally(() => server.stop('SIGKILL'));
        left -= done;
      }
      // The process was killed before all shipments were checked.
      expect(left).toBeGreaterThan(0);

      const server = await startStandaloneProcess(folder, LATER);
      const api = createTestApiClient(server.url, key);
      const opened = () => listAllItems<EventEnvelope>(api, '/v1/events?type=exception.opened');
      await eventually(async () => expect((await opened()).length).toBeGreaterThanOrEqual(SHIPMENTS), PATIENT);
      const shipments = await listAllItems<Shipment>(api, '/v1/shipments');
      expect(shipments.map(({ open_exceptions_count }) => open_exceptions_count)).toEqual(shipments.map(() => 1));
      const exceptions = (await opened()).map(({ data }) => data['exception'] as unknown as ShipmentException);
      expect(exceptions.map(({ shipment_id }) => shipment_id).sort()).toEqual(shipments.map(({ id }) => id).sort());
      expect(new Set(exceptions.map(({ type }) => type))).toEqual(new Set(['departure_overdue']));
      await server.stop();
    }));
});
