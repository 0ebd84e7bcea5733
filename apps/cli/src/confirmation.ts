import { createInterface } from 'node:readline';
import type { Output } from './output.ts';

export interface Person {
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
