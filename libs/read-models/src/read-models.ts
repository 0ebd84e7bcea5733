import { createHash } from 'node:crypto';
import type { ParkedShipment, ReadModelStatus } from '@tracking/contracts';
import {
  type Clock,
  type Collection,
  type DocumentStore,
  type EventStore,
  type Leases,
  type Logger,
  type Metrics,
  type Position,
  retryCounter,
} from '@tracking/ports';
import { retry } from '@tracking/resilience';
import { SHIPMENT_STREAM_PREFIX } from '@tracking/shipments-domain';
import {
  describeError,
  ParkedStreams,
  createPartition,
  type HandledPosition,
  toLogPosition,
  type RetryOutcome,
} from '@tracking/subscriptions';
import { ProjectionMetrics, StreamScopes } from './batch-projector.ts';
import { Generations } from './generations.ts';
import { Lifecycle, type LifecycleOptions } from './lifecycle.ts';
import { CheckpointPoller } from './projection-progress.ts';
import { EventSweeper } from './published-events/published-event-rows.ts';
import { Collections, type ReadModelRow } from './read-model.ts';
import {
  type OpenReadModels,
  openReadModels,
  READ_MODEL_NAMES,
  type ReadModelName,
  type ReadModelQueries,
} from './registry.ts';

export interface ReadModelsOptions {
  readonly eventStore: EventStore;
  readonly documentStore: DocumentStore;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** True (the default) if this process runs projections; false if it only queries. */
  readonly project?: boolean;
  /**
   * Stream prefixes of each partition, equal in every process. Each stream must belong to exactly one partition.
   * Defaults to one partition with all shipments. After a change of the prefixes, all events are projected from the
   * start into the same rows.
   */
  readonly partitions?: readonly (readonly string[])[];
  /**
   * Milliseconds for which a replaced generation is still projected, for processes that have not read the new pointer.
   * Defaults to 60 s.
   */
  readonly graceMs?: number;
  /**
   * Milliseconds between writes of a checkpoint; 0 by default. Set another value only in single-process deployments,
   * because other processes read the progress from checkpoints.
   */
  readonly checkpointIntervalMs?: number;
  /** Milliseconds to wait for more events while many events arrive; 0 by default. */
  readonly batchingDelayMs?: number;
  /** Number of cached rows per read model, over all partitions. Defaults to 10,000. */
  readonly cachedRows?: number;
  /** Maximum number of waiting reads per read model; further reads throw `Busy`. Defaults to 10,000. */
  readonly maxWaiters?: number;
  /** Milliseconds for which published events are kept, counted from `created_at`. Defaults to no limit. */
  readonly eventRetentionMs?: number;
  /** Milliseconds between sweeps of expired published events. Defaults to 30 minutes. */
  readonly sweepEveryMs?: number;
}

/** Options of a process that only queries. It reads nothing but the last position from the event store. */
interface QueryingOptions extends Omit<ReadModelsOptions, 'eventStore' | 'project'> {
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly project: false;
}

export interface ReadModelState extends ReadModelStatus {
  readonly name: ReadModelName;
}

/** Error for a request that names an unknown read model. */
export class UnknownReadModel extends Error {
  override readonly name = 'UnknownReadModel';
}

/** Progress of the read models. */
export interface ReadModelProgress {
  /**
   * Returns true if the queried rows contain all events up to the position, now or within the timeout. Later calls with
   * the same position also return true.
   * @throws Busy if too many reads wait already
   */
  reached(model: ReadModelName, position: Position, timeoutMs: number): Promise<boolean>;
  /**
   * Returns the position up to which the queried rows contain all events; undefined before the first event. @throws
   * Unavailable
   */
  place(model: ReadModelName): Promise<HandledPosition | undefined>;
}

/** All read models of one process, with their queries. If the process runs projections, also their projections. */
export class ReadModels {
  readonly queries: ReadModelQueries;
  readonly progress: ReadModelProgress;
  /** Resolves when queries use rows that have contained all stored events once. */
  readonly ready: Promise<void>;
  private readonly rows: OpenReadModels['rows'];
  private readonly lifecycles: ReadonlyMap<string, Lifecycle>;
  private readonly generations: Generations;
  private readonly parkedStreams: ParkedStreams;
  private readonly sweeper: EventSweeper | undefined;
  private readonly stopping = new AbortController();

  private constructor(private readonly options: ReadModelsOptions | QueryingOptions) {
    const { graceMs = 60_000, maxWaiters = 10_000, documentStore } = options;
    const partitions = (options.partitions ?? [[SHIPMENT_STREAM_PREFIX]]).map(createPartition);
    const collections = new Collections(documentStore);
    this.generations = new Generations(collections);
    const shared = { partitions, collections, generations: this.generations, graceMs };
    const checkpoints = new CheckpointPoller(collections, READ_MODEL_NAMES);
    const { clock, eventRetentionMs } = options;
    const retention = eventRetentionMs !== undefined && {
      retainedSince: () => new Date(clock().getTime() - eventRetentionMs).toISOString(),
    };
    const { rows, queries } = openReadModels({ ...shared, ...retention, checkpoints, maxWaiters });

    this.rows = rows;
    this.queries = queries;
    this.progress = {
      reached: (model, position, timeoutMs) => rows[model].progress.reached(position, timeoutMs),
      place: (model) => rows[model].progress.currentHandledPosition(),
    };
    this.lifecycles = new Map(options.project === false ? [] : this.createLifecycles(options, shared));
    this.parkedStreams = new ParkedStreams(documentStore, (name) => this.lifecycles.get(name)?.retryParked());
    if (options.project !== false && eventRetentionMs !== undefined) {
      this.sweeper = new EventSweeper({ ...options, active: rows.published_events });
      this.sweeper.job.start();
    }
    this.ready = Promise.all(READ_MODEL_NAMES.map((name) => this.start(name))).then(() => undefined);
  }

  /** Starts the read models. Resolves immediately; it waits for unavailable engines in the background. See `ready`. */
  static start(options: ReadModelsOptions | QueryingOptions): Promise<ReadModels> {
    return Promise.resolve(new ReadModels(options));
  }

  /**
   * Returns true if all read models contain all events up to the position, now or within the timeout. Clients that are
   * notified afterwards can read the data.
   * @throws Busy if too many reads wait already
   */
  async waitForAllReadModels(position: Position, timeoutMs: number): Promise<boolean> {
    const all = await Promise.all(READ_MODEL_NAMES.map((name) => this.progress.reached(name, position, timeoutMs)));
    return all.every(Boolean);
  }

  /**
   * Starts to rebuild a read model from the first event. Until the rebuild ends, queries use the present generation.
   * Does nothing if a rebuild is running. A rebuild continues after a crash.
   * @returns the new generation, once the request for the rebuild is durable
   * @throws UnknownReadModel, Unavailable
   */
  async rebuild(name: string): Promise<{ name: ReadModelName; generation: number }> {
    const known = this.requireReadModelName(name);
    const generation = await this.generations.startGeneration(this.rows[known].model);
    this.lifecycles.get(known)?.wake();
    return { name: known, generation };
  }

  /** @throws Unavailable */
  async list(): Promise<readonly ReadModelState[]> {
    const head = await this.options.eventStore.head();
    return Promise.all(READ_MODEL_NAMES.map((name) => this.readState(name, head)));
  }

  /**
   * Lists streams that are parked because an event could not be applied. Includes the streams of all processes and
   * subscribers, also those of the publisher.
   * @throws Unavailable
   */
  async listParkedShipments(): Promise<readonly ParkedShipment[]> {
    const parked = await this.parkedStreams.list();
    return parked.map(({ subscriber, partition: _partition, retry: _retry, ...rest }) => ({
      read_model: subscriber,
      ...rest,
    }));
  }

  /**
   * Retries a parked stream.
   * @param id id from `listParkedShipments`
   * @throws Unavailable
   */
  retryParked(id: string): Promise<RetryOutcome> {
    return this.parkedStreams.retry(id);
  }

  /**
   * Computes a digest of the queried rows, for comparison with the digest of a rebuild.
   * @throws UnknownReadModel, Unavailable
   */
  async digestRows(name: string): Promise<RowDigest> {
    const active = this.rows[this.requireReadModelName(name)];
    return digest(await active.openActiveRows(), active.progress.generation ?? 0);
  }

  /** Finishes current batches, writes the checkpoints and releases the leases. Queries remain available. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.sweeper?.job.stop();
    await Promise.all([...this.lifecycles.values()].map((lifecycle) => lifecycle.stop()));
    for (const { progress } of Object.values(this.rows)) progress.close();
  }

  private *createLifecycles(
    options: ReadModelsOptions,
    shared: Pick<LifecycleOptions, 'partitions' | 'collections' | 'generations' | 'graceMs'>,
  ): Iterable<[string, Lifecycle]> {
    const cachedRows = Math.ceil((options.cachedRows ?? 10_000) / shared.partitions.length);
    const metrics = new ProjectionMetrics(options.metrics);
    const scopes = new StreamScopes(options.eventStore);
    for (const [name, rows] of Object.entries(this.rows)) {
      yield [name, new Lifecycle(rows, { ...options, ...shared, cachedRows, scopes, metrics })];
    }
  }

  /** Resolves when the read model can be queried. */
  private async start(name: ReadModelName): Promise<void> {
    const lifecycle = this.lifecycles.get(name);
    if (lifecycle !== undefined) return lifecycle.start();
    const { metrics, logger } = this.options;
    const countRetry = retryCounter(metrics);
    const onFailure = (error: unknown) => {
      countRetry('finding read models');
      logger.warn(
        { error: describeError(error) },
        'read models wait for the document store; retrying until it is available',
      );
    };
    // Rejects when this process stops, because then no caller waits any longer.
    await retry(() => this.rows[name].refreshPointer(), { signal: this.stopping.signal, onFailure }).catch(
      () => undefined,
    );
  }

  private async readState(name: ReadModelName, head: Position | undefined): Promise<ReadModelState> {
    const active = this.rows[name];
    const pointer = await active.refreshPointer();
    const place = await active.progress.currentHandledPosition();
    const position = place === undefined ? null : toLogPosition(place);
    const { building } = pointer;
    const made = building === null ? undefined : await active.findMinPosition(building);
    return {
      name,
      generation: active.progress.generation ?? pointer.active,
      building: building === null ? null : { generation: building, position: made ?? null },
      position,
      caught_up: head === undefined || (position !== null && position >= head),
      parked: await this.parkedStreams.count(name, active.progress.generation ?? pointer.active),
    };
  }

  private requireReadModelName(name: string): ReadModelName {
    const known = READ_MODEL_NAMES.find((each) => each === name);
    if (!known) throw new UnknownReadModel(`unknown read model ${name}; use one of ${READ_MODEL_NAMES.join(', ')}`);
    return known;
  }
}

const DIGEST_PAGE_ROWS = 1_000;

export interface RowDigest {
  readonly generation: number;
  readonly rows: number;
  /** SHA-256 of all rows in id order, in hex. The members of each object are sorted by name. */
  readonly sha256: string;
}

/**
 * Computes a digest of all rows. Equal rows have equal digests in every engine and generation. Rows must not change
 * during the computation.
 */
async function digest(rows: Collection<ReadModelRow>, generation: number): Promise<RowDigest> {
  const hash = createHash('sha256');
  let count = 0;
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await rows.find({
      filter: {},
      sort: { fields: ['id'] },
      limit: DIGEST_PAGE_ROWS,
      ...(after && { after }),
    });
    for (const row of page) hash.update(`${toCanonicalJson(row)}\n`);
    count += page.length;
    const last = page[page.length - 1];
    if (page.length < DIGEST_PAGE_ROWS || !last) return { generation, rows: count, sha256: hash.digest('hex') };
    after = [last.id];
  }
}

function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
