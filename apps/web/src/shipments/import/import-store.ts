import type { Warning } from '@tracking/client';
import type { RowCheckResult, ShipmentToImport, ImportRowError } from './check-rows.ts';
import type { Target } from './columns.ts';
import type { ImportFileContent } from './read-file.ts';

/** A shipment to send, with the original cells of the rows from which it was built. */
export interface ShipmentImportItemWithCells extends ShipmentToImport {
  readonly cells: readonly (readonly string[])[];
}
/** A row of the file that could not be imported. */
interface InvalidRow {
  readonly row: number;
  readonly cells: readonly string[];
}
export interface ImportRowWarning extends Pick<Warning, 'code' | 'message'> {
  readonly row: number;
}

/**
 * Progress and result of an import. The record is stored until the user removes the import. Unsent shipments are stored
 * in separate batches.
 */
export interface ImportRecord {
  readonly id: string;
  /** User who started the import. Other users of this browser do not see the import. */
  readonly owner: string;
  readonly environment: 'live' | 'test';
  readonly name: string;
  readonly startedAt: string;
  readonly headers: readonly string[];
  /** Number of shipments in the import. */
  readonly shipments: number;
  readonly sent: number;
  /** Number of batches in the import. */
  readonly batches: number;
  readonly done: number;
  readonly created: number;
  readonly changed: number;
  readonly errors: readonly ImportRowError[];
  readonly wrong: readonly InvalidRow[];
  /** Warnings about imported rows. Only the first ones are stored. */
  readonly warnings: readonly ImportRowWarning[];
}

const IMPORT_DATABASE_NAME = 'shipment-imports';
/** Maximum number of columns whose mapping is stored. The oldest mappings are dropped. */
const MAX_STORED_COLUMN_MAPPINGS = 1_000;

/**
 * Stores imports in the IndexedDB of this browser. If a tab is closed during an import, the user can continue the
 * import later.
 */
export class ImportStore {
  private opened: Promise<IDBDatabase> | undefined;

  private openImportDatabase(): Promise<IDBDatabase> {
    this.opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(IMPORT_DATABASE_NAME, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore('imports', { keyPath: 'id' });
        request.result.createObjectStore('batches');
        request.result.createObjectStore('remembered');
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('This browser cannot store data.'));
    });
    return this.opened;
  }

  /** Applies several changes in one database transaction. */
  private async writeInTransaction(
    change: (store: (name: 'imports' | 'batches' | 'remembered') => IDBObjectStore) => void,
  ) {
    const database = await this.openImportDatabase();
    const transaction = database.transaction(['imports', 'batches', 'remembered'], 'readwrite', {
      durability: 'strict',
    });
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () =>
        reject(transaction.error ?? new Error('This browser has no storage space left for the import.'));
    });
    change((name) => transaction.objectStore(name));
    return ended;
  }

  private async readFromIndexedDb<T>(name: string, ask: (store: IDBObjectStore) => IDBRequest): Promise<T> {
    const request = ask((await this.openImportDatabase()).transaction(name).objectStore(name));
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result as T);
      request.onerror = () => reject(request.error ?? new Error('This browser cannot read the stored import.'));
    });
  }

  storeImportWithBatches(
    record: ImportRecord,
    batches: readonly (readonly ShipmentImportItemWithCells[])[],
  ): Promise<void> {
    return this.writeInTransaction((store) => {
      store('imports').add(record);
      batches.forEach((items, index) => store('batches').add(items, [record.id, index]));
    });
  }

  /** Lists the stored imports of a user, newest first. */
  async listImportsOfUser(owner: string, environment: string): Promise<readonly ImportRecord[]> {
    const all = await this.readFromIndexedDb<ImportRecord[]>('imports', (store) => store.getAll());
    return all
      .filter((record) => record.owner === owner && record.environment === environment)
      .sort((one, other) => other.startedAt.localeCompare(one.startedAt));
  }

  getImport(id: string): Promise<ImportRecord | undefined> {
    return this.readFromIndexedDb('imports', (store) => store.get(id));
  }

  readImportBatchItems(id: string, index: number): Promise<readonly ShipmentImportItemWithCells[] | undefined> {
    return this.readFromIndexedDb('batches', (store) => store.get([id, index]));
  }

  /**
   * Stores the progress of an import after a batch, and deletes the batch. If another tab has stored the batch or
   * removed the import, nothing is changed.
   * @returns the stored record; undefined if the import was removed
   */
  async storeImportProgress(record: ImportRecord, index: number): Promise<ImportRecord | undefined> {
    let kept: ImportRecord | undefined;
    await this.writeInTransaction((store) => {
      const request: IDBRequest<ImportRecord | undefined> = store('imports').get(record.id);
      request.onsuccess = () => {
        kept = request.result;
        if (kept?.done !== index) return;
        kept = record;
        store('imports').put(record);
        store('batches').delete([record.id, index]);
      };
    });
    return kept;
  }

  deleteSpreadsheetImportsFromBrowser(...records: readonly ImportRecord[]): Promise<void> {
    return this.writeInTransaction((store) => {
      for (const { id } of records) {
        store('imports').delete(id);
        store('batches').delete(IDBKeyRange.bound([id], [id, []]));
      }
    });
  }

  /** Removes the completed imports of a user. */
  async removeCompletedImports(owner: string): Promise<void> {
    const all = await this.readFromIndexedDb<ImportRecord[]>('imports', (store) => store.getAll());
    await this.deleteSpreadsheetImportsFromBrowser(
      ...all.filter((record) => record.owner === owner && record.done === record.batches),
    );
  }

  /** Returns the stored column mapping of a user, by normalised header. */
  async getColumnMapping(owner: string): Promise<Readonly<Record<string, Target | null>>> {
    const ask = (store: IDBObjectStore) => store.get(owner);
    return (await this.readFromIndexedDb<Record<string, Target | null> | undefined>('remembered', ask)) ?? {};
  }

  async storeColumnMapping(owner: string, columns: Readonly<Record<string, Target | null>>): Promise<void> {
    const all = Object.entries({ ...(await this.getColumnMapping(owner)), ...columns }).slice(
      -MAX_STORED_COLUMN_MAPPINGS,
    );
    return this.writeInTransaction((store) => void store('remembered').put(Object.fromEntries(all), owner));
  }
}

export const importStore = new ImportStore();

/** Number of shipments in one request. A small number shows progress more often and makes retries cheap. */
const SHIPMENTS_PER_BATCH = 100;

interface ImportRecordAndBatches {
  readonly record: ImportRecord;
  readonly batches: readonly (readonly ShipmentImportItemWithCells[])[];
}
type ImportOwner = Pick<ImportRecord, 'id' | 'owner' | 'environment' | 'startedAt'>;

/** Splits the shipments of a file into batches, and lists the invalid rows. */
export function splitImportIntoBatches(
  sheet: ImportFileContent,
  { items, errors }: RowCheckResult,
  owner: ImportOwner,
): ImportRecordAndBatches {
  const cellsOf = (row: number) => sheet.rows[row - sheet.firstRow] ?? [];
  const sent = items.map((item) => ({ ...item, cells: item.rows.map(cellsOf) }));
  const batches = Array.from({ length: Math.ceil(sent.length / SHIPMENTS_PER_BATCH) }, (_, index) =>
    sent.slice(index * SHIPMENTS_PER_BATCH, (index + 1) * SHIPMENTS_PER_BATCH),
  );
  const wrong: readonly InvalidRow[] = [...new Set(errors.map(({ row }) => row))].map((row) => ({
    row,
    cells: cellsOf(row),
  }));
  const record: ImportRecord = {
    ...owner,
    name: sheet.name,
    headers: sheet.headers,
    shipments: items.length,
    batches: batches.length,
    ...{ sent: 0, done: 0, created: 0, changed: 0, errors, wrong, warnings: [] },
  };
  return { record, batches };
}

/**
 * Builds a table of the rows that were not imported, with their error messages. The user can correct the rows and
 * import them again.
 */
export function buildInvalidRowsTable({ headers, errors, wrong }: ImportRecord): {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const errorTexts = new Map<number, string[]>();
  for (const { row, column, value, message } of errors) {
    const text = [column, value === '' ? '' : `“${value}”`, message].filter((part) => part !== '').join(' ');
    errorTexts.set(row, [...(errorTexts.get(row) ?? []), text]);
  }
  const sorted = wrong.toSorted((one, other) => one.row - other.row);
  // An invalid row may have more cells than the file has columns, so the longest row determines the width.
  const columns = sorted.reduce((most, { cells }) => Math.max(most, cells.length), headers.length);
  const padded = (cells: readonly string[]) => Array.from({ length: columns }, (_, index) => cells[index] ?? '');
  return {
    headers: [...padded(headers), 'Row', 'Error'],
    rows: sorted.map(({ row, cells }) => [...padded(cells), String(row), (errorTexts.get(row) ?? []).join('; ')]),
  };
}
