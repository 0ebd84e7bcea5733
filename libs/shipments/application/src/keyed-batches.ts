import { setImmediate as nextTurn } from 'node:timers/promises';
import { BusyError } from '@tracking/ports';

/** A queued item with the promise of its result. Settling an item twice changes nothing. */
export interface QueuedItem<T, R> {
  readonly item: T;
  readonly answer: (result: R) => void;
  readonly fail: (error: unknown) => void;
}

/** Settles every item of the batch. If the handler throws, all unsettled items fail with the error. */
export type KeyedBatchHandler<T, R> = (key: string, batch: readonly QueuedItem<T, R>[]) => Promise<void>;

interface KeyedQueueLimits {
  /** Maximum number of items per batch. */
  readonly perBatch: number;
  /** Maximum number of queued items per key. One key cannot use the capacity of all other keys. */
  readonly perKey: number;
  /** Maximum number of unsettled items in all keys together. */
  readonly total: number;
}

/**
 * Queues of work, one per key. Items of one key are handled in order; different keys are handled concurrently. Items
 * that arrive while their key is busy wait and are then handled as one batch, so that under load more items share a
 * commit.
 */
export class KeyedBatchQueues<T, R> {
  /** Waiting items by key. A key has an entry while the queue handles one of its items. */
  private readonly queues = new Map<string, QueuedItem<T, R>[]>();
  private unanswered = 0;

  constructor(
    private readonly handle: KeyedBatchHandler<T, R>,
    private readonly limits: KeyedQueueLimits,
  ) {}

  /** Number of unsettled items. */
  get depth(): number {
    return this.unanswered;
  }

  /**
   * Queues an item. Resolves with the result of the item.
   * @throws BusyError if the queue of the key or all queues together are full
   */
  async enqueueItemAndAwaitResult(key: string, item: T): Promise<R> {
    const queue = this.queues.get(key);
    if (this.unanswered >= this.limits.total || (queue?.length ?? 0) >= this.limits.perKey) {
      throw new BusyError('shipments', 'too many commands are queued');
    }
    const { promise, resolve: answer, reject: fail } = Promise.withResolvers<R>();
    this.unanswered++;
    if (queue === undefined) {
      this.queues.set(key, []);
      void this.handleQueuedItemsOfKey(key, [{ item, answer, fail }]);
    } else {
      queue.push({ item, answer, fail });
    }
    return promise;
  }

  private async handleQueuedItemsOfKey(key: string, first: readonly QueuedItem<T, R>[]): Promise<void> {
    let batch = first;
    while (batch.length > 0) {
      try {
        await this.handle(key, batch);
      } catch (error) {
        for (const queued of batch) queued.fail(error);
      }
      this.unanswered -= batch.length;
      batch = this.queues.get(key)?.splice(0, this.limits.perBatch) ?? [];
      // The loop yields here, because work that never waits for I/O would block the thread for other work.
      if (batch.length > 0) await nextTurn();
    }
    this.queues.delete(key);
  }
}
