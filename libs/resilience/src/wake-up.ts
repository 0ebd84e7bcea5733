import { pause } from './pause.ts';

/** Lets one waiter sleep until there is something to do. A wake-up while nobody waits ends the next wait at once. */
export class WakeUp {
  private isPending = false;
  private waiting: AbortController | undefined;

  wake(): void {
    this.isPending = true;
    this.waiting?.abort();
  }

  /** Resolves at a wake-up, after `timeoutMs`, or when the signal aborts. One waiter at a time. */
  async wait(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.isPending && signal?.aborted !== true) {
      const waiting = new AbortController();
      const end = () => waiting.abort();
      this.waiting = waiting;
      signal?.addEventListener('abort', end, { once: true });
      await pause(timeoutMs, waiting.signal);
      signal?.removeEventListener('abort', end);
      this.waiting = undefined;
    }
    this.isPending = false;
  }
}
