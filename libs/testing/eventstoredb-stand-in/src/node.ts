import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossipPb, { type ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import serverFeaturesService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import serverFeaturesPb, { type SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import sharedPb, { type Empty } from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { type handleUnaryCall, Server, ServerCredentials, type ConnectionInjector } from '@grpc/grpc-js';
import { createAppendCallHandler, createBatchAppendCallHandler, createDeleteCallHandlers } from './appends.ts';
import { FaultSwitches } from './faults.ts';
import { createCredentialAndRoleInterceptor, type NodeRole } from './gate.ts';
import { createNodeAddress, LISTEN_HOST, type NodeAddress } from './node-address.ts';
import { createReadCallHandler } from './reads.ts';
import { createNewEvent, RequestRefusedError } from './records.ts';
import { ReplicaEventLog } from './replica-log.ts';
import type { StandInStreamStore } from './stream-store.ts';

/** Milliseconds to send the ends of subscriptions before their connections are closed. */
const MS_TO_SEND_SUBSCRIPTION_ENDS = 100;

/** Maximum size of a request in bytes, the same as for a real node. */
const MAX_REQUEST_BYTES = 17 * 1_024 * 1_024;

/** Settings that all nodes of a cluster share. */
export interface StandInNodeSettings {
  /** True if the node supports the call `BatchAppend`, as current nodes do. */
  readonly batchAppend: boolean;
  /** Milliseconds between statistics that the node writes into its own log, the first at its start; 0 for none. */
  readonly statsEvery: number;
  /** Number of events that a live subscription may be behind while its client reads nothing. */
  readonly liveBuffer: number;
  /** Certificate and key in PEM; undefined for connections without TLS. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Passwords by user name; if it is empty, requests need no credentials. */
  readonly users: ReadonlyMap<string, string>;
}

interface StandInNodeOptions {
  readonly port: number;
  readonly streams: StandInStreamStore;
  readonly settings: StandInNodeSettings;
  readonly cluster: {
    readonly nodes: readonly StandInNode[];
    /** Returns the leader; undefined during an election. */
    readonly findLeader: () => StandInNode | undefined;
  };
}

const doNothing = () => undefined;

/** A node of the stand-in. */
export class StandInNode {
  readonly faults: FaultSwitches;
  readonly log: ReplicaEventLog;
  readonly address: NodeAddress;
  private readonly sockets = new Set<Socket>();
  private readonly grpc: Server;
  private readonly injector: ConnectionInjector;
  private listener: NetServer | undefined;
  private stats: NodeJS.Timeout | undefined;

  constructor(private readonly options: StandInNodeOptions) {
    const { port, streams, settings } = options;
    const { tls, users } = settings;
    this.address = createNodeAddress(port, tls !== undefined);
    this.log = new ReplicaEventLog(streams.store);
    this.faults = new FaultSwitches(() => this.cutNodeConnections());
    this.grpc = new Server({
      'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
      interceptors: [createCredentialAndRoleInterceptor({ faults: this.faults, role: () => this.role, users })],
    });
    const credentials =
      tls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
    // The node owns its sockets. When it destroys one, the client sees a lost node.
    this.injector = this.grpc.createConnectionInjector(credentials);
    this.addGrpcServices();
  }

  /** True if the node is part of the cluster at this moment. */
  get isAlive(): boolean {
    return this.listener !== undefined && !this.faults.isFrozen;
  }

  private get role(): NodeRole {
    const leader = this.options.cluster.findLeader();
    return { isLeader: leader === this, leader: leader?.address };
  }

  async startStandInNode(): Promise<void> {
    await this.startAppendingStatisticsEvents();
    await this.listen();
  }

  /** Accepts connections. */
  async listen(): Promise<void> {
    if (this.listener !== undefined) return;
    const listener = createServer({ noDelay: true }, (socket) => {
      this.sockets.add(socket);
      socket.on('error', doNothing);
      socket.once('close', () => this.sockets.delete(socket));
      this.injector.injectConnection(socket);
    });
    this.listener = listener;
    listener.listen(this.options.port, LISTEN_HOST);
    await once(listener, 'listening');
  }

  /** Cuts all connections and accepts no new ones, like a node that was killed. */
  cutAndRefuseConnections(): void {
    this.listener?.close();
    this.listener = undefined;
    this.cutNodeConnections();
  }

  /** Stops like a node that receives SIGTERM: subscriptions end with an error before the connections close. */
  async stopStandInNode(): Promise<void> {
    clearInterval(this.stats);
    this.listener?.close();
    this.faults.endSubscriptions(new RequestRefusedError({ kind: 'shutting_down' }));
    await pause(MS_TO_SEND_SUBSCRIPTION_ENDS);
    this.cutNodeConnections();
    this.grpc.forceShutdown();
  }

  private cutNodeConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private addGrpcServices(): void {
    const { streams: all, settings, cluster } = this.options;
    const streams = all.createStoreWithLogCopy(this.log);
    this.grpc.addService(streamsService.StreamsService, {
      read: createReadCallHandler(streams, this.faults, settings),
      append: createAppendCallHandler(streams, this.faults),
      ...(settings.batchAppend && { batchAppend: createBatchAppendCallHandler(streams, this.faults, () => this.role) }),
      ...createDeleteCallHandlers(streams, this.faults),
    });
    this.grpc.addService(gossipService.GossipService, { read: createGossipCallHandler(cluster) });
    this.grpc.addService(serverFeaturesService.ServerFeaturesService, {
      getSupportedMethods: createSupportedMethodsCallHandler(settings.batchAppend),
    });
  }

  /** Writes statistics, because the log of a node may contain events that no client wrote. */
  private async startAppendingStatisticsEvents(): Promise<void> {
    const { port, streams, settings } = this.options;
    if (settings.statsEvery === 0) return;
    const write = async () => {
      const data = Buffer.from(JSON.stringify({ 'proc-mem': process.memoryUsage.rss() }));
      const event = createNewEvent({
        id: randomUUID(),
        type: '$statsCollected',
        contentType: 'application/json',
        data,
      });
      await streams.appendEvents(`$stats-${LISTEN_HOST}:${port}`, 'any', [event]);
    };
    await write();
    this.stats = setInterval(() => void write(), settings.statsEvery);
  }
}

const EVENTSTOREDB_NODE_VERSION = '23.10.0.0';

/** Handles the call with which a client finds the nodes of a cluster and their roles. */
function createGossipCallHandler({
  nodes,
  findLeader,
}: StandInNodeOptions['cluster']): handleUnaryCall<Empty, ClusterInfo> {
  const { LEADER, FOLLOWER, UNKNOWN } = gossipPb.MemberInfo.VNodeState;
  return (_call, callback) => {
    const leader = findLeader();
    const members = nodes.map((node) =>
      new gossipPb.MemberInfo()
        .setInstanceId(new sharedPb.UUID().setString(randomUUID()))
        .setTimeStamp(String(Date.now()))
        .setState(leader === undefined ? UNKNOWN : node === leader ? LEADER : FOLLOWER)
        // A lost leader counts as alive until its loss is noticed.
        .setIsAlive(node.isAlive || node === leader)
        .setHttpEndPoint(new gossipPb.EndPoint().setAddress(node.address.host).setPort(node.address.port)),
    );
    callback(null, new gossipPb.ClusterInfo().setMembersList(members));
  };
}

/**
 * Returns the handler of the call with which a client reads the supported calls.
 * @param batchAppend false if each append must be a separate call
 */
function createSupportedMethodsCallHandler(batchAppend: boolean): handleUnaryCall<Empty, SupportedMethods> {
  const methods = ['read', 'append', 'delete', 'tombstone', ...(batchAppend ? ['batchappend'] : [])].map((name) =>
    new serverFeaturesPb.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
  );
  return (_call, callback) => {
    const supported = new serverFeaturesPb.SupportedMethods().setEventStoreServerVersion(EVENTSTOREDB_NODE_VERSION);
    callback(null, supported.setMethodsList(methods));
  };
}
