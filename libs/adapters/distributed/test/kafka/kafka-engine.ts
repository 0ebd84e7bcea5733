import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ManagedProcess, findFreePort, createTempFolder, type TempFolder } from '@tracking/testing';

/** A Kafka node for tests, as a process that can be killed and restarted on the same data. */
export class KafkaTestNode {
  private constructor(
    private readonly process: ManagedProcess,
    private readonly folder: TempFolder,
    readonly brokers: readonly string[],
  ) {}

  /** @param settings lines that override the node's own settings */
  static async startEngine(
    enginesDir: string,
    settings: readonly string[] = [],
    port?: number,
  ): Promise<KafkaTestNode> {
    const folder = await createTempFolder();
    const at = port ?? (await findFreePort());
    await writeFile(join(folder.path, 'extra.properties'), settings.map((line) => `${line}\n`).join(''));
    const node = new ManagedProcess({
      name: 'Kafka',
      command: join(enginesDir, 'kafka', 'start'),
      args: [folder.path, String(at)],
      ready: /Kafka Server started/,
      logFile: join(folder.path, 'kafka.log'),
    });
    await node.startProcess();
    return new KafkaTestNode(node, folder, [`127.0.0.1:${at}`]);
  }

  async startNode(): Promise<void> {
    await this.process.startProcess();
  }

  killNode(): Promise<void> {
    return this.process.killProcess();
  }

  async killAndRestart(): Promise<void> {
    await this.killNode();
    await this.startNode();
  }

  /** Simulates a replaced disk. Call it while the node is stopped. */
  async deleteKafkaDataFolder(): Promise<void> {
    await rm(join(this.folder.path, 'logs'), { recursive: true });
  }

  /** Suspends the process: its connections stay open, but it answers nothing. */
  suspendNode(): void {
    this.process.suspendProcess();
  }

  resumeNode(): void {
    this.process.resumeProcess();
  }

  async destroyTestNode(): Promise<void> {
    await this.killNode();
    await this.folder.remove();
  }
}
