import { join } from 'node:path';
import { ManagedProcess, freePort, tempFolder, type TempFolder } from '@tracking/testing';
import type { Faults } from './faults.ts';
import { NodeProcess } from './node-process.ts';
import { standInCommand, type StandInOptions } from './stand-in-command.ts';

/** A stand-in node, with switches for what goes wrong. */
export class EventStoreDbStandIn extends NodeProcess {
  private control = '';

  private constructor(
    process: ManagedProcess,
    private readonly folder: TempFolder,
    url: string,
  ) {
    super(process, url);
  }

  /** Not started yet; its data is in a temporary folder. */
  static async create(options: StandInOptions = {}): Promise<EventStoreDbStandIn> {
    const folder = await tempFolder();
    const port = await freePort();
    const node = new ManagedProcess({
      name: 'the stand-in',
      ...standInCommand({ ...options, folder: folder.path, port }),
      logFile: join(folder.path, 'stand-in.log'),
    });
    return new EventStoreDbStandIn(node, folder, `esdb://127.0.0.1:${port}?tls=false`);
  }

  override async run(): Promise<void> {
    const [, control = ''] = await this.process.run();
    this.control = control;
  }

  /** Resolves when the process has ended by itself. */
  ended(): Promise<void> {
    return this.process.ended();
  }

  /** Sets switches of the running process; they are gone when it starts again. */
  async fault(faults: Faults): Promise<void> {
    const response = await fetch(this.control, { method: 'POST', body: JSON.stringify(faults) });
    if (!response.ok) throw new Error(`the stand-in answered ${response.status}`);
  }

  /** How many subscriptions are open. */
  async subscriptions(): Promise<number> {
    return Number(await (await fetch(this.control)).text());
  }

  override async remove(): Promise<void> {
    await super.remove();
    await this.folder.remove();
  }
}
