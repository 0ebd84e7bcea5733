import type { Clock } from '@tracking/ports';
import { monotonicMs } from '@tracking/resilience';

/** Smallest step of the wall clock that counts, in milliseconds. Smaller differences are gradual corrections. */
const MIN_CLOCK_STEP_MS = 500;

/** Time of this process, and its relation to stored times. Times are epoch milliseconds. */
export interface ProcessClock {
  /** Returns the time of this process, which a step of the wall clock does not change. */
  now(): number;
  /** Number of steps of the wall clock so far. */
  readonly steps: number;
  /** Converts a time of this process to a stored time, which is a time of the wall clock. */
  convertSteadyTimeToWallClockTime(at: number): number;
  /** Converts a stored time to a time of this process. */
  toSteadyTime(at: number): number;
}

/**
 * Time of the wall clock without its steps. A step occurs if the clock is set or synchronized, or if the
 * machine sleeps. {@link now} notices a step by comparing the wall clock with the monotonic clock.
 */
export class WallClockWithoutSteps implements ProcessClock {
  readonly #startedAt: number;
  /** Sum of all steps in milliseconds. */
  #aheadMs = 0;
  #steps = 0;

  /** @param elapsed returns the milliseconds of a monotonic clock */
  constructor(
    private readonly clock: Clock,
    private readonly elapsed: () => number = monotonicMs,
  ) {
    this.#startedAt = clock().getTime() - elapsed();
  }

  get steps(): number {
    return this.#steps;
  }

  now(): number {
    const wall = this.clock().getTime();
    const aheadMs = wall - Math.floor(this.#startedAt + this.elapsed());
    if (Math.abs(aheadMs - this.#aheadMs) >= MIN_CLOCK_STEP_MS) {
      this.#aheadMs = aheadMs;
      this.#steps += 1;
    }
    return wall - this.#aheadMs;
  }

  convertSteadyTimeToWallClockTime(at: number): number {
    return at + this.#aheadMs;
  }

  toSteadyTime(at: number): number {
    return at - this.#aheadMs;
  }
}
