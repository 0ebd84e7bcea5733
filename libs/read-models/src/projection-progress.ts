import { BusyError, type Position, UnavailableError } from '@tracking/ports';
import { type CheckpointDocument, type HandledPosition, toHandledPosition } from '@tracking/subscriptions';
import { ProcessCountsOfSlots, PositionsReachedByStreamSlots } from './slots.ts';

/** Positions by slot. A read that waits for them needs nothing of other slots. */
export type AwaitedSlots = ReadonlyMap<number, Position>;

interface ReadWaitingForProjection {
  readonly settle: (reached: boolean) => void;
  readonly fail: (error: UnavailableError) => void;
}

/** Access to the progress and the generation pointer that other processes store. */
interface RemoteProgressReader {
  /** Returns the read model's checkpoints of all generations. @throws UnavailableError */
  checkpoints(): Promise<readonly CheckpointDocument[]>;
  /** Refreshes the generation pointer if it is stale. @throws UnavailableError */
  refreshPointer(): Promise<void>;
  /**
   * Resolves when the next poll of the checkpoints is due.
   * @param isReported true if other processes report their progress, so that polls are only a fallback
   */
  waitForNextPoll(isReported: boolean): Promise<void>;
}

/**
 * Tracks the progress of one read model and the generation that queries of this process use. Runners in this process
 * and followed processes report their progress directly. The progress of all other processes is read from their
 * checkpoints, only while a read waits. Progress is kept for slots of streams, not for partitions: what a partition has
 * handled remains handled when other partitions replace it. A rebuild never makes queries return older data: when the
 * pointer names another generation, queries switch only after that generation contains everything that this process
 * wrote or reported for the previous one. Until then, queries and waiting reads use the previous generation.
 */
export class ProjectionProgress {
  /** Handled positions by generation. */
  private readonly known = new Map<number, PositionsReachedByStreamSlots>();
  /**
   * Log positions up to which this process may have written rows, by generation. Rows can be read before their position
   * is handled.
   */
  private readonly written = new Map<number, PositionsReachedByStreamSlots>();
  /** Partitions that this process projects. */
  private readonly local = new ProcessCountsOfSlots();
  /** Partitions that followed processes project. */
  private readonly followed = new ProcessCountsOfSlots();
  /**
   * True once a followed process has reported its partitions. Before, processes of an earlier release may project them.
   */
  private hasBeenReported = false;
  private queried: number | undefined;
  private next: number | undefined;
  /** Reads that wait for all slots, sorted by position. */
  private readonly waiters: (ReadWaitingForProjection & { readonly position: Position })[] = [];
  /** Reads that wait for some slots. */
  private readonly slotWaiters = new Set<ReadWaitingForProjection & { readonly slots: AwaitedSlots }>();
  private watching = false;

  constructor(
    private readonly remote: RemoteProgressReader,
    private readonly maxWaiters: number,
  ) {}

  /** The generation that queries use; undefined until the pointer has been read once. */
  get generation(): number | undefined {
    return this.queried;
  }

  /**
   * Applies a new pointer as soon as queries would not return older data.
   * @param retiring generation that queries may still use until the switch; all other old generations are deleted
   * @throws UnavailableError; the new pointer is kept anyway
   */
  async applyGenerationPointer(active: number, retiring: number | null): Promise<void> {
    this.queried ??= active;
    // Concurrent reads of the pointer can complete out of order, so an older pointer is ignored.
    if (active > (this.next ?? this.queried)) this.next = active;
    if (this.next === undefined) return;
    const gone = active === this.next && this.queried !== retiring;
    if (!gone && !this.hasAllPartitionsLocally()) await this.readAndApplyRemoteCheckpoints();
    this.switchGenerationIfCaughtUp(gone);
  }

  addLocalPartition(generation: number, partition: string, place: HandledPosition | undefined): void {
    this.local.incrementSlotProcessCounts(generation, partition);
    if (place !== undefined) this.recordHandledPosition(generation, partition, place);
  }

  removeLocalPartitionProgress(generation: number, partition: string): void {
    this.local.decrementSlotProcessCounts(generation, partition);
  }

  /** Records that a followed process projects the partition, and reports its progress from now on. */
  addPartitionOfFollowedProcess(generation: number, partition: string): void {
    this.followed.incrementSlotProcessCounts(generation, partition);
  }

  /** Records that a followed process no longer projects the partition, or can no longer be reached. */
  recordEndOfRemotePartitionProjection(generation: number, partition: string): void {
    this.followed.decrementSlotProcessCounts(generation, partition);
  }

  /** Records that a followed process has reported all partitions that it projects. */
  recordFullReportOfFollowedProcess(): void {
    this.hasBeenReported = true;
  }

  recordHandledPosition(generation: number, partition: string, place: HandledPosition): void {
    if (this.queried !== undefined && generation < this.queried) return;
    if (!getOrCreateSlotPositions(this.known, generation).raisePositions(partition, place)) return;
    if (generation === this.next) this.switchGenerationIfCaughtUp();
    else if (generation === this.queried) this.wakeReadsAtReachedPosition();
  }

  /** Records that this process starts to write rows of events up to the position. */
  recordPositionOfRowsBeingWritten(generation: number, partition: string, position: Position): void {
    if (this.queried === undefined || generation >= this.queried)
      getOrCreateSlotPositions(this.written, generation).raisePositions(partition, position);
  }

  /**
   * True while another process takes over the projection of a partition: a followed process has reported its partitions,
   * so processes report them, and none reports this one.
   */
  get isTakenOver(): boolean {
    return this.hasBeenReported && !this.isProgressReported([this.queried]);
  }

  /** Returns the position up to which the queried rows contain all events; undefined if a slot has no position. */
  getHandledPosition(): HandledPosition | undefined {
    return this.queried === undefined ? undefined : this.known.get(this.queried)?.getMinPosition();
  }

  /**
   * Returns the handled position. If other processes project partitions and do not report their progress, reads their
   * checkpoints first.
   * @throws UnavailableError
   */
  async readCurrentHandledPosition(): Promise<HandledPosition | undefined> {
    if (!this.isProgressReported()) await this.refreshProjectionProgress();
    return this.getHandledPosition();
  }

  /**
   * Returns true if the queried rows contain all events up to the position, now or within the timeout.
   * @param awaited a position, or the positions that some slots must have reached
   * @throws BusyError if too many reads wait already; UnavailableError if the document store fails while the read
   *   waits, because the read needs it too
   */
  async waitUntilPositionReached(awaited: Position | AwaitedSlots, timeoutMs: number): Promise<boolean> {
    if (this.hasReachedAwaitedPosition(awaited)) return true;
    // If another read already waits, its next poll also serves this read.
    if (!this.isProgressReported() && (timeoutMs <= 0 || !this.watching)) {
      await this.refreshProjectionProgress().catch(() => undefined);
      if (this.hasReachedAwaitedPosition(awaited)) return true;
    }
    if (timeoutMs <= 0) return false;
    if (this.waiters.length + this.slotWaiters.size >= this.maxWaiters)
      throw new BusyError('read models', 'too many reads are waiting for read models; retry later');
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => waiter.settle(false), timeoutMs);
      const end = () => {
        clearTimeout(timer);
        remove();
      };
      const waiter: ReadWaitingForProjection = {
        settle: (reached) => {
          end();
          resolve(reached);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const remove = this.addWaitingRead(waiter, awaited);
      void this.pollProgressWhileReadsWait();
    });
  }

  /** Ends all waiting reads. Each read returns false. */
  endReadsWaitingForProjection(): void {
    for (const waiter of this.listReadsWaitingForProjection()) waiter.settle(false);
  }

  private listReadsWaitingForProjection(): readonly ReadWaitingForProjection[] {
    return [...this.waiters, ...this.slotWaiters];
  }

  private hasReachedAwaitedPosition(awaited: Position | AwaitedSlots): boolean {
    const reached = this.queried === undefined ? undefined : this.known.get(this.queried);
    if (typeof awaited !== 'string') return reached?.haveSlotsReachedPositions(awaited) ?? false;
    const place = reached?.getMinPosition();
    return place !== undefined && place >= awaited;
  }

  private hasAllPartitionsLocally(): boolean {
    return this.getUsedGenerations().every((generation) => this.local.hasProcessForEverySlot(generation));
  }

  /** Returns true if runners in this process or followed processes report the progress of all partitions. */
  private isProgressReported(generations = this.getUsedGenerations()): boolean {
    return generations.every((generation) => this.local.hasProcessForEverySlot(generation, this.followed));
  }

  /** Returns the queried generation, and the next one if queries wait to switch to it. */
  private getUsedGenerations(): readonly (number | undefined)[] {
    return this.next === undefined ? [this.queried] : [this.queried, this.next];
  }

  /** Switches to the next generation once it contains all that readers of the queried generation may have seen. */
  private switchGenerationIfCaughtUp(force = false): void {
    const { queried, next } = this;
    if (queried === undefined || next === undefined) return;
    if (!force && !this.hasNextGenerationCaughtUp(queried, next)) return;
    this.queried = next;
    this.next = undefined;
    for (const positions of [this.known, this.written])
      for (const generation of positions.keys()) if (generation < next) positions.delete(generation);
    this.wakeReadsAtReachedPosition();
  }

  /** Returns true if the next generation contains all events whose rows may be readable in the queried generation. */
  private hasNextGenerationCaughtUp(queried: number, next: number): boolean {
    const made = getOrCreateSlotPositions(this.known, next);
    return [this.known, this.written].every((positions) =>
      made.hasCaughtUpWithSlotPositions(getOrCreateSlotPositions(positions, queried)),
    );
  }

  /** Returns a function that removes the read. */
  private addWaitingRead(waiter: ReadWaitingForProjection, awaited: Position | AwaitedSlots): () => void {
    if (typeof awaited !== 'string') {
      const added = { ...waiter, slots: awaited };
      this.slotWaiters.add(added);
      return () => void this.slotWaiters.delete(added);
    }
    const added = { ...waiter, position: awaited };
    let at = this.waiters.length;
    while (at > 0 && (this.waiters[at - 1]?.position ?? '') > awaited) at -= 1;
    this.waiters.splice(at, 0, added);
    return () => {
      const found = this.waiters.indexOf(added);
      if (found >= 0) this.waiters.splice(found, 1);
    };
  }

  private wakeReadsAtReachedPosition(): void {
    for (const waiter of this.slotWaiters) if (this.hasReachedAwaitedPosition(waiter.slots)) waiter.settle(true);
    if (this.waiters.length === 0) return;
    const place = this.getHandledPosition();
    if (place === undefined) return;
    const until = this.waiters.findIndex((waiter) => waiter.position > place);
    for (const waiter of this.waiters.splice(0, until < 0 ? this.waiters.length : until)) waiter.settle(true);
  }

  /** Polls the checkpoints of other processes while reads wait for them, rarely if these report their progress. */
  private async pollProgressWhileReadsWait(): Promise<void> {
    if (this.watching) return;
    this.watching = true;
    while (this.waiters.length + this.slotWaiters.size > 0) {
      await this.remote.waitForNextPoll(this.isProgressReported());
      if (!this.hasAllPartitionsLocally())
        await this.refreshProjectionProgress().catch((error: unknown) => this.failWaitingReadsIfUnavailable(error));
    }
    this.watching = false;
  }

  private failWaitingReadsIfUnavailable(error: unknown): void {
    if (error instanceof UnavailableError)
      for (const waiter of this.listReadsWaitingForProjection()) waiter.fail(error);
  }

  private async refreshProjectionProgress(): Promise<void> {
    await this.remote.refreshPointer();
    await this.readAndApplyRemoteCheckpoints();
  }

  private async readAndApplyRemoteCheckpoints(): Promise<void> {
    const checkpoints = await this.remote.checkpoints();
    // Older generations first: a switch to the next generation compares it with all that was read of the queried one.
    for (const checkpoint of checkpoints.toSorted((one, other) => one.generation - other.generation)) {
      const { generation, partition } = checkpoint;
      const place = toHandledPosition(checkpoint);
      if (place !== undefined) this.recordHandledPosition(generation, partition, place);
    }
  }
}

function getOrCreateSlotPositions(
  positions: Map<number, PositionsReachedByStreamSlots>,
  generation: number,
): PositionsReachedByStreamSlots {
  const places = positions.get(generation) ?? new PositionsReachedByStreamSlots();
  positions.set(generation, places);
  return places;
}
