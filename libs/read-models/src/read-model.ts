import type { Scope, Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document, DocumentStore, Filter, IndexSpec, Position } from '@tracking/ports';
import type { ShipmentEvent } from '@tracking/shipments-domain';
import type { HandledPosition } from '@tracking/subscriptions';

/** Values of a row's sort fields, in their order. Null sorts last. */
export type SortValues = readonly (string | number | null)[];

/** One page of a list. `next` is set if more items follow: pass it as `after` for the next page. */
export interface QueryPage<T> {
  readonly items: readonly T[];
  readonly next: SortValues | undefined;
}

/** Row of a read model, built from the events of one stream. */
export interface ReadModelRow extends Document {
  /** Revision of the last event of the stream that the row reflects. It identifies repeated and late writes. */
  readonly revision: number;
}

/** An event as projections receive it: in its newest version, with its position. */
export interface ProjectedEvent {
  /** UUID of the stored event. */
  readonly id: string;
  readonly stream: string;
  readonly position: Position;
  /** Position at which readers receive the event; set if its stream was parked at the event's own position. */
  readonly place?: HandledPosition | undefined;
  /** Scope of the stream, from its first event; undefined in models that do not need it. */
  readonly scope: Scope | undefined;
  readonly event: ShipmentEvent;
}

/**
 * Definition of a read model: one collection per generation, filled by a pure fold. The rows depend on events alone, so
 * concurrent runners, repeated work and rebuilds produce the same rows.
 */
export interface ReadModel<R extends ReadModelRow = ReadModelRow, N extends string = string> {
  /** Name of the read model for operators, `[a-z_]+`. */
  readonly name: N;
  /**
   * Version of the rows that `apply` produces, from 1. Increase it with every change of these rows: they are then
   * rebuilt automatically, while the rows of the previous version are queried. A change of indexes alone needs no new
   * version.
   */
  readonly version: number;
  readonly indexes: readonly IndexSpec[];
  /**
   * Indexes of earlier versions that are needed until their rows are rebuilt. They are kept as they are, because
   * building indexes over many rows takes long.
   */
  readonly formerIndexes?: Readonly<Record<number, readonly IndexSpec[]>>;
  /** True if `apply` needs the scope of streams whose first event is not in the batch. */
  readonly scoped: boolean;
  /** Returns the ids of the rows that `apply` will read. If absent, `apply` reads none and no rows are cached. */
  reads?(event: ProjectedEvent): readonly string[];
  /**
   * Returns the rows that the event changes, in their new state. Pure. Omits rows that already reflect the event;
   * stored rows of a newer revision are not overwritten. An error parks the stream.
   * @param row returns the row of an id named by `reads`
   */
  apply(event: ProjectedEvent, row: (id: string) => R | undefined): readonly R[];
  /**
   * Returns the time from which the row's retention counts. Rows that have expired when they are projected are not
   * stored.
   */
  retainedFrom?(row: R): Timestamp;
  /** Returns the weight of a row in the row cache, as an integer; 1 for an ordinary row. */
  weight?(row: R): number;
}

/** Returns the collection of one generation of a read model. @param version version of the read model that builds it */
export function rowsCollection(model: ReadModel, generation: number, version = model.version): CollectionSpec {
  const indexes = model.formerIndexes?.[version] ?? model.indexes;
  return { name: `${model.name}.g${generation}`, indexes, durability: 'derived' };
}

/** Parses the name of a read model's collection into the model and the generation. */
export function parseGeneration(model: ReadModel, collectionName: string): number | undefined {
  const [name, generation] = collectionName.split('.g');
  return name === model.name && /^\d+$/.test(generation ?? '') ? Number(generation) : undefined;
}

/** Fields that identify the scope of a row. Indexes of lists start with them. */
export const SCOPE_FIELDS = ['workspace_id', 'environment'] as const;

/** Picks the scope fields of a value. */
export function pickScope({ workspace_id, environment }: Scope): Scope {
  return { workspace_id, environment };
}

export function scopeFilter(scope: Scope): Filter {
  return { ...pickScope(scope) };
}

/** Opens each collection once, at first use, so that an unavailable store delays the first use but not the start. */
export class Collections {
  private readonly opened = new Map<string, Promise<Collection<Document>>>();

  constructor(readonly store: DocumentStore) {}

  open<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    const known = this.opened.get(spec.name);
    // Each name has one document type, because specs are constants of the modules that own the types.
    if (known) return known as unknown as Promise<Collection<T>>;
    const opening = this.store.collection<T>(spec);
    this.opened.set(spec.name, opening as unknown as Promise<Collection<Document>>);
    opening.catch(() => this.opened.delete(spec.name));
    return opening;
  }

  async drop(name: string, ending?: AbortSignal): Promise<void> {
    this.opened.delete(name);
    await this.store.dropCollection(name, ending);
  }
}
