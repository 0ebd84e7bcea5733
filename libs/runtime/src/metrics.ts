import type { Metrics } from '@tracking/ports';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Metrics of this process over prom-client. */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();

  constructor(service: string) {
    this.registry.setDefaultLabels({ service });
    collectDefaultMetrics({ register: this.registry });
  }

  counter(name: string, help: string, labels: readonly string[] = []): ReturnType<Metrics['counter']> {
    const counter =
      (this.registry.getSingleMetric(name) as Counter | undefined) ??
      new Counter({ name, help, labelNames: [...labels], registers: [this.registry] });
    return { add: (amount = 1, values = {}) => counter.inc(values, amount) };
  }

  gauge(name: string, help: string, labels: readonly string[] = [], read?: () => number): ReturnType<Metrics['gauge']> {
    const gauge =
      (this.registry.getSingleMetric(name) as Gauge | undefined) ??
      new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers: [this.registry],
        ...(read && {
          collect(this: Gauge) {
            this.set(read());
          },
        }),
      });
    return { set: (value, values = {}) => gauge.set(values, value) };
  }

  histogram(
    name: string,
    help: string,
    labels: readonly string[] = [],
    buckets: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  ): ReturnType<Metrics['histogram']> {
    const histogram =
      (this.registry.getSingleMetric(name) as Histogram | undefined) ??
      new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [this.registry] });
    return { observe: (value, values = {}) => histogram.observe(values, value) };
  }

  /** The Prometheus text exposition. */
  async text(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }
}
