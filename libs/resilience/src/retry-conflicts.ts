import { Busy } from '@tracking/ports';
import { monotonicMs, retry } from './retry.ts';

/** A write of another replica may take some milliseconds until reads show it. */
const PAUSES = { firstPauseMs: 10, longestPauseMs: 250 };
const DEADLINE_MS = 5_000;

/** A guarded write found its document changed since it was read. */
class WriteConflict extends Error {
  override readonly name = 'WriteConflict';
}

/**
 * Repeats reading documents and writing them under guards until no guard refuses a write, with pauses in between.
 * @param resource names what is written, for the error: for example `endpoint whe_1`
 * @param attempt reads, decides and writes; resolves with undefined if a guard refused a write
 * @throws Busy if every attempt of 5 seconds was refused; and whatever `attempt` throws. `Busy` promises that nothing was
 * written, so an attempt that writes several documents, and keeps some of them, must turn it into `Unavailable`
 */
export async function retryConflicts<T>(
  resource: string,
  attempt: () => Promise<T | undefined>,
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  try {
    return await retry(
      async () => {
        const written = await attempt();
        if (written === undefined) throw new WriteConflict();
        return written;
      },
      { ...PAUSES, deadline: monotonicMs() + deadlineMs, isTransient: (error) => error instanceof WriteConflict },
    );
  } catch (error) {
    if (!(error instanceof WriteConflict)) throw error;
    throw new Busy('document store', `too many requests change ${resource} at the same time`);
  }
}
