import { join } from 'node:path';
import { ManagedProcess, freePort, tempFolder, type TempFolder } from '@tracking/testing';
import type { Faults } from './faults.ts';
import { standInCommand, type StandInOptions } from './stand-in-command.ts';

/** A stand-in node in a process of its own that can be killed, stopped and started again on its data. */
export class EventStoreDbStandIn {
  private control = '';

  private constructor(
    private readonly process: ManagedProcess,
    private readonly folder: TempFolder,
    readonly url: string,
  ) {}

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

  /** Starts it on its data; resolves when it is ready. */
  async run(): Promise<void> {
    const [, control = ''] = await this.process.run();
    this.control = control;
  }

  /** As a power cut does. */
  kill(): Promise<void> {
    return this.process.kill();
  }

  /** As an operator does: it serves on for a while, then drops its connections. */
  stop(): Promise<void> {
    return this.process.stop();
  }

  /** A hung node: leaves its connections open and answers nothing. */
  pause(): void {
    this.process.hold();
  }

  resume(): void {
    this.process.wake();
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

  async remove(): Promise<void> {
    await this.kill();
    await this.folder.remove();
  }
}
