const WITHIN_MS = 10_000;
/** One broker that restarts costs as many; where it goes on, something between breaks connections. */
const TOO_MANY = 3;

/** Responses that were awaited on a connection when it broke, in all clients of a process. */
export class LostResponses {
  /** When, on the monotonic clock. */
  private times: number[] = [];

  add(count: number): void {
    const now = performance.now();
    this.times = [...this.times, ...Array.from({ length: Math.min(count, TOO_MANY) }, () => now)].slice(-TOO_MANY);
  }

  /** Whether too many were lost in the last 10 s. */
  get areMany(): boolean {
    const [first = -Infinity] = this.times;
    return this.times.length === TOO_MANY && performance.now() - first < WITHIN_MS;
  }
}
