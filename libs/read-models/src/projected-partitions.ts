import { setImmediate } from 'node:timers/promises';
import { pauseFor, waitForAbort } from '@tracking/resilience';
import type { HandledPosition } from '@tracking/subscriptions';

/**
 * Minimum milliseconds between two messages to one follower. A batch of events advances several read models within this
 * time, and one message reports all of them.
 */
const MESSAGE_INTERVAL_MS = 2;

/** A partition of a read model that a process projects. */
export interface PartitionProgress {
  readonly read_model: string;
  readonly generation: number;
  readonly partition: string;
  /** Position up to which all events are handled; null before the first event. */
  readonly position: HandledPosition | null;
  /** False if the process no longer projects the partition. */
  readonly held: boolean;
}

/** Message to a follower: the partitions that changed since the previous message. */
export interface ProgressMessage {
  readonly partitions: readonly PartitionProgress[];
}

/** Operations of a process that runs projections, for processes that only query. */
export interface ProjectionOperations {
  readonly progress: {
    /**
     * Sends all partitions that the process projects, and then each change, until the signal aborts. The positions are
     * those of rows that can be read, also before the checkpoints are stored.
     * @param onMessage can return a promise that resolves when the follower can take another message
     */
    follow(request: object, onMessage: ProgressListener, signal: AbortSignal): Promise<void>;
  };
}

type ProgressListener = (message: ProgressMessage) => void | Promise<void>;

/**
 * Sends changes to one follower. Only the latest change of a partition waits, so messages to a slow follower become
 * fewer instead of filling the memory.
 */
class ProgressFollower {
  private readonly changes = new Map<string, PartitionProgress>();
  private isSending = false;

  constructor(
    private readonly onMessage: ProgressListener,
    private readonly signal: AbortSignal,
  ) {}

  add(key: string, progress: PartitionProgress): void {
    this.changes.set(key, progress);
    if (!this.isSending) void this.sendChanges();
  }

  private async sendChanges(): Promise<void> {
    this.isSending = true;
    await setImmediate();
    while (!this.signal.aborted && this.changes.size > 0) {
      const partitions = [...this.changes.values()];
      this.changes.clear();
      await this.onMessage({ partitions });
      await pauseFor(MESSAGE_INTERVAL_MS, this.signal);
    }
    this.isSending = false;
  }
}

/** The partitions that this process projects, with their progress, for followers in other processes. */
export class ProjectedPartitions {
  private readonly held = new Map<string, PartitionProgress>();
  private readonly followers = new Set<ProgressFollower>();

  record(progress: PartitionProgress): void {
    const key = partitionKey(progress);
    if (progress.held) this.held.set(key, progress);
    else this.held.delete(key);
    for (const follower of this.followers) follower.add(key, progress);
  }

  /** Sends all partitions, and then each change, until the signal aborts. */
  async follow(onMessage: ProgressListener, signal: AbortSignal): Promise<void> {
    void onMessage({ partitions: [...this.held.values()] });
    const follower = new ProgressFollower(onMessage, signal);
    this.followers.add(follower);
    await waitForAbort(signal);
    this.followers.delete(follower);
  }
}

function partitionKey({ read_model, generation, partition }: PartitionProgress): string {
  return `${read_model}/${generation}/${partition}`;
}

/** Milliseconds until a process is followed again after its connection ended. */
const RECONNECT_PAUSE_MS = 250;

/** Progress of one read model in this process, as far as other processes report it. */
export interface ReportedProgress {
  addRemotePartition(generation: number, partition: string): void;
  removeRemotePartition(generation: number, partition: string): void;
  recordHandledPosition(generation: number, partition: string, position: HandledPosition): void;
}

/**
 * Applies the progress that another process reports, until the signal aborts. While the process cannot be reached, its
 * partitions do not count as projected.
 * @param findProgress returns undefined for a read model that this version does not know
 */
export async function followProjections(
  operations: ProjectionOperations,
  findProgress: (readModel: string) => ReportedProgress | undefined,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const held = new Map<string, PartitionProgress>();
    const apply = (reported: PartitionProgress) => {
      const { read_model, generation, partition, position } = reported;
      const progress = findProgress(read_model);
      const key = partitionKey(reported);
      if (!reported.held) {
        if (held.delete(key)) progress?.removeRemotePartition(generation, partition);
        return;
      }
      // The position comes first: a process that relies on these reports must not miss it.
      if (position !== null) progress?.recordHandledPosition(generation, partition, position);
      if (!held.has(key)) progress?.addRemotePartition(generation, partition);
      held.set(key, reported);
    };
    // A lost connection is expected when the process stops. Reads then poll the checkpoints.
    await operations.progress.follow({}, ({ partitions }) => partitions.forEach(apply), signal).catch(() => undefined);
    for (const { read_model, generation, partition } of held.values())
      findProgress(read_model)?.removeRemotePartition(generation, partition);
    await pauseFor(RECONNECT_PAUSE_MS, signal);
  }
}
