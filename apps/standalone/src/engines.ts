import { join } from 'node:path';
import { EmbeddedEngine, FileObjectStore } from '@tracking/embedded';
import { createOutboundHttp } from '@tracking/outbound-http';
import { loadPlaces } from '@tracking/places';
import type { Clock, Logger } from '@tracking/ports';
import { PrometheusMetrics, blaming, sealingKey, type Shutdown } from '@tracking/runtime';
import { useSecretsKey } from '@tracking/webhooks';
import type { StandaloneConfig } from './config.ts';
import { secretsKey } from './secrets.ts';

export type Engines = Awaited<ReturnType<typeof openEngines>>;

/** What all features run on. Closed after everything that is started later. */
export async function openEngines(config: StandaloneConfig, logger: Logger, shutdown: Shutdown) {
  const metrics = new PrometheusMetrics('standalone');
  const clock: Clock = () => new Date();
  const places = await loadPlaces({ file: config.placesFile });
  const opening = EmbeddedEngine.open({ dataDir: config.dataDir, logger, metrics });
  const engine = await blaming(`DATA_DIR ${config.dataDir}`, opening);
  shutdown.add('engine', () => engine.close());
  // Its folder is locked by now.
  const objects = await blaming(`DATA_DIR ${config.dataDir}`, FileObjectStore.open(join(config.dataDir, 'objects')));
  const { eventStore, documentStore, messageBroker: broker, leases, quota } = engine;
  const secrets = await blaming('SECRETS_KEY', secretsKey(config, documentStore));
  const sealing = await sealingKey(secrets, (key, lost) => useSecretsKey(documentStore, key, lost));
  const outbound = createOutboundHttp({ ...config.webhooks, metrics });
  shutdown.add('outbound calls', () => outbound.close());
  const storage = { eventStore, documentStore, broker, leases, objects };
  return { engine, storage, quota, outbound, places, clock, logger, metrics, secrets, sealing };
}
