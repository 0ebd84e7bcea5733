import {
  type Clock,
  type Collection,
  type Counter,
  type Leases,
  type Logger,
  type Message,
  type MessageBroker,
  MessageRefused,
  type Metrics,
  retryCounter,
} from '@tracking/ports';
import { LeaderElectedJob } from '@tracking/resilience';
import { announced } from '@tracking/webhooks-domain';
import { DEAD_LETTERS_TOPIC } from '../settings.ts';
import { ANNOUNCEMENTS, type DeliveryDocument, toDocument } from '../store/delivery-document.ts';
import { type DeadLetterMessages, withoutEvent } from './dead-letter-message.ts';

/** With their events, of which each may be large. */
const AT_ONCE = 50;
/** How often it looks for dead letters of which this process was not told. */
const SWEEP_MS = 5_000;

export interface DeadLetterAnnouncerParts {
  readonly deliveries: Collection<DeliveryDocument>;
  readonly broker: MessageBroker;
  readonly messages: DeadLetterMessages;
  /** Tells the other endpoints of them; told again of the same, they get nothing more. */
  tell(deadLetters: readonly DeliveryDocument[]): Promise<void>;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Tells the workspace's other endpoints, and the topic, of every dead letter, at least once. A dead letter is stored as not announced in the same write that
 * makes it one, and found by that until both were told: no crash in between loses it.
 */
export class DeadLetterAnnouncer {
  readonly job: LeaderElectedJob;
  private readonly announced: Counter;

  constructor(private readonly parts: DeadLetterAnnouncerParts) {
    const { leases, logger, metrics } = parts;
    this.announced = metrics.counter('webhook_dead_letters_total', 'Deliveries that failed for good');
    this.job = new LeaderElectedJob({
      leases,
      lease: 'webhooks-dead-letters',
      logger,
      countRetry: retryCounter(metrics),
      what: 'announcing dead letters',
      everyMs: SWEEP_MS,
      round: (ending) => this.sweep(ending),
    });
  }

  private async sweep(ending: AbortSignal): Promise<void> {
    for (;;) {
      const found = await this.parts.deliveries.find({
        filter: { queue: ANNOUNCEMENTS },
        sort: { fields: ['due_at', 'id'] },
        limit: AT_ONCE,
      });
      if (found.length === 0 || ending.aborted) return;
      await this.parts.tell(found);
      await this.tellTopic(found);
      const at = this.parts.clock().toISOString();
      await Promise.all(found.map((delivery) => this.markAnnounced(delivery, at)));
      this.announced.add(found.length);
    }
  }

  /** One of which the broker takes no message, as it is too large, keeps no others back: the list has it all the same. */
  private async tellTopic(found: readonly DeliveryDocument[]): Promise<void> {
    const messages = await this.parts.messages.of(found);
    if (await this.isTaken(messages)) return;
    for (const [index, message] of messages.entries()) {
      if ((await this.isTaken([message])) || (await this.isTaken([withoutEvent(message)]))) continue;
      const { id: delivery, endpoint_id: endpoint } = found[index] ?? {};
      this.parts.logger.warn({ delivery, endpoint }, 'webhooks: the topic of dead letters refused one');
    }
  }

  private async isTaken(messages: readonly Message[]): Promise<boolean> {
    try {
      await this.parts.broker.publish(DEAD_LETTERS_TOPIC, messages);
      return true;
    } catch (error) {
      if (error instanceof MessageRefused) return false;
      throw error;
    }
  }

  /** Whatever else became of it in the meantime: the topic has it. */
  private async markAnnounced(delivery: DeliveryDocument, at: string): Promise<void> {
    let current: DeliveryDocument | undefined = delivery;
    while (current?.status === 'dead_lettered' && current.announced_at === null) {
      if (await this.parts.deliveries.replace(toDocument(announced(current, at)), { revision: current.revision }))
        return;
      current = await this.parts.deliveries.get(delivery.id);
    }
  }
}
