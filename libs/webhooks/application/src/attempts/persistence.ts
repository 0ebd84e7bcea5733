import { setTimeout as pause } from 'node:timers/promises';
import { type CountRetry, type Logger, Unavailable } from '@tracking/ports';

const FIRST_MS = 50;
const LONGEST_MS = 2_000;
/** Between two log lines about the same work: an engine that is away concerns thousands of attempts at once. */
const QUIET_MS = 5_000;

/** Outlasts the loss of an engine. */
export class Persistence {
  /** When work of this kind was last complained about, on the monotonic clock. */
  private readonly complaints = new Map<string, number>();

  /** @param ended aborts when the process cannot wait any longer */
  constructor(
    private readonly logger: Logger,
    readonly ended: AbortSignal,
    private readonly countRetry: CountRetry,
  ) {}

  /**
   * Does something against an engine until the engine has done it.
   * @throws what is no loss of the engine; and the signal's reason when it aborts while the engine is away
   */
  async until<T>(what: string, work: () => Promise<T>): Promise<T> {
    for (let wait = FIRST_MS; ; wait = Math.min(2 * wait, LONGEST_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        this.ended.throwIfAborted();
        this.countRetry(what);
        this.complain(what, error.message);
        await pause(wait, undefined, { signal: this.ended });
      }
    }
  }

  private complain(what: string, reason: string): void {
    const now = performance.now();
    if (now - (this.complaints.get(what) ?? -Infinity) < QUIET_MS) return;
    this.complaints.set(what, now);
    this.logger.warn({ reason }, `webhooks: ${what} failed; trying again until it is done`);
  }
}
