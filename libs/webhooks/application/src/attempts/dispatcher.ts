import type { Logger } from '@tracking/ports';
import type { GoneEndpointDisabler } from '../endpoints/endpoint-clients.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EngineRetry } from '../engine-retry.ts';
import type { EndpointObserver, OwnedEndpoints } from '../ownership/owned-endpoints.ts';
import type { BacklogDiscarder } from '../replays/discard-jobs.ts';
import type { ReplayRunner } from '../replays/replay-runner.ts';
import { FairScheduler } from '../scheduling/fair-scheduler.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { PendingDelivery } from '../scheduling/pending-window.ts';
import type { ProcessTime } from '../scheduling/steady-time.ts';
import { DelayQueue, type LoopTime, Pacing, type SetTimer } from '../scheduling/timing.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import { traceFields } from '../tracing.ts';
import { type DeliveryWorker, PayloadMissing } from './delivery-worker.ts';
import type { FailingAlarm } from './endpoint-events.ts';

/** Interval at which spare time is checked while an endpoint waits for it. */
const SPARE_TIME_POLL_MS = 5;

export interface DispatcherDependencies {
  readonly endpoints: OwnedEndpoints;
  readonly worker: Pick<DeliveryWorker, 'attempt'>;
  readonly alarm: FailingAlarm;
  readonly replaying: ReplayRunner;
  readonly gone: GoneEndpointDisabler;
  readonly backlogs: Pick<BacklogDiscarder, 'request'>;
  /**
   * Maximum number of concurrent requests. At most twice as many attempts are in progress, including those whose
   * outcome is being stored.
   */
  readonly maxInFlight: number;
  readonly engines: EngineRetry;
  readonly time: ProcessTime;
  readonly logger: Logger;
  /** Reads the event loop's time. By default, the loop of this thread. */
  readonly loopTime?: (() => LoopTime) | undefined;
  /** Sets timers that wake endpoints when their next attempt is due. System timers by default. */
  readonly setTimer?: SetTimer | undefined;
}

/** Starts due attempts, one endpoint after the other. {@link OwnedEndpoints} holds the endpoints. */
export class Dispatcher implements EndpointObserver {
  private readonly scheduler: FairScheduler<OwnedEndpoint>;
  /** Endpoints whose next attempt is due later. */
  private readonly later: DelayQueue<OwnedEndpoint>;
  private readonly pacing: Pacing<OwnedEndpoint>;
  private readonly loopTime: () => LoopTime;
  private spareTimeTimer: NodeJS.Timeout | undefined;
  private isStopping = false;
  /** Attempts in progress, including those whose outcome is not stored yet. */
  private readonly unsettled = new Set<Promise<void>>();
  /** Promises that resolve when an endpoint that answered 410 is disabled. */
  private readonly disabling = new Set<Promise<void>>();

  constructor(private readonly dependencies: DispatcherDependencies) {
    const { endpoints, maxInFlight, time, setTimer = setSystemTimer, loopTime = readLoopTime } = dependencies;
    this.scheduler = new FairScheduler(maxInFlight);
    this.later = new DelayQueue(time, (owned) => this.onChange(owned), setTimer);
    this.loopTime = loopTime;
    this.pacing = new Pacing(loopTime());
    endpoints.observe(this);
  }

  get inFlight(): number {
    return this.scheduler.inFlight;
  }

  /** Number of attempts whose outcome is not stored yet. */
  get unstoredCount(): number {
    return this.unsettled.size - this.scheduler.inFlight;
  }

  onChange(owned: OwnedEndpoint): void {
    this.scheduleNext(owned);
    this.beginAttempts();
  }

  onDrop(owned: OwnedEndpoint): void {
    this.scheduler.remove(owned);
    this.later.remove(owned);
    this.pacing.remove(owned);
  }

  /** Stops starting attempts. Resolves when every outcome is stored and endpoints that answered 410 are disabled. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.later.close();
    clearTimeout(this.spareTimeTimer);
    await Promise.allSettled(this.unsettled);
    await Promise.allSettled(this.disabling);
  }

  /**
   * Refills the endpoint's window, schedules the endpoint if it can send now, and otherwise sets a timer for its next
   * due delivery.
   */
  private scheduleNext(owned: OwnedEndpoint): void {
    const { endpoints, time } = this.dependencies;
    const gone = owned.state.beginDisabling();
    if (gone !== undefined) this.disable(owned, gone);
    if (owned.state.isDropped || this.isStopping) return;
    const now = time.now();
    owned.adjustToClockSteps();
    if (endpoints.needsRead(owned)) void endpoints.fillEndpoint(owned);
    this.watchFailures(owned, now);
    if (owned.hasRecovered) void this.endRecovery(owned);
    if (owned.canTakeDelivery(now)) return this.scheduler.add(owned);
    if (owned.state.wantsReplay(now) && this.admitsReplay(owned)) void this.takeDeliveriesFromReplay(owned);
    for (const moment of [owned.nextMoment, owned.state.replay?.nextStoreTime(now)]) {
      if (moment !== undefined) this.later.schedule(owned, moment);
    }
  }

  private beginAttempts(): void {
    while (!this.isStopping && this.unsettled.size < 2 * this.dependencies.maxInFlight) {
      const owned = this.scheduler.next();
      if (owned === undefined) return;
      if (!this.admitsEndpoint(owned)) continue;
      const item = owned.takeDelivery(this.dependencies.time.now());
      if (item !== undefined) this.startAttempt(owned, item);
      this.scheduleNext(owned);
    }
  }

  private startAttempt(owned: OwnedEndpoint, item: PendingDelivery): void {
    const end = this.scheduler.begin(owned);
    const answered = () => {
      if (!end()) return;
      owned.state.markAnswered(item.id);
      this.onChange(owned);
    };
    const work = this.dependencies.worker
      .attempt(owned, item, answered)
      .then(
        (after) => this.completeAttempt(owned, item, after),
        (error: unknown) => this.handleFailure(owned, item, error),
      )
      .then(() => {
        this.unsettled.delete(work);
        end();
        this.onChange(owned);
      });
    this.unsettled.add(work);
  }

  private completeAttempt(owned: OwnedEndpoint, { id }: PendingDelivery, after: DeliveryDocument | undefined): void {
    const room = this.dependencies.endpoints.getFreeCapacity(owned);
    if (!owned.completeAttempt(id, after, performance.now(), room)) void this.discardBacklog(owned);
  }

  /** Handles a delivery for which no attempt could be made. */
  private handleFailure(owned: OwnedEndpoint, item: PendingDelivery, error: unknown): void {
    const { delivery } = item;
    const isPayloadMissing = error instanceof PayloadMissing && delivery.manual_at === null && !delivery.sandbox;
    const waits = owned.returnToWindow(item, isPayloadMissing, this.dependencies.time.now());
    if (!waits || this.dependencies.engines.ended.aborted) return;
    const about = { endpoint: owned.id, delivery: item.id, ...traceFields(delivery), reason: String(error) };
    if (isPayloadMissing)
      this.dependencies.logger.debug(
        about,
        'webhooks: an attempt waits because the payload of its delivery is not stored yet',
      );
    else this.dependencies.logger.error(about, 'webhooks: an attempt could not be made');
  }

  private admitsEndpoint(owned: OwnedEndpoint): boolean {
    const isAdmitted = this.pacing.admits(owned, this.loopTime());
    if (!isAdmitted) this.awaitSpareTime();
    return isAdmitted;
  }

  private admitsReplay(owned: OwnedEndpoint): boolean {
    const isAdmitted = this.pacing.admitsReplay(owned, this.loopTime());
    if (!isAdmitted) this.awaitSpareTime();
    return isAdmitted;
  }

  /** Serves waiting endpoints as soon as there is spare time. */
  private awaitSpareTime(): void {
    if (this.isStopping) return;
    this.spareTimeTimer ??= setTimeout(() => {
      this.spareTimeTimer = undefined;
      for (let owned = this.findNextPacedEndpoint(); owned !== undefined; owned = this.findNextPacedEndpoint())
        this.onChange(owned);
      if (this.pacing.isAwaited) this.awaitSpareTime();
    }, SPARE_TIME_POLL_MS);
  }

  private findNextPacedEndpoint(): OwnedEndpoint | undefined {
    return this.pacing.next(this.loopTime());
  }

  /** Reports a failing endpoint, or sets a timer for its report. */
  private watchFailures(owned: OwnedEndpoint, now: number): void {
    const due = this.dependencies.alarm.getReportTime(owned);
    if (due <= now) void this.reportFailures(owned);
    else if (due < Infinity) this.later.schedule(owned, due);
  }

  private async reportFailures(owned: OwnedEndpoint): Promise<void> {
    const { alarm, engines } = this.dependencies;
    owned.state.beginReporting();
    await engines.retryOrLog('reporting a failing endpoint', () => alarm.raiseAlarm(owned));
    owned.state.endReporting();
    this.onChange(owned);
  }

  /**
   * Disables an endpoint that answered 410. The disabling runs separately from attempts, because an unreachable event
   * store must not block attempts at other endpoints.
   */
  private disable(owned: OwnedEndpoint, endpoint: EndpointDocument): void {
    const { gone, engines } = this.dependencies;
    const work = engines
      .retryOrLog('disabling an endpoint', async () => owned.setEndpoint(await gone.disable(endpoint)))
      .then((isDisabled) => {
        owned.state.endDisabling(endpoint, isDisabled);
        this.disabling.delete(work);
        if (!engines.ended.aborted) this.onChange(owned);
      });
    this.disabling.add(work);
  }

  private async endRecovery(owned: OwnedEndpoint): Promise<void> {
    const { endpoints, engines, time } = this.dependencies;
    owned.state.endRecovery();
    await engines.retryOrLog('storing endpoint health', () => endpoints.saveHealth(owned, time.now()));
  }

  private async takeDeliveriesFromReplay(owned: OwnedEndpoint): Promise<void> {
    const { engines, replaying } = this.dependencies;
    const replay = owned.state.beginReplaying();
    await engines.retryOrLog('replaying', async () => {
      if (!(await replay.takeDeliveries())) await replaying.refresh(owned);
    });
    owned.state.endReplaying();
    if (owned.endpoint.deleted) await this.discardBacklog(owned);
    else this.onChange(owned);
  }

  /** Discards a delivery that was recorded, deferred or replayed while its endpoint was being deleted. */
  private async discardBacklog(owned: OwnedEndpoint): Promise<void> {
    const { endpoints, backlogs, engines } = this.dependencies;
    endpoints.drop(owned);
    await engines.retryOrLog("marking an endpoint's backlog", () => backlogs.request(owned.id));
  }
}

export const setSystemTimer: SetTimer = (ring, ms) => {
  const timer = setTimeout(ring, ms);
  return () => clearTimeout(timer);
};

function readLoopTime(): LoopTime {
  const { idle } = performance.eventLoopUtilization();
  return { elapsed: performance.now(), idle };
}
