import { DuplicateKeyError, UnavailableError, type CollectionSpec, type Document } from '@tracking/ports';
import { monotonicMs, retry } from '@tracking/resilience';
import { BSON, type Collection, type CollectionOptions, type Filter, type FindCursor } from 'mongodb';
import type { MongoConnection } from './mongo-connection.ts';
import { ENGINE_NAME, parseViolatedIndex, isUnknownOutcome } from './mongo-errors.ts';
import { type MongoDocument, pickShardKeyAndId, toStoredDocument } from './mongo-filter.ts';
import { ID_INDEX_NAME } from './mongo-indexes.ts';

/** Result of a write that was refused because the id exists. */
export const DOCUMENT_ID_CONFLICT_RESULT = Symbol('id conflict');
/** Pauses in milliseconds between attempts. The driver itself waits until it knows a primary. */
const RETRY_PAUSES_MS = { firstPauseMs: 25, maxPauseMs: 250 };

/**
 * Runs operations on one collection of MongoDB. Operations without an answer are repeated until their deadline if that
 * is safe, because an election breaks connections, and `retryWrites=false` leaves repetitions to the adapter.
 */
export class CollectionOperationRunner {
  /** Always the same object, so that sessions use their collection of the driver again. */
  private readonly options: CollectionOptions;

  /**
   * Derived data is acknowledged from memory, in order with all other writes; all other data is read from the majority.
   * `ordered` writes are journaled, because later writes to Kafka or EventStoreDB do not wait for this journal.
   */
  constructor(
    private readonly spec: CollectionSpec,
    private readonly connection: MongoConnection,
  ) {
    const isDerived = spec.durability === 'derived';
    this.options = {
      writeConcern: { w: 'majority', journal: !isDerived, wtimeoutMS: connection.deadlineMs },
      readConcern: { level: isDerived ? 'local' : 'majority' },
    };
  }

  /** Runs an operation once. */
  runOnCollection<R>(operation: (documents: Collection<MongoDocument>) => Promise<R>): Promise<R> {
    return this.connection.runOnDatabase((database) =>
      operation(database.collection<MongoDocument>(this.spec.name, this.options)),
    );
  }

  /** Runs an idempotent operation. */
  runIdempotentOperation<R>(operation: (documents: Collection<MongoDocument>) => Promise<R>): Promise<R> {
    return this.runOnCollection((documents) => this.repeatUntilAnswered(() => operation(documents)));
  }

  /**
   * Writes a document, and writes it again while the outcome is unknown. If a repeated write is refused, an earlier
   * attempt may be the cause, so the stored document decides.
   * @param write performs the write; resolves with false if the stored document does not match the guard
   * @returns true if the document was written
   * @throws DuplicateKeyError; UnavailableError if the stored document does not show who wrote it
   */
  writeDocument(
    document: Document,
    write: (documents: Collection<MongoDocument>, stored: MongoDocument) => Promise<boolean>,
  ): Promise<boolean> {
    const stored = toStoredDocument(document);
    return this.runOnCollection((documents) =>
      this.retryWriteUntilDone(
        async () => (await this.ignoreIdConflict(write(documents, stored))) === true,
        async () => hasSameDocumentContent(await documents.findOne(pickShardKeyAndId(this.spec, stored)), stored),
      ),
    );
  }

  /**
   * Deletes the document that matches the filter, and repeats this while the outcome is unknown.
   * @throws UnavailableError if a repeated attempt finds no document
   */
  deleteDocument(filter: Filter<MongoDocument>): Promise<boolean> {
    return this.runOnCollection((documents) =>
      this.retryWriteUntilDone(
        async () => (await documents.deleteOne(filter)).deletedCount === 1,
        () => Promise.resolve(false),
      ),
    );
  }

  /** @throws DuplicateKeyError if another unique index than that of the id refused the write */
  ignoreIdConflict<R>(written: Promise<R>): Promise<R | typeof DOCUMENT_ID_CONFLICT_RESULT> {
    return written.catch((error: unknown) => {
      const index = parseViolatedIndex(error, this.spec.indexes);
      if (index === undefined) throw error;
      if (index === ID_INDEX_NAME) return DOCUMENT_ID_CONFLICT_RESULT;
      throw new DuplicateKeyError(this.spec.name, index);
    });
  }

  private retryWriteUntilDone(write: () => Promise<boolean>, isDone: () => Promise<boolean>): Promise<boolean> {
    return this.repeatUntilAnswered(async (earlierAttempts) => {
      if (await write()) return true;
      if (earlierAttempts === 0) return false;
      if (await isDone()) return true;
      throw new UnavailableError(ENGINE_NAME, 'the outcome of an earlier attempt is unknown');
    });
  }

  private repeatUntilAnswered<R>(attempt: (earlierAttempts: number) => Promise<R>): Promise<R> {
    const deadline = monotonicMs() + this.connection.deadlineMs;
    return retry(attempt, { ...RETRY_PAUSES_MS, deadline, isTransient: isUnknownOutcome });
  }
}

function hasSameDocumentContent(found: MongoDocument | null, written: MongoDocument): boolean {
  if (found === null) return false;
  return Buffer.compare(BSON.serialize(found), BSON.serialize(written, { ignoreUndefined: true })) === 0;
}

/** Returns the first documents of a cursor. The server sends batches of at most 16 MiB. */
export async function readDocumentsWithinBytes(cursor: FindCursor<MongoDocument>, maxBytes: number | undefined) {
  if (maxBytes === undefined) return { found: await cursor.toArray(), isCut: false };
  const found: MongoDocument[] = [];
  let bytes = 0;
  for await (const document of cursor) {
    bytes += BSON.calculateObjectSize(document);
    if (found.length > 0 && bytes > maxBytes) return { found, isCut: true };
    found.push(document);
  }
  return { found, isCut: false };
}
