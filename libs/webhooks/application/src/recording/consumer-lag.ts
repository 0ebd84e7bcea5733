import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import type { CountRetry, MessageBroker, Metrics } from '@tracking/ports';
import { CONSUMER_GROUP } from '../topics.ts';

/** How many published events nobody has recorded yet, as the broker says: also while nobody records. */
export class ConsumerLag {
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private readonly gauge;

  constructor(
    private readonly broker: Pick<MessageBroker, 'lag'>,
    metrics: Metrics,
    private readonly countRetry: CountRetry,
    private readonly lookMs: number,
  ) {
    this.gauge = metrics.gauge('webhook_events_waiting', 'Published events not recorded yet, whoever records them');
  }

  start(): void {
    this.look();
    this.timer = setInterval(() => this.look(), this.lookMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private look(): void {
    this.looking ??= this.broker
      .lag(SHIPMENT_EVENTS_TOPIC.name, CONSUMER_GROUP)
      .then((count) => this.gauge.set(count))
      .catch(() => this.countRetry('looking how many events wait'))
      .finally(() => (this.looking = undefined));
  }
}
