import { pause } from '@tracking/resilience';
import { CHECKPOINTS, type CheckpointDocument } from '@tracking/subscriptions';
import type { Collections } from './collections.ts';

const POLL_MS = 15;
/** More than read models times partitions times living generations will ever be. */
const CHECKPOINTS_AT_MOST = 1_000;

/** The checkpoints of all read models, looked at once for everybody in this process who waits for other processes. */
export class CheckpointPoller {
  private looking: Promise<readonly CheckpointDocument[]> | undefined;
  private pausing: Promise<void> | undefined;

  constructor(
    private readonly collections: Collections,
    private readonly readModels: readonly string[],
  ) {}

  /** Of all generations of one read model. A look is shared by all who ask meanwhile. @throws Unavailable */
  async of(readModel: string): Promise<readonly CheckpointDocument[]> {
    this.looking ??= this.look().finally(() => (this.looking = undefined));
    return (await this.looking).filter(({ subscriber }) => subscriber === readModel);
  }

  /** Resolves when whoever waits is to look again: for all at the same moment, so that they share the look. */
  nextPoll(): Promise<void> {
    return (this.pausing ??= pause(POLL_MS).finally(() => (this.pausing = undefined)));
  }

  private async look(): Promise<readonly CheckpointDocument[]> {
    const documents = await this.collections.open<CheckpointDocument>(CHECKPOINTS);
    return documents.find({ filter: { subscriber: { in: this.readModels } }, limit: CHECKPOINTS_AT_MOST });
  }
}
