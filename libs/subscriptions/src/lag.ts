import type { Position } from '@tracking/ports';

/** Without a look for as long, nobody knows any more: what was known last ages. */
const KNOWN_FOR_MS = 5_000;
const MOST_HEADS = 1_000;

/**
 * How long the oldest event that is not done has been waiting, seen from outside: by looking again and again at how far
 * the log reaches, and how far it is done. So it grows whoever should do the work and whatever keeps them from it.
 */
export class Lag {
  /** Where the log ended when it was looked at, as far as that is not done. */
  private heads: { readonly position: Position; readonly at: number }[] = [];
  private lookedAt: number;

  /** @param now milliseconds of a monotonic clock */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.lookedAt = now();
  }

  /**
   * @param at when the look began, by the same clock
   * @param head of the log
   * @param done everything up to here is done
   */
  looked(at: number, head: Position | undefined, done: Position | undefined): void {
    this.lookedAt = at;
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
    const isKnown = now - this.lookedAt <= KNOWN_FOR_MS;
    return now - (this.heads[0]?.at ?? (isKnown ? now : this.lookedAt));
  }
}
