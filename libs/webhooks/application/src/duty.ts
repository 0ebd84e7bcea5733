import { setTimeout as pause } from 'node:timers/promises';
import type { CountRetry, Leases, Logger } from '@tracking/ports';

const RETRY_MS = 1_000;

export interface DutyOptions {
  readonly leases: Leases;
  /** Name of the lease: one process at a time is on duty. */
  readonly lease: string;
  readonly logger: Logger;
  readonly countRetry: CountRetry;
  /** For the log: `announcing dead letters`. */
  readonly what: string;
  /** From the begin of a round to the next, unless nudged. */
  readonly everyMs: number;
  /** Whether the first round waits as long as the others. */
  readonly waitsFirst?: boolean;
  /** @param ending aborts when the process stops or the lease is lost: leave the rest to the next round */
  round(ending: AbortSignal): Promise<void>;
}

/** Something that one process does again and again on behalf of all. */
export class Duty {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private wake: () => void = () => undefined;

  constructor(private readonly options: DutyOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** There is something to do now. */
  nudge(): void {
    this.wake();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { leases, lease: name, logger, countRetry, what } = this.options;
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        const lease = await leases.acquire(name, signal);
        await this.hold(AbortSignal.any([signal, lease.lost])).finally(() => lease.release());
      } catch (error) {
        if (signal.aborted) return;
        countRetry(what);
        logger.warn({ reason: String(error) }, `webhooks: ${what} failed; trying again`);
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  private async hold(ending: AbortSignal): Promise<void> {
    ending.addEventListener('abort', () => this.wake(), { once: true });
    if (this.options.waitsFirst === true) await this.nextRound(ending);
    while (!ending.aborted) {
      // Armed before: what comes up during a round is not missed.
      const next = this.nextRound(ending);
      await this.options.round(ending);
      await next;
    }
  }

  private nextRound(ending: AbortSignal): Promise<void> {
    if (ending.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.options.everyMs).unref();
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
