import { join } from 'node:path';
import { ManagedProcess, findFreePort, createTempFolder, type TempFolder } from '@tracking/testing';

/** An engine with MongoDB's protocol, in a separate process that can be killed and restarted. */
export class MongoEngine {
  private constructor(
    private readonly process: ManagedProcess,
    private readonly folder: TempFolder,
    private readonly port: number,
  ) {}

  /** Creates the engine without starting it. @param enginesDir folder of engines, with a folder `mongo-java-server` */
  static async create(enginesDir: string): Promise<MongoEngine> {
    const folder = await createTempFolder();
    const port = await findFreePort();
    const engine = new ManagedProcess({
      name: 'the engine',
      command: join(enginesDir, 'mongo-java-server', 'start'),
      args: [folder.path, String(port)],
      ready: /ready on/,
      logFile: join(folder.path, 'mongodb.log'),
    });
    return new MongoEngine(engine, folder, port);
  }

  /** @param credentials `user:password` */
  databaseUrl(database: string, credentials?: string): string {
    return `mongodb://${credentials === undefined ? '' : `${credentials}@`}127.0.0.1:${this.port}/${database}`;
  }

  get isRunning(): boolean {
    return this.process.pid !== undefined;
  }

  /** Starts the engine on its data; resolves when it is ready. */
  async run(): Promise<void> {
    await this.process.start();
  }

  /** Kills the process like a power failure. */
  kill(): Promise<void> {
    return this.process.kill();
  }

  /** Suspends the process: its connections stay open, but it answers nothing. */
  hang(): void {
    this.process.suspend();
  }

  resume(): void {
    this.process.resume();
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.folder.remove();
  }
}
