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
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import { EmbeddedEngine } from '@tracking/embedded';
import type { Logger, Metrics } from '@tracking/ports';
import { appendCalls, deleteCalls } from './appends.ts';
import { FaultSwitches } from './faults.ts';
import { readCall } from './reads.ts';
import { newEvent, RequestRefused } from './records.ts';
import { StreamStore } from './stream-store.ts';

/** The limit of an append is checked when it arrives; stored here, it can have more bytes. */
const LIMITS = { appendBytes: 16 * 1_048_576 };

/** Long enough for the ends of subscriptions to leave before their connections are dropped. */
const FLUSH_MS = 100;

/** As a node has it: events of this size may be read. */
const MOST_BYTES = 17 * 1_024 * 1_024;

interface NodeOptions {
  readonly folder: string;
  readonly port: number;
  /** Whether it offers the call `BatchAppend`, as a node of today does. */
  readonly batchAppend: boolean;
  /** Milliseconds between the statistics that it writes into its own log, the first at its start; 0: none. */
  readonly statsEvery: number;
  /** Events that a live subscription may fall behind while its client takes nothing. */
  readonly liveBuffer: number;
}

const nothing = () => undefined;
const logger: Logger = { debug: nothing, info: nothing, warn: console.error, error: console.error };
const metrics: Metrics = {
  counter: () => ({ add: nothing }),
  gauge: () => ({ set: nothing }),
  histogram: () => ({ observe: nothing }),
};

/** A node that serves. */
export class StandInNode {
  readonly faults: FaultSwitches;
  private readonly sockets = new Set<Socket>();
  private readonly grpc = new Server({ 'grpc.max_receive_message_length': MOST_BYTES });
  private readonly listener: NetServer;
  private readonly engine: EmbeddedEngine;
  private stats: NodeJS.Timeout | undefined;

  private constructor(engine: EmbeddedEngine) {
    this.engine = engine;
    this.faults = new FaultSwitches(() => this.cutConnections());
    // Sockets in our own hands: what is cut shall look to the client like a lost node.
    const injector = this.grpc.createConnectionInjector(ServerCredentials.createInsecure());
    this.listener = createServer({ noDelay: true }, (socket) => {
      this.sockets.add(socket);
      socket.on('error', nothing);
      socket.once('close', () => this.sockets.delete(socket));
      injector.injectConnection(socket);
    });
  }

  static async start(options: NodeOptions): Promise<StandInNode> {
    const engine = await EmbeddedEngine.open({ dataDir: options.folder, logger, metrics, limits: LIMITS });
    const streams = await StreamStore.open(engine.eventStore);
    const node = new StandInNode(engine);
    node.addServices(streams, options);
    await node.keepStats(streams, options);
    node.listener.listen(options.port, '127.0.0.1');
    await once(node.listener, 'listening');
    return node;
  }

  cutConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Drops everybody, as a node that was told to end: subscriptions fail, and not for want of a connection. */
  async stop(): Promise<void> {
    clearInterval(this.stats);
    this.listener.close();
    this.faults.endSubscriptions(new RequestRefused({ kind: 'shutting_down' }));
    await pause(FLUSH_MS);
    this.cutConnections();
    this.grpc.forceShutdown();
    await this.engine.close();
  }

  private addServices(streams: StreamStore, { port, batchAppend, liveBuffer }: NodeOptions): void {
    this.grpc.addService(streamsService.StreamsService, {
      read: readCall(streams, this.faults, { liveBuffer }),
      ...appendCalls(streams, this.faults),
      ...deleteCalls(streams, this.faults),
    });
    this.grpc.addService(gossipService.GossipService, { read: gossipCall(port) });
    this.grpc.addService(serverFeaturesService.ServerFeaturesService, {
      getSupportedMethods: supportedMethodsCall(batchAppend),
    });
  }

  /** A node's log may hold more than its clients wrote. */
  private async keepStats(streams: StreamStore, { port, statsEvery }: NodeOptions): Promise<void> {
    if (statsEvery === 0) return;
    const write = async () => {
      const data = Buffer.from(JSON.stringify({ 'proc-mem': process.memoryUsage.rss() }));
      const event = newEvent({ id: randomUUID(), type: '$statsCollected', contentType: 'application/json', data });
      await streams.append(`$stats-127.0.0.1:${port}`, 'any', [event]);
    };
    await write();
    this.stats = setInterval(() => void write(), statsEvery);
  }
}

const VERSION = '23.10.0.0';

/** The call by which a client finds the leader among the nodes it was given: this one is a cluster of its own. */
function gossipCall(port: number): handleUnaryCall<Empty, ClusterInfo> {
  const instanceId = new sharedPb.UUID().setString(randomUUID());
  return (_call, callback) => {
    const member = new gossipPb.MemberInfo()
      .setInstanceId(instanceId)
      .setTimeStamp(String(Date.now()))
      .setState(gossipPb.MemberInfo.VNodeState.LEADER)
      .setIsAlive(true)
      .setHttpEndPoint(new gossipPb.EndPoint().setAddress('127.0.0.1').setPort(port));
    callback(null, new gossipPb.ClusterInfo().setMembersList([member]));
  };
}

/** The call by which a client learns what the node can do. @param batchAppend without it each append is a call */
function supportedMethodsCall(batchAppend: boolean): handleUnaryCall<Empty, SupportedMethods> {
  const methods = ['read', 'append', 'delete', 'tombstone', ...(batchAppend ? ['batchappend'] : [])].map((name) =>
    new serverFeaturesPb.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
  );
  return (_call, callback) => {
    const supported = new serverFeaturesPb.SupportedMethods().setEventStoreServerVersion(VERSION);
    callback(null, supported.setMethodsList(methods));
  };
}
