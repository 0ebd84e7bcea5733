import { setImmediate as nextTurn } from 'node:timers/promises';
import { Busy } from '@tracking/ports';

/** One item and whoever waits for its answer. Settling it twice changes nothing. */
export interface Queued<T, R> {
  readonly item: T;
  readonly answer: (result: R) => void;
  readonly fail: (error: unknown) => void;
}

/** Answers or fails every item of the batch; when it throws, those not answered yet fail with the error. */
export type KeyedBatchHandler<T, R> = (key: string, batch: readonly Queued<T, R>[]) => Promise<void>;

export interface BatchLimits {
  /** Most items handed over at once. */
  readonly perBatch: number;
  /** Most items waiting for one key, so that one key cannot take the room of all others. */
  readonly perKey: number;
  /** Most items not answered yet, over all keys. */
  readonly total: number;
}

/**
 * Work in order per key, and side by side between keys. Items that arrive while their key is being worked on wait and
 * are then handed over together: the more there are, the fewer commits each of them waits for.
 */
export class KeyedBatches<T, R> {
  /** Waiting items by key; a key is there for as long as it is being worked on. */
  private readonly queues = new Map<string, Queued<T, R>[]>();
  private unanswered = 0;

  constructor(
    private readonly handle: KeyedBatchHandler<T, R>,
    private readonly limits: BatchLimits,
  ) {}

  /** Items not answered yet. */
  get depth(): number {
    return this.unanswered;
  }

  /** @throws Busy when the key's queue or all together are full */
  async submit(key: string, item: T): Promise<R> {
    const queue = this.queues.get(key);
    if (this.unanswered >= this.limits.total || (queue?.length ?? 0) >= this.limits.perKey) {
      throw new Busy('shipments', 'too many commands wait');
    }
    const { promise, resolve: answer, reject: fail } = Promise.withResolvers<R>();
    this.unanswered++;
    if (queue === undefined) {
      this.queues.set(key, []);
      void this.work(key, [{ item, answer, fail }]);
    } else {
      queue.push({ item, answer, fail });
    }
    return promise;
  }

  private async work(key: string, first: readonly Queued<T, R>[]): Promise<void> {
    let batch = first;
    while (batch.length > 0) {
      try {
        await this.handle(key, batch);
      } catch (error) {
        for (const queued of batch) queued.fail(error);
      }
      this.unanswered -= batch.length;
      batch = this.queues.get(key)?.splice(0, this.limits.perBatch) ?? [];
      // Work that waited for nothing must not keep the thread from everybody else.
      if (batch.length > 0) await nextTurn();
    }
    this.queues.delete(key);
  }
}
