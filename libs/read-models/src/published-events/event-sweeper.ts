import { ENVIRONMENTS } from '@tracking/contracts';
import { retryCounter } from '@tracking/ports';
import type { Collection, Counter, Filter, Leases, Logger, Metrics } from '@tracking/ports';
import { LeaderElectedJob, pause } from '@tracking/resilience';
import type { ActiveRows } from '../active-rows.ts';
import type { ReadModelRow } from '../read-model.ts';
import type { PublishedEventRow } from './published-event-rows.ts';

const AT_ONCE = 200;
/** For each millisecond of work it rests so many: what is old is never in the way of what is new. */
const REST = 4;
const HALF_AN_HOUR_MS = 1_800_000;

export interface EventSweeperParts {
  readonly active: Pick<ActiveRows<ReadModelRow>, 'rows' | 'keptSince'>;
  readonly sweepEveryMs?: number;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Deletes the rows of published events that are over their retention, from the generation that is queried. */
export class EventSweeper {
  readonly job: LeaderElectedJob;
  private readonly deleted: Counter;

  constructor(private readonly parts: EventSweeperParts) {
    const { leases, logger, metrics, sweepEveryMs = HALF_AN_HOUR_MS } = parts;
    this.deleted = metrics.counter('published_events_deleted_total', 'Published events at the end of their retention');
    this.job = new LeaderElectedJob({
      leases,
      lease: 'published-events-sweeper',
      logger,
      countRetry: retryCounter(metrics),
      what: 'deleting old events',
      everyMs: sweepEveryMs,
      round: (ending) => this.sweep(ending),
    });
  }

  private async sweep(ending: AbortSignal): Promise<void> {
    const rows = (await this.parts.active.rows()) as unknown as Collection<PublishedEventRow>;
    const before = this.parts.active.keptSince() ?? '';
    for await (const workspace_id of workspacesOf(rows)) {
      for (const environment of ENVIRONMENTS) {
        await this.sweepScope(rows, { workspace_id, environment, created_at: { lt: before } }, ending);
      }
    }
  }

  private async sweepScope(rows: Collection<PublishedEventRow>, filter: Filter, ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const started = performance.now();
      const old = await rows.find({ filter, sort: { fields: ['created_at', 'position'] }, limit: AT_ONCE });
      await rows.writeMany(old.map(({ id }) => ({ kind: 'delete', id })));
      if (old.length > 0) this.deleted.add(old.length);
      if (old.length < AT_ONCE) return;
      await pause(REST * (performance.now() - started), ending);
    }
  }
}

/** Found by skipping from one to the next along the index. */
async function* workspacesOf(rows: Collection<PublishedEventRow>): AsyncIterable<string> {
  const sort = { fields: ['workspace_id', 'environment', 'created_at', 'position'] };
  for (let last = ''; ;) {
    const [next] = await rows.find({ filter: { workspace_id: { gt: last } }, sort, limit: 1 });
    if (next === undefined) return;
    last = next.workspace_id;
    yield last;
  }
}
