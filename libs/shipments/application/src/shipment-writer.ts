import {
  AppendTooLarge,
  Busy,
  type Counter,
  type EventStore,
  type Logger,
  Unavailable,
  VersionConflict,
  WritesRefused,
  originFields,
} from '@tracking/ports';
import type { DecideContext, ShipmentCommand } from '@tracking/shipments-domain';
import { streamOf } from '@tracking/shipments-domain';
import { type ShipmentAnswer, type Written, rebuildAnswer } from './answers.ts';
import { backOff, monotonic } from './backoff.ts';
import { type BatchDecision, contextFor, decideBatch, tooLarge } from './decide-batch.ts';
import { KeyedBatches, type Waiting } from './keyed-batches.ts';
import type { ShipmentCache } from './shipment-cache.ts';
import { type LoadedShipment, readShipment } from './shipment-stream.ts';

export interface WriterLimits {
  /** Milliseconds for one command from its arrival: waiting for others, conflicts and an engine's silence together. */
  readonly deadlineMs: number;
  /** Most commands that wait for one shipment, and most in all; beyond, `Busy`. */
  readonly commandsPerShipment: number;
  readonly commands: number;
}

export interface WriterOptions {
  readonly eventStore: EventStore;
  readonly cache: ShipmentCache;
  readonly places: DecideContext['places'];
  readonly logger: Logger;
  readonly conflicts: Counter;
  readonly limits: WriterLimits;
}

/** Most commands of one shipment decided and appended together: bounds how long the thread is kept from others. */
const PER_BATCH = 32;

interface Job {
  readonly command: ShipmentCommand;
  /** By the monotonic clock. */
  readonly deadline: number;
}
type WaitingJob = Waiting<Job, Written<ShipmentAnswer>>;

/**
 * Carries commands out: load, decide, append at the revision read. Those of one shipment queue here, and all that wait
 * are decided one after another and appended as one: a conflict can only come from another replica.
 */
export class ShipmentWriter {
  private readonly batches: KeyedBatches<Job, Written<ShipmentAnswer>>;
  private readonly store: EventStore;
  private readonly cache: ShipmentCache;
  private readonly places: DecideContext['places'];

  constructor(private readonly options: WriterOptions) {
    const { commandsPerShipment: perKey, commands: total } = options.limits;
    this.store = options.eventStore;
    this.cache = options.cache;
    this.places = options.places;
    this.batches = new KeyedBatches((id, batch) => this.work(id, batch), { perBatch: PER_BATCH, perKey, total });
  }

  /** Commands not answered yet. */
  get depth(): number {
    return this.batches.depth;
  }

  /** @throws DomainError, Unavailable when the outcome is unknown, Busy */
  write(command: ShipmentCommand): Promise<Written<ShipmentAnswer>> {
    const deadline = monotonic() + this.options.limits.deadlineMs;
    return this.batches.submit(command.shipment_id, { command, deadline });
  }

  private async work(shipmentId: string, batch: readonly WaitingJob[]): Promise<void> {
    const now = monotonic();
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
  private async commit(shipmentId: string, jobs: readonly WaitingJob[]): Promise<number> {
    const stream = streamOf(shipmentId);
    const commands = jobs.map(({ item }) => item.command);
    // What is appended together is given up together: by the last to arrive.
    const deadline = Math.max(...jobs.map(({ item }) => item.deadline));
    let known = this.cache.get(shipmentId);
    let isFresh = known === undefined;
    known ??= await readShipment(this.store, stream);
    for (let attempt = 0; ; attempt++) {
      const decided = decideBatch(commands, known, this.places);
      if (!decided.proven && !isFresh) {
        const current = await readShipment(this.store, stream, known);
        const isBehind = current !== known;
        [known, isFresh] = [current, true];
        if (isBehind) continue;
      }
      const after = await this.append(stream, known, decided, deadline, commands);
      if (after !== 'conflict') {
        if (after !== undefined) this.cache.put(shipmentId, after);
        await this.settle(stream, jobs, decided, after);
        return decided.outcomes.length;
      }
      this.options.conflicts.add();
      const isTimeLeft = await backOff(attempt, deadline);
      if (!isTimeLeft) throw new Busy('shipments', 'others write to this shipment all the time');
      [known, isFresh] = [await readShipment(this.store, stream), true];
    }
  }

  /** The shipment after the batch. An unknown outcome is asked again, the same events at the same revision. */
  private async append(
    stream: string,
    known: LoadedShipment | undefined,
    { after, events }: BatchDecision,
    deadline: number,
    commands: readonly ShipmentCommand[],
  ): Promise<LoadedShipment | 'conflict' | undefined> {
    if (events.length === 0 || after === undefined) return known;
    let unknown: Unavailable | undefined;
    for (let attempt = 0; ; attempt++) {
      try {
        return { ...after, ...(await this.store.append(stream, known?.revision ?? 'no_stream', events)) };
      } catch (error) {
        if (error instanceof VersionConflict) return 'conflict';
        if (error instanceof AppendTooLarge) throw tooLarge();
        if (!(error instanceof Unavailable)) throw error;
        if (error instanceof WritesRefused && unknown === undefined) throw error;
        // Busy says that nothing was done: by this attempt, not by one before it.
        if (!(error instanceof Busy)) {
          if (unknown === undefined) this.tellRepeated(commands, error.message);
          unknown = error;
        }
        if (unknown === undefined || !(await backOff(attempt, deadline))) throw unknown ?? error;
      }
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
    jobs: readonly WaitingJob[],
    { outcomes }: BatchDecision,
    after: LoadedShipment | undefined,
  ): Promise<void> {
    const repeated: WaitingJob[] = [];
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
        answer(rebuildAnswer(item.command, history, contextFor(item.command, this.places)));
      } catch (error) {
        fail(error);
      }
    }
  }
}
