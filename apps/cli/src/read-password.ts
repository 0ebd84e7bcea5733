import { createInterface } from 'node:readline';
import { type Readable, Writable, addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { UsageError } from './cli-error.ts';
import type { Output } from './output.ts';

export interface PasswordSource {
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
