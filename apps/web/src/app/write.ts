import { notifications } from '@mantine/notifications';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { describeFailure, isSignedOut } from './failures.ts';

export interface WriteOptions<Input, Output> {
  readonly write: (input: Input) => Promise<Output>;
  /** The message after success. */
  readonly done?: string | ((output: Output) => string);
  /** Prefixes of query keys that are read again at the end, also after a failure. */
  readonly invalidates?: readonly QueryKey[];
  readonly onDone?: (output: Output, input: Input) => void;
  /** Returns true if the caller showsError this failure itself. All others appear as a notification. */
  readonly showsError?: (error: unknown) => boolean;
}

/** A write with its notification and rereads. Nothing is shown as done before the service has confirmed it. */
export function useWrite<Input = void, Output = unknown>(parts: WriteOptions<Input, Output>) {
  const queries = useQueryClient();
  const { write, done, invalidates = [], onDone, showsError } = parts;
  const refetch = () => Promise.all(invalidates.map((queryKey) => queries.invalidateQueries({ queryKey })));
  return useMutation({
    mutationFn: write,
    // Passwords and secrets that are shown once are not kept after their form is closed.
    gcTime: 0,
    onSuccess: async (output, input) => {
      await refetch();
      if (done !== undefined)
        notifications.show({ message: typeof done === 'string' ? done : done(output), color: 'green' });
      onDone?.(output, input);
    },
    onError: (error) => {
      // The user is asked to sign in again.
      if (isSignedOut(error)) return;
      // Part of it may be done, or it was refused because the page is out of date.
      void refetch();
      if (showsError?.(error)) return;
      const { title, message } = describeFailure(error);
      notifications.show({ title, message, color: 'red', autoClose: 10_000 });
    },
  });
}

/** Concurrent requests, limited for the sake of other users of the service. */
const CONCURRENCY = 4;

export interface Tally<Item> {
  readonly done: readonly Item[];
  /** In the order in which they failed. */
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[];
  /** Number of items that are not done and have not failed; at the end, those that were not begun. */
  readonly left: number;
}

interface ConcurrencyOptions<Item> {
  readonly write: (item: Item) => Promise<unknown>;
  readonly onProgress: (tally: Tally<Item>) => void;
  /** Stops the start of further items once it is aborted. */
  readonly signal: AbortSignal;
}

/** Writes all items, a few at a time. Continues after a failure; when stopped, completes the requests that are under way. */
export async function runConcurrently<Item>(
  items: readonly Item[],
  parts: ConcurrencyOptions<Item>,
): Promise<Tally<Item>> {
  const { write, onProgress, signal } = parts;
  const done: Item[] = [];
  const failed: { readonly item: Item; readonly error: unknown }[] = [];
  let started = 0;
  const tally = () => ({ done: [...done], failed: [...failed], left: items.length - done.length - failed.length });
  const work = async () => {
    while (started < items.length && !signal.aborted) {
      const item = items[started] as Item;
      started += 1;
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

/** A random id of 128 bits. `randomUUID` does not exist on pages without HTTPS. */
export function randomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
