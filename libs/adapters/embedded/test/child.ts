import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface ChildProcessHandle {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  /** Lines that the process wrote to standard output, and its error output when it ended. */
  readonly lines: readonly string[];
  readonly errors: readonly string[];
  /** Resolves with the exit code; null if a signal ended the process. */
  readonly ended: Promise<number | null>;
}

/**
 * Runs a script of this folder in a separate process.
 * @param wrapper command that runs its remaining arguments, such as `strace`
 */
export function runScriptInChildProcess(
  script: string,
  args: readonly string[],
  wrapper: readonly string[] = [],
): ChildProcessHandle {
  const node = [process.execPath, '--experimental-transform-types', '--conditions=@tracking/source', '--no-warnings'];
  const [command = '', ...rest] = [...wrapper, ...node, fileURLToPath(new URL(script, import.meta.url)), ...args];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const errors: string[] = [];
  let unfinished = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (unfinished + chunk.toString()).split('\n');
    unfinished = parts.pop() ?? '';
    lines.push(...parts);
  });
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { process: child, lines, errors, ended };
}
