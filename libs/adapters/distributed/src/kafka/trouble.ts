import type { Logger } from '@tracking/ports';

/** A restart of a broker is over by then, on most machines. */
const LASTING_MS = 60_000;

/** What is tried again until it succeeds: a line when it first fails, a warning when that lasts, a line when it is over. */
export class Trouble {
  private since: number | undefined;
  private hasWarned = false;

  /** @param what fails, as `messages are sent again` */
  constructor(
    private readonly what: string,
    private readonly fields: object,
    private readonly logger: Logger,
  ) {}

  /**
   * It failed, once more.
   * @param isOurs whether that is no matter of an engine which comes back: a warning at once
   */
  goesOn(reason: string, isOurs = false): void {
    const now = performance.now();
    const isNew = this.since === undefined;
    this.since ??= now;
    if (!this.hasWarned && (isOurs || now - this.since > LASTING_MS)) {
      this.hasWarned = true;
      this.logger.warn({ ...this.fields, reason, ...this.lasting(now) }, this.what);
    } else if (isNew) this.logger.info({ ...this.fields, reason }, this.what);
  }

  /** It succeeded. */
  isOver(): void {
    if (this.since === undefined) return;
    this.logger.info({ ...this.fields, ...this.lasting(performance.now()) }, `${this.what}: over`);
    this.since = undefined;
    this.hasWarned = false;
  }

  private lasting(now: number): { readonly seconds: number } {
    return { seconds: Math.round((now - (this.since ?? now)) / 1_000) };
  }
}
