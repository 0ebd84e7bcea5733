import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface Child {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  /** The lines it has written, and its error output at the end. */
  readonly lines: readonly string[];
  readonly errors: readonly string[];
  /** Resolves with its exit code, null when a signal ended it. */
  readonly ended: Promise<number | null>;
}

/**
 * Runs a script of this folder in a process of its own.
 * @param wrapper a command that runs the rest of its arguments as a command, as `strace`
 */
export function runChild(script: string, args: readonly string[], wrapper: readonly string[] = []): Child {
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
