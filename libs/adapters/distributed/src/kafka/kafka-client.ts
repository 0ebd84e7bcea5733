import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  Kafka,
  logLevel,
  type ISocketFactoryArgs,
  type KafkaConfig,
  type logCreator,
  type RetryOptions,
} from 'kafkajs';
import type { KafkaLimits, KafkaOptions } from './kafka-options.ts';
import { RESPONSES_LOST, patchConnections } from './kafkajs/connection.ts';
import { patchConsumerGroups } from './kafkajs/consumer-group.ts';
import { patchRequestQueues } from './kafkajs/request-queue.ts';
import type { LostResponses } from './lost-responses.ts';

const CONNECTION_TIMEOUT_MS = 3_000;
/** Message of the errors that destroying a client causes in it. */
export const DESTROYED = 'client destroyed';
const KEEP_ALIVE_MS = 60_000;

patchConnections();
patchConsumerGroups();
patchRequestQueues();

/** kafkajs gives up after about a second: its caller retries. Stated whole, since kafkajs has other defaults in tests. */
export const FEW_RETRIES: RetryOptions = {
  retries: 3,
  initialRetryTime: 100,
  maxRetryTime: 1_000,
  multiplier: 2,
  factor: 0.2,
};

/** kafkajs never gives up: a member that waits for its broker comes back under its member id, without a rebalance. */
export const ENDLESS_RETRIES: RetryOptions = { ...FEW_RETRIES, retries: Number.MAX_SAFE_INTEGER };

export interface KafkaClientOptions {
  readonly cluster: KafkaOptions;
  readonly limits: KafkaLimits;
  readonly retry: RetryOptions;
  readonly logs: logCreator;
  readonly lost: LostResponses;
}

/**
 * A client of kafkajs that can be destroyed at any moment: `disconnect` of kafkajs waits for responses, for ever where its
 * retries are endless. One for each producer and consumer: consumers of one group share their committed offsets inside a
 * client, and clear each other's.
 */
export class KafkaClient {
  readonly kafka: Kafka;
  private readonly sockets = new Set<Socket>();
  readonly #destroyed = new AbortController();

  private readonly lost: LostResponses;

  constructor({ cluster, limits, retry, logs, lost }: KafkaClientOptions) {
    this.lost = lost;
    const config: KafkaConfig = {
      brokers: () => this.brokersUnlessDestroyed([...cluster.brokers]),
      clientId: cluster.clientId ?? 'tracking',
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: limits.requestTimeoutMs,
      retry,
      socketFactory: (args) => this.openSocket(args),
      logLevel: logLevel.WARN,
      logCreator: logs,
    };
    if (cluster.tls !== undefined) config.ssl = cluster.tls;
    if (cluster.sasl !== undefined) config.sasl = cluster.sasl;
    this.kafka = new Kafka(config);
  }

  /** Aborts when it is destroyed. */
  get destroyed(): AbortSignal {
    return this.#destroyed.signal;
  }

  /** Cuts every connection and makes no other: what is under way fails or never settles, and keeps no process alive. */
  destroy(): void {
    this.#destroyed.abort();
    for (const socket of this.sockets) socket.destroy(new Error(DESTROYED));
  }

  /** Endless retries of kafkajs cannot be stopped, but each asks for the brokers first: there it waits for ever. */
  private brokersUnlessDestroyed(brokers: string[]): Promise<string[]> {
    return this.destroyed.aborted ? new Promise(() => undefined) : Promise.resolve(brokers);
  }

  private openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
    if (this.destroyed.aborted) throw new Error(DESTROYED);
    const name = isIP(host) ? {} : { servername: host };
    const to = { host, port };
    const socket = ssl ? connectTls({ ...to, ...name, ...ssl }, onConnect) : connectPlain(to, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.sockets.add(socket);
    socket.on(RESPONSES_LOST, (count: number) => this.destroyed.aborted || this.lost.add(count));
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }
}
