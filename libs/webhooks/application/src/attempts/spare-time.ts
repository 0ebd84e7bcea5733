/** How an event loop has spent its time: both only ever grow. */
export interface LoopTime {
  /** In milliseconds. */
  readonly elapsed: number;
  /** Of that, without anything to do. */
  readonly idle: number;
}

/** Of this thread. */
function ownLoopTime(): LoopTime {
  const { idle } = performance.eventLoopUtilization();
  return { elapsed: performance.now(), idle };
}

/** What an attempt takes of loop and engine together, in milliseconds: rather more than it does, so that others keep the rest. */
export const ATTEMPT_MS = 2;
/** Part of all time that is there to be spent even where the loop is never idle: nobody waits for ever. */
const LEAST = 0.05;
/** Saved at most, in milliseconds: what is done with it is what others wait when it is spent at once. */
const MOST_SAVED = 10 * ATTEMPT_MS;

/**
 * What the event loop has to spare: as long as it was idle, and a little of all time. What is paid for with it takes a fraction of
 * what others leave, and next to nothing of a loop that others keep busy.
 */
export class SpareTime {
  private saved = MOST_SAVED;
  private known: LoopTime;

  constructor(private readonly loopTime: () => LoopTime = ownLoopTime) {
    this.known = loopTime();
  }

  /** Whether there is enough for an attempt. */
  get isEnough(): boolean {
    const now = this.loopTime();
    this.saved += now.idle - this.known.idle + LEAST * (now.elapsed - this.known.elapsed);
    this.saved = Math.min(MOST_SAVED, this.saved);
    this.known = now;
    return this.saved >= ATTEMPT_MS;
  }

  /** Spends so many milliseconds, if there is enough for an attempt: what takes longer is paid off by what comes next. */
  spend(price: number): boolean {
    if (!this.isEnough) return false;
    this.saved -= price;
    return true;
  }
}
