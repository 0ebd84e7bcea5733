import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, tempFolder, type TempFolder } from '@tracking/testing';

const READY_MS = 60_000;

/** A Kafka node of a test's own, as a process that can be killed, stopped and started again on the same data. */
export class KafkaEngine {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly folder: TempFolder,
    private readonly program: string,
    readonly port: number,
  ) {}

  /** @param settings lines that come after the node's own and win */
  static async start(enginesDir: string, settings: readonly string[] = [], port?: number): Promise<KafkaEngine> {
    const folder = await tempFolder();
    const engine = new KafkaEngine(folder, join(enginesDir, 'kafka', 'start'), port ?? (await freePort()));
    await writeFile(join(folder.path, 'extra.properties'), settings.map((line) => `${line}\n`).join(''));
    await engine.start();
    return engine;
  }

  get brokers(): readonly string[] {
    return [`127.0.0.1:${this.port}`];
  }

  async start(): Promise<void> {
    const { stdout } = (this.process = spawn(this.program, [this.folder.path, String(this.port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    }));
    let said = '';
    await new Promise<void>((ready, fail) => {
      const late = setTimeout(() => fail(new Error(`Kafka did not start:\n${said.slice(-2_000)}`)), READY_MS);
      this.process?.once('exit', (code) => fail(new Error(`Kafka ended with ${code}:\n${said.slice(-2_000)}`)));
      stdout?.on('data', (text: Buffer) => {
        said = (said + String(text)).slice(-10_000);
        if (!said.includes('Kafka Server started')) return;
        clearTimeout(late);
        ready();
      });
    });
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const { process } = this;
    this.process = undefined;
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const gone = once(process, 'exit');
    process.kill('SIGCONT');
    process.kill(signal);
    await gone;
  }

  async killAndRestart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** As when its disk was replaced; while it is down. */
  async loseData(): Promise<void> {
    await rm(join(this.folder.path, 'logs'), { recursive: true });
  }

  /** Hung, not gone: connections stay open and nothing answers. */
  hang(): void {
    this.process?.kill('SIGSTOP');
  }

  wake(): void {
    this.process?.kill('SIGCONT');
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.folder.remove();
  }
}
