import type { Logger, Metrics } from '@tracking/ports';

const doNothing = () => undefined;

/** A logger that discards all lines. */
export const silentLogger: Logger = { debug: doNothing, info: doNothing, warn: doNothing, error: doNothing };

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** Returns a logger that appends every line to `lines`. */
export function createRecordingLogger(lines: LogLine[]): Logger {
  const log = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
  };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

/** Metrics that discard all values. */
export const noMetrics: Metrics = {
  createCounter: () => ({ add: doNothing }),
  createGauge: () => ({ set: doNothing }),
  createHistogram: () => ({ observe: doNothing }),
};

/**
 * Metrics that can be read as numbers, by name and labels such as `commits_total{sync="full"}`. For a histogram, the
 * number is its count of observations.
 */
export class RecordedMetrics implements Metrics {
  private readonly values = new Map<string, number>();
  private readonly readers = new Map<string, () => number>();

  /** Returns the current value of the metric, or 0 if it was never changed. */
  getMetricValue(name: string): number {
    return this.readers.get(name)?.() ?? this.values.get(name) ?? 0;
  }

  createCounter(name: string) {
    return { add: (amount = 1, labels = {}) => this.updateMetricValue(name, labels, (value) => value + amount) };
  }

  createGauge(name: string, _help: string, _labels?: readonly string[], read?: () => number) {
    if (read !== undefined) this.readers.set(name, read);
    return { set: (to: number, labels = {}) => this.updateMetricValue(name, labels, () => to) };
  }

  createHistogram(name: string) {
    return { observe: (_value: number, labels = {}) => this.updateMetricValue(name, labels, (value) => value + 1) };
  }

  private updateMetricValue(
    name: string,
    labels: Readonly<Record<string, string | number>>,
    next: (value: number) => number,
  ): void {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const key = pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
    this.values.set(key, next(this.values.get(key) ?? 0));
  }
}
