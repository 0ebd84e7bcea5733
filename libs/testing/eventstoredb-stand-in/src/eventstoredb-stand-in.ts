import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@tracking/testing';
import type { Faults } from './faults.ts';
import { STAND_IN_READY, standInCommand, type StandInOptions } from './stand-in-command.ts';

/** A stand-in node in a process of its own that can be killed, stopped and started again on its data. */
export class EventStoreDbStandIn {
  private process: ChildProcess | undefined;
  private control = '';

  private constructor(
    private readonly folder: string,
    private readonly port: number,
    private readonly options: StandInOptions,
  ) {}

  /** Not started yet; its data is in a temporary folder. */
  static async create(options: StandInOptions = {}): Promise<EventStoreDbStandIn> {
    return new EventStoreDbStandIn(await mkdtemp(join(tmpdir(), 'eventstoredb-stand-in-')), await freePort(), options);
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  /** Starts it on its data; resolves when it is ready. */
  async run(): Promise<void> {
    const { command, args } = standInCommand({ ...this.options, folder: this.folder, port: this.port });
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process = child;
    let said = '';
    await new Promise<void>((resolve, reject) => {
      const listen = (chunk: Buffer) => {
        said += chunk.toString();
        this.control = STAND_IN_READY.exec(said)?.[1] ?? '';
        if (this.control !== '') resolve();
      };
      child.stdout.on('data', listen);
      child.stderr.on('data', listen);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the stand-in ended with ${code}: ${said}`)));
    });
  }

  /** As a power cut does. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** As an operator does: it serves on for a while, then drops its connections. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** A hung node: leaves its connections open and answers nothing. */
  pause(): void {
    this.process?.kill('SIGSTOP');
  }

  resume(): void {
    this.process?.kill('SIGCONT');
  }

  /** Resolves when the process has ended by itself. */
  async ended(): Promise<void> {
    const child = this.process;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  /** Sets switches of the running process; they are gone when it starts again. */
  async fault(faults: Faults): Promise<void> {
    const response = await fetch(this.control, { method: 'POST', body: JSON.stringify(faults) });
    if (!response.ok) throw new Error(`the stand-in answered ${response.status}`);
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.process?.kill(signal);
    await this.ended();
    this.process = undefined;
  }
}
