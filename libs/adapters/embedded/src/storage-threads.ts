import { Worker } from 'node:worker_threads';

/**
 * Starts a thread from a file beside this one: `.js` when built, `.ts` when run from source, where the thread's modules
 * use no more of TypeScript than Node strips, and import other projects for their types only.
 */
export function startThread(name: string, workerData: object): Worker {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./${name}.${extension}`, import.meta.url), { workerData });
}

/** A value that node:sqlite binds. Bytes stand for JSON values that SQL has no type for, see `encodeValue`. */
export type SqlValue = string | number | null | Uint8Array;

/** A piece of SQL and the values of its `?`, in order. */
export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export interface AppendOperation {
  readonly kind: 'append';
  readonly stream: string;
  /** -1: the stream does not exist. */
  readonly expected: number;
  /** For each event in turn: id, type, data, metadata (the last two as JSON). */
  readonly cells: readonly string[];
}
export type AppendOutcome =
  | { readonly kind: 'appended'; readonly revision: number; readonly position: number; readonly repeated: boolean }
  | { readonly kind: 'conflict'; readonly actual: number };

/** One document on its way into its table. */
export interface DocumentWrite {
  readonly mode: 'insert' | 'replace' | 'upsert' | 'delete';
  readonly id: string;
  /** Empty when deleting, as are `columns` and `arrays`. */
  readonly json: string;
  /** Values of the layout's columns, in its order. */
  readonly columns: readonly SqlValue[];
  /** JSON of the layout's array fields, in its order; null where the document has none. */
  readonly arrays: readonly (string | null)[];
  readonly guard: Sql | null;
}
export interface WriteOperation {
  readonly kind: 'write';
  readonly collection: string;
  readonly writes: readonly DocumentWrite[];
}
export interface WriteOutcome {
  readonly kind: 'wrote';
  /** How many of the writes took effect. */
  readonly count: number;
  /** The unique index that refused one of them. */
  readonly duplicate: string | null;
}

export interface ClaimOperation {
  readonly kind: 'claim';
  readonly collection: string;
  /** Selects the JSON of the document to claim. */
  readonly select: Sql;
  /** JSON of the fields to set. */
  readonly set: string;
}
export interface ClaimOutcome {
  readonly kind: 'claimed';
  /** The document after the claim; null when none matched or `duplicate` is set. */
  readonly json: string | null;
  readonly duplicate: string | null;
}

interface DefineOperation {
  readonly kind: 'define';
  /** JSON of `name` and `indexes` of the `CollectionSpec`. */
  readonly spec: string;
}
/** Deletes some documents of a collection; drops the collection once it is empty. */
interface DropOperation {
  readonly kind: 'drop';
  readonly collection: string;
}

export interface DroppedOutcome {
  readonly kind: 'dropped';
  /** True if documents are left. */
  readonly more: boolean;
}

interface PublishOperation {
  readonly kind: 'publish';
  readonly topic: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Position of the first message; greater than all before it. */
  readonly first: number;
  /** For each message in turn: partition, key, value, headers (as JSON). */
  readonly cells: readonly (string | number)[];
}
interface TopicsOperation {
  readonly kind: 'topics';
  readonly topics: readonly { readonly name: string; readonly partitions: number; readonly retentionMs: number }[];
}
interface CommitOperation {
  readonly kind: 'commit';
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  /** Position of the last message that was handled. */
  readonly position: number;
}
interface TrimOperation {
  readonly kind: 'trim';
  readonly topic: string;
  readonly partition: number;
  /** Epoch milliseconds. */
  readonly before: number;
}
export type MessagesOperation = PublishOperation | TopicsOperation | CommitOperation | TrimOperation;

export interface TrimmedOutcome {
  readonly kind: 'trimmed';
  readonly deleted: number;
  /** Whether more may be as old. */
  readonly more: boolean;
}
export interface DoneOutcome {
  readonly kind: 'done';
  readonly duplicate: string | null;
}
/** The operation itself was at fault and left no trace; the rest of its batch went through. */
export interface RefusedOutcome {
  readonly kind: 'refused';
  readonly message: string;
}

export type StorageOperation =
  AppendOperation | WriteOperation | ClaimOperation | DefineOperation | DropOperation | MessagesOperation;
interface OutcomeByKind {
  readonly append: AppendOutcome;
  readonly write: WriteOutcome;
  readonly claim: ClaimOutcome;
  readonly define: DoneOutcome;
  readonly drop: DroppedOutcome;
  readonly publish: DoneOutcome;
  readonly topics: DoneOutcome;
  readonly commit: DoneOutcome;
  readonly trim: TrimmedOutcome;
}
export type OutcomeOf<O extends StorageOperation> = OutcomeByKind[O['kind']];
export type OperationOutcome = OutcomeByKind[StorageOperation['kind']] | RefusedOutcome;

/**
 * One transaction. Without operations it asks whether the files are there and, when `durable`, whether they can be
 * written.
 */
export interface CommitBatch {
  readonly operations: readonly StorageOperation[];
  /** Whether it must be on disk before it is answered. */
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

/** The first message of the writer's thread. */
export type WriterStart =
  | { readonly kind: 'ready'; readonly head: number; readonly incarnation: number }
  | { readonly kind: 'newer_schema' | 'damaged' | 'failed'; readonly message: string };

export interface EventsRequest {
  readonly kind: 'events';
  /** Exclusive. */
  readonly after: number;
  readonly prefixes: readonly string[];
  readonly limit: number;
}
export interface EventsAnswer {
  /** JSON arrays of the matching events, each with a numeric `at` in place of its position. */
  readonly json: readonly string[];
  /** Everything up to here was looked at. */
  readonly position: number;
  /** The last position in the store at that moment. */
  readonly head: number;
}
/** The first column of every row, joined to a JSON array. */
export interface RowsRequest {
  readonly kind: 'rows';
  readonly sql: Sql;
  /** Ends before the row with which all are larger; not before the first one. */
  readonly maxBytes?: number | undefined;
}
export interface RowsAnswer {
  readonly json: string;
  readonly isCut: boolean;
}
/**
 * For each row, the JSON of the document, or null if it does not match, then the values of the sort. Ends at the limit of
 * the statement or of documents.
 */
export interface ScanRequest {
  readonly kind: 'scan';
  readonly sql: Sql;
  readonly visit: number;
  readonly limit: number;
  /** Ends before the document with which all are larger; not before the first one. */
  readonly maxBytes?: number | undefined;
}
export interface ScanAnswer {
  /** JSON array of the documents. */
  readonly json: string;
  /** Sort values of the last row that was visited; null at the end of the range. */
  readonly next: readonly SqlValue[] | null;
  readonly isCut: boolean;
}
export interface ReadAnswerByKind {
  readonly events: EventsAnswer;
  readonly scan: ScanAnswer;
  readonly rows: RowsAnswer;
}
export type ReadRequest = EventsRequest | RowsRequest | ScanRequest;
