import type { Position } from '@tracking/ports';

/** After so long without an observation the lag is unknown, and grows from the last one. */
const KNOWN_FOR_MS = 5_000;
const MOST_HEADS = 1_000;

/**
 * How long the oldest unhandled event has been waiting, by repeated observation of the end of the log and of the
 * checkpoint: it grows whichever process should handle the event, and for whatever reason it does not.
 */
export class Lag {
  /** Ends of the log as they were observed, of those that the checkpoint has not reached. */
  private heads: { readonly position: Position; readonly at: number }[] = [];
  private observedAt: number;

  /** @param now milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.observedAt = now();
  }

  /**
   * @param at when the observation began, by the same clock
   * @param head of the log
   * @param done everything up to here is done
   */
  observe(at: number, head: Position | undefined, done: Position | undefined): void {
    this.observedAt = at;
    const last = this.heads.at(-1)?.position;
    if (head !== undefined && (last === undefined || head > last)) this.heads.push({ position: head, at });
    if (this.heads.length > MOST_HEADS) this.heads = this.heads.filter((_, index) => index % 2 === 0);
    this.reached(done);
  }

  /** Everything up to here is done. */
  reached(done: Position | undefined): void {
    const first = this.heads.findIndex(({ position }) => done === undefined || position > done);
    this.heads.splice(0, first < 0 ? this.heads.length : first);
  }

  ms(): number {
    const now = this.now();
    const isKnown = now - this.observedAt <= KNOWN_FOR_MS;
    return now - (this.heads[0]?.at ?? (isKnown ? now : this.observedAt));
  }
}
