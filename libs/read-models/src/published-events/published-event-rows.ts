import { ENVIRONMENTS, type EventType, type Scope, type Timestamp } from '@tracking/contracts';
import {
  type Collection,
  type Counter,
  type Filter,
  type Leases,
  type Logger,
  type Metrics,
  retryCounter,
} from '@tracking/ports';
import { LeaderElectedJob, pause } from '@tracking/resilience';
import { announcementOf, type EventReference, publicEventId } from '@tracking/shipments-domain';
import type { HandledPosition } from '@tracking/subscriptions';
import type { ActiveRows } from '../active-rows.ts';
import { type ReadModel, type ReadModelRow, SCOPE_FIELDS, pickScope } from '../read-model.ts';

/** One public event: what it takes to find it, and to make it again. Never changes. */
export interface PublishedEventRow extends ReadModelRow, EventReference, Scope {
  readonly type: EventType;
  readonly created_at: Timestamp;
  /**
   * The order in which events are listed: the position of the stored event, or a place further on if it could not be
   * handled when its turn came.
   */
  readonly position: HandledPosition;
  /**
   * Set for an event that may stand long after events of later times: it came from another store, or could not be handled
   * when its turn came.
   */
  readonly imported?: true;
}

/** Every event that is published, one row each. */
export const publishedEventsModel: ReadModel<PublishedEventRow, 'published_events'> = {
  name: 'published_events',
  version: 2,
  indexes: [
    // With what a list may be narrowed by: events that it leaves out are passed over without a look at their rows.
    { name: 'by_position', fields: [...SCOPE_FIELDS, 'position', 'created_at'] },
    { name: 'by_type', fields: [...SCOPE_FIELDS, 'type', 'position', 'created_at'] },
    { name: 'by_stream', fields: ['stream', 'position'] },
    { name: 'by_time', fields: [...SCOPE_FIELDS, 'created_at', 'position'] },
    { name: 'imported', fields: [...SCOPE_FIELDS, 'imported', 'position'], only: 'imported' },
    // Of all scopes: for whoever follows the log.
    { name: 'in_order', fields: ['position'] },
  ],
  scoped: true,
  retainedFrom: ({ created_at }) => created_at,

  apply({ id, stream, position, place, event, scope }) {
    const announcement = announcementOf(event);
    if (announcement === undefined) return [];
    if (!scope) throw new Error('the stream does not begin with a shipment event');
    return [
      {
        id: publicEventId(id),
        ...pickScope(scope),
        type: announcement.type,
        created_at: event.metadata.recorded_at,
        stream,
        revision: event.revision,
        position: place ?? position,
        ...((event.metadata.imported === true || place !== undefined) && { imported: true as const }),
      },
    ];
  },
};

const DELETE_BATCH_SIZE = 200;
/** For each millisecond of work it rests so many: what is old is never in the way of what is new. */
const PAUSE_FACTOR = 4;
const DEFAULT_SWEEP_INTERVAL_MS = 1_800_000;

interface EventSweeperOptions {
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

  constructor(private readonly parts: EventSweeperOptions) {
    const { leases, logger, metrics, sweepEveryMs = DEFAULT_SWEEP_INTERVAL_MS } = parts;
    this.deleted = metrics.counter('published_events_deleted_total', 'Published events at the end of their retention');
    this.job = new LeaderElectedJob({
      leases,
      lease: 'published-events-sweeper',
      logger,
      countRetry: retryCounter(metrics),
      description: 'deleting old events',
      intervalMs: sweepEveryMs,
      round: (ending) => this.sweep(ending),
    });
  }

  private async sweep(ending: AbortSignal): Promise<void> {
    const rows = (await this.parts.active.rows()) as unknown as Collection<PublishedEventRow>;
    const before = this.parts.active.keptSince() ?? '';
    for await (const workspace_id of findWorkspaces(rows)) {
      for (const environment of ENVIRONMENTS) {
        await this.sweepScope(rows, { workspace_id, environment, created_at: { lt: before } }, ending);
      }
    }
  }

  private async sweepScope(rows: Collection<PublishedEventRow>, filter: Filter, ending: AbortSignal): Promise<void> {
    while (!ending.aborted) {
      const started = performance.now();
      const old = await rows.find({ filter, sort: { fields: ['created_at', 'position'] }, limit: DELETE_BATCH_SIZE });
      await rows.writeMany(old.map(({ id }) => ({ kind: 'delete', id })));
      if (old.length > 0) this.deleted.add(old.length);
      if (old.length < DELETE_BATCH_SIZE) return;
      await pause(PAUSE_FACTOR * (performance.now() - started), ending);
    }
  }
}

/** Found by skipping from one to the next along the index. */
async function* findWorkspaces(rows: Collection<PublishedEventRow>): AsyncIterable<string> {
  const sort = { fields: ['workspace_id', 'environment', 'created_at', 'position'] };
  for (let last = ''; ;) {
    const [next] = await rows.find({ filter: { workspace_id: { gt: last } }, sort, limit: 1 });
    if (next === undefined) return;
    last = next.workspace_id;
    yield last;
  }
}
