/** Under way at once: the service has others to serve. */
const AT_ONCE = 4;

export interface Tally<Item> {
  readonly done: number;
  /** In the order in which they were found. */
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[];
  /** Not begun, since it was stopped. */
  readonly left: number;
}

interface Parts<Item> {
  readonly write: (item: Item) => Promise<unknown>;
  readonly onProgress: (outcome: Tally<Item>) => void;
  readonly signal: AbortSignal;
}

/** Does it to each, some at once; one that fails keeps no other from being done. Stopped, it ends what it began. */
export async function forEachOf<Item>(items: readonly Item[], parts: Parts<Item>): Promise<Tally<Item>> {
  const { write, onProgress, signal } = parts;
  const failed: { readonly item: Item; readonly error: unknown }[] = [];
  let [begun, done] = [0, 0];
  const outcome = () => ({ done, failed: [...failed], left: items.length - done - failed.length });
  const work = async () => {
    while (begun < items.length && !signal.aborted) {
      const item = items[begun] as Item;
      begun += 1;
      try {
        await write(item);
        done += 1;
      } catch (error) {
        failed.push({ item, error });
      }
      onProgress(outcome());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return outcome();
}
