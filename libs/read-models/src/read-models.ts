import { retryCounter } from '@tracking/ports';
import type { Clock, DocumentStore, EventStore, Leases, Logger, Metrics, Position } from '@tracking/ports';
import { SHIPMENT_STREAM_PREFIX } from '@tracking/shipments-domain';
import type * as subscriptions from '@tracking/subscriptions';
import { Parked, type RetryOutcome, describe, partition, persistently } from '@tracking/subscriptions';
import { ActiveRows } from './active-rows.ts';
import { CheckpointLooks } from './checkpoint-looks.ts';
import { Collections } from './collections.ts';
import { digest } from './digest.ts';
import type { Digest } from './digest.ts';
import { Generations } from './generations.ts';
import { Lifecycle } from './lifecycle.ts';
import { MilestoneQueries } from './milestones/milestone-queries.ts';
import { milestonesModel } from './milestones/milestone-rows.ts';
import { ProjectionMetrics } from './projection/projection-metrics.ts';
import { EventQueries } from './published-events/event-queries.ts';
import { publishedEventsModel } from './published-events/published-event-rows.ts';
import type { Row } from './read-model.ts';
import { ShipmentQueries } from './shipments/shipment-queries.ts';
import { shipmentsModel } from './shipments/shipment-rows.ts';

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
  readonly checkpointRestMs?: number;
  /** Rows kept in memory by each read model, over all partitions; 10,000 by default. */
  readonly cachedRows?: number;
  /** Most reads that wait for each read model at once; beyond: `Busy`. 10,000 by default. */
  readonly maxWaiters?: number;
}

/** Of a process that only queries: all it asks of the event store is how far that is. */
export interface QueryingOptions extends Omit<ReadModelsOptions, 'eventStore' | 'project'> {
  readonly eventStore: Pick<EventStore, 'head'>;
  readonly project: false;
}

const NAMES = ['shipments', 'milestones', 'published_events'] as const;
export type ReadModelName = (typeof NAMES)[number];

export interface ReadModelState {
  readonly name: ReadModelName;
  /** The generation that is queried. */
  readonly generation: number;
  /** The generation that a rebuild is making, and how far it is. */
  readonly building: { readonly generation: number; readonly position: Position | null } | null;
  /** Everything up to here is in the rows. */
  readonly position: Position | null;
  /** Whether that is everything there is. */
  readonly caught_up: boolean;
  /** How many streams wait behind an event that could not be applied. */
  readonly parked: number;
}

/** An operator named a read model that does not exist. */
export class UnknownReadModel extends Error {
  override readonly name = 'UnknownReadModel';
}

/** A stream that waits behind an event that could not be applied, and for which read model. */
export interface ParkedStream extends Omit<subscriptions.ParkedStream, 'subscriber'> {
  readonly read_model: string;
}

/** How far the read models are. */
export interface ReadModelProgress {
  /**
   * Whether what is queried holds everything up to the position, now or within the time. Never goes back to false.
   * @throws Busy when too many wait already
   */
  reached(model: ReadModelName, position: Position, timeoutMs: number): Promise<boolean>;
  /** Everything up to here is in what is queried; undefined before the first event. @throws Unavailable */
  position(model: ReadModelName): Promise<Position | undefined>;
}

/** All read models in one process: their queries and, where it projects, their projections. */
export class ReadModels {
  readonly shipments: ShipmentQueries;
  readonly milestones: MilestoneQueries;
  readonly events: EventQueries;
  readonly progress: ReadModelProgress;
  /** Resolves when queries are answered from rows that once held everything there was. */
  readonly ready: Promise<void>;
  private readonly active: Readonly<Record<ReadModelName, ActiveRows<Row>>>;
  private readonly lifecycles = new Map<string, Lifecycle>();
  private readonly generations: Generations;
  private readonly parkedStreams: Parked;
  private readonly stopping = new AbortController();

  private constructor(private readonly options: ReadModelsOptions | QueryingOptions) {
    const { graceMs = 60_000, maxWaiters = 10_000, logger, metrics } = options;
    const partitions = (options.partitions ?? [[SHIPMENT_STREAM_PREFIX]]).map(partition);
    const collections = new Collections(options.documentStore);
    const generations = new Generations(collections);
    const looks = new CheckpointLooks(collections, NAMES);
    const queried = { partitions, collections, generations, looks, maxWaiters, graceMs };
    const shipments = new ActiveRows(shipmentsModel, queried);
    const milestones = new ActiveRows(milestonesModel, queried);
    const published_events = new ActiveRows(publishedEventsModel, queried);

    this.generations = generations;
    this.active = { shipments, milestones, published_events };
    this.shipments = new ShipmentQueries(shipments);
    this.milestones = new MilestoneQueries(milestones);
    this.events = new EventQueries(published_events);
    this.progress = {
      reached: (model, position, timeoutMs) => this.active[model].progress.reached(position, timeoutMs),
      position: (model) => this.active[model].progress.currentPosition(),
    };
    this.parkedStreams = new Parked(options.documentStore, (name) => this.lifecycles.get(name)?.retryParked());
    if (options.project !== false) {
      const cachedRows = Math.ceil((options.cachedRows ?? 10_000) / partitions.length);
      const parts = { ...options, partitions, collections, generations, graceMs, cachedRows };
      const projectionMetrics = new ProjectionMetrics(metrics);
      for (const active of Object.values(this.active)) {
        this.lifecycles.set(active.model.name, new Lifecycle(active, { ...parts, metrics: projectionMetrics }));
      }
    }
    const countRetry = retryCounter(metrics);
    const failed = (error: unknown) => {
      countRetry('finding read models');
      logger.warn({ error: describe(error) }, 'read models wait for their store');
    };
    const readiness = Object.values(this.active).map(
      (active) =>
        this.lifecycles.get(active.model.name)?.start() ??
        persistently(() => active.refresh(), this.stopping.signal, failed).catch(() => undefined),
    );
    this.ready = Promise.all(readiness).then(() => undefined);
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
    const all = await Promise.all(NAMES.map((name) => this.progress.reached(name, position, timeoutMs)));
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
    const generation = await this.generations.build(this.active[known].model);
    this.lifecycles.get(known)?.nudge();
    return { name: known, generation };
  }

  /** @throws Unavailable */
  async list(): Promise<readonly ReadModelState[]> {
    const head = await this.options.eventStore.head();
    return Promise.all(NAMES.map((name) => this.state(name, head)));
  }

  /**
   * Streams that wait behind an event that could not be applied. One list for operators, whichever process they wait in:
   * those of the publisher are among them.
   * @throws Unavailable
   */
  async parked(): Promise<readonly ParkedStream[]> {
    const parked = await this.parkedStreams.list();
    return parked.map(({ subscriber, ...rest }) => ({ read_model: subscriber, ...rest }));
  }

  /** @param id of one of `parked()` @throws Unavailable */
  retryParked(id: string): Promise<RetryOutcome> {
    return this.parkedStreams.retry(id);
  }

  /** A digest of what is queried, to compare with that of a rebuild. @throws UnknownReadModel, Unavailable */
  async digest(name: string): Promise<Digest> {
    const active = this.active[this.known(name)];
    const rows = await active.rows();
    return digest(rows, active.progress.generation ?? 0);
  }

  /** Finishes the batches in hand, writes the checkpoints, hands the leases over. Queries go on being answered. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.lifecycles.values()].map((lifecycle) => lifecycle.stop()));
    for (const { progress } of Object.values(this.active)) progress.close();
  }

  private async state(name: ReadModelName, head: Position | undefined): Promise<ReadModelState> {
    const active = this.active[name];
    const pointer = await active.refresh();
    const position = (await active.progress.currentPosition()) ?? null;
    const { building } = pointer;
    const made = building === null ? undefined : await active.leastPosition(building);
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
    const known = NAMES.find((each) => each === name);
    if (!known) throw new UnknownReadModel(`no read model is called ${name}: there are ${NAMES.join(', ')}`);
    return known;
  }
}
