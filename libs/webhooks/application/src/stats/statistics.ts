import type { Timestamp } from '@tracking/contracts';
import type { Collection, DocumentStore } from '@tracking/ports';
import { type HourDocument, HOURS, RECOUNTS, type RecountDocument, Recounts } from './hour-document.ts';
import { HourLog, type HourLogParts } from './hour-log.ts';
import { StatsKeeper, type StatsKeeperParts } from './stats-keeper.ts';
import { StatsQueries } from './stats-queries.ts';

const DELETED_AT_ONCE = 200;
const HOUR_MS = 3_600_000;

export interface EndpointStatisticsParts extends HourLogParts, Omit<StatsKeeperParts, 'hours' | 'recounts' | 'log'> {
  readonly store: DocumentStore;
}

/** Statistics of endpoints: who counts, who answers, and who is to be told of what nobody counts. */
export interface EndpointStatistics {
  readonly keeper: StatsKeeper;
  readonly queries: StatsQueries;
  readonly recounts: Recounts;
  /** Deletes hours that were over by then. */
  forget(before: Timestamp): Promise<void>;
}

export async function openStatistics({ store, ...parts }: EndpointStatisticsParts): Promise<EndpointStatistics> {
  const [hours, documents] = await Promise.all([
    store.collection<HourDocument>(HOURS),
    store.collection<RecountDocument>(RECOUNTS),
  ]);
  const recounts = new Recounts(documents);
  return {
    keeper: new StatsKeeper({ ...parts, hours, recounts, log: new HourLog(parts) }),
    queries: new StatsQueries({ ...parts, hours, recounts: documents }),
    recounts,
    forget: (before) => forget(hours, before),
  };
}

/** One that begins before this is over by then. */
function hourBefore(at: Timestamp): Timestamp {
  return new Date(Date.parse(at) - HOUR_MS).toISOString();
}

async function forget(hours: Collection<HourDocument>, before: Timestamp): Promise<void> {
  for (;;) {
    const filter = { hour: { lt: hourBefore(before) } };
    const old = await hours.find({ filter, sort: { fields: ['hour', 'id'] }, limit: DELETED_AT_ONCE, index: 'hour' });
    if (old.length === 0) return;
    await hours.writeMany(old.map(({ id }) => ({ kind: 'delete', id })));
  }
}
