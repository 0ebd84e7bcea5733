import { Busy, type Position } from '@tracking/ports';
import { pause } from '@tracking/resilience';
import {
  type CheckpointDocument,
  CHECKPOINTS,
  type HandledPosition,
  toHandledPosition,
  toLogPosition,
} from '@tracking/subscriptions';
import type { Collections } from './read-model.ts';

interface WaitingRead {
  readonly position: Position;
  readonly settle: (reached: boolean) => void;
}

/** Access to the progress and the generation pointer that other processes store. */
interface RemoteProgress {
  /** Returns the read model's checkpoints of all generations. @throws Unavailable */
  checkpoints(): Promise<readonly CheckpointDocument[]>;
  /** Refreshes the generation pointer if it is stale. @throws Unavailable */
  refreshPointer(): Promise<void>;
  /** Resolves when the next poll of the checkpoints is due. */
  waitForNextPoll(): Promise<void>;
}

/**
 * Tracks the progress of one read model and the generation that queries of this process use. Runners in this process
 * report their progress directly. The progress of other processes is read from their checkpoints, only while a read
 * waits. A rebuild never makes queries return older data: when the pointer names another generation, queries switch
 * only after that generation contains everything that this process reported for the previous one.
 */
export class ProjectionProgress {
  /** Handled positions by generation, then partition. */
  private readonly known = new Map<number, Map<string, HandledPosition>>();
  /** Partitions projected by this process, as `generation/partition`. */
  private readonly local = new Set<string>();
  private queried: number | undefined;
  private next: number | undefined;
  /** Waiting reads, sorted by position. */
  private readonly waiters: WaitingRead[] = [];
  private watching = false;

  constructor(
    private readonly partitions: readonly string[],
    private readonly remote: RemoteProgress,
    private readonly maxWaiters: number,
  ) {}

  /** The generation that queries use; undefined until the pointer has been read once. */
  get generation(): number | undefined {
    return this.queried;
  }

  /**
   * Applies a new pointer as soon as queries would not return older data.
   * @param retiring generation that queries may still use until the switch; all other old generations are deleted
   * @throws Unavailable; the new pointer is kept anyway
   */
  async setPointer(active: number, retiring: number | null): Promise<void> {
    this.queried ??= active;
    // Concurrent reads of the pointer can complete out of order, so an older pointer is ignored.
    if (active > (this.next ?? this.queried)) this.next = active;
    if (this.next === undefined) return;
    const gone = active === this.next && this.queried !== retiring;
    if (!gone && !this.hasAllPartitionsLocally()) await this.readCheckpoints();
    this.switchIfCaughtUp(gone);
  }

  addLocalPartition(generation: number, partition: string, place: HandledPosition | undefined): void {
    this.local.add(`${generation}/${partition}`);
    if (place !== undefined) this.recordHandledPosition(generation, partition, place);
  }

  removeLocalPartition(generation: number, partition: string): void {
    this.local.delete(`${generation}/${partition}`);
  }

  recordHandledPosition(generation: number, partition: string, place: HandledPosition): void {
    // The progress of the old generation is frozen while the new one catches up.
    if (this.queried !== undefined && generation < (this.next ?? this.queried)) return;
    const places = this.known.get(generation) ?? new Map<string, HandledPosition>();
    this.known.set(generation, places);
    if (place <= (places.get(partition) ?? '')) return;
    places.set(partition, place);
    if (generation === this.next) this.switchIfCaughtUp();
    else if (generation === this.queried) this.wake();
  }

  /** Returns the position up to which the queried rows contain all events; undefined if a partition has no position. */
  handledPosition(): HandledPosition | undefined {
    const places = this.queried === undefined ? undefined : this.known.get(this.queried);
    let least: HandledPosition | undefined;
    for (const partition of this.partitions) {
      const place = places?.get(partition);
      if (place === undefined) return undefined;
      if (least === undefined || place < least) least = place;
    }
    return least;
  }

  /**
   * Returns the handled position. If other processes project partitions, reads their checkpoints first.
   * @throws Unavailable
   */
  async currentHandledPosition(): Promise<HandledPosition | undefined> {
    if (!this.hasAllPartitionsLocally()) await this.refresh();
    return this.handledPosition();
  }

  /**
   * Returns true if the queried rows contain all events up to the position, now or within the timeout.
   * @throws Busy if too many reads wait already
   */
  async reached(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.hasReached(position)) return true;
    // If another read already waits, its next poll also serves this read.
    if (!this.hasAllPartitionsLocally() && (timeoutMs <= 0 || !this.watching)) {
      await this.refresh().catch(() => undefined);
      if (this.hasReached(position)) return true;
    }
    if (timeoutMs <= 0) return false;
    if (this.waiters.length >= this.maxWaiters)
      throw new Busy('read models', 'too many reads are waiting for read models; retry later');
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.settle(false), timeoutMs);
      const waiter: WaitingRead = {
        position,
        settle: (reached) => {
          clearTimeout(timer);
          if (!reached) this.waiters.splice(this.waiters.indexOf(waiter), 1);
          resolve(reached);
        },
      };
      this.addWaitingRead(waiter);
      void this.pollWhileWaiting();
    });
  }

  /** Ends all waiting reads. Each read returns false. */
  close(): void {
    for (const waiter of [...this.waiters]) waiter.settle(false);
  }

  private hasReached(position: Position): boolean {
    const reached = this.handledPosition();
    return reached !== undefined && reached >= position;
  }

  private hasAllPartitionsLocally(): boolean {
    const generation = this.next ?? this.queried;
    return this.partitions.every((partition) => this.local.has(`${generation}/${partition}`));
  }

  /** Switches to the next generation once it contains everything that was reported for the queried generation. */
  private switchIfCaughtUp(force = false): void {
    const { queried, next } = this;
    if (queried === undefined || next === undefined) return;
    const made = this.known.get(next);
    for (const [partition, position] of this.known.get(queried) ?? []) {
      // The next generation has the original log positions of events that the queried generation handled late.
      if (!force && (made?.get(partition) ?? '') < toLogPosition(position)) return;
    }
    this.queried = next;
    this.next = undefined;
    for (const generation of this.known.keys()) if (generation < next) this.known.delete(generation);
    this.wake();
  }

  private addWaitingRead(waiter: WaitingRead): void {
    let at = this.waiters.length;
    while (at > 0 && (this.waiters[at - 1]?.position ?? '') > waiter.position) at -= 1;
    this.waiters.splice(at, 0, waiter);
  }

  private wake(): void {
    const place = this.handledPosition();
    if (place === undefined) return;
    const until = this.waiters.findIndex((waiter) => waiter.position > place);
    for (const waiter of this.waiters.splice(0, until < 0 ? this.waiters.length : until)) waiter.settle(true);
  }

  /** Polls the checkpoints of other processes while reads wait for them. */
  private async pollWhileWaiting(): Promise<void> {
    if (this.watching) return;
    this.watching = true;
    while (this.waiters.length > 0) {
      await this.remote.waitForNextPoll();
      if (!this.hasAllPartitionsLocally()) await this.refresh().catch(() => undefined);
    }
    this.watching = false;
  }

  private async refresh(): Promise<void> {
    await this.remote.refreshPointer();
    await this.readCheckpoints();
  }

  private async readCheckpoints(): Promise<void> {
    for (const checkpoint of await this.remote.checkpoints()) {
      const { generation, partition } = checkpoint;
      const place = toHandledPosition(checkpoint);
      if (place !== undefined && this.partitions.includes(partition))
        this.recordHandledPosition(generation, partition, place);
    }
  }
}

const POLL_INTERVAL_MS = 15;
/** The limit exceeds the product of read models, partitions and generations in use. */
const MAX_CHECKPOINTS = 1_000;

/** Reads the checkpoints of all read models once for all reads that wait in this process. */
export class CheckpointPoller {
  private looking: Promise<readonly CheckpointDocument[]> | undefined;
  private pausing: Promise<void> | undefined;

  constructor(
    private readonly collections: Collections,
    private readonly readModels: readonly string[],
  ) {}

  /**
   * Returns the checkpoints of all generations of one read model. Concurrent calls share one read. @throws Unavailable
   */
  async readCheckpointsOf(readModel: string): Promise<readonly CheckpointDocument[]> {
    this.looking ??= this.readAllCheckpoints().finally(() => (this.looking = undefined));
    return (await this.looking).filter(({ subscriber }) => subscriber === readModel);
  }

  /** Resolves after the poll interval, at the same time for all waiting reads, so that they share one poll. */
  waitForNextPoll(): Promise<void> {
    return (this.pausing ??= pause(POLL_INTERVAL_MS).finally(() => (this.pausing = undefined)));
  }

  private async readAllCheckpoints(): Promise<readonly CheckpointDocument[]> {
    const documents = await this.collections.open<CheckpointDocument>(CHECKPOINTS);
    return documents.find({ filter: { subscriber: { in: this.readModels } }, limit: MAX_CHECKPOINTS });
  }
}
