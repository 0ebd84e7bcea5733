import { Unavailable, type Message, type MessageBroker, type ReceivedMessage } from '@tracking/ports';
import { retry } from '@tracking/resilience';

/** What was acknowledged, and what came of it. */
export class Ledger {
  readonly acknowledged = new Set<string>();
  readonly deliveries: string[] = [];

  /** As a publisher does it: batch after batch, one that was not acknowledged again until it is. */
  async publish(broker: MessageBroker, topic: string, name: string, batches: number, perBatch: number): Promise<void> {
    for (let batch = 0; batch < batches; batch += 1) {
      const messages = Array.from({ length: perBatch }, (_, n) => messageOf(`${name}-${n % 5}`, batch * perBatch + n));
      await untilAcknowledged(() => broker.publish(topic, messages));
      for (const message of messages) this.acknowledged.add(idOf(message));
    }
  }

  readonly receive = async (messages: readonly ReceivedMessage[]): Promise<void> => {
    this.deliveries.push(...messages.map(idOf));
  };

  get missing(): string[] {
    const delivered = new Set(this.deliveries);
    return [...this.acknowledged].filter((id) => !delivered.has(id));
  }

  get repeated(): number {
    return this.deliveries.length - new Set(this.deliveries).size;
  }

  /** Messages delivered for the first time after a later one of their key. */
  get outOfOrder(): string[] {
    const last = new Map<string, number>();
    return [...new Set(this.deliveries)].filter((id) => {
      const [key = '', n] = id.split('#');
      const before = last.get(key) ?? -1;
      last.set(key, Math.max(before, Number(n)));
      return Number(n) < before;
    });
  }
}

export function messageOf(key: string, n: number, value = JSON.stringify({ n })): Message {
  return { key, value, headers: { 'event-id': `${key}#${n}` } };
}

function idOf({ headers }: Message): string {
  return headers['event-id'] ?? '';
}

function untilAcknowledged(attempt: () => Promise<void>): Promise<void> {
  return retry(attempt, { longestPauseMs: 50, isTransient: (error) => error instanceof Unavailable });
}
