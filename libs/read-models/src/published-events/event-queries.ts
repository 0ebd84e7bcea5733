import { type EventType, type WorkspaceScope, type Timestamp, isResourceInScope } from '@tracking/contracts';
import { type Collection, type Filter, type Position, UnavailableError } from '@tracking/ports';
import { toShipmentStreamName } from '@tracking/shipments-domain';
import { type HandledPosition, toHandledPositionAfterLateEvents, toLogPosition } from '@tracking/subscriptions';
import type { ActiveGenerationSelector } from '../active-rows.ts';
import { createScopeFilter, type QueryPage, type SortValues, toShardKeyValuesOfScope } from '../read-model.ts';
import type { PublishedEventRow } from './published-event-rows.ts';

export interface EventListQuery {
  readonly filter: {
    /** Event types to include; all types if absent. */
    readonly type?: readonly EventType[] | undefined;
    readonly shipment_id?: string | undefined;
    /** Bounds of `created_at`, both inclusive. */
    readonly since?: Timestamp | undefined;
    readonly until?: Timestamp | undefined;
    /** Id of the event after which the list starts. If the event does not exist, the list is empty. */
    readonly after?: string | undefined;
    /** Event store position of the last event that the list may include. */
    readonly upTo?: Position | undefined;
  };
  /** Maximum number of events, at least 1. */
  readonly limit: number;
  /** Value of `next` from the previous page with the same filter and order. */
  readonly after?: SortValues | undefined;
  /** True to list the newest events first. Defaults to oldest first. */
  readonly newestFirst?: boolean;
}

type PositionRange = { readonly gt: HandledPosition; readonly lt?: HandledPosition; readonly lte?: HandledPosition };

/**
 * Maximum milliseconds between the `created_at` of an event and its storage; `imported` rows are exempt. Clients can
 * repeat a command for 24 h under its `Idempotency-Key`, and the command keeps its first time. Clocks of replicas also
 * differ slightly.
 */
const MAX_EVENT_STORAGE_DELAY_MS = 25 * 3_600_000;

/** A range of positions in the log, read from the oldest event on. */
export interface LogRange {
  /** Position before the range, exclusive; empty to start at the beginning of the log. */
  readonly after: HandledPosition;
  /** Inclusive upper bound. */
  readonly upTo: HandledPosition;
  /** Maximum number of events, at least 1. */
  readonly limit: number;
}

/** Queries of public events and of the references from which they are built. They do not return expired events. */
export class EventQueries {
  constructor(private readonly active: ActiveGenerationSelector<PublishedEventRow>) {}

  /**
   * Lists events in the order of publication, which is close to the order of `created_at`, or in reverse order. A page
   * ends at the position that the rows have reached when it is read, so a reader that continues after its last event
   * misses none.
   * @throws UnavailableError, also if `upTo` is not reached yet
   * @throws BusyError
   */
  listEvents(
    scope: WorkspaceScope,
    { filter, limit, after, newestFirst = false }: EventListQuery,
  ): Promise<QueryPage<PublishedEventRow>> {
    return this.readFromOneGeneration(async (rows) => {
      const reached = await this.active.progress.readCurrentHandledPosition();
      if (filter.upTo !== undefined && !(reached !== undefined && reached >= filter.upTo))
        throw createPositionNotReachedError();
      if (reached === undefined) return { items: [], next: undefined };
      const since = chooseLaterTimestamp(filter.since, this.active.getRetentionStart());
      const bounded = { ...filter, since, reached };
      const range = await this.determinePositionRangeOfEventPage(rows, scope, bounded, newestFirst ? undefined : after);
      if (range === undefined) return { items: [], next: undefined };
      // Events older than the previous page are also below the ceiling.
      const position = newestFirst && after !== undefined ? { ...range, lt: String(after[0]) } : range;
      const found = await readPublishedEventPage(rows, scope, {
        ...filter,
        since,
        position,
        limit: limit + 1,
        newestFirst,
      });
      const items = found.slice(0, limit);
      const last = items[items.length - 1];
      return {
        items,
        next: last && found.length > limit ? [last.position] : undefined,
      };
    });
  }

  /** @throws UnavailableError */
  async getEvent(scope: WorkspaceScope, id: string): Promise<PublishedEventRow | undefined> {
    return this.findEvent(await this.active.openActiveGenerationRows(), scope, id);
  }

  /** Returns those events of the given ids that belong to the scope. @throws UnavailableError */
  async getEvents(scope: WorkspaceScope, ids: readonly string[]): Promise<readonly PublishedEventRow[]> {
    const found = await (await this.active.openActiveGenerationRows()).getMany(ids, toShardKeyValuesOfScope(scope));
    return found.filter((row) => isResourceInScope(row, scope) && this.isEventRetained(row));
  }

  /** Returns the scope's last event at or before the position. @throws UnavailableError, BusyError */
  async findNewestEvent(scope: WorkspaceScope, upTo: HandledPosition): Promise<PublishedEventRow | undefined> {
    const rows = await this.active.openActiveGenerationRows();
    const filter = { ...createScopeFilter(scope), position: { lte: upTo } };
    const [last] = await rows.find({ filter, sort: { fields: ['position'], descending: true }, limit: 1 });
    return last && this.isEventRetained(last) ? last : undefined;
  }

  /**
   * Returns the scope's events that match the filter.
   * @throws UnavailableError, also if the rows have not reached `upTo`; BusyError
   */
  readMatchingEventsInRange(
    scope: WorkspaceScope,
    filter: Pick<EventListQuery['filter'], 'type' | 'shipment_id'>,
    { after, upTo, limit }: LogRange,
  ): Promise<readonly PublishedEventRow[]> {
    return this.readRowsIncludingEvent(upTo, (rows) => {
      const since = this.active.getRetentionStart();
      return readPublishedEventPage(rows, scope, { ...filter, since, position: { gt: after, lte: upTo }, limit });
    });
  }

  /** Returns events of all scopes. @throws UnavailableError, also if the rows have not reached `upTo`; BusyError */
  readEventsOfAllScopes({ after, upTo, limit }: LogRange): Promise<readonly PublishedEventRow[]> {
    return this.readRowsIncludingEvent(upTo, (rows) => {
      const filter = {
        position: { gt: after, lte: upTo },
        ...createCreatedAtFilter(this.active.getRetentionStart(), undefined),
      };
      return rows.find({ filter, sort: { fields: ['position'] }, limit });
    });
  }

  private async readRowsIncludingEvent<T>(
    positionOfEvent: HandledPosition,
    read: (rows: Collection<PublishedEventRow>) => Promise<T>,
  ): Promise<T> {
    const found = await this.readFromOneGeneration(read);
    // With an outdated pointer, the rows may be of a generation that does not contain the event yet.
    // Events that were handled late have their original log positions in the next generation.
    const reached = this.active.progress.getHandledPosition();
    if (reached === undefined || reached < toLogPosition(positionOfEvent)) throw createPositionNotReachedError();
    return found;
  }

  /**
   * Reads from the active generation. If the generation was replaced during the read, its rows may have been dropped,
   * so the read is repeated.
   */
  private async readFromOneGeneration<T>(read: (rows: Collection<PublishedEventRow>) => Promise<T>): Promise<T> {
    for (;;) {
      const rows = await this.active.openActiveGenerationRows();
      const found = await read(rows);
      if ((await this.active.openActiveGenerationRows()) === rows) return found;
    }
  }

  private async findEvent(rows: Collection<PublishedEventRow>, scope: WorkspaceScope, id: string) {
    const row = await rows.get(id, toShardKeyValuesOfScope(scope));
    return row && isResourceInScope(row, scope) && this.isEventRetained(row) ? row : undefined;
  }

  private isEventRetained({ created_at }: PublishedEventRow): boolean {
    return created_at >= (this.active.getRetentionStart() ?? '');
  }

  /** Returns the range of positions that a page must read; undefined if the range is empty. */
  private async determinePositionRangeOfEventPage(
    rows: Collection<PublishedEventRow>,
    scope: WorkspaceScope,
    filter: EventListQuery['filter'] & { readonly reached: HandledPosition },
    after: SortValues | undefined,
  ): Promise<PositionRange | undefined> {
    const [named, { floor, ceiling }] = await Promise.all([
      filter.after === undefined ? '' : this.findEvent(rows, scope, filter.after).then((row) => row?.position),
      readPositionBoundsOfTimeRange(rows, scope, {
        // Every page except the first starts after this bound.
        since: after === undefined ? filter.since : undefined,
        until: filter.until,
      }),
    ]);
    if (named === undefined) return undefined;
    const gt = [named, floor, String(after?.[0] ?? '')].reduce((a, b) => (a > b ? a : b));
    const bounds = [ceiling, filter.upTo && toHandledPositionAfterLateEvents(filter.upTo), filter.reached];
    const lte = bounds.filter((each) => each !== undefined).sort()[0];
    return { gt, ...(lte !== undefined && { lte }) };
  }
}

function createPositionNotReachedError(): UnavailableError {
  return new UnavailableError('read models', 'events up to the requested position are not available yet; retry later');
}

/** Reads one page in the order of positions, or in reverse order. */
async function readPublishedEventPage(
  rows: Collection<PublishedEventRow>,
  scope: WorkspaceScope,
  {
    position,
    limit,
    newestFirst = false,
    ...filter
  }: EventListQuery['filter'] & Pick<EventListQuery, 'limit' | 'newestFirst'> & { readonly position: PositionRange },
): Promise<readonly PublishedEventRow[]> {
  const within = { ...createCreatedAtFilter(filter.since, filter.until), position };
  const sort = { fields: ['position'], descending: newestFirst };
  // The index is named, because the engine could choose the index of the whole scope for one shipment by mistake.
  const by = filter.shipment_id === undefined ? {} : { index: 'by_stream', shards: toShardKeyValuesOfScope(scope) };
  const find = (narrower: Filter) => rows.find({ filter: { ...narrower, ...within }, sort, limit, ...by });
  const pages = await Promise.all(createIndexRangeFilters(scope, filter).map(find));
  return pages
    .flat()
    .filter((row) => isResourceInScope(row, scope))
    .sort((a, b) => (newestFirst ? compareEventRowsByPosition(b, a) : compareEventRowsByPosition(a, b)))
    .slice(0, limit);
}

/**
 * Splits the filter into parts. Each part is one index range in list order, so that a page costs only the rows that it
 * contains.
 */
function createIndexRangeFilters(
  scope: WorkspaceScope,
  { type, shipment_id }: EventListQuery['filter'],
): readonly Filter[] {
  const types = type && [...new Set(type)];
  if (shipment_id !== undefined) {
    return [{ stream: toShipmentStreamName(shipment_id), ...(types && { type: { in: types } }) }];
  }
  return types ? types.map((each) => ({ ...createScopeFilter(scope), type: each })) : [createScopeFilter(scope)];
}

interface TimeBounds {
  readonly since: Timestamp | undefined;
  readonly until: Timestamp | undefined;
}

/**
 * Returns the positions between which events of the given times are stored. No event created at or after `since` is at
 * or before `floor`; no event created at or before `until` is after `ceiling`. Without these bounds, the first page
 * would scan all earlier events, and the last page all later events. The time of an `imported` row says nothing about
 * the rows before it.
 */
async function readPositionBoundsOfTimeRange(
  rows: Collection<PublishedEventRow>,
  scope: WorkspaceScope,
  { since, until }: TimeBounds,
): Promise<{ readonly floor: Position; readonly ceiling: Position | undefined }> {
  const [before, beyond, imported] = await Promise.all([
    since === undefined ? '' : findLastPositionBefore(rows, scope, since),
    until === undefined ? undefined : findPositionOfFirstEventBeyond(rows, scope, until),
    since === undefined && until === undefined ? '' : findLastImportedPosition(rows, scope),
  ]);
  const floor = before > imported ? before : '';
  return { floor, ceiling: beyond !== undefined && beyond < imported ? imported : beyond };
}

/**
 * Returns the position of the last event that was created so early that all events since `since` are stored after it.
 */
async function findLastPositionBefore(
  rows: Collection<PublishedEventRow>,
  scope: WorkspaceScope,
  since: Timestamp,
): Promise<Position> {
  const created_at = { lt: addMs(since, -MAX_EVENT_STORAGE_DELAY_MS) };
  const sort = { fields: ['created_at', 'position'], descending: true };
  const [last] = await rows.find({ filter: { ...createScopeFilter(scope), created_at }, sort, limit: 1 });
  return last?.position ?? '';
}

/**
 * Returns the position of the first event that was created so late that all events until `until` are stored before it.
 */
async function findPositionOfFirstEventBeyond(
  rows: Collection<PublishedEventRow>,
  scope: WorkspaceScope,
  until: Timestamp,
): Promise<Position | undefined> {
  const beyond = addMs(until, MAX_EVENT_STORAGE_DELAY_MS);
  // Timestamps after the year 9999 do not sort as text.
  if (beyond < until) return undefined;
  const created_at = { gt: beyond };
  const sort = { fields: ['created_at', 'position'] };
  const [first] = await rows.find({ filter: { ...createScopeFilter(scope), created_at }, sort, limit: 1 });
  return first?.position;
}

/**
 * Returns the position of the last imported event. Every event after it was stored within
 * {@link MAX_EVENT_STORAGE_DELAY_MS} of its creation.
 */
async function findLastImportedPosition(rows: Collection<PublishedEventRow>, scope: WorkspaceScope): Promise<Position> {
  const filter = { ...createScopeFilter(scope), imported: true };
  const [last] = await rows.find({ filter, sort: { fields: ['position'], descending: true }, limit: 1 });
  return last?.position ?? '';
}

function createCreatedAtFilter(since: Timestamp | undefined, until: Timestamp | undefined): Filter {
  if ((since ?? until) === undefined) return {};
  return { created_at: { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lte: until }) } };
}

function chooseLaterTimestamp(a: Timestamp | undefined, b: Timestamp | undefined): Timestamp | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}

function addMs(at: Timestamp, ms: number): Timestamp {
  return new Date(Date.parse(at) + ms).toISOString();
}

function compareEventRowsByPosition(a: PublishedEventRow, b: PublishedEventRow): number {
  return a.position < b.position ? -1 : 1;
}
