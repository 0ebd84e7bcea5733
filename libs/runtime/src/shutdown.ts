import type { Logger } from '@tracking/ports';
import { formatError } from './logging.ts';

/**
 * Milliseconds during which repeated signals count as one: with Ctrl-C, a process gets a signal from the terminal and
 * again from each `npm` that started it.
 */
const REPEATED_SHUTDOWN_SIGNAL_MS = 1_000;

interface ShutdownStep {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * Stops a process in the reverse order of its start, within a deadline. Work in progress is finished first. A second
 * signal more than a second later, or the deadline, ends the process immediately. Acknowledged writes do not depend on
 * an orderly shutdown.
 */
export class Shutdown {
  private readonly steps: ShutdownStep[] = [];
  private running?: Promise<void>;
  private hasFailed = false;

  constructor(
    private readonly logger: Logger,
    private readonly deadlineMs: number,
  ) {}

  /** Registers a function that stops a component which was just started. */
  addShutdownStep(name: string, run: () => Promise<void>): void {
    this.steps.unshift({ name, run });
  }

  /** Runs every shutdown step once, even if one fails. Another call waits for the same shutdown. */
  runShutdownSteps(): Promise<void> {
    this.running ??= this.steps.reduce(
      (before, step) =>
        before.then(step.run).catch((error: unknown) => {
          this.logger.error({ step: step.name, error: String(error) }, 'a step of the shutdown failed');
        }),
      Promise.resolve(),
    );
    return this.running;
  }

  /**
   * Stops the process on SIGTERM and SIGINT. The last log line of the process says `stopped`.
   * @param before runs immediately, before the first shutdown step
   */
  shutDownOnSignals(before: () => void = () => undefined): void {
    let signaledAt = -Infinity;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.running) {
          if (performance.now() - signaledAt > REPEATED_SHUTDOWN_SIGNAL_MS) process.exit(1);
          return;
        }
        signaledAt = performance.now();
        this.logger.info({ signal }, 'stopping');
        this.endProcess(before);
      });
    }
  }

  /**
   * Stops the process with exit code 1 on an uncaught error: the state of the process is unknown, and a new process is
   * safer. Only the first error is logged, because later errors may result from the shutdown.
   * @param before runs immediately, before the first shutdown step
   */
  shutDownOnUncaughtErrors(before: () => void = () => undefined): void {
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        if (this.hasFailed) return;
        this.logger.error({ error: formatError(error) }, 'the process stops after an uncaught error');
        this.exitWithFailure(before);
      });
    }
  }

  /**
   * Stops the process with exit code 1, because it cannot work.
   * @param before runs immediately, before the first shutdown step
   */
  exitWithFailure(before: () => void = () => undefined): void {
    this.hasFailed = true;
    if (this.running === undefined) this.endProcess(before);
  }

  /**
   * Stops the process with exit code 0, or 1 after a failure or at the deadline.
   * @param before runs first, immediately
   */
  endProcess(before: () => void = () => undefined): void {
    before();
    setTimeout(() => process.exit(1), this.deadlineMs).unref();
    void this.runShutdownSteps().then(() => {
      this.logger.info({}, 'stopped');
      process.exit(this.hasFailed ? 1 : 0);
    });
  }
}
