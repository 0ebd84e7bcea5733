import { Worker } from 'node:worker_threads';

/**
 * Starts a thread from a file in this folder: `.js` if built, `.ts` from source. From source, the thread's modules may
 * use only TypeScript syntax that Node strips, and import only types of other projects.
 */
export function startWorkerThread(name: string, workerData: object): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./${name}.${extension}`, import.meta.url), { workerData });
}

/** A value that node:sqlite binds. Bytes encode JSON types that SQL lacks, see `encodeSqlValue`. */
export type SqlValue = string | number | null | Uint8Array;

/** SQL text with the values of its `?`, in order. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export interface AppendOperation {
  readonly kind: 'append';
  readonly stream: string;
  /** Expected revision; -1 if the stream must not exist. */
  readonly expected: number;
  /** Cells of each event: id, type, data, metadata (the last two as JSON). */
  readonly cells: readonly string[];
}
export type AppendOutcome =
  | { readonly kind: 'appended'; readonly revision: number; readonly position: number; readonly repeated: boolean }
  | { readonly kind: 'conflict'; readonly actual: number };

/** Write of one document to its table. */
export interface DocumentWrite {
  readonly mode: 'insert' | 'replace' | 'upsert' | 'delete';
  readonly id: string;
  /** JSON of the document; empty for a deletion, like `columns` and `arrays`. */
  readonly json: string;
  /** Values of the layout's columns, in order. */
  readonly columns: readonly SqlValue[];
  /** JSON of the layout's array fields, in order; null without an array. */
  readonly arrays: readonly (string | null)[];
  readonly guard: SqlStatement | null;
}
export interface DocumentWriteOperation {
  readonly kind: 'write';
  readonly collection: string;
  readonly writes: readonly DocumentWrite[];
}
export interface WrittenCountAndDuplicateIndex {
  readonly kind: 'wrote';
  /** Number of writes that took effect. */
  readonly count: number;
  /** Unique index that refused a write. */
  readonly duplicate: string | null;
}

export interface ClaimDocumentOperation {
  readonly kind: 'claim';
  readonly collection: string;
  /** Statement that selects the JSON of the document to claim. */
  readonly select: SqlStatement;
  /** JSON of the fields to set. */
  readonly set: string;
}
export interface SqliteDocumentClaimResult {
  readonly kind: 'claimed';
  /** The document after the claim; null if none matched or `duplicate` is set. */
  readonly json: string | null;
  readonly duplicate: string | null;
}

interface DefineCollectionOperation {
  readonly kind: 'define';
  /** JSON of `name` and `indexes` of the `CollectionSpec`. */
  readonly spec: string;
}
/** Deletes some documents of a collection, and drops it when it is empty. */
interface DropSqliteCollectionOperation {
  readonly kind: 'drop';
  readonly collection: string;
}

export interface CollectionDroppedOutcome {
  readonly kind: 'dropped';
  /** True if the collection still has documents. */
  readonly more: boolean;
}

interface PublishOperation {
  readonly kind: 'publish';
  readonly topic: string;
  /** Time in epoch milliseconds. */
  readonly at: number;
  /** Position of the first message, which exceeds the positions of all earlier messages. */
  readonly first: number;
  /** Cells of each message: partition, key, value, headers (as JSON). */
  readonly cells: readonly (string | number)[];
}
interface DefineTopicsOperation {
  readonly kind: 'topics';
  readonly topics: readonly { readonly name: string; readonly partitions: number; readonly retentionMs: number }[];
}
interface CommitOffsetOperation {
  readonly kind: 'commit';
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  /** Position of the last handled message. */
  readonly position: number;
}
interface TrimEmbeddedBrokerTopicOperation {
  readonly kind: 'trim';
  readonly topic: string;
  readonly partition: number;
  /** Time in epoch milliseconds. */
  readonly before: number;
}
export type MessagesOperation =
  PublishOperation | DefineTopicsOperation | CommitOffsetOperation | TrimEmbeddedBrokerTopicOperation;

export interface MessageTrimmingOutcome {
  readonly kind: 'trimmed';
  readonly deleted: number;
  /** True if more old messages may remain. */
  readonly more: boolean;
}
export interface DocumentWriteOutcome {
  readonly kind: 'done';
  readonly duplicate: string | null;
}
/** Outcome of an operation that failed and had no effect. The other operations of its batch were applied. */
export interface RefusedOperationOutcome {
  readonly kind: 'refused';
  readonly message: string;
}

export type StorageOperation =
  | AppendOperation
  | DocumentWriteOperation
  | ClaimDocumentOperation
  | DefineCollectionOperation
  | DropSqliteCollectionOperation
  | MessagesOperation;
interface OutcomeByStorageOperationKind {
  readonly append: AppendOutcome;
  readonly write: WrittenCountAndDuplicateIndex;
  readonly claim: SqliteDocumentClaimResult;
  readonly define: DocumentWriteOutcome;
  readonly drop: CollectionDroppedOutcome;
  readonly publish: DocumentWriteOutcome;
  readonly topics: DocumentWriteOutcome;
  readonly commit: DocumentWriteOutcome;
  readonly trim: MessageTrimmingOutcome;
}
export type OutcomeOf<O extends StorageOperation> = OutcomeByStorageOperationKind[O['kind']];
export type OperationOutcome = OutcomeByStorageOperationKind[StorageOperation['kind']] | RefusedOperationOutcome;

/**
 * Batch of operations that are committed in one transaction. A batch without operations checks that the files exist
 * and, if `durable`, that they are writable.
 */
export interface StorageOperationBatch {
  readonly operations: readonly StorageOperation[];
  /** True if the transaction must be on disk before the batch is answered. */
  readonly durable: boolean;
}
export type BatchAnswer =
  | {
      readonly kind: 'committed';
      readonly outcomes: readonly OperationOutcome[];
      readonly seconds: number;
      readonly synced: boolean;
    }
  /** `out_of_space`: it may be tried again later. `fatal`: nothing may. */
  | { readonly kind: 'failed' | 'out_of_space' | 'fatal'; readonly message: string };

/** First message that the writer thread sends. */
export type WriterStart =
  | { readonly kind: 'ready'; readonly head: number; readonly incarnation: number }
  | { readonly kind: 'newer_schema' | 'damaged' | 'failed'; readonly message: string };

export interface EventsReadRequest {
  readonly kind: 'events';
  /** Exclusive start position. */
  readonly after: number;
  readonly prefixes: readonly string[];
  readonly limit: number;
}
export interface SqliteEventsReadAnswer {
  /** JSON arrays of the matching events, with a numeric `at` instead of the position. */
  readonly json: readonly string[];
  /** Last visited position. */
  readonly position: number;
  /** Position of the last event in the store at the time of the read. */
  readonly head: number;
}
/** Request for the first column of all rows that a statement selects. The answer is one JSON array. */
export interface SqlRowsReadRequest {
  readonly kind: 'rows';
  readonly sql: SqlStatement;
  /** Maximum size of the result. The result ends before the row that exceeds the size, but has at least one row. */
  readonly maxBytes?: number | undefined;
}
export interface RowsAnswer {
  readonly json: string;
  readonly isCut: boolean;
}
/**
 * Statement that selects, for each row, the document's JSON (null if the document does not match) and then the sort
 * values. It stops at its own limit or at the limit of documents.
 */
export interface CollectionScanRequest {
  readonly kind: 'scan';
  readonly sql: SqlStatement;
  readonly visit: number;
  readonly limit: number;
  /**
   * Maximum size of the result. The result ends before the document that exceeds the size, but has at least one
   * document.
   */
  readonly maxBytes?: number | undefined;
}
export interface ReaderThreadScanAnswer {
  /** JSON array of the documents. */
  readonly json: string;
  /** Sort values of the last visited row; null if the scan reached the end of the range. */
  readonly next: readonly SqlValue[] | null;
  readonly isCut: boolean;
}
export interface ReadAnswerByKind {
  readonly events: SqliteEventsReadAnswer;
  readonly scan: ReaderThreadScanAnswer;
  readonly rows: RowsAnswer;
}
export type ReadRequest = EventsReadRequest | SqlRowsReadRequest | CollectionScanRequest;
