import { join } from 'node:path';
import {
  createTempFolder,
  findFreePort,
  ManagedProcess,
  createMongoServerSpec,
  type ProcessSpec,
  type TempFolder,
  replaceDatabaseInMongoUrl,
} from '@tracking/testing';

const { ENGINES_DIR, MONGODB_URL, MONGODB_START } = process.env;

/**
 * Reason why the tests cannot start and kill a MongoDB server; undefined if they can. Without `MONGODB_URL`, they use the
 * program in the folder of engines.
 */
export const NOT_KILLABLE_REASON = explainNotKillable();

function explainNotKillable(): string | undefined {
  if (MONGODB_URL === undefined)
    return ENGINES_DIR === undefined ? 'neither MONGODB_URL nor ENGINES_DIR is set' : undefined;
  return MONGODB_START === undefined
    ? 'MONGODB_START is not set: it must name the command that starts the server of MONGODB_URL'
    : undefined;
}

/** A server of MongoDB's protocol, in a separate process that can be killed and restarted. */
export class KillableMongoServer {
  private constructor(
    private readonly process: ManagedProcess,
    private readonly folder: TempFolder,
    private readonly url: string,
  ) {}

  /**
   * Creates the server of `MONGODB_URL` as a process, or an engine on its own data, without starting it.
   * @param enginesDir folder of engines, with a folder `mongo-java-server`; not used with `MONGODB_URL`
   */
  static async createMongoServerForTest(enginesDir: string): Promise<KillableMongoServer> {
    if (NOT_KILLABLE_REASON !== undefined) throw new Error(NOT_KILLABLE_REASON);
    const folder = await createTempFolder();
    const logFile = join(folder.path, 'mongodb.log');
    const open = (spec: Omit<ProcessSpec, 'logFile'>, url: string) =>
      new KillableMongoServer(new ManagedProcess({ ...spec, logFile }), folder, url);
    if (MONGODB_URL !== undefined && MONGODB_START !== undefined)
      return open(createMongoServerSpec({ url: MONGODB_URL, command: MONGODB_START }), MONGODB_URL);
    const port = await findFreePort();
    const command = join(enginesDir, 'mongo-java-server', 'start');
    const spec = { name: 'the engine', command, args: [folder.path, String(port)], ready: /ready on/ };
    return open(spec, `mongodb://127.0.0.1:${port}/`);
  }

  /** Port of the first host of the connection string. */
  get port(): number {
    return Number(/^[^/]+\/\/(?:[^@/]*@)?[^,/?]*?:(\d+)/.exec(this.url)?.[1] ?? '27017');
  }

  /** @param credentials `user:password` */
  createDatabaseUrl(database: string, credentials?: string): string {
    return replaceDatabaseInMongoUrl(this.url, database, credentials);
  }

  get isRunning(): boolean {
    return this.process.pid !== undefined;
  }

  /** Starts the engine on its data; resolves when it is ready. */
  async startEngine(): Promise<void> {
    await this.process.startProcess();
  }

  /** Kills the process like a power failure. */
  killEngine(): Promise<void> {
    return this.process.killProcess();
  }

  /** Suspends the process: its connections stay open, but it answers nothing. */
  suspendEngine(): void {
    this.process.suspendProcess();
  }

  resumeEngine(): void {
    this.process.resumeProcess();
  }

  async killEngineAndDeleteFolder(): Promise<void> {
    await this.killEngine();
    await this.folder.remove();
  }
}
