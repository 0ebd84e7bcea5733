import { setTimeout as pause } from 'node:timers/promises';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 5_000;

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
      const longest = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
      await pause(longest * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}
