import { pauseFor, waitForAbort } from '@tracking/resilience';
import type { HandledPosition } from '@tracking/subscriptions';

/**
 * Maximum milliseconds for which changes wait until partitions that handle events have handled them. An event advances
 * several read models within this time, and one message reports all of them.
 */
const MAX_PROGRESS_MESSAGE_DELAY_MS = 5;

/** A partition of a generation of a read model. */
interface PartitionIdentity {
  readonly read_model: string;
  readonly generation: number;
  readonly partition: string;
}

/** A partition of a read model that a process projects. */
export interface PartitionProgress extends PartitionIdentity {
  /** Position up to which all events are handled; null before the first event. */
  readonly position: HandledPosition | null;
  /** False if the process no longer projects the partition. */
  readonly held: boolean;
}

/** Position that all partitions of a generation have reached that a process projects. */
export interface GenerationProgress {
  readonly read_model: string;
  readonly generation: number;
  readonly position: HandledPosition;
}

/** Message to a follower: changes since the previous message. */
export interface ProjectionProgressMessage {
  /** Partitions that have handled events, or whose process has changed. */
  readonly partitions: readonly PartitionProgress[];
  /**
   * Progress of the partitions that the process projects after these changes, also of those without events; absent from
   * messages of releases without partitions.
   */
  readonly generations?: readonly GenerationProgress[];
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

type ProgressListener = (message: ProjectionProgressMessage) => void | Promise<void>;

/**
 * Sends changes to one follower. Only the latest change of a partition waits, so messages to a slow follower become
 * fewer instead of filling the memory.
 */
class FollowerProgressSender {
  private readonly changes = new Map<string, PartitionProgress>();
  private readonly advanced = new Set<ProjectedPartitionsOfGeneration>();
  private isSending = false;

  constructor(
    private readonly onMessage: ProgressListener,
    private readonly signal: AbortSignal,
  ) {}

  addPartitionProgress(key: string, progress: PartitionProgress): void {
    this.changes.set(key, progress);
  }

  addGenerationProgress(generation: ProjectedPartitionsOfGeneration): void {
    this.advanced.add(generation);
  }

  /** Sends all changes so far, after a message that is still being sent. */
  async sendChangesToFollower(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    while (!this.signal.aborted && this.changes.size + this.advanced.size > 0) {
      const partitions = [...this.changes.values()];
      const generations = [...this.advanced].flatMap((generation) => generation.getLowestProgress() ?? []);
      this.changes.clear();
      this.advanced.clear();
      await this.onMessage({ partitions, ...(generations.length > 0 && { generations }) });
    }
    this.isSending = false;
  }
}

/** The partitions of one generation that this process projects. */
class ProjectedPartitionsOfGeneration {
  readonly positions = new Map<string, HandledPosition | null>();

  constructor(private readonly of: Pick<PartitionProgress, 'read_model' | 'generation'>) {}

  listPartitionProgress(): readonly PartitionProgress[] {
    return [...this.positions].map(([partition, position]) => ({ ...this.of, partition, position, held: true }));
  }

  /** Returns the lowest position of the partitions; undefined if one of them has none. */
  getLowestProgress(): GenerationProgress | undefined {
    let least: HandledPosition | undefined;
    for (const position of this.positions.values()) {
      if (position === null) return undefined;
      if (least === undefined || position < least) least = position;
    }
    return least === undefined ? undefined : { ...this.of, position: least };
  }
}

/** The partitions that this process projects, with their progress, for followers in other processes. */
export class ProgressOfProjectedPartitions {
  private readonly held = new Map<string, ProjectedPartitionsOfGeneration>();
  private readonly followers = new Set<FollowerProgressSender>();
  /** Keys of the partitions that handle events now. */
  private readonly handling = new Set<string>();
  private isSendScheduled = false;
  private sendTimer: NodeJS.Timeout | undefined;

  /** Records that a partition handles events. Changes wait for it for a short time. */
  recordStartOfEventHandling(partition: PartitionIdentity): void {
    this.handling.add(createKeyOfProjectedPartition(partition));
  }

  updatePartitionProgressAndNotifyFollowers(progress: PartitionProgress): void {
    const { partition, position, held } = progress;
    this.handling.delete(createKeyOfProjectedPartition(progress));
    const generation = this.getOrCreatePartitionsOfGeneration(progress);
    const { positions } = generation;
    if (held) positions.set(partition, position);
    else positions.delete(partition);
    if (positions.size === 0) this.held.delete(createGenerationKey(progress));
    for (const follower of this.followers) {
      follower.addPartitionProgress(createKeyOfProjectedPartition(progress), progress);
      // The other partitions may have passed the event before, and waited for this one.
      if (positions.size > 1) follower.addGenerationProgress(generation);
    }
    this.scheduleSend();
  }

  /**
   * Records that a partition has passed events of other partitions. Followers get the lowest position of its generation
   * only, because all partitions pass each event.
   */
  recordProgressPastOtherPartitionsEvents(progress: PartitionProgress): void {
    const generation = this.getOrCreatePartitionsOfGeneration(progress);
    // Releases without partitions follow a single partition, and do not know the progress of its generation.
    if (generation.positions.size <= 1) return this.updatePartitionProgressAndNotifyFollowers(progress);
    generation.positions.set(progress.partition, progress.position);
    for (const follower of this.followers) follower.addGenerationProgress(generation);
    this.scheduleSend();
  }

  /** Sends all partitions, and then each change, until the signal aborts. */
  async follow(onMessage: ProgressListener, signal: AbortSignal): Promise<void> {
    void onMessage({ partitions: [...this.held.values()].flatMap((generation) => generation.listPartitionProgress()) });
    const follower = new FollowerProgressSender(onMessage, signal);
    this.followers.add(follower);
    await waitForAbort(signal);
    this.followers.delete(follower);
  }

  /**
   * Sends the changes at the end of this turn of the event loop, or when the partitions that handle events have handled
   * them. A message wakes each follower, so one message for each event costs less than one for each read model.
   */
  private scheduleSend(): void {
    if (this.isSendScheduled || this.followers.size === 0) return;
    this.isSendScheduled = true;
    setImmediate(() => {
      this.isSendScheduled = false;
      if (this.handling.size === 0) this.sendChangesToFollowers();
      else this.sendTimer ??= setTimeout(() => this.sendChangesToFollowers(), MAX_PROGRESS_MESSAGE_DELAY_MS);
    });
  }

  private sendChangesToFollowers(): void {
    clearTimeout(this.sendTimer);
    this.sendTimer = undefined;
    for (const follower of this.followers) void follower.sendChangesToFollower();
  }

  private getOrCreatePartitionsOfGeneration(progress: PartitionProgress): ProjectedPartitionsOfGeneration {
    const { read_model, generation } = progress;
    const key = createGenerationKey(progress);
    const held = this.held.get(key) ?? new ProjectedPartitionsOfGeneration({ read_model, generation });
    this.held.set(key, held);
    return held;
  }
}

function createGenerationKey({ read_model, generation }: PartitionIdentity): string {
  return `${read_model}/${generation}`;
}

function createKeyOfProjectedPartition(partition: PartitionIdentity): string {
  return `${createGenerationKey(partition)}/${partition.partition}`;
}

/** Milliseconds until a process is followed again after its connection ended. */
const RECONNECT_PAUSE_MS = 250;

/** Records the progress of one read model that other processes report. */
export interface RemoteProgressRecorder {
  addPartitionOfFollowedProcess(generation: number, partition: string): void;
  recordEndOfRemotePartitionProjection(generation: number, partition: string): void;
  recordHandledPosition(generation: number, partition: string, position: HandledPosition): void;
  /** Records that a process has reported all partitions that it projects. */
  recordFullReportOfFollowedProcess(): void;
}

/**
 * Applies the progress that another process reports, until the signal aborts. While the process cannot be reached, its
 * partitions do not count as projected.
 * @param progressByName progress of the read models that this version knows
 */
export async function followProjections(
  operations: ProjectionOperations,
  progressByName: ReadonlyMap<string, RemoteProgressRecorder>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const held = new Map<string, PartitionProgress>();
    const apply = (reported: PartitionProgress) => {
      const { read_model, generation, partition, position } = reported;
      const progress = progressByName.get(read_model);
      const key = createKeyOfProjectedPartition(reported);
      if (!reported.held) {
        if (held.delete(key)) progress?.recordEndOfRemotePartitionProjection(generation, partition);
        return;
      }
      // The position comes first: a process that relies on these reports must not miss it.
      if (position !== null) progress?.recordHandledPosition(generation, partition, position);
      if (!held.has(key)) progress?.addPartitionOfFollowedProcess(generation, partition);
      held.set(key, reported);
    };
    const applyGeneration = ({ read_model, generation, position }: GenerationProgress) => {
      for (const each of held.values())
        if (each.read_model === read_model && each.generation === generation)
          progressByName.get(read_model)?.recordHandledPosition(generation, each.partition, position);
    };
    let isFirst = true;
    const applyMessage = ({ partitions, generations = [] }: ProjectionProgressMessage) => {
      partitions.forEach(apply);
      generations.forEach(applyGeneration);
      // The first message contains all partitions of the process.
      if (isFirst) for (const progress of progressByName.values()) progress.recordFullReportOfFollowedProcess();
      isFirst = false;
    };
    // A lost connection is expected when the process stops. Reads then poll the checkpoints.
    await operations.progress.follow({}, applyMessage, signal).catch(() => undefined);
    for (const { read_model, generation, partition } of held.values())
      progressByName.get(read_model)?.recordEndOfRemotePartitionProjection(generation, partition);
    await pauseFor(RECONNECT_PAUSE_MS, signal);
  }
}
