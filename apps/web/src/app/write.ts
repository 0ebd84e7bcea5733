import { notifications } from '@mantine/notifications';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { failureOf, isSignedOut } from './failures.ts';

export interface WriteParts<Input, Output> {
  readonly write: (input: Input) => Promise<Output>;
  /** Told when it is done. */
  readonly done?: string | ((output: Output) => string);
  /** Queries that are read again at the end, also after a failure: all whose key begins so. */
  readonly touches?: readonly QueryKey[];
  readonly onDone?: (output: Output, input: Input) => void;
  /** Failures that the caller shows in its own place; all others are told as a notification. */
  readonly shows?: (error: unknown) => boolean;
}

/** A write, with what is told and read anew when it ended. Nothing is shown as done before the service says so. */
export function useWrite<Input = void, Output = unknown>(parts: WriteParts<Input, Output>) {
  const queries = useQueryClient();
  const { write, done, touches = [], onDone, shows } = parts;
  const readAgain = () => Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
  return useMutation({
    mutationFn: write,
    // Secrets that are shown once, and passwords, are not kept when what showed them is closed.
    gcTime: 0,
    onSuccess: async (output, input) => {
      await readAgain();
      if (done !== undefined)
        notifications.show({ message: typeof done === 'string' ? done : done(output), color: 'green' });
      onDone?.(output, input);
    },
    onError: (error) => {
      // They are asked to sign in again.
      if (isSignedOut(error)) return;
      // Part of it may be done, or it was refused because what the page shows is outdated.
      void readAgain();
      if (shows?.(error)) return;
      const { title, message } = failureOf(error);
      notifications.show({ title, message, color: 'red', autoClose: 10_000 });
    },
  });
}

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

/** 128 bits by chance. Not `randomUUID`: pages without https have none. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
