import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import { freePort, ManagedProcess, type ProcessSpec, tempFolder, type TempFolder } from '@tracking/testing';
import type { Faults } from './faults.ts';

/** A node in a process of its own that can be killed, held and started again on its data. */
export class NodeProcess {
  constructor(
    protected readonly process: ManagedProcess,
    readonly url: string,
  ) {}

  /** Starts it on its data; resolves when it is ready. */
  async run(): Promise<void> {
    await this.process.run();
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

  /** Ends it, for good. */
  async remove(): Promise<void> {
    await this.kill();
  }
}

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

/** The line that it prints once it serves; the group is the address of its switches. */
const READY = /ready on .* control (\S+)/;

export interface StandInOptions {
  /** Whether it offers the call `BatchAppend`, as a node of today does; true by default. */
  readonly batchAppend?: boolean;
  /** Milliseconds between the statistics that a node can be told to write into its own log; 0, none, by default. */
  readonly statsEvery?: number;
  /** Events that a live subscription may fall behind while its client takes nothing; 1,000 by default. */
  readonly liveBuffer?: number;
  /** Milliseconds it serves on after SIGTERM; 5,000 by default, as a node does. */
  readonly linger?: number;
}

interface StandInPlace extends StandInOptions {
  /** Keeps its data. */
  readonly folder: string;
  readonly port: number;
  /** Where its switches are; any free port by default. */
  readonly controlPort?: number;
}

/** How to start it, as it was built. */
export function standInCommand({ batchAppend = true, ...place }: StandInPlace) {
  const settings = {
    folder: place.folder,
    port: place.port,
    'control-port': place.controlPort,
    'stats-every': place.statsEvery,
    'live-buffer': place.liveBuffer,
    linger: place.linger,
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    command: process.execPath,
    args: [
      fileURLToPath(new URL('../dist/main.js', import.meta.url)),
      ...given.map(([name, value]) => `--${name}=${value}`),
      ...(batchAppend ? [] : ['--no-batch-append']),
    ],
    ready: READY,
  };
}

/** How a node is started that is not the stand-in. */
interface NodeStart {
  /** Where it serves. */
  readonly url: string;
  /** Starts it on its data, in the foreground; run by `sh`, which it replaces. */
  readonly command: string;
}

/** Ready when it leads: before that it refuses what only the leader may answer. */
export function startedNode({ url, command }: NodeStart): Omit<ProcessSpec, 'logFile'> {
  return {
    name: 'eventstoredb',
    command: 'sh',
    args: ['-c', `exec ${command}`],
    ready: () => leads(url),
  };
}

async function leads(url: string): Promise<boolean> {
  const client = EventStoreDBClient.connectionString(url);
  try {
    const last = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader: true });
    for await (const _event of last) return true;
    return true;
  } catch {
    return false;
  } finally {
    await client.dispose().catch(() => undefined);
  }
}
