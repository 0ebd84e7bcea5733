import type { Counter, Logger, Position } from '@tracking/ports';
import { pause } from '@tracking/resilience';

/** Whether everything up to the position is in all read models, now or within the time. */
export type ReadModelsReached = (position: Position, timeoutMs: number) => Promise<boolean>;

/** How soon it is noticed while waiting that the work is to end. */
const LOOK_MS = 250;

/**
 * Nobody is told of what the read models do not show yet, so that whoever is told can read it. Read models that stand
 * still are not waited for again until they have caught up.
 */
export class ReadModelsFirst {
  private behindSince: number | undefined;
  private isImpatient = false;

  constructor(
    private readonly reached: ReadModelsReached,
    /** For how long they may be behind, in ms. */
    private readonly patienceMs: number,
    private readonly ahead: Counter,
    private readonly logger: Logger,
  ) {}

  /**
   * Resolves when events up to the position may be published.
   * @param events how many they are
   * @throws the signal's reason once it aborts
   */
  async wait(position: Position, events: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const began = performance.now();
      const left = (this.behindSince ?? began) + this.patienceMs - began;
      if (await this.hasReached(position, Math.max(0, Math.min(LOOK_MS, left)))) break;
      signal.throwIfAborted();
      this.behindSince ??= began;
      if (performance.now() - this.behindSince >= this.patienceMs) {
        this.goOn(events);
        return;
      }
    }
    if (this.isImpatient) this.logger.info({}, 'the read models show again what is published');
    this.behindSince = undefined;
    this.isImpatient = false;
  }

  private goOn(events: number): void {
    this.ahead.add(events);
    if (this.isImpatient) return;
    this.isImpatient = true;
    this.logger.warn({ patience_ms: this.patienceMs }, 'events are published that the read models do not show yet');
  }

  /** Whoever cannot tell has not reached it. */
  private async hasReached(position: Position, timeoutMs: number): Promise<boolean> {
    try {
      return await this.reached(position, timeoutMs);
    } catch {
      await pause(timeoutMs);
      return false;
    }
  }
}
