import type { Timestamp } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import type { Collection, Position } from '@tracking/ports';
import { type CheckpointDocument, STREAM_SLOT_COUNT } from '@tracking/subscriptions';
import type { CheckpointPoller } from './checkpoint-poller.ts';
import { ProjectionProgress } from './projection-progress.ts';
import {
  type LazilyOpenedCollections,
  type ReadModel,
  type ReadModelRow,
  createRowsCollectionSpec,
} from './read-model.ts';
import { type Generations, type GenerationsDocument, getModelVersion } from './generations.ts';
import { listPartitionSlots, PositionsReachedByStreamSlots } from './slots.ts';

/** Age in milliseconds after which a query refreshes the generation pointer in the background. */
const GENERATION_POINTER_MAX_AGE_MS = 1_000;

export interface ActiveReadModelRowsOptions {
  readonly collections: LazilyOpenedCollections;
  readonly generations: Generations;
  readonly checkpoints: CheckpointPoller;
  /** Maximum number of reads in this process that wait for the read model at the same time. */
  readonly maxWaiters: number;
  /** Milliseconds for which a replaced generation remains queryable. */
  readonly graceMs: number;
  /** Returns the time before which rows have expired. If the function is absent, no row expires. */
  readonly retainedSince?: () => Timestamp;
}

/** Rows of one generation of a read model. */
export interface ReadModelRowsWithVersion<R extends ReadModelRow> {
  readonly rows: Collection<R>;
  /**
   * Version of the read model that built the rows. After an update, it remains the previous version until the rows are
   * rebuilt.
   */
  readonly version: number;
}

/** Selects the generation of a read model that queries of this process use. */
export class ActiveGenerationSelector<R extends ReadModelRow> {
  readonly progress: ProjectionProgress;
  /** Read of a stale pointer that is in progress. */
  private refreshing: Promise<GenerationsDocument> | undefined;
  private refreshedAt = 0;
  private pointer: GenerationsDocument | undefined;
  /** Number of reads of the pointer that have started. */
  private startedReads = 0;
  /** Number of the read that returned `pointer`. */
  private latestRead = 0;

  constructor(
    readonly model: ReadModel<R>,
    private readonly parts: ActiveReadModelRowsOptions,
  ) {
    const elsewhere = {
      checkpoints: () => this.readCheckpoints(),
      refreshPointer: () => this.refreshStaleGenerationPointer(),
      waitForNextPoll: (isReported: boolean) => parts.checkpoints.waitForNextPoll(isReported),
    };
    this.progress = new ProjectionProgress(elsewhere, parts.maxWaiters);
  }

  /** Returns the rows of the queried generation. @throws UnavailableError */
  async openActiveGenerationRows(): Promise<Collection<R>> {
    return (await this.openRowsOfQueriedGeneration()).rows;
  }

  /** Returns the rows of the queried generation, with the version that built them. @throws UnavailableError */
  async openRowsOfQueriedGeneration(): Promise<ReadModelRowsWithVersion<R>> {
    await this.refreshStaleGenerationPointer();
    const { generation } = this.progress;
    if (generation === undefined)
      throw new UnavailableError('read models', 'the queried generation is not known yet; retry later');
    // Read before the rows are opened, because queries can switch to another generation meanwhile.
    const version = this.getModelVersionOfGeneration(generation);
    return { rows: await this.openRowCollectionOfGeneration(generation), version };
  }

  /** Returns the rows of the given generation. @throws UnavailableError */
  openRowCollectionOfGeneration(generation: number): Promise<Collection<R>> {
    return this.parts.collections.open<R>(
      createRowsCollectionSpec(this.model, generation, this.getModelVersionOfGeneration(generation)),
    );
  }

  private getModelVersionOfGeneration(generation: number): number {
    return this.pointer === undefined ? this.model.version : getModelVersion(this.pointer, generation);
  }

  /**
   * Returns the time before which rows have expired, even if they are not deleted yet; undefined for models without
   * retention.
   */
  getRetentionStart(): Timestamp | undefined {
    return this.parts.retainedSince?.();
  }

  /**
   * Refreshes a stale pointer in the background. If the queried generation may be deleted by now, the caller waits for
   * the refresh.
   */
  private async refreshStaleGenerationPointer(): Promise<void> {
    // The age uses wall-clock time, because that clock advances while the machine sleeps.
    const age = Math.abs(Date.now() - this.refreshedAt);
    const mayBeDeleted = this.progress.generation === undefined || age > this.parts.graceMs / 2;
    if (!mayBeDeleted && age <= GENERATION_POINTER_MAX_AGE_MS) return;
    this.refreshing ??= this.refreshGenerationPointer().finally(() => (this.refreshing = undefined));
    if (mayBeDeleted) await this.refreshing;
    else this.refreshing.catch(() => undefined);
  }

  /**
   * Reads the generation pointer and applies it to later queries. The result contains all earlier changes of the pointer.
   * @throws UnavailableError
   */
  async refreshGenerationPointer(): Promise<GenerationsDocument> {
    const read = (this.startedReads += 1);
    const pointer = await this.parts.generations.readGenerationsDocument(this.model);
    this.refreshedAt = Date.now();
    if (read > this.latestRead) [this.pointer, this.latestRead] = [pointer, read];
    await this.progress.applyGenerationPointer(pointer.active, pointer.retiring);
    return pointer;
  }

  /** Reads the checkpoints of all generations that are in use. @throws UnavailableError */
  readCheckpoints(): Promise<readonly CheckpointDocument[]> {
    return this.parts.checkpoints.readCheckpointsOfReadModel(this.model.name);
  }

  /** Returns true if every partition of the generation once contained all stored events. @throws UnavailableError */
  async isGenerationComplete(generation: number): Promise<boolean> {
    const complete = (await this.readCheckpoints()).filter((each) => each.generation === generation && each.complete);
    return new Set(complete.flatMap(({ partition }) => listPartitionSlots(partition))).size === STREAM_SLOT_COUNT;
  }

  /** Returns the lowest checkpoint position of all partitions of the generation. @throws UnavailableError */
  async readMinCheckpointPosition(generation: number): Promise<Position | undefined> {
    const positions = new PositionsReachedByStreamSlots();
    for (const { partition, position, ...of } of await this.readCheckpoints())
      if (of.generation === generation && position !== null) positions.raisePositions(partition, position);
    return positions.getMinPosition();
  }
}
