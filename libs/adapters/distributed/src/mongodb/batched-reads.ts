import { setImmediate } from 'node:timers/promises';
import type { CollectionSpec, Document, ShardValues } from '@tracking/ports';

/** Reads that were requested in one turn of the event loop. */
interface BatchOfDocumentReads<T> {
  readonly ids: Set<string>;
  /** Values of the shard key of each read; undefined for a read that does not know them. */
  readonly shards: (ShardValues | undefined)[];
  readonly found: Promise<ReadonlyMap<string, T>>;
}

/** Combines reads of single documents in one turn of the event loop into one query. */
export class BatchedReads<T extends Document> {
  private batch: BatchOfDocumentReads<T> | undefined;

  constructor(
    private readonly spec: Pick<CollectionSpec, 'shardKey'>,
    private readonly getMany: (ids: readonly string[], shards: ShardValues) => Promise<readonly T[]>,
  ) {}

  async readDocument(id: string, shards?: ShardValues): Promise<T | undefined> {
    const batch = (this.batch ??= this.startReadBatch());
    batch.ids.add(id);
    batch.shards.push(shards);
    return (await batch.found).get(id);
  }

  private startReadBatch(): BatchOfDocumentReads<T> {
    const ids = new Set<string>();
    const shards: (ShardValues | undefined)[] = [];
    const found = setImmediate().then(async () => {
      this.batch = undefined;
      const documents = await this.getMany([...ids], this.mergeShardKeyValuesOfReads(shards));
      return new Map(documents.map((document) => [document.id, document]));
    });
    return { ids, shards, found };
  }

  /** Returns the values of all reads. Omits a field for which some read has no values. */
  private mergeShardKeyValuesOfReads(shards: readonly (ShardValues | undefined)[]): ShardValues {
    const fields = (this.spec.shardKey ?? []).filter((field) => shards.every((one) => one?.[field] !== undefined));
    const valuesOf = (field: string) => new Set(shards.flatMap((one) => one?.[field] ?? []));
    return Object.fromEntries(fields.map((field) => [field, [...valuesOf(field)]]));
  }
}
