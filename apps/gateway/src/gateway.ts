import { GrpcCommandChannel, MongoQuota } from '@tracking/distributed';
import { createAdministrationApi, createHttpApi, currentRequest, guarded } from '@tracking/http-api';
import { Identity } from '@tracking/identity';
import { loadPlaces } from '@tracking/places';
import { PublishedEvents, ReadModels } from '@tracking/read-models';
import { blaming, derivedKey, sealingKey } from '@tracking/runtime';
import { Service, openMongo } from '@tracking/service';
import { eventBodiesClient, eventTransferClient, headClient, shipmentsClient } from '@tracking/shipments';
import { useSecretsKey, webhooksClient } from '@tracking/webhooks';
import type { GatewayConfig } from './config.ts';

const COMMAND_DEADLINE_MS = 10_000;
/** A write is answered when the read models show it, or after this time. */
const ANSWER_WAIT_MS = 500;

/** The public API and the operators' API: requests to commands and queries. Keeps nothing and imports no event store. */
export async function startGateway(config: GatewayConfig): Promise<void> {
  const service = await Service.start('gateway', config);
  const { logger, metrics, clock, health, shutdown } = service;
  const places = await loadPlaces({ file: config.placesFile });
  const { baseUrl, appUrl, rateLimitPerMinute, trustedProxies } = config;

  // Engines
  const { documentStore, leases } = openMongo(service, config.mongo);
  const quota = new MongoQuota(documentStore, clock);
  shutdown.add('quota', () => quota.close());
  const channel = new GrpcCommandChannel({ ...config, origin: currentRequest, logger, metrics });
  shutdown.add('command channel', () => channel.close());
  const eventStore = headClient(channel, { deadlineMs: COMMAND_DEADLINE_MS });
  service.watch('shipments', () => eventStore.head());

  // It opens no secret, but would seal with the same key.
  await sealingKey(config, (key, lost) => service.patiently(() => useSecretsKey(documentStore, key, lost)));

  // Features, most of them in other services
  const identity = await service.patiently(() => Identity.open({ documentStore, clock, logger }));
  shutdown.add('identity', () => identity.close());
  const readModels = await ReadModels.start({
    eventStore,
    documentStore,
    leases,
    clock,
    logger,
    metrics,
    project: false,
  });
  shutdown.add('read models', () => readModels.stop());
  const webhooks = webhooksClient(channel, config.webhookTimeoutMs + COMMAND_DEADLINE_MS);
  const bodies = eventBodiesClient(channel, { deadlineMs: COMMAND_DEADLINE_MS });
  const events = new PublishedEvents(readModels, bodies);

  // Edges
  const administration = await createAdministrationApi({
    identity,
    readModels,
    webhooks,
    events: eventTransferClient(channel, { deadlineMs: COMMAND_DEADLINE_MS }),
    publishedEvents: events,
    logger,
    clock,
  });
  shutdown.add('administration', () => administration.close());
  service.manage(await guarded(administration, config.administrationToken));
  const api = await createHttpApi({
    shipments: shipmentsClient(channel, { deadlineMs: COMMAND_DEADLINE_MS }),
    readModels,
    webhooks,
    events,
    authenticateKey: (key) => identity.authenticateKey(key),
    head: () => eventStore.head(),
    quota,
    places,
    clock,
    logger,
    metrics,
    health: () => health.report(),
    settings: {
      baseUrl,
      appUrl,
      rateLimitPerMinute,
      trustedProxies,
      cursorSecret: derivedKey(config.secretsKey, 'cursors'),
      answerWaitMs: ANSWER_WAIT_MS,
    },
  });
  await readModels.ready;
  const { port, host } = config;
  await blaming('HOST, PORT', api.getHttpAdapter().getInstance().listen({ port, host }));
  shutdown.add('api', () => api.close());
  service.ready({ url: baseUrl, docs: `${baseUrl}/docs` });
}
