import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KafkaMessageBroker } from '@tracking/distributed';
import { startDatabaseAndBrokerProcesses } from '@tracking/system';
import { DelayingProxy, noMetrics, silentLogger } from '@tracking/testing';
import { computeMedian } from './load.ts';
import { cpuSeconds } from './machine.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);
const PARTITIONS = 32;
/** Calls of `publishMessages` in progress at the same time: one of each partition of the publisher. */
const CALLERS = 16;
/** Round-trip delays of the broker in milliseconds, besides its own time. */
const DELAYS_MS = [0, 20] as const;
const PRODUCERS = [1, 2, 4, 8] as const;
const MESSAGES_PER_CALL = [20, 200] as const;
/** Number of measurements of each case, in turns. The result is their median. */
const ROUNDS = 3;
const VALUE = JSON.stringify({ filler: 'x'.repeat(2_000) });

/** Measures publishing to one topic with one or several producers, with and without a delay of the broker. */
export async function benchBroker(seconds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-broker-'));
  const proxy = await DelayingProxy.startDelayingTcpProxy();
  await mkdir(join(folder, 'kafka'), { recursive: true });
  await writeFile(
    join(folder, 'kafka', 'extra.properties'),
    `advertised.listeners=PLAINTEXT://127.0.0.1:${proxy.port}\n`,
  );
  const { EVENTSTOREDB_URL = 'unused', MONGODB_URL = 'unused', ENGINES_DIR = '../shared/engines' } = process.env;
  const engines = { eventStoreDbUrl: EVENTSTOREDB_URL, mongoUrl: MONGODB_URL, enginesDir: ENGINES_DIR };
  const { kafka, kafkaBrokers } = await startDatabaseAndBrokerProcesses({ folder, ...engines });
  proxy.serverPort = Number(kafkaBrokers.split(':')[1]);
  try {
    const cases = listCases(seconds);
    const results = cases.map((): PublishingFigures[] => []);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, measured] of cases.entries()) {
        proxy.delayMs = measured.delayMs / 2;
        results[index]?.push(await measurePublishing(measured, proxy.port));
      }
    }
    for (const [index, measured] of cases.entries()) printMedian(measured, results[index] ?? []);
  } finally {
    await kafka?.stopProcess();
    await proxy.closeProxy();
    await rm(folder, { recursive: true, force: true });
  }
}

interface PublishingCase {
  readonly seconds: number;
  readonly delayMs: number;
  readonly perCall: number;
  readonly producersPerTopic: number;
}

interface PublishingFigures {
  /** Messages per second. */
  readonly rate: number;
  /** CPU seconds of the publishing process per 1,000 messages. */
  readonly cpu: number;
}

function listCases(seconds: number): readonly PublishingCase[] {
  return DELAYS_MS.flatMap((delayMs) =>
    MESSAGES_PER_CALL.flatMap((perCall) =>
      PRODUCERS.map((producersPerTopic) => ({ seconds, delayMs, perCall, producersPerTopic })),
    ),
  );
}

async function measurePublishing(
  { seconds, delayMs, perCall, producersPerTopic }: PublishingCase,
  port: number,
): Promise<PublishingFigures> {
  const limits = { producersPerTopic };
  const brokers = [`127.0.0.1:${port}`];
  const broker = new KafkaMessageBroker({ brokers, limits, logger: silentLogger, metrics: noMetrics });
  const topic = `t-${delayMs}-${perCall}-${producersPerTopic}-${Date.now()}`;
  await broker.ensureTopics([{ name: topic, partitions: PARTITIONS, retentionMs: 3_600_000 }]);
  let published = 0;
  const createCall = (caller: number, n: number) =>
    Array.from({ length: perCall }, (_, at) => ({ key: `${caller}-${n}-${at}`, value: VALUE, headers: {} }));
  const publishUntil = async (end: number) => {
    await Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        for (let n = 0; performance.now() < end; n += 1) {
          await broker.publishMessages(topic, createCall(caller, n));
          published += perCall;
        }
      }),
    );
  };
  await publishUntil(performance.now() + 1_000);
  published = 0;
  const cpuBefore = cpuSeconds(process.pid);
  const began = performance.now();
  await publishUntil(began + seconds * 1_000);
  const rate = (published * 1_000) / (performance.now() - began);
  const cpu = ((cpuSeconds(process.pid) - cpuBefore) * 1_000) / published;
  await broker.close();
  return { rate, cpu };
}

function printMedian({ delayMs, perCall, producersPerTopic }: PublishingCase, all: readonly PublishingFigures[]): void {
  const name = `${delayMs} ms, ${perCall} messages a call, ${producersPerTopic} producers`;
  const rate = computeMedian(all.map((one) => one.rate)).toFixed(0);
  const rates = all.map((one) => one.rate.toFixed(0)).join(', ');
  const cpu = computeMedian(all.map((one) => one.cpu)).toFixed(3);
  print(`${name.padEnd(42)} ${rate} messages/s (${rates})  ${cpu} CPU s per 1,000 messages`);
}
