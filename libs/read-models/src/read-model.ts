import type { Scope, Timestamp } from '@tracking/contracts';
import type { Collection, CollectionSpec, Document, DocumentStore, Filter, IndexSpec, Position } from '@tracking/ports';
import type { ShipmentEvent } from '@tracking/shipments-domain';
import type { HandledPosition } from '@tracking/subscriptions';

/** Values of the sort fields of a row, in their order; null sorts behind all others. */
export type SortValues = readonly (string | number | null)[];

/** One page of a list. `next` is there when more follow: pass it as `after` to go on. */
export interface QueryPage<T> {
  readonly items: readonly T[];
  readonly next: SortValues | undefined;
}

/** One document of a read model, made of the events of one stream. */
export interface ReadModelRow extends Document {
  /** Revision of the last event of its stream that it reflects: repeated and late writes are recognised by it. */
  readonly revision: number;
}

/** An event as projections see it: in its newest version, with its place. */
export interface ProjectedEvent {
  /** UUID of the stored event. */
  readonly id: string;
  readonly stream: string;
  readonly position: Position;
  /** Set if its stream was parked when its turn came: where readers come to it, instead of at its position. */
  readonly place?: HandledPosition | undefined;
  /** The stream's, from its first event; undefined in models that do not ask for it. */
  readonly scope: Scope | undefined;
  readonly event: ShipmentEvent;
}

/**
 * What a read model is: one collection per generation, filled by a pure fold. Content depends on the events alone, so
 * that any number of runners, repeated work and a rebuild end in the same rows.
 */
export interface ReadModel<R extends ReadModelRow = ReadModelRow, N extends string = string> {
  /** `[a-z_]+`; as operators know it. */
  readonly name: N;
  /**
   * Of what `apply` makes of events, from 1. Whoever changes that adds one: the rows are then made anew by themselves,
   * while those of the version before are queried. Other indexes alone need none.
   */
  readonly version: number;
  readonly indexes: readonly IndexSpec[];
  /**
   * Indexes of earlier versions that are queried until their rows are made anew: what they have of them is left as it is,
   * for other indexes of very many rows take their time.
   */
  readonly formerIndexes?: Readonly<Record<number, readonly IndexSpec[]>>;
  /** Whether `apply` needs the scope of streams whose first event is not at hand. */
  readonly scoped: boolean;
  /** Ids of the rows that `apply` will ask for. Absent where it never asks: then none is kept in memory. */
  reads?(event: ProjectedEvent): readonly string[];
  /**
   * The rows that the event changes, as they are after it. Pure. A row that it was shown and that already reflects the
   * event is left out; what the store holds in a newer revision is not written. Whatever it throws parks the stream.
   * @param row only ids named by `reads`
   */
  apply(event: ProjectedEvent, row: (id: string) => R | undefined): readonly R[];
  /** From when a row's retention counts, where rows have one. What is over it when it is projected is not stored. */
  retainedFrom?(row: R): Timestamp;
  /** Share of the row cache that a row takes, a whole number; an ordinary row takes 1. */
  weight?(row: R): number;
}

/** The collection of one generation of a read model. @param version of the read model that makes it */
export function rowsCollection(model: ReadModel, generation: number, version = model.version): CollectionSpec {
  const indexes = model.formerIndexes?.[version] ?? model.indexes;
  return { name: `${model.name}.g${generation}`, indexes, durability: 'derived' };
}

/** What all collections of a read model begin with, and the generation that one of them is of. */
export function generationOf(model: ReadModel, collectionName: string): number | undefined {
  const [name, generation] = collectionName.split('.g');
  return name === model.name && /^\d+$/.test(generation ?? '') ? Number(generation) : undefined;
}

/** The fields by which a row is of a scope: indexes of what is listed by scope begin with them. */
export const SCOPE_FIELDS = ['workspace_id', 'environment'] as const;

/** The scope alone, also of something that has more fields. */
export function pickScope({ workspace_id, environment }: Scope): Scope {
  return { workspace_id, environment };
}

export function scopeFilter(scope: Scope): Filter {
  return { ...pickScope(scope) };
}

/** Collections opened once, at first use: a store that is not up yet delays the first use, never the start. */
export class Collections {
  private readonly opened = new Map<string, Promise<Collection<Document>>>();

  constructor(readonly store: DocumentStore) {}

  open<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    const known = this.opened.get(spec.name);
    // One name holds one type of document: the specs are constants of the modules that own the types.
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
