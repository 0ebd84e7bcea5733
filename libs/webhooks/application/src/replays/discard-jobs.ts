import {
  type Clock,
  type Collection,
  type LeaseSource,
  type Logger,
  type Metrics,
  createRetryCounter,
} from '@tracking/ports';
import { BackgroundWorkThrottle, type DutyCycleOptions, LeaderElectedJob } from '@tracking/resilience';
import { markDeliveryDiscarded } from '@tracking/webhooks-domain';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { HourRecountRequestStore } from '../stats/hour-log.ts';
import { type DeliveryDocument, convertToDeliveryDocument } from '../store/delivery-document.ts';
import type { DeliveryQueues } from '../store/delivery-queues.ts';
import { ReplayedDeliveryReader, type ReplaySourceDependencies } from './replay-source.ts';
import type { ReplayDocument, ReplayStore } from './replay-store.ts';

/** Dead letters that one discard job handles before the next job gets its turn. */
const MAX_DEAD_LETTERS_DISCARDED_PER_JOB_TURN = 200;
const DISCARDS_PER_READ = 100;
/** Milliseconds between two checks for requested discards whose wake-up was lost because a process ended. */
const POLL_INTERVAL_MS = 5_000;
/** Largest share of time that discards may use. Deliveries take priority. */
const MAX_DISCARDING_TIME_SHARE = 0.5;

interface JobWakeUpRequester {
  /** Wakes a job in the process that runs it. @throws UnavailableError */
  requestJobWakeUp(job: LeaderElectedJob): Promise<void>;
}

interface DeadLetterDiscarderDependencies extends ReplaySourceDependencies {
  readonly store: ReplayStore;
  readonly endpoints: EndpointStore;
  readonly recounts: HourRecountRequestStore;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly wakeUps: JobWakeUpRequester;
  readonly clock: Clock;
  readonly leases: LeaseSource;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Discards dead letters, one page of each discard job in turn. A page is stored before its dead letters are discarded,
 * and counted afterwards. A process that continues after a crash therefore counts each dead letter once.
 */
export class DeadLetterDiscarder {
  readonly job: LeaderElectedJob;
  private readonly pace = new BackgroundWorkThrottle({ share: MAX_DISCARDING_TIME_SHARE });

  constructor(private readonly dependencies: DeadLetterDiscarderDependencies) {
    const { leases, logger, metrics } = dependencies;
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-discards',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'discarding dead letters',
      intervalMs: POLL_INTERVAL_MS,
      runJobRound: (ending) => this.runDeadLetterDiscardJobs(ending),
    });
  }

  /** Starts stored discards in the process that runs the job. @throws UnavailableError */
  async startStoredDiscards(): Promise<void> {
    await this.dependencies.wakeUps.requestJobWakeUp(this.job);
  }

  private async runDeadLetterDiscardJobs(ending: AbortSignal): Promise<void> {
    for (;;) {
      const running = await this.dependencies.store.listRunningDiscardJobs(DISCARDS_PER_READ);
      if (running.length === 0) return;
      for (const replay of running) {
        if (ending.aborted) return;
        await this.pace.runWorkThenRest(() => this.advanceDiscardJob(replay), ending);
      }
    }
  }

  private async advanceDiscardJob(replay: ReplayDocument): Promise<void> {
    const taken = replay.under_way.length > 0 ? replay : await this.takeDeadLettersToDiscard(replay);
    if (taken !== undefined && taken.under_way.length > 0) await this.discardNextPageOfDeadLetters(taken);
  }

  /** Stores the next page of dead letters to discard. Returns undefined if the discard was canceled in the meantime. */
  private async takeDeadLettersToDiscard(replay: ReplayDocument): Promise<ReplayDocument | undefined> {
    const { store, endpoints, clock } = this.dependencies;
    const endpoint = await endpoints.getEndpoint(replay.endpoint_id);
    if (endpoint === undefined) throw new Error(`Endpoint ${replay.endpoint_id} has dead letters but is not stored.`);
    const { found, cursor, ended } = await new ReplayedDeliveryReader(replay, this.dependencies).readNextItemsToReplay(
      endpoint,
      MAX_DEAD_LETTERS_DISCARDED_PER_JOB_TURN,
    );
    const isCompleted = ended && found.length === 0;
    return store.storeReplayProgress(replay, {
      cursor,
      under_way: found.map(({ id, event_id }) => ({ id, event_id })),
      matched: replay.matched + found.length,
      ...(isCompleted && ({ status: 'completed', completed_at: clock().toISOString() } as const)),
    });
  }

  private async discardNextPageOfDeadLetters(taken: ReplayDocument): Promise<void> {
    const { store, queries, deliveries, recounts, clock } = this.dependencies;
    const ids = taken.under_way.map(({ id }) => id);
    for (;;) {
      const now = await queries.findDeliveriesByIds(taken, ids);
      const dead = now.filter(({ status }) => status === 'dead_lettered');
      if (dead.length === 0) {
        const done = now.filter(({ status, replay_id }) => status === 'discarded' && replay_id === taken.id);
        // An earlier round may have ended between its writes and its second request.
        await recounts.requestRecountsOfDiscardedDeliveries(done);
        return store.storeReplayOutcomeCounts(taken, { done: done.length, failed: ids.length - done.length });
      }
      const at = clock().toISOString();
      // A dead letter that changed after the read, for example by its announcement, is read again with the next page.
      const writes = dead.map((each) => {
        const document = convertToDeliveryDocument(markDeliveryDiscarded(each, at, taken.id));
        return { kind: 'upsert' as const, document, guard: { revision: each.revision } };
      });
      await recounts.requestRecountAroundDiscard(taken.endpoint_id, at, () => deliveries.writeMany(writes));
    }
  }
}

/** Maximum number of deliveries in one write. Other writes wait for it. */
const DELIVERIES_PER_WRITE = 50;
const ENDPOINTS_PER_READ = 100;
/** Largest share of time that discarding the backlogs of deleted endpoints may use. */
const MAX_BACKLOG_DISCARD_TIME_SHARE = 0.2;

export interface BacklogDiscarderDependencies {
  readonly endpoints: EndpointStore;
  readonly queues: DeliveryQueues;
  readonly replays: ReplayStore;
  readonly wakeUps: JobWakeUpRequester;
  readonly clock: Clock;
  readonly leases: LeaseSource;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Clock and rests of the pacing. */
  readonly pacing?: Pick<DutyCycleOptions, 'elapsed' | 'rest'>;
}

/**
 * Discards the pending deliveries of deleted endpoints and cancels their replays, one page of each endpoint in turn.
 * The endpoint's document is marked until no delivery is pending, so that any process can continue after a crash.
 */
export class DeletedEndpointBacklogDiscarder {
  readonly job: LeaderElectedJob;
  private readonly pace: BackgroundWorkThrottle;

  constructor(private readonly dependencies: BacklogDiscarderDependencies) {
    const { leases, logger, metrics, pacing } = dependencies;
    this.pace = new BackgroundWorkThrottle({ share: MAX_BACKLOG_DISCARD_TIME_SHARE, ...pacing });
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-backlogs',
      logger,
      countRetry: createRetryCounter(metrics),
      description: 'discarding the backlog of a deleted endpoint',
      intervalMs: POLL_INTERVAL_MS,
      runJobRound: (ending) => this.discardBacklogOfDeletedEndpoints(ending),
    });
  }

  /**
   * Requests that all pending deliveries of a deleted endpoint are discarded. The request is stored when this resolves.
   */
  async requestBacklogDiscard(endpointId: string): Promise<void> {
    await this.dependencies.endpoints.markDeletedEndpointBacklog(endpointId);
    await this.dependencies.wakeUps.requestJobWakeUp(this.job);
  }

  private async discardBacklogOfDeletedEndpoints(ending: AbortSignal): Promise<void> {
    for (;;) {
      const deleted = await this.dependencies.endpoints.listDeletedEndpointsWithBacklog(ENDPOINTS_PER_READ);
      if (deleted.length === 0) return;
      for (const endpoint of deleted) {
        if (ending.aborted) return;
        await this.pace.runWorkThenRest(() => this.discardPageOfBacklog(endpoint), ending);
      }
    }
  }

  private async discardPageOfBacklog(endpoint: EndpointDocument): Promise<void> {
    const { endpoints, queues, replays, clock } = this.dependencies;
    const at = clock().toISOString();
    await replays.cancelRunningReplay(endpoint.id, at);
    const found = await queues.discardPendingDeliveries(endpoint, at, DELIVERIES_PER_WRITE);
    // Keep a backlog mark that was set after the endpoint was read.
    if (found === 0) await endpoints.removeBacklogMark(endpoint);
  }
}
