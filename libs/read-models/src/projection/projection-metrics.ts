import { type CountRetry, retryCounter } from '@tracking/ports';
import type { Counter, Gauge, Histogram, Metrics } from '@tracking/ports';
import type { SubscriptionMetrics } from '@tracking/subscriptions';

/** What operators see of the projections of this process, by `read_model`. */
export class ProjectionMetrics {
  readonly lag: Gauge;
  readonly parked: Gauge;
  private readonly projected: Counter;
  private readonly batch: Histogram;
  private readonly countRetry: CountRetry;

  constructor(metrics: Metrics) {
    const labels = ['read_model'];
    this.projected = metrics.counter('read_model_events_projected_total', 'Events folded into rows.', labels);
    this.lag = metrics.gauge(
      'read_model_lag_seconds',
      'How long the oldest event that is not in it yet has waited, whoever projects; 0 when none waits.',
      labels,
    );
    this.parked = metrics.gauge('read_model_parked_streams', 'Streams that wait behind an event that failed.', labels);
    this.batch = metrics.histogram('read_model_batch_seconds', 'From a batch in hand to its rows written.', labels);
    this.countRetry = retryCounter(metrics);
  }

  of(readModel: string): SubscriptionMetrics {
    const labels = { read_model: readModel };
    return {
      handled: (events, seconds) => {
        this.projected.add(events, labels);
        this.batch.observe(seconds, labels);
      },
      failed: () => this.countRetry(`projecting ${readModel}`),
    };
  }
}
