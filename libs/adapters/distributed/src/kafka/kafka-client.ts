import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  type ISocketFactoryArgs,
  Kafka,
  type KafkaConfig,
  type logCreator,
  logLevel,
  type RetryOptions,
} from 'kafkajs';
import { LRUCache } from 'lru-cache';
import { type Logger, UnavailableError } from '@tracking/ports';
import {
  patchKafkaConnections,
  patchKafkaConsumerGroups,
  patchKafkaRequestQueues,
  RESPONSES_LOST_SOCKET_EVENT,
} from './kafkajs-patches.ts';

export const DEFAULT_KAFKA_LIMITS: KafkaLimits = {
  publishTimeoutMs: 30_000,
  maxWaiting: 10_000,
  maxWaitingBytes: 64 * 1_048_576,
  producersPerTopic: 4,
  requestTimeoutMs: 10_000,
  sessionTimeoutMs: 7_000,
  pausePartitionAfterMs: 500,
  adminTimeoutMs: 15_000,
  closeTimeoutMs: 15_000,
};
const CONNECTION_TIMEOUT_MS = 3_000;
/** Message of errors thrown after the client was destroyed. */
const CLIENT_DESTROYED_MESSAGE = 'the Kafka client is destroyed';
const SOCKET_KEEP_ALIVE_DELAY_MS = 60_000;
/** Milliseconds after which producers and consumers use added partitions. */
export const METADATA_MAX_AGE_MS = 30_000;
/**
 * Retry options with which kafkajs stops after about a second, and its caller retries. All options are set, because
 * kafkajs has other defaults in tests.
 */
export const LIMITED_KAFKA_RETRY_OPTIONS: RetryOptions = {
  retries: 3,
  initialRetryTime: 100,
  maxRetryTime: 1_000,
  multiplier: 2,
  factor: 0.2,
};
/**
 * Retry options with which kafkajs never stops, so that a member that waits for its broker keeps its member id and
 * causes no rebalance.
 */
export const UNLIMITED_KAFKA_RETRY_OPTIONS: RetryOptions = {
  ...LIMITED_KAFKA_RETRY_OPTIONS,
  retries: Number.MAX_SAFE_INTEGER,
};
const LOST_RESPONSES_WINDOW_MS = 10_000;
/**
 * Number of lost responses that one broker restart can cause. Further losses mean that the network breaks connections.
 */
const LOST_RESPONSES_THRESHOLD = 3;
const REPEATED_LOG_INTERVAL_MS = 30_000;
const MAX_REMEMBERED_LOG_MESSAGES = 100;
/** Milliseconds of continuous failures before the log gets a warning. Most brokers restart within this time. */
const FAILURE_WARNING_DELAY_MS = 60_000;
export const ENGINE_NAME = 'message broker';

interface SaslCredentials<Mechanism> {
  readonly mechanism: Mechanism;
  readonly username: string;
  readonly password: string;
}
export type KafkaSasl = SaslCredentials<'plain'> | SaslCredentials<'scram-sha-256'> | SaslCredentials<'scram-sha-512'>;

/** Addresses, credentials and limits of a Kafka client. */
export interface KafkaOptions {
  /** Addresses of one or more brokers that know the rest of the cluster, as `host:port`. */
  readonly brokers: readonly string[];
  /** Name of this process in the brokers' logs and quotas. */
  readonly clientId?: string;
  /** Prefix of the names of all topics and groups, which separates systems in a shared cluster. */
  readonly topicPrefix?: string;
  /** TLS settings as PEM texts; `true` trusts the certificate authorities of the system. */
  readonly tls?: boolean | { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: KafkaSasl;
  /**
   * Number of replicas of created topics; the default of the cluster if absent. A message is acknowledged when all
   * replicas but one have stored it.
   */
  readonly replicationFactor?: number;
  readonly limits?: Partial<KafkaLimits>;
}

export interface KafkaLimits {
  /** Milliseconds after which an unacknowledged `publishMessages` fails with `UnavailableError`. */
  readonly publishTimeoutMs: number;
  /** Maximum number of unacknowledged messages of a topic. Further calls of `publishMessages` throw `BusyError`. */
  readonly maxWaiting: number;
  /** Maximum bytes of unacknowledged messages of a topic. One call may exceed it. */
  readonly maxWaitingBytes: number;
  /** Number of batches of a topic that can be in flight. It should divide the number of partitions. */
  readonly producersPerTopic: number;
  /** Milliseconds to wait for the response of a broker. */
  readonly requestTimeoutMs: number;
  /**
   * Milliseconds without heartbeats after which a member loses its partitions. Clusters accept at least 6,000 by
   * default.
   */
  readonly sessionTimeoutMs: number;
  /**
   * Milliseconds that a handler may take before its partition is paused, so that kafkajs serves the other partitions.
   */
  readonly pausePartitionAfterMs: number;
  /** Milliseconds allowed for creating topics and for reading the lag. */
  readonly adminTimeoutMs: number;
  /** Milliseconds after `close` until unfinished work is abandoned. */
  readonly closeTimeoutMs: number;
}

patchKafkaConnections();
patchKafkaConsumerGroups();
patchKafkaRequestQueues();

interface KafkaClientOptions {
  readonly cluster: KafkaOptions;
  readonly limits: KafkaLimits;
  readonly retry: RetryOptions;
  readonly logs: logCreator;
  readonly lost: LostResponseCounter;
}

/**
 * A kafkajs client that can be destroyed at any time. `disconnect` of kafkajs waits for responses, without end if its
 * retries are endless. Each producer and consumer needs its own client, because consumers of one group in the same
 * client share their committed offsets, and clear them for each other.
 */
export class KafkaClient {
  readonly kafka: Kafka;
  private readonly sockets = new Set<Socket>();
  readonly #destroyed = new AbortController();

  private readonly lost: LostResponseCounter;

  constructor({ cluster, limits, retry, logs, lost }: KafkaClientOptions) {
    this.lost = lost;
    const config: KafkaConfig = {
      brokers: () => this.listBrokersUnlessDestroyed([...cluster.brokers]),
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

  /** Signal that aborts when the client is destroyed. */
  get destroyed(): AbortSignal {
    return this.#destroyed.signal;
  }

  /**
   * Closes all connections and opens no others. Unfinished work fails or never settles, and does not keep the process
   * alive.
   */
  destroyKafkaClient(): void {
    this.#destroyed.abort();
    for (const socket of this.sockets) socket.destroy(new Error(CLIENT_DESTROYED_MESSAGE));
  }

  /**
   * Lists the brokers, or never resolves once the client is destroyed. kafkajs cannot stop endless retries, but each
   * retry requests the brokers first.
   */
  private listBrokersUnlessDestroyed(brokers: string[]): Promise<string[]> {
    return this.destroyed.aborted ? new Promise(() => undefined) : Promise.resolve(brokers);
  }

  private openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
    if (this.destroyed.aborted) throw new Error(CLIENT_DESTROYED_MESSAGE);
    const name = isIP(host) ? {} : { servername: host };
    const to = { host, port };
    const socket = ssl ? connectTls({ ...to, ...name, ...ssl }, onConnect) : connectPlain(to, onConnect);
    socket.setKeepAlive(true, SOCKET_KEEP_ALIVE_DELAY_MS);
    this.sockets.add(socket);
    socket.on(
      RESPONSES_LOST_SOCKET_EVENT,
      (count: number) => this.destroyed.aborted || this.lost.countResponsesLostWithConnection(count),
    );
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }
}

/** Counts lost responses of all clients of a process: requests whose connection broke before the response. */
export class LostResponseCounter {
  /** Monotonic times of the latest lost responses. */
  private times: number[] = [];

  countResponsesLostWithConnection(count: number): void {
    const now = performance.now();
    this.times = [...this.times, ...Array.from({ length: Math.min(count, LOST_RESPONSES_THRESHOLD) }, () => now)].slice(
      -LOST_RESPONSES_THRESHOLD,
    );
  }

  /** True if too many responses were lost in the last 10 s. */
  get exceedThreshold(): boolean {
    const [first = -Infinity] = this.times;
    return this.times.length === LOST_RESPONSES_THRESHOLD && performance.now() - first < LOST_RESPONSES_WINDOW_MS;
  }
}

/**
 * Creates a logger for kafkajs that omits details such as stacks, requests and members. It logs each message at most
 * once in 30 s, because kafkajs repeats its messages at every attempt. `RetryLogger` reports the outcome of the
 * retries.
 */
export function createKafkaLogCreator(logger: Logger): logCreator {
  const logged = new LRUCache<string, true>({ max: MAX_REMEMBERED_LOG_MESSAGES, ttl: REPEATED_LOG_INTERVAL_MS });
  return () =>
    ({ namespace, log }) => {
      if (logged.has(log.message) || log.message.endsWith(CLIENT_DESTROYED_MESSAGE)) return;
      logged.set(log.message, true);
      const error = typeof log['error'] === 'string' ? { error: log['error'] } : {};
      logger.debug(
        { part: namespace, reason: log.message, ...error },
        'message broker: the Kafka client reported a problem',
      );
    };
}

/** Logs the first failure of a retried operation, a warning if failures continue, and its success. */
export class RetryLogger {
  private since: number | undefined;
  private hasWarned = false;

  /** @param what log message that describes the retry, for example `messages are sent again` */
  constructor(
    private readonly what: string,
    private readonly fields: object,
    private readonly logger: Logger,
  ) {}

  /** @param isFault true if the reason is not an outage of an engine; it is logged as a warning immediately */
  reportRetryFailure(reason: string, isFault = false): void {
    const now = performance.now();
    const isNew = this.since === undefined;
    this.since ??= now;
    if (!this.hasWarned && (isFault || now - this.since > FAILURE_WARNING_DELAY_MS)) {
      this.hasWarned = true;
      this.logger.warn({ ...this.fields, reason, ...this.createDurationLogFields(now) }, this.what);
    } else if (isNew) this.logger.info({ ...this.fields, reason }, this.what);
  }

  reportRetrySuccess(): void {
    if (this.since === undefined) return;
    this.logger.info({ ...this.fields, ...this.createDurationLogFields(performance.now()) }, `${this.what}: over`);
    this.since = undefined;
    this.hasWarned = false;
  }

  private createDurationLogFields(now: number): { readonly seconds: number } {
    return { seconds: Math.round((now - (this.since ?? now)) / 1_000) };
  }
}

interface KafkaJsError {
  readonly cause?: unknown;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
  /** Failures of the parts of a request, such as the topics to create. */
  readonly errors?: readonly unknown[];
}

/** Returns the failure as one word, such as `ECONNREFUSED`, because messages of the driver contain addresses. */
export function describeKafkaFailure(error: unknown): string {
  if (error instanceof UnavailableError) return error.message;
  if (typeof error !== 'object' || error === null) return 'unknown';
  const { cause, type, code, name, errors }: KafkaJsError = error;
  for (const word of [type, code]) if (typeof word === 'string') return word;
  if (errors !== undefined && errors.length > 0) return describeKafkaFailure(errors[0]);
  return cause === undefined || cause === null || cause === error ? String(name) : describeKafkaFailure(cause);
}

/**
 * Settles like `work` if `work` settles in time and before the signal aborts. A later result is ignored.
 * @throws UnavailableError
 */
export async function rejectAfterTimeout<T>(ms: number, work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  const giveUp = (reason: string) => late.reject(new UnavailableError(ENGINE_NAME, reason));
  const onAbort = () => giveUp('closed');
  const timer = setTimeout(giveUp, Math.max(ms, 0), 'the brokers did not respond in time');
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted) onAbort();
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  }
}
