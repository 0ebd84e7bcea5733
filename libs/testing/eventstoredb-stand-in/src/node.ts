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
import { createNewEvent, RequestRefusedError } from './records.ts';
import { StreamStore } from './stream-store.ts';

/**
 * Limits of the store. The stand-in checks the size of an append when the append arrives; the stored form can have more
 * bytes.
 */
const EVENT_STORE_LIMITS = { appendBytes: 16 * 1_048_576 };

/** Milliseconds to send the ends of subscriptions before their connections are closed. */
const SUBSCRIPTION_END_MS = 100;

/** Maximum size of a request in bytes, the same as for a real node. */
const MAX_REQUEST_BYTES = 17 * 1_024 * 1_024;

interface NodeOptions {
  readonly folder: string;
  readonly port: number;
  /** True if the node supports the call `BatchAppend`, as current nodes do. */
  readonly batchAppend: boolean;
  /** Milliseconds between statistics that the node writes into its own log, the first at its start; 0 for none. */
  readonly statsEvery: number;
  /** Number of events that a live subscription may be behind while its client reads nothing. */
  readonly liveBuffer: number;
}

const doNothing = () => undefined;
const logger: Logger = { debug: doNothing, info: doNothing, warn: console.error, error: console.error };
const metrics: Metrics = {
  counter: () => ({ add: doNothing }),
  gauge: () => ({ set: doNothing }),
  histogram: () => ({ observe: doNothing }),
};

/** A running stand-in node. */
export class StandInNode {
  readonly faults: FaultSwitches;
  private readonly sockets = new Set<Socket>();
  private readonly grpc = new Server({ 'grpc.max_receive_message_length': MAX_REQUEST_BYTES });
  private readonly listener: NetServer;
  private readonly engine: EmbeddedEngine;
  private stats: NodeJS.Timeout | undefined;

  private constructor(engine: EmbeddedEngine) {
    this.engine = engine;
    this.faults = new FaultSwitches(() => this.cutConnections());
    // The node owns its sockets. When it destroys one, the client sees a lost node.
    const injector = this.grpc.createConnectionInjector(ServerCredentials.createInsecure());
    this.listener = createServer({ noDelay: true }, (socket) => {
      this.sockets.add(socket);
      socket.on('error', doNothing);
      socket.once('close', () => this.sockets.delete(socket));
      injector.injectConnection(socket);
    });
  }

  static async start(options: NodeOptions): Promise<StandInNode> {
    const engine = await EmbeddedEngine.open({ dataDir: options.folder, logger, metrics, limits: EVENT_STORE_LIMITS });
    const streams = await StreamStore.open(engine.eventStore);
    const node = new StandInNode(engine);
    node.addServices(streams, options);
    await node.startStats(streams, options);
    node.listener.listen(options.port, '127.0.0.1');
    await once(node.listener, 'listening');
    return node;
  }

  cutConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Stops like a node that receives SIGTERM: subscriptions end with an error before the connections close. */
  async stop(): Promise<void> {
    clearInterval(this.stats);
    this.listener.close();
    this.faults.endSubscriptions(new RequestRefusedError({ kind: 'shutting_down' }));
    await pause(SUBSCRIPTION_END_MS);
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

  /** Writes statistics, because the log of a node may contain events that no client wrote. */
  private async startStats(streams: StreamStore, { port, statsEvery }: NodeOptions): Promise<void> {
    if (statsEvery === 0) return;
    const write = async () => {
      const data = Buffer.from(JSON.stringify({ 'proc-mem': process.memoryUsage.rss() }));
      const event = createNewEvent({
        id: randomUUID(),
        type: '$statsCollected',
        contentType: 'application/json',
        data,
      });
      await streams.append(`$stats-127.0.0.1:${port}`, 'any', [event]);
    };
    await write();
    this.stats = setInterval(() => void write(), statsEvery);
  }
}

const NODE_VERSION = '23.10.0.0';

/** Handles the call with which a client finds the leader of a cluster. This node is the only member of its cluster. */
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

/**
 * Handles the call with which a client reads the supported calls. @param batchAppend false if each append must be a
 * separate call
 */
function supportedMethodsCall(batchAppend: boolean): handleUnaryCall<Empty, SupportedMethods> {
  const methods = ['read', 'append', 'delete', 'tombstone', ...(batchAppend ? ['batchappend'] : [])].map((name) =>
    new serverFeaturesPb.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
  );
  return (_call, callback) => {
    const supported = new serverFeaturesPb.SupportedMethods().setEventStoreServerVersion(NODE_VERSION);
    callback(null, supported.setMethodsList(methods));
  };
}
