import type { Database } from './sqlite-database.ts';
import type { SqliteReaderPool } from './sqlite-reader-pool.ts';
import type { SqliteWriter } from './sqlite-writer.ts';

/** How the ports reach the one SQLite file of the process. */
export interface SqliteStorage {
  /** Every write, in a thread of its own. */
  readonly writer: SqliteWriter;
  /** Short reads, on the calling thread. */
  readonly database: Database;
  /** Lists and scans, in threads of their own. */
  readonly readers: SqliteReaderPool;
}
