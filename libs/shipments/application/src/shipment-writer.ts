import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  AppendTooLarge,
  Busy,
  type Counter,
  type EventStore,
  isKnownUndone,
  type Logger,
  originFields,
  Unavailable,
  VersionConflict,
} from '@tracking/ports';
import { monotonicMs, retry, withDeadline } from '@tracking/resilience';
import { type DecideContext, type ShipmentCommand, streamOf } from '@tracking/shipments-domain';
import {
  type BatchDecision,
  contextFor,
  decideBatch,
  type DecisionBasis,
  findOutcome,
  rebuildAnswer,
  type RuleSettingsReader,
  type ShipmentAnswer,
  commandTooLarge,
  type Written,
} from './decide-batch.ts';
import { type LoadedShipment, readShipment, type ShipmentCache } from './shipment-cache.ts';

export interface CommandLimits {
  /** Milliseconds for one command from its arrival: waiting for others, conflicts and repeats together. */
  readonly deadlineMs: number;
  /** Milliseconds until an event store that says nothing is given up; longer than the deadline, which tells more. */
  readonly silenceMs: number;
  /** Most commands that wait for one shipment, and most in all; beyond, `Busy`. */
  readonly commandsPerShipment: number;
  readonly commands: number;
}

interface WriterOptions {
  readonly eventStore: EventStore;
  readonly cache: ShipmentCache;
  readonly places: DecideContext['places'];
  readonly settings: RuleSettingsReader;
  readonly logger: Logger;
  readonly conflicts: Counter;
  readonly limits: CommandLimits;
}

/** Other replicas and engines are back within moments, and a command has seconds. */
const RETRY_PAUSES = { firstPauseMs: 10, maxPauseMs: 500 };
/** Most commands of one shipment decided and appended together: bounds how long the thread is kept from others. */
const MAX_COMMANDS_PER_BATCH = 32;

interface Job {
  readonly command: ShipmentCommand;
  /** By the monotonic clock. */
  readonly deadline: number;
}
type QueuedJob = Queued<Job, Written<ShipmentAnswer>>;

/** Commands of one shipment that are appended together. */
interface QueuedCommands {
  readonly stream: string;
  readonly commands: readonly ShipmentCommand[];
  readonly deadline: number;
}
interface Decided {
  /** What it was decided on. */
  readonly known: LoadedShipment | undefined;
  readonly decision: BatchDecision;
}

/**
 * Carries commands out: load, decide, append at the revision read. Those of one shipment queue here, and all that wait
 * are decided one after another and appended as one: a conflict can only come from another replica.
 */
export class ShipmentWriter {
  private readonly batches: KeyedBatches<Job, Written<ShipmentAnswer>>;
  private readonly store: EventStore;
  private readonly cache: ShipmentCache;

  constructor(private readonly options: WriterOptions) {
    const { commandsPerShipment: perKey, commands: total } = options.limits;
    this.store = options.eventStore;
    this.cache = options.cache;
    this.batches = new KeyedBatches((id, batch) => this.writeBatch(id, batch), {
      perBatch: MAX_COMMANDS_PER_BATCH,
      perKey,
      total,
    });
  }

  /** Commands not answered yet. */
  get depth(): number {
    return this.batches.depth;
  }

  /** @throws DomainError, Unavailable when the outcome is unknown, Busy */
  async write(command: ShipmentCommand): Promise<Written<ShipmentAnswer>> {
    const { deadlineMs, silenceMs } = this.options.limits;
    const submitted = this.batches.submit(command.shipment_id, { command, deadline: monotonicMs() + deadlineMs });
    return await withDeadline(submitted, silenceMs, () => new Unavailable('event store', 'no answer in time'));
  }

  private async writeBatch(shipmentId: string, batch: readonly QueuedJob[]): Promise<void> {
    const now = monotonicMs();
    let rest = batch.filter(({ item, fail }) => {
      if (item.deadline > now) return true;
      fail(new Busy('shipments', 'the command waited too long'));
      return false;
    });
    try {
      while (rest.length > 0) rest = rest.slice(await this.commit(shipmentId, rest));
    } catch (error) {
      // Busy wrote nothing. After anything else, what is folded here may lack what was in fact stored.
      if (!(error instanceof Busy)) this.cache.drop(shipmentId);
      throw error;
    }
  }

  /** Decides as many commands as fit into one append, appends their events and settles them. Returns their number. */
  private async commit(shipmentId: string, jobs: readonly QueuedJob[]): Promise<number> {
    const batch = {
      stream: streamOf(shipmentId),
      commands: jobs.map(({ item }) => item.command),
      // What is appended together is given up together: by the last to arrive.
      deadline: Math.max(...jobs.map(({ item }) => item.deadline)),
    };
    const cached = this.cache.get(shipmentId);
    const { decision, after } = await this.retryConflicts(batch.deadline, async (conflicts) => {
      const decided = await this.decide(batch, conflicts === 0 ? cached : undefined);
      return { ...decided, after: await this.append(batch, decided) };
    });
    if (after !== undefined) this.cache.put(shipmentId, after);
    await this.settle(batch.stream, jobs, decision, after);
    return decision.outcomes.length;
  }

  /** Retries after a conflict, which means that another replica wrote. */
  private async retryConflicts<T>(deadline: number, action: (conflicts: number) => Promise<T>): Promise<T> {
    try {
      return await retry(action, {
        ...RETRY_PAUSES,
        deadline,
        isTransient: (error) => error instanceof VersionConflict,
        onFailure: (error) => error instanceof VersionConflict && this.options.conflicts.add(),
      });
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      throw new Busy('shipments', 'others write to this shipment all the time');
    }
  }

  /** If some command writes nothing, a successful append does not prove that the cached state was current: re-reads the stream. */
  private async decide({ stream, commands }: QueuedCommands, cached: LoadedShipment | undefined): Promise<Decided> {
    const known = cached ?? (await readShipment(this.store, stream));
    const basis = await this.basis(known?.state ?? commands[0]);
    const decision = decideBatch(commands, known, basis);
    if (decision.proven || cached === undefined) return { known, decision };
    const current = await readShipment(this.store, stream, cached);
    if (current === cached) return { known, decision };
    return { known: current, decision: decideBatch(commands, current, basis) };
  }

  private async basis(of: { readonly workspace_id: string } | undefined): Promise<DecisionBasis> {
    const { places, settings } = this.options;
    return { places, settings: await settings.of(of?.workspace_id ?? '') };
  }

  /**
   * The shipment after the batch. An unknown outcome is asked again, the same events at the same revision.
   * @throws VersionConflict
   */
  private async append(batch: QueuedCommands, { known, decision }: Decided): Promise<LoadedShipment | undefined> {
    const { after, events } = decision;
    if (events.length === 0 || after === undefined) return known;
    let unknown: Unavailable | undefined;
    try {
      const append = () => this.store.append(batch.stream, known?.revision ?? 'no_stream', events);
      const appended = await retry(append, {
        ...RETRY_PAUSES,
        deadline: batch.deadline,
        // Those who refuse did nothing: in this attempt, not in one before it.
        isTransient: (error) => unknown !== undefined && error instanceof Unavailable,
        onFailure: (error) => {
          if (!isOutcomeUnknown(error)) return;
          if (unknown === undefined) this.logRepeated(batch.commands, error.message);
          unknown = error;
        },
      });
      return { ...after, ...appended };
    } catch (error) {
      if (error instanceof AppendTooLarge) throw commandTooLarge();
      throw error instanceof Unavailable ? (unknown ?? error) : error;
    }
  }

  private logRepeated(commands: readonly ShipmentCommand[], reason: string): void {
    for (const command of commands) {
      const { shipment_id } = command;
      this.options.logger.warn({ ...originFields(command), shipment_id, reason }, 'an append is repeated');
    }
  }

  private async settle(
    stream: string,
    jobs: readonly QueuedJob[],
    { outcomes }: BatchDecision,
    after: LoadedShipment | undefined,
  ): Promise<void> {
    const repeated: QueuedJob[] = [];
    for (const [index, job] of jobs.slice(0, outcomes.length).entries()) {
      const outcome = outcomes[index];
      if (outcome?.kind === 'failed') job.fail(outcome.error);
      else if (outcome?.kind === 'answered' && after) job.answer({ answer: outcome.answer, position: after.position });
      else repeated.push(job);
    }
    for (const { item, answer, fail } of repeated) {
      const { command } = item;
      try {
        const outcome = await findOutcome(this.store, stream, command);
        answer(rebuildAnswer(command, outcome, contextFor(command, await this.basis(command))));
      } catch (error) {
        fail(error);
      }
    }
  }
}

function isOutcomeUnknown(error: unknown): error is Unavailable {
  return error instanceof Unavailable && !isKnownUndone(error);
}

/** One item and whoever waits for its answer. Settling it twice changes nothing. */
interface Queued<T, R> {
  readonly item: T;
  readonly answer: (result: R) => void;
  readonly fail: (error: unknown) => void;
}

/** Answers or fails every item of the batch; when it throws, those not answered yet fail with the error. */
export type KeyedBatchHandler<T, R> = (key: string, batch: readonly Queued<T, R>[]) => Promise<void>;

interface BatchLimits {
  /** Most items handed over at once. */
  readonly perBatch: number;
  /** Most items waiting for one key, so that one key cannot take the room of all others. */
  readonly perKey: number;
  /** Most items not answered yet, over all keys. */
  readonly total: number;
}

/**
 * Work in order per key, and side by side between keys. Items that arrive while their key is being worked on wait and
 * are then handed over together: the more there are, the fewer commits each of them waits for.
 */
export class KeyedBatches<T, R> {
  /** Waiting items by key; a key is there for as long as it is being worked on. */
  private readonly queues = new Map<string, Queued<T, R>[]>();
  private unanswered = 0;

  constructor(
    private readonly handle: KeyedBatchHandler<T, R>,
    private readonly limits: BatchLimits,
  ) {}

  /** Items not answered yet. */
  get depth(): number {
    return this.unanswered;
  }

  /** @throws Busy when the key's queue or all together are full */
  async submit(key: string, item: T): Promise<R> {
    const queue = this.queues.get(key);
    if (this.unanswered >= this.limits.total || (queue?.length ?? 0) >= this.limits.perKey) {
      throw new Busy('shipments', 'too many commands wait');
    }
    const { promise, resolve: answer, reject: fail } = Promise.withResolvers<R>();
    this.unanswered++;
    if (queue === undefined) {
      this.queues.set(key, []);
      void this.work(key, [{ item, answer, fail }]);
    } else {
      queue.push({ item, answer, fail });
    }
    return promise;
  }

  private async work(key: string, first: readonly Queued<T, R>[]): Promise<void> {
    let batch = first;
    while (batch.length > 0) {
      try {
        await this.handle(key, batch);
      } catch (error) {
        for (const queued of batch) queued.fail(error);
      }
      this.unanswered -= batch.length;
      batch = this.queues.get(key)?.splice(0, this.limits.perBatch) ?? [];
      // Work that waited for nothing must not keep the thread from everybody else.
      if (batch.length > 0) await nextTurn();
    }
    this.queues.delete(key);
  }
}
