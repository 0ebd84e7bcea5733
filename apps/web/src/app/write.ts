import { notifications } from '@mantine/notifications';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { describeFailure, isSignedOutError } from './failures.ts';

export interface WriteOptions<Input, Output> {
  readonly write: (input: Input) => Promise<Output>;
  /** Message after success. */
  readonly done?: string | ((output: Output) => string);
  /** Prefixes of the query keys to refetch after the request, even if the request fails. */
  readonly invalidates?: readonly QueryKey[];
  readonly onDone?: (output: Output, input: Input) => void;
  /** Returns true if the caller shows the error itself. Other errors appear as a notification. */
  readonly showsError?: (error: unknown) => boolean;
}

/** A mutation with a notification and refetches. Nothing is shown as done before the service confirms it. */
export function useApiWrite<Input = void, Output = unknown>(parts: WriteOptions<Input, Output>) {
  const queries = useQueryClient();
  const { write, done, invalidates = [], onDone, showsError } = parts;
  const refetch = () => Promise.all(invalidates.map((queryKey) => queries.invalidateQueries({ queryKey })));
  return useMutation({
    mutationFn: write,
    // Passwords and one-time secrets are discarded when their form is closed.
    gcTime: 0,
    onSuccess: async (output, input) => {
      await refetch();
      if (done !== undefined)
        notifications.show({ message: typeof done === 'string' ? done : done(output), color: 'green' });
      onDone?.(output, input);
    },
    onError: (error) => {
      // The sign-in page opens, so no notification is needed.
      if (isSignedOutError(error)) return;
      // A failed request may have had an effect, or the page's data may be out of date.
      void refetch();
      if (showsError?.(error)) return;
      const { title, message } = describeFailure(error);
      notifications.show({ title, message, color: 'red', autoClose: 10_000 });
    },
  });
}

/** Maximum number of concurrent requests, so that other users of the service are not slowed down. */
const MAX_CONCURRENT_WRITES = 4;

export interface BulkWriteResult<Item> {
  readonly done: readonly Item[];
  /** Failed items in order of failure. */
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[];
  /** Number of items that neither succeeded nor failed so far. At the end, items that were not started. */
  readonly left: number;
}

interface BulkWriteOptions<Item> {
  readonly write: (item: Item) => Promise<unknown>;
  readonly onProgress: (tally: BulkWriteResult<Item>) => void;
  /** When aborted, no further items are started. */
  readonly signal: AbortSignal;
}

/** Writes all items with limited concurrency. Continues after failures. When stopped, completes pending requests. */
export async function writeConcurrently<Item>(
  items: readonly Item[],
  parts: BulkWriteOptions<Item>,
): Promise<BulkWriteResult<Item>> {
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
  await Promise.all(Array.from({ length: MAX_CONCURRENT_WRITES }, work));
  return tally();
}

/** Returns a random 128-bit id. `randomUUID` does not exist on pages without HTTPS. */
export function createRandomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
