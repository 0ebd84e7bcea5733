import type { Timestamp } from '@tracking/contracts';
import type { DeliveryError } from './delivery.ts';
import type { Period } from './periods.ts';

/** That an endpoint has not answered 2xx for a while although it was attempted. */
export interface Failing {
  /** Begin of the first attempt that failed since the last success. */
  readonly since: Timestamp;
  /** When it was found to have lasted long enough. */
  readonly at: Timestamp;
  /** Why its latest attempt failed. */
  readonly reason: DeliveryError;
}

/** Attempts that failed since the last success. Epoch milliseconds. */
export interface FailuresInARow {
  /** Begin of the first. */
  readonly since: number;
  /** End of the latest. */
  readonly latest: number;
}

/**
 * When the other endpoints are to be told of it, in epoch milliseconds: so long after the first failure, or after it was last
 * enabled. Infinity where it is not attempted, or has not been since: whoever disabled it may have mended it.
 * @param pauses of the endpoint
 */
export function tellsFailingAt({ since, latest }: FailuresInARow, pauses: readonly Period[], afterMs: number): number {
  const last = pauses.at(-1);
  if (last === undefined) return since + afterMs;
  const enabledAt = last.to === null ? Infinity : Date.parse(last.to);
  return latest < enabledAt ? Infinity : Math.max(since, enabledAt) + afterMs;
}
