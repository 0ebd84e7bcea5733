import { setTimeout } from 'node:timers/promises';

/**
 * What a scenario itself takes: a receiver that answers late, work on a message, a fault that lasts. Never for waiting
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
