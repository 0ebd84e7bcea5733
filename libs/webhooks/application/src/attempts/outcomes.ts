import type { Collection, Logger } from '@tracking/ports';
import { type FinishedAttempt, type Period, type Random, type RetryPolicy, settle } from '@tracking/webhooks-domain';
import { type AttemptDocument, type DeliveryDocument, attemptId, toDocument } from '../deliveries/delivery-document.ts';
import type { WebhookAttempt } from '../requests.ts';
import { persistently } from './persistently.ts';

/** What goes into the log of an attempt; its number is known when it is stored. */
export type AttemptLog = Omit<WebhookAttempt, 'number'>;

/** Stores what attempts led to. */
export class Outcomes {
  constructor(
    private readonly deliveries: Collection<DeliveryDocument>,
    private readonly attempts: Collection<AttemptDocument>,
    private readonly policy: RetryPolicy,
    private readonly random: Random,
    private readonly logger: Logger,
  ) {}

  /**
   * Stores the outcome and answers the delivery as it is then; undefined when there is none any more. Where the delivery
   * was changed during the attempt (discarded, or attempted by another owner) the outcome is applied to what it is now.
   * Tries until the store takes it, or `ended` aborts: then the attempt will be repeated.
   */
  async store(
    known: DeliveryDocument,
    attempt: FinishedAttempt,
    log: AttemptLog,
    pauses: readonly Period[],
    ended: AbortSignal,
  ): Promise<DeliveryDocument | undefined> {
    let current: DeliveryDocument | undefined = known;
    let tried: DeliveryDocument | undefined;
    return persistently(ended, this.logger, 'webhooks: storing an outcome', async () => {
      // After an unknown outcome the store tells what became of it.
      if (tried !== undefined) current = await this.deliveries.get(known.id);
      for (;;) {
        if (current === undefined) return undefined;
        if (tried !== undefined && isSame(current, tried)) {
          await this.attempts.upsert(logged(current, log));
          return current;
        }
        const next = toDocument(settle(current, attempt, { policy: this.policy, pauses, random: this.random }));
        tried = next;
        const replaced = this.deliveries.replace(next, { revision: current.revision });
        const [done] = await Promise.all([replaced, this.attempts.upsert(logged(next, log))]);
        if (done) return next;
        current = await this.deliveries.get(known.id);
      }
    });
  }
}

function logged({ id, attempts_count: number }: DeliveryDocument, log: AttemptLog): AttemptDocument {
  return { id: attemptId(id, number), number, ...log };
}

function isSame(stored: DeliveryDocument, tried: DeliveryDocument): boolean {
  return stored.revision === tried.revision && stored.last_attempt_at === tried.last_attempt_at;
}
