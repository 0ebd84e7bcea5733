import { randomUUID } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS } from '@tracking/contracts';
import { EmbeddedSqliteEngine } from '@tracking/embedded';
import { loadPlaces } from '@tracking/places';
import { EventSourcedShipmentService } from '@tracking/shipments';
import { noMetrics, silentLogger } from '@tracking/testing';

/** Number of shipments that are written concurrently. */
const CONCURRENCY = 256;
const ACTOR = { type: 'service_account', id: 'sva_bench' } as const;
const HOUR_MS = 3_600_000;
/** Time after the ETD at which a departure is overdue. */
export const OVERDUE_MS = 12 * HOUR_MS;

interface WaitingShipments {
  readonly count: number;
  readonly workspace_id: string;
  /** Prefix of the shipments' references. */
  readonly prefix: string;
  /** Returns the time at which the rules of the n-th shipment are due, in epoch milliseconds. */
  readonly dueAt: (n: number) => number;
}

/**
 * Fills the event store of a data folder through the commands, as of two hours ago. Returns the duration in seconds.
 */
export async function buildWaiting(dataDir: string, waiting: WaitingShipments): Promise<number> {
  const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics: noMetrics });
  const shipments = new EventSourcedShipmentService({
    eventStore: engine.eventStore,
    places: await loadPlaces({}),
    settings: { getCachedSettings: async () => DEFAULT_RULE_SETTINGS },
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
    await Promise.all(Array.from({ length: CONCURRENCY }, writer));
    return (performance.now() - began) / 1_000;
  } finally {
    await engine.closeEngine();
  }
}
