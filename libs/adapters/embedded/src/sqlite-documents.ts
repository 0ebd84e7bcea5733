import type { CollectionSpec } from '@tracking/ports';
import {
  ARRAY_LAYOUT,
  arrayDefinition,
  arrayValues,
  columnValues,
  definition,
  layoutOf,
  quoted,
  removal,
  violatedIndex,
} from './collection-layout.ts';
import { DocumentTable } from './document-table.ts';
import type { Database } from './sqlite-database.ts';
import { isConstraint, messageOf } from './sqlite-errors.ts';
import type {
  ClaimOperation,
  ClaimOutcome,
  DocumentWrite,
  DoneOutcome,
  DroppedOutcome,
  WriteOperation,
  WriteOutcome,
} from './storage-protocol.ts';

/** How long documents of a dropped collection are deleted in one transaction, which other writes wait for. */
const DROP_PIECE_MS = 5;
/** Documents may be large: few, so that a piece is not much longer. */
const DELETED_AT_ONCE = 20;

/** Everything that changes documents and collections, in the writer's thread. */
export class SqliteDocuments {
  private readonly database: Database;
  private readonly tables = new Map<string, DocumentTable>();

  constructor(database: Database) {
    this.database = database;
    this.reload();
  }

  /** After a rollback, which may have undone a collection. */
  reload(): void {
    this.tables.clear();
    for (const [name, spec] of this.database.rows('SELECT name, spec FROM collections')) {
      this.tables.set(String(name), this.table(String(spec)));
    }
  }

  /** Makes the collection; makes it anew around its documents when its indexes are others than they were. */
  define(spec: string): DoneOutcome {
    const table = this.table(spec);
    const { name } = table.layout.spec;
    const stored = this.database.value('SELECT spec FROM collections WHERE name = ?', [name]);
    const difference = stored === undefined ? 'all' : differenceOf(String(stored), table);
    if (difference === 'none') return { kind: 'done', duplicate: null };
    const duplicate = this.whole(table, () =>
      difference === 'arrays' ? this.buildArrays(table, spec) : this.build(table, spec),
    );
    if (duplicate === null) this.tables.set(name, table);
    return { kind: 'done', duplicate };
  }

  /** Deletes documents for a while, and drops the collection once it is empty: to drop a full one takes as long as it is large. */
  drop(name: string): DroppedOutcome {
    const table = this.tables.get(name);
    if (table === undefined) return { kind: 'dropped', more: false };
    const stored = this.database.value('SELECT spec FROM collections WHERE name = ?', [name]);
    // Tables of arrays that an earlier version laid out, and this one never opened, can only go as a whole.
    const isKnown = differenceOf(String(stored), table) === 'none';
    const end = performance.now() + DROP_PIECE_MS;
    while (isKnown && table.deleteSome(DELETED_AT_ONCE)) {
      if (performance.now() >= end) return { kind: 'dropped', more: true };
    }
    this.remove(table);
    return { kind: 'dropped', more: false };
  }

  private remove({ layout }: DocumentTable): void {
    for (const statement of removal(layout)) this.database.run(statement);
    this.database.run('DELETE FROM collections WHERE name = ?', [layout.spec.name]);
    this.tables.delete(layout.spec.name);
  }

  write({ collection, writes }: WriteOperation): WriteOutcome {
    const table = this.existing(collection);
    let count = 0;
    let duplicate: string | null = null;
    for (const write of writes) {
      const refused = this.wholeWrite(table, () => {
        if (table.write(write)) count += 1;
      });
      duplicate ??= refused;
    }
    return { kind: 'wrote', count, duplicate };
  }

  claim({ collection, select, set }: ClaimOperation): ClaimOutcome {
    const table = this.existing(collection);
    const found = this.database.value(select.text, select.values);
    if (found === undefined) return { kind: 'claimed', json: null, duplicate: null };
    const document = { ...(JSON.parse(String(found)) as { id: string }), ...(JSON.parse(set) as object) };
    const write = documentWrite(table, 'replace', document);
    const duplicate = this.wholeWrite(table, () => table.write(write));
    return { kind: 'claimed', json: duplicate === null ? write.json : null, duplicate };
  }

  private build(table: DocumentTable, spec: string): void {
    const { name } = table.layout.spec;
    const before = this.tables.get(name);
    if (before !== undefined) {
      this.database.run(`CREATE TEMP TABLE moved AS SELECT json FROM ${quoted(before.layout.table)}`);
      this.remove(before);
    }
    for (const statement of definition(table.layout)) this.database.run(statement);
    this.database.run('INSERT INTO collections (name, spec) VALUES (?, ?)', [name, spec]);
    if (before === undefined) return;
    for (const [json] of this.database.each('SELECT json FROM moved')) {
      table.write(documentWrite(table, 'insert', JSON.parse(String(json)) as { id: string }));
    }
    this.database.run('DROP TABLE moved');
  }

  /** The tables of arrays are others than they were for the same indexes; the documents stay where they are. */
  private buildArrays(table: DocumentTable, spec: string): void {
    const { arrays, spec: own } = table.layout;
    for (const array of arrays) {
      this.database.run(`DROP TABLE ${quoted(array.table)}`);
      this.database.run(arrayDefinition(array));
    }
    table.index();
    this.database.run('UPDATE collections SET spec = ? WHERE name = ?', [spec, own.name]);
  }

  /** Where one statement is all that can be refused, it undoes itself. */
  private wholeWrite(table: DocumentTable, work: () => unknown): string | null {
    return table.mayLeaveHalf ? this.whole(table, work) : this.refusal(table, work);
  }

  private refusal({ layout }: DocumentTable, work: () => unknown): string | null {
    try {
      work();
      return null;
    } catch (error) {
      if (!isConstraint(error)) throw error;
      return violatedIndex(layout, messageOf(error));
    }
  }

  /** Does it whole or not at all. Answers the unique index that refused it. */
  private whole(table: DocumentTable, work: () => unknown): string | null {
    this.database.run('SAVEPOINT whole');
    try {
      const refused = this.refusal(table, work);
      if (refused !== null) this.database.run('ROLLBACK TO whole');
      return refused;
    } finally {
      if (this.database.inTransaction) this.database.run('RELEASE whole');
    }
  }

  private table(spec: string): DocumentTable {
    return new DocumentTable(this.database, layoutOf(JSON.parse(spec) as CollectionSpec));
  }

  private existing(collection: string): DocumentTable {
    const table = this.tables.get(collection);
    if (table === undefined) throw new Error(`there is no collection ${collection}: it was dropped`);
    return table;
  }
}

/** Other parts of a stored specification, as earlier versions wrote them, say nothing about its tables. */
function differenceOf(stored: string, { layout }: DocumentTable): 'all' | 'arrays' | 'none' {
  const { indexes, layout: arrayLayout } = JSON.parse(stored) as CollectionSpec & { readonly layout?: number };
  if (JSON.stringify(indexes) !== JSON.stringify(layout.spec.indexes)) return 'all';
  return layout.arrays.length === 0 || arrayLayout === ARRAY_LAYOUT ? 'none' : 'arrays';
}

function documentWrite({ layout }: DocumentTable, mode: 'insert' | 'replace', document: { id: string }): DocumentWrite {
  const { id } = document;
  const columns = columnValues(layout, { ...document });
  return {
    mode,
    id,
    json: JSON.stringify(document),
    columns,
    arrays: arrayValues(layout, { ...document }),
    guard: null,
  };
}
