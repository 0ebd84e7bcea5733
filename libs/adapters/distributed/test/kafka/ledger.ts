import { UnavailableError, type BrokerMessage, type MessageBroker, type ReceivedBrokerMessage } from '@tracking/ports';
import { retry } from '@tracking/resilience';

/** Number and size of the batches that a test publishes. The messages of a batch share a few keys. */
interface BatchCountAndSize {
  readonly name: string;
  readonly batches: number;
  readonly perBatch: number;
}

/** Publishes messages and compares those that the broker acknowledged with those that the consumer received. */
export class MessageLossChecker {
  readonly acknowledged = new Set<string>();
  readonly deliveries: string[] = [];

  /** @param ended signal that stops publishing */
  constructor(private readonly ended?: AbortSignal) {}

  /** Publishes batch after batch, and repeats each until it is acknowledged. */
  async publishTestBatchesUntilAcknowledged(
    broker: MessageBroker,
    topic: string,
    { name, batches, perBatch }: BatchCountAndSize,
  ): Promise<void> {
    for (let batch = 0; batch < batches; batch += 1) {
      const messages = Array.from({ length: perBatch }, (_, n) =>
        createBrokerMessage(`${name}-${n % 5}`, batch * perBatch + n),
      );
      await this.publishUntilAcknowledged(() => broker.publishMessages(topic, messages));
      for (const message of messages) this.acknowledged.add(readEventIdHeader(message));
    }
  }

  readonly receive = async (messages: readonly ReceivedBrokerMessage[]): Promise<void> => {
    this.deliveries.push(...messages.map(readEventIdHeader));
  };

  get missing(): string[] {
    const delivered = new Set(this.deliveries);
    return [...this.acknowledged].filter((id) => !delivered.has(id));
  }

  get repeated(): number {
    return this.deliveries.length - new Set(this.deliveries).size;
  }

  /** Messages that were first delivered after a later message with the same key. */
  get outOfOrder(): string[] {
    const last = new Map<string, number>();
    return [...new Set(this.deliveries)].filter((id) => {
      const [key = '', n] = id.split('#');
      const before = last.get(key) ?? -1;
      last.set(key, Math.max(before, Number(n)));
      return Number(n) < before;
    });
  }

  private publishUntilAcknowledged(publish: () => Promise<void>): Promise<void> {
    const isTransient = (error: unknown) => error instanceof UnavailableError;
    return retry(publish, { maxPauseMs: 50, isTransient, ...(this.ended && { signal: this.ended }) });
  }
}

export function createBrokerMessage(key: string, n: number, value = JSON.stringify({ n })): BrokerMessage {
  return { key, value, headers: { 'event-id': `${key}#${n}` } };
}

function readEventIdHeader({ headers }: BrokerMessage): string {
  return headers['event-id'] ?? '';
}
