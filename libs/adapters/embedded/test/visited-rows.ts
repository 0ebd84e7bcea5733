import { DatabaseSync } from 'node:sqlite';
import type { CollectionSpec, CountOptions, Document, Filter, Query, IndexScanQuery } from '@tracking/ports';
import {
  getIndexedArraysAsJson,
  getColumnOfIndexedField,
  getSqlValuesOfIndexedFields,
  createTableStatements,
  computeSqliteCollectionLayout,
  quoteName,
} from '../src/collection-layout.ts';
import { SqliteDocumentTable } from '../src/sqlite-documents.ts';
import { createCountSql, createFindSql, createScanSql } from '../src/query-sql.ts';
import { SqliteConnection } from '../src/sqlite-database.ts';
import type { SqlStatement } from '../src/storage-threads.ts';

export interface QueryVisitCounts {
  /**
   * Rows of the documents' table and its index tables that the engine visited, including visits of index entries only.
   */
  readonly rows: number;
  readonly answered: number;
}

/** Counts the rows that the engine visits for a query. */
export class QueryVisitedRowCounterForTest {
  private readonly layout;
  private readonly connection = new DatabaseSync(':memory:');
  private readonly documents: SqliteDocumentTable;
  private rows = 0;

  constructor(spec: CollectionSpec) {
    this.layout = computeSqliteCollectionLayout(spec);
    for (const statement of createTableStatements(this.layout)) this.connection.exec(statement);
    this.documents = new SqliteDocumentTable(new SqliteConnection(this.connection), this.layout);
    this.connection.function('visited', { varargs: true }, () => {
      this.rows += 1;
      return 1;
    });
  }

  /** The copy skips documents that a unique index refuses. */
  copyDocumentsForRowCounting(documents: Iterable<Document>): void {
    this.connection.exec('BEGIN');
    for (const document of documents) {
      const { id } = document;
      const fields = { ...document } as Readonly<Record<string, unknown>>;
      const [columns, arrays] = [
        getSqlValuesOfIndexedFields(this.layout, fields),
        getIndexedArraysAsJson(this.layout, fields),
      ];
      try {
        this.documents.writeDocumentIfGuardMatches({
          mode: 'insert',
          id,
          json: JSON.stringify(document),
          columns,
          arrays,
          guard: null,
        });
      } catch (error) {
        if (!/^UNIQUE constraint/.test((error as Error).message)) throw error;
      }
    }
    this.connection.exec('COMMIT');
  }

  countVisitedRows(query: Query): QueryVisitCounts {
    return this.countRowsVisitedByStatement(createFindSql(this.layout, query), (rows) => [...rows].length);
  }

  /** Counts documents, and the rows that the engine visits to count them. */
  measureVisitsOfCount(filter: Filter, options?: CountOptions): QueryVisitCounts {
    return this.countRowsVisitedByStatement(createCountSql(this.layout, filter, options), ([row]) =>
      Number(Object.values(row ?? {})[0]),
    );
  }

  /** Scans to the end of the range or until the requested number of documents is found. */
  countRowsVisitedByScan(query: IndexScanQuery): QueryVisitCounts {
    return this.countRowsVisitedByStatement(createScanSql(this.layout, query), (rows) => {
      let answered = 0;
      for (const row of rows) {
        if (Object.values(row)[0] !== null) answered += 1;
        if (answered >= query.limit) break;
      }
      return answered;
    });
  }

  /** Query plan in SQLite's words (https://sqlite.org/eqp.html). */
  explainPlan({ text, values }: SqlStatement): readonly string[] {
    return this.connection
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values)
      .map(({ detail }) => String(detail));
  }

  /** @throws if the engine's plan differs from that of the uncounted query */
  private countRowsVisitedByStatement(
    { text, values }: SqlStatement,
    ask: (rows: Iterable<object>) => number,
  ): QueryVisitCounts {
    // Normalizes names: a table behind a view has its own name, otherwise the alias of the statement; EXISTS appears as
    // a subquery or a join.
    const steps = (sql: SqlStatement) =>
      this.explainPlan(sql)
        .filter((detail) => !detail.startsWith('CORRELATED SCALAR SUBQUERY'))
        .map((detail) => detail.replace(/^(SEARCH|SCAN) \S+(?: EXISTS)?/, '$1'));
    const uncounted = steps({ text, values });
    // A view cannot have an index hint; it uses the index named in the statement.
    const [hint = ''] = / INDEXED BY "[^"]+"/.exec(text) ?? [];
    const asked = { text: text.replace(hint, ''), values };
    const { table: own, arrays } = this.layout;
    const sources = [
      { table: own, by: hint, of: 'rowid' },
      ...arrays.map(({ table, arrayField }) => ({ table, by: '', of: getColumnOfIndexedField(arrayField) })),
    ].map((source) => ({ ...source, table: quoteName(source.table) }));
    // The function is called for each row before other conditions, because SQLite merges such a view into the
    // statement.
    for (const { table, by, of } of sources) {
      this.connection.exec(`CREATE TEMP VIEW ${table} AS SELECT * FROM main.${table}${by} WHERE visited(${of})`);
    }
    try {
      const counted = steps(asked);
      if (String(counted) !== String(uncounted)) throw new Error(`counted: ${counted}\nuncounted: ${uncounted}`);
      this.rows = 0;
      const answered = ask(this.connection.prepare(asked.text).iterate(...values));
      return { rows: this.rows, answered };
    } finally {
      for (const { table } of sources) this.connection.exec(`DROP VIEW temp.${table}`);
    }
  }

  closeVisitCountingDatabase(): void {
    this.connection.close();
  }
}
