import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../test/stopping-child.mjs', import.meta.url));

/** The built library in a process of its own. */
describe('a process that is asked to stop', () => {
  let child: ChildProcess;
  let ended: Promise<unknown>;
  const lines: string[] = [];

  async function start(...args: readonly string[]): Promise<void> {
    lines.length = 0;
    child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const output = createInterface({ input: child.stdout! }).on('line', (line) => lines.push(line));
    ended = Promise.all([once(child, 'exit'), once(output, 'close')]);
    await once(output, 'line');
  }
  const messages = () => lines.slice(1).map((line) => (JSON.parse(line) as { msg: string }).msg);
  afterEach(() => void child.kill('SIGKILL'));

  it('ends in order, and says so last, also where a terminal and npm ask at once', async () => {
    await start();
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM'] as const) child.kill(signal);
    await ended;
    expect([child.exitCode, messages()]).toEqual([0, ['stopping', 'stopped']]);
  });

  it('ends at once where somebody asks again because it takes too long', async () => {
    await start('hangs');
    while (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGINT');
      await Promise.race([ended, pause(100)]);
    }
    await ended;
    expect([child.exitCode, messages()]).toEqual([1, ['stopping']]);
  });
});
