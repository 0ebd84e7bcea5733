import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import { KafkaMessageBroker, MongoConnection, MongoDocumentStore } from '@tracking/distributed';
import { Identity } from '@tracking/identity';
import { deriveKey } from '@tracking/runtime';
import { Service } from '@tracking/service';
import { WEBHOOK_TOPICS } from '@tracking/webhooks';
import type { SetupConfig } from './config.ts';

/**
 * Creates the topics and collections that the services need and do not create themselves. Waits until the engines are
 * available. Can be repeated.
 */
export async function setUp(config: SetupConfig): Promise<void> {
  const service = await Service.start('setup', config);
  const { logger, metrics, clock, shutdown } = service;
  const broker = new KafkaMessageBroker({ ...config.kafka, logger, metrics });
  shutdown.add('message broker', () => broker.close());
  const connection = new MongoConnection({ ...config.mongo, metrics });
  shutdown.add('document store', () => connection.close());

  const topics = [SHIPMENT_EVENTS_TOPIC, ...WEBHOOK_TOPICS];
  await service.retryUntilAvailable(() => broker.ensureTopics(topics));
  logger.info({ topics: topics.map(({ name }) => name) }, 'topics are ready');
  const documentStore = new MongoDocumentStore(connection);
  const secret = deriveKey(config.secretsKey, 'identity');
  const identity = await service.retryUntilAvailable(() => Identity.open({ documentStore, clock, logger, secret }));
  await identity.close();
  logger.info({}, 'set-up is complete');
  await shutdown.run();
  process.exit(0);
}
