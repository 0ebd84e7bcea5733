import { env } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { withDeadline } from '@tracking/resilience';

/**
 * Repeats `attempt` until it no longer throws, and returns its result. Use it for results that appear asynchronously.
 * @throws the error of the last attempt after `deadlineMs`, multiplied by `TEST_PATIENCE`; 20,000 by default
 */
export async function eventually<T>(
  attempt: () => T | Promise<T>,
  { deadlineMs = 20_000 }: { readonly deadlineMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + scaleTimeout(deadlineMs);
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
 * Settles like the promise.
 * @throws Error if the promise has not settled after `deadlineMs`, multiplied by `TEST_PATIENCE`
 */
export async function rejectAfterDeadline<T>(promise: Promise<T>, deadlineMs: number): Promise<T> {
  return await withDeadline(
    promise,
    scaleTimeout(deadlineMs),
    () => new Error(`the promise did not settle within ${deadlineMs} ms`),
  );
}

/**
 * Waits for a duration that is part of the scenario, such as a receiver that responds late, work on a message, or a
 * lasting fault. To wait for a condition, use `eventually`.
 * @throws AbortError when `signal` aborts
 */
export async function waitForSimulatedDelay(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal });
}

/** Checks for `ms` milliseconds that an assertion keeps holding. @throws the error of `assertion` if it fails once */
export async function expectAssertionStaysTrue(assertion: () => void | Promise<void>, ms = 200): Promise<void> {
  const end = performance.now() + ms;
  do {
    await assertion();
    await setTimeout(10);
  } while (performance.now() < end);
  await assertion();
}

/**
 * Starts a stopwatch. The returned function returns the elapsed milliseconds, which tests print but must not assert.
 */
export function startStopwatch(): () => number {
  const start = performance.now();
  return () => performance.now() - start;
}

/**
 * Factor of all timeouts in tests: `TEST_PATIENCE`, 1 by default. For example, an EventStoreDB node takes 2 s to become
 * the leader on a quiet machine, and up to 50 s on a busy one.
 */
const TIMEOUT_FACTOR = Number(env['TEST_PATIENCE'] ?? 1);

/** Returns the timeout in milliseconds, multiplied by `TEST_PATIENCE`. */
export function scaleTimeout(ms: number): number {
  return ms * TIMEOUT_FACTOR;
}
