import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { DATA_FOLDER_IN_USE_EXIT_CODE } from '@tracking/contracts';
import type { AdministrationClient } from './administration-client.ts';
import { CliError } from './cli-error.ts';
import type { CliConfig } from './config.ts';

const POLL_MS = 20;
/** A large data folder that was not closed in order takes its time to open. */
const START_WITHIN_MS = 60_000;
/** The service itself gives up finishing its work after 20 s. */
const STOP_WITHIN_MS = 25_000;

/** A service without HTTP that this process started, and has to stop. */
export class OwnService {
  private readonly child: ChildProcess;
  private readonly ended: Promise<void>;
  private isOver = false;
  private lastWords = '';

  /** @throws CliError where there is nothing to start */
  constructor({ serviceMain, serviceEnvironment }: CliConfig) {
    if (!existsSync(serviceMain))
      throw new CliError('the service is not built: run npm run build first', 'unavailable');
    this.child = spawn(process.execPath, [serviceMain, '--administration'], {
      env: serviceEnvironment,
      // Its input ends with us, however we end: then it stops by itself.
      stdio: ['pipe', 'ignore', 'pipe'],
      // Ctrl-C reaches us alone: we ask it to stop when what it does is done.
      detached: true,
    });
    this.child.stdin?.on('error', () => undefined);
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.lastWords = (this.lastWords + text).slice(-4_000);
    });
    this.ended = new Promise((resolve) => {
      const over = () => {
        this.isOver = true;
        resolve();
      };
      this.child.once('error', over).once('close', over);
    });
  }

  /**
   * Waits until it answers; false where another process holds the data folder.
   * @throws CliError when it cannot start for any other reason
   */
  async isReady(client: AdministrationClient, signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + START_WITHIN_MS;
    for (; !this.isOver; await pause(POLL_MS, undefined, { signal })) {
      if ((await client.status())?.process_id === this.child.pid) return true;
      if (performance.now() > deadline) throw new CliError('the service does not start', 'unavailable');
    }
    if (this.child.exitCode === DATA_FOLDER_IN_USE_EXIT_CODE) return false;
    throw this.failure();
  }

  /** Asks it to end, and waits until it has; makes it end where it does not. */
  async stop(): Promise<void> {
    if (this.isOver) return;
    this.child.kill('SIGTERM');
    const patience = setTimeout(() => this.child.kill('SIGKILL'), STOP_WITHIN_MS);
    await this.ended;
    clearTimeout(patience);
  }

  /** The line that tells most of what it wrote: an error's first one, else the last. */
  failure(): CliError {
    const lines = this.lastWords.split('\n').filter((line) => line.trim() !== '');
    const telling = lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1);
    const end = this.child.signalCode ?? `exit code ${String(this.child.exitCode)}`;
    return new CliError(telling ?? `the service could not be started (${end})`, 'unavailable');
  }
}
