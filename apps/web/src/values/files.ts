/** Pattern of cells that a spreadsheet would evaluate as formulas. */
const FORMULA_PATTERN = /^[=+\-@＝＋－＠\t\r\n]/;
/**
 * Pattern of semicolons and line breaks before a formula. A spreadsheet that separates cells by semicolons would evaluate
 * it.
 */
const INNER_FORMULA_PATTERN = /([;\r\n])(?=[ "]*[=+\-@＝＋－＠\t])/g;
const ESCAPED_FORMULA_PATTERN = /^'(?=[=+\-@＝＋－＠\t\r\n])/;
const ESCAPED_INNER_FORMULA_PATTERN = /([;\r\n])'(?=[ "]*[=+\-@＝＋－＠\t])/g;

/** Byte order mark at the start of a file. It makes spreadsheets read the file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Creates a function that converts rows to CSV text, part by part. The first part starts with the byte order mark. A
 * cell that looks like a formula starts with an apostrophe. In a cell, a formula after a semicolon or a line break does
 * too.
 */
export async function createCsvWriter(): Promise<(rows: readonly (readonly string[])[]) => string> {
  const { unparse } = (await import('papaparse')).default;
  let isFirst = true;
  return (rows) => {
    const begin = isFirst ? BYTE_ORDER_MARK : '';
    isFirst = false;
    const escaped = rows.map((row) => row.map((cell) => cell.replaceAll(INNER_FORMULA_PATTERN, "$1'")));
    return `${begin}${unparse(escaped, { escapeFormulae: FORMULA_PATTERN, newline: '\r\n' })}\r\n`;
  };
}

/** Returns a complete CSV file as text. */
export async function createCsvText(headers: readonly string[], rows: readonly (readonly string[])[]): Promise<string> {
  const write = await createCsvWriter();
  return write([headers, ...rows]);
}

/** Removes the apostrophes that `createCsvWriter` adds in front of formulas. */
export function unescapeCell(cell: string): string {
  return cell.replace(ESCAPED_FORMULA_PATTERN, '').replaceAll(ESCAPED_INNER_FORMULA_PATTERN, '$1');
}

const SIZE_UNITS = ['bytes', 'kB', 'MB', 'GB'] as const;

/** Formats a file size, such as "1.4 MB". */
export function formatFileSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), SIZE_UNITS.length - 1);
  const format = new Intl.NumberFormat(undefined, { maximumSignificantDigits: power === 0 ? 21 : 3 });
  return `${format.format(bytes / 1_000 ** power)} ${SIZE_UNITS[power] ?? ''}`;
}

/** Downloads a file with its name. */
export function saveFileFromBrowser(file: File): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = file.name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Downloads a CSV text as a file with the given name. */
export function downloadCsvText(name: string, text: string): void {
  saveFileFromBrowser(new File([text], name, { type: 'text/csv;charset=utf-8' }));
}
