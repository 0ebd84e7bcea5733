import type { ReceivedBrokerMessage } from '@tracking/ports';

interface CombinedBatch<T> {
  readonly items: T[];
  readonly handled: Promise<void>;
}

/**
 * Handles batches that are added in one turn of the event loop together, so that they share reads and writes. The order
 * of the items of each batch is kept.
 */
export class BatchCombiner<T> {
  private open: CombinedBatch<T> | undefined;

  /**
   * @param maxItems maximum number of items handled together; a larger batch is handled alone
   * @param handle handles items. If it throws, all batches with these items reject
   */
  constructor(
    private readonly maxItems: number,
    private readonly handle: (items: readonly T[]) => Promise<void>,
  ) {}

  /** Adds a batch. Settles like the handling of its items. */
  addToCombinedBatchAndAwaitHandling(batch: readonly T[]): Promise<void> {
    if (this.open === undefined || this.open.items.length + batch.length > this.maxItems)
      this.open = this.startCombinedBatch();
    this.open.items.push(...batch);
    return this.open.handled;
  }

  private startCombinedBatch(): CombinedBatch<T> {
    const items: T[] = [];
    const turnEnd = new Promise((resolve) => setImmediate(resolve));
    const combined: CombinedBatch<T> = {
      items,
      handled: turnEnd.then(() => {
        if (this.open === combined) this.open = undefined;
        return this.handle(items);
      }),
    };
    return combined;
  }
}

/** Detects batches of messages that may have been handled before, at least in part. */
export class RepeatedBatchDetector {
  /** Partitions whose previous batch this process handled completely. */
  private readonly continued = new Set<number>();

  /**
   * Handles a batch of one partition.
   * @param handle receives true for the first batch of a partition and after a failure. An earlier handling of these
   *   messages may have ended at any point
   */
  async handleBatch(
    messages: readonly ReceivedBrokerMessage[],
    handle: (mayBeRepeated: boolean) => Promise<void>,
  ): Promise<void> {
    const partition = messages[0]?.partition ?? -1;
    const isContinued = this.continued.delete(partition);
    await handle(!isContinued);
    this.continued.add(partition);
  }
}
