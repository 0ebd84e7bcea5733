/** How an event loop has spent its time: both only ever grow. */
export interface LoopTime {
  /** In milliseconds. */
  readonly elapsed: number;
  /** Of that, without anything to do. */
  readonly idle: number;
}

/** Of this thread. */
export function ownLoopTime(): LoopTime {
  const { idle } = performance.eventLoopUtilization();
  return { elapsed: performance.now(), idle };
}

/** What an attempt that fails, and the record of it, takes of the loop, in milliseconds: rather more than it does. */
const PRICE_MS = 0.5;
/** Part of all time that is there to be spent even where the loop is never idle: nobody waits for ever. */
const LEAST = 0.05;
/** Saved at most, in attempts: what these take is what others wait when it is spent at once. */
const MOST_SAVED = 20;

/**
 * What the event loop has to spare. For each attempt that fails it was idle as long as that takes: so those attempts take
 * about half of what others leave, and next to nothing of a loop that others keep busy.
 */
export class SpareTime {
  private saved = MOST_SAVED;
  private known: LoopTime;

  constructor(private readonly loopTime: () => LoopTime = ownLoopTime) {
    this.known = loopTime();
  }

  /** How many attempts it is enough for. */
  get attempts(): number {
    const now = this.loopTime();
    const spare = now.idle - this.known.idle + LEAST * (now.elapsed - this.known.elapsed);
    this.known = now;
    this.saved = Math.min(MOST_SAVED, this.saved + spare / PRICE_MS);
    return Math.floor(this.saved);
  }

  /** Spends what an attempt takes, if there is as much. */
  take(): boolean {
    if (this.attempts < 1) return false;
    this.saved -= 1;
    return true;
  }
}
