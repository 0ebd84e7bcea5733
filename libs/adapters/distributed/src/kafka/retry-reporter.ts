import type { Logger } from '@tracking/ports';

/** A restart of a broker is over by then, on most machines. */
const LASTING_MS = 60_000;

/** Log lines about what is retried until it succeeds: when it first fails, a warning when that lasts, when it succeeds. */
export class RetryReporter {
  private since: number | undefined;
  private hasWarned = false;

  /** @param what happens, as `messages are sent again` */
  constructor(
    private readonly what: string,
    private readonly fields: object,
    private readonly logger: Logger,
  ) {}

  /** @param isFault whether it is no outage of an engine, which passes: a warning at once */
  failed(reason: string, isFault = false): void {
    const now = performance.now();
    const isNew = this.since === undefined;
    this.since ??= now;
    if (!this.hasWarned && (isFault || now - this.since > LASTING_MS)) {
      this.hasWarned = true;
      this.logger.warn({ ...this.fields, reason, ...this.lasting(now) }, this.what);
    } else if (isNew) this.logger.info({ ...this.fields, reason }, this.what);
  }

  succeeded(): void {
    if (this.since === undefined) return;
    this.logger.info({ ...this.fields, ...this.lasting(performance.now()) }, `${this.what}: over`);
    this.since = undefined;
    this.hasWarned = false;
  }

  private lasting(now: number): { readonly seconds: number } {
    return { seconds: Math.round((now - (this.since ?? now)) / 1_000) };
  }
}
