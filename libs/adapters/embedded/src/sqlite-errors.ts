/** SQLite's result codes (https://sqlite.org/rescode.html). */
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CONSTRAINT = 19;
const SQLITE_NOTADB = 26;
/** Extended codes of SQLITE_IOERR for a write that did not happen: to the write-ahead log, or to its index (`-shm`). */
const SQLITE_IOERR_WRITE = 778;
const SQLITE_IOERR_SHMSIZE = 4_874;

/** SQLite's extended result code; undefined for other errors. */
function extendedCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' ? code : undefined;
}

/** SQLite's primary result code; undefined for other errors. */
function resultCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** A unique index refused the row. */
export function isConstraint(error: unknown): boolean {
  return resultCode(error) === SQLITE_CONSTRAINT;
}

/**
 * The disk is full, or a quota is used up. The transaction left nothing, and all before it is safe: once there is room
 * again, writing goes on.
 */
export function isOutOfSpace(error: unknown): boolean {
  const code = extendedCode(error);
  return code === SQLITE_FULL || code === SQLITE_IOERR_WRITE || code === SQLITE_IOERR_SHMSIZE;
}

/** What the file holds is not what SQLite wrote. */
export function isMalformed(error: unknown): boolean {
  return resultCode(error) === SQLITE_CORRUPT;
}

/** The file does not begin as one of SQLite's does. */
export function isNoDatabase(error: unknown): boolean {
  return resultCode(error) === SQLITE_NOTADB;
}

/**
 * The file can no longer be relied on. After a failed fsync the operating system may have forgotten what it could not
 * write, so that a later fsync succeeds without it: this process must not acknowledge anything any more.
 */
export function isFatal(error: unknown): boolean {
  return (resultCode(error) === SQLITE_IOERR && !isOutOfSpace(error)) || isMalformed(error) || isNoDatabase(error);
}

export function messageOf(error: unknown): string {
  const message = (error as { message?: unknown }).message?.toString() ?? String(error);
  return isOutOfSpace(error) ? `no room on the disk (${message})` : message;
}
