import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync, readdirSync, type WriteStream } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { scaleTimeout } from './eventually.ts';

/** Command and options of a process under test. */
export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  /** Arguments, or a function that returns those of the next start. */
  readonly args: readonly string[] | (() => readonly string[]);
  /** Environment variables, or a function that returns those of the next start. */
  readonly env?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  /**
   * True to start the process in its own process group, so that Ctrl-C reaches only the parent, which stops everything
   * in order. False by default.
   */
  readonly detached?: boolean;
  /** Pattern of the line that the process prints when it is ready, or a function that checks whether it is ready. */
  readonly ready: RegExp | (() => Promise<boolean>);
  /** Pattern of the line that the process must print at the end of an orderly stop. If absent, no line is required. */
  readonly stopped?: RegExp;
  /** File that receives the output of all runs. */
  readonly logFile: string;
}

const READY_TIMEOUT_MS = scaleTimeout(60_000);
/** Milliseconds between SIGTERM and SIGKILL: 1.5 times the shutdown deadline of the services. */
const STOP_TIMEOUT_MS = scaleTimeout(30_000);
/** Milliseconds between two checks of readiness. */
const READY_POLL_MS = 100;

/**
 * Processes that are killed when this process exits. Jest does not pass on the exit event, so a test ends the processes
 * that it started.
 */
const childProcessesToKillOnExit = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of childProcessesToKillOnExit) child.kill('SIGKILL');
});

/** A process that can be killed, stopped, suspended and started again. */
export class ManagedProcess {
  private child: ChildProcess | undefined;
  private readonly log: WriteStream;
  /** Last part of the output of the current run. */
  private output = '';
  private shouldRun = false;

  constructor(
    readonly spec: ProcessSpec,
    /** Callback that runs when the process ends without being stopped. */
    private readonly onUnexpectedExit: (name: string, code: number | null) => void = () => undefined,
  ) {
    this.log = createWriteStream(spec.logFile, { flags: 'a' });
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Starts the process. Resolves when it is ready, with the match of its ready line. */
  async startProcess(): Promise<readonly string[]> {
    const { name, command, args, env, detached = false, ready } = this.spec;
    this.shouldRun = true;
    const child = spawn(command, typeof args === 'function' ? args() : args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached,
      ...(env && { env: typeof env === 'function' ? env() : env }),
    });
    this.child = child;
    childProcessesToKillOnExit.add(child);
    child.stdout.pipe(this.log, { end: false });
    child.stderr.pipe(this.log, { end: false });
    child.once('exit', (code) => {
      childProcessesToKillOnExit.delete(child);
      if (this.child === child && this.shouldRun) this.onUnexpectedExit(name, code);
    });
    this.output = '';
    const keep = (chunk: Buffer) => {
      if (this.child === child || this.child === undefined)
        this.output = (this.output + chunk.toString()).slice(-4_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    return new Promise((resolve, reject) => {
      const fail = (how: string) => {
        clearTimeout(late);
        child.kill('SIGKILL');
        reject(new Error(`${name} ${how}:\n${this.output}`));
      };
      const late = setTimeout(() => fail(`the process was not ready within ${READY_TIMEOUT_MS} ms`), READY_TIMEOUT_MS);
      const isReady = (how: readonly string[]) => {
        child.stdout.off('data', listen);
        child.stderr.off('data', listen);
        clearTimeout(late);
        resolve(how);
      };
      const listen = () => {
        const match = ready instanceof RegExp ? ready.exec(this.output) : null;
        if (match !== null) isReady(match);
      };
      const ask = async (question: () => Promise<boolean>) => {
        while (this.child === child && child.exitCode === null && child.signalCode === null) {
          if (await question()) return isReady([]);
          await pause(READY_POLL_MS);
        }
      };
      if (!(ready instanceof RegExp)) void ask(ready);
      child.stdout.on('data', listen);
      child.stderr.on('data', listen);
      child.once('error', () => {
        childProcessesToKillOnExit.delete(child);
        fail('the process could not be started');
      });
      child.once('exit', (code) => fail(`ended with ${code}`));
    });
  }

  /** Ends the process with SIGKILL, like a power failure. */
  killProcess(): Promise<void> {
    return this.endProcess('SIGKILL');
  }

  /**
   * Ends the process with SIGTERM, like an operator, and with SIGKILL after a timeout. Resolves when it has ended.
   * @throws Error if the process timed out before it reported its end. If it times out after that, the cause is a fault
   *   of Node.js: its threads may wait for each other forever at exit (nodejs/node#54918)
   */
  async stopProcess(): Promise<void> {
    const { child } = this;
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      child?.kill('SIGKILL');
    }, STOP_TIMEOUT_MS);
    await this.endProcess('SIGTERM');
    clearTimeout(late);
    const { name, stopped } = this.spec;
    if (!isLate || stopped === undefined || stopped.test(this.output)) return;
    throw new Error(`${name} did not stop within ${STOP_TIMEOUT_MS} ms:\n${this.output}`);
  }

  /**
   * Suspends the process with SIGSTOP: connections stay open and get no response. On Linux, waits until all threads have
   * stopped.
   */
  suspendProcess(): void {
    const { child } = this;
    if (child === undefined) return;
    child.kill('SIGSTOP');
    const moment = new Int32Array(new SharedArrayBuffer(4));
    while (hasRunningThread(child)) Atomics.wait(moment, 0, 0, 1);
  }

  /** Continues the suspended process with SIGCONT. */
  resumeProcess(): void {
    this.child?.kill('SIGCONT');
  }

  /** Resolves when the process has ended for any reason. */
  async waitForExit(): Promise<void> {
    const { child } = this;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  private async endProcess(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this;
    const ended = this.waitForExit();
    this.shouldRun = false;
    this.child = undefined;
    child?.kill('SIGCONT');
    child?.kill(signal);
    await ended;
  }
}

/** Returns true if a thread of the process is still running. A signal reaches each thread at a different time. */
function hasRunningThread({ pid }: ChildProcess): boolean {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return false;
  try {
    return readdirSync(tasks).some((task) => /\) [RSD] /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8')));
  } catch {
    // The thread has ended meanwhile.
    return true;
  }
}
