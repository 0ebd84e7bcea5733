import { X509Certificate } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import {
  type GrpcClientTls,
  type GrpcServerTls,
  GrpcServiceChannel,
  type Parts,
  type GrpcServiceProtoFile,
} from '@tracking/distributed';
import type { LeaseMember, Logger, Metrics } from '@tracking/ports';
import type { LeaseDistributor } from '@tracking/resilience';

/** Deadline in milliseconds of a call to one replica. Callers do without the response. */
const CALL_DEADLINE_MS = 500;
const UNSPECIFIED_HOSTS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

interface ReplicaChannelsOptions {
  /** Operations of the replicas. */
  readonly proto: GrpcServiceProtoFile;
  readonly token: string;
  /** TLS settings of this process as a server; calls use plain text without TLS settings of either kind. */
  readonly tls?: GrpcServerTls | undefined;
  /** TLS settings of this process as a client. */
  readonly clientTls: true | GrpcClientTls | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

interface ReplicaWithOpenChannel<Operations> {
  readonly channel: GrpcServiceChannel;
  readonly operations: Operations;
}

/**
 * Connections to single replicas that share a group of leases, by the id of their process. A connection is closed when
 * its replica has ended; otherwise it would try to connect forever. A replica that restarts at the same address gets a
 * new connection.
 */
export class ReplicaChannels<Operations extends Parts<Operations>> {
  private readonly replicas = new Map<string, ReplicaWithOpenChannel<Operations>>();

  constructor(
    shares: LeaseDistributor,
    group: string,
    private readonly options: ReplicaChannelsOptions,
  ) {
    shares.followMembersOfGroup(group, (members) =>
      this.closeChannelsOfEndedReplicas(new Set(members.map(({ id }) => id))),
    );
  }

  /**
   * Returns the operations of a replica, always the same object.
   * @param address address `host:port` of the replica
   */
  getOrCreateReplicaClient({ id, tlsName }: Pick<LeaseMember, 'id' | 'tlsName'>, address: string): Operations {
    const known = this.replicas.get(id);
    if (known !== undefined) return known.operations;
    const { proto, token, tls: server, clientTls, logger, metrics } = this.options;
    const client = typeof clientTls === 'object' ? clientTls : {};
    // Replicas of one service share a certificate, and a replica of an earlier version does not announce its name.
    const serverName = tlsName ?? (server && findHostNameOfCertificate(server));
    const tls = (server ?? clientTls) && { ...client, ...(serverName !== undefined && { serverName }) };
    const channel = new GrpcServiceChannel({
      services: { [proto.name]: `dns:///${address}` },
      token,
      ...(tls && { tls }),
      logger,
      // A replica that restarts is expected, and callers do without its response.
      unavailableLogLevel: 'info',
      metrics,
    });
    const operations = channel.createGrpcClientOperations<Operations>(proto, CALL_DEADLINE_MS);
    this.replicas.set(id, { channel, operations });
    return operations;
  }

  /** Waits for calls in progress, and closes all connections. */
  async closeReplicaChannels(): Promise<void> {
    const channels = [...this.replicas.values()].map(({ channel }) => channel);
    this.replicas.clear();
    await Promise.all(channels.map((channel) => channel.closeChannel()));
  }

  private closeChannelsOfEndedReplicas(live: ReadonlySet<string>): void {
    for (const [id, { channel }] of this.replicas) {
      if (live.has(id)) continue;
      this.replicas.delete(id);
      void channel.closeChannel();
    }
  }
}

/**
 * Connects to each live replica that shares a group of leases and has an address, and follows it.
 * @param follow receives the operations of a replica, and a signal that aborts when the replica has ended. Must not
 * reject
 * @returns a function that ends all signals and closes the connections
 */
export function connectToEachReplica<Operations extends Parts<Operations>>(
  shares: LeaseDistributor,
  group: string,
  options: ReplicaChannelsOptions,
  follow: (operations: Operations, signal: AbortSignal) => Promise<void>,
): () => Promise<void> {
  const replicas = new ReplicaChannels<Operations>(shares, group, options);
  const followed = new Map<string, AbortController>();
  let isEnded = false;
  const update = (members: readonly LeaseMember[]) => {
    const live = new Set(members.map(({ id }) => id));
    for (const [id, controller] of followed) {
      if (live.has(id)) continue;
      followed.delete(id);
      controller.abort();
    }
    for (const member of members) {
      if (member.address === undefined || followed.has(member.id)) continue;
      const controller = new AbortController();
      followed.set(member.id, controller);
      void follow(replicas.getOrCreateReplicaClient(member, member.address), controller.signal);
    }
  };
  shares.followMembersOfGroup(group, (members) => {
    if (!isEnded) update(members);
  });
  return async () => {
    isEnded = true;
    for (const controller of followed.values()) controller.abort();
    await replicas.closeReplicaChannels();
  };
}

/**
 * Returns the address at which other processes reach the server of this process: the listening address, or the first
 * address of this machine in a network if the server listens on all addresses.
 * @param address listening address `host:port`
 */
export function getAdvertisedAddress(address: string): string {
  const end = address.lastIndexOf(':');
  const [host, port] = [address.slice(0, end), address.slice(end + 1)];
  if (!UNSPECIFIED_HOSTS.has(host)) return address;
  const all = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
  const reachable = all.find(({ family, internal }) => family === 'IPv4' && !internal);
  return `${reachable?.address ?? '127.0.0.1'}:${port}`;
}

/**
 * Returns the first host name of the certificate, if it has one. Callers reach a replica at an address that is not in
 * the certificate, so they check the certificate for this name.
 */
export function findHostNameOfCertificate({ cert }: Pick<GrpcServerTls, 'cert'>): string | undefined {
  const { subjectAltName = '' } = new X509Certificate(cert);
  const name = subjectAltName.split(', ').find((one) => one.startsWith('DNS:'));
  return name?.slice('DNS:'.length);
}
