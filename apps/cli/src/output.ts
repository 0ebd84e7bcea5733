/** A column of a table: its heading, and what stands in it. */
export type Column<T> = readonly [heading: string, cell: (row: T) => string | number | boolean | null];

/** Where results go; messages and errors go elsewhere. */
export interface Output {
  /** @param done told when the text is taken, or why it never will be */
  write(text: string, done?: (error?: Error | null) => void): unknown;
}

/** Prints what a command found: as JSON in the API's form, or for people. */
export class Printer {
  constructor(
    private readonly out: Output,
    private readonly asJson: boolean,
  ) {}

  /** @param none what is said of an empty list */
  list<T>(rows: readonly T[], columns: readonly Column<T>[], none = 'none'): void {
    if (this.asJson) this.json({ data: rows });
    else this.out.write(rows.length === 0 ? `${printable(none)}\n` : table(rows, columns));
  }

  /** A line for people, below what was printed. */
  hint(text: string): void {
    if (!this.asJson) this.out.write(`${printable(text)}\n`);
  }

  one<T>(result: T, text: (result: T) => string): void {
    if (this.asJson) this.json(result);
    else this.out.write(`${printable(text(result))}\n`);
  }

  private json(value: unknown): void {
    this.out.write(`${JSON.stringify(value, null, 2)}\n`);
  }
}

function table<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const lines = [
    columns.map(([heading]) => heading),
    ...rows.map((row) => columns.map(([, cell]) => printable(String(cell(row) ?? '-')))),
  ];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Nothing that is only shown may command the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

/** What an empty list says: where nothing was found. */
export function noneIn(workspaces: readonly string[]): string {
  return `none in ${workspaces.length === 1 ? 'workspace' : 'the workspaces'} ${workspaces.join(', ')}`;
}
