import type { Collection } from '@tracking/ports';
import { type EndpointState, type Random, type RetryPolicy, settle, urlRevision } from '@tracking/webhooks-domain';
import type { WebhookAttempt } from '../requests-and-answers.ts';
import type { Recounts } from '../stats/hour-log.ts';
import { type AttemptDocument, type DeliveryDocument, attemptId, toDocument } from '../store/delivery-document.ts';
import type { MadeAttempt } from './attempt-sender.ts';
import type { EngineRetry } from './engine-retry.ts';

export interface OutcomeStoreParts {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly attempts: Collection<AttemptDocument>;
  readonly recounts: Recounts;
  readonly policy: RetryPolicy;
  readonly random: Random;
  readonly engines: EngineRetry;
}

/** Stores what attempts led to. */
export class OutcomeStore {
  constructor(private readonly parts: OutcomeStoreParts) {}

  /**
   * Stores the outcome and answers the delivery as it is then; undefined when there is none any more. Where the delivery
   * was changed during the attempt (discarded, or attempted by another owner) the outcome is applied to what it is now.
   * Tries until the store takes it, or the process ends: then the attempt will be repeated.
   * @param endpoint as it is after the attempt
   */
  async store(
    known: DeliveryDocument,
    { finished, log }: MadeAttempt,
    endpoint: Pick<EndpointState, 'pauses' | 'url_revision'>,
  ): Promise<DeliveryDocument | undefined> {
    const { deliveries, recounts, policy, random, engines } = this.parts;
    const context = { policy, pauses: endpoint.pauses, random, urlRevision: urlRevision(endpoint) };
    let current: DeliveryDocument | undefined = known;
    let tried: DeliveryDocument | undefined;
    return engines.until('storing an outcome', async () => {
      // After an unknown outcome the store tells what became of it.
      if (tried !== undefined) current = await deliveries.get(known.id);
      while (current !== undefined) {
        if (tried !== undefined && isSame(current, tried)) return current;
        const settled = toDocument(settle(current, finished, context));
        const isDead = settled.status === 'dead_lettered' && current.status !== 'dead_lettered';
        const attempt = { number: settled.attempts_count, ...log, ...(isDead && { dead_lettered: true as const }) };
        tried = { ...settled, latest_attempt: attempt };
        if (current.latest_attempt !== undefined) await this.keepEarlier(current.id, current.latest_attempt);
        if (tried.status !== 'discarded') await recounts.beforeRestoring([current]);
        if (await deliveries.replace(tried, { revision: current.revision })) return tried;
        current = await deliveries.get(known.id);
      }
      return undefined;
    });
  }

  /** Before its place is taken by the next: interrupted in between, it is in both places rather than in none. */
  private async keepEarlier(deliveryId: string, attempt: WebhookAttempt): Promise<void> {
    const document = { id: attemptId(deliveryId, attempt.number), ...attempt };
    await this.parts.attempts.upsert(document);
  }
}

/** Whatever was changed of it since: an attempt is not to be in the log, nor counted, twice. */
function isSame(stored: DeliveryDocument, tried: DeliveryDocument): boolean {
  return stored.attempts_count === tried.attempts_count && stored.last_attempt_at === tried.last_attempt_at;
}
