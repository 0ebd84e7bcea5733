const UNITS = ['bytes', 'kB', 'MB', 'GB'] as const;

/** "1.4 MB" */
export function fileSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const format = new Intl.NumberFormat(undefined, { maximumSignificantDigits: power === 0 ? 21 : 3 });
  return `${format.format(bytes / 1_000 ** power)} ${UNITS[power] ?? ''}`;
}
