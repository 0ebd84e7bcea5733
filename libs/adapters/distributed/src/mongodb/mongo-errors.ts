import {
  MongoBulkWriteError,
  MongoError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  type WriteError,
} from 'mongodb';
import { EngineAccessRefusedError, UnavailableError, type IndexSpec } from '@tracking/ports';
import { ID_INDEX_NAME, parseIndexNameAndVersion, toMongoIndexKey } from './mongo-indexes.ts';
import { explainMongoDbRefusal, getSystemErrorCode } from './refusal-reasons.ts';

/** Name of the engine for operators. */
export const ENGINE_NAME = 'document store';

const BAD_VALUE_CODE = 2;
const NAMESPACE_NOT_FOUND = 26;
const MONGO_INDEX_NOT_FOUND_CODE = 27;
const NAMESPACE_EXISTS = 48;
const INDEX_OPTIONS_CONFLICT = 85;
const INDEX_KEY_SPECS_CONFLICT = 86;
const DUPLICATE_KEY = 11_000;
/**
 * Codes of requests that MongoDB permanently refuses: BadValue, FailedToParse, TypeMismatch, Overflow,
 * CannotIndexParallelArrays, BSONObjectTooLarge, and nesting or sizes that its parser refuses.
 */
const PERMANENT_MONGO_REFUSAL_CODES: ReadonlySet<unknown> = new Set([
  BAD_VALUE_CODE,
  9,
  14,
  15,
  171,
  10_334,
  17_280,
  17_419,
  17_420,
]);
/**
 * Codes of a server that stops or is no longer the primary: HostUnreachable, HostNotFound, NetworkTimeout,
 * ShutdownInProgress, PrimarySteppedDown, ExceededTimeLimit, SocketException, NotWritablePrimary, InterruptedAtShutdown,
 * InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary. A write may have been performed.
 */
const UNKNOWN_OUTCOME_CODES: ReadonlySet<unknown> = new Set([
  ...[6, 7, 89, 91, 189, 262, 9_001, 10_107, 11_600, 11_602, 13_435, 13_436],
]);
/**
 * Pattern of the names of errors for documents that the driver cannot encode. The code compares names, because the
 * JavaScript engine throws such errors too.
 */
const ENCODING_ERROR_NAME_PATTERN = /^(RangeError|BSON\w*Error)$/;
/** Pattern of the server's text, in the error BadValue, for a hint that names an index that does not exist. */
const UNKNOWN_INDEX_HINT_ERROR_PATTERN = /hint provided does not correspond to an existing index|\bbad hint\b/;
/**
 * Pattern of the server's text for a duplicate key:
 * `E11000 duplicate key error collection: tracking.keys index: by_hash dup key: { hash: "…" }`. Between the name and the
 * key, the text describes the collation if the index has one: `collation: { locale: "en", … }`.
 */
const DUPLICATE_KEY_PATTERN =
  /\bE11000 duplicate key error collection: \S+ index: (\S+) (?:collation: \{[^}]*\} )?dup key: /;

/** A write of a bulk that a unique index refused. */
interface RefusedWrite {
  /** Position of the write in the bulk. */
  readonly at: number;
  /** Name of the index; undefined if the server's text does not name it. The driver omits all other details. */
  readonly index: string | undefined;
}

function hasMongoErrorCode(error: unknown, ...codes: readonly number[]): error is MongoServerError {
  return error instanceof MongoServerError && codes.includes(Number(error.code));
}

export const isNoSuchCollection = (error: unknown) => hasMongoErrorCode(error, NAMESPACE_NOT_FOUND);
export const isNoSuchIndex = (error: unknown) =>
  hasMongoErrorCode(error, MONGO_INDEX_NOT_FOUND_CODE, NAMESPACE_NOT_FOUND);
export const isCollectionExistsError = (error: unknown) => hasMongoErrorCode(error, NAMESPACE_EXISTS);
export const isIndexConflict = (error: unknown) =>
  hasMongoErrorCode(error, INDEX_OPTIONS_CONFLICT, INDEX_KEY_SPECS_CONFLICT);
/** Returns true if a query named an index that does not exist. */
export const isMissingIndexHintError = (error: unknown) =>
  hasMongoErrorCode(error, BAD_VALUE_CODE) && UNKNOWN_INDEX_HINT_ERROR_PATTERN.test(error.message);

/**
 * Returns the name of the unique index that refused the write; undefined for other errors.
 * @param indexes indexes of the collection besides the index of `_id`
 * @throws Error if neither the key pattern nor the text of the error identifies the index
 */
export function parseViolatedIndex(error: unknown, indexes: readonly IndexSpec[] = []): string | undefined {
  if (!hasMongoErrorCode(error, DUPLICATE_KEY)) return undefined;
  const index = findNameOfUniqueIndex(error['keyPattern'], indexes) ?? readViolatedIndex(error.message);
  if (index === undefined) throw new Error(`${ENGINE_NAME}: refused (duplicate key of an unknown index)`);
  return index;
}

/**
 * Returns the writes of an unordered bulk that unique indexes refused. All other writes were performed.
 * @throws the error if it has another cause
 */
export function listRefusedWrites(error: unknown): readonly RefusedWrite[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const refused: readonly WriteError[] = [error.writeErrors].flat();
  // Refusals can hide a failed write concern, in which case the writes may be rolled back.
  const complete = error.result.getWriteConcernError() === undefined && refused.length > 0;
  if (!complete || refused.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return refused.map(({ index: at, errmsg }) => ({ at, index: readViolatedIndex(errmsg ?? '') }));
}

function findNameOfUniqueIndex(keyPattern: unknown, indexes: readonly IndexSpec[]): string | undefined {
  if (typeof keyPattern !== 'object' || keyPattern === null) return undefined;
  const fields = Object.keys(keyPattern);
  if (fields.length === 1 && fields[0] === '_id') return ID_INDEX_NAME;
  const hasSameFields = (index: IndexSpec) => Object.keys(toMongoIndexKey(index)).join() === fields.join();
  return indexes.find((index) => index.unique === true && hasSameFields(index))?.name;
}

function readViolatedIndex(message: string): string | undefined {
  const [, serverName] = DUPLICATE_KEY_PATTERN.exec(message) ?? [];
  return serverName === undefined ? undefined : parseIndexNameAndVersion(serverName).name;
}

/** Returns true if the server did not answer, or answered that it can no longer acknowledge operations. */
export function isUnknownOutcome(error: unknown): boolean {
  if (error instanceof MongoNetworkError || isSocketError(error)) return true;
  if (!(error instanceof MongoServerError)) return false;
  const concern = error instanceof MongoBulkWriteError ? error.result.getWriteConcernError()?.code : undefined;
  return !isErrorFromServer(error) || UNKNOWN_OUTCOME_CODES.has(error.code) || UNKNOWN_OUTCOME_CODES.has(concern);
}

/** Returns true if the server reported the error. The driver also uses the error of a bulk for broken connections. */
export function isErrorFromServer(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError)) return error instanceof MongoServerError;
  const isReported = [error.writeErrors].flat().length > 0 || error.result.getWriteConcernError() !== undefined;
  return isReported || typeof error.code === 'number';
}

/** The driver passes on some errors of Node.js, such as ECONNRESET during a long write. */
function isSocketError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/**
 * Maps errors of the driver to errors of the port. The new error contains neither the text nor the original error,
 * because these contain addresses, user names and parts of documents.
 */
export function convertMongoError(error: unknown): unknown {
  const refusalReason = explainMongoDbRefusal(error);
  if (refusalReason !== undefined) return new EngineAccessRefusedError(ENGINE_NAME, refusalReason);
  const { name } = error as { readonly name: string };
  if (ENCODING_ERROR_NAME_PATTERN.test(name)) return new Error(`${ENGINE_NAME}: refused (${name})`);
  if (isSocketError(error)) return new UnavailableError(ENGINE_NAME, 'the connection to the server broke');
  if (!(error instanceof MongoError)) return error;
  const codeName: unknown = error instanceof MongoServerError ? error.codeName : getSystemErrorCode(error);
  const what = typeof codeName === 'string' ? `${name}, ${codeName}` : name;
  if (isMissingIndexHintError(error)) return new UnavailableError(ENGINE_NAME, 'an index is missing; run the set-up');
  const refused = error instanceof MongoInvalidArgumentError || PERMANENT_MONGO_REFUSAL_CODES.has(error.code);
  if (refused) return new Error(`${ENGINE_NAME}: refused (${what})`);
  return new UnavailableError(ENGINE_NAME, `the server does not respond (${what})`);
}
