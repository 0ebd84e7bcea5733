export const COLUMN_NAMES = [
  'status',
  'mode',
  'origin',
  'destination',
  'eta',
  'exceptions',
  'last_milestone',
  'departure',
  'carrier',
  'vessel',
  'containers',
  'house_bill',
  'master_bill',
  'booking',
  'references',
  'shipper',
  'consignee',
  'documents',
  'created',
  'updated',
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

export const USUAL_COLUMNS: readonly ColumnName[] = [
  'status',
  'mode',
  'origin',
  'destination',
  'eta',
  'exceptions',
  'updated',
];

/** In their own order, whatever order they are said in; undefined where none is said that there is. */
export function readColumns(text: string | undefined): readonly ColumnName[] | undefined {
  const said = new Set(text?.split(','));
  const columns = COLUMN_NAMES.filter((name) => said.has(name));
  return columns.length === 0 ? undefined : columns;
}
