import { GrpcServiceChannel, GrpcServiceServer, SHIPMENTS_PROTO, WEBHOOKS_PROTO } from '@tracking/distributed';
import { createOutboundHttp } from '@tracking/outbound-http';
import { PublishedEventReader, ReadModels } from '@tracking/read-models';
import { deriveCheckedSecretsKey } from '@tracking/runtime';
import {
  openMessageBrokerOfService,
  openMongoStoreAndLeasesOfService,
  ReplicaChannels,
  ServiceProcess,
} from '@tracking/service';
import { type ShipmentOperations, createEventMakerCallingEventStoreProcess } from '@tracking/shipments';
import {
  type FindShardOwner,
  createShardLeaseName,
  WebhooksFeature,
  storeOrCheckSecretsKey,
  type WebhookOperations,
} from '@tracking/webhooks';
import type { WebhooksConfig } from './config.ts';

/**
 * Deadline in milliseconds of a request to the shipments service, which is shorter than the deadlines of the callers.
 */
const LOG_HEAD_REQUEST_DEADLINE_MS = 5_000;
/** Name of the group of leases of the shards. */
const SHARD_LEASE_GROUP = 'webhook_shards';

/**
 * Starts the webhooks service, which sends events from Kafka to the clients' endpoints. It makes all outbound calls of
 * the system.
 */
export async function startWebhooks(config: WebhooksConfig): Promise<void> {
  const service = await ServiceProcess.start('webhooks', config);
  const { logger, metrics, clock, shutdown } = service;

  // Storage engines
  const { documentStore, shares } = openMongoStoreAndLeasesOfService(service, config.mongo, config);
  const leases = shares.getOrCreateLeaseGroup('webhook_jobs');
  const broker = openMessageBrokerOfService(service, config.kafka);
  const channel = new GrpcServiceChannel({ ...config.shipments, token: config.token, logger, metrics });
  shutdown.addShutdownStep('command channel', () => channel.closeChannel());
  const { events } = channel.createGrpcClientOperations<ShipmentOperations>(
    SHIPMENTS_PROTO,
    LOG_HEAD_REQUEST_DEADLINE_MS,
  );
  service.addEngineReadinessCheck('shipments', () => events.head());
  const outbound = createOutboundHttp({ ...config.webhooks, metrics });
  shutdown.addShutdownStep('outbound calls', () => outbound.closeOutboundHttp());

  const use = (key: Uint8Array, lost?: string) =>
    service.retryUntilAvailable(() => storeOrCheckSecretsKey(documentStore, key, lost));
  const secretsKey = await deriveCheckedSecretsKey(config, use);

  // Event log in which replays find missed events.
  const readModels = await ReadModels.startReadModelsOfProcess({
    ...{ eventStore: events, documentStore, leases, clock, logger, metrics },
    project: false,
  });
  shutdown.addShutdownStep('read models', () => readModels.stop());
  const { log: eventLog } = new PublishedEventReader(readModels, createEventMakerCallingEventStoreProcess(events));

  // Other replicas
  const replicas = new ReplicaChannels<WebhookOperations>(shares, SHARD_LEASE_GROUP, {
    ...{ ...config, proto: WEBHOOKS_PROTO, clientTls: config.shipments.tls, logger, metrics },
  });
  shutdown.addShutdownStep('replicas', () => replicas.closeReplicaChannels());
  const shardLeases = shares.getOrCreateLeaseGroup(SHARD_LEASE_GROUP);
  const findShardOwner: FindShardOwner = (shard) => {
    const owner = shardLeases.findOtherLeaseOwner(createShardLeaseName(shard));
    if (owner?.address === undefined) return undefined;
    return replicas.getOrCreateReplicaClient(owner, owner.address).owners;
  };

  // Feature
  const { addresses, webhooks: policy } = config;
  const { timeoutMs, recoveryAfterMs, failingAfterMs, retention } = policy;
  const starting = () =>
    WebhooksFeature.start({
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
  server.setServedGrpcOperations<WebhookOperations>(webhooks);
  await server.listenOnAddress();
  shutdown.addShutdownStep('commands', () => server.drainAndCloseGrpcServer());
  service.markProcessReady({ address: config.address });
}
