const LOOK_EVERY_MS = 1_000;

/**
 * Whether the group still hears of a member. A consumer whose heartbeats stop for two sessions although the broker answers
 * waits for what never comes.
 */
export class HeartbeatMonitor {
  /** On the monotonic clock. */
  private heardAt = performance.now();
  /** When the broker last did not answer. */
  private brokerAwayAt = -Infinity;

  constructor(
    private readonly sessionTimeoutMs: number,
    /** Rejects where the broker does not answer. */
    private readonly pingBroker: () => Promise<unknown>,
  ) {}

  /** The group took a heartbeat, or let the member join. */
  heard(): void {
    this.heardAt = performance.now();
  }

  /** The group has not heard of the member for so long that it may have given its partitions away. */
  get isOutOfGroup(): boolean {
    return performance.now() - this.heardAt > this.sessionTimeoutMs;
  }

  /**
   * Watches a consumer that begins now.
   * @param onSilence called where the group does not hear of it
   * @returns ends the watch
   */
  watch(onSilence: () => void): () => void {
    const began = performance.now();
    let isOver = false;
    const silentMs = () => performance.now() - Math.max(began, this.heardAt, this.brokerAwayAt);
    const look = async () => {
      if (silentMs() < this.sessionTimeoutMs) return;
      try {
        await this.pingBroker();
        if (!isOver && silentMs() > 2 * this.sessionTimeoutMs) onSilence();
      } catch {
        this.brokerAwayAt = performance.now();
      }
    };
    const looking = setInterval(() => void look(), LOOK_EVERY_MS);
    return () => {
      isOver = true;
      clearInterval(looking);
    };
  }
}
