import { Busy } from '@tracking/ports';
import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 5_000;
/** A full queue empties within a commit or two. */
const LONGEST_PAUSE_WHEN_BUSY_MS = 50;

/**
 * Repeats an action until it succeeds: engines come back. Pauses double, with jitter, so that replicas do not return in
 * step.
 * @param failed told of every failure
 * @throws the last failure, once the signal has aborted
 */
export async function persistently<T>(
  action: () => Promise<T>,
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await action();
    } catch (error) {
      failed(error);
      if (signal.aborted) throw error;
      const longest = error instanceof Busy ? LONGEST_PAUSE_WHEN_BUSY_MS : LONGEST_PAUSE_MS;
      const doubled = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), longest);
      await pause(doubled * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}
