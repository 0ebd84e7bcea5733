import { Busy, type Position } from '@tracking/ports';
import { pause } from '@tracking/resilience';
import {
  type CheckpointDocument,
  CHECKPOINTS,
  type HandledPosition,
  handledPositionOf,
  logPositionOf,
} from '@tracking/subscriptions';
import type { Collections } from './read-model.ts';

interface WaitingRead {
  readonly position: Position;
  readonly settle: (reached: boolean) => void;
}

/** What other processes know. */
interface RemoteProgress {
  /** The read model's checkpoints, of all generations. @throws Unavailable */
  checkpoints(): Promise<readonly CheckpointDocument[]>;
  /** Looks at the pointer again when that is due. @throws Unavailable */
  refreshPointer(): Promise<void>;
  /** Resolves when it is time to look again. */
  nextPoll(): Promise<void>;
}

/**
 * How far one read model is, and which of its generations this process queries. Runners of this process tell their
 * progress at once; that of others is read from their checkpoints, and only while someone waits.
 *
 * Nobody is ever taken back in time by a rebuild: when the pointer moves to another generation, queries follow only
 * once that one holds everything that this process has said the old one holds.
 */
export class ProjectionProgress {
  /** By generation, then partition. */
  private readonly known = new Map<number, Map<string, HandledPosition>>();
  /** Partitions that are projected here, as `generation/partition`. */
  private readonly local = new Set<string>();
  private queried: number | undefined;
  private next: number | undefined;
  /** Ordered by position. */
  private readonly waiters: WaitingRead[] = [];
  private watching = false;

  constructor(
    private readonly partitions: readonly string[],
    private readonly remote: RemoteProgress,
    private readonly maxWaiters: number,
  ) {}

  /** The generation to query; undefined until the pointer was read for the first time. */
  get generation(): number | undefined {
    return this.queried;
  }

  /**
   * The pointer as it was read: takes effect at once, or as soon as nobody is taken back.
   * @param retiring the generation that may be queried until then; any other is gone
   * @throws Unavailable; the pointer is remembered all the same
   */
  async setPointer(active: number, retiring: number | null): Promise<void> {
    this.queried ??= active;
    // A pointer that was read earlier may arrive later.
    if (active > (this.next ?? this.queried)) this.next = active;
    if (this.next === undefined) return;
    const gone = active === this.next && this.queried !== retiring;
    if (!gone && !this.isLocal()) await this.readCheckpoints();
    this.switchIfCaughtUp(gone);
  }

  addLocalPartition(generation: number, partition: string, place: HandledPosition | undefined): void {
    this.local.add(`${generation}/${partition}`);
    if (place !== undefined) this.advance(generation, partition, place);
  }

  removeLocalPartition(generation: number, partition: string): void {
    this.local.delete(`${generation}/${partition}`);
  }

  advance(generation: number, partition: string, place: HandledPosition): void {
    // What was said of the old generation stands still while the new one makes up for it.
    if (this.queried !== undefined && generation < (this.next ?? this.queried)) return;
    const places = this.known.get(generation) ?? new Map<string, HandledPosition>();
    this.known.set(generation, places);
    if (place <= (places.get(partition) ?? '')) return;
    places.set(partition, place);
    if (generation === this.next) this.switchIfCaughtUp();
    else if (generation === this.queried) this.wake();
  }

  /** Everything up to here is in the rows that are queried; undefined while some partition has nothing. */
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

  /** The same, asked of other processes where they project. @throws Unavailable */
  async currentHandledPosition(): Promise<HandledPosition | undefined> {
    if (!this.isLocal()) await this.refresh();
    return this.handledPosition();
  }

  /**
   * Whether the rows that are queried hold everything up to the position, now or within the time.
   * @throws Busy when too many wait already
   */
  async reached(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.hasReached(position)) return true;
    // Where somebody waits already, the next look is soon enough for whoever can wait.
    if (!this.isLocal() && (timeoutMs <= 0 || !this.watching)) {
      await this.refresh().catch(() => undefined);
      if (this.hasReached(position)) return true;
    }
    if (timeoutMs <= 0) return false;
    if (this.waiters.length >= this.maxWaiters) throw new Busy('read models', 'too many reads wait for them');
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
      this.enqueue(waiter);
      void this.pollWhileWaiting();
    });
  }

  /** Whoever waits is told no. */
  close(): void {
    for (const waiter of [...this.waiters]) waiter.settle(false);
  }

  private hasReached(position: Position): boolean {
    const reached = this.handledPosition();
    return reached !== undefined && reached >= position;
  }

  private isLocal(): boolean {
    const generation = this.next ?? this.queried;
    return this.partitions.every((partition) => this.local.has(`${generation}/${partition}`));
  }

  /** Goes over to the next generation once it holds all that was said of the one that is queried. */
  private switchIfCaughtUp(force = false): void {
    const { queried, next } = this;
    if (queried === undefined || next === undefined) return;
    const made = this.known.get(next);
    for (const [partition, position] of this.known.get(queried) ?? []) {
      // Events that the queried generation placed late stand at their positions in the next one.
      if (!force && (made?.get(partition) ?? '') < logPositionOf(position)) return;
    }
    this.queried = next;
    this.next = undefined;
    for (const generation of this.known.keys()) if (generation < next) this.known.delete(generation);
    this.wake();
  }

  private enqueue(waiter: WaitingRead): void {
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

  /** Reads the checkpoints of others for as long as somebody waits for them. */
  private async pollWhileWaiting(): Promise<void> {
    if (this.watching) return;
    this.watching = true;
    while (this.waiters.length > 0) {
      await this.remote.nextPoll();
      if (!this.isLocal()) await this.refresh().catch(() => undefined);
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
      const place = handledPositionOf(checkpoint);
      if (place !== undefined && this.partitions.includes(partition)) this.advance(generation, partition, place);
    }
  }
}

const POLL_INTERVAL_MS = 15;
/** More than read models times partitions times living generations will ever be. */
const MAX_CHECKPOINTS = 1_000;

/** The checkpoints of all read models, looked at once for everybody in this process who waits for other processes. */
export class CheckpointPoller {
  private looking: Promise<readonly CheckpointDocument[]> | undefined;
  private pausing: Promise<void> | undefined;

  constructor(
    private readonly collections: Collections,
    private readonly readModels: readonly string[],
  ) {}

  /** Of all generations of one read model. A look is shared by all who ask meanwhile. @throws Unavailable */
  async checkpointsOf(readModel: string): Promise<readonly CheckpointDocument[]> {
    this.looking ??= this.look().finally(() => (this.looking = undefined));
    return (await this.looking).filter(({ subscriber }) => subscriber === readModel);
  }

  /** Resolves when whoever waits is to look again: for all at the same moment, so that they share the look. */
  nextPoll(): Promise<void> {
    return (this.pausing ??= pause(POLL_INTERVAL_MS).finally(() => (this.pausing = undefined)));
  }

  private async look(): Promise<readonly CheckpointDocument[]> {
    const documents = await this.collections.open<CheckpointDocument>(CHECKPOINTS);
    return documents.find({ filter: { subscriber: { in: this.readModels } }, limit: MAX_CHECKPOINTS });
  }
}
