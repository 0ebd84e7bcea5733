import { createInterface } from 'node:readline';
import { addAbortSignal, type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { CliError, RefusedError, UsageError } from './config.ts';

const FAILURE_EXIT_CODE = 1;
export const USAGE_EXIT_CODE = 2;

/** Column of a table: its heading, and a function that returns the text for a row. */
export type Column<T> = readonly [heading: string, cell: (row: T) => string | number | boolean | null];

/** Stream to which the command writes results, messages or errors. */
export interface TextOutputStream {
  /** @param done callback when the stream has accepted the text, or with the error if it cannot accept the text */
  write(text: string, done?: (error?: Error | null) => void): unknown;
}

/** Prints results as JSON in the API's format, or as text. */
export class Printer {
  constructor(
    private readonly out: TextOutputStream,
    private readonly asJson: boolean,
  ) {}

  /** Prints a list as a table, or as JSON. @param none text for an empty list */
  printList<T>(rows: readonly T[], columns: readonly Column<T>[], none = 'none'): void {
    if (this.asJson) this.printJson({ data: rows });
    else this.out.write(rows.length === 0 ? `${replaceControlCharacters(none)}\n` : formatTable(rows, columns));
  }

  /** Prints a table. Prints nothing under `--json`. */
  printTable<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    if (!this.asJson) this.out.write(formatTable(rows, columns));
  }

  /** Prints a line of text. Prints nothing under `--json`. */
  printTextUnlessJson(text: string): void {
    if (!this.asJson) this.out.write(`${replaceControlCharacters(text)}\n`);
  }

  printResult<T>(result: T, text: (result: T) => string): void {
    if (this.asJson) this.printJson(result);
    else this.out.write(`${replaceControlCharacters(text(result))}\n`);
  }

  private printJson(value: unknown): void {
    this.out.write(`${JSON.stringify(value, null, 2)}\n`);
  }
}

function formatTable<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const lines = [
    columns.map(([heading]) => heading),
    ...rows.map((row) => columns.map(([, cell]) => replaceControlCharacters(String(cell(row) ?? '-')))),
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

/** Replaces control characters, so that data cannot control the terminal. */
function replaceControlCharacters(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

/** Returns the text for an empty list, with the names of the searched workspaces. */
export function describeEmptyList(workspaces: readonly string[]): string {
  return `no items in ${workspaces.length === 1 ? 'workspace' : 'the workspaces'} ${workspaces.join(', ')}`;
}

interface PromptStreams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Stream for the questions. */
  readonly err: TextOutputStream;
  readonly signal: AbortSignal;
}

/**
 * Asks the user a question at the terminal; any answer except yes means no. Returns true if there is no terminal,
 * because scripts cannot answer.
 * @throws AbortError if `signal` aborts
 */
export async function askConfirmation({ input, err, signal }: PromptStreams, question: string): Promise<boolean> {
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

/**
 * Reads a password: the whole input of a pipe without its final newline, or at a terminal a line that is entered twice
 * and not shown.
 * @throws UsageError if there is no password; AbortError if the user interrupts
 */
export async function readPassword(prompt: PromptStreams): Promise<string> {
  const password = prompt.input.isTTY
    ? await askForPasswordTwice(prompt)
    : (await readTextFromPipe(prompt)).replace(/\r?\n$/, '');
  if (password === '') throw new UsageError('standard input contains no password');
  if (/[\r\n]/.test(password)) throw new UsageError('the password must be a single line of text');
  return password;
}

function readTextFromPipe({ input, signal }: PromptStreams): Promise<string> {
  return text(addAbortSignal(signal, input as Readable));
}

async function askForPasswordTwice({ input, err, signal }: PromptStreams): Promise<string> {
  // In terminal mode, readline echoes the input. The echo goes to an output that discards it.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input, output, terminal: true, historySize: 0, signal });
  let isInterrupted = false;
  terminal.on('SIGINT', () => {
    isInterrupted = true;
    terminal.close();
  });
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async (prompt: string): Promise<string> => {
    err.write(prompt);
    const line = await lines.next();
    err.write('\n');
    if (isInterrupted || signal.aborted)
      throw new DOMException('the command was interrupted by the user', 'AbortError');
    if (line.done === true) throw new UsageError('no password was entered');
    return line.value;
  };
  try {
    const password = await ask('Password: ');
    if (password === (await ask('Again: '))) return password;
    throw new UsageError('the two passwords differ; enter the same password twice');
  } finally {
    terminal.close();
  }
}

/** Prints messages and errors as lines of text. Under `--json`, prints only errors, in the API's format. */
export class TerminalMessagePrinter {
  readonly asJson: boolean;

  /** @param args command line before parsing, because parsing errors also need the requested format */
  constructor(
    private readonly err: TextOutputStream,
    args: readonly string[],
  ) {
    const end = args.indexOf('--');
    this.asJson = args.slice(0, end < 0 ? undefined : end).includes('--json');
  }

  printNote(line: string): void {
    if (!this.asJson) this.err.write(`${replaceControlCharacters(line)}\n`);
  }

  /** Prints the reason why the command failed. @returns the exit code */
  printFailure(error: unknown): number {
    const failure =
      error instanceof CliError ? error : new CliError(error instanceof Error ? error.message : String(error));
    if (this.asJson) this.err.write(`${JSON.stringify(failure.body, null, 2)}\n`);
    else this.err.write(`error: ${replaceControlCharacters(failure.message)}\n`);
    if (failure.exitCode !== undefined) return failure.exitCode;
    return failure instanceof UsageError || (failure instanceof RefusedError && failure.isInputError)
      ? USAGE_EXIT_CODE
      : FAILURE_EXIT_CODE;
  }
}
