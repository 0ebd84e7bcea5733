import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { SqlValue } from './storage-protocol.ts';

/** SQLite's own default. */
export const PAGE_BYTES = 4_096;
const MOST_STATEMENTS = 500;

/**
 * A bound limit. SQLite looks at the value of a plain `LIMIT ?` when it plans, and so would plan again at each binding; at an
 * expression it does not look.
 */
export const LIMIT = 'LIMIT (? + 0)';

/**
 * A connection that cannot write. Sees everything committed before each of its statements. Its cache holds the upper levels
 * of trees; the rest is in the system's, from where a page comes as fast as it matters (ADR 0028).
 */
export function openForReading(file: string): Database {
  const database = new Database(new DatabaseSync(file, { readOnly: true, timeout: 5_000 }));
  database.run('PRAGMA cache_size = -4000');
  return database;
}

/** A connection with a cache of its prepared statements. */
export class Database {
  private readonly connection: DatabaseSync;
  /** By their text: they are few, but the lists in filters make new ones. */
  private readonly statements = new LRUCache<string, StatementSync>({ max: MOST_STATEMENTS });

  constructor(connection: DatabaseSync) {
    this.connection = connection;
  }

  get inTransaction(): boolean {
    return this.connection.isTransaction;
  }

  /** The prepared form of a statement; the text is its key, so values never stand in it. */
  prepare(text: string): StatementSync {
    let statement = this.statements.get(text);
    if (statement === undefined) {
      statement = this.connection.prepare(text);
      statement.setReturnArrays(true);
      this.statements.set(text, statement);
    }
    return statement;
  }

  /** How many rows it changed. */
  run(text: string, values: readonly SqlValue[] = []): number {
    return Number(this.prepare(text).run(...values).changes);
  }

  /** The first column of the first row; undefined without a row. */
  value(text: string, values: readonly SqlValue[] = []): SqlValue | undefined {
    return this.row(text, values)?.[0];
  }

  row(text: string, values: readonly SqlValue[] = []): readonly SqlValue[] | undefined {
    return this.prepare(text).get(...values) as readonly SqlValue[] | undefined;
  }

  rows(text: string, values: readonly SqlValue[] = []): readonly (readonly SqlValue[])[] {
    return this.prepare(text).all(...values) as unknown as readonly (readonly SqlValue[])[];
  }

  /** Rows one by one, where one may stop early. */
  each(text: string, values: readonly SqlValue[] = []): Iterable<readonly SqlValue[]> {
    return this.prepare(text).iterate(...values) as unknown as Iterable<readonly SqlValue[]>;
  }

  close(): void {
    this.statements.clear();
    if (this.connection.isOpen) this.connection.close();
  }
}
