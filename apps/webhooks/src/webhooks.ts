import { GrpcServiceChannel, GrpcServiceServer, SHIPMENTS_PROTO, WEBHOOKS_PROTO } from '@tracking/distributed';
import { createOutboundHttp } from '@tracking/outbound-http';
import { PublishedEvents, ReadModels } from '@tracking/read-models';
import { openSealingKey } from '@tracking/runtime';
import { openKafka, openMongo, ReplicaChannels, Service } from '@tracking/service';
import { type ShipmentOperations, createRemoteEventMaker } from '@tracking/shipments';
import {
  type FindShardOwner,
  createShardLeaseName,
  Webhooks,
  storeOrCheckSecretsKey,
  type WebhookOperations,
} from '@tracking/webhooks';
import type { WebhooksConfig } from './config.ts';

/**
 * Deadline in milliseconds of a request to the shipments service, which is shorter than the deadlines of the callers.
 */
const LOG_HEAD_REQUEST_DEADLINE_MS = 5_000;
/** Name of the group of leases of the shards. */
const SHARD_LEASES = 'webhook_shards';

/**
 * Starts the webhooks service, which sends events from Kafka to the clients' endpoints. It makes all outbound calls of
 * the system.
 */
export async function startWebhooks(config: WebhooksConfig): Promise<void> {
  const service = await Service.start('webhooks', config);
  const { logger, metrics, clock, shutdown } = service;

  // Storage engines
  const { documentStore, shares } = openMongo(service, config.mongo, config);
  const leases = shares.getGroup('webhook_jobs');
  const broker = openKafka(service, config.kafka);
  const channel = new GrpcServiceChannel({ ...config.shipments, token: config.token, logger, metrics });
  shutdown.addShutdownStep('command channel', () => channel.closeChannel());
  const { events } = channel.createOperations<ShipmentOperations>(SHIPMENTS_PROTO, LOG_HEAD_REQUEST_DEADLINE_MS);
  service.addEngineReadinessCheck('shipments', () => events.head());
  const outbound = createOutboundHttp({ ...config.webhooks, metrics });
  shutdown.addShutdownStep('outbound calls', () => outbound.closeReceivers());

  const use = (key: Uint8Array, lost?: string) =>
    service.retryUntilAvailable(() => storeOrCheckSecretsKey(documentStore, key, lost));
  const secretsKey = await openSealingKey(config, use);

  // Event log in which replays find missed events.
  const readModels = await ReadModels.start({
    ...{ eventStore: events, documentStore, leases, clock, logger, metrics },
    project: false,
  });
  shutdown.addShutdownStep('read models', () => readModels.stop());
  const { log: eventLog } = new PublishedEvents(readModels, createRemoteEventMaker(events));

  // Other replicas
  const replicas = new ReplicaChannels<WebhookOperations>(shares, SHARD_LEASES, {
    ...{ ...config, proto: WEBHOOKS_PROTO, clientTls: config.shipments.tls, logger, metrics },
  });
  shutdown.addShutdownStep('replicas', () => replicas.closeReplicaChannels());
  const shardLeases = shares.getGroup(SHARD_LEASES);
  const findShardOwner: FindShardOwner = (shard) => {
    const owner = shardLeases.findOtherOwner(createShardLeaseName(shard));
    if (owner?.address === undefined) return undefined;
    return replicas.connect(owner, owner.address).owners;
  };

  // Feature
  const { addresses, webhooks: policy } = config;
  const { timeoutMs, recoveryAfterMs, failingAfterMs, retention } = policy;
  const starting = () =>
    Webhooks.start({
      eventStore: events,
      eventLog,
      documentStore,
      broker,
      leases,
      shardLeases,
      findShardOwner,
      outbound,
      secretsKey,
      clock,
      random: Math.random,
      logger,
      metrics,
      settings: { addresses, timeoutMs, recoveryAfterMs, failingAfterMs, policy, retention },
    });
  const webhooks = await service.retryUntilAvailable(starting);
  shutdown.addShutdownStep('webhooks', () => webhooks.stop());

  // Edge
  const server = new GrpcServiceServer({ ...config, proto: WEBHOOKS_PROTO, logger, metrics });
  server.serveOperations<WebhookOperations>(webhooks);
  await server.listenOnAddress();
  shutdown.addShutdownStep('commands', () => server.closeServer());
  service.markReady({ address: config.address });
}
