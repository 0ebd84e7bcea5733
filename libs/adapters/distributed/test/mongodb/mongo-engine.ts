import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort, tempFolder, type TempFolder } from '@tracking/testing';

/** An engine that speaks MongoDB's protocol, in a process of its own that can be killed, stopped and started again. */
export class MongoEngine {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly start: string,
    private readonly folder: TempFolder,
    private readonly port: number,
  ) {}

  /** Not started yet. @param enginesDir the folder of engines, which has a folder `mongo-java-server` */
  static async create(enginesDir: string): Promise<MongoEngine> {
    return new MongoEngine(join(enginesDir, 'mongo-java-server', 'start'), await tempFolder(), await freePort());
  }

  /** @param credentials as `user:password` */
  url(database: string, credentials?: string): string {
    return `mongodb://${credentials === undefined ? '' : `${credentials}@`}127.0.0.1:${this.port}/${database}`;
  }

  get isRunning(): boolean {
    return this.process !== undefined;
  }

  /** Starts it on its data; resolves when it is ready. */
  async run(): Promise<void> {
    const child = spawn(this.start, [this.folder.path, String(this.port)], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.process = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes('ready on')) resolve();
      });
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the engine ended with ${code}: ${said}`)));
    });
  }

  /** As a power cut does. */
  async kill(): Promise<void> {
    const child = this.process;
    this.process = undefined;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Leaves its connections open and answers nothing. */
  hang(): void {
    this.process?.kill('SIGSTOP');
  }

  goOn(): void {
    this.process?.kill('SIGCONT');
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.folder.remove();
  }
}
