import { Busy, type Position, Unavailable } from '@tracking/ports';
import {
  type CheckpointDocument,
  type HandledPosition,
  toHandledPosition,
  toLogPosition,
} from '@tracking/subscriptions';

interface WaitingRead {
  readonly position: Position;
  readonly settle: (reached: boolean) => void;
  readonly fail: (error: Unavailable) => void;
}

/** Access to the progress and the generation pointer that other processes store. */
interface RemoteProgress {
  /** Returns the read model's checkpoints of all generations. @throws Unavailable */
  checkpoints(): Promise<readonly CheckpointDocument[]>;
  /** Refreshes the generation pointer if it is stale. @throws Unavailable */
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
 * checkpoints, only while a read waits. A rebuild never makes queries return older data: when the pointer names another
 * generation, queries switch only after that generation contains everything that this process wrote or reported for the
 * previous one. Until then, queries and waiting reads use the previous generation.
 */
export class ProjectionProgress {
  /** Handled positions by generation, then partition. */
  private readonly known = new Map<number, Map<string, HandledPosition>>();
  /**
   * Log positions up to which this process may have written rows, by generation, then partition. Rows can be read before
   * their position is handled.
   */
  private readonly written = new Map<number, Map<string, Position>>();
  /** Partitions projected by this process, as `generation/partition`. */
  private readonly local = new Set<string>();
  /** Number of followed processes that project a partition, by `generation/partition`. */
  private readonly followed = new Map<string, number>();
  /** True once followed processes reported all partitions and a report was lost. */
  private hasBeenReported = false;
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

  /** Records that a followed process projects the partition, and reports its progress from now on. */
  addRemotePartition(generation: number, partition: string): void {
    const key = `${generation}/${partition}`;
    this.followed.set(key, (this.followed.get(key) ?? 0) + 1);
  }

  /** Records that a followed process no longer projects the partition, or can no longer be reached. */
  removeRemotePartition(generation: number, partition: string): void {
    // Before the loss of a report, because the first reports can arrive before the queried generation is known.
    this.hasBeenReported ||= this.isProgressReported();
    const key = `${generation}/${partition}`;
    const count = (this.followed.get(key) ?? 0) - 1;
    if (count > 0) this.followed.set(key, count);
    else this.followed.delete(key);
  }

  recordHandledPosition(generation: number, partition: string, place: HandledPosition): void {
    if (this.queried !== undefined && generation < this.queried) return;
    if (!raisePosition(this.known, generation, partition, place)) return;
    if (generation === this.next) this.switchIfCaughtUp();
    else if (generation === this.queried) this.wakeWaiters();
  }

  /** Records that this process starts to write rows of events up to the position. */
  recordWrittenPosition(generation: number, partition: string, position: Position): void {
    if (this.queried === undefined || generation >= this.queried)
      raisePosition(this.written, generation, partition, position);
  }

  /**
   * True while another process takes over the projection of a partition: followed processes reported all partitions
   * before, and now none of them reports this one.
   */
  get isTakenOver(): boolean {
    return this.hasBeenReported && !this.isProgressReported([this.queried]);
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
   * Returns the handled position. If other processes project partitions and do not report their progress, reads their
   * checkpoints first.
   * @throws Unavailable
   */
  async currentHandledPosition(): Promise<HandledPosition | undefined> {
    if (!this.isProgressReported()) await this.refreshProgress();
    return this.handledPosition();
  }

  /**
   * Returns true if the queried rows contain all events up to the position, now or within the timeout.
   * @throws Busy if too many reads wait already; Unavailable if the document store fails while the read waits, because
   *   the read needs it too
   */
  async waitUntilReached(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.hasReached(position)) return true;
    // If another read already waits, its next poll also serves this read.
    if (!this.isProgressReported() && (timeoutMs <= 0 || !this.watching)) {
      await this.refreshProgress().catch(() => undefined);
      if (this.hasReached(position)) return true;
    }
    if (timeoutMs <= 0) return false;
    if (this.waiters.length >= this.maxWaiters)
      throw new Busy('read models', 'too many reads are waiting for read models; retry later');
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => waiter.settle(false), timeoutMs);
      const waiter: WaitingRead = {
        position,
        settle: (reached) => {
          clearTimeout(timer);
          if (!reached) this.waiters.splice(this.waiters.indexOf(waiter), 1);
          resolve(reached);
        },
        fail: (error) => {
          clearTimeout(timer);
          this.waiters.splice(this.waiters.indexOf(waiter), 1);
          reject(error);
        },
      };
      this.addWaitingRead(waiter);
      void this.pollWhileWaiting();
    });
  }

  /** Ends all waiting reads. Each read returns false. */
  endWaits(): void {
    for (const waiter of [...this.waiters]) waiter.settle(false);
  }

  private hasReached(position: Position): boolean {
    const reached = this.handledPosition();
    return reached !== undefined && reached >= position;
  }

  private hasAllPartitionsLocally(): boolean {
    return this.isEveryPartition(this.getUsedGenerations(), (key) => this.local.has(key));
  }

  /** Returns true if runners in this process or followed processes report the progress of all partitions. */
  private isProgressReported(generations = this.getUsedGenerations()): boolean {
    return this.isEveryPartition(generations, (key) => this.local.has(key) || this.followed.has(key));
  }

  /** Returns the queried generation, and the next one if queries wait to switch to it. */
  private getUsedGenerations(): readonly (number | undefined)[] {
    return this.next === undefined ? [this.queried] : [this.queried, this.next];
  }

  /** @param test receives each partition of the generations, as `generation/partition` */
  private isEveryPartition(generations: readonly (number | undefined)[], test: (key: string) => boolean): boolean {
    return generations.every((generation) => this.partitions.every((partition) => test(`${generation}/${partition}`)));
  }

  /** Switches to the next generation once it contains all that readers of the queried generation may have seen. */
  private switchIfCaughtUp(force = false): void {
    const { queried, next } = this;
    if (queried === undefined || next === undefined) return;
    if (!force && !this.hasAllRowsOf(queried, next)) return;
    this.queried = next;
    this.next = undefined;
    for (const positions of [this.known, this.written])
      for (const generation of positions.keys()) if (generation < next) positions.delete(generation);
    this.wakeWaiters();
  }

  /** Returns true if the next generation contains all events whose rows may be readable in the queried generation. */
  private hasAllRowsOf(queried: number, next: number): boolean {
    const made = this.known.get(next);
    const isReached = ([partition, position]: readonly [string, HandledPosition]) =>
      // The next generation has the original log positions of events that the queried generation handled late.
      (made?.get(partition) ?? '') >= toLogPosition(position);
    return [this.known, this.written].every((positions) => [...(positions.get(queried) ?? [])].every(isReached));
  }

  private addWaitingRead(waiter: WaitingRead): void {
    let at = this.waiters.length;
    while (at > 0 && (this.waiters[at - 1]?.position ?? '') > waiter.position) at -= 1;
    this.waiters.splice(at, 0, waiter);
  }

  private wakeWaiters(): void {
    const place = this.handledPosition();
    if (place === undefined) return;
    const until = this.waiters.findIndex((waiter) => waiter.position > place);
    for (const waiter of this.waiters.splice(0, until < 0 ? this.waiters.length : until)) waiter.settle(true);
  }

  /** Polls the checkpoints of other processes while reads wait for them, rarely if these report their progress. */
  private async pollWhileWaiting(): Promise<void> {
    if (this.watching) return;
    this.watching = true;
    while (this.waiters.length > 0) {
      await this.remote.waitForNextPoll(this.isProgressReported());
      if (!this.hasAllPartitionsLocally())
        await this.refreshProgress().catch((error: unknown) => this.failWaiters(error));
    }
    this.watching = false;
  }

  private failWaiters(error: unknown): void {
    if (error instanceof Unavailable) for (const waiter of [...this.waiters]) waiter.fail(error);
  }

  private async refreshProgress(): Promise<void> {
    await this.remote.refreshPointer();
    await this.readCheckpoints();
  }

  private async readCheckpoints(): Promise<void> {
    const checkpoints = await this.remote.checkpoints();
    // Older generations first: a switch to the next generation compares it with all that was read of the queried one.
    for (const checkpoint of checkpoints.toSorted((one, other) => one.generation - other.generation)) {
      const { generation, partition } = checkpoint;
      const place = toHandledPosition(checkpoint);
      if (place !== undefined && this.partitions.includes(partition))
        this.recordHandledPosition(generation, partition, place);
    }
  }
}

/** Records a position unless the partition already has a later one. Returns true if it was recorded. */
function raisePosition<P extends string>(
  positions: Map<number, Map<string, P>>,
  generation: number,
  partition: string,
  position: P,
): boolean {
  const places = positions.get(generation) ?? new Map<string, P>();
  positions.set(generation, places);
  if (position <= (places.get(partition) ?? '')) return false;
  places.set(partition, position);
  return true;
}
