import type { CountRetry, Lease, LeaseSource, Logger } from '@tracking/ports';
import { monotonicMs, pauseFor } from './retry.ts';

const FAILURE_RETRY_DELAY_MS = 1_000;
/**
 * Maximum milliseconds of rest after a run. The maximum applies when a run was slow because an engine was unavailable.
 */
const MAX_REST_AFTER_RUN_MS = 5_000;

export interface LeaderElectedJobOptions {
  readonly leases: LeaseSource;
  /** Name of the lease. The process that holds the lease runs the job. */
  readonly lease: string;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  /** Description for logs and metrics, for example `announcing dead letters`. */
  readonly description: string;
  /**
   * Milliseconds from the start of one round to the start of the next, unless the job is woken earlier. After a longer
   * round, the next one starts immediately.
   */
  readonly intervalMs: number;
  /** True if the job waits for an interval before the first round. */
  readonly startsWithWait?: boolean;
  /**
   * Runs one round.
   * @param ending aborts when the process stops, or the lease is lost or requested by another process; the next round
   *   then does the remaining work
   * @param lease lease of the round; check it before work that a process must not continue after a pause
   */
  runJobRound(ending: AbortSignal, lease: Pick<Lease, 'isLeaseHeld'>): Promise<void>;
}

/** Periodic job that runs in one process at a time: the process that holds the job's lease. Failures are retried. */
export class LeaderElectedJob {
  private readonly stopping = new AbortController();
  private readonly wakeUp = new WakeUpSignal();
  private running: Promise<void> = Promise.resolve();
  private lease: Lease | undefined;

  constructor(private readonly options: LeaderElectedJobOptions) {}

  /** Name of the job's lease. */
  get leaseName(): string {
    return this.options.lease;
  }

  /** True if this process holds the job's lease and therefore runs the job. */
  get isLeaseHeld(): boolean {
    return this.lease?.isLeaseHeld() === true;
  }

  startJobRounds(): void {
    this.running = this.runJobAsLeaderUntilStopped();
  }

  /** Starts the next round immediately, or as soon as the current round ends. */
  wakeJob(): void {
    this.wakeUp.signalWakeUp();
  }

  async stopJobRounds(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async runJobAsLeaderUntilStopped(): Promise<void> {
    const { leases, lease: name, logger, countRetry, description } = this.options;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const lease = await leases.acquireLease(name, signal);
        const ending = AbortSignal.any([signal, lease.lost, lease.handOverRequested]);
        this.lease = lease;
        await this.runJobRounds(ending, lease).finally(() => {
          this.lease = undefined;
          return lease.releaseLease();
        });
      } catch (error) {
        if (signal.aborted) return;
        countRetry(description);
        logger.warn({ reason: String(error) }, `${description} failed; retrying`);
        await pauseFor(FAILURE_RETRY_DELAY_MS, signal);
      }
    }
  }

  private async runJobRounds(ending: AbortSignal, lease: Lease): Promise<void> {
    if (this.options.startsWithWait === true) await this.wakeUp.waitForWakeUp(this.options.intervalMs, ending);
    while (!ending.aborted) {
      const startedAt = performance.now();
      await this.options.runJobRound(ending, lease);
      await this.wakeUp.waitForWakeUp(Math.max(0, startedAt + this.options.intervalMs - performance.now()), ending);
    }
  }
}

export interface DutyCycleOptions {
  /** Share of the time that work may use: more than 0, at most 1. */
  readonly share: number;
  /** Clock with monotonic milliseconds. */
  readonly elapsed?: () => number;
  readonly rest?: typeof pauseFor;
}

/**
 * Slows down work that must not delay requests. After each run, the cycle rests in proportion to the run's duration, so
 * that the work adapts to busy engines.
 */
export class BackgroundWorkThrottle {
  readonly #restPerWork: number;
  readonly #elapsed: () => number;
  readonly #rest: typeof pauseFor;

  constructor({ share, elapsed = monotonicMs, rest = pauseFor }: DutyCycleOptions) {
    this.#restPerWork = 1 / share - 1;
    this.#elapsed = elapsed;
    this.#rest = rest;
  }

  /** Runs the work, then rests. The rest ends early when the signal aborts. @throws any error of `stretch` */
  async runWorkThenRest<T>(stretch: () => Promise<T>, ending: AbortSignal): Promise<T> {
    const began = this.#elapsed();
    const result = await stretch();
    await this.#rest(Math.min(MAX_REST_AFTER_RUN_MS, this.#restPerWork * (this.#elapsed() - began)), ending);
    return result;
  }
}

/** Lets one waiter sleep until a wake-up. A wake-up without a waiter ends the next wait immediately. */
export class WakeUpSignal {
  private isPending = false;
  private waiter: AbortController | undefined;

  signalWakeUp(): void {
    this.isPending = true;
    this.waiter?.abort();
  }

  /** Waits for a wake-up, `timeoutMs`, or the signal's abort. Only one waiter at a time is allowed. */
  async waitForWakeUp(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.isPending && signal?.aborted !== true) {
      const waiting = new AbortController();
      const end = () => waiting.abort();
      this.waiter = waiting;
      signal?.addEventListener('abort', end, { once: true });
      await pauseFor(timeoutMs, waiting.signal);
      signal?.removeEventListener('abort', end);
      this.waiter = undefined;
    }
    this.isPending = false;
  }
}
