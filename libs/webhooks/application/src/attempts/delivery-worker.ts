import type { Collection } from '@tracking/ports';
import {
  CONTENT_TOO_LARGE_STATUS,
  type Random,
  type RetryPolicy,
  applyFinishedAttempt,
  getEndpointUrlRevision,
  removeSnapshotsFromBody,
} from '@tracking/webhooks-domain';
import type { EndpointClients } from '../endpoints/endpoint-clients.ts';
import { type EndpointDocument, isEndpointUrlUnchangedBetween } from '../endpoints/endpoint-document.ts';
import type { EngineOutageWorkRetrier } from '../engine-retry.ts';
import type { OwnedEndpoints } from '../ownership/owned-endpoints.ts';
import type { WebhookAttempt } from '../operation-types.ts';
import type { OwnedEndpoint } from '../scheduling/owned-endpoint.ts';
import type { PendingDelivery } from '../scheduling/pending-window.ts';
import type { ProcessClock } from '../scheduling/steady-time.ts';
import type { HourRecountRequestStore } from '../stats/hour-log.ts';
import type { CountOutcome, EndpointAttemptCounter } from '../stats/stats-keeper.ts';
import {
  type AttemptDocument,
  type DeliveryDocument,
  type PayloadStore,
  computeReusableAttemptSlotId,
  getPayloadFormFromId,
  deriveThinPayloadIdFromFullPayloadId,
  toDeliveryShardValuesOfScopes,
  convertToDeliveryDocument,
} from '../store/delivery-document.ts';
import type { AttemptSender, EndpointFailureLog, AttemptResult, PreparedAttemptInputs } from './attempt-sender.ts';
import type { DeadLetterAnnouncer } from './dead-letter-announcer.ts';

export interface DeliveryWorkerDependencies {
  readonly deliveries: Collection<DeliveryDocument>;
  /** Collection of deliveries for writes that the process repeats if a power cut loses them. */
  readonly repeatable: Collection<DeliveryDocument>;
  readonly attempts: Collection<AttemptDocument>;
  readonly payloads: PayloadStore;
  readonly clients: EndpointClients;
  readonly endpoints: OwnedEndpoints;
  readonly sender: AttemptSender;
  readonly failures: EndpointFailureLog;
  readonly stats: EndpointAttemptCounter;
  readonly recounts: HourRecountRequestStore;
  readonly announcer: DeadLetterAnnouncer;
  readonly engines: EngineOutageWorkRetrier;
  readonly policy: RetryPolicy;
  readonly random: Random;
  readonly time: ProcessClock;
  /** Milliseconds after which an attempt reads its endpoint and delivery again. */
  readonly freshnessMs: number;
}

/** Result of the preparation if no attempt is due. Contains the stored delivery; undefined if it was deleted. */
interface SkippedAttempt {
  readonly delivery: DeliveryDocument | undefined;
}

/**
 * Age of a delivery until which it is expected to appear if it cannot be read. Deliveries are kept for much longer, so a
 * younger one was not deleted.
 */
const MAX_AGE_OF_UNREADABLE_DELIVERY_MS = 60_000;

/**
 * Thrown if a delivery or its body cannot be read yet. Bodies and deliveries are stored in parallel, so after a crash a
 * delivery may lack its body until the event is recorded again. After an election of the engine's primary, a process may
 * not see a delivery yet that another process has stored and handed over.
 */
export class DeliveryNotReadableError extends Error {
  override readonly name = 'DeliveryNotReadable';
}

/**
 * Makes attempts and stores their outcomes. Stages of a delivery:
 * ¶ consume ─► record ─► pending window ─► its turn ─► attempt ─► outcome ─┬─► succeeded
 * ▲ ├─► dead letter ─► other endpoints, topic
 * └───────────── due again later ─────────────┘
 */
export class DeliveryWorker {
  constructor(private readonly dependencies: DeliveryWorkerDependencies) {}

  /**
   * Attempts the delivery and stores the outcome.
   * @param answered called when the endpoint has answered; the next attempt may begin while the outcome is being stored
   * @returns the delivery as stored afterwards; undefined if it no longer exists
   * @throws DeliveryNotReadableError, and `UnavailableError` if the process ends while a storage engine is unreachable
   */
  async attemptDelivery(
    owned: OwnedEndpoint,
    pending: PendingDelivery,
    answered: () => void,
  ): Promise<DeliveryDocument | undefined> {
    const { engines, sender, announcer } = this.dependencies;
    const prepared = await engines.retryUntilDone('preparing an attempt', () =>
      this.gatherInputsOfDueAttempt(owned, pending),
    );
    if (!('body' in prepared)) return prepared.delivery;
    const { client, delivery } = prepared;
    const made = await sender.sendAttempt(owned, prepared);
    // A canceled attempt does not count as a failure of the endpoint, because this process caused it.
    if (made === undefined) return delivery;
    if (!delivery.sandbox) this.recordAttemptOutcomeInMemory(owned, client.endpoint, delivery, made);
    answered();
    if (made.finished.outcome.kind !== 'success') await this.reloadEndpointFromStore(owned);
    const count = delivery.sandbox ? undefined : await this.openStatsHour(owned, made);
    const stored = await this.storeAttemptOutcome(delivery, made, owned.endpoint);
    count?.(stored?.latest_attempt);
    await this.saveEndpointHealth(owned);
    if (stored?.status === 'dead_lettered') announcer.job.wakeJob();
    return stored;
  }

  /** Gathers the inputs of an attempt and checks again that the delivery is due. @throws DeliveryNotReadableError */
  private async gatherInputsOfDueAttempt(
    owned: OwnedEndpoint,
    pending: PendingDelivery,
  ): Promise<PreparedAttemptInputs | SkippedAttempt> {
    const { clients, payloads, time } = this.dependencies;
    const client =
      clients.getCachedEndpointClientIfFresh(owned.id) ?? (await clients.readEndpointAndCacheClient(owned.id));
    if (client === undefined) return { delivery: undefined };
    owned.setEndpointUnlessOutdated(client.endpoint);
    if (!owned.isDeliverable(pending)) return { delivery: pending.delivery };
    const delivery = await this.readCurrentDelivery(pending);
    if (delivery === undefined && this.isYoungDelivery(pending)) throw new DeliveryNotReadableError(pending.id);
    if (delivery === undefined || !owned.isDeliveryDue(delivery, time.now(), pending)) return { delivery };
    const body = payloads.getPayloadIfCached(delivery.payload_id) ?? (await payloads.readPayload(delivery.payload_id));
    if (body === undefined) throw new DeliveryNotReadableError(delivery.id);
    const prepared = isThinBodyNeededAfterSizeRefusal(delivery, client.endpoint)
      ? await this.storeThinBody(delivery, body)
      : { delivery, body };
    // While a storage engine was unreachable, another process may have taken over the shard.
    return owned.isOwned ? { client, ...prepared } : { delivery };
  }

  /** Stores the thin form of a full body. The attempt's outcome stores that the delivery uses this form from now on. */
  private async storeThinBody(
    delivery: DeliveryDocument,
    full: Uint8Array,
  ): Promise<Pick<PreparedAttemptInputs, 'delivery' | 'body'>> {
    const { payloads, time } = this.dependencies;
    const id = deriveThinPayloadIdFromFullPayloadId(delivery.payload_id);
    const body = removeSnapshotsFromBody(Buffer.from(full).toString());
    await payloads.storePayloads([
      { id, body, created_at: new Date(time.convertSteadyTimeToWallClockTime(time.now())).toISOString() },
    ]);
    payloads.cachePayloadBody(id, body);
    return { delivery: { ...delivery, payload_id: id }, body: Buffer.from(body) };
  }

  /** Reads the delivery again if it waited in memory for long or was attempted before. */
  private async readCurrentDelivery({ delivery, knownAt }: PendingDelivery): Promise<DeliveryDocument | undefined> {
    const isUntried = delivery.attempts_count === 0;
    const isFresh = performance.now() - knownAt <= this.dependencies.freshnessMs;
    return isUntried && isFresh
      ? delivery
      : this.dependencies.deliveries.get(delivery.id, toDeliveryShardValuesOfScopes(delivery));
  }

  private isYoungDelivery({ delivery }: PendingDelivery): boolean {
    const { time } = this.dependencies;
    const now = time.convertSteadyTimeToWallClockTime(time.now());
    return now - Date.parse(delivery.created_at) < MAX_AGE_OF_UNREADABLE_DELIVERY_MS;
  }

  /**
   * Records the outcome in memory before the endpoint's next attempt begins, so that a hold takes effect immediately.
   */
  private recordAttemptOutcomeInMemory(
    owned: OwnedEndpoint,
    attempted: EndpointDocument,
    delivery: DeliveryDocument,
    made: AttemptResult,
  ): void {
    // An outcome counts only for the URL that the attempt was sent to.
    if (!isEndpointUrlUnchangedBetween(attempted, owned.endpoint)) return;
    const { startedAt, endedAt } = made.processTimes;
    this.dependencies.failures.logFailureOrRecovery(
      owned,
      delivery,
      made,
      owned.state.concurrency?.failingSince ?? null,
    );
    owned.state.recordAttemptOutcome(attempted, made.finished.outcome, startedAt, endedAt);
  }

  /**
   * Reads the endpoint again, because another process may have changed its URL during the attempt. A failure at a
   * former URL does not end the delivery.
   */
  private async reloadEndpointFromStore(owned: OwnedEndpoint): Promise<void> {
    const { engines, clients } = this.dependencies;
    const client = await engines.retryUntilDone('reading an endpoint', () =>
      clients.readEndpointAndCacheClient(owned.id),
    );
    if (client !== undefined) owned.setEndpointUnlessOutdated(client.endpoint);
  }

  private openStatsHour(owned: OwnedEndpoint, { log }: AttemptResult): Promise<CountOutcome> {
    const { engines, stats } = this.dependencies;
    return engines.retryUntilDone('opening an hour of statistics', () =>
      stats.startCountingAttemptOutcome(owned, log.at),
    );
  }

  /**
   * Stores the outcome and returns the delivery as stored afterwards; undefined if it no longer exists. If the stored
   * delivery changed during the attempt, for example because a user discarded it, the outcome is applied to the changed
   * delivery. Retries until the outcome is stored or the process ends; the attempt is then repeated.
   * @param endpoint the endpoint after the attempt
   */
  private async storeAttemptOutcome(
    known: DeliveryDocument,
    { finished, log }: AttemptResult,
    endpoint: EndpointDocument,
  ): Promise<DeliveryDocument | undefined> {
    const { repeatable, recounts, policy, random, engines } = this.dependencies;
    const context = { policy, pauses: endpoint.pauses, random, urlRevision: getEndpointUrlRevision(endpoint) };
    let current: DeliveryDocument | undefined = known;
    let tried: DeliveryDocument | undefined;
    let restored: readonly DeliveryDocument[] = [];
    return engines.retryUntilDone('storing an outcome', async () => {
      // Read the delivery again: the failed write may have taken effect.
      if (tried !== undefined) current = await repeatable.get(known.id, toDeliveryShardValuesOfScopes(known));
      while (current !== undefined) {
        const { revision } = current;
        if (tried !== undefined && isAttemptAlreadyStored(current, tried)) {
          // The failed write may have failed before its second request of a recount.
          return recounts.requestDiscardRecountsAroundRestore(restored, () => Promise.resolve(current));
        }
        const settled = convertToDeliveryDocument({
          ...applyFinishedAttempt(current, finished, context),
          payload_id: known.payload_id,
        });
        const isDead = settled.status === 'dead_lettered' && current.status !== 'dead_lettered';
        const attempt = { number: settled.attempts_count, ...log, ...(isDead && { dead_lettered: true as const }) };
        const outcome = { ...settled, latest_attempt: attempt };
        [tried, restored] = [outcome, outcome.status === 'discarded' ? [] : [current]];
        if (current.latest_attempt !== undefined) await this.storeEarlierAttempt(current.id, current.latest_attempt);
        if (
          await recounts.requestDiscardRecountsAroundRestore(restored, () => repeatable.replace(outcome, { revision }))
        )
          return outcome;
        current = await repeatable.get(known.id, toDeliveryShardValuesOfScopes(known));
      }
      return undefined;
    });
  }

  /**
   * Stores an attempt in the collection of earlier attempts, before the next attempt replaces it in the delivery. After
   * an interruption between both writes, the attempt is stored twice rather than lost.
   */
  private async storeEarlierAttempt(deliveryId: string, attempt: WebhookAttempt): Promise<void> {
    await this.dependencies.attempts.upsert({
      id: computeReusableAttemptSlotId(deliveryId, attempt.number),
      ...attempt,
    });
  }

  private async saveEndpointHealth(owned: OwnedEndpoint): Promise<void> {
    const { engines, endpoints, time } = this.dependencies;
    await engines.retryUntilDone("storing an endpoint's health", () => endpoints.saveEndpointHealth(owned, time.now()));
  }
}

/**
 * Returns true if the receiver refused the full body because of its size, and the endpoint receives thin bodies by now.
 * Otherwise a delivery keeps its body, whatever its endpoint receives.
 */
function isThinBodyNeededAfterSizeRefusal(
  { payload_id, latest_attempt }: DeliveryDocument,
  { payload }: EndpointDocument,
): boolean {
  return (
    payload === 'thin' &&
    getPayloadFormFromId(payload_id) === 'full' &&
    latest_attempt?.status_code === CONTENT_TOO_LARGE_STATUS
  );
}

/**
 * Returns true if the stored delivery already contains the attempt, so that the attempt is not logged or counted twice.
 */
function isAttemptAlreadyStored(stored: DeliveryDocument, tried: DeliveryDocument): boolean {
  return stored.attempts_count === tried.attempts_count && stored.last_attempt_at === tried.last_attempt_at;
}
