import { DatabaseSync } from 'node:sqlite';
import type { CollectionSpec, Document, Query } from '@tracking/ports';
import { arrayRows, columnValues, definition, layoutOf, quoted } from '../src/collection-layout.ts';
import { DocumentTable } from '../src/document-table.ts';
import { findSql } from '../src/filter-sql.ts';
import { Database } from '../src/sqlite-database.ts';

export interface Visit {
  /** Rows of the documents' table and of those beside it at which the engine looked, if only at their entry in an index. */
  readonly rows: number;
  readonly answered: number;
}

/** Counts the rows that the engine looks at for a query. */
export class VisitedRows {
  private readonly layout;
  private readonly connection = new DatabaseSync(':memory:');
  private readonly documents: DocumentTable;
  private rows = 0;

  constructor(spec: CollectionSpec) {
    this.layout = layoutOf(spec);
    for (const statement of definition(this.layout)) this.connection.exec(statement);
    this.documents = new DocumentTable(new Database(this.connection), this.layout);
    this.connection.function('visited', { varargs: true }, () => {
      this.rows += 1;
      return 1;
    });
  }

  /** Documents that a unique index refuses are left out. */
  store(documents: Iterable<Document>): void {
    this.connection.exec('BEGIN');
    for (const document of documents) {
      const { id } = document;
      const fields = { ...document } as Readonly<Record<string, unknown>>;
      const [columns, arrays] = [columnValues(this.layout, fields), arrayRows(this.layout, fields)];
      try {
        this.documents.write({ mode: 'insert', id, json: JSON.stringify(document), columns, arrays, guard: null });
      } catch (error) {
        if (!/^UNIQUE constraint/.test((error as Error).message)) throw error;
      }
    }
    this.connection.exec('COMMIT');
  }

  /** @throws when the engine would go another way than it does uncounted */
  visit(query: Query): Visit {
    const { text, values } = findSql(this.layout, query);
    const plan = () => {
      const steps = this.connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values);
      // A table that is looked at through a view is called by its own name, else by that of the statement.
      return steps.map(({ detail }) => String(detail).replace(/^(SEARCH|SCAN) \S+/, '$1'));
    };
    const uncounted = plan();
    const tables = [this.layout.table, ...this.layout.arrays.map(({ table }) => table)].map(quoted);
    // Called for each row, before the rest of the condition: SQLite folds such a view into the statement that asks it.
    for (const table of tables) {
      this.connection.exec(`CREATE TEMP VIEW ${table} AS SELECT * FROM main.${table} WHERE visited(rowid)`);
    }
    try {
      const counted = plan();
      if (String(counted) !== String(uncounted)) throw new Error(`counted: ${counted}\nuncounted: ${uncounted}`);
      this.rows = 0;
      const answered = this.connection.prepare(text).all(...values).length;
      return { rows: this.rows, answered };
    } finally {
      for (const table of tables) this.connection.exec(`DROP VIEW temp.${table}`);
    }
  }

  close(): void {
    this.connection.close();
  }
}
