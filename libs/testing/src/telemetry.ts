import type { Logger, Metrics } from '@tracking/ports';

const nothing = () => undefined;

/** For whatever wants a logger that no test looks at. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** Adds every line to `lines`. */
export function recordingLogger(lines: LogLine[]): Logger {
  const log = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
  };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

/** For whatever wants metrics that no test looks at. */
export const noMetrics: Metrics = {
  counter: () => ({ add: nothing }),
  gauge: () => ({ set: nothing }),
  histogram: () => ({ observe: nothing }),
};

/** Metrics as numbers: by name and labels, as `commits_total{sync="full"}`. Histograms count their observations. */
export class RecordedMetrics implements Metrics {
  private readonly values = new Map<string, number>();
  private readonly readers = new Map<string, () => number>();

  /** The value of the metric; 0 if it was never changed. */
  value(name: string): number {
    return this.readers.get(name)?.() ?? this.values.get(name) ?? 0;
  }

  counter(name: string) {
    return { add: (amount = 1, labels = {}) => this.move(name, labels, (value) => value + amount) };
  }

  gauge(name: string, _help: string, _labels?: readonly string[], read?: () => number) {
    if (read !== undefined) this.readers.set(name, read);
    return { set: (to: number, labels = {}) => this.move(name, labels, () => to) };
  }

  histogram(name: string) {
    return { observe: (_value: number, labels = {}) => this.move(name, labels, (value) => value + 1) };
  }

  private move(name: string, labels: Readonly<Record<string, string | number>>, next: (value: number) => number): void {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const key = pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
    this.values.set(key, next(this.values.get(key) ?? 0));
  }
}
