import { setTimeout as pause } from 'node:timers/promises';

const FIRST_MS = 10;
const LONGEST_MS = 500;

/** Milliseconds of a clock that is never set back; only differences mean something. */
export const monotonic = (): number => performance.now();

/**
 * Waits before the attempt after `attempt` (from 0): somewhere between nothing and a bound that doubles, so that those
 * who failed together do not come back together. Answers whether there is time left for another attempt.
 */
export async function backOff(attempt: number, deadline: number): Promise<boolean> {
  const wait = Math.random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt);
  if (monotonic() + wait >= deadline) return false;
  await pause(wait);
  return true;
}
