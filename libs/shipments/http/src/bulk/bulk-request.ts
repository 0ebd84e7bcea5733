import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '@tracking/contracts';
import type { ErrorBody, Warning } from '@tracking/contracts';
import { isLargerAsJsonThan, DEFAULT_JSON_BODY_BYTES, BYTES_PER_MIB, formatSize } from '@tracking/http';
import { type Position, isErrorWithoutEffect } from '@tracking/ports';
import { createCommandIdOfBulkItem } from '@tracking/shipments';
import type { CommandContext } from '@tracking/shipments';

/** Size of a response in bytes above which no further item is processed. */
const MAX_BULK_RESPONSE_BYTES = 32 * BYTES_PER_MIB;
/** Maximum number of items of one request that are processed at the same time, so that other requests can proceed. */
const MAX_CONCURRENT_ITEMS = 32;
/** Milliseconds for which items may occupy the thread before it is yielded to other work. */
const MAX_BULK_SLICE_MS = 5;

/** The result of a processed item. */
interface ProcessedItemResult<R extends object> {
  readonly status: number;
  /** The response to the item as a single request, without warnings. */
  readonly resource: R;
  readonly warnings: readonly Warning[];
  readonly position: Position;
  /**
   * Warnings that are known only after all items are processed. There are few, because they do not count for the size
   * of the response.
   */
  readonly lateWarnings?: () => Promise<readonly Warning[]>;
}

/** The response to an item that was not processed. */
type ItemRefusal = Pick<ErrorBody, 'error'> & { readonly status: number };

/** An item and its state while the bulk request is processed. */
interface BulkItem<T, R extends object> {
  readonly index: number;
  input?: T;
  error?: unknown;
  refusal?: ItemRefusal;
  done?: Omit<ProcessedItemResult<R>, 'resource'> & { readonly text: string };
}

/**
 * A bulk request. Each item is processed like a single request and gets the same response. The request is not atomic: a
 * refused item does not affect the others.
 */
export class BulkRequestProcessor<T, R extends object> {
  private readonly items: readonly BulkItem<T, R>[];
  private bytes = 0;

  constructor(
    private readonly inputs: readonly unknown[],
    private readonly command: CommandContext,
    /** Name of the field with the resource in an item's response. */
    private readonly name: string,
  ) {
    this.items = inputs.map((_, index) => ({ index }));
  }

  /**
   * Reads each item. If the function throws, the item is not processed.
   * @param bytes size of the whole body
   */
  async readBulkItems(read: (input: unknown) => T, bytes: number): Promise<readonly T[]> {
    const slices = new ThreadYielder();
    for (const item of this.items) {
      await slices.yieldThreadAfterTimeSlice();
      runAndRecordErrorInBulkItem(item, () => {
        const input = this.inputs[item.index];
        // If the whole body is smaller than the limit of one item, no item can be too large.
        if (bytes > DEFAULT_JSON_BODY_BYTES) refuseTooLargeItem(input);
        item.input = read(input);
      });
    }
    return this.valid.flatMap(({ input }) => (input === undefined ? [] : [input]));
  }

  /** Checks each item that was read. If the function throws, the item is not processed. */
  checkValidBulkItems(check: (input: T) => void): void {
    for (const item of this.valid)
      runAndRecordErrorInBulkItem(item, () => item.input !== undefined && check(item.input));
  }

  /**
   * Processes the valid items, each with its own command.
   * @param groupOf returns the group of an item; items of one group are processed in order, and an item without a group
   * is a group of its own
   */
  async processBulkItems(
    groupOf: (input: T) => string | undefined,
    work: (input: T, command: CommandContext) => Promise<ProcessedItemResult<R>>,
  ): Promise<void> {
    const group = ({ input }: BulkItem<T, R>) => (input === undefined ? undefined : groupOf(input));
    await processItemsByGroup(this.valid, group, async (item) => {
      const { index, input } = item;
      if (input === undefined) return;
      try {
        this.refuseIfResponseIsFull();
        const { resource, ...done } = await work(input, {
          ...this.command,
          id: createCommandIdOfBulkItem(this.command.id, index),
        });
        const text = JSON.stringify(resource);
        this.bytes += Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(done.warnings));
        item.done = { ...done, text };
      } catch (error) {
        item.error = error;
      }
    });
  }

  /** Position of the last write; undefined if no item wrote. */
  get position(): Position | undefined {
    const positions = this.items.flatMap(({ done }) => (done === undefined ? [] : [done.position]));
    return positions.reduce<Position | undefined>(
      (last, each) => (last === undefined || each > last ? each : last),
      undefined,
    );
  }

  /**
   * Returns an error if items failed because of the service, so that repeating the request may succeed. The error
   * states that nothing was done only if the errors of all failed items state it.
   */
  combineItemFailuresIntoError(describe: (error: unknown) => ItemRefusal): {
    readonly isOfAll: boolean;
    readonly isOfSome: boolean;
    readonly error: unknown;
  } {
    for (const item of this.items) if (item.error !== undefined) item.refusal = describe(item.error);
    const failed = this.items.filter(({ refusal }) => refusal !== undefined && refusal.status >= 500);
    const { error } = failed.find((item) => !isErrorWithoutEffect(item.error)) ?? failed[0] ?? {};
    return { isOfAll: failed.length === this.items.length, isOfSome: failed.length > 0, error };
  }

  get hasLateWarnings(): boolean {
    return this.items.some(({ done }) => done?.lateWarnings !== undefined);
  }

  /** Returns the response as JSON. Call it after {@link combineItemFailuresIntoError}, which describes the refusals. */
  async formatBulkResponse(ignored: readonly Warning[]): Promise<string> {
    const ungrouped = () => undefined;
    await processItemsByGroup(this.items, ungrouped, async (item) => {
      const { done } = item;
      if (done?.lateWarnings) item.done = { ...done, warnings: [...done.warnings, ...(await done.lateWarnings())] };
    });
    const slices = new ThreadYielder();
    const parts: string[] = [];
    for (const { index, done, refusal } of this.items) {
      await slices.yieldThreadAfterTimeSlice();
      if (done === undefined) {
        parts.push(JSON.stringify({ index, ...refusal }));
      } else {
        const resource = `${done.text.slice(0, -1)},"warnings":${JSON.stringify(done.warnings)}}`;
        parts.push(`{"index":${index},"status":${done.status},"${this.name}":${resource}}`);
      }
    }
    return `{"data":[${parts.join(',')}],"warnings":${JSON.stringify(ignored)}}`;
  }

  /** Returns the fields of the request for the log line. */
  get counts(): Readonly<Record<string, string>> {
    const refused = this.items.filter(({ error }) => error !== undefined).length;
    return { items: String(this.items.length), items_refused: String(refused) };
  }

  private get valid(): readonly BulkItem<T, R>[] {
    return this.items.filter(({ error }) => error === undefined);
  }

  private refuseIfResponseIsFull(): void {
    if (this.bytes <= MAX_BULK_RESPONSE_BYTES) return;
    const message = `The response has reached ${formatSize(MAX_BULK_RESPONSE_BYTES)}, so this item was not processed. Send it in another request.`;
    throw new DomainError('body_too_large', message);
  }
}

/** Refuses an item that would be too large as a single request. @throws DomainError `body_too_large` */
function refuseTooLargeItem(item: unknown): void {
  if (!isLargerAsJsonThan(DEFAULT_JSON_BODY_BYTES, item)) return;
  throw new DomainError('body_too_large', `The item is larger than ${formatSize(DEFAULT_JSON_BODY_BYTES)}.`);
}

function runAndRecordErrorInBulkItem(item: { error?: unknown }, act: () => unknown): void {
  try {
    act();
  } catch (error) {
    item.error = error;
  }
}

/**
 * Processes the items of each group in order, and a limited number of groups concurrently. An error ends the processing
 * of all groups.
 * @param groupOf returns the group of an item; if undefined, the item is a group of its own
 * @returns the results in the order of the items
 */
export async function processItemsByGroup<T, R>(
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
  const slices = new ThreadYielder();
  const waiting = groups.values();
  const worker = async () => {
    for (const group of waiting) {
      for (const [item, index] of group) {
        await slices.yieldThreadAfterTimeSlice();
        results[index] = await work(item, index);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_ITEMS, groups.size) }, worker));
  return results;
}

/** Yields the thread to other work after the items of a request have occupied it for the maximum time. */
class ThreadYielder {
  private since = performance.now();

  async yieldThreadAfterTimeSlice(): Promise<void> {
    if (performance.now() - this.since < MAX_BULK_SLICE_MS) return;
    await nextTurn();
    this.since = performance.now();
  }
}
