import { setTimeout as pause } from 'node:timers/promises';
import type { Clock, Logger } from '@tracking/ports';
import { awaitsAttempt } from '../deliveries/delivery-document.ts';
import { traceFields } from '../tracing.ts';
import { Agenda } from './agenda.ts';
import { type AttemptRun, PayloadMissing } from './attempt-run.ts';
import type { Lane } from './lane.ts';
import type { Lanes } from './lanes.ts';
import type { Persistence } from './persistence.ts';
import type { Queues } from './queues.ts';
import { recover, wantsRecovery } from './recovery.ts';
import { Turns } from './turns.ts';
import { type Waiting, toWaiting } from './waiting-list.ts';

/** How soon an attempt is tried again that lacked its payload. */
const AGAIN_MS = 500;
/** How long an endpoint waits when something of ours kept an attempt from being made. */
const BLOCKED_MS = 5_000;

/** Attempts what is due, endpoint by endpoint in turn. Which endpoints it serves others decide. */
export class Dispatcher {
  private readonly turns: Turns;
  private readonly agenda: Agenda<Lane>;
  private stopping = false;
  /** Attempts under way and outcomes not stored yet. */
  private readonly unsettled = new Set<Promise<void>>();

  /** @param maxInFlight most requests at once; and most outcomes that wait to be stored */
  constructor(
    private readonly lanes: Lanes,
    private readonly queues: Queues,
    private readonly attempt: AttemptRun,
    private readonly maxInFlight: number,
    private readonly persistence: Persistence,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.turns = new Turns(maxInFlight);
    this.agenda = new Agenda(
      () => clock().getTime(),
      (lane) => this.serve(lane),
    );
  }

  get inFlight(): number {
    return this.turns.inFlight;
  }

  /** Attempts whose outcome waits to be stored. */
  get unstored(): number {
    return this.unsettled.size - this.turns.inFlight;
  }

  /** Sees to a lane after anything about it changed. */
  serve(lane: Lane): void {
    this.consider(lane);
    this.pump();
  }

  /** Reads what a lane needs to go on. */
  fill(lane: Lane): Promise<void> {
    return (lane.filling ??= this.despiteFailures('reading what waits for an endpoint', () =>
      this.lanes.fill(lane),
    ).then(() => {
      lane.filling = undefined;
      this.serve(lane);
    }));
  }

  /** Serves it no more; what is under way ends and is stored. */
  abandon(lane: Lane): void {
    this.lanes.drop(lane);
    this.turns.remove(lane);
    this.agenda.forget(lane);
  }

  /** Begins nothing more; resolves when nothing is under way and every outcome is stored. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.agenda.close();
    await Promise.allSettled(this.unsettled);
  }

  /** Has it filled, has it take its turn, or has it woken when its time comes. */
  private consider(lane: Lane): void {
    if (!lane.active || this.stopping) return;
    const now = this.clock().getTime();
    if (this.lanes.isLacking(lane)) void this.fill(lane);
    if (lane.canTake(now)) return this.turns.add(lane);
    const moment = lane.nextMoment;
    if (moment !== undefined) this.agenda.at(lane, moment);
    if (wantsRecovery(lane, now)) void this.recover(lane);
  }

  private pump(): void {
    while (!this.stopping && this.unsettled.size < 2 * this.maxInFlight) {
      const lane = this.turns.next();
      if (lane === undefined) return;
      const item = lane.take(this.clock().getTime());
      if (item !== undefined) this.begin(lane, item);
      this.consider(lane);
    }
  }

  private begin(lane: Lane, item: Waiting): void {
    const end = this.turns.begin(lane);
    lane.attempting += 1;
    const answered = () => {
      if (!end()) return;
      lane.attempting -= 1;
      this.serve(lane);
    };
    const work = this.attempt
      .run(lane, item, answered)
      .then(
        (after) => {
          lane.busy.delete(item.id);
          lane.backlog.noteChange(item.id);
          if (after === undefined || !awaitsAttempt(after)) return;
          if (lane.endpoint.deleted) void this.discard(lane);
          else if (lane.active) lane.backlog.add(toWaiting(after, performance.now()), this.lanes.room(lane));
        },
        (error: unknown) => this.putBack(lane, item, error),
      )
      .then(() => {
        this.unsettled.delete(work);
        answered();
        this.serve(lane);
      });
    this.unsettled.add(work);
  }

  private putBack(lane: Lane, item: Waiting, error: unknown): void {
    lane.busy.delete(item.id);
    if (this.persistence.ended.aborted) return;
    const now = this.clock().getTime();
    const about = { endpoint: lane.id, delivery: item.id, ...traceFields(item.delivery), reason: String(error) };
    if (error instanceof PayloadMissing && item.delivery.manual_at === null && !item.delivery.sandbox) {
      this.logger.debug(about, 'webhooks: an attempt waits for its payload');
      return lane.backlog.putBack({ ...item, due: now + AGAIN_MS });
    }
    this.logger.error(about, 'webhooks: no attempt was made');
    lane.blockedUntil = now + BLOCKED_MS;
    lane.backlog.putBack(item);
  }

  private async recover(lane: Lane): Promise<void> {
    lane.recovering = true;
    await this.despiteFailures('bringing deliveries forward', async () => {
      await recover(lane, this.queues, this.clock);
      await this.lanes.remember(lane, this.clock().getTime());
    });
    lane.recovering = false;
    this.serve(lane);
  }

  /** It was recorded, or put off, while its endpoint was being deleted. */
  private async discard(lane: Lane): Promise<void> {
    this.abandon(lane);
    const at = this.clock().toISOString();
    await this.despiteFailures('discarding what waits', () => this.queues.discard(lane.id, at));
  }

  private async despiteFailures(what: string, work: () => Promise<void>): Promise<void> {
    const { ended } = this.persistence;
    try {
      await this.persistence.until(what, work);
    } catch (error) {
      if (ended.aborted) return;
      this.logger.error({ reason: String(error) }, `webhooks: ${what} failed`);
      await pause(BLOCKED_MS, undefined, { signal: ended }).catch(() => undefined);
    }
  }
}
