import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  EventStoreDbEventStore,
  GridfsObjectStore,
  GrpcServiceChannel,
  GrpcServiceServer,
  KafkaMessageBroker,
  MongoConnection,
  MongoDocumentStore,
  MongoLeases,
  MongoQuota,
} from '@tracking/distributed';
import { EmbeddedSqliteEngine, FileObjectStore } from '@tracking/embedded';
import type { Logger, Metrics } from '@tracking/ports';
import { startDatabaseAndBrokerProcesses } from '@tracking/system';
import { findFreePort, noMetrics, silentLogger } from '@tracking/testing';
import { operations, type Measured, type Ports } from './adapter-operations.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const logger: Logger = silentLogger;
const metrics: Metrics = noMetrics;

/** An operation that is called between processes, or within one process. */
interface Calls {
  readonly calls: { echo(request: object): Promise<unknown> };
}
const localCalls: Calls = { calls: { echo: (request) => Promise.resolve(request) } };
const CALL_OPERATIONS = {
  name: 'bench',
  package: 'tracking.bench.v1',
  path: fileURLToPath(new URL('calls.proto', import.meta.url)),
};

async function openEmbedded(folder: string): Promise<{ ports: Ports; close: () => Promise<void> }> {
  const engine = await EmbeddedSqliteEngine.openEmbeddedEngine({ dataDir: join(folder, 'embedded'), logger, metrics });
  const { eventStore, documentStore, messageBroker: broker, leases, quota } = engine;
  const objects = await FileObjectStore.openFileObjectStore(join(folder, 'objects'));
  return {
    ports: { eventStore, documentStore, broker, leases, quota, objects, ...localCalls },
    close: () => engine.closeEngine(),
  };
}

async function openDistributed(folder: string): Promise<{ ports: Ports; close: () => Promise<void> }> {
  const { EVENTSTOREDB_URL, KAFKA_BROKERS, MONGODB_URL, ENGINES_DIR = '../shared/engines' } = process.env;
  const engines = await startDatabaseAndBrokerProcesses({
    folder,
    enginesDir: ENGINES_DIR,
    eventStoreDbUrl: EVENTSTOREDB_URL,
    kafkaBrokers: KAFKA_BROKERS,
    mongoUrl: MONGODB_URL,
  });
  if (engines.eventStoreDb) print('event store: the stand-in, not EventStoreDB');
  const eventStore = new EventStoreDbEventStore({ url: engines.eventStoreDbUrl, logger, metrics });
  const connection = new MongoConnection({ url: engines.mongoUrl, metrics });
  const documentStore = new MongoDocumentStore(connection);
  const broker = new KafkaMessageBroker({ brokers: engines.kafkaBrokers.split(','), logger, metrics });
  const leases = new MongoLeases(documentStore, noMetrics);
  const quota = new MongoQuota(documentStore);
  const address = `127.0.0.1:${await findFreePort()}`;
  const token = randomUUID();
  const server = new GrpcServiceServer({ proto: CALL_OPERATIONS, address, token, logger, metrics });
  server.setServedGrpcOperations(localCalls);
  await server.listenOnAddress();
  const channel = new GrpcServiceChannel({ services: { bench: `dns:///${address}` }, token, logger, metrics });
  const objects = new GridfsObjectStore(connection);
  return {
    ports: {
      eventStore,
      documentStore,
      broker,
      leases,
      quota,
      objects,
      ...channel.createGrpcClientOperations<Calls>(CALL_OPERATIONS, 5_000),
    },
    async close() {
      await channel.closeChannel();
      await Promise.all([
        server.drainAndCloseGrpcServer(),
        broker.close(),
        eventStore.close(),
        leases.close(),
        quota.close(),
      ]);
      await connection.closeConnection();
      await Promise.all(
        [engines.eventStoreDb, engines.kafka, engines.mongo].map(async (engine) => engine?.stopProcess()),
      );
    },
  };
}

/** Measures the frequent operations of every port, on the embedded and on the distributed engines. */
export async function benchAdapters(seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-adapters-'));
  const near = await openEmbedded(folder);
  const far = await openDistributed(folder);
  print(`${''.padEnd(54)} ${'embedded'.padEnd(34)} distributed`);
  try {
    for (const [name, operation] of Object.entries(operations(seconds))) {
      const one = await operation(near.ports);
      await pause(200);
      const other = await operation(far.ports);
      print(
        `${name.padEnd(54)} ${formatMeasured(one).padEnd(34)} ${formatMeasured(other)}  ${(other.rate / one.rate).toFixed(2)}`,
      );
    }
  } finally {
    await near.close();
    await far.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const formatMeasured = ({ rate, p50, p99 }: Measured) =>
  `${rate.toFixed(0).padStart(7)}/s  ${p50.toFixed(1)} / ${p99.toFixed(1)} ms`;
