import type { Collection, CollectionSpec, Document } from '@tracking/ports';
import { CHECKPOINTS, PARKED, deleteEarlierGenerations } from '@tracking/subscriptions';
import { type Collections, generationOf, type ReadModel } from './read-model.ts';

/** Which generations of a read model there are: the one pointer, and the only word on what is queried. */
export interface GenerationsDocument extends Document {
  /** Queried. Grows by one at each swap. */
  readonly active: number;
  /** The next one, being projected from the start. */
  readonly building: number | null;
  /** The one before, projected on for those who have not heard of the swap yet. */
  readonly retiring: number | null;
  /** Version of the read model that the newest of these generations is made by. */
  readonly model_version: number;
  /** Version of the read model that each of them is made by, where that is not `model_version`. */
  readonly made_by?: Readonly<Record<string, number>>;
  /** Grows with every change, which is refused where it is not the one that was read. */
  readonly version: number;
}

/** Not derived: which rebuild was asked for is nowhere else. */
const POINTERS: CollectionSpec = { name: 'read_models', indexes: [] };

/** The life of the generations of every read model, one guarded write per step, so that a crash falls between steps. */
export class Generations {
  constructor(private readonly collections: Collections) {}

  /** @throws Unavailable */
  async of(model: ReadModel): Promise<GenerationsDocument> {
    const pointers = await this.pointers();
    const known = await pointers.get(model.name);
    if (known) return known;
    // Where a pointer was lost, what it left behind is not trusted.
    const left = (await this.collections.store.collectionNames(`${model.name}.`)).map((name) =>
      generationOf(model, name),
    );
    const active = Math.max(0, ...left.map((generation) => generation ?? 0)) + 1;
    const model_version = model.version;
    await pointers.insert({ id: model.name, active, building: null, retiring: null, model_version, version: 1 });
    return (await pointers.get(model.name)) ?? this.of(model);
  }

  /** Begins the next generation; the one that is being built, if there is one. @throws Unavailable */
  async build(model: ReadModel): Promise<number> {
    for (;;) {
      const now = await this.of(model);
      if (now.building !== null) return now.building;
      const building = now.active + 1;
      if (await this.change(now, { building, model_version: model.version })) return building;
    }
  }

  /**
   * Begins the next generation where an earlier version of the read model makes the newest one; that one is given up
   * where it is still being built.
   * @returns whether it did
   */
  async renew(model: ReadModel, now: GenerationsDocument): Promise<boolean> {
    if (now.model_version >= model.version) return false;
    return this.change(now, { building: newestGeneration(now) + 1, model_version: model.version });
  }

  /** The built generation becomes the active one. @returns false when someone else was first */
  async swap(now: GenerationsDocument): Promise<boolean> {
    if (now.building === null) return false;
    return this.change(now, { active: now.building, building: null, retiring: now.active });
  }

  async retire(now: GenerationsDocument): Promise<boolean> {
    return this.change(now, { retiring: null });
  }

  /**
   * Drops what is left of dead generations. May be repeated at any time, also with a pointer that is no longer the
   * newest: generations only grow, so nothing alive is ever dropped.
   * @param ending leaves the rest to the next time
   * @throws Unavailable
   */
  async sweep(model: ReadModel, now: GenerationsDocument, ending: AbortSignal): Promise<void> {
    const oldest = now.retiring ?? now.active;
    for (const name of await this.collections.store.collectionNames(`${model.name}.`)) {
      const generation = generationOf(model, name);
      if (generation !== undefined && generation < oldest) await this.collections.drop(name, ending);
      if (ending.aborted) return;
    }
    for (const spec of [CHECKPOINTS, PARKED]) {
      await deleteEarlierGenerations(this.collections.store, spec, model.name, oldest);
    }
  }

  private async change(now: GenerationsDocument, change: Partial<GenerationsDocument>): Promise<boolean> {
    const pointers = await this.pointers();
    const after = { ...now, ...change, version: now.version + 1 };
    const living = [after.active, after.retiring].filter((generation) => generation !== null);
    const former = living.filter((generation) => modelVersionOf(now, generation) !== after.model_version);
    const made_by = Object.fromEntries(former.map((generation) => [generation, modelVersionOf(now, generation)]));
    return pointers.replace({ ...after, made_by }, { version: now.version });
  }

  private pointers(): Promise<Collection<GenerationsDocument>> {
    return this.collections.open(POINTERS);
  }
}

/** Version of the read model that makes a living generation. */
export function modelVersionOf({ made_by, model_version }: GenerationsDocument, generation: number): number {
  return made_by?.[generation] ?? model_version;
}

/** The generation that `model_version` is about. */
export function newestGeneration({ active, building }: GenerationsDocument): number {
  return building ?? active;
}
