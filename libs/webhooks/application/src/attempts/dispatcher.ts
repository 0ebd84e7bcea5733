import type { Clock, Logger } from '@tracking/ports';
import { pause } from '@tracking/resilience';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { BacklogDiscarding } from '../replays/discarding.ts';
import { type DeliveryDocument, awaitsAttempt } from '../store/delivery-document.ts';
import { traceFields } from '../tracing.ts';
import { PayloadMissing } from './attempt-preparation.ts';
import { DelayQueue, type SetTimer } from './delay-queue.ts';
import type { EngineRetry } from './engine-retry.ts';
import type { FailingAlarm } from './failing-alarm.ts';
import { FairScheduler } from './fair-scheduler.ts';
import type { OwnedEndpoint, RunningReplay } from './owned-endpoint.ts';
import type { OwnedEndpoints } from './owned-endpoints.ts';
import { PacedTurns } from './paced-turns.ts';
import { type PendingDelivery, toPending } from './priority-queue.ts';
import type { LoopTime } from './spare-time.ts';

/** How soon an attempt is tried again that lacked its payload. */
const AGAIN_MS = 500;
/** How long an endpoint waits when something of ours kept an attempt from being made. */
const BLOCKED_MS = 5_000;

/**
 * Attempts the delivery and stores what came of it. Resolves with it as it is stored then; undefined when it is gone.
 * @param answered called when the endpoint has answered: the next attempt may begin while the outcome is being stored
 */
export type MakeAttempt = (
  owned: OwnedEndpoint,
  pending: PendingDelivery,
  answered: () => void,
) => Promise<DeliveryDocument | undefined>;

export interface DispatcherParts {
  readonly endpoints: OwnedEndpoints;
  /** Requests that everything waiting for a deleted endpoint is discarded. */
  readonly backlogs: Pick<BacklogDiscarding, 'request'>;
  readonly attempt: MakeAttempt;
  readonly alarm: FailingAlarm;
  /** The endpoint answered 410: disables it and resolves with it as it is then. @throws Unavailable */
  disable(endpoint: EndpointDocument): Promise<EndpointDocument>;
  /** The replay that runs for an endpoint, as it is stored. */
  openReplay(owned: OwnedEndpoint): Promise<RunningReplay | undefined>;
  /** Most requests at once; and most outcomes that wait to be stored. */
  readonly maxInFlight: number;
  readonly engines: EngineRetry;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of this thread by default. */
  readonly loopTime?: (() => LoopTime) | undefined;
  /** Wakes endpoints when their next attempt is due. System timers by default. */
  readonly setTimer?: SetTimer | undefined;
}

/** Attempts what is due, endpoint by endpoint in turn. Which endpoints it serves others decide. */
export class Dispatcher {
  private readonly scheduler: FairScheduler;
  /** Endpoints for which the next attempt comes due later. */
  private readonly later: DelayQueue<OwnedEndpoint>;
  private readonly paced: PacedTurns;
  private stopping = false;
  /** Attempts under way and outcomes not stored yet. */
  private readonly unsettled = new Set<Promise<void>>();
  /** Endpoints that are being disabled after a 410. */
  private readonly disabling = new Set<Promise<void>>();

  constructor(private readonly parts: DispatcherParts) {
    this.scheduler = new FairScheduler(parts.maxInFlight);
    this.later = new DelayQueue(
      () => parts.clock().getTime(),
      (owned) => this.serve(owned),
      parts.setTimer,
    );
    this.paced = new PacedTurns((owned) => this.serve(owned), parts.loopTime);
  }

  get inFlight(): number {
    return this.scheduler.inFlight;
  }

  /** Attempts whose outcome waits to be stored. */
  get unstored(): number {
    return this.unsettled.size - this.scheduler.inFlight;
  }

  /** Sees to an endpoint after anything about it changed. */
  serve(owned: OwnedEndpoint): void {
    this.consider(owned);
    this.pump();
  }

  /** Reads what an endpoint needs to go on. */
  fill(owned: OwnedEndpoint): Promise<void> {
    return (owned.filling ??= this.despiteFailures('reading what waits for an endpoint', () =>
      this.parts.endpoints.fill(owned),
    ).then(() => {
      owned.filling = undefined;
      this.serve(owned);
    }));
  }

  /** Serves it no more; what is under way ends and is stored. */
  abandon(owned: OwnedEndpoint): void {
    this.parts.endpoints.drop(owned);
    this.scheduler.remove(owned);
    this.later.remove(owned);
    this.paced.remove(owned);
  }

  /** Begins nothing more; resolves when nothing is under way, every outcome is stored and what answered 410 is disabled. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.later.close();
    this.paced.close();
    await Promise.allSettled(this.unsettled);
    await Promise.allSettled(this.disabling);
  }

  /** Has it filled, has it take its turn, or has it woken when its time comes. */
  private consider(owned: OwnedEndpoint): void {
    if (owned.gone !== undefined) this.disable(owned, owned.gone);
    if (!owned.active || this.stopping) return;
    const now = this.parts.clock().getTime();
    if (this.parts.endpoints.isLacking(owned)) void this.fill(owned);
    this.watch(owned, now);
    if (owned.hasRecovered) void this.endRecovery(owned);
    if (owned.canTake(now)) return this.scheduler.add(owned);
    if (owned.wantsReplay(now) && this.paced.admitsReplay(owned)) void this.replay(owned);
    for (const moment of [owned.nextMoment, owned.replay?.nextMoment(now)]) {
      if (moment !== undefined) this.later.at(owned, moment);
    }
  }

  private pump(): void {
    while (!this.stopping && this.unsettled.size < 2 * this.parts.maxInFlight) {
      const owned = this.scheduler.next();
      if (owned === undefined) return;
      if (!this.paced.admits(owned)) continue;
      const item = owned.take(this.parts.clock().getTime());
      if (item !== undefined) this.begin(owned, item);
      this.consider(owned);
    }
  }

  private begin(owned: OwnedEndpoint, item: PendingDelivery): void {
    const end = this.scheduler.begin(owned);
    owned.attempting += 1;
    const answered = () => {
      if (!end()) return;
      owned.attempting -= 1;
      this.serve(owned);
    };
    const work = this.parts
      .attempt(owned, item, answered)
      .then(
        (after) => this.takeBack(owned, item, after),
        (error: unknown) => this.putBack(owned, item, error),
      )
      .then(() => {
        this.unsettled.delete(work);
        answered();
        this.serve(owned);
      });
    this.unsettled.add(work);
  }

  /** Keeps it for its next attempt, if there is one to be made. */
  private takeBack(owned: OwnedEndpoint, { id }: PendingDelivery, after: DeliveryDocument | undefined): void {
    owned.busy.delete(id);
    owned.window.noteChange(id);
    owned.replay?.note(id, after);
    if (!owned.window.isNewest(id, after?.revision)) return owned.window.forget();
    if (after === undefined || !awaitsAttempt(after)) return;
    if (owned.endpoint.deleted) void this.discard(owned);
    else if (owned.active) owned.window.add(toPending(after, performance.now()), this.parts.endpoints.room(owned));
  }

  /** No attempt was made. */
  private putBack(owned: OwnedEndpoint, item: PendingDelivery, error: unknown): void {
    owned.busy.delete(item.id);
    if (!owned.window.isNewest(item.id, item.delivery.revision)) return owned.window.forget();
    if (this.parts.engines.ended.aborted) return;
    const now = this.parts.clock().getTime();
    const about = { endpoint: owned.id, delivery: item.id, ...traceFields(item.delivery), reason: String(error) };
    if (error instanceof PayloadMissing && item.delivery.manual_at === null && !item.delivery.sandbox) {
      this.parts.logger.debug(about, 'webhooks: an attempt waits for its payload');
      return owned.window.putBack({ ...item, due: now + AGAIN_MS, isDelayed: true });
    }
    this.parts.logger.error(about, 'webhooks: no attempt was made');
    owned.blockedUntil = now + BLOCKED_MS;
    owned.window.putBack(item);
  }

  /** Has others told that it fails, or has it woken when that is due. */
  private watch(owned: OwnedEndpoint, now: number): void {
    if (owned.raising || !owned.isOurs) return;
    const due = this.parts.alarm.dueAt(owned);
    if (due <= now) void this.raise(owned);
    else if (due < Infinity) this.later.at(owned, due);
  }

  private async raise(owned: OwnedEndpoint): Promise<void> {
    owned.raising = true;
    await this.despiteFailures('telling that an endpoint fails', () => this.parts.alarm.raise(owned));
    owned.raising = false;
    this.serve(owned);
  }

  /**
   * Disables an endpoint that answered 410, once the outcomes of its attempts are stored. This is no part of an attempt: it
   * needs the event store, and while that is away it must not take the place of other endpoints' attempts.
   */
  private disable(owned: OwnedEndpoint, gone: EndpointDocument): void {
    if (owned.disabling || owned.busy.size > 0) return;
    owned.disabling = true;
    const work = this.despiteFailures('disabling an endpoint', async () => {
      owned.setEndpoint(await this.parts.disable(gone));
      // Another URL may have answered 410 since.
      if (owned.gone === gone) owned.gone = undefined;
    }).then(() => {
      this.disabling.delete(work);
      owned.disabling = false;
      if (!this.parts.engines.ended.aborted) this.serve(owned);
    });
    this.disabling.add(work);
  }

  private async endRecovery(owned: OwnedEndpoint): Promise<void> {
    if (owned.concurrency !== undefined) owned.concurrency.recoveringSince = null;
    await this.despiteFailures('storing how an endpoint answers', async () => {
      await this.parts.endpoints.saveHealth(owned, this.parts.clock().getTime());
    });
  }

  private async replay(owned: OwnedEndpoint): Promise<void> {
    const { replay } = owned;
    owned.replaying = true;
    await this.despiteFailures('replaying', async () => {
      const goesOn = await replay?.takeMore();
      if (!goesOn) await owned.readReplay(() => this.parts.openReplay(owned));
    });
    owned.replaying = false;
    if (owned.endpoint.deleted) await this.discard(owned);
    else this.serve(owned);
  }

  /** It was recorded, put off or replayed while its endpoint was being deleted. */
  private async discard(owned: OwnedEndpoint): Promise<void> {
    this.abandon(owned);
    await this.despiteFailures('marking the backlog of an endpoint', () => this.parts.backlogs.request(owned.id));
  }

  private async despiteFailures(what: string, work: () => Promise<void>): Promise<void> {
    const { ended } = this.parts.engines;
    try {
      await this.parts.engines.until(what, work);
    } catch (error) {
      if (ended.aborted) return;
      this.parts.logger.error({ reason: String(error) }, `webhooks: ${what} failed`);
      await pause(BLOCKED_MS, ended);
    }
  }
}
