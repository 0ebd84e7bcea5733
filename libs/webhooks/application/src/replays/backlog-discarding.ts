import { retryCounter } from '@tracking/ports';
import type { Clock, Leases, Logger, Metrics } from '@tracking/ports';
import { DutyCycle, LeaderElectedJob } from '@tracking/resilience';
import type { EndpointDocument } from '../endpoints/endpoint-document.ts';
import type { EndpointStore } from '../endpoints/endpoint-store.ts';
import type { DeliveryQueues } from '../store/delivery-queues.ts';
import type { ReplayStore } from './replay-store.ts';

/** Deliveries in one write: writes of others wait for it. */
const PAGE_SIZE = 50;
const ENDPOINTS_PER_READ = 100;
/** How often the job looks for endpoints that other processes deleted. */
const EVERY_MS = 1_000;
/** Share of the time that the job takes at most. */
const SHARE = 0.2;

export interface BacklogDiscardingParts {
  readonly endpoints: EndpointStore;
  readonly queues: DeliveryQueues;
  readonly replays: ReplayStore;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Discards what waits for deleted endpoints and cancels their replays, a page of each endpoint in turn. The endpoint's
 * document is marked until nothing waits, so that any process can continue after a crash.
 */
export class BacklogDiscarding {
  readonly job: LeaderElectedJob;
  private readonly pace = new DutyCycle({ share: SHARE });

  constructor(private readonly parts: BacklogDiscardingParts) {
    const { leases, logger, metrics } = parts;
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-backlogs',
      logger,
      countRetry: retryCounter(metrics),
      what: 'discarding the backlog of a deleted endpoint',
      everyMs: EVERY_MS,
      round: (ending) => this.round(ending),
    });
  }

  /** Requests that everything waiting for a deleted endpoint is discarded; stored when it resolves. */
  async request(endpointId: string): Promise<void> {
    await this.parts.endpoints.markBacklog(endpointId);
    this.job.wake();
  }

  private async round(ending: AbortSignal): Promise<void> {
    for (;;) {
      const deleted = await this.parts.endpoints.withBacklog(ENDPOINTS_PER_READ);
      if (deleted.length === 0) return;
      for (const endpoint of deleted) {
        if (ending.aborted) return;
        await this.pace.work(() => this.discardSome(endpoint), ending);
      }
    }
  }

  private async discardSome(endpoint: EndpointDocument): Promise<void> {
    const { endpoints, queues, replays, clock } = this.parts;
    const at = clock().toISOString();
    await replays.cancelFor(endpoint.id, at);
    const found = await queues.discard(endpoint.id, at, PAGE_SIZE);
    // A mark that was set again since the endpoint was read stays.
    if (found === 0) await endpoints.clearBacklog(endpoint);
  }
}
