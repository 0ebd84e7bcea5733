import type { Logger } from '@tracking/ports';

interface Step {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * Stops a process in the reverse order of its start, within a deadline: what is in flight is finished, then the process
 * ends. A second signal, or the deadline, ends it at once; nothing acknowledged depends on an orderly end.
 */
export class Shutdown {
  private readonly steps: Step[] = [];
  private under?: Promise<void>;

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
    this.under ??= this.steps.reduce(
      (before, step) =>
        before.then(step.run).catch((error: unknown) => {
          this.logger.error({ step: step.name, error: String(error) }, 'could not stop cleanly');
        }),
      Promise.resolve(),
    );
    return this.under;
  }

  /**
   * Ends the process on SIGTERM and SIGINT.
   * @param before runs first, at once
   */
  onSignals(before: () => void = () => undefined): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.under) process.exit(1);
        this.logger.info({ signal }, 'stopping');
        before();
        setTimeout(() => process.exit(1), this.deadlineMs).unref();
        void this.run().then(() => process.exit(0));
      });
    }
  }
}
