import { parseTraceparent } from '@tracking/contracts';

/**
 * The engine behind a port did not respond. The operation may have taken effect unless the port says otherwise. Every
 * operation of every port can be repeated.
 */
export class UnavailableError extends Error {
  override readonly name: string = 'Unavailable';
  constructor(
    /** Name of the engine or service for operators: `event store`, `document store`, `shipments`. */
    readonly engine: string,
    /** Error message without the name of the engine. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`${engine}: ${reason}`, options);
  }
}

/** The engine currently refuses writes. The operation had no effect, and repeating it immediately will fail. */
export class WritesRefusedError extends UnavailableError {
  override readonly name = 'WritesRefused';
}

/**
 * The engine refuses this process, for example because of a wrong password or an untrusted certificate. It accepts the
 * process only after a change of settings, here or at the engine. The operation had no effect.
 */
export class EngineAccessRefusedError extends UnavailableError {
  override readonly name = 'AccessRefused';
}

/** A bounded queue is full. The operation had no effect. */
export class BusyError extends UnavailableError {
  override readonly name = 'Busy';
}

/**
 * Returns true if the operation that threw the error certainly had no effect. Earlier steps or attempts may have had
 * one.
 */
export function isErrorWithoutEffect(error: unknown): error is BusyError | WritesRefusedError {
  return error instanceof BusyError || error instanceof WritesRefusedError;
}

/**
 * Converts an error for callers whose earlier steps or attempts may have taken effect: errors of
 * {@link isErrorWithoutEffect} become a plain `UnavailableError`. Other errors are returned unchanged.
 */
export function convertToUnknownOutcomeError(error: unknown): unknown {
  if (!isErrorWithoutEffect(error)) return error;
  return new UnavailableError(error.engine, error.reason, { cause: error });
}

/** Identity of the client request that caused an operation. */
export interface CausingRequest {
  readonly request_id: string;
  /** Header of W3C Trace Context. */
  readonly traceparent: string;
}

/** Returns log fields that identify the request, so that operators find its log lines in every service. */
export function toOriginLogFields(
  origin: { readonly request_id?: unknown; readonly traceparent?: unknown } | undefined,
) {
  return { request_id: origin?.request_id, trace_id: parseTraceparent(origin?.traceparent)?.id };
}

/** Structured logger. Callers never log secrets, keys, tokens or bodies. */
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
  /** Records a value. @param value in the unit at the end of the metric's name */
  observe(value: number, labels?: Labels): void;
}
/** Prometheus metrics of this process. A repeated request of the same name returns the same metric. */
export interface Metrics {
  createCounter(name: string, help: string, labels?: readonly string[]): Counter;
  /** Creates a gauge. @param read returns the value at each scrape, instead of `set` */
  createGauge(name: string, help: string, labels?: readonly string[], read?: () => number): Gauge;
  createHistogram(name: string, help: string, labels?: readonly string[], buckets?: readonly number[]): Histogram;
}

/** Counts a failed attempt that is retried. @param what name of the operation, one of a few fixed texts */
export type CountRetry = (what: string) => void;

/**
 * Creates the counter for all operations that are retried until they succeed, so that one metric shows operations that
 * keep failing.
 */
export function createRetryCounter(metrics: Metrics): CountRetry {
  const help = 'Failed attempts of operations that are retried until they succeed, by operation.';
  const counter = metrics.createCounter('retries_total', help, ['what']);
  return (what) => counter.add(1, { what });
}

/** Returns the current wall-clock time. */
export type Clock = () => Date;
