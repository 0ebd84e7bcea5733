import { env } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { withDeadline } from '@tracking/resilience';

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
 * Settles as the promise does.
 * @throws Error where it has not settled after `deadlineMs`, times the patience of this run
 */
export async function beforeDeadline<T>(promise: Promise<T>, deadlineMs: number): Promise<T> {
  return await withDeadline(promise, patient(deadlineMs), () => new Error(`not settled within ${deadlineMs} ms`));
}

/**
 * Waits as a part of the scenario: a receiver that answers late, work on a message, a fault that lasts. Never for waiting
 * until something is true, which is for `eventually`.
 * @throws AbortError once `signal` aborts
 */
export async function takeTime(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal });
}

/** For what must not happen: throws what `assertion` throws, should it do so once within `ms`. */
export async function staysTrue(assertion: () => void | Promise<void>, ms = 200): Promise<void> {
  const end = performance.now() + ms;
  do {
    await assertion();
    await setTimeout(10);
  } while (performance.now() < end);
  await assertion();
}

/** Milliseconds since now, for figures that a run writes down, or to know what applies: nothing to assert. */
export function stopwatch(): () => number {
  const start = performance.now();
  return () => performance.now() - start;
}

/**
 * How many times longer than usual tests wait for what becomes true in its own time: `TEST_PATIENCE`, 1 by default. An
 * EventStoreDB node takes 2 s to become the leader on a quiet machine, and up to 50 s on a busy one.
 */
const PATIENCE = Number(env['TEST_PATIENCE'] ?? 1);

/** A deadline of a test, in milliseconds, as long as this machine and its engines need it. */
export function patient(ms: number): number {
  return ms * PATIENCE;
}
