import type { CollectionSpec, CollectionWrite, Document, Filter } from '@tracking/ports';
import { BSON, type AnyBulkWriteOperation } from 'mongodb';
import {
  type MongoDocument,
  createGuardedDocumentFilter,
  createFilterByIdAndGuard,
  toStoredDocument,
} from './mongo-filter.ts';

/** Maximum size of a batch in bytes of BSON. A larger document is written alone. */
const WRITE_BATCH_BYTES = 4 * 1_024 * 1_024;

/** A write of a bulk, with its form for the driver. */
export interface BulkWrite<T extends Document> {
  readonly write: CollectionWrite<T>;
  readonly guard: Filter | undefined;
  readonly model: AnyBulkWriteOperation<MongoDocument>;
}

function toBulkWrite<T extends Document>(spec: CollectionSpec, write: CollectionWrite<T>): BulkWrite<T> {
  if (write.kind === 'insert')
    return { write, guard: undefined, model: { insertOne: { document: toStoredDocument(write.document) } } };
  const { guard } = write;
  if (write.kind === 'delete')
    return { write, guard, model: { deleteOne: { filter: createFilterByIdAndGuard(spec, write.id, guard) } } };
  const filter = createGuardedDocumentFilter(spec, write.document, guard);
  const replacement = toStoredDocument(write.document);
  return { write, guard, model: { replaceOne: { filter, replacement, upsert: true } } };
}

/** Splits writes into rounds, so that writes to the same id are in different rounds, in order. */
function splitWritesIntoRounds<T extends Document>(writes: readonly CollectionWrite<T>[]): CollectionWrite<T>[][] {
  const made: CollectionWrite<T>[][] = [];
  const seen = new Map<string, number>();
  for (const write of writes) {
    const id = write.kind === 'delete' ? write.id : write.document.id;
    const round = seen.get(id) ?? 0;
    seen.set(id, round + 1);
    (made[round] ??= []).push(write);
  }
  return made;
}

/**
 * Splits writes into batches that respect the maximum number and size. Writes to the same id are in different batches,
 * in order. A document that is too large is alone in its batch.
 */
export function* splitIntoBatches<T extends Document>(
  spec: CollectionSpec,
  writes: readonly CollectionWrite<T>[],
  maxCount: number,
): Generator<readonly BulkWrite<T>[]> {
  for (const round of splitWritesIntoRounds(writes)) {
    let batch: BulkWrite<T>[] = [];
    let batchBytes = 0;
    for (const write of round.map((one) => toBulkWrite(spec, one))) {
      const bytes = calculateBsonSize(write.model);
      if (batch.length > 0 && (batch.length === maxCount || batchBytes + bytes > WRITE_BATCH_BYTES)) {
        yield batch;
        batch = [];
        batchBytes = 0;
      }
      batch.push(write);
      batchBytes += bytes;
    }
    yield batch;
  }
}

/** Returns the size in bytes of BSON; `Infinity` for a document that the driver cannot encode. */
function calculateBsonSize(model: object): number {
  try {
    return BSON.calculateObjectSize(model, { ignoreUndefined: true });
  } catch {
    return Infinity;
  }
}
