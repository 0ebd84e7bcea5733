import { Unavailable } from '@tracking/ports';
import { MongoBulkWriteError, MongoError, MongoInvalidArgumentError, MongoServerError } from 'mongodb';

/** Which engine, as operators know it. */
export const ENGINE = 'document store';

/** The name that MongoDB gives the index of `_id`. */
export const ID_INDEX = '_id_';

const NAMESPACE_NOT_FOUND = 26;
const NAMESPACE_EXISTS = 48;
const INDEX_OPTIONS_CONFLICT = 85;
const INDEX_KEY_SPECS_CONFLICT = 86;
const DUPLICATE_KEY = 11_000;

/**
 * What MongoDB refuses for what was sent, and would refuse again: BadValue, FailedToParse, TypeMismatch, Overflow,
 * CannotIndexParallelArrays, BSONObjectTooLarge, and a nesting or size that its parser refuses.
 */
const REFUSED: ReadonlySet<unknown> = new Set([2, 9, 14, 15, 171, 10_334, 17_280, 17_419, 17_420]);

/** What the driver cannot write down: too large, or no JSON. By name, since the platform throws it too. */
const UNWRITABLE = /^(RangeError|BSON\w*Error)$/;

function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof MongoServerError && codes.includes(Number(error.code));
}

export const isNoSuchCollection = (error: unknown) => hasCode(error, NAMESPACE_NOT_FOUND);
export const isCollectionThere = (error: unknown) => hasCode(error, NAMESPACE_EXISTS);
export const isIndexConflict = (error: unknown) => hasCode(error, INDEX_OPTIONS_CONFLICT, INDEX_KEY_SPECS_CONFLICT);

/** The name of the unique index that refused the write; undefined where something else went wrong. */
export function violatedIndex(error: unknown): string | undefined {
  return hasCode(error, DUPLICATE_KEY) ? indexIn((error as MongoServerError).message) : undefined;
}

/**
 * The writes of an unordered bulk that unique indexes refused, all others having been done.
 * @throws the error where it says anything else
 */
export function refusedWrites(error: unknown): readonly { readonly at: number; readonly index: string }[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const refused = [error.writeErrors].flat();
  // A write concern that failed as well is hidden behind the refusals: what was written may then be taken back.
  const complete = error.result.getWriteConcernError() === undefined && refused.length > 0;
  if (!complete || refused.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return refused.map(({ index: at, errmsg }) => ({ at, index: indexIn(errmsg ?? '') }));
}

/** @param message `E11000 duplicate key error collection: tracking.keys index: by_hash dup key: { hash: "…" }` */
function indexIn(message: string): string {
  return / index: (\S+) dup key/.exec(message)?.[1] ?? ID_INDEX;
}

/**
 * The driver's errors as the port's. Nothing of their text is kept, nor they as a cause: it holds addresses, names of
 * users and parts of documents.
 */
export function portError(error: unknown): unknown {
  const { name } = error as { readonly name: string };
  if (UNWRITABLE.test(name)) return new Error(`${ENGINE}: refused (${name})`);
  if (!(error instanceof MongoError)) return error;
  const codeName: unknown = error instanceof MongoServerError ? error.codeName : undefined;
  const what = typeof codeName === 'string' ? `${name}, ${codeName}` : name;
  const refused = error instanceof MongoInvalidArgumentError || REFUSED.has(error.code);
  return refused ? new Error(`${ENGINE}: refused (${what})`) : new Unavailable(ENGINE, `does not answer (${what})`);
}
