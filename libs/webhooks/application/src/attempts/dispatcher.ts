import type { Logger } from '@tracking/ports';
import type { GoneEndpointDisabler } from '../endpoints/endpoint-clients.ts';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EngineOutageWorkRetrier } from '../engine-retry.ts';
import type { OwnedEndpointObserver, OwnedEndpoints } from '../ownership/owned-endpoints.ts';
import type { DeletedEndpointBacklogDiscarder } from '../replays/discard-jobs.ts';
import type { ReplayRunner } from '../replays/replay-runner.ts';
import { FairScheduler } from '../scheduling/fair-scheduler.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { PendingDelivery } from '../scheduling/pending-window.ts';
import type { ProcessClock } from '../scheduling/steady-time.ts';
import { DelayQueue, type EventLoopTime, SpareTimePacing, type SetTimer } from '../scheduling/timing.ts';
import type { DeliveryDocument } from '../store/delivery-document.ts';
import { toTraceLogFields } from '../tracing.ts';
import { type DeliveryWorker, DeliveryNotReadableError } from './delivery-worker.ts';
import type { EndpointFailureReporter } from './endpoint-events.ts';

/** Interval at which spare time is checked while an endpoint waits for it. */
const SPARE_TIME_CHECK_INTERVAL_MS = 5;

export interface DispatcherDependencies {
  readonly endpoints: OwnedEndpoints;
  readonly worker: Pick<DeliveryWorker, 'attemptDelivery'>;
  readonly reporter: EndpointFailureReporter;
  readonly replaying: ReplayRunner;
  readonly gone: GoneEndpointDisabler;
  readonly backlogs: Pick<DeletedEndpointBacklogDiscarder, 'requestBacklogDiscard'>;
  /**
   * Maximum number of concurrent requests. At most twice as many attempts are in progress, including those whose
   * outcome is being stored.
   */
  readonly maxInFlight: number;
  readonly engines: EngineOutageWorkRetrier;
  readonly time: ProcessClock;
  readonly logger: Logger;
  /** Reads the event loop's time. By default, the loop of this thread. */
  readonly loopTime?: (() => EventLoopTime) | undefined;
  /** Sets timers that wake endpoints when their next attempt is due. System timers by default. */
  readonly setTimer?: SetTimer | undefined;
}

/** Starts due attempts, one endpoint after the other. {@link OwnedEndpoints} holds the endpoints. */
export class AttemptDispatcher implements OwnedEndpointObserver {
  private readonly scheduler: FairScheduler<OwnedEndpoint>;
  /** Endpoints whose next attempt is due later. */
  private readonly later: DelayQueue<OwnedEndpoint>;
  private readonly pacing: SpareTimePacing<OwnedEndpoint>;
  private readonly loopTime: () => EventLoopTime;
  private spareTimeTimer: NodeJS.Timeout | undefined;
  private isStopping = false;
  /** Attempts in progress, including those whose outcome is not stored yet. */
  private readonly unsettled = new Map<Promise<void>, OwnedEndpoint>();
  /** Endpoints that answered 410, by promises that resolve when the endpoint is disabled. */
  private readonly disabling = new Map<Promise<void>, OwnedEndpoint>();

  constructor(private readonly dependencies: DispatcherDependencies) {
    const {
      endpoints,
      maxInFlight,
      time,
      setTimer = startSystemTimer,
      loopTime = readEventLoopIdleTime,
    } = dependencies;
    this.scheduler = new FairScheduler(maxInFlight);
    this.later = new DelayQueue(time, (owned) => this.onEndpointChange(owned), setTimer);
    this.loopTime = loopTime;
    this.pacing = new SpareTimePacing(loopTime());
    endpoints.addEndpointObserver(this);
  }

  get inFlight(): number {
    return this.scheduler.inFlight;
  }

  /** Number of attempts whose outcome is not stored yet. */
  get unstoredCount(): number {
    return this.unsettled.size - this.scheduler.inFlight;
  }

  onEndpointChange(owned: OwnedEndpoint): void {
    this.scheduleNextDelivery(owned);
    this.beginAttemptsWhileCapacityAllows();
  }

  async onOwnedEndpointDropped(owned: OwnedEndpoint): Promise<void> {
    this.scheduler.removeEndpointFromQueues(owned);
    this.later.cancelWakeUpOfItem(owned);
    this.pacing.removeWaitingEndpoint(owned);
    for (const tasks of [this.unsettled, this.disabling])
      await Promise.allSettled([...tasks].filter(([, one]) => one === owned).map(([work]) => work));
  }

  /** Stops starting attempts. Resolves when every outcome is stored and endpoints that answered 410 are disabled. */
  async stopDispatching(): Promise<void> {
    this.isStopping = true;
    this.later.closeDelayQueue();
    clearTimeout(this.spareTimeTimer);
    await Promise.allSettled(this.unsettled.keys());
    await Promise.allSettled(this.disabling.keys());
  }

  /**
   * Refills the endpoint's window, schedules the endpoint if it can send now, and otherwise sets a timer for its next
   * due delivery.
   */
  private scheduleNextDelivery(owned: OwnedEndpoint): void {
    const { endpoints, time } = this.dependencies;
    const gone = owned.state.beginDisablingGoneEndpoint();
    if (gone !== undefined) this.disableGoneEndpoint(owned, gone);
    if (owned.state.isDropped || this.isStopping) return;
    const now = time.now();
    owned.rereadDeliveriesAfterClockStep();
    if (endpoints.needsDeliveryWindowFill(owned)) void endpoints.loadHealthAndNextDeliveries(owned);
    this.reportOrScheduleEndpointFailure(owned, now);
    if (owned.hasRecovered) void this.endEndpointRecovery(owned);
    if (owned.canTakeDelivery(now)) return this.scheduler.addEndpoint(owned);
    if (owned.state.hasReplayToContinue(now) && this.canReplayTakeTurn(owned))
      void this.takeDeliveriesFromReplay(owned);
    for (const moment of [owned.nextMoment, owned.state.replay?.getNextOutcomeStoreTime(now)]) {
      if (moment !== undefined) this.later.scheduleItem(owned, moment);
    }
  }

  private beginAttemptsWhileCapacityAllows(): void {
    while (!this.isStopping && this.unsettled.size < 2 * this.dependencies.maxInFlight) {
      const owned = this.scheduler.takeNextEndpoint();
      if (owned === undefined) return;
      if (!this.mayEndpointBeginAttempt(owned)) continue;
      const item = owned.takeDelivery(this.dependencies.time.now());
      if (item !== undefined) this.startAttempt(owned, item);
      this.scheduleNextDelivery(owned);
    }
  }

  private startAttempt(owned: OwnedEndpoint, item: PendingDelivery): void {
    const end = this.scheduler.countRunningAttemptOfWorkspace(owned);
    const answered = () => {
      if (!end()) return;
      owned.state.markDeliveryAnswered(item.id);
      this.onEndpointChange(owned);
    };
    const work = this.dependencies.worker
      .attemptDelivery(owned, item, answered)
      .then(
        (after) => this.endWorkOnDelivery(owned, item, after),
        (error: unknown) => this.handleUnattemptedDelivery(owned, item, error),
      )
      .then(() => {
        this.unsettled.delete(work);
        end();
        this.onEndpointChange(owned);
      });
    this.unsettled.set(work, owned);
  }

  private endWorkOnDelivery(owned: OwnedEndpoint, { id }: PendingDelivery, after: DeliveryDocument | undefined): void {
    const room = this.dependencies.endpoints.computeMaxDeliveriesHeldInMemory(owned);
    if (!owned.endWorkOnDelivery(id, after, performance.now(), room)) void this.discardEndpointBacklog(owned);
  }

  /** Handles a delivery for which no attempt could be made. */
  private handleUnattemptedDelivery(owned: OwnedEndpoint, item: PendingDelivery, error: unknown): void {
    const { delivery } = item;
    const isNotReadableYet =
      error instanceof DeliveryNotReadableError && delivery.manual_at === null && !delivery.sandbox;
    const waits = owned.makeDeliveryPendingAgain(item, isNotReadableYet, this.dependencies.time.now());
    if (!waits || this.dependencies.engines.ended.aborted) return;
    const about = { endpoint: owned.id, delivery: item.id, ...toTraceLogFields(delivery), reason: String(error) };
    if (isNotReadableYet)
      this.dependencies.logger.debug(
        about,
        'webhooks: an attempt waits because its delivery or the payload cannot be read yet',
      );
    else this.dependencies.logger.error(about, 'webhooks: an attempt could not be made');
  }

  private mayEndpointBeginAttempt(owned: OwnedEndpoint): boolean {
    const isAdmitted = this.pacing.tryReserveSpareTimeForAttempt(owned, this.loopTime());
    if (!isAdmitted) this.serveEndpointsInSpareTime();
    return isAdmitted;
  }

  private canReplayTakeTurn(owned: OwnedEndpoint): boolean {
    const isAdmitted = this.pacing.canReplayTakeTurn(owned, this.loopTime());
    if (!isAdmitted) this.serveEndpointsInSpareTime();
    return isAdmitted;
  }

  /** Serves waiting endpoints as soon as there is spare time. */
  private serveEndpointsInSpareTime(): void {
    if (this.isStopping) return;
    this.spareTimeTimer ??= setTimeout(() => {
      this.spareTimeTimer = undefined;
      for (let owned = this.takeNextPacedEndpoint(); owned !== undefined; owned = this.takeNextPacedEndpoint())
        this.onEndpointChange(owned);
      if (this.pacing.isAwaited) this.serveEndpointsInSpareTime();
    }, SPARE_TIME_CHECK_INTERVAL_MS);
  }

  private takeNextPacedEndpoint(): OwnedEndpoint | undefined {
    return this.pacing.takeNextWaitingEndpoint(this.loopTime());
  }

  /** Reports a failing endpoint, or sets a timer for its report. */
  private reportOrScheduleEndpointFailure(owned: OwnedEndpoint, now: number): void {
    const due = this.dependencies.reporter.getTimeToReportFailingEndpoint(owned);
    if (due <= now) void this.reportEndpointFailing(owned);
    else if (due < Infinity) this.later.scheduleItem(owned, due);
  }

  private async reportEndpointFailing(owned: OwnedEndpoint): Promise<void> {
    const { reporter, engines } = this.dependencies;
    owned.state.beginReportingFailures();
    await engines.retryOrLog('reporting a failing endpoint', () => reporter.reportEndpointFailing(owned));
    owned.state.endFailureReportTask();
    this.onEndpointChange(owned);
  }

  /**
   * Disables an endpoint that answered 410. The disabling runs separately from attempts, because an unreachable event
   * store must not block attempts at other endpoints.
   */
  private disableGoneEndpoint(owned: OwnedEndpoint, endpoint: EndpointDocument): void {
    const { gone, engines } = this.dependencies;
    const work = engines
      .retryOrLog('disabling an endpoint', async () =>
        owned.setEndpointUnlessOutdated(await gone.disableEndpoint(endpoint)),
      )
      .then((isDisabled) => {
        owned.state.endDisablingOfGoneEndpoint(endpoint, isDisabled);
        this.disabling.delete(work);
        if (!engines.ended.aborted) this.onEndpointChange(owned);
      });
    this.disabling.set(work, owned);
  }

  private async endEndpointRecovery(owned: OwnedEndpoint): Promise<void> {
    const { endpoints, engines, time } = this.dependencies;
    owned.state.endEndpointRecovery();
    await engines.retryOrLog('storing endpoint health', () => endpoints.saveEndpointHealth(owned, time.now()));
  }

  private async takeDeliveriesFromReplay(owned: OwnedEndpoint): Promise<void> {
    const { engines, replaying } = this.dependencies;
    const replay = owned.state.beginReplayTurn();
    await engines.retryOrLog('replaying', async () => {
      if (!(await replay.takeDeliveriesToReplay())) await replaying.readRunningReplayOfEndpoint(owned);
    });
    owned.state.endReplayTurn();
    if (owned.endpoint.deleted) await this.discardEndpointBacklog(owned);
    else this.onEndpointChange(owned);
  }

  /**
   * Drops a deleted endpoint, and requests that its pending deliveries are discarded. Some of them were recorded,
   * deferred or replayed while the endpoint was being deleted.
   */
  private async discardEndpointBacklog(owned: OwnedEndpoint): Promise<void> {
    const { endpoints, backlogs, engines } = this.dependencies;
    void endpoints.stopOwningEndpoint(owned);
    await engines.retryOrLog("marking an endpoint's backlog", () => backlogs.requestBacklogDiscard(owned.id));
  }
}

export const startSystemTimer: SetTimer = (ring, ms) => {
  const timer = setTimeout(ring, ms);
  return () => clearTimeout(timer);
};

function readEventLoopIdleTime(): EventLoopTime {
  const { idle } = performance.eventLoopUtilization();
  return { elapsed: performance.now(), idle };
}
