import { collectScopeFieldValues, type WorkspaceScope, type Timestamp } from '@tracking/contracts';
import type {
  Collection,
  CollectionSpec,
  Document,
  DocumentStore,
  Filter,
  IndexSpec,
  Position,
  ShardValues,
} from '@tracking/ports';
import type { ShipmentEvent } from '@tracking/shipments-domain';
import type { HandledPosition } from '@tracking/subscriptions';

/** Values of a row's sort fields, in the order of the fields. Null sorts last. */
export type SortValues = readonly (string | number | null)[];

/** One page of a list. If more items follow, `next` is set: pass it as `after` to get the next page. */
export interface QueryPage<T> {
  readonly items: readonly T[];
  readonly next: SortValues | undefined;
}

/** Row of a read model. It is built from the events of one stream. */
export interface ReadModelRow extends Document {
  /** Revision of the last event that the row reflects. Repeated and late writes are recognized by it. */
  readonly revision: number;
}

/** An event in its newest version, with its position, as projections receive it. */
export interface ProjectedEvent {
  /** UUID of the stored event. */
  readonly id: string;
  readonly stream: string;
  readonly position: Position;
  /** Late position of the event; set only if the event waited in a parked stream. */
  readonly place?: HandledPosition | undefined;
  /** Scope of the event's stream, from its first event; undefined for read models that do not need the scope. */
  readonly scope: WorkspaceScope | undefined;
  readonly event: ShipmentEvent;
}

/**
 * Definition of a read model: a pure fold from events to rows, stored in one collection per generation. The rows depend
 * on events alone, so concurrent runners, repeated work and rebuilds produce the same rows.
 */
export interface ReadModel<R extends ReadModelRow = ReadModelRow, N extends string = string> {
  /** Name of the read model for operators, `[a-z_]+`. */
  readonly name: N;
  /**
   * Version of the rows that `applyEventToRows` produces, from 1. Increase it with every change of these rows: the rows
   * are then rebuilt automatically, and until then queries use the rows of the previous version. A change of indexes
   * alone needs no new version.
   */
  readonly version: number;
  readonly indexes: readonly IndexSpec[];
  /**
   * Indexes that queries of rows from earlier versions need until these rows are rebuilt. Do not change these indexes,
   * because building an index over many rows takes long.
   */
  readonly formerIndexes?: Readonly<Record<number, readonly IndexSpec[]>>;
  /**
   * True if every event has the scope of its stream, even if the stream's first event is not in the batch. The rows are
   * then sharded by their scope.
   */
  readonly scoped: boolean;
  /**
   * Returns the ids of the rows that `applyEventToRows` reads. If the function is absent, `applyEventToRows` reads no
   * rows and no rows are cached.
   */
  listRowIdsNeededToProjectEvent?(event: ProjectedEvent): readonly string[];
  /**
   * Returns the new state of the rows that the event changes. Pure. Omits rows that already reflect the event; stored
   * rows of a newer revision are not overwritten. An error parks the stream.
   * @param row returns the row with an id that `listRowIdsToRead` has returned
   */
  applyEventToRows(event: ProjectedEvent, row: (id: string) => R | undefined): readonly R[];
  /** Returns the time at which the retention of the row begins. A row that has already expired is not stored. */
  retainedFrom?(row: R): Timestamp;
  /** Returns the weight of a row in the row cache, as an integer. An ordinary row has weight 1. */
  weight?(row: R): number;
}

/**
 * Returns the collection for one generation of a read model.
 * @param version version of the read model that builds the collection
 */
export function createRowsCollectionSpec(
  model: ReadModel,
  generation: number,
  version = model.version,
): CollectionSpec {
  const indexes = model.formerIndexes?.[version] ?? model.indexes;
  const name = `${model.name}.g${generation}`;
  return { name, indexes, durability: 'derived', ...(model.scoped && { shardKey: SCOPE_FIELDS }) };
}

/**
 * Parses the name of a collection. Returns the generation; undefined if the collection belongs to another read model.
 */
export function parseGenerationOfCollectionName(model: ReadModel, collectionName: string): number | undefined {
  const [name, generation] = collectionName.split('.g');
  return name === model.name && /^\d+$/.test(generation ?? '') ? Number(generation) : undefined;
}

/** Fields that identify the scope of a row. They are the first fields of all list indexes, and the shard key. */
export const SCOPE_FIELDS = ['workspace_id', 'environment'] as const;

/** Returns an object with only the scope fields of a value. */
export function pickScopeFields({ workspace_id, environment }: WorkspaceScope): WorkspaceScope {
  return { workspace_id, environment };
}

export function createScopeFilter(scope: WorkspaceScope): Filter {
  return { ...pickScopeFields(scope) };
}

/** Returns the values of the shard key of rows in the scope. */
export function toShardKeyValuesOfScope(scope: WorkspaceScope): ShardValues {
  return collectScopeFieldValues([scope]);
}

/**
 * Opens each collection once, at its first use, so that an unavailable store does not delay the start of the process.
 */
export class LazilyOpenedCollections {
  private readonly opened = new Map<string, Promise<Collection<Document>>>();

  constructor(readonly store: DocumentStore) {}

  open<T extends Document>(spec: CollectionSpec): Promise<Collection<T>> {
    const known = this.opened.get(spec.name);
    // The cast is safe, because each collection name is used with one document type.
    if (known) return known as unknown as Promise<Collection<T>>;
    const opening = this.store.collection<T>(spec);
    this.opened.set(spec.name, opening as unknown as Promise<Collection<Document>>);
    opening.catch(() => this.opened.delete(spec.name));
    return opening;
  }

  async dropCollection(name: string, ending?: AbortSignal): Promise<void> {
    this.opened.delete(name);
    await this.store.dropCollection(name, ending);
  }
}
