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
 * Repeats reading a document and writing it under a guard until the write is not refused, with pauses in between.
 * @param resource names the document for logs, for example `endpoint whe_1`
 * @param attempt reads, decides and writes; resolves with undefined if the guard refused the write
 * @throws Busy if every attempt of 5 seconds was refused: nothing was written; and whatever `attempt` throws
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
