import { traceOf } from '@tracking/contracts';

/** The request at the edge that something is done for. */
export interface RequestOrigin {
  readonly request_id: string;
  /** W3C Trace Context. */
  readonly traceparent: string;
}

/** By these an operator finds every line about one request, in whatever service it stands. */
export function originFields(origin: { readonly request_id?: unknown; readonly traceparent?: unknown } | undefined) {
  return { request_id: origin?.request_id, trace_id: traceOf(origin?.traceparent)?.id };
}

/** Structured log lines. Never hand it secrets, keys, tokens or bodies. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

type Labels = Readonly<Record<string, string | number>>;
export interface Counter {
  add(amount?: number, labels?: Labels): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
}
export interface Histogram {
  /** @param value in the unit that the metric's name ends with */
  observe(value: number, labels?: Labels): void;
}
/** Metrics of this process, as Prometheus shows them. Asking for the same name again answers the same metric. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  /** @param read where given, asked at each scrape instead of set */
  gauge(name: string, help: string, labels?: readonly string[], read?: () => number): Gauge;
  histogram(name: string, help: string, labels?: readonly string[], buckets?: readonly number[]): Histogram;
}

/** Counts a try that failed of something that is tried until it succeeds. @param what is tried: one of a few texts */
export type CountRetry = (what: string) => void;

/**
 * For every loop that goes on until it has succeeded: what never does shows in one metric, whoever tries it.
 */
export function retryCounter(metrics: Metrics): CountRetry {
  const help = 'Tries that failed of what is tried until it succeeds, by what that is.';
  const counter = metrics.counter('retries_total', help, ['what']);
  return (what) => counter.add(1, { what });
}

/** Wall-clock time now. */
export type Clock = () => Date;
