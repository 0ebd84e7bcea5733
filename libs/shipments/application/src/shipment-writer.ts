import {
  AppendTooLargeError,
  BusyError,
  type Counter,
  type EventStore,
  isErrorWithoutEffect,
  type Logger,
  toOriginLogFields,
  UnavailableError,
  VersionConflictError,
} from '@tracking/ports';
import { monotonicMs, retry, withDeadline } from '@tracking/resilience';
import { type DecideContext, type ShipmentCommand, toShipmentStreamName } from '@tracking/shipments-domain';
import {
  type BatchDecision,
  createDecideContext,
  decideCommandBatch,
  type DecisionBasis,
  findStoredCommandOutcomes,
  rebuildAnswerToCommand,
  type RuleSettingsReader,
  type ShipmentAnswer,
  type StoredEventsOfCommand,
  createCommandTooLargeError,
  type AnswerWithPosition,
} from './decide-batch.ts';
import { KeyedBatchQueues, type QueuedItem } from './keyed-batches.ts';
import { type LoadedShipment, readShipment, type ShipmentCache } from './shipment-cache.ts';

export interface CommandLimits {
  /** Maximum milliseconds for one command from its arrival to its result, including queueing, conflicts and retries. */
  readonly deadlineMs: number;
  /** Milliseconds after which a silent event store counts as unavailable; longer than the deadline of commands. */
  readonly silenceMs: number;
  /** Maximum number of unanswered commands, per shipment and in total. Further commands get `BusyError`. */
  readonly commandsPerShipment: number;
  readonly commands: number;
}

interface ShipmentWriterOptions {
  readonly eventStore: EventStore;
  readonly cache: ShipmentCache;
  readonly places: DecideContext['places'];
  readonly settings: RuleSettingsReader;
  readonly logger: Logger;
  readonly conflicts: Counter;
  readonly limits: CommandLimits;
}

/** Pauses between retries. They are short, because conflicts and failovers end within milliseconds. */
const RETRY_PAUSES_MS = { firstPauseMs: 10, maxPauseMs: 500 };
/** Maximum number of commands in one append. It limits how long a batch blocks the thread. */
const MAX_COMMANDS_PER_BATCH = 32;

interface CommandWithDeadline {
  readonly command: ShipmentCommand;
  /** Deadline in milliseconds of the monotonic clock. */
  readonly deadline: number;
}
type QueuedJob = QueuedItem<CommandWithDeadline, AnswerWithPosition<ShipmentAnswer>>;

/** Commands of one shipment that can be appended together. */
interface QueuedCommands {
  readonly stream: string;
  readonly commands: readonly ShipmentCommand[];
  readonly deadline: number;
}
interface DecidedCommands {
  /** State of the shipment on which the commands were decided. */
  readonly known: LoadedShipment | undefined;
  readonly decision: BatchDecision;
}

/**
 * Executes commands: loads the shipment, decides, and appends events at the loaded revision. Commands of one shipment
 * are queued. All queued commands are decided one after another and appended together, so only another replica can
 * cause a conflict.
 */
export class ShipmentCommandExecutor {
  private readonly batches: KeyedBatchQueues<CommandWithDeadline, AnswerWithPosition<ShipmentAnswer>>;
  private readonly store: EventStore;
  private readonly cache: ShipmentCache;

  constructor(private readonly options: ShipmentWriterOptions) {
    const { commandsPerShipment: perKey, commands: total } = options.limits;
    this.store = options.eventStore;
    this.cache = options.cache;
    this.batches = new KeyedBatchQueues((id, batch) => this.writeCommandBatch(id, batch), {
      perBatch: MAX_COMMANDS_PER_BATCH,
      perKey,
      total,
    });
  }

  /** Number of commands that have not been answered. */
  get depth(): number {
    return this.batches.depth;
  }

  /** Executes a command. @throws DomainError, UnavailableError if the outcome is unknown, BusyError */
  async executeCommand(command: ShipmentCommand): Promise<AnswerWithPosition<ShipmentAnswer>> {
    const { deadlineMs, silenceMs } = this.options.limits;
    const submitted = this.batches.enqueueItemAndAwaitResult(command.shipment_id, {
      command,
      deadline: monotonicMs() + deadlineMs,
    });
    return await withDeadline(submitted, silenceMs, () => new UnavailableError('event store', 'no response in time'));
  }

  private async writeCommandBatch(shipmentId: string, batch: readonly QueuedJob[]): Promise<void> {
    const now = monotonicMs();
    let rest = batch.filter(({ item, fail }) => {
      if (item.deadline > now) return true;
      fail(new BusyError('shipments', 'the command waited too long in the queue'));
      return false;
    });
    try {
      while (rest.length > 0) rest = rest.slice(await this.commitQueuedCommands(shipmentId, rest));
    } catch (error) {
      // `BusyError` means that nothing was written. After any other error, the cached shipment may lack stored events.
      if (!(error instanceof BusyError)) this.cache.dropCachedShipment(shipmentId);
      throw error;
    }
  }

  /** Decides and appends as many commands as fit into one append. Returns the number of settled commands. */
  private async commitQueuedCommands(shipmentId: string, jobs: readonly QueuedJob[]): Promise<number> {
    const batch = {
      stream: toShipmentStreamName(shipmentId),
      commands: jobs.map(({ item }) => item.command),
      // Commands that are appended together share the deadline of the command that arrived last.
      deadline: Math.max(...jobs.map(({ item }) => item.deadline)),
    };
    const cached = this.cache.getShipment(shipmentId);
    const { decision, after } = await this.retryConflicts(batch.deadline, async (conflicts) => {
      const created =
        cached === undefined && conflicts === 0 ? await this.createShipmentsWithoutReadingStream(batch) : undefined;
      if (created !== undefined) return created;
      const decided = await this.decideCommands(batch, conflicts === 0 ? cached : undefined);
      return { ...decided, after: await this.appendEvents(batch, decided) };
    });
    if (after !== undefined) this.cache.cacheShipment(shipmentId, after);
    await this.answerQueuedCommands(batch.stream, jobs, decision, after);
    return decision.outcomes.length;
  }

  /** Retries an action after a version conflict, which means that another replica wrote. */
  private async retryConflicts<T>(deadline: number, action: (conflicts: number) => Promise<T>): Promise<T> {
    try {
      return await retry(action, {
        ...RETRY_PAUSES_MS,
        deadline,
        isTransient: (error) => error instanceof VersionConflictError,
        onFailure: (error) => error instanceof VersionConflictError && this.options.conflicts.add(),
      });
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
      throw new BusyError('shipments', 'other replicas keep writing to this shipment');
    }
  }

  /**
   * Appends commands that create a shipment without reading its stream first. Returns undefined if the stream exists, or
   * if some command appends no events to a new stream: the commands must then be decided on the current stream.
   */
  private async createShipmentsWithoutReadingStream(batch: QueuedCommands) {
    const [first] = batch.commands;
    if (first?.type !== 'UpsertShipment') return undefined;
    const decision = decideCommandBatch(batch.commands, undefined, await this.readDecisionBasis(first));
    if (!decision.proven) return undefined;
    try {
      return { decision, after: await this.appendEvents(batch, { known: undefined, decision }) };
    } catch (error) {
      if (error instanceof VersionConflictError) return undefined;
      throw error;
    }
  }

  /** If a command writes nothing, the append does not prove that the cached state was current. */
  private async decideCommands(
    { stream, commands }: QueuedCommands,
    cached: LoadedShipment | undefined,
  ): Promise<DecidedCommands> {
    // The settings that the command probably needs are read at the same time, so that both reads take one round trip.
    const reads = () => Promise.all([readShipment(this.store, stream), this.readDecisionBasis(commands[0])]);
    const known = cached ?? (await reads())[0];
    const basis = await this.readDecisionBasis(known?.state ?? commands[0]);
    const decision = decideCommandBatch(commands, known, basis);
    if (decision.proven || cached === undefined) return { known, decision };
    const current = await readShipment(this.store, stream, cached);
    if (current === cached) return { known, decision };
    return { known: current, decision: decideCommandBatch(commands, current, basis) };
  }

  private async readDecisionBasis(of: { readonly workspace_id: string } | undefined): Promise<DecisionBasis> {
    const { places, settings } = this.options;
    return { places, settings: await settings.getCachedSettings(of?.workspace_id ?? '') };
  }

  /**
   * Appends the decided events and returns the shipment after them. If the outcome is unknown, repeats the same events
   * at the same revision.
   * @throws VersionConflictError
   */
  private async appendEvents(
    batch: QueuedCommands,
    { known, decision }: DecidedCommands,
  ): Promise<LoadedShipment | undefined> {
    const { after, events } = decision;
    if (events.length === 0 || after === undefined) return known;
    let unknown: UnavailableError | undefined;
    try {
      const append = () => this.store.append(batch.stream, known?.revision ?? 'no_stream', events);
      const appended = await retry(append, {
        ...RETRY_PAUSES_MS,
        deadline: batch.deadline,
        // A refusal proves only that this attempt wrote nothing, but an earlier attempt may have written.
        isTransient: (error) => unknown !== undefined && error instanceof UnavailableError,
        onFailure: (error) => {
          if (!isOutcomeUnknown(error)) return;
          if (unknown === undefined) this.logAppendRepeatedAfterUnknownOutcome(batch.commands, error.message);
          unknown = error;
        },
      });
      return { ...after, ...appended };
    } catch (error) {
      if (error instanceof AppendTooLargeError) throw createCommandTooLargeError();
      throw error instanceof UnavailableError ? (unknown ?? error) : error;
    }
  }

  private logAppendRepeatedAfterUnknownOutcome(commands: readonly ShipmentCommand[], reason: string): void {
    for (const command of commands) {
      const { shipment_id } = command;
      this.options.logger.warn(
        { ...toOriginLogFields(command), shipment_id, reason },
        'an append with an unknown outcome is repeated',
      );
    }
  }

  private async answerQueuedCommands(
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
    if (repeated.length > 0) await this.answerRepeatedCommands(stream, repeated);
  }

  /** Answers stored commands. They share one read of the stream, which can have thousands of events. */
  private async answerRepeatedCommands(stream: string, jobs: readonly QueuedJob[]): Promise<void> {
    const jobsById = Map.groupBy(jobs, ({ item }) => item.command.id);
    try {
      for await (const outcome of findStoredCommandOutcomes(this.store, stream, jobsById.keys())) {
        for (const job of jobsById.get(outcome.commandId) ?? []) await this.answerRepeatedCommand(job, outcome);
      }
      for (const { item, fail } of jobs)
        fail(new Error(`the stream has no event of ${item.command.type} ${item.command.id}`));
    } catch (error) {
      for (const { fail } of jobs) fail(error);
    }
  }

  private async answerRepeatedCommand({ item, answer, fail }: QueuedJob, outcome: StoredEventsOfCommand) {
    const { command } = item;
    try {
      const context = createDecideContext(command, await this.readDecisionBasis(command));
      answer(rebuildAnswerToCommand(command, outcome, context));
    } catch (error) {
      fail(error);
    }
  }
}

function isOutcomeUnknown(error: unknown): error is UnavailableError {
  return error instanceof UnavailableError && !isErrorWithoutEffect(error);
}
