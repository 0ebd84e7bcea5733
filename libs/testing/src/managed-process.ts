import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync, readdirSync, type WriteStream } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { patient } from './eventually.ts';

/** How a process under test is started. */
export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** In a group of its own: Ctrl-C is for whoever stops everything in order. False by default. */
  readonly detached?: boolean;
  /** The line that it prints when it is ready, or a check whether it is. */
  readonly ready: RegExp | (() => Promise<boolean>);
  /** The line that it must print at the end of an orderly stop; without this option, none is expected. */
  readonly stopped?: RegExp;
  /** Takes everything that it prints, over all its runs. */
  readonly logFile: string;
}

const READY_MS = patient(60_000);
/** From SIGTERM until it is killed: half as long again as our services ask for. */
const STOP_MS = patient(30_000);
/** From one question whether it is ready to the next. */
const ASK_EVERY_MS = 100;

/**
 * Nothing that was started here outlives a process that exits. Under Jest, which passes that event on to nobody, a test
 * ends what it started.
 */
const alive = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** A process that can be killed, stopped, held and started again. */
export class ManagedProcess {
  private child: ChildProcess | undefined;
  private readonly log: WriteStream;
  /** The end of what the present run printed. */
  private said = '';
  private isWanted = false;

  constructor(
    readonly spec: ProcessSpec,
    /** Told when it ends although nobody asked for it. */
    private readonly died: (name: string, code: number | null) => void = () => undefined,
  ) {
    this.log = createWriteStream(spec.logFile, { flags: 'a' });
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Starts it; resolves when it is ready, with what it printed to say so and its groups. */
  async run(): Promise<readonly string[]> {
    const { name, command, args, env, detached = false, ready } = this.spec;
    this.isWanted = true;
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached, ...(env && { env }) });
    this.child = child;
    alive.add(child);
    child.stdout.pipe(this.log, { end: false });
    child.stderr.pipe(this.log, { end: false });
    child.once('exit', (code) => {
      alive.delete(child);
      if (this.child === child && this.isWanted) this.died(name, code);
    });
    this.said = '';
    const keep = (chunk: Buffer) => {
      if (this.child === child || this.child === undefined) this.said = (this.said + chunk.toString()).slice(-4_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    return new Promise((resolve, reject) => {
      const fail = (how: string) => {
        clearTimeout(late);
        child.kill('SIGKILL');
        reject(new Error(`${name} ${how}:\n${this.said}`));
      };
      const late = setTimeout(() => fail(`was not ready within ${READY_MS} ms`), READY_MS);
      const isReady = (how: readonly string[]) => {
        child.stdout.off('data', listen);
        child.stderr.off('data', listen);
        clearTimeout(late);
        resolve(how);
      };
      const listen = () => {
        const match = ready instanceof RegExp ? ready.exec(this.said) : null;
        if (match !== null) isReady(match);
      };
      const ask = async (question: () => Promise<boolean>) => {
        while (this.child === child && child.exitCode === null && child.signalCode === null) {
          if (await question()) return isReady([]);
          await pause(ASK_EVERY_MS);
        }
      };
      if (!(ready instanceof RegExp)) void ask(ready);
      child.stdout.on('data', listen);
      child.stderr.on('data', listen);
      child.once('error', () => {
        alive.delete(child);
        fail('could not be started');
      });
      child.once('exit', (code) => fail(`ended with ${code}`));
    });
  }

  /** As a power cut does. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /**
   * As an operator does: killed where it lingers. Resolves when it is gone.
   * @throws Error where it lingered before it said that it had stopped. One that lingers behind that has met a fault of
   *   Node.js: its threads may wait for each other for ever at the exit (nodejs/node#54918)
   */
  async stop(): Promise<void> {
    const { child } = this;
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      child?.kill('SIGKILL');
    }, STOP_MS);
    await this.end('SIGTERM');
    clearTimeout(late);
    const { name, stopped } = this.spec;
    if (!isLate || stopped === undefined || stopped.test(this.said)) return;
    throw new Error(`${name} did not stop within ${STOP_MS} ms:\n${this.said}`);
  }

  /** Hung, not gone: connections stay open and nothing answers. Waits, on Linux, until none of its threads runs. */
  hold(): void {
    const { child } = this;
    if (child === undefined) return;
    child.kill('SIGSTOP');
    const moment = new Int32Array(new SharedArrayBuffer(4));
    while (runs(child)) Atomics.wait(moment, 0, 0, 1);
  }

  wake(): void {
    this.child?.kill('SIGCONT');
  }

  /** Resolves when it has ended, perhaps by itself. */
  async ended(): Promise<void> {
    const { child } = this;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this;
    const ended = this.ended();
    this.isWanted = false;
    this.child = undefined;
    child?.kill('SIGCONT');
    child?.kill(signal);
    await ended;
  }
}

/** Whether any of its threads does not stand still yet: a signal reaches each in its own time. */
function runs({ pid }: ChildProcess): boolean {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return false;
  try {
    return readdirSync(tasks).some((task) => /\) [RSD] /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8')));
  } catch {
    // One of them has ended meanwhile.
    return true;
  }
}
