import {
  DuplicateKeyError,
  UnavailableError,
  convertToUnknownOutcomeError,
  type Collection,
  type CollectionSpec,
  type CollectionWrite,
  type Document,
  type Filter,
  type DocumentReplacement,
} from '@tracking/ports';
import type { CollectionOperationRunner } from './collection-access.ts';
import { ENGINE_NAME, listRefusedWrites } from './mongo-errors.ts';
import { createGuardedDocumentFilter, toStoredDocument } from './mongo-filter.ts';
import { ID_INDEX_NAME } from './mongo-indexes.ts';
import { type BulkWrite, splitIntoBatches } from './write-batches.ts';

/**
 * Maximum number of documents per write, so that the write ends within its deadline. After a write that missed its
 * deadline, later writes are smaller.
 */
const WRITE_BATCH_SIZE = 1_000;
/** Number of documents of maximum size that any working server writes within the deadline. */
const MIN_WRITE_BATCH_SIZE = 16;
/**
 * Attempts of an upsert without a guard. Another attempt is needed only if the document was inserted and deleted
 * meanwhile.
 */
const UPSERT_ATTEMPTS = 10;
/** Attempts of an upsert with a guard. The second refusal shows that the guard does not match. */
const GUARDED_UPSERT_ATTEMPTS = 2;

/** Writes many documents of one collection with few requests. */
export class BulkWriter<T extends Document> {
  private writesAtOnce = WRITE_BATCH_SIZE;

  constructor(
    private readonly spec: CollectionSpec,
    private readonly access: CollectionOperationRunner,
    private readonly single: Pick<Collection<T>, 'insert' | 'replace' | 'upsert'>,
  ) {}

  /**
   * Replaces documents as {@link Collection.replaceMany} does. MongoDB reports only how many documents matched. Unless
   * all of them did, each is replaced again by itself, which has the same result as the first time, because the
   * document matches its own guard.
   */
  async replaceMany(replacements: readonly DocumentReplacement<T>[]): Promise<readonly boolean[]> {
    if (replacements.length === 0) return [];
    const models = replacements.map(({ document, guard }) => ({
      replaceOne: {
        filter: createGuardedDocumentFilter(this.spec, document, guard),
        replacement: toStoredDocument(document),
      },
    }));
    const areAllReplaced = await this.access.runIdempotentOperation((documents) =>
      documents.bulkWrite(models, { ordered: false }).then(
        ({ matchedCount }) => matchedCount === models.length,
        (error: unknown) => listRefusedWrites(error).length === 0,
      ),
    );
    if (areAllReplaced) return replacements.map(() => true);
    return Promise.all(replacements.map(({ document, guard }) => this.single.replace(document, guard)));
  }

  /** Writes documents as {@link Collection.writeMany} does. */
  async writeMany(writes: readonly CollectionWrite<T>[]): Promise<void> {
    const refusals: Error[] = [];
    const atOnce = this.writesAtOnce;
    let isBegun = false;
    try {
      for (const batch of splitIntoBatches(this.spec, writes, atOnce)) {
        refusals.push(...(await this.writeBatch(batch)));
        isBegun = true;
      }
    } catch (error) {
      throw isBegun ? convertToUnknownOutcomeError(error) : error;
    }
    this.writesAtOnce = Math.min(WRITE_BATCH_SIZE, 2 * atOnce);
    // The error is thrown only after all writes, because a caller that repeats the writes would otherwise fail at the
    // same write again.
    const [refusal] = [...refusals.filter((error) => !(error instanceof DuplicateKeyError)), ...refusals];
    if (refusal !== undefined) throw refusal;
  }

  /**
   * Writes a batch. After a write that did not respond in time, later batches have half as many documents.
   * @returns errors that no repetition avoids
   */
  private async writeBatch(batch: readonly BulkWrite<T>[]): Promise<readonly Error[]> {
    try {
      const refusedBy = await this.writeUnordered(batch, 1);
      return refusedBy === undefined ? [] : [new DuplicateKeyError(this.spec.name, refusedBy)];
    } catch (error) {
      const isUnavailable = error instanceof UnavailableError;
      // A document that is too large is alone in its batch.
      if (batch.length === 1 && error instanceof Error && !isUnavailable) return [error];
      if (isUnavailable && batch.length > MIN_WRITE_BATCH_SIZE) {
        this.writesAtOnce = Math.max(MIN_WRITE_BATCH_SIZE, Math.floor(batch.length / 2));
      }
      throw error;
    }
  }

  /**
   * Performs writes to different ids. Returns the unique index that refused one, if any.
   * @param attempt number of the attempt, from 1
   */
  private async writeUnordered(batch: readonly BulkWrite<T>[], attempt: number): Promise<string | undefined> {
    const models = batch.map(({ model }) => model);
    const refused = await this.access.runIdempotentOperation((documents) =>
      documents.bulkWrite(models, { ordered: false }).then(() => [], listRefusedWrites),
    );
    let refusedBy = refused.find(({ index }) => index !== undefined && index !== ID_INDEX_NAME)?.index;
    const writesOf = (violated: string | undefined) =>
      refused.flatMap(({ at, index }) => (index === violated ? (batch[at] ?? []) : []));
    const conflicting = writesOf(ID_INDEX_NAME).filter(({ write }) => write.kind === 'upsert');
    // The write is retried for the same reason as in `MongoCollection.upsert`.
    const again = conflicting.filter(({ guard }) => attempt < getMaxUpsertAttempts(guard));
    try {
      for (const { write } of writesOf(undefined)) {
        const index = await this.writeWithoutBulk(write);
        refusedBy ??= index;
      }
      const later = again.length === 0 ? undefined : await this.writeUnordered(again, attempt + 1);
      refusedBy ??= later;
    } catch (error) {
      throw convertToUnknownOutcomeError(error);
    }
    if (conflicting.some(({ guard }) => guard === undefined && attempt === UPSERT_ATTEMPTS))
      throw createWriteContentionError();
    return refusedBy;
  }

  /**
   * Repeats a write that an index refused in a bulk, because the error of a single write has the key pattern of the
   * index.
   * @returns the unique index that refused the write, if any
   */
  private async writeWithoutBulk(write: CollectionWrite<T>): Promise<string | undefined> {
    try {
      if (write.kind === 'insert') await this.single.insert(write.document);
      if (write.kind === 'upsert') await this.single.upsert(write.document, write.guard);
      return undefined;
    } catch (error) {
      if (error instanceof DuplicateKeyError) return error.index;
      throw error;
    }
  }
}

/** Returns the number of attempts of an upsert. */
export function getMaxUpsertAttempts(guard: Filter | undefined): number {
  return guard === undefined ? UPSERT_ATTEMPTS : GUARDED_UPSERT_ATTEMPTS;
}

/** Creates the error of a write that lost against other writes in every attempt. */
export function createWriteContentionError(): UnavailableError {
  return new UnavailableError(ENGINE_NAME, 'other writes change the document all the time');
}
