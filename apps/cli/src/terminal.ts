import { createInterface } from 'node:readline';
import { addAbortSignal, type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError, RefusedError, UsageError } from './config.ts';

const FAILED = 1;
const USAGE = 2;

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
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

/** The text of an empty list: names where nothing was found. */
export function noneIn(workspaces: readonly string[]): string {
  return `none in ${workspaces.length === 1 ? 'workspace' : 'the workspaces'} ${workspaces.join(', ')}`;
}

interface Person {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Where they are asked. */
  readonly err: Output;
  readonly signal: AbortSignal;
}

/**
 * Asks whoever is at the terminal, and takes anything but yes for no; a script is not asked, and means what it says.
 * @throws AbortError when the user gives up
 */
export async function confirmed({ input, err, signal }: Person, question: string): Promise<boolean> {
  if (input.isTTY !== true) return true;
  const lines = createInterface({ input, signal });
  try {
    err.write(`${question} [y/N] `);
    const { value } = await lines[Symbol.asyncIterator]().next();
    signal.throwIfAborted();
    return /^y(?:es)?$/i.test(String(value ?? '').trim());
  } finally {
    lines.close();
  }
}

interface PasswordSource {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Where a person is asked. */
  readonly err: Output;
  readonly signal: AbortSignal;
}

/**
 * A password: all that comes through a pipe, with or without a newline behind it; at a terminal a line, twice, that is
 * not shown.
 * @throws UsageError where there is none; AbortError when the user gives up
 */
export async function readPassword(source: PasswordSource): Promise<string> {
  const password = source.input.isTTY ? await askTwice(source) : (await piped(source)).replace(/\r?\n$/, '');
  if (password === '') throw new UsageError('no password on standard input');
  if (/[\r\n]/.test(password)) throw new UsageError('a password is one line');
  return password;
}

function piped({ input, signal }: PasswordSource): Promise<string> {
  return text(addAbortSignal(signal, input as Readable));
}

async function askTwice({ input, err, signal }: PasswordSource): Promise<string> {
  // Readline is in charge of the terminal here, and shows what is typed nowhere.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input, output, terminal: true, historySize: 0, signal });
  let isGivenUp = false;
  terminal.on('SIGINT', () => {
    isGivenUp = true;
    terminal.close();
  });
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async (prompt: string): Promise<string> => {
    err.write(prompt);
    const line = await lines.next();
    err.write('\n');
    if (isGivenUp || signal.aborted) throw new DOMException('given up', 'AbortError');
    if (line.done === true) throw new UsageError('no password given');
    return line.value;
  };
  try {
    const password = await ask('Password: ');
    if (password === (await ask('Again: '))) return password;
    throw new UsageError('the two passwords differ');
  } finally {
    terminal.close();
  }
}

/** Messages beside the results: lines for people, or only failures, in the API's error form. */
export class Report {
  readonly asJson: boolean;

  /** @param args the command line; asked before it is parsed, for what is told of how it was written */
  constructor(
    private readonly err: Output,
    args: readonly string[],
  ) {
    const end = args.indexOf('--');
    this.asJson = args.slice(0, end < 0 ? undefined : end).includes('--json');
  }

  note(line: string): void {
    if (!this.asJson) this.err.write(`${printable(line)}\n`);
  }

  /** Tells why the command failed. @returns its exit code: 2 where it was called wrongly, else 1 */
  failed(error: unknown): number {
    const told =
      error instanceof CliError ? error : new CliError(error instanceof Error ? error.message : String(error));
    if (this.asJson) this.err.write(`${JSON.stringify(told.body, null, 2)}\n`);
    else this.err.write(`error: ${printable(told.message)}\n`);
    return told instanceof UsageError || (told instanceof RefusedError && told.isAboutInput) ? USAGE : FAILED;
  }
}
