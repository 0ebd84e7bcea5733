import { ENVIRONMENTS, type EventType, type WorkspaceScope, type Timestamp } from '@tracking/contracts';
import {
  type Collection,
  type Counter,
  type LeaseSource,
  type Logger,
  type Metrics,
  createRetryCounter,
} from '@tracking/ports';
import { LeaderElectedJob, pauseFor } from '@tracking/resilience';
import { findPublicEventOfStoredEvent, type EventReference, toPublicEventId } from '@tracking/shipments-domain';
import type { HandledPosition } from '@tracking/subscriptions';
import type { ActiveGenerationSelector } from '../active-rows.ts';
import { type ReadModel, type ReadModelRow, SCOPE_FIELDS, pickScopeFields, createScopeFilter } from '../read-model.ts';

/** Row of one public event, with the fields for finding and building the event. Rows never change. */
export interface PublishedEventRow extends ReadModelRow, EventReference, WorkspaceScope {
  readonly type: EventType;
  readonly created_at: Timestamp;
  /**
   * Sort position of the event: the position of the stored event, or a later position if the event was handled late.
   */
  readonly position: HandledPosition;
  /** True for an imported event or an event that was handled late. Such an event can follow events with later times. */
  readonly imported?: true;
}

/** Read model of published events, one row per event. */
export const publishedEventsReadModel: ReadModel<PublishedEventRow, 'published_events'> = {
  name: 'published_events',
  version: 2,
  indexes: [
    // The index includes the filter fields, so that a scan skips non-matching events without reading their rows.
    { name: 'by_position', fields: [...SCOPE_FIELDS, 'position', 'created_at'] },
    { name: 'by_type', fields: [...SCOPE_FIELDS, 'type', 'position', 'created_at'] },
    { name: 'by_stream', fields: ['stream', 'position'] },
    { name: 'by_time', fields: [...SCOPE_FIELDS, 'created_at', 'position'] },
    { name: 'imported', fields: [...SCOPE_FIELDS, 'imported', 'position'], only: 'imported' },
    // Index for reading the log of all workspaces and environments in order.
    { name: 'in_order', fields: ['position'] },
  ],
  scoped: true,
  retainedFrom: ({ created_at }) => created_at,

  applyEventToRows({ id, stream, position, place, event, scope }) {
    const announcement = findPublicEventOfStoredEvent(event);
    if (announcement === undefined) return [];
    if (!scope) throw new Error('the stream does not begin with a shipment event');
    return [
      {
        id: toPublicEventId(id),
        ...pickScopeFields(scope),
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
/** Milliseconds of pause per millisecond of deleting, so that deletions do not delay new events. */
const PAUSE_MS_PER_DELETION_MS = 4;
const DEFAULT_PUBLISHED_EVENT_SWEEP_INTERVAL_MS = 1_800_000;

interface EventSweeperOptions {
  readonly active: Pick<ActiveGenerationSelector<ReadModelRow>, 'openActiveGenerationRows' | 'getRetentionStart'>;
  readonly sweepEveryMs?: number;
  readonly leases: LeaseSource;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Deletes rows of expired published events from the queried generation. */
export class EventSweeper {
  readonly job: LeaderElectedJob;
  private readonly deleted: Counter;

  constructor(private readonly parts: EventSweeperOptions) {
    const { leases, logger, metrics, sweepEveryMs = DEFAULT_PUBLISHED_EVENT_SWEEP_INTERVAL_MS } = parts;
    this.deleted = metrics.createCounter(
      'published_events_deleted_total',
      'Published events deleted at the end of their retention',
    );
    this.job = new LeaderElectedJob({
      leases,
      lease: 'published-events-sweeper',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'deleting old events',
      intervalMs: sweepEveryMs,
      runJobRound: (ending) => this.deleteExpiredRows(ending),
    });
  }

  private async deleteExpiredRows(ending: AbortSignal): Promise<void> {
    const rows = (await this.parts.active.openActiveGenerationRows()) as unknown as Collection<PublishedEventRow>;
    const before = this.parts.active.getRetentionStart() ?? '';
    for await (const workspace_id of listWorkspacesWithEvents(rows)) {
      for (const environment of ENVIRONMENTS) {
        await this.deleteOldEventsOfScope(rows, { workspace_id, environment }, before, ending);
      }
      if (ending.aborted) return;
    }
  }

  private async deleteOldEventsOfScope(
    rows: Collection<PublishedEventRow>,
    scope: WorkspaceScope,
    before: Timestamp,
    ending: AbortSignal,
  ): Promise<void> {
    const guard = createScopeFilter(scope);
    const filter = { ...guard, created_at: { lt: before } };
    while (!ending.aborted) {
      const started = performance.now();
      const old = await rows.find({ filter, sort: { fields: ['created_at', 'position'] }, limit: DELETE_BATCH_SIZE });
      await rows.writeMany(old.map(({ id }) => ({ kind: 'delete', id, guard })));
      if (old.length > 0) this.deleted.add(old.length);
      if (old.length < DELETE_BATCH_SIZE) return;
      await pauseFor(PAUSE_MS_PER_DELETION_MS * (performance.now() - started), ending);
    }
  }
}

/** Finds all workspaces with a search for each next workspace in the index. */
async function* listWorkspacesWithEvents(rows: Collection<PublishedEventRow>): AsyncIterable<string> {
  const sort = { fields: ['workspace_id', 'environment', 'created_at', 'position'] };
  for (let last = ''; ;) {
    const [next] = await rows.find({ filter: { workspace_id: { gt: last } }, sort, limit: 1 });
    if (next === undefined) return;
    last = next.workspace_id;
    yield last;
  }
}
