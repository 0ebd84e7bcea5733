import type { Collection, CollectionSpec, Document, DocumentStore } from '@tracking/ports';
import {
  CHECKPOINTS_COLLECTION_SPEC,
  PARKED_STREAMS_COLLECTION_SPEC,
  PARTITION_LAYOUTS_COLLECTION_SPEC,
  deleteEarlierGenerations,
} from '@tracking/subscriptions';
import {
  type LazilyOpenedCollections,
  parseGenerationOfCollectionName,
  type ReadModel,
  createRowsCollectionSpec,
} from './read-model.ts';

/** Pointer document of a read model. It alone decides which generation queries use. */
export interface GenerationsDocument extends Document {
  /** The generation that queries use. Each switch to a new generation increases it by one. */
  readonly active: number;
  /** The next generation, which is projected from the first event; null if no rebuild is running. */
  readonly building: number | null;
  /** The previous generation. It is still updated for processes that have not read the new pointer. */
  readonly retiring: number | null;
  /** Version of the read model that builds the newest generation. */
  readonly model_version: number;
  /** Version of the read model for each generation that a version other than `model_version` builds. */
  readonly made_by?: Readonly<Record<string, number>>;
  /** Version of the pointer document. Every change increases it; a change of an outdated version is refused. */
  readonly version: number;
}

/** The collection is durable, because no other place records that an operator requested a rebuild. */
const GENERATION_POINTERS_COLLECTION_SPEC: CollectionSpec = { name: 'read_models', indexes: [] };

/**
 * Manages the generations of all read models. Each step is one guarded write, so that a crash cannot leave a
 * half-finished step.
 */
export class Generations {
  constructor(private readonly collections: LazilyOpenedCollections) {}

  /** @throws UnavailableError */
  async readGenerationsDocument(model: ReadModel): Promise<GenerationsDocument> {
    const pointers = await this.openGenerationPointers();
    const known = await pointers.get(model.name);
    if (known) return known;
    // If the pointer document was lost, existing generations are not used again.
    const left = (await this.collections.store.listCollectionNames(`${model.name}.`)).map((name) =>
      parseGenerationOfCollectionName(model, name),
    );
    const active = Math.max(0, ...left.map((generation) => generation ?? 0)) + 1;
    const model_version = model.version;
    await pointers.insert({ id: model.name, active, building: null, retiring: null, model_version, version: 1 });
    return (await pointers.get(model.name)) ?? this.readGenerationsDocument(model);
  }

  /** Starts the next generation. If a rebuild is running, returns its generation instead. @throws UnavailableError */
  async startGeneration(model: ReadModel): Promise<number> {
    for (;;) {
      const now = await this.readGenerationsDocument(model);
      if (now.building !== null) return now.building;
      const building = now.active + 1;
      if (await this.updateGenerationPointer(now, { building, model_version: model.version })) return building;
    }
  }

  /**
   * Starts the next generation if an earlier version of the read model builds the newest generation. An unfinished
   * generation of an earlier version is abandoned.
   * @returns true if a generation was started
   */
  async replaceOutdatedGeneration(model: ReadModel, now: GenerationsDocument): Promise<boolean> {
    if (now.model_version >= model.version) return false;
    return this.updateGenerationPointer(now, { building: getNewestGeneration(now) + 1, model_version: model.version });
  }

  /**
   * Makes the built generation active.
   * @returns false if another process has already changed the pointer
   */
  async activateBuiltGeneration(now: GenerationsDocument): Promise<boolean> {
    if (now.building === null) return false;
    return this.updateGenerationPointer(now, { active: now.building, building: null, retiring: now.active });
  }

  async clearRetiringGenerationInPointer(now: GenerationsDocument): Promise<boolean> {
    return this.updateGenerationPointer(now, { retiring: null });
  }

  /**
   * Drops the collections and documents of generations that are no longer in use. Can be repeated at any time, even
   * with an outdated pointer: generation numbers only grow, so a generation in use is never dropped.
   * @param ending aborts the method; the next call drops the rest
   * @throws UnavailableError
   */
  async dropUnusedModelGenerations(model: ReadModel, now: GenerationsDocument, ending: AbortSignal): Promise<void> {
    const oldest = now.retiring ?? now.active;
    for (const name of await this.collections.store.listCollectionNames(`${model.name}.`)) {
      const generation = parseGenerationOfCollectionName(model, name);
      if (generation !== undefined && generation < oldest) await this.collections.dropCollection(name, ending);
      if (ending.aborted) return;
    }
    for (const spec of [
      CHECKPOINTS_COLLECTION_SPEC,
      PARKED_STREAMS_COLLECTION_SPEC,
      PARTITION_LAYOUTS_COLLECTION_SPEC,
    ]) {
      await deleteEarlierGenerations(this.collections.store, spec, model.name, oldest);
    }
  }

  private async updateGenerationPointer(
    now: GenerationsDocument,
    change: Partial<GenerationsDocument>,
  ): Promise<boolean> {
    const pointers = await this.openGenerationPointers();
    const after = { ...now, ...change, version: now.version + 1 };
    const living = [after.active, after.retiring].filter((generation) => generation !== null);
    const former = living.filter((generation) => getModelVersion(now, generation) !== after.model_version);
    const made_by = Object.fromEntries(former.map((generation) => [generation, getModelVersion(now, generation)]));
    return pointers.replace({ ...after, made_by }, { version: now.version });
  }

  private openGenerationPointers(): Promise<Collection<GenerationsDocument>> {
    return this.collections.open(GENERATION_POINTERS_COLLECTION_SPEC);
  }
}

/** Returns the version of the read model that builds the generation. The generation must be in use. */
export function getModelVersion({ made_by, model_version }: GenerationsDocument, generation: number): number {
  return made_by?.[generation] ?? model_version;
}

/** Returns the newest generation, to which `model_version` refers. */
export function getNewestGeneration({ active, building }: GenerationsDocument): number {
  return building ?? active;
}

/** Returns the collections of all generations of a read model that are in use. @throws UnavailableError */
export async function listRowCollections(
  store: DocumentStore,
  models: readonly ReadModel[],
): Promise<readonly CollectionSpec[]> {
  const pointers = await store.collection<GenerationsDocument>(GENERATION_POINTERS_COLLECTION_SPEC);
  const known = new Map((await pointers.getMany(models.map(({ name }) => name))).map((now) => [now.id, now]));
  return models.flatMap((model) => {
    const now = known.get(model.name);
    if (now === undefined) return [];
    const living = [now.active, now.building, now.retiring].filter((generation) => generation !== null);
    return living.map((generation) => createRowsCollectionSpec(model, generation, getModelVersion(now, generation)));
  });
}
