import { type CountRetry, type Logger, Unavailable } from '@tracking/ports';
import { type RetryOptions, monotonicMs, retry } from '@tracking/resilience';

/** Between two log lines about the same work: an engine that is away concerns thousands of attempts at once. */
const QUIET_MS = 5_000;

/** Retries work against an engine for as long as the engine is away. */
export class EngineRetry {
  /** When work of this kind was last complained about, on the monotonic clock. */
  private readonly complaints = new Map<string, number>();

  /** @param ended aborts when the process cannot wait any longer */
  constructor(
    private readonly logger: Logger,
    readonly ended: AbortSignal,
    private readonly countRetry: CountRetry,
    private readonly pauses: Pick<RetryOptions, 'firstPauseMs' | 'longestPauseMs'>,
  ) {}

  /** @throws what is no loss of the engine; and `Unavailable` when the process ends while the engine is away */
  until<T>(what: string, work: () => Promise<T>): Promise<T> {
    return retry(work, {
      ...this.pauses,
      signal: this.ended,
      isTransient: (error) => error instanceof Unavailable,
      onFailure: (error) => {
        if (!(error instanceof Unavailable) || this.ended.aborted) return;
        this.countRetry(what);
        this.complain(what, error.message);
      },
    });
  }

  private complain(what: string, reason: string): void {
    const now = monotonicMs();
    if (now - (this.complaints.get(what) ?? -Infinity) < QUIET_MS) return;
    this.complaints.set(what, now);
    this.logger.warn({ reason }, `webhooks: ${what} failed; trying again until it is done`);
  }
}
