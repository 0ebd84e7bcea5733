import { randomUUID } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS } from '@tracking/contracts';
import { EmbeddedEngine } from '@tracking/embedded';
import { loadPlaces } from '@tracking/places';
import { Shipments } from '@tracking/shipments';
import { noMetrics, silentLogger } from '@tracking/testing';

/** Shipments that are being written at once. */
const AT_ONCE = 256;
const ACTOR = { type: 'service_account', id: 'sva_bench' } as const;
const HOUR_MS = 3_600_000;
/** After the ETD, when a departure is overdue. */
export const OVERDUE_MS = 12 * HOUR_MS;

interface WaitingShipments {
  readonly count: number;
  readonly workspace_id: string;
  /** Beginning of their references. */
  readonly prefix: string;
  /** When the rules of the n-th are to be checked, in epoch milliseconds. */
  readonly dueAt: (n: number) => number;
}

/** Fills the event store of a data folder by the commands themselves, as of two hours ago; answers after how many seconds. */
export async function buildWaiting(dataDir: string, waiting: WaitingShipments): Promise<number> {
  const engine = await EmbeddedEngine.open({ dataDir, logger: silentLogger, metrics: noMetrics });
  const shipments = new Shipments({
    eventStore: engine.eventStore,
    places: await loadPlaces({}),
    settings: { of: async () => DEFAULT_RULE_SETTINGS },
    logger: silentLogger,
    metrics: noMetrics,
    limits: { cache: { shipments: 2_000, bytes: 64 * 1024 * 1024 } },
  });
  const { count, workspace_id, prefix, dueAt } = waiting;
  const at = new Date(Date.now() - 2 * HOUR_MS).toISOString();
  const began = performance.now();
  let next = 0;
  const writer = async () => {
    while (next < count) {
      const n = next++;
      const etd = new Date(dueAt(n) - OVERDUE_MS).toISOString();
      await shipments.upsertShipment({
        ...{ id: randomUUID(), at, workspace_id, environment: 'live', actor: ACTOR },
        ...{ request_id: 'req_bench', traceparent: null, strict: false },
        fields: { external_id: `${prefix}-${n}`, mode: 'ocean', carrier_scac: 'MAEU', house_bill: `HBL${n}`, etd },
      });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, writer));
    return (performance.now() - began) / 1_000;
  } finally {
    await engine.close();
  }
}
