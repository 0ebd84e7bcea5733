import { setImmediate as nextTurn } from 'node:timers/promises';

/** Most items under way at a time: of one request, so that those of others have their room too. */
const AT_ONCE = 32;
/** Milliseconds that items may keep the thread before others have their turn. */
const SLICE_MS = 5;

/** Lets others have their turn, where the items of a request have had the thread for long enough. */
export class ThreadSlices {
  private since = performance.now();

  async next(): Promise<void> {
    if (performance.now() - this.since < SLICE_MS) return;
    await nextTurn();
    this.since = performance.now();
  }
}

/**
 * Carries items out: those of one group in their order, groups side by side up to a bound. What one of them throws ends all.
 * @param groupOf items for which it is undefined are a group each
 * @returns what each came to, in the order of the items
 */
export async function carryOut<T, R>(
  items: readonly T[],
  groupOf: (item: T) => string | undefined,
  work: (item: T, index: number) => Promise<R>,
): Promise<readonly R[]> {
  const groups = new Map<string | number, (readonly [T, number])[]>();
  for (const [index, item] of items.entries()) {
    const key = groupOf(item) ?? index;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [[item, index]]);
    else group.push([item, index]);
  }
  const results: R[] = new Array<R>(items.length);
  const slices = new ThreadSlices();
  const waiting = groups.values();
  const worker = async () => {
    for (const group of waiting) {
      for (const [item, index] of group) {
        await slices.next();
        results[index] = await work(item, index);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, groups.size) }, worker));
  return results;
}
