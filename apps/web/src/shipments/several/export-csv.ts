import type { Shipment } from '@tracking/client';
import { csvWriter } from '../../values/files.ts';
import { CSV_HEADER, csvRow } from './shipment-csv.ts';

/**
 * Hands a file of these shipments to the reader, page by page as they come. What a spreadsheet would take for a formula is
 * written behind an apostrophe.
 */
export async function exportCsv(
  pages: AsyncIterable<readonly Shipment[]> | Iterable<readonly Shipment[]>,
  onProgress: (count: number) => void = () => undefined,
): Promise<void> {
  const write = await csvWriter();
  const parts = [write([CSV_HEADER])];
  let count = 0;
  for await (const page of pages) {
    if (page.length > 0) parts.push(write(page.map(csvRow)));
    count += page.length;
    onProgress(count);
  }
  download(
    new Blob(parts, { type: 'text/csv;charset=utf-8' }),
    `shipments-${new Date().toISOString().slice(0, 10)}.csv`,
  );
}

function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken it over by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
