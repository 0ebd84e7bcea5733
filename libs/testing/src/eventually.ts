import { setTimeout } from 'node:timers/promises';
import { withDeadline } from '@tracking/resilience';
import { patient } from './patience.ts';

/**
 * Tries until `attempt` no longer throws, and answers what it answered: for what becomes true in its own time.
 * @throws what the last attempt threw, once `deadlineMs`, times the patience of this run, have passed: 20,000 by default
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { deadlineMs = 20_000 }: { readonly deadlineMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + patient(deadlineMs);
  for (let pause = 1; ; pause = Math.min(2 * pause, 50)) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() + pause > deadline) throw error;
    }
    await setTimeout(pause);
  }
}

/**
 * What the promise settles with.
 * @throws Error where it has not settled after `deadlineMs`, times the patience of this run
 */
export async function beforeDeadline<T>(promise: Promise<T>, deadlineMs: number): Promise<T> {
  return await withDeadline(promise, patient(deadlineMs), () => new Error(`not settled within ${deadlineMs} ms`));
}
