import type { Clock, Collection } from '@tracking/ports';
import { type Random, type RetryPolicy, applyAttempt, urlRevision } from '@tracking/webhooks-domain';
import type { EndpointClients } from '../endpoints/endpoint-clients.ts';
import { type EndpointDocument, hasSameUrl } from '../endpoints/endpoint-document.ts';
import type { EngineRetry } from '../engine-retry.ts';
import type { OwnedEndpoints } from '../ownership/owned-endpoints.ts';
import type { WebhookAttempt } from '../operation-types.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { PendingDelivery } from '../scheduling/pending-window.ts';
import type { RecountRequests } from '../stats/hour-log.ts';
import type { CountOutcome, StatsKeeper } from '../stats/stats-keeper.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type Payloads,
  attemptId,
  toDocument,
} from '../store/delivery-document.ts';
import type { AttemptSender, FailureLog, AttemptResult, PreparedAttempt } from './attempt-sender.ts';
import type { DeadLetterAnnouncer } from './dead-letter-announcer.ts';

export interface DeliveryWorkerParts {
  readonly deliveries: Collection<DeliveryDocument>;
  /** The same documents, for writes that are made again if a power cut loses them. */
  readonly repeatable: Collection<DeliveryDocument>;
  readonly attempts: Collection<AttemptDocument>;
  readonly payloads: Payloads;
  readonly clients: EndpointClients;
  readonly endpoints: OwnedEndpoints;
  readonly sender: AttemptSender;
  readonly failures: FailureLog;
  readonly stats: StatsKeeper;
  readonly recounts: RecountRequests;
  readonly announcer: DeadLetterAnnouncer;
  readonly engines: EngineRetry;
  readonly policy: RetryPolicy;
  readonly random: Random;
  readonly clock: Clock;
  /** Nothing is sent on knowledge of endpoint and delivery older than this, in milliseconds. */
  readonly freshnessMs: number;
}

/** No attempt is to be made now. Holds the delivery as it is stored; undefined if it no longer exists. */
interface SkippedAttempt {
  readonly delivery: DeliveryDocument | undefined;
}

/** Body and delivery are stored side by side: the body is on its way, or recording was interrupted and is done again. */
export class PayloadMissing extends Error {
  override readonly name = 'PayloadMissing';
}

/**
 * Makes attempts, and stores what each leads to. An attempt is one step on the way of a delivery:
 *
 *     consume ─► record ─► pending window ─► its turn ─► attempt ─► outcome ─┬─► succeeded
 *                                ▲                                           ├─► dead letter ─► other endpoints, topic
 *                                └───────────── due again later ─────────────┘
 */
export class DeliveryWorker {
  constructor(private readonly parts: DeliveryWorkerParts) {}

  /**
   * Attempts the delivery and stores the outcome.
   * @param answered called when the endpoint has answered: the next attempt may begin while the outcome is being stored
   * @returns the delivery as it is stored then; undefined if it no longer exists
   * @throws PayloadMissing, and `Unavailable` when the process ends while an engine is away
   */
  async attempt(
    owned: OwnedEndpoint,
    pending: PendingDelivery,
    answered: () => void,
  ): Promise<DeliveryDocument | undefined> {
    const { engines, sender, announcer } = this.parts;
    const prepared = await engines.retryUntilDone('preparing an attempt', () => this.prepare(owned, pending));
    if (!('body' in prepared)) return prepared.delivery;
    const { client, delivery } = prepared;
    const made = await sender.send(owned, prepared);
    // Given up by this process, which says nothing about the endpoint.
    if (made === undefined) return delivery;
    if (!delivery.sandbox) this.recordOutcome(owned, client.endpoint, delivery, made);
    answered();
    if (made.finished.outcome.kind !== 'success') await this.refreshEndpoint(owned);
    const count = delivery.sandbox ? undefined : await this.openStatsHour(owned, made);
    const stored = await this.storeOutcome(delivery, made, owned.endpoint);
    count?.(stored?.latest_attempt);
    await this.saveHealth(owned);
    if (stored?.status === 'dead_lettered') announcer.job.wake();
    return stored;
  }

  /** Collects what the attempt needs, and checks once more that it is to be made. @throws PayloadMissing */
  private async prepare(owned: OwnedEndpoint, pending: PendingDelivery): Promise<PreparedAttempt | SkippedAttempt> {
    const { clients, payloads, clock } = this.parts;
    const client = clients.getFresh(owned.id) ?? (await clients.read(owned.id));
    if (client === undefined) return { delivery: undefined };
    owned.setEndpoint(client.endpoint);
    if (!owned.isDeliverable(pending)) return { delivery: pending.delivery };
    const delivery = await this.readCurrent(pending);
    if (delivery === undefined || !owned.isDue(delivery, clock().getTime())) return { delivery };
    const body = payloads.getCached(delivery.payload_id) ?? (await payloads.read(delivery.payload_id));
    if (body === undefined) throw new PayloadMissing(delivery.id);
    // If an engine was away for long, another process may own the shard by now and attempt this delivery too.
    return owned.isOwned ? { client, delivery, body } : { delivery };
  }

  /** Reads the delivery again if it has waited here for long, or was attempted before. */
  private async readCurrent({ id, delivery, knownAt }: PendingDelivery): Promise<DeliveryDocument | undefined> {
    const isUntried = delivery.attempts_count === 0;
    const isFresh = performance.now() - knownAt <= this.parts.freshnessMs;
    return isUntried && isFresh ? delivery : this.parts.deliveries.get(id);
  }

  /** Before the next attempt may begin, so that it does not come too early. */
  private recordOutcome(
    owned: OwnedEndpoint,
    attempted: EndpointDocument,
    delivery: DeliveryDocument,
    made: AttemptResult,
  ): void {
    // A former URL says nothing about the present one.
    if (!hasSameUrl(attempted, owned.endpoint)) return;
    const { outcome, startedAt, endedAt } = made.finished;
    this.parts.failures.record(owned, delivery, made, owned.state.concurrency?.failingSince ?? null);
    owned.state.recordOutcome(attempted, outcome, Date.parse(startedAt), Date.parse(endedAt));
  }

  /** Another process may have changed the URL during the attempt: a failure at a former URL is no reason to give up. */
  private async refreshEndpoint(owned: OwnedEndpoint): Promise<void> {
    const { engines, clients } = this.parts;
    const client = await engines.retryUntilDone('reading an endpoint', () => clients.read(owned.id));
    if (client !== undefined) owned.setEndpoint(client.endpoint);
  }

  private openStatsHour(owned: OwnedEndpoint, { log }: AttemptResult): Promise<CountOutcome> {
    const { engines, stats } = this.parts;
    return engines.retryUntilDone('opening an hour of statistics', () => stats.startCounting(owned, log.at));
  }

  /**
   * Stores the outcome and returns the delivery as it is then; undefined if it no longer exists. If the delivery was
   * changed during the attempt (discarded, or attempted by another owner) the outcome is applied to its newer form. Tries
   * until the store takes it, or the process ends: the attempt is then repeated.
   * @param endpoint as it is after the attempt
   */
  private async storeOutcome(
    known: DeliveryDocument,
    { finished, log }: AttemptResult,
    endpoint: EndpointDocument,
  ): Promise<DeliveryDocument | undefined> {
    const { repeatable, recounts, policy, random, engines } = this.parts;
    const context = { policy, pauses: endpoint.pauses, random, urlRevision: urlRevision(endpoint) };
    let current: DeliveryDocument | undefined = known;
    let tried: DeliveryDocument | undefined;
    return engines.retryUntilDone('storing an outcome', async () => {
      // After a write with an unknown outcome the store knows whether it was made.
      if (tried !== undefined) current = await repeatable.get(known.id);
      while (current !== undefined) {
        if (tried !== undefined && hasSameAttempt(current, tried)) return current;
        const settled = toDocument(applyAttempt(current, finished, context));
        const isDead = settled.status === 'dead_lettered' && current.status !== 'dead_lettered';
        const attempt = { number: settled.attempts_count, ...log, ...(isDead && { dead_lettered: true as const }) };
        tried = { ...settled, latest_attempt: attempt };
        if (current.latest_attempt !== undefined) await this.storeEarlierAttempt(current.id, current.latest_attempt);
        if (tried.status !== 'discarded') await recounts.requestForRestored([current]);
        if (await repeatable.replace(tried, { revision: current.revision })) return tried;
        current = await repeatable.get(known.id);
      }
      return undefined;
    });
  }

  /** Before the next attempt takes its place: after an interruption it is in both places rather than in none. */
  private async storeEarlierAttempt(deliveryId: string, attempt: WebhookAttempt): Promise<void> {
    await this.parts.attempts.upsert({ id: attemptId(deliveryId, attempt.number), ...attempt });
  }

  private async saveHealth(owned: OwnedEndpoint): Promise<void> {
    const { engines, endpoints, clock } = this.parts;
    await engines.retryUntilDone('storing how an endpoint answers', () =>
      endpoints.saveHealth(owned, clock().getTime()),
    );
  }
}

/** Whatever else changed since: an attempt must not be in the log, nor counted, twice. */
function hasSameAttempt(stored: DeliveryDocument, tried: DeliveryDocument): boolean {
  return stored.attempts_count === tried.attempts_count && stored.last_attempt_at === tried.last_attempt_at;
}
