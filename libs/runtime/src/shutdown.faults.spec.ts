import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '@tracking/testing';

const main = fileURLToPath(new URL('../test/stopping-child.mjs', import.meta.url));

/** The built library in its own process. */
describe('a process that receives a signal', () => {
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

  it('stops in order and logs `stopped` last, also if a terminal and npm both send the signal', async () => {
    await start();
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM'] as const) child.kill(signal);
    await ended;
    expect([child.exitCode, messages()]).toEqual([0, ['stopping', 'stopped']]);
  });

  it('exits immediately on a second signal, if stopping takes too long', async () => {
    await start('hangs');
    await eventually(() => {
      child.kill('SIGINT');
      expect(child.exitCode ?? child.signalCode).not.toBeNull();
    });
    await ended;
    expect([child.exitCode, messages()]).toEqual([1, ['stopping']]);
  });
});

/** Runs a process that reports when its steps were stopped, and then runs the code. */
const program = (what: string) => `
  import { Shutdown, createLogger } from '@tracking/runtime';
  const logger = await createLogger({ level: 'info', service: 'child' });
  const shutdown = new Shutdown(logger, 2_000);
  shutdown.addShutdownStep('engine', async () => logger.info({}, 'engine stopped'));
  shutdown.addShutdownStep('http', async () => logger.info({}, 'http stopped'));
  shutdown.shutDownOnSignals(() => logger.info({}, 'draining'));
  shutdown.shutDownOnUncaughtErrors(() => logger.info({}, 'draining'));
  const alive = setInterval(() => undefined, 1_000);
  ${what}
`;

async function run(what: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program(what)], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  });
  let [output, complaints] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  const [code] = (await once(child, 'close')) as [number | null];
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; msg: string; error?: string });
  return { code, lines, complaints, texts: lines.map(({ level, msg }) => `${level} ${msg}`) };
}

const FAILED = 'error the process stops after an uncaught error';

describe('a process with an uncaught error', () => {
  it.each([
    ['thrown', "setTimeout(() => { throw new Error('lost mongodb://me:hunter2@host') }, 10);"],
    ['rejected', "void Promise.reject(new Error('lost mongodb://me:hunter2@host'));"],
  ])('logs the error once if it is %s, stops in order, and exits with 1', async (_how, what) => {
    const { code, lines, texts, complaints } = await run(what);
    expect(texts).toEqual([FAILED, 'info draining', 'info http stopped', 'info engine stopped', 'info stopped']);
    expect(lines[0]?.error).toMatch(/^Error: lost mongodb:\/\/\[redacted\]@host\n +at /);
    expect([code, complaints]).toEqual([1, '']);
  });

  it('exits by its deadline if a step does not stop or errors continue', async () => {
    const { code, texts } = await run(`
      shutdown.addShutdownStep('stuck', () => new Promise(() => undefined));
      setInterval(() => { throw new Error('again') }, 10);
    `);
    expect([code, texts]).toEqual([1, [FAILED, 'info draining']]);
  });

  it('exits with 1 although it was already stopping', async () => {
    const { code, texts } = await run(`
      shutdown.addShutdownStep('failing', async () => {
        setImmediate(() => { throw new Error('while stopping') });
        await new Promise((resolve) => setTimeout(resolve, 50));
      });
      process.kill(process.pid, 'SIGTERM');
    `);
    expect(texts).toEqual([
      'info stopping',
      'info draining',
      FAILED,
      'info http stopped',
      'info engine stopped',
      'info stopped',
    ]);
    expect(code).toBe(1);
  });
});
