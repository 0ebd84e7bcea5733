import type { Collection } from '@tracking/ports';
import { type FinishedAttempt, type Period, type Random, type RetryPolicy, settle } from '@tracking/webhooks-domain';
import { type AttemptDocument, type DeliveryDocument, attemptId, toDocument } from '../deliveries/delivery-document.ts';
import type { WebhookAttempt } from '../requests.ts';
import type { Persistence } from './persistence.ts';

/** What goes into the log of an attempt; its number is known when it is stored. */
export type AttemptLog = Omit<WebhookAttempt, 'number'>;

/** Stores what attempts led to. */
export class Outcomes {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly attempts: Collection<AttemptDocument>,
    private readonly policy: RetryPolicy,
    private readonly random: Random,
    private readonly persistence: Persistence,
  ) {}

  /**
   * Stores the outcome and answers the delivery as it is then; undefined when there is none any more. Where the delivery
   * was changed during the attempt (discarded, or attempted by another owner) the outcome is applied to what it is now.
   * Tries until the store takes it, or the process ends: then the attempt will be repeated.
   */
  async store(
    known: DeliveryDocument,
    attempt: FinishedAttempt,
    log: AttemptLog,
    pauses: readonly Period[],
  ): Promise<DeliveryDocument | undefined> {
    let current: DeliveryDocument | undefined = known;
    let tried: DeliveryDocument | undefined;
    return this.persistence.until('storing an outcome', async () => {
      // After an unknown outcome the store tells what became of it.
      if (tried !== undefined) current = await this.deliveries.get(known.id);
      while (current !== undefined) {
        if (tried !== undefined && isSame(current, tried)) return current;
        const settled = toDocument(settle(current, attempt, { policy: this.policy, pauses, random: this.random }));
        const latest_attempt = { number: settled.attempts_count, ...log };
        tried = { ...settled, latest_attempt };
        if (current.latest_attempt !== undefined) await this.putAside(current.id, current.latest_attempt);
        if (await this.deliveries.replace(tried, { revision: current.revision })) return tried;
        current = await this.deliveries.get(known.id);
      }
      return undefined;
    });
  }

  /** Before its place is taken by the next: interrupted in between, it is in both places rather than in none. */
  private async putAside(deliveryId: string, attempt: WebhookAttempt): Promise<void> {
    await this.attempts.upsert({ id: attemptId(deliveryId, attempt.number), ...attempt });
  }
}

function isSame(stored: DeliveryDocument, tried: DeliveryDocument): boolean {
  return stored.revision === tried.revision && stored.last_attempt_at === tried.last_attempt_at;
}
