import { parseTraceparent } from '@tracking/contracts';

/**
 * The engine behind a port did not answer. Whether the operation took effect is unknown unless the port says
 * otherwise; every operation of every port may be repeated.
 */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
  constructor(
    /** Which engine or service, as operators know it: `event store`, `document store`, `shipments`. */
    readonly engine: string,
    /** The message without the engine. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`${engine}: ${reason}`, options);
  }
}

/** The engine takes no writes at present. Certain that nothing was done; trying again at once is in vain. */
export class WritesRefused extends Unavailable {
  override readonly name = 'WritesRefused';
}

/** A bounded queue is full. Certain that nothing was done. */
export class Busy extends Unavailable {
  override readonly name = 'Busy';
}

/** Returns true if the operation that threw the error certainly did nothing. Earlier steps or attempts may have. */
export function isKnownUndone(error: unknown): error is Busy | WritesRefused {
  return error instanceof Busy || error instanceof WritesRefused;
}

/**
 * The error for a caller whose earlier step or attempt may have taken effect: an error that {@link isKnownUndone} becomes a
 * plain `Unavailable`. Any other error is returned as it is.
 */
export function withUnknownOutcome(error: unknown): unknown {
  if (!isKnownUndone(error)) return error;
  return new Unavailable(error.engine, error.reason, { cause: error });
}

/** The request at the edge that something is done for. */
export interface RequestOrigin {
  readonly request_id: string;
  /** W3C Trace Context. */
  readonly traceparent: string;
}

/** By these an operator finds every line about one request, in whatever service it stands. */
export function originFields(origin: { readonly request_id?: unknown; readonly traceparent?: unknown } | undefined) {
  return { request_id: origin?.request_id, trace_id: parseTraceparent(origin?.traceparent)?.id };
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
