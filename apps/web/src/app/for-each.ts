/** Requests under way at once: the service has others to serve. */
const CONCURRENCY = 4;

export interface Tally<Item> {
  readonly done: readonly Item[];
  /** In the order in which they failed. */
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[];
  /** Number of items that are not done and have not failed; at the end, those that were not begun. */
  readonly left: number;
}

interface Parts<Item> {
  readonly write: (item: Item) => Promise<unknown>;
  readonly onProgress: (tally: Tally<Item>) => void;
  /** Once it is aborted, nothing more is begun. */
  readonly signal: AbortSignal;
}

/** Writes each item, a few at once. Goes on after a failure; when it is stopped, it ends what is under way. */
export async function forEachOf<Item>(items: readonly Item[], parts: Parts<Item>): Promise<Tally<Item>> {
  const { write, onProgress, signal } = parts;
  const done: Item[] = [];
  const failed: { readonly item: Item; readonly error: unknown }[] = [];
  let begun = 0;
  const tally = () => ({ done: [...done], failed: [...failed], left: items.length - done.length - failed.length });
  const work = async () => {
    while (begun < items.length && !signal.aborted) {
      const item = items[begun] as Item;
      begun += 1;
      try {
        await write(item);
        done.push(item);
      } catch (error) {
        failed.push({ item, error });
      }
      onProgress(tally());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return tally();
}
