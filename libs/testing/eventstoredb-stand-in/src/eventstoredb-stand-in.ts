import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import { findFreePort, ManagedProcess, type ProcessSpec, createTempFolder, type TempFolder } from '@tracking/testing';
import type { InjectedFaults } from './faults.ts';

/** A node in its own process, which can be killed, paused, and started again on its data. */
export class NodeProcess {
  constructor(
    protected readonly process: ManagedProcess,
    readonly url: string,
  ) {}

  /** Starts the node on its data. Resolves when it is ready. */
  async start(): Promise<void> {
    await this.process.start();
  }

  /** Ends the node with SIGKILL, like a power failure. */
  kill(): Promise<void> {
    return this.process.kill();
  }

  /**
   * Ends the node with SIGTERM, like an operator. The node serves requests for a while, then closes its connections.
   */
  stop(): Promise<void> {
    return this.process.stop();
  }

  /** Makes the node hang: its connections stay open and get no response. */
  pause(): void {
    this.process.suspend();
  }

  resume(): void {
    this.process.resume();
  }

  /** Ends the node permanently. */
  async remove(): Promise<void> {
    await this.kill();
  }
}

/** A stand-in node whose faults can be set. */
export class EventStoreDbStandIn extends NodeProcess {
  private control = '';

  private constructor(
    process: ManagedProcess,
    private readonly folder: TempFolder,
    url: string,
  ) {
    super(process, url);
  }

  /** Creates a stand-in without starting it. Its data is in a temporary folder. */
  static async create(options: StandInOptions = {}): Promise<EventStoreDbStandIn> {
    const folder = await createTempFolder();
    const port = await findFreePort();
    const node = new ManagedProcess({
      name: 'the EventStoreDB stand-in',
      ...standInCommand({ ...options, folder: folder.path, port }),
      logFile: join(folder.path, 'stand-in.log'),
    });
    return new EventStoreDbStandIn(node, folder, `esdb://127.0.0.1:${port}?tls=false`);
  }

  override async start(): Promise<void> {
    const [, control = ''] = await this.process.start();
    this.control = control;
  }

  /** Resolves when the process has ended without a signal of the test. */
  waitForExit(): Promise<void> {
    return this.process.waitForExit();
  }

  /** Sets faults of the running process. A restart clears them. */
  async setFaults(faults: InjectedFaults): Promise<void> {
    const response = await fetch(this.control, { method: 'POST', body: JSON.stringify(faults) });
    if (!response.ok) throw new Error(`the EventStoreDB stand-in responded with status ${response.status}`);
  }

  /** Returns the number of open subscriptions. */
  async countSubscriptions(): Promise<number> {
    return Number(await (await fetch(this.control)).text());
  }

  override async remove(): Promise<void> {
    await super.remove();
    await this.folder.remove();
  }
}

/** Pattern of the line that the stand-in prints when it is ready. The group is the URL of its control server. */
const READY_LINE = /ready on .* control (\S+)/;

export interface StandInOptions {
  /** True if the node supports the call `BatchAppend`, as current nodes do; true by default. */
  readonly batchAppend?: boolean;
  /** Milliseconds between statistics that the node writes into its own log; 0, none, by default. */
  readonly statsEvery?: number;
  /** Number of events that a live subscription may be behind while its client reads nothing; 1,000 by default. */
  readonly liveBuffer?: number;
  /** Milliseconds for which the node serves requests after SIGTERM; 5,000 by default, as for a real node. */
  readonly linger?: number;
}

interface StandInLocation extends StandInOptions {
  /** Folder of the node's data. */
  readonly folder: string;
  readonly port: number;
  /** Port of the control server; any free port by default. */
  readonly controlPort?: number;
}

/** Returns the command that starts the built stand-in. */
export function standInCommand({ batchAppend = true, ...place }: StandInLocation) {
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
    ready: READY_LINE,
  };
}

/** The command that starts a real node. */
interface NodeStart {
  /** Connection string of the node. */
  readonly url: string;
  /** Command that starts the node on its data in the foreground. `sh` runs it and is replaced by it. */
  readonly command: string;
}

/**
 * Returns the process of a real node. It is ready when it is the leader, because before that it refuses calls that
 * require the leader.
 */
export function nodeProcessSpec({ url, command }: NodeStart): Omit<ProcessSpec, 'logFile'> {
  return {
    name: 'eventstoredb',
    command: 'sh',
    args: ['-c', `exec ${command}`],
    ready: () => isLeader(url),
  };
}

async function isLeader(url: string): Promise<boolean> {
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
