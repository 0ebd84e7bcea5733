import { type CountRetry, type Logger, UnavailableError } from '@tracking/ports';
import { type RetryOptions, monotonicMs, pauseFor, retry } from '@tracking/resilience';

/**
 * Milliseconds between two log lines about the same work, because an unreachable engine fails thousands of attempts at
 * once.
 */
const LOG_INTERVAL_MS = 5_000;
/** Milliseconds of pause after work failed although every storage engine is reachable. */
const PAUSE_AFTER_WORK_FAILURE_MS = 5_000;

/** Retries work while a storage engine is unreachable. */
export class EngineOutageWorkRetrier {
  /** Time of the last log line about each kind of work, on the monotonic clock. */
  private readonly loggedAt = new Map<string, number>();

  /** @param ended aborts when the process cannot wait any longer */
  constructor(
    private readonly logger: Logger,
    readonly ended: AbortSignal,
    private readonly countRetry: CountRetry,
    private readonly pauses: Pick<RetryOptions, 'firstPauseMs' | 'maxPauseMs'>,
  ) {}

  /**
   * Retries the work until it is done. @throws errors other than an unreachable engine; `UnavailableError` if the process
   * ends while the engine is unreachable
   */
  retryUntilDone<T>(what: string, work: () => Promise<T>): Promise<T> {
    return retry(work, {
      ...this.pauses,
      signal: this.ended,
      isTransient: (error) => error instanceof UnavailableError,
      onFailure: (error) => {
        if (!(error instanceof UnavailableError) || this.ended.aborted) return;
        this.countRetry(what);
        this.logEngineFailureAtIntervals(what, error.message);
      },
    });
  }

  /**
   * Retries the work like {@link retryUntilDone}, but logs other errors and pauses instead of throwing. Returns true if
   * the work is done.
   */
  async retryOrLog(what: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.retryUntilDone(what, work);
      return true;
    } catch (error) {
      if (this.ended.aborted) return false;
      this.logger.error({ reason: String(error) }, `webhooks: ${what} failed`);
      await pauseFor(PAUSE_AFTER_WORK_FAILURE_MS, this.ended);
      return false;
    }
  }

  private logEngineFailureAtIntervals(what: string, reason: string): void {
    const now = monotonicMs();
    if (now - (this.loggedAt.get(what) ?? -Infinity) < LOG_INTERVAL_MS) return;
    this.loggedAt.set(what, now);
    this.logger.warn({ reason }, `webhooks: ${what} failed; trying again until it is done`);
  }
}
