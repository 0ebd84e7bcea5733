import { setImmediate } from 'node:timers/promises';
import { collectScopeFieldValues, type WorkspaceScope, type Timestamp } from '@tracking/contracts';
import {
  type Collection,
  type CollectionWrite,
  type Counter,
  type CountRetry,
  type EventStore,
  type Gauge,
  type Histogram,
  type Metrics,
  createRetryCounter,
  type StoredEvent,
} from '@tracking/ports';
import { type ShipmentEvent, upcastStoredShipmentEvent } from '@tracking/shipments-domain';
import type { EventFailure, EventHandler, HandledEvent, SubscriptionMetrics } from '@tracking/subscriptions';
import { LRUCache } from 'lru-cache';
import type { ProjectedEvent, ReadModel, ReadModelRow } from './read-model.ts';
import type { CachedRowsById } from './row-cache.ts';

/** Number of events that the projector folds before it yields to the event loop. They take a few milliseconds. */
const MAX_EVENTS_BETWEEN_YIELDS = 200;
/** Maximum number of rows per read. A row can have up to 1 MB. */
const MAX_ROWS_PER_READ = 32;
/**
 * Total weight of the rows in memory at which the projector writes and drops them. One unit is about 1,000 characters.
 */
const MAX_ROW_WEIGHT_IN_PROJECTOR_MEMORY = 4_000;

interface BatchProjectorOptions {
  readonly model: ReadModel;
  readonly rows: Collection<ReadModelRow>;
  /** Writes the rows; by default, `rows` does. */
  readonly writer?: Pick<Collection<ReadModelRow>, 'writeMany'>;
  readonly cache: CachedRowsById;
  readonly scopes: WorkspaceScopeOfStreamCache;
  /** Returns the time before which rows have expired; undefined if rows do not expire. */
  readonly retainedSince?: () => Timestamp | undefined;
}

interface DecodedEvent {
  readonly stored: StoredEvent;
  readonly projected: ProjectedEvent;
  /** Ids of the rows that the projection of the event reads. */
  readonly reads: readonly string[];
}

/**
 * Folds events into rows. Projecting is idempotent: the same events always produce the same rows, and a row is written
 * only over an older revision.
 */
export class BatchProjector implements EventHandler {
  constructor(private readonly parts: BatchProjectorOptions) {}

  /** Projects the events. Resolves when the rows of all streams without a failed event are written. */
  async handleEventBatchOfPartition(events: readonly HandledEvent[]): Promise<readonly EventFailure[]> {
    const { model } = this.parts;
    const failures = new Map<string, EventFailure>();
    const decoded = await this.upgradeEventsToNewestVersion(events, failures);
    const retainedSince = model.retainedFrom && this.parts.retainedSince?.();
    const isKept = (after: ReadModelRow) => retainedSince === undefined || model.retainedFrom!(after) >= retainedSince;
    const rows = new ProjectedRowBuffer(this.parts);
    for (const [index, { stored, projected, reads }] of decoded.entries()) {
      if (index % MAX_EVENTS_BETWEEN_YIELDS === MAX_EVENTS_BETWEEN_YIELDS - 1) await setImmediate();
      const failure = failures.get(stored.stream);
      if (failure && failure.event.revision < stored.revision) continue;
      if (!rows.hasBufferedAllRows(reads)) await rows.readMissingRows(decoded.slice(index));
      try {
        for (const after of model.applyEventToRows(projected, rows.get).filter(isKept)) rows.bufferChangedRow(after);
      } catch (error) {
        failures.set(stored.stream, { event: stored, error });
      }
      if (rows.weight > MAX_ROW_WEIGHT_IN_PROJECTOR_MEMORY) await rows.writeChangedRows();
    }
    await rows.writeChangedRows();
    return [...failures.values()];
  }

  /** Decodes the events to their newest version. After an event that fails, the rest of its stream is skipped. */
  private async upgradeEventsToNewestVersion(
    events: readonly HandledEvent[],
    failures: Map<string, EventFailure>,
  ): Promise<readonly DecodedEvent[]> {
    const { model, scopes } = this.parts;
    const scopeOf = model.scoped ? await scopes.readScopesOfStreams(events) : undefined;
    const decoded: DecodedEvent[] = [];
    for (const stored of events) {
      if (failures.has(stored.stream)) continue;
      try {
        const { id, stream, position, handledPosition: place } = stored;
        const projected = { id, stream, position, place, scope: scopeOf?.get(stream), event: decodeEvent(stored) };
        decoded.push({ stored, projected, reads: model.listRowIdsNeededToProjectEvent?.(projected) ?? [] });
      } catch (error) {
        failures.set(stored.stream, { event: stored, error });
      }
    }
    return decoded;
  }
}

/** Decoded events. The read models of a process receive the same objects from the event store. */
const decodedEventCache = new WeakMap<StoredEvent, ShipmentEvent>();

/** Returns the event in its newest version. @throws if the event cannot be decoded */
function decodeEvent(stored: StoredEvent): ShipmentEvent {
  const known = decodedEventCache.get(stored);
  if (known !== undefined) return known;
  const event = upcastStoredShipmentEvent(stored);
  decodedEventCache.set(stored, event);
  return event;
}

/** Buffer for the rows that events read and change, until the rows are written. */
class ProjectedRowBuffer {
  /** Total weight of the rows read or changed since the last write. */
  weight = 0;
  private readonly present = new Map<string, ReadModelRow>();
  private readonly changed = new Map<string, ReadModelRow>();
  /** Ids of the rows that were read or searched for, including ids without a row. */
  private readonly known = new Set<string>();
  private readonly weights = new Map<string, number>();

  constructor(private readonly parts: BatchProjectorOptions) {}

  readonly get = (id: string): ReadModelRow | undefined => this.changed.get(id) ?? this.present.get(id);

  bufferChangedRow(row: ReadModelRow): void {
    this.changed.set(row.id, row);
    this.updateCachedRowWeight(row);
  }

  hasBufferedAllRows(ids: readonly string[]): boolean {
    return ids.every((id) => this.known.has(id));
  }

  /** Reads the rows that the first event needs. Fills the read up to its maximum with rows that later events need. */
  async readMissingRows(events: readonly DecodedEvent[]): Promise<void> {
    const missing = new Set<string>();
    const scopes: WorkspaceScope[] = [];
    for (const [at, { reads, projected }] of events.entries()) {
      for (const id of reads) {
        if (at > 0 && missing.size >= MAX_ROWS_PER_READ) break;
        if (this.isRowInMemoryOrCache(id)) continue;
        missing.add(id);
        if (projected.scope !== undefined) scopes.push(projected.scope);
      }
    }
    if (missing.size === 0) return;
    const { rows, model } = this.parts;
    for (const row of await rows.getMany([...missing], model.scoped ? collectScopeFieldValues(scopes) : undefined)) {
      this.present.set(row.id, row);
      this.updateCachedRowWeight(row);
    }
  }

  /** Returns true if the row was read before or is cached. */
  private isRowInMemoryOrCache(id: string): boolean {
    if (this.known.has(id)) return true;
    this.known.add(id);
    const cached = this.parts.cache.get(id);
    if (cached !== undefined) this.present.set(id, cached);
    return cached !== undefined;
  }

  /** Writes the changed rows and empties the buffer. */
  async writeChangedRows(): Promise<void> {
    const { model, rows, writer = rows, cache } = this.parts;
    const changed = [...this.changed.values()];
    if (changed.length > 0) await writer.writeMany(changed.map(createUpsertIfNewer));
    if (model.listRowIdsNeededToProjectEvent !== undefined) for (const row of changed) cache.set(row.id, row);
    this.present.clear();
    this.changed.clear();
    this.known.clear();
    this.weights.clear();
    this.weight = 0;
  }

  private updateCachedRowWeight(row: ReadModelRow): void {
    const weight = this.parts.model.weight?.(row) ?? 1;
    this.weight += weight - (this.weights.get(row.id) ?? 0);
    this.weights.set(row.id, weight);
  }
}

/**
 * Returns a write that replaces only an older revision of the row, so that repeated work and former lease owners cannot
 * overwrite newer rows.
 */
function createUpsertIfNewer(row: ReadModelRow): CollectionWrite<ReadModelRow> {
  return { kind: 'upsert', document: row, guard: { revision: { lt: row.revision } } };
}

const MAX_REMEMBERED_SCOPES = 50_000;
const MAX_CONCURRENT_READS = 16;

/** Finds the scope of a stream in its first event. Caches the scopes of the most recently used streams. */
export class WorkspaceScopeOfStreamCache {
  /** The cache is limited by `maxSize`, because `max` would allocate memory for all entries immediately. */
  private readonly remembered = new LRUCache<string, WorkspaceScope>({
    maxSize: MAX_REMEMBERED_SCOPES,
    sizeCalculation: () => 1,
  });
  /** Reads in progress, by stream. Read models that need the same scope at the same time share a read. */
  private readonly reading = new Map<string, Promise<StoredEvent | undefined>>();

  constructor(private readonly eventStore: EventStore) {}

  /**
   * Returns the scope of each stream of the events. Reads the first events of streams that are neither in the batch nor
   * in the cache. Omits streams whose first event has no scope.
   * @throws UnavailableError
   */
  async readScopesOfStreams(events: readonly StoredEvent[]): Promise<ReadonlyMap<string, WorkspaceScope>> {
    const scopes = new Map<string, WorkspaceScope>();
    const unknown = new Set<string>();
    for (const { stream, revision, ...rest } of events) {
      if (revision === 0) this.rememberScopeOfStream(scopes, { stream, revision, ...rest });
      else if (!scopes.has(stream)) {
        const scope = this.remembered.get(stream);
        if (scope) scopes.set(stream, scope);
        else unknown.add(stream);
      }
    }
    const streams = unknown.values();
    const readSome = async (): Promise<void> => {
      for (const stream of streams) {
        // Another read model may have remembered the scope in the meantime.
        const scope = this.remembered.get(stream);
        if (scope) scopes.set(stream, scope);
        else {
          const first = await this.readFirstEvent(stream);
          if (first) this.rememberScopeOfStream(scopes, first);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_READS, unknown.size) }, readSome));
    return scopes;
  }

  private readFirstEvent(stream: string): Promise<StoredEvent | undefined> {
    const known = this.reading.get(stream);
    if (known !== undefined) return known;
    const reading = this.eventStore
      .read(stream, { from: 0, to: 0, isStored: true })
      .then(([first]) => first)
      .finally(() => this.reading.delete(stream));
    this.reading.set(stream, reading);
    return reading;
  }

  private rememberScopeOfStream(scopes: Map<string, WorkspaceScope>, first: StoredEvent): void {
    const scope = parseWorkspaceScopeOfEvent(first);
    if (!scope) return;
    scopes.set(first.stream, scope);
    this.remembered.set(first.stream, scope);
  }
}

function parseWorkspaceScopeOfEvent(first: StoredEvent): WorkspaceScope | undefined {
  try {
    const event = decodeEvent(first);
    if (event.type !== 'shipment.created.v1') return undefined;
    return { workspace_id: event.data.workspace_id, environment: event.data.environment };
  } catch {
    // An undecodable event has no scope. The projection parks its stream and records the reason.
    return undefined;
  }
}

/** Metrics of the projections in this process. Their label `read_model` names the read model. */
export class ProjectionMetrics {
  readonly lag: Gauge;
  readonly parked: Gauge;
  private readonly projected: Counter;
  private readonly batch: Histogram;
  private readonly countRetry: CountRetry;

  constructor(metrics: Metrics) {
    const labels = ['read_model'];
    this.projected = metrics.createCounter(
      'read_model_events_projected_total',
      'Events folded into rows of the read model.',
      labels,
    );
    this.lag = metrics.createGauge(
      'read_model_lag_seconds',
      'Seconds the oldest event missing from the read model has waited, in any process; 0 if none is missing.',
      labels,
    );
    this.parked = metrics.createGauge(
      'read_model_parked_streams',
      'Streams parked behind an event that failed.',
      labels,
    );
    this.batch = metrics.createHistogram(
      'read_model_batch_seconds',
      'Seconds from receiving a batch of events to writing its rows.',
      labels,
    );
    this.countRetry = createRetryCounter(metrics);
  }

  createSubscriptionMetrics(readModel: string): SubscriptionMetrics {
    const labels = { read_model: readModel };
    return {
      observeBatchDuration: (events, seconds) => {
        this.projected.add(events, labels);
        this.batch.observe(seconds, labels);
      },
      recordFailure: () => this.countRetry(`projecting ${readModel}`),
    };
  }
}
