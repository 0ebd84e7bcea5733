import { notifications } from '@mantine/notifications';
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { describeFailure, isSignedOutError } from './failures.ts';

export interface WriteOptions<Input, Output> {
  readonly write: (input: Input) => Promise<Output>;
  /** Notification text after a successful write. */
  readonly done?: string | ((output: Output) => string);
  /** Prefixes of the query keys to refetch after the write. The queries are also refetched if the write fails. */
  readonly invalidates?: readonly QueryKey[];
  readonly onDone?: (output: Output, input: Input) => void;
  /** Returns true if the component shows the error of the write itself. All other errors appear as a notification. */
  readonly showsError?: (error: unknown) => boolean;
}

/**
 * Creates a mutation that sends a write to the API, shows a notification and refetches queries. The page shows a change
 * only after the service has confirmed it.
 */
export function useApiWrite<Input = void, Output = unknown>(parts: WriteOptions<Input, Output>) {
  const queries = useQueryClient();
  const { write, done, invalidates = [], onDone, showsError } = parts;
  const refetch = () => Promise.all(invalidates.map((queryKey) => queries.invalidateQueries({ queryKey })));
  return useMutation({
    mutationFn: write,
    // The mutation is deleted immediately, because its input and output may contain secrets.
    gcTime: 0,
    onSuccess: async (output, input) => {
      await refetch();
      if (done !== undefined)
        notifications.show({ message: typeof done === 'string' ? done : done(output), color: 'green' });
      onDone?.(output, input);
    },
    onError: (error) => {
      // An ended session opens the sign-in page, so this error needs no notification.
      if (isSignedOutError(error)) return;
      // Queries are also refetched after a failure, because the failed write may have had an effect.
      void refetch();
      if (showsError?.(error)) return;
      const { title, message } = describeFailure(error);
      notifications.show({ title, message, color: 'red', autoClose: 10_000 });
    },
  });
}

/** Maximum number of concurrent requests of a bulk action. More would slow down other users of the service. */
const MAX_CONCURRENT_BULK_ACTION_REQUESTS = 4;

export interface BulkWriteResult<Item> {
  readonly done: readonly Item[];
  /** Failed items with their errors, in the order of failure. */
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[];
  /** Number of items without a result. At the end of the run, these are the items that were not started. */
  readonly left: number;
}

interface BulkWriteOptions<Item> {
  readonly write: (item: Item) => Promise<unknown>;
  readonly onProgress: (tally: BulkWriteResult<Item>) => void;
  /** Signal that stops the run. After an abort, no further items are started. */
  readonly signal: AbortSignal;
}

/**
 * Writes all items with limited concurrency, and continues after failures. If the run is stopped, the pending requests
 * are still completed.
 */
export async function writeItemsConcurrently<Item>(
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
  await Promise.all(Array.from({ length: MAX_CONCURRENT_BULK_ACTION_REQUESTS }, work));
  return tally();
}

/** Returns a random 128-bit id. On pages without HTTPS, browsers do not provide `randomUUID`. */
export function createRandomId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
