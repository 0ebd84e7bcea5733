import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Document, Timestamp } from 'bson';
import { waitForSimulatedDelay } from './eventually.ts';
import { findFreePort } from './machine.ts';
import { type MongoWriteFault, ProxiedMongoConnection } from './proxied-mongo-connection.ts';
import { SimulatedReplicaSet } from './simulated-replica-set.ts';

export type { MongoWriteFault };

/**
 * A proxy between clients and a MongoDB engine on this machine, with the faults of networks and replica sets. Clients
 * see a replica set of one or more members, each on its own port, all with the data of the engine.
 */
export class MongoProxy {
  private readonly connections = new Set<ProxiedMongoConnection>();
  private readonly servers: Server[] = [];
  private readonly writeFaults: MongoWriteFault[] = [];
  private set = new SimulatedReplicaSet([]);
  private isHung = false;
  private hungMember: number | undefined;
  private isDown = false;
  /** Time of the latest write that the engine performed. */
  private lastWriteTime: Timestamp | undefined;
  /** Milliseconds by which every reply is delayed. */
  delayMs = 0;
  /**
   * True to answer reads like a new primary whose majority snapshot is old: only reads that wait for the time of the
   * latest write see anything.
   */
  hasOldSnapshot = false;
  /** Callback for every command that arrives. */
  onCommand: (command: Document) => void = () => undefined;

  private constructor(private readonly enginePort: number) {}

  /** @param options members: number of members of the replica set that clients see, 1 by default */
  static async startMongoProxy(
    enginePort: number,
    { members = 1 }: { readonly members?: number } = {},
  ): Promise<MongoProxy> {
    const proxy = new MongoProxy(enginePort);
    await proxy.startListening(members);
    return proxy;
  }

  /** Returns the connection string for a database. @param options options of the connection string, `name=value&…` */
  buildConnectionStringOfDatabase(database: string, options = ''): string {
    return `mongodb://${this.set.addresses.join(',')}/${database}?replicaSet=rs0${options === '' ? '' : `&${options}`}`;
  }

  /** Number of open client connections. */
  get connectionCount(): number {
    return this.connections.size;
  }

  /** Decides the fate of the next writes, one entry per write. */
  failNextWrites(...faults: readonly MongoWriteFault[]): void {
    this.writeFaults.push(...faults);
  }

  /**
   * Breaks connections. @param how `reset` like a crash, or `end` like an orderly close
   * @param which `hung` for those that {@link hangConnections} stopped
   */
  breakConnections(how: 'reset' | 'end' = 'reset', which: 'all' | 'hung' = 'all'): void {
    for (const connection of this.connections)
      if (which === 'all' || connection.isHung) connection.breakConnection(how);
  }

  /**
   * Stops all bytes in both directions. Connections stay open, and new ones are accepted.
   * @param which `operations` for existing connections with commands other than `hello`, so that drivers notice nothing;
   *   `primary` for existing and new connections of the member that is the primary now
   */
  hangConnections(which: 'all' | 'operations' | 'primary' = 'all'): void {
    const { primary } = this.set;
    if (which === 'all') this.isHung = true;
    if (which === 'primary') this.hungMember = primary;
    for (const connection of this.connections) {
      const isIncluded = which === 'operations' ? connection.hasOperations : connection.member === primary;
      if (which === 'all' || isIncluded) connection.hangConnection();
    }
  }

  /** Ends {@link hangConnections}. Held bytes arrive. */
  resumeConnections(): void {
    this.isHung = false;
    this.hungMember = undefined;
    for (const connection of this.connections) connection.resumeHungMongoConnection();
  }

  /** Breaks all connections, and new ones immediately. */
  breakCurrentAndNewConnections(): void {
    this.isDown = true;
    this.breakConnections();
  }

  /** Ends {@link breakCurrentAndNewConnections}. */
  acceptConnectionsAgain(): void {
    this.isDown = false;
  }

  /** The primary steps down; the next member becomes the primary after a time. Resolves then. */
  async simulatePrimaryElection(withoutPrimaryMs: number): Promise<void> {
    const { set } = this;
    const next = ((set.primary ?? 0) + 1) % set.addresses.length;
    set.changePrimary(undefined);
    await waitForSimulatedDelay(withoutPrimaryMs);
    set.changePrimary(next);
  }

  /** Ends all faults except a running election. */
  endFaults(): void {
    this.delayMs = 0;
    this.hasOldSnapshot = false;
    this.writeFaults.length = 0;
    this.acceptConnectionsAgain();
    this.resumeConnections();
  }

  async closeProxy(): Promise<void> {
    const closed = this.servers.map((server) => once(server.close(), 'close'));
    this.breakCurrentAndNewConnections();
    await Promise.all(closed);
  }

  private async startListening(members: number): Promise<void> {
    for (let member = 0; member < members; member += 1) {
      const server = createServer({ noDelay: true }, (client) => this.acceptClient(client, member));
      server.listen(await findFreePort(), '127.0.0.1');
      await once(server, 'listening');
      this.servers.push(server);
    }
    const ports = this.servers.map((server) => (server.address() as AddressInfo).port);
    this.set = new SimulatedReplicaSet(ports.map((port) => `127.0.0.1:${port}`));
  }

  private acceptClient(client: Socket, member: number): void {
    if (this.isDown) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const connection = new ProxiedMongoConnection({
      client,
      enginePort: this.enginePort,
      member,
      set: this.set,
      onCommand: (command) => this.onCommand(command),
      takeWriteFault: () => this.writeFaults.shift(),
      readDelayMs: () => this.delayMs,
      noteWrite: (at) => (this.lastWriteTime = at),
      seesNothing: (command) => this.hasOldSnapshot && !this.isCommandReadingAfterLastWrite(command),
      onClose: () => this.connections.delete(connection),
    });
    this.connections.add(connection);
    if (this.isHung || member === this.hungMember) connection.hangConnection();
  }

  private isCommandReadingAfterLastWrite(command: Document): boolean {
    const { afterClusterTime } = (command['readConcern'] ?? {}) as { readonly afterClusterTime?: Timestamp };
    return this.lastWriteTime === undefined || afterClusterTime?.greaterThanOrEqual(this.lastWriteTime) === true;
  }
}
