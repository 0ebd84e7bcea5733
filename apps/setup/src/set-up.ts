import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { checkMongoServerAccess, KafkaMessageBroker, MongoConnection, MongoDocumentStore } from '@tracking/distributed';
import { IdentityServices } from '@tracking/identity';
import type { TopicSpec } from '@tracking/ports';
import { deriveKey } from '@tracking/runtime';
import { ServiceProcess } from '@tracking/service';
import { WEBHOOK_BROKER_TOPICS } from '@tracking/webhooks';
import { listIndexedCollections } from './collections.ts';
import type { SetupConfig } from './config.ts';
import { recordCompletedSetUp } from './update-order.ts';

/**
 * Creates the topics that the services need, adds missing partitions to them, and builds the indexes of collections that
 * contain documents, which services do not do. Then services of this release may start. Waits until the engines are
 * available. Can be repeated.
 */
export async function createTopicsAndIndexes(config: SetupConfig): Promise<void> {
  const service = await ServiceProcess.start('setup', config);
  const { logger, metrics, clock, shutdown } = service;
  const broker = new KafkaMessageBroker({ ...config.kafka, logger, metrics });
  shutdown.addShutdownStep('message broker', () => broker.close());
  const connection = new MongoConnection({ ...config.mongo, metrics });
  shutdown.addShutdownStep('document store', () => connection.closeConnection());
  service.stopProcessIfEngineRefuses('MONGODB_URL', () => checkMongoServerAccess(connection));

  const topics = [SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_BROKER_TOPICS].map((topic) =>
    createTopicSpecWithPartitions(topic, config),
  );
  await service.retryUntilAvailable(() => broker.ensureTopics(topics));
  logger.info({ topics: topics.map(({ name }) => name) }, 'topics are ready');
  const documentStore = new MongoDocumentStore(connection, { canChangeIndexes: true });
  const collections = await service.retryUntilAvailable(() => listIndexedCollections(documentStore));
  for (const spec of collections) await service.retryUntilAvailable(() => documentStore.collection(spec));
  logger.info({ collections: collections.map(({ name }) => name) }, 'indexes are ready');
  const secret = deriveKey(config.secretsKey, 'identity');
  const identity = await service.retryUntilAvailable(() =>
    IdentityServices.openIdentity({ documentStore, clock, logger, secret }),
  );
  await identity.closeIdentityAfterPendingWrites();
  const { release } = service;
  if (release !== undefined) await service.retryUntilAvailable(() => recordCompletedSetUp(documentStore, release));
  logger.info({}, 'set-up is complete');
  await shutdown.runShutdownSteps();
  process.exit(0);
}

/**
 * Returns the topic with the configured number of partitions. A topic with one partition keeps it, and so the order of
 * all its messages.
 */
function createTopicSpecWithPartitions(topic: TopicSpec, { topicPartitions: partitions }: SetupConfig): TopicSpec {
  return topic.partitions === 1 ? topic : { ...topic, partitions };
}
