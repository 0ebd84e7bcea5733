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
  partition,
  type HandledPosition,
  logPositionOf,
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
  /** Whether this process takes part in projecting (the default), or only queries. */
  readonly project?: boolean;
  /**
   * Stream prefixes of each partition, the same in every process; together all streams, none twice. One partition of all
   * shipments by default. Other prefixes project everything anew, into the same rows.
   */
  readonly partitions?: readonly (readonly string[])[];
  /** How long a replaced generation is projected on for those who have not heard of the swap, in ms; 60 s by default. */
  readonly graceMs?: number;
  /**
   * From one write of a checkpoint to the next, in milliseconds; none by default. Other processes learn of progress from
   * checkpoints alone: only for where there are none.
   */
  readonly checkpointIntervalMs?: number;
  /** While events come in quickly, how long they let more of them come, in milliseconds; none by default. */
  readonly gatherMs?: number;
  /** Rows kept in memory by each read model, over all partitions; 10,000 by default. */
  readonly cachedRows?: number;
  /** Most reads that wait for each read model at once; beyond: `Busy`. 10,000 by default. */
  readonly maxWaiters?: number;
  /** How long published events are kept from their `created_at`, in milliseconds; without end by default. */
  readonly eventRetentionMs?: number;
  /** From one look for published events over their retention to the next, in milliseconds; 30 minutes by default. */
  readonly sweepEveryMs?: number;
}

/** Of a process that only queries: all it asks of the event store is how far that is. */
interface QueryingOptions extends Omit<ReadModelsOptions, 'eventStore' | 'project'> {
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly project: false;
}

export interface ReadModelState extends ReadModelStatus {
  readonly name: ReadModelName;
}

/** An operator named a read model that does not exist. */
export class UnknownReadModel extends Error {
  override readonly name = 'UnknownReadModel';
}

/** How far the read models are. */
export interface ReadModelProgress {
  /**
   * Whether what is queried holds everything up to the position, now or within the time. Never goes back to false.
   * @throws Busy when too many wait already
   */
  reached(model: ReadModelName, position: Position, timeoutMs: number): Promise<boolean>;
  /** Everything up to here is in what is queried; undefined before the first event. @throws Unavailable */
  place(model: ReadModelName): Promise<HandledPosition | undefined>;
}

/** All read models in one process: their queries and, where it projects, their projections. */
export class ReadModels {
  readonly queries: ReadModelQueries;
  readonly progress: ReadModelProgress;
  /** Resolves when queries are answered from rows that once held everything there was. */
  readonly ready: Promise<void>;
  private readonly rows: OpenReadModels['rows'];
  private readonly lifecycles: ReadonlyMap<string, Lifecycle>;
  private readonly generations: Generations;
  private readonly parkedStreams: ParkedStreams;
  private readonly sweeper: EventSweeper | undefined;
  private readonly stopping = new AbortController();

  private constructor(private readonly options: ReadModelsOptions | QueryingOptions) {
    const { graceMs = 60_000, maxWaiters = 10_000, documentStore } = options;
    const partitions = (options.partitions ?? [[SHIPMENT_STREAM_PREFIX]]).map(partition);
    const collections = new Collections(documentStore);
    this.generations = new Generations(collections);
    const shared = { partitions, collections, generations: this.generations, graceMs };
    const checkpoints = new CheckpointPoller(collections, READ_MODEL_NAMES);
    const { clock, eventRetentionMs } = options;
    const retention = eventRetentionMs !== undefined && {
      keptSince: () => new Date(clock().getTime() - eventRetentionMs).toISOString(),
    };
    const { rows, queries } = openReadModels({ ...shared, ...retention, checkpoints, maxWaiters });

    this.rows = rows;
    this.queries = queries;
    this.progress = {
      reached: (model, position, timeoutMs) => rows[model].progress.reached(position, timeoutMs),
      place: (model) => rows[model].progress.currentHandledPosition(),
    };
    this.lifecycles = new Map(options.project === false ? [] : this.projecting(options, shared));
    this.parkedStreams = new ParkedStreams(documentStore, (name) => this.lifecycles.get(name)?.retryParked());
    if (options.project !== false && eventRetentionMs !== undefined) {
      this.sweeper = new EventSweeper({ ...options, active: rows.published_events });
      this.sweeper.job.start();
    }
    this.ready = Promise.all(READ_MODEL_NAMES.map((name) => this.start(name))).then(() => undefined);
  }

  /** Resolves at once: an engine that is not up yet is waited for behind it, see `ready`. */
  static start(options: ReadModelsOptions | QueryingOptions): Promise<ReadModels> {
    return Promise.resolve(new ReadModels(options));
  }

  /**
   * Whether all read models hold everything up to the position, now or within the time: whoever is told of it then can
   * read it.
   * @throws Busy when too many wait already
   */
  async allReached(position: Position, timeoutMs: number): Promise<boolean> {
    const all = await Promise.all(READ_MODEL_NAMES.map((name) => this.progress.reached(name, position, timeoutMs)));
    return all.every(Boolean);
  }

  /**
   * Has the next generation made from the first event on, while the present one is queried on; it becomes the queried
   * one by itself. Where one is being made already, nothing more happens. Survives every crash.
   * @returns the generation being made, as soon as it is sure to be
   * @throws UnknownReadModel, Unavailable
   */
  async rebuild(name: string): Promise<{ name: ReadModelName; generation: number }> {
    const known = this.known(name);
    const generation = await this.generations.build(this.rows[known].model);
    this.lifecycles.get(known)?.wake();
    return { name: known, generation };
  }

  /** @throws Unavailable */
  async list(): Promise<readonly ReadModelState[]> {
    const head = await this.options.eventStore.head();
    return Promise.all(READ_MODEL_NAMES.map((name) => this.state(name, head)));
  }

  /**
   * Streams that wait behind an event that could not be applied. One list for operators, whichever process they wait in:
   * those of the publisher are among them.
   * @throws Unavailable
   */
  async parked(): Promise<readonly ParkedShipment[]> {
    const parked = await this.parkedStreams.list();
    return parked.map(({ subscriber, partition: _partition, retry: _retry, ...rest }) => ({
      read_model: subscriber,
      ...rest,
    }));
  }

  /** @param id of one of `parked()` @throws Unavailable */
  retryParked(id: string): Promise<RetryOutcome> {
    return this.parkedStreams.retry(id);
  }

  /** A digest of what is queried, to compare with that of a rebuild. @throws UnknownReadModel, Unavailable */
  async digest(name: string): Promise<RowDigest> {
    const active = this.rows[this.known(name)];
    return digest(await active.rows(), active.progress.generation ?? 0);
  }

  /** Finishes the batches in hand, writes the checkpoints, hands the leases over. Queries go on being answered. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.sweeper?.job.stop();
    await Promise.all([...this.lifecycles.values()].map((lifecycle) => lifecycle.stop()));
    for (const { progress } of Object.values(this.rows)) progress.close();
  }

  private *projecting(
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
      logger.warn({ error: describeError(error) }, 'read models wait for their store');
    };
    // Rejects when this process stops: nobody waits any more.
    await retry(() => this.rows[name].refresh(), { signal: this.stopping.signal, onFailure }).catch(() => undefined);
  }

  private async state(name: ReadModelName, head: Position | undefined): Promise<ReadModelState> {
    const active = this.rows[name];
    const pointer = await active.refresh();
    const place = await active.progress.currentHandledPosition();
    const position = place === undefined ? null : logPositionOf(place);
    const { building } = pointer;
    const made = building === null ? undefined : await active.minPosition(building);
    return {
      name,
      generation: active.progress.generation ?? pointer.active,
      building: building === null ? null : { generation: building, position: made ?? null },
      position,
      caught_up: head === undefined || (position !== null && position >= head),
      parked: await this.parkedStreams.count(name, active.progress.generation ?? pointer.active),
    };
  }

  private known(name: string): ReadModelName {
    const known = READ_MODEL_NAMES.find((each) => each === name);
    if (!known) throw new UnknownReadModel(`no read model is called ${name}: there are ${READ_MODEL_NAMES.join(', ')}`);
    return known;
  }
}

const PAGE_SIZE = 1_000;

export interface RowDigest {
  readonly generation: number;
  readonly rows: number;
  /** SHA-256, in hex, over all rows in the order of their ids, members of objects in the order of their names. */
  readonly sha256: string;
}

/** Equal for equal content, whatever engine or generation holds it. Only of use while nothing is written. */
async function digest(rows: Collection<ReadModelRow>, generation: number): Promise<RowDigest> {
  const hash = createHash('sha256');
  let count = 0;
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await rows.find({ filter: {}, sort: { fields: ['id'] }, limit: PAGE_SIZE, ...(after && { after }) });
    for (const row of page) hash.update(`${toCanonicalJson(row)}\n`);
    count += page.length;
    const last = page[page.length - 1];
    if (page.length < PAGE_SIZE || !last) return { generation, rows: count, sha256: hash.digest('hex') };
    after = [last.id];
  }
}

function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
