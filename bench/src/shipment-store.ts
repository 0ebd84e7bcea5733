import { randomUUID } from 'node:crypto';
import { DEFAULT_RULE_SETTINGS, EMPTY_MILESTONE_DETAILS, type Timestamp } from '@tracking/contracts';
import { EmbeddedSqliteEngine } from '@tracking/embedded';
import { loadPlaces } from '@tracking/places';
import type { EventStore } from '@tracking/ports';
import { EventSourcedShipmentService } from '@tracking/shipments';
import { noMetrics, silentLogger } from '@tracking/testing';
import { journey } from './realistic-shipments.ts';

/** Number of shipments that are written concurrently. */
const CONCURRENCY = 256;
const ACTOR = { type: 'service_account', id: 'sva_bench' } as const;

interface BuiltStore {
  readonly shipments: number;
  readonly milestones: number;
  readonly seconds: number;
}

/** Number of workspaces beside the measured one: twenty in total. */
export function otherWorkspaceIds(own: string): readonly string[] {
  return [own, ...Array.from({ length: 19 }, (_, k) => `wsp_bench${k}`)];
}

/** Workspaces by size: the k-th has a share of 1/k, so the largest of twenty has 28 %. */
export function workspaceOf(n: number, workspaces: readonly string[]): string {
  const shares = workspaces.map((_, k) => 1 / (k + 1));
  const all = shares.reduce((sum, share) => sum + share, 0);
  // Spreads the numbers over the year, so that neighbours belong to different workspaces.
  let place = ((n * 0.618_033_988_75) % 1) * all;
  return workspaces[shares.findIndex((share) => (place -= share) < 0)] ?? (workspaces[0] as string);
}

/**
 * Fills the event store of a data folder through the commands, without HTTP; returns undefined if it is already filled.
 */
export async function buildStore(
  dataDir: string,
  total: number,
  workspaces: readonly string[],
): Promise<BuiltStore | undefined> {
  const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir, logger: silentLogger, metrics: noMetrics });
  try {
    if ((await engine.eventStore.head()) !== undefined) return undefined;
    return await fill(engine.eventStore, total, workspaces);
  } finally {
    await engine.closeEngine();
  }
}

export async function fill(eventStore: EventStore, total: number, workspaces: readonly string[]): Promise<BuiltStore> {
  const places = await loadPlaces({});
  const cache = { shipments: 2_000, bytes: 64 * 1024 * 1024 };
  const shipments = new EventSourcedShipmentService({
    eventStore,
    places,
    settings: { getCachedSettings: async () => DEFAULT_RULE_SETTINGS },
    logger: silentLogger,
    metrics: noMetrics,
    // No limit for slow machines, because no client waits.
    limits: { cache, deadlineMs: 600_000, silenceMs: 600_000 },
  });
  const now = Date.now();
  const began = performance.now();
  let next = 0;
  let milestones = 0;
  const writer = async () => {
    while (next < total) {
      const n = next++;
      const workspace_id = workspaceOf(n, workspaces);
      const command = (at: Timestamp) => ({
        ...{ id: randomUUID(), at, workspace_id, environment: 'live' as const, actor: ACTOR },
        ...{ request_id: 'req_bench', traceparent: null, strict: false },
      });
      const made = journey(n, total, now);
      const { answer } = await shipments.upsertShipment({
        ...command(made.at),
        fields: made.fields,
      });
      const shipment_id = answer.shipment.id;
      milestones += made.milestones.length;
      await Promise.all(
        made.milestones.map((milestone) =>
          shipments.recordMilestone({
            ...command(new Date(Date.parse(milestone.occurred_at) + 60_000).toISOString()),
            shipment_id,
            milestone: { ...milestone, ...UNSET_MILESTONE_FIELDS },
          }),
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, writer));
  return { shipments: total, milestones, seconds: (performance.now() - began) / 1_000 };
}

const UNSET_MILESTONE_FIELDS = {
  classifier: 'actual',
  ...{ reason_code: null, external_id: null, container_number: null, vessel: null, voyage: null, note: null },
  timezone: null,
  ...EMPTY_MILESTONE_DETAILS,
  reported_at: null,
} as const;
