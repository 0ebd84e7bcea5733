/** Pattern of cells that a spreadsheet would evaluate as formulas. */
const FORMULA_PATTERN = /^[=+\-@\t\r\n]/;
const ESCAPED_FORMULA_PATTERN = /^'(?=[=+\-@\t\r\n])/;

/** Byte order mark at the start of a file. It makes spreadsheets read the file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Creates a function that converts rows to CSV text, part by part. The first part starts with the byte order mark. A
 * cell that looks like a formula starts with an apostrophe.
 */
export async function createCsvWriter(): Promise<(rows: readonly (readonly string[])[]) => string> {
  const { unparse } = (await import('papaparse')).default;
  let isFirst = true;
  return (rows) => {
    const begin = isFirst ? BYTE_ORDER_MARK : '';
    isFirst = false;
    return `${begin}${unparse(rows as string[][], { escapeFormulae: FORMULA_PATTERN, newline: '\r\n' })}\r\n`;
  };
}

/** Returns a complete CSV file as text. */
export async function writeCsv(headers: readonly string[], rows: readonly (readonly string[])[]): Promise<string> {
  const write = await createCsvWriter();
  return write([headers, ...rows]);
}

/** Removes the apostrophe that `createCsvWriter` adds in front of a formula. */
export function unescapeCell(cell: string): string {
  return cell.replace(ESCAPED_FORMULA_PATTERN, '');
}

const SIZE_UNITS = ['bytes', 'kB', 'MB', 'GB'] as const;

/** Formats a file size, such as "1.4 MB". */
export function formatFileSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), SIZE_UNITS.length - 1);
  const format = new Intl.NumberFormat(undefined, { maximumSignificantDigits: power === 0 ? 21 : 3 });
  return `${format.format(bytes / 1_000 ** power)} ${SIZE_UNITS[power] ?? ''}`;
}

/** Downloads a blob as a file with the given name. */
export function downloadBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Downloads a CSV text as a file with the given name. */
export function downloadText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
