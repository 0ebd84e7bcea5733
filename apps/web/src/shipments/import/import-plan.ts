import type { Checked } from './check-rows.ts';
import type { ImportRecord, SentItem, WrongRow } from './import-store.ts';
import type { Sheet } from './read-file.ts';

/** Shipments of one request: few enough that progress is seen and a broken one costs little. */
export const BATCH = 100;

export interface ImportPlan {
  readonly record: ImportRecord;
  readonly batches: readonly (readonly SentItem[])[];
}
type Whose = Pick<ImportRecord, 'id' | 'owner' | 'environment' | 'startedAt'>;

/** What is sent of a file, and what is known to be wrong with the rest. */
export function planImport(sheet: Sheet, { items, errors }: Checked, whose: Whose): ImportPlan {
  const cellsOf = (row: number) => sheet.rows[row - sheet.firstRow] ?? [];
  const sent = items.map((item) => ({ ...item, cells: item.rows.map(cellsOf) }));
  const batches = Array.from({ length: Math.ceil(sent.length / BATCH) }, (_, index) =>
    sent.slice(index * BATCH, (index + 1) * BATCH),
  );
  const wrong: readonly WrongRow[] = [...new Set(errors.map(({ row }) => row))].map((row) => ({
    row,
    cells: cellsOf(row),
  }));
  const record: ImportRecord = {
    ...whose,
    name: sheet.name,
    headers: sheet.headers,
    shipments: items.length,
    batches: batches.length,
    ...{ sent: 0, done: 0, created: 0, changed: 0, errors, wrong, warnings: [] },
  };
  return { record, batches };
}

/** The rows that were not imported, with what is wrong with them, to be mended and imported. */
export function wrongRows({ headers, errors, wrong }: ImportRecord): {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const said = new Map<number, string[]>();
  for (const { row, column, value, message } of errors) {
    const text = [column, value === '' ? '' : `“${value}”`, message].filter((part) => part !== '').join(' ');
    said.set(row, [...(said.get(row) ?? []), text]);
  }
  const sorted = wrong.toSorted((one, other) => one.row - other.row);
  // Rows may have more cells than there are columns: that is what is wrong with them.
  const columns = sorted.reduce((most, { cells }) => Math.max(most, cells.length), headers.length);
  const padded = (cells: readonly string[]) => Array.from({ length: columns }, (_, index) => cells[index] ?? '');
  return {
    headers: [...padded(headers), 'Row', 'Error'],
    rows: sorted.map(({ row, cells }) => [...padded(cells), String(row), (said.get(row) ?? []).join('; ')]),
  };
}
