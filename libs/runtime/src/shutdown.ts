import type { Logger } from '@tracking/ports';
import { formatError } from './logging.ts';

/** Ctrl-C reaches a process from the terminal and once more from each `npm` that it was started by: one wish, not two. */
const REPEATED_SIGNAL_MS = 1_000;

interface ShutdownStep {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * Stops a process in the reverse order of its start, within a deadline: what is in flight is finished, then the process
 * ends. A second signal a second later, or the deadline, ends it at once; nothing acknowledged depends on an orderly end.
 */
export class Shutdown {
  private readonly steps: ShutdownStep[] = [];
  private running?: Promise<void>;
  private hasFailed = false;

  constructor(
    private readonly logger: Logger,
    private readonly deadlineMs: number,
  ) {}

  /** Registers how to stop what was just started. */
  add(name: string, run: () => Promise<void>): void {
    this.steps.unshift({ name, run });
  }

  /** Runs every step once, even where one fails; calling it again waits for the same end. */
  run(): Promise<void> {
    this.running ??= this.steps.reduce(
      (before, step) =>
        before.then(step.run).catch((error: unknown) => {
          this.logger.error({ step: step.name, error: String(error) }, 'could not stop cleanly');
        }),
      Promise.resolve(),
    );
    return this.running;
  }

  /**
   * Ends the process on SIGTERM and SIGINT; the last line that it logs says `stopped`.
   * @param before runs first, at once
   */
  onSignals(before: () => void = () => undefined): void {
    let signaledAt = -Infinity;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.running) {
          if (performance.now() - signaledAt > REPEATED_SIGNAL_MS) process.exit(1);
          return;
        }
        signaledAt = performance.now();
        this.logger.info({ signal }, 'stopping');
        this.end(before);
      });
    }
  }

  /**
   * Ends the process, with 1, on an error that nobody caught: what it was about is unknown, and another process does better.
   * The first one is logged; those that come of the end are not.
   * @param before runs first, at once
   */
  onUncaught(before: () => void = () => undefined): void {
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        if (this.hasFailed) return;
        this.hasFailed = true;
        this.logger.error({ error: formatError(error) }, 'an error that nobody caught: stopping');
        if (this.running === undefined) this.end(before);
      });
    }
  }

  private end(before: () => void): void {
    before();
    setTimeout(() => process.exit(1), this.deadlineMs).unref();
    void this.run().then(() => {
      this.logger.info({}, 'stopped');
      process.exit(this.hasFailed ? 1 : 0);
    });
  }
}
