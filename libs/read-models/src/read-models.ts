import type { ParkedShipment, ReadModelStatus } from '@tracking/contracts';
import {
  type Clock,
  type DocumentStore,
  type EventStore,
  type LeaseSource,
  type Logger,
  type Metrics,
  type Position,
  createRetryCounter,
} from '@tracking/ports';
import { retry } from '@tracking/resilience';
import {
  describeError,
  ParkedStreams,
  CheckpointWriter,
  type HandledPosition,
  toLogPosition,
  type RetryOutcome,
} from '@tracking/subscriptions';
import { ProjectionMetrics, WorkspaceScopeOfStreamCache } from './batch-projector.ts';
import { Generations } from './generations.ts';
import { ReadModelLifecycle, type ReadModelLifecycleOptions, type ProjectionPartitionSettings } from './lifecycle.ts';
import { followProjections, ProgressOfProjectedPartitions, type ProjectionOperations } from './projected-partitions.ts';
import { CheckpointPoller } from './checkpoint-poller.ts';
import { EventSweeper } from './published-events/published-event-rows.ts';
import { LazilyOpenedCollections } from './read-model.ts';
import { createReadModelAgeMeters, type FindTimeAfter } from './takeover-age.ts';
import { computeDigestOfAllRows, type RowDigest } from './row-digest.ts';
import { type AwaitedEvent, getLastPositionsOfSlots } from './slots.ts';
import {
  findKnownReadModelName,
  listReadModelsOfEvents,
  type OpenReadModels,
  openReadModels,
  READ_MODEL_NAMES,
  type ReadModelName,
  type ReadModelQueries,
} from './registry.ts';

/** Name of the group of leases that processes with projections share. */
export const READ_MODEL_LEASE_GROUP = 'read_models';

export interface ReadModelsOptions {
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly leases: LeaseSource;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** True (the default) if this process runs projections; false if it only queries. */
  readonly project?: boolean;
  /**
   * Partitions of the projections, whose number operators can change. By default, there is one partition, and the number
   * cannot be changed.
   */
  readonly partitions?: ProjectionPartitionSettings;
  /**
   * Milliseconds for which a replaced generation is still projected, for processes that have not read the new pointer.
   * Defaults to 60 s.
   */
  readonly graceMs?: number;
  /**
   * Milliseconds between writes of a checkpoint; 0 by default, and ignored with partitions. Set another value only in
   * single-process deployments, because other processes read the progress from checkpoints.
   */
  readonly checkpointIntervalMs?: number;
  /** Milliseconds to wait for more events while many events arrive; 0 by default. */
  readonly batchingDelayMs?: number;
  /** Number of cached rows per read model, over all partitions. Defaults to 10,000. */
  readonly cachedRows?: number;
  /** Maximum number of waiting reads per read model; further reads throw `BusyError`. Defaults to 10,000. */
  readonly maxWaiters?: number;
  /** Milliseconds for which published events are kept, counted from `created_at`. Defaults to no limit. */
  readonly eventRetentionMs?: number;
  /**
   * Returns the time at which the first event after a position was recorded; undefined if there is none. Without the
   * function, the process does not know how old rows are during a takeover.
   */
  readonly findTimeAfter?: FindTimeAfter;
  /** Milliseconds between sweeps of expired published events. Defaults to 30 minutes. */
  readonly sweepEveryMs?: number;
}

/** Options of a process that only queries. It reads nothing but the last position from the event store. */
interface QueryOnlyReadModelsOptions extends Omit<ReadModelsOptions, 'eventStore' | 'project'> {
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly project: false;
}

export interface NamedReadModelStatus extends ReadModelStatus {
  readonly name: ReadModelName;
}

/** Error for a request that names an unknown read model. */
export class UnknownReadModelError extends Error {
  override readonly name = 'UnknownReadModel';
}

/** Progress of the read models. */
export interface ReadModelProgress {
  /**
   * Returns true if the queried rows contain all events up to the position, now or within the timeout. Later calls with
   * the same position also return true.
   * @throws BusyError if too many reads wait already
   */
  reached(model: ReadModelName, position: Position, timeoutMs: number): Promise<boolean>;
  /**
   * Returns the position up to which the queried rows contain all events; undefined before the first event.
   * @throws UnavailableError
   */
  place(model: ReadModelName): Promise<HandledPosition | undefined>;
  /**
   * Returns the milliseconds since the first event was recorded that the queried rows may lack, about 0 if they lack
   * none, while a process takes over the projection of the read model from another; undefined at all other times.
   * @throws UnavailableError
   */
  findTakeoverAge(model: ReadModelName): Promise<number | undefined>;
}

/** All read models of one process, with their queries. If the process runs projections, also their projections. */
export class ReadModels {
  readonly queries: ReadModelQueries;
  readonly progress: ReadModelProgress;
  /** Resolves when queries use rows that have contained all stored events once. */
  readonly ready: Promise<void>;
  private readonly rows: OpenReadModels['rows'];
  private readonly lifecycles: ReadonlyMap<string, ReadModelLifecycle>;
  private readonly generations: Generations;
  private readonly projected = new ProgressOfProjectedPartitions();
  private readonly parkedStreams: ParkedStreams;
  private readonly sweeper: EventSweeper | undefined;
  private readonly stopping = new AbortController();

  private constructor(private readonly options: ReadModelsOptions | QueryOnlyReadModelsOptions) {
    const { graceMs = 60_000, maxWaiters = 10_000, documentStore } = options;
    const collections = new LazilyOpenedCollections(documentStore);
    this.generations = new Generations(collections);
    const shared = { collections, generations: this.generations, graceMs };
    const checkpoints = new CheckpointPoller(collections, READ_MODEL_NAMES);
    const { clock, eventRetentionMs } = options;
    const retention = eventRetentionMs !== undefined && {
      retainedSince: () => new Date(clock().getTime() - eventRetentionMs).toISOString(),
    };
    const { rows, queries } = openReadModels({ ...shared, ...retention, checkpoints, maxWaiters });

    this.rows = rows;
    this.queries = queries;
    const ages = createReadModelAgeMeters(rows, options);
    this.progress = {
      reached: (model, position, timeoutMs) => rows[model].progress.waitUntilPositionReached(position, timeoutMs),
      place: (model) => rows[model].progress.readCurrentHandledPosition(),
      findTakeoverAge: (model) => ages.get(model)?.measureAgeOfMissingEvents() ?? Promise.resolve(undefined),
    };
    this.lifecycles = new Map(options.project === false ? [] : this.createReadModelLifecycles(options, shared));
    const wake = (name: string) => this.lifecycles.get(name)?.retryRequestedParkedStreams();
    this.parkedStreams = new ParkedStreams(documentStore, wake);
    if (options.project !== false && eventRetentionMs !== undefined) {
      this.sweeper = new EventSweeper({ ...options, active: rows.published_events });
      this.sweeper.job.startJobRounds();
    }
    this.ready = Promise.all(READ_MODEL_NAMES.map((name) => this.startReadModel(name))).then(() => undefined);
  }

  /** Starts the read models. Resolves immediately; it waits for unavailable engines in the background. See `ready`. */
  static startReadModelsOfProcess(options: ReadModelsOptions | QueryOnlyReadModelsOptions): Promise<ReadModels> {
    return Promise.resolve(new ReadModels(options));
  }

  /**
   * Returns true if all read models contain all events up to the position, now or within the timeout. Clients that are
   * notified afterwards can read the data.
   * @throws BusyError if too many reads wait already
   */
  async waitForAllReadModels(position: Position, timeoutMs: number): Promise<boolean> {
    const all = await Promise.all(READ_MODEL_NAMES.map((name) => this.progress.reached(name, position, timeoutMs)));
    return all.every(Boolean);
  }

  /**
   * Returns true if the read models from which clients read the data of these events contain them, now or within the
   * timeout. Events of other shipments are not awaited.
   * @throws BusyError if too many reads wait already
   */
  async waitForReadModelsOfEvents(events: readonly AwaitedEvent[], timeoutMs: number): Promise<boolean> {
    const positions = getLastPositionsOfSlots(events);
    const names = listReadModelsOfEvents(events.map(({ type }) => type));
    const all = await Promise.all(
      names.map((name) => this.rows[name].progress.waitUntilPositionReached(positions, timeoutMs)),
    );
    return all.every(Boolean);
  }

  /**
   * Starts to rebuild a read model from the first event. Until the rebuild ends, queries use the present generation.
   * Does nothing if a rebuild is running. A rebuild continues after a crash.
   * @returns the new generation, once the request for the rebuild is durable
   * @throws UnknownReadModelError, UnavailableError
   */
  async rebuild(name: string): Promise<{ name: ReadModelName; generation: number }> {
    const known = this.requireReadModelName(name);
    const generation = await this.generations.startGeneration(this.rows[known].model);
    this.lifecycles.get(known)?.runReadModelLifecycleStep();
    return { name: known, generation };
  }

  /** @throws UnavailableError */
  async listReadModelStates(): Promise<readonly NamedReadModelStatus[]> {
    const head = await this.options.eventStore.head();
    return Promise.all(READ_MODEL_NAMES.map((name) => this.readStateOfReadModel(name, head)));
  }

  /**
   * Lists streams that are parked because an event could not be applied. Includes the streams of all processes and
   * subscribers, also those of the publisher.
   * @throws UnavailableError
   */
  async listParkedShipments(): Promise<readonly ParkedShipment[]> {
    const parked = await this.parkedStreams.listParkedStreams();
    return parked.map(({ subscriber, partition: _partition, retry: _retry, ...rest }) => ({
      read_model: subscriber,
      ...rest,
    }));
  }

  /**
   * Retries a parked stream.
   * @param id id from `listParkedShipments`
   * @throws UnavailableError
   */
  retryParkedStream(id: string): Promise<RetryOutcome> {
    return this.parkedStreams.retry(id);
  }

  /**
   * Computes a digest of the queried rows, for comparison with the digest of a rebuild.
   * @throws UnknownReadModelError, UnavailableError
   */
  async digestRows(name: string): Promise<RowDigest> {
    const active = this.rows[this.requireReadModelName(name)];
    return computeDigestOfAllRows(await active.openActiveGenerationRows(), active.progress.generation ?? 0);
  }

  /** Operations for processes that only query and follow the projections of this process. */
  get operations(): ProjectionOperations {
    return { progress: { follow: (_request, onMessage, signal) => this.projected.follow(onMessage, signal) } };
  }

  /**
   * Follows the projections of another process until the signal aborts. Reads then wait for its reports instead of
   * polling its checkpoints.
   */
  followProjections(operations: ProjectionOperations, signal: AbortSignal): Promise<void> {
    const progressByName = new Map(READ_MODEL_NAMES.map((name) => [name as string, this.rows[name].progress]));
    return followProjections(operations, progressByName, signal);
  }

  /** Finishes current batches, writes the checkpoints and releases the leases. Queries remain available. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.sweeper?.job.stopJobRounds();
    await Promise.all([...this.lifecycles.values()].map((lifecycle) => lifecycle.stop()));
    for (const { progress } of Object.values(this.rows)) progress.endReadsWaitingForProjection();
  }

  private *createReadModelLifecycles(
    options: ReadModelsOptions,
    shared: Pick<ReadModelLifecycleOptions, 'collections' | 'generations' | 'graceMs'>,
  ): Iterable<[string, ReadModelLifecycle]> {
    const { cachedRows = 10_000, partitions, documentStore } = options;
    const writer = partitions !== undefined && { checkpointWriter: new CheckpointWriter(documentStore) };
    const metrics = new ProjectionMetrics(options.metrics);
    const scopes = new WorkspaceScopeOfStreamCache(options.eventStore);
    const { projected } = this;
    const settings = { ...options, ...shared, ...writer, cachedRows, scopes, metrics, projected };
    for (const [name, rows] of Object.entries(this.rows)) yield [name, new ReadModelLifecycle(rows, settings)];
  }

  /** Resolves when the read model can be queried. */
  private async startReadModel(name: ReadModelName): Promise<void> {
    const lifecycle = this.lifecycles.get(name);
    if (lifecycle !== undefined) return lifecycle.startReadModelLifecycle();
    const { metrics, logger } = this.options;
    const countRetry = createRetryCounter(metrics);
    const onFailure = (error: unknown) => {
      countRetry('finding read models');
      logger.warn(
        { error: describeError(error) },
        'read models wait for the document store; retrying until it is available',
      );
    };
    // Rejects when this process stops, because then no caller waits any longer.
    await retry(() => this.rows[name].refreshGenerationPointer(), { signal: this.stopping.signal, onFailure }).catch(
      () => undefined,
    );
  }

  private async readStateOfReadModel(name: ReadModelName, head: Position | undefined): Promise<NamedReadModelStatus> {
    const active = this.rows[name];
    const pointer = await active.refreshGenerationPointer();
    const place = await active.progress.readCurrentHandledPosition();
    const position = place === undefined ? null : toLogPosition(place);
    const { building } = pointer;
    const made = building === null ? undefined : await active.readMinCheckpointPosition(building);
    const generation = active.progress.generation ?? pointer.active;
    return {
      name,
      generation,
      building: building === null ? null : { generation: building, position: made ?? null },
      position,
      caught_up: head === undefined || (position !== null && position >= head),
      parked: await this.parkedStreams.countParkedStreamsOfGeneration(name, generation),
    };
  }

  private requireReadModelName(name: string): ReadModelName {
    const known = findKnownReadModelName(name);
    if (!known)
      throw new UnknownReadModelError(`unknown read model ${name}; use one of ${READ_MODEL_NAMES.join(', ')}`);
    return known;
  }
}
