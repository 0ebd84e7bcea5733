import { type EventType, type Scope, type Timestamp, isInScope } from '@tracking/contracts';
import { type Collection, type Filter, type Position, Unavailable } from '@tracking/ports';
import { streamOf } from '@tracking/shipments-domain';
import { type HandledPosition, lastHandledPositionOf, logPositionOf } from '@tracking/subscriptions';
import type { ActiveRows } from '../active-rows.ts';
import { scopeFilter, type QueryPage, type SortValues } from '../read-model.ts';
import type { PublishedEventRow } from './published-event-rows.ts';

export interface EventListQuery {
  readonly filter: {
    /** Any of these; all of them where absent. */
    readonly type?: readonly EventType[] | undefined;
    readonly shipment_id?: string | undefined;
    /** Bounds of `created_at`, inclusive. */
    readonly since?: Timestamp | undefined;
    readonly until?: Timestamp | undefined;
    /** Id of an event: only those that come after it. None come after one that there is not. */
    readonly after?: string | undefined;
    /** Only those that were stored up to this position of the event store, included. */
    readonly upTo?: Position | undefined;
  };
  /** At least 1. */
  readonly limit: number;
  /** `next` of the page before, under the same filter and in the same order. */
  readonly after?: SortValues | undefined;
  /** Oldest first unless true. */
  readonly newestFirst?: boolean;
}

type PositionRange = { readonly gt: HandledPosition; readonly lt?: HandledPosition; readonly lte?: HandledPosition };

/**
 * An event is stored this long after its `created_at` at most, unless its row is `imported`: a command keeps its time for as
 * long as a client may repeat it under its `Idempotency-Key` (24 h), and the clocks of replicas differ a little.
 */
const MAX_STORE_DELAY_MS = 25 * 3_600_000;

/** A stretch of the log, oldest first. */
export interface LogRange {
  /** Everything later than this; all of it where it is empty. */
  readonly after: HandledPosition;
  /** This included. */
  readonly upTo: HandledPosition;
  /** At least 1. */
  readonly limit: number;
}

/** Which public events there are, and where they are made again from. What is over its retention is none any more. */
export class EventQueries {
  constructor(private readonly active: ActiveRows<PublishedEventRow>) {}

  /**
   * Lists events in the order of publication, which is nearly that of `created_at`, or in the reverse order. A page ends
   * at the place that the rows have reached when it is read, so a reader that continues after the last event it has seen
   * misses none.
   * @throws Unavailable, also if `upTo` is not reached yet
   * @throws Busy
   */
  list(
    scope: Scope,
    { filter, limit, after, newestFirst = false }: EventListQuery,
  ): Promise<QueryPage<PublishedEventRow>> {
    return this.readFromOneGeneration(async (rows) => {
      const reached = await this.active.progress.currentHandledPosition();
      if (filter.upTo !== undefined && !(reached !== undefined && reached >= filter.upTo)) throw notReachedError();
      if (reached === undefined) return { items: [], next: undefined };
      const since = laterTimestamp(filter.since, this.active.keptSince());
      const bounded = { ...filter, since, reached };
      const range = await this.positionRange(rows, scope, bounded, newestFirst ? undefined : after);
      if (range === undefined) return { items: [], next: undefined };
      // Everything before the previous page is below the ceiling too.
      const position = newestFirst && after !== undefined ? { ...range, lt: String(after[0]) } : range;
      const found = await readPage(rows, scope, { ...filter, since, position, limit: limit + 1, newestFirst });
      const items = found.slice(0, limit);
      const last = items[items.length - 1];
      return {
        items,
        next: last && found.length > limit ? [last.position] : undefined,
      };
    });
  }

  /** @throws Unavailable */
  async get(scope: Scope, id: string): Promise<PublishedEventRow | undefined> {
    return this.find(await this.active.rows(), scope, id);
  }

  /** Those of the ids that the scope has. @throws Unavailable */
  async getMany(scope: Scope, ids: readonly string[]): Promise<readonly PublishedEventRow[]> {
    const found = await (await this.active.rows()).getMany(ids);
    return found.filter((row) => isInScope(row, scope) && this.isRetained(row));
  }

  /** The last event of the scope up to the place. @throws Unavailable, Busy */
  async newestEvent(scope: Scope, upTo: HandledPosition): Promise<PublishedEventRow | undefined> {
    const rows = await this.active.rows();
    const filter = { ...scopeFilter(scope), position: { lte: upTo } };
    const [last] = await rows.find({ filter, sort: { fields: ['position'], descending: true }, limit: 1 });
    return last && this.isRetained(last) ? last : undefined;
  }

  /** Events of the scope that match. @throws Unavailable, also if the rows have not reached `upTo`; Busy */
  readRange(
    scope: Scope,
    filter: Pick<EventListQuery['filter'], 'type' | 'shipment_id'>,
    { after, upTo, limit }: LogRange,
  ): Promise<readonly PublishedEventRow[]> {
    return this.readUpTo(upTo, (rows) => {
      const since = this.active.keptSince();
      return readPage(rows, scope, { ...filter, since, position: { gt: after, lte: upTo }, limit });
    });
  }

  /** Events of all scopes. @throws Unavailable, also if the rows have not reached `upTo`; Busy */
  readRangeOfAllScopes({ after, upTo, limit }: LogRange): Promise<readonly PublishedEventRow[]> {
    return this.readUpTo(upTo, (rows) => {
      const filter = { position: { gt: after, lte: upTo }, ...createdAtFilter(this.active.keptSince(), undefined) };
      return rows.find({ filter, sort: { fields: ['position'] }, limit });
    });
  }

  private async readUpTo<T>(
    positionOfEvent: HandledPosition,
    read: (rows: Collection<PublishedEventRow>) => Promise<T>,
  ): Promise<T> {
    const found = await this.readFromOneGeneration(read);
    // A process that heard late of a new generation may have gone over to one that is not as far. Events that the
    // former one placed late stand at their positions there.
    const reached = this.active.progress.handledPosition();
    if (reached === undefined || reached < logPositionOf(positionOfEvent)) throw notReachedError();
    return found;
  }

  /** Reads again where the generation was replaced meanwhile: it may have been dropped under the reading. */
  private async readFromOneGeneration<T>(read: (rows: Collection<PublishedEventRow>) => Promise<T>): Promise<T> {
    for (;;) {
      const rows = await this.active.rows();
      const found = await read(rows);
      if ((await this.active.rows()) === rows) return found;
    }
  }

  private async find(rows: Collection<PublishedEventRow>, scope: Scope, id: string) {
    const row = await rows.get(id);
    return row && isInScope(row, scope) && this.isRetained(row) ? row : undefined;
  }

  private isRetained({ created_at }: PublishedEventRow): boolean {
    return created_at >= (this.active.keptSince() ?? '');
  }

  /** The positions to look at; undefined for none. */
  private async positionRange(
    rows: Collection<PublishedEventRow>,
    scope: Scope,
    filter: EventListQuery['filter'] & { readonly reached: HandledPosition },
    after: SortValues | undefined,
  ): Promise<PositionRange | undefined> {
    const [named, { floor, ceiling }] = await Promise.all([
      filter.after === undefined ? '' : this.find(rows, scope, filter.after).then((row) => row?.position),
      positionBounds(rows, scope, {
        // The page before has passed it already.
        since: after === undefined ? filter.since : undefined,
        until: filter.until,
      }),
    ]);
    if (named === undefined) return undefined;
    const gt = [named, floor, String(after?.[0] ?? '')].reduce((a, b) => (a > b ? a : b));
    const bounds = [ceiling, filter.upTo && lastHandledPositionOf(filter.upTo), filter.reached];
    const lte = bounds.filter((each) => each !== undefined).sort()[0];
    return { gt, ...(lte !== undefined && { lte }) };
  }
}

function notReachedError(): Unavailable {
  return new Unavailable('read models', 'events may be lacking');
}

/** In the order of positions, or the other way round. */
async function readPage(
  rows: Collection<PublishedEventRow>,
  scope: Scope,
  {
    position,
    limit,
    newestFirst = false,
    ...filter
  }: EventListQuery['filter'] & Pick<EventListQuery, 'limit' | 'newestFirst'> & { readonly position: PositionRange },
): Promise<readonly PublishedEventRow[]> {
  const within = { ...createdAtFilter(filter.since, filter.until), position };
  const sort = { fields: ['position'], descending: newestFirst };
  const find = (narrower: Filter) => rows.find({ filter: { ...narrower, ...within }, sort, limit });
  const pages = await Promise.all(indexFilters(scope, filter).map(find));
  return pages
    .flat()
    .filter((row) => isInScope(row, scope))
    .sort((a, b) => (newestFirst ? comparePositions(b, a) : comparePositions(a, b)))
    .slice(0, limit);
}

/** The filters of which each is one range of an index in the list's order, so that a page costs what it holds. */
function indexFilters(scope: Scope, { type, shipment_id }: EventListQuery['filter']): readonly Filter[] {
  const types = type && [...new Set(type)];
  // A shipment is of one scope; named here, it would lure the engine to the range of the whole scope.
  if (shipment_id !== undefined) {
    return [{ stream: streamOf(shipment_id), ...(types && { type: { in: types } }) }];
  }
  return types ? types.map((each) => ({ ...scopeFilter(scope), type: each })) : [scopeFilter(scope)];
}

interface TimeBounds {
  readonly since: Timestamp | undefined;
  readonly until: Timestamp | undefined;
}

/**
 * Between which positions events of these times are: none that was created at `since` or later is at `floor` or before it,
 * none that was created at `until` or before is beyond `ceiling`. Lists are in the order of positions: without them the
 * first page would look through everything that was ever published before, the last one through everything after. Of
 * rows that are `imported`, and of what stands before them, the time of one says nothing of the others'.
 */
async function positionBounds(
  rows: Collection<PublishedEventRow>,
  scope: Scope,
  { since, until }: TimeBounds,
): Promise<{ readonly floor: Position; readonly ceiling: Position | undefined }> {
  const [before, beyond, imported] = await Promise.all([
    since === undefined ? '' : lastPositionBefore(rows, scope, since),
    until === undefined ? undefined : firstPositionAfter(rows, scope, until),
    since === undefined && until === undefined ? '' : lastImportedPosition(rows, scope),
  ]);
  const floor = before > imported ? before : '';
  return { floor, ceiling: beyond !== undefined && beyond < imported ? imported : beyond };
}

/** Where the last event is that was created so long before that none later is before it. */
async function lastPositionBefore(
  rows: Collection<PublishedEventRow>,
  scope: Scope,
  since: Timestamp,
): Promise<Position> {
  const created_at = { lt: addMs(since, -MAX_STORE_DELAY_MS) };
  const sort = { fields: ['created_at', 'position'], descending: true };
  const [last] = await rows.find({ filter: { ...scopeFilter(scope), created_at }, sort, limit: 1 });
  return last?.position ?? '';
}

/** Where the first event is that was created so long after that none earlier is beyond it. */
async function firstPositionAfter(
  rows: Collection<PublishedEventRow>,
  scope: Scope,
  until: Timestamp,
): Promise<Position | undefined> {
  const beyond = addMs(until, MAX_STORE_DELAY_MS);
  // Past the year 9999 the text of a time is no measure any more.
  if (beyond < until) return undefined;
  const created_at = { gt: beyond };
  const sort = { fields: ['created_at', 'position'] };
  const [first] = await rows.find({ filter: { ...scopeFilter(scope), created_at }, sort, limit: 1 });
  return first?.position;
}

/** Where the last imported event is; whatever follows it was stored within {@link MAX_STORE_DELAY_MS}. */
async function lastImportedPosition(rows: Collection<PublishedEventRow>, scope: Scope): Promise<Position> {
  const filter = { ...scopeFilter(scope), imported: true };
  const [last] = await rows.find({ filter, sort: { fields: ['position'], descending: true }, limit: 1 });
  return last?.position ?? '';
}

function createdAtFilter(since: Timestamp | undefined, until: Timestamp | undefined): Filter {
  if ((since ?? until) === undefined) return {};
  return { created_at: { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lte: until }) } };
}

function laterTimestamp(a: Timestamp | undefined, b: Timestamp | undefined): Timestamp | undefined {
  return a === undefined || (b !== undefined && b > a) ? b : a;
}

function addMs(at: Timestamp, ms: number): Timestamp {
  return new Date(Date.parse(at) + ms).toISOString();
}

function comparePositions(a: PublishedEventRow, b: PublishedEventRow): number {
  return a.position < b.position ? -1 : 1;
}
