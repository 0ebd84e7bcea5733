import {
  type CheckpointDocument,
  CHECKPOINTS_COLLECTION_SPEC,
  RETIRED_CHECKPOINT_EPOCH,
} from '@tracking/subscriptions';
import type { LazilyOpenedCollections } from './read-model.ts';

const POLL_INTERVAL_MS = 15;
/**
 * Milliseconds between polls while other processes report their progress. A poll finds progress whose report was lost.
 */
const LOST_REPORT_POLL_INTERVAL_MS = 1_000;
/** The limit exceeds the product of read models, generations in use, and partitions. */
const MAX_CHECKPOINTS_PER_READ = 10_000;

/** Reads the checkpoints of all read models once for all reads that wait in this process. */
export class CheckpointPoller {
  private looking: Promise<readonly CheckpointDocument[]> | undefined;
  /** Running pauses by their milliseconds. */
  private readonly pausing = new Map<number, Promise<void>>();

  constructor(
    private readonly collections: LazilyOpenedCollections,
    private readonly readModels: readonly string[],
  ) {}

  /**
   * Returns the checkpoints of all generations of one read model. Concurrent calls share one read.
   * @throws UnavailableError
   */
  async readCheckpointsOfReadModel(readModel: string): Promise<readonly CheckpointDocument[]> {
    this.looking ??= this.readAllCheckpoints().finally(() => (this.looking = undefined));
    return (await this.looking).filter(({ subscriber }) => subscriber === readModel);
  }

  /**
   * Resolves after the poll interval, at the same time for all waiting reads, so that they share one poll.
   * @param isReported true if other processes report their progress
   */
  waitForNextPoll(isReported = false): Promise<void> {
    const intervalMs = isReported ? LOST_REPORT_POLL_INTERVAL_MS : POLL_INTERVAL_MS;
    const pausing = this.pausing.get(intervalMs) ?? this.pauseForPollInterval(intervalMs);
    this.pausing.set(intervalMs, pausing);
    return pausing;
  }

  /** The timer does not keep a process running that has stopped otherwise. */
  private async pauseForPollInterval(intervalMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, intervalMs).unref());
    this.pausing.delete(intervalMs);
  }

  private async readAllCheckpoints(): Promise<readonly CheckpointDocument[]> {
    const documents = await this.collections.open<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC);
    const found = await documents.find({
      filter: { subscriber: { in: this.readModels } },
      limit: MAX_CHECKPOINTS_PER_READ,
    });
    return found.filter(({ epoch }) => epoch !== RETIRED_CHECKPOINT_EPOCH);
  }
}
