import { Readable } from 'node:stream';
import { runCli } from '../src/program.ts';
import type { CliConfig } from '../src/config.ts';

export interface CliRunResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line in this process and returns its output. */
export async function runCommandLineForTest(
  config: CliConfig,
  line: readonly string[],
  signal: AbortSignal = new AbortController().signal,
  input = '',
): Promise<CliRunResult> {
  let out = '';
  let err = '';
  const code = await runCli(line, config, {
    out: {
      write: (text, done) => {
        out += text;
        done?.();
      },
    },
    err: { write: (text) => void (err += text) },
    input: Readable.from([input]),
    signal,
  });
  return { code, out, err };
}
