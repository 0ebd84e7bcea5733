import { setImmediate } from 'node:timers/promises';
import type { CollectionSpec, Document, DocumentsWithinByteLimit, ShardValues } from '@tracking/ports';

/**
 * Maximum size in bytes of BSON of the documents of one query, below the 16 MiB that a server sends at once. Larger
 * queries would miss the deadline, and small documents would wait for all large ones.
 */
const MAX_BYTES_PER_QUERY = 12 * 1_024 * 1_024;
/** Number of documents up to which the size is not measured. Documents of usual size are then below the maximum. */
const MAX_UNMEASURED_DOCUMENTS = 8;

/** Reads that were requested in one turn of the event loop. */
interface BatchOfDocumentReads<T> {
  /** Reads without an outcome, by id. */
  readonly reads: Map<string, PromiseWithResolvers<T | undefined>>;
  /** Values of the shard key of each read; undefined for a read that does not know them. */
  readonly shards: (ShardValues | undefined)[];
}

/** Combines reads of single documents in one turn of the event loop into one query, or into several if they are large. */
export class BatchedReads<T extends Document> {
  private batch: BatchOfDocumentReads<T> | undefined;

  /**
   * @param readMany reads documents in any order. If a maximum size is given, it stops before it would exceed the size,
   *   but returns at least one document
   */
  constructor(
    private readonly spec: Pick<CollectionSpec, 'shardKey'>,
    private readonly readMany: (
      ids: readonly string[],
      shards: ShardValues,
      maxBytes: number | undefined,
    ) => Promise<DocumentsWithinByteLimit<T>>,
  ) {}

  readDocumentInNextBatch(id: string, shards?: ShardValues): Promise<T | undefined> {
    const batch = (this.batch ??= this.startReadBatch());
    batch.shards.push(shards);
    const read = batch.reads.get(id) ?? Promise.withResolvers<T | undefined>();
    batch.reads.set(id, read);
    return read.promise;
  }

  private startReadBatch(): BatchOfDocumentReads<T> {
    const batch: BatchOfDocumentReads<T> = { reads: new Map(), shards: [] };
    void setImmediate().then(async () => {
      this.batch = undefined;
      await this.readBatch(batch).catch((error: unknown) => {
        for (const { reject } of batch.reads.values()) reject(error);
      });
    });
    return batch;
  }

  private async readBatch({ reads, shards }: BatchOfDocumentReads<T>): Promise<void> {
    const shardValues = this.mergeShardKeyValuesOfReads(shards);
    let isCut = true;
    while (isCut) {
      const maxBytes = reads.size > MAX_UNMEASURED_DOCUMENTS ? MAX_BYTES_PER_QUERY : undefined;
      const found = await this.readMany([...reads.keys()], shardValues, maxBytes);
      for (const document of found.documents) {
        reads.get(document.id)?.resolve(document);
        reads.delete(document.id);
      }
      ({ isCut } = found);
    }
    for (const { resolve } of reads.values()) resolve(undefined);
  }

  /** Returns the values of all reads. Omits a field for which some read has no values. */
  private mergeShardKeyValuesOfReads(shards: readonly (ShardValues | undefined)[]): ShardValues {
    const fields = (this.spec.shardKey ?? []).filter((field) => shards.every((one) => one?.[field] !== undefined));
    const valuesOf = (field: string) => new Set(shards.flatMap((one) => one?.[field] ?? []));
    return Object.fromEntries(fields.map((field) => [field, [...valuesOf(field)]]));
  }
}
