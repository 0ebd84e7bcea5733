import {
  AppendTooLarge,
  Busy,
  type Counter,
  type EventStore,
  type Logger,
  Unavailable,
  VersionConflict,
  isKnownUndone,
  originFields,
} from '@tracking/ports';
import { monotonicMs, retry, withDeadline } from '@tracking/resilience';
import type { RuleSettingsReader } from './rule-settings.ts';
import type { DecideContext, ShipmentCommand } from '@tracking/shipments-domain';
import { streamOf } from '@tracking/shipments-domain';
import { type ShipmentAnswer, type Written, rebuildAnswer } from './answers.ts';
import { type BatchDecision, type DecisionBasis, contextFor, decideBatch, tooLarge } from './decide-batch.ts';
import { KeyedBatches, type Queued } from './keyed-batches.ts';
import type { ShipmentCache } from './shipment-cache.ts';
import { type LoadedShipment, readShipment } from './shipment-stream.ts';

export interface CommandLimits {
  /** Milliseconds for one command from its arrival: waiting for others, conflicts and repeats together. */
  readonly deadlineMs: number;
  /** Milliseconds until an event store that says nothing is given up; longer than the deadline, which tells more. */
  readonly silenceMs: number;
  /** Most commands that wait for one shipment, and most in all; beyond, `Busy`. */
  readonly commandsPerShipment: number;
  readonly commands: number;
}

export interface WriterOptions {
  readonly eventStore: EventStore;
  readonly cache: ShipmentCache;
  readonly places: DecideContext['places'];
  readonly settings: RuleSettingsReader;
  readonly logger: Logger;
  readonly conflicts: Counter;
  readonly limits: CommandLimits;
}

/** Other replicas and engines are back within moments, and a command has seconds. */
const PAUSES = { firstPauseMs: 10, longestPauseMs: 500 };
/** Most commands of one shipment decided and appended together: bounds how long the thread is kept from others. */
const PER_BATCH = 32;

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
    this.batches = new KeyedBatches((id, batch) => this.work(id, batch), { perBatch: PER_BATCH, perKey, total });
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

  private async work(shipmentId: string, batch: readonly QueuedJob[]): Promise<void> {
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

  /** Decides as many as one append holds, appends, and answers them. Answers how many that were. */
  private async commit(shipmentId: string, jobs: readonly QueuedJob[]): Promise<number> {
    const batch = {
      stream: streamOf(shipmentId),
      commands: jobs.map(({ item }) => item.command),
      // What is appended together is given up together: by the last to arrive.
      deadline: Math.max(...jobs.map(({ item }) => item.deadline)),
    };
    const cached = this.cache.get(shipmentId);
    const { decision, after } = await this.untilNoConflict(batch.deadline, async (conflicts) => {
      const decided = await this.decide(batch, conflicts === 0 ? cached : undefined);
      return { ...decided, after: await this.append(batch, decided) };
    });
    if (after !== undefined) this.cache.put(shipmentId, after);
    await this.settle(batch.stream, jobs, decision, after);
    return decision.outcomes.length;
  }

  /** A conflict means that another replica wrote: what is decided anew on what it left may be appended. */
  private async untilNoConflict<T>(deadline: number, action: (conflicts: number) => Promise<T>): Promise<T> {
    try {
      return await retry(action, {
        ...PAUSES,
        deadline,
        isTransient: (error) => error instanceof VersionConflict,
        onFailure: (error) => error instanceof VersionConflict && this.options.conflicts.add(),
      });
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      throw new Busy('shipments', 'others write to this shipment all the time');
    }
  }

  /** Where not every command writes, an append does not prove that what is cached is not behind: it is looked whether it is. */
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
        ...PAUSES,
        deadline: batch.deadline,
        // Those who refuse did nothing: in this attempt, not in one before it.
        isTransient: (error) => unknown !== undefined && error instanceof Unavailable,
        onFailure: (error) => {
          if (!isOutcomeUnknown(error)) return;
          if (unknown === undefined) this.tellRepeated(batch.commands, error.message);
          unknown = error;
        },
      });
      return { ...after, ...appended };
    } catch (error) {
      if (error instanceof AppendTooLarge) throw tooLarge();
      throw error instanceof Unavailable ? (unknown ?? error) : error;
    }
  }

  private tellRepeated(commands: readonly ShipmentCommand[], reason: string): void {
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
    if (repeated.length === 0) return;
    const history = await this.store.read(stream);
    for (const { item, answer, fail } of repeated) {
      try {
        answer(rebuildAnswer(item.command, history, contextFor(item.command, await this.basis(item.command))));
      } catch (error) {
        fail(error);
      }
    }
  }
}

function isOutcomeUnknown(error: unknown): error is Unavailable {
  return error instanceof Unavailable && !isKnownUndone(error);
}
