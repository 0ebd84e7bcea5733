import type { Timestamp } from '@tracking/contracts';
import { Unavailable } from '@tracking/ports';
import type { Collection, Position } from '@tracking/ports';
import type { CheckpointDocument, Partition } from '@tracking/subscriptions';
import { type CheckpointPoller, ProjectionProgress } from './projection-progress.ts';
import { type Collections, type ReadModel, type ReadModelRow, rowsCollection } from './read-model.ts';
import { type Generations, type GenerationsDocument, modelVersionOf } from './generations.ts';

/** A pointer as old as this is looked up again behind the query that finds it so. */
const STALE_MS = 1_000;

export interface ActiveRowsOptions {
  readonly partitions: readonly Partition[];
  readonly collections: Collections;
  readonly generations: Generations;
  readonly checkpoints: CheckpointPoller;
  /** Most reads of this process that wait for the read model at once. */
  readonly maxWaiters: number;
  /** For how long a replaced generation can still be queried. */
  readonly graceMs: number;
  /** Rows that have a retention are kept from then on; all where it is absent. */
  readonly retainedSince?: () => Timestamp;
}

/** The generation of a read model that this process queries. */
export class ActiveRows<R extends ReadModelRow> {
  readonly progress: ProjectionProgress;
  private refreshing: Promise<GenerationsDocument> | undefined;
  private refreshedAt = 0;
  private pointer: GenerationsDocument | undefined;

  constructor(
    readonly model: ReadModel<R>,
    private readonly parts: ActiveRowsOptions,
  ) {
    const partitions = parts.partitions.map(({ key }) => key);
    const elsewhere = {
      checkpoints: () => this.checkpoints(),
      refreshPointer: () => this.followPointer(),
      nextPoll: () => parts.checkpoints.nextPoll(),
    };
    this.progress = new ProjectionProgress(partitions, elsewhere, parts.maxWaiters);
  }

  /** The rows to query. @throws Unavailable */
  async rows(): Promise<Collection<R>> {
    await this.followPointer();
    const { generation } = this.progress;
    if (generation === undefined) throw new Unavailable('read models', 'no generation is known yet');
    return this.rowsOfGeneration(generation);
  }

  /** The rows of a generation. @throws Unavailable */
  rowsOfGeneration(generation: number): Promise<Collection<R>> {
    const version = this.pointer && modelVersionOf(this.pointer, generation);
    return this.parts.collections.open<R>(rowsCollection(this.model, generation, version));
  }

  /** The version of the read model that made the rows to query: an earlier one until they are rebuilt. */
  get version(): number {
    const { generation } = this.progress;
    if (this.pointer === undefined || generation === undefined) return this.model.version;
    return modelVersionOf(this.pointer, generation);
  }

  /** Rows from before are over their retention, whether or not they are still there; undefined where there is none. */
  keptSince(): Timestamp | undefined {
    return this.parts.retainedSince?.();
  }

  /** Looks at the pointer again when it is stale: behind the caller, unless the generation may be gone by now. */
  private async followPointer(): Promise<void> {
    // Wall-clock time, which goes on while a machine sleeps.
    const age = Math.abs(Date.now() - this.refreshedAt);
    if (this.progress.generation === undefined || age > this.parts.graceMs / 2) await this.refresh();
    else if (age > STALE_MS) this.refresh().catch(() => undefined);
  }

  /** The pointer as it is now; from here on queries follow it. @throws Unavailable */
  refresh(): Promise<GenerationsDocument> {
    this.refreshing ??= this.read().finally(() => (this.refreshing = undefined));
    return this.refreshing;
  }

  /** Of all living generations. @throws Unavailable */
  checkpoints(): Promise<readonly CheckpointDocument[]> {
    return this.parts.checkpoints.checkpointsOf(this.model.name);
  }

  /** Whether every partition of the generation has once held everything that there was. @throws Unavailable */
  async isComplete(generation: number): Promise<boolean> {
    const complete = new Set<string>();
    for (const checkpoint of await this.checkpoints()) {
      if (checkpoint.generation === generation && checkpoint.complete) complete.add(checkpoint.partition);
    }
    return this.parts.partitions.every(({ key }) => complete.has(key));
  }

  /** How far all partitions of a generation are by their checkpoints. @throws Unavailable */
  async minPosition(generation: number): Promise<Position | undefined> {
    const checkpoints = await this.checkpoints();
    const positions: Position[] = [];
    for (const { key } of this.parts.partitions) {
      const position = checkpoints.find((each) => each.generation === generation && each.partition === key)?.position;
      if (!position) return undefined;
      positions.push(position);
    }
    return positions.sort()[0];
  }

  private async read(): Promise<GenerationsDocument> {
    const pointer = await this.parts.generations.of(this.model);
    this.refreshedAt = Date.now();
    this.pointer = pointer;
    await this.progress.setPointer(pointer.active, pointer.retiring);
    return pointer;
  }
}
