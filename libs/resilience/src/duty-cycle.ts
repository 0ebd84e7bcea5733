import { pause } from './pause.ts';
import { monotonicMs } from './retry.ts';

/** After a stretch that took long because an engine was away. */
const LONGEST_REST_MS = 5_000;

export interface DutyCycleOptions {
  /** Of the time, that work may take: more than 0, at most 1. */
  readonly share: number;
  /** Monotonic time in milliseconds. */
  readonly elapsed?: () => number;
  readonly rest?: typeof pause;
}

/**
 * Paces work that must not be in the way of requests: after each stretch it rests in proportion to how long that took, so
 * that it slows down by itself where engines are busy.
 */
export class DutyCycle {
  readonly #restPerWork: number;
  readonly #elapsed: () => number;
  readonly #rest: typeof pause;

  constructor({ share, elapsed = monotonicMs, rest = pause }: DutyCycleOptions) {
    this.#restPerWork = 1 / share - 1;
    this.#elapsed = elapsed;
    this.#rest = rest;
  }

  /** Carries a stretch of work out, then rests; at once over where the signal aborts. @throws whatever `stretch` throws */
  async work<T>(stretch: () => Promise<T>, ending: AbortSignal): Promise<T> {
    const began = this.#elapsed();
    const done = await stretch();
    await this.#rest(Math.min(LONGEST_REST_MS, this.#restPerWork * (this.#elapsed() - began)), ending);
    return done;
  }
}
