import type { CountRetry, Lease, Leases, Logger } from '@tracking/ports';
import { monotonicMs, pause } from './retry.ts';

const PAUSE_AFTER_FAILURE_MS = 1_000;
/** After a stretch that took long because an engine was away. */
const MAX_REST_MS = 5_000;

export interface LeaderElectedJobOptions {
  readonly leases: Leases;
  /** Name of the lease: its holder runs the job. */
  readonly lease: string;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  /** For logs and metrics: `announcing dead letters`. */
  readonly description: string;
  /** From the begin of a round to the begin of the next, unless woken. A longer round is followed by the next at once. */
  readonly intervalMs: number;
  /** Whether the first round waits as long as the others. */
  readonly startsWithWait?: boolean;
  /**
   * @param ending aborts when the process stops or the lease is lost: leave the rest to the next round
   * @param lease under which it runs: for work that a process which stood still must not go on with
   */
  round(ending: AbortSignal, lease: Pick<Lease, 'isHeld'>): Promise<void>;
}

/** A periodic job that one process at a time runs on behalf of all: whoever holds its lease. Failures are retried. */
export class LeaderElectedJob {
  private readonly stopping = new AbortController();
  private readonly wakeUp = new WakeUp();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: LeaderElectedJobOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** There is something to do now: the next round begins at once, or when the one under way has ended. */
  wake(): void {
    this.wakeUp.wake();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { leases, lease: name, logger, countRetry, description: description } = this.options;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const lease = await leases.acquire(name, signal);
        await this.runRounds(AbortSignal.any([signal, lease.lost]), lease).finally(() => lease.release());
      } catch (error) {
        if (signal.aborted) return;
        countRetry(description);
        logger.warn({ reason: String(error) }, `${description} failed; trying again`);
        await pause(PAUSE_AFTER_FAILURE_MS, signal);
      }
    }
  }

  private async runRounds(ending: AbortSignal, lease: Lease): Promise<void> {
    if (this.options.startsWithWait === true) await this.wakeUp.wait(this.options.intervalMs, ending);
    while (!ending.aborted) {
      const startedAt = performance.now();
      await this.options.round(ending, lease);
      await this.wakeUp.wait(Math.max(0, startedAt + this.options.intervalMs - performance.now()), ending);
    }
  }
}

export interface DutyCycleOptions {
  /** Share of the time that work may take: more than 0, at most 1. */
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
  async run<T>(stretch: () => Promise<T>, ending: AbortSignal): Promise<T> {
    const began = this.#elapsed();
    const result = await stretch();
    await this.#rest(Math.min(MAX_REST_MS, this.#restPerWork * (this.#elapsed() - began)), ending);
    return result;
  }
}

/** Lets one waiter sleep until there is something to do. A wake-up while nobody waits ends the next wait at once. */
export class WakeUp {
  private isPending = false;
  private waiter: AbortController | undefined;

  wake(): void {
    this.isPending = true;
    this.waiter?.abort();
  }

  /** Resolves at a wake-up, after `timeoutMs`, or when the signal aborts. One waiter at a time. */
  async wait(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.isPending && signal?.aborted !== true) {
      const waiting = new AbortController();
      const end = () => waiting.abort();
      this.waiter = waiting;
      signal?.addEventListener('abort', end, { once: true });
      await pause(timeoutMs, waiting.signal);
      signal?.removeEventListener('abort', end);
      this.waiter = undefined;
    }
    this.isPending = false;
  }
}
