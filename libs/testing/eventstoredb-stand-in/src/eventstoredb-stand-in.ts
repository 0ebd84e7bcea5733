import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import { findFreePort, ManagedProcess, type ProcessSpec, createTempFolder, type TempFolder } from '@tracking/testing';
import type { InjectedFaults } from './faults.ts';
import { createConnectionString } from './node-address.ts';

/** A node in its own process, which can be killed, paused, and started again on its data. */
export class EventStoreDbNodeProcess {
  constructor(
    protected readonly process: ManagedProcess,
    readonly url: string,
  ) {}

  /** Starts the node on its data. Resolves when it is ready. */
  async startNode(): Promise<void> {
    await this.process.startProcess();
  }

  /** Ends the node with SIGKILL, like a power failure. */
  killNode(): Promise<void> {
    return this.process.killProcess();
  }

  /**
   * Ends the node with SIGTERM, like an operator. The node serves requests for a while, then closes its connections.
   */
  stopNode(): Promise<void> {
    return this.process.stopProcess();
  }

  /** Makes the node hang: its connections stay open and get no response. */
  suspendNode(): void {
    this.process.suspendProcess();
  }

  resumeNode(): void {
    this.process.resumeProcess();
  }

  /** Ends the node permanently. */
  async destroyTestNode(): Promise<void> {
    await this.killNode();
  }
}

/** A stand-in node whose faults can be set. */
export class EventStoreDbStandIn extends EventStoreDbNodeProcess {
  private control = '';

  private constructor(
    process: ManagedProcess,
    private readonly folder: TempFolder,
    private readonly ports: readonly number[],
    /** File with the certificate of the authority; undefined for nodes without TLS. */
    private readonly caFile: string | undefined,
  ) {
    super(process, createEventStoreDbUrl(ports, caFile));
  }

  /** Creates a stand-in without starting it. Its data is in a temporary folder. */
  static async createEventStoreDbStandIn(options: StandInOptions = {}): Promise<EventStoreDbStandIn> {
    const { nodes = 1, tls, users = {}, ...settings } = options;
    const folder = await createTempFolder();
    const ports: number[] = [];
    while (ports.length < nodes) ports.push(await findFreePort());
    const tlsFiles = tls && (await writeTlsFiles(folder.path, tls));
    const node = new ManagedProcess({
      name: 'the EventStoreDB stand-in',
      ...createStandInStartCommand({ ...settings, folder: folder.path, ports, users, tlsFiles }),
      logFile: join(folder.path, 'stand-in.log'),
    });
    return new EventStoreDbStandIn(node, folder, ports, tlsFiles?.ca);
  }

  /** Returns the connection string of a single node. */
  createNodeConnectionString(index: number): string {
    return createEventStoreDbUrl(this.ports.slice(index, index + 1), this.caFile);
  }

  override async startNode(): Promise<void> {
    const [, control = ''] = await this.process.startProcess();
    this.control = control;
  }

  /** Resolves when the process has ended without a signal of the test. */
  waitForExit(): Promise<void> {
    return this.process.waitForExit();
  }

  /** Sets faults of a node of the running process. A restart clears them. */
  async setFaults(faults: InjectedFaults, node = 0): Promise<void> {
    const response = await fetch(`${this.control}?node=${node}`, { method: 'POST', body: JSON.stringify(faults) });
    if (!response.ok) throw new Error(`the EventStoreDB stand-in responded with status ${response.status}`);
  }

  /** Returns the number of open subscriptions of a node. */
  async countSubscriptions(node = 0): Promise<number> {
    return Number(await (await fetch(`${this.control}?node=${node}`)).text());
  }

  override async destroyTestNode(): Promise<void> {
    await super.destroyTestNode();
    await this.folder.remove();
  }
}

/** Pattern of the line that the stand-in prints when it is ready. The group is the URL of its control server. */
const STAND_IN_READY_PATTERN = /ready on .* control (\S+)/;

export interface StandInOptions {
  /** Number of nodes of the cluster, which have one log; 1 by default. The first one leads at the start. */
  readonly nodes?: number;
  /** Certificate and key of all nodes and the certificate of the authority, in PEM. If absent, nodes do not use TLS. */
  readonly tls?: StandInTls;
  /** Passwords by user name. If there are none, the nodes accept requests without credentials. */
  readonly users?: Readonly<Record<string, string>>;
  /** True if the node supports the call `BatchAppend`, as current nodes do; true by default. */
  readonly batchAppend?: boolean;
  /** Milliseconds between statistics that the node writes into its own log; 0, none, by default. */
  readonly statsEvery?: number;
  /** Number of events that a live subscription may be behind while its client reads nothing; 1,000 by default. */
  readonly liveBuffer?: number;
  /** Milliseconds for which the node serves requests after SIGTERM; 5,000 by default, as for a real node. */
  readonly linger?: number;
}

interface StandInTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

interface StandInFolderAndPorts extends Omit<StandInOptions, 'nodes' | 'tls'> {
  /** Folder of the nodes' data. */
  readonly folder: string;
  /** Port of each node. */
  readonly ports: readonly number[];
  /** Port of the control server; any free port by default. */
  readonly controlPort?: number;
  /** Paths of the certificate and key; undefined for nodes without TLS. */
  readonly tlsFiles?: StandInTls | undefined;
}

/** Returns the command that starts the built stand-in. */
export function createStandInStartCommand({
  batchAppend = true,
  ports,
  users = {},
  tlsFiles,
  ...place
}: StandInFolderAndPorts) {
  const settings = {
    folder: place.folder,
    'control-port': place.controlPort,
    'stats-every': place.statsEvery,
    'live-buffer': place.liveBuffer,
    linger: place.linger,
    'tls-cert': tlsFiles?.cert,
    'tls-key': tlsFiles?.key,
  };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    command: process.execPath,
    args: [
      fileURLToPath(new URL('../dist/main.js', import.meta.url)),
      ...given.map(([name, value]) => `--${name}=${value}`),
      ...ports.map((port) => `--port=${port}`),
      ...Object.entries(users).map(([name, password]) => `--user=${name}:${password}`),
      ...(batchAppend ? [] : ['--no-batch-append']),
    ],
    ready: STAND_IN_READY_PATTERN,
  };
}

function createEventStoreDbUrl(ports: readonly number[], caFile: string | undefined): string {
  const url = createConnectionString(ports, caFile !== undefined);
  return caFile === undefined ? url : `${url}&tlsCaFile=${encodeURIComponent(caFile)}`;
}

/** Writes certificates and key to files of the folder, and returns the paths. */
async function writeTlsFiles(folder: string, { cert, key, ca }: StandInTls): Promise<StandInTls> {
  const paths = { cert: join(folder, 'node.crt'), key: join(folder, 'node.key'), ca: join(folder, 'ca.crt') };
  await Promise.all([writeFile(paths.cert, cert), writeFile(paths.key, key), writeFile(paths.ca, ca)]);
  return paths;
}

/** The command that starts a real node. */
interface NodeStartCommand {
  /** Connection string of the node. */
  readonly url: string;
  /** Command that starts the node on its data in the foreground. `sh` runs it and is replaced by it. */
  readonly command: string;
}

/**
 * Returns the process of a real node. It is ready when it is the leader, because before that it refuses calls that
 * require the leader.
 */
export function createEventStoreNodeProcessSpec({ url, command }: NodeStartCommand): Omit<ProcessSpec, 'logFile'> {
  return {
    name: 'eventstoredb',
    command: 'sh',
    args: ['-c', `exec ${command}`],
    ready: () => isNodeLeader(url),
  };
}

async function isNodeLeader(url: string): Promise<boolean> {
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
