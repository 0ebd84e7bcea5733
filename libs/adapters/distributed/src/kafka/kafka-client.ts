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
import { ANSWERS_LOST, letConnectionsBeginClean } from './clean-connection.ts';
import { letQueuesRest } from './idle-queue.ts';
import type { KafkaLimits, KafkaOptions } from './kafka-options.ts';
import type { LostAnswers } from './lost-answers.ts';
import { letConsumersKeepNames } from './member-name.ts';

const CONNECTION_TIMEOUT_MS = 3_000;
/** Reason of the errors that abandoning a client causes in it. */
export const ABANDONED = 'abandoned';
const KEEP_ALIVE_MS = 60_000;

letConnectionsBeginClean();
letConsumersKeepNames();
letQueuesRest();

/** Gives up after about a second: whoever asked repeats by its own rules. Stated whole, since kafkajs has others in tests. */
export const PROMPT: RetryOptions = {
  retries: 3,
  initialRetryTime: 100,
  maxRetryTime: 1_000,
  multiplier: 2,
  factor: 0.2,
};

/** Never gives up: a member that waits for its broker comes back under its own name, without a session to wait out. */
export const PATIENT: RetryOptions = { ...PROMPT, retries: Number.MAX_SAFE_INTEGER };

/**
 * One client of kafkajs which, other than kafkajs', can be given up at any moment: a disconnect there waits for answers,
 * for ever where retries are patient. One for each producer and consumer: consumers of one group share their committed
 * offsets inside a client, and clear each other's.
 */
export class KafkaClient {
  readonly kafka: Kafka;
  private readonly sockets = new Set<Socket>();
  private isAbandoned = false;

  constructor(
    options: KafkaOptions,
    limits: KafkaLimits,
    retry: RetryOptions,
    logs: logCreator,
    private readonly lost: LostAnswers,
  ) {
    const config: KafkaConfig = {
      brokers: () => this.nextAttempt([...options.brokers]),
      clientId: options.clientId ?? 'tracking',
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: limits.requestTimeoutMs,
      retry,
      socketFactory: (args) => this.openSocket(args),
      logLevel: logLevel.WARN,
      logCreator: logs,
    };
    if (options.tls !== undefined) config.ssl = options.tls;
    if (options.sasl !== undefined) config.sasl = options.sasl;
    this.kafka = new Kafka(config);
  }

  /** Cuts every connection and makes no other: what is under way fails or never settles, and holds the process no more. */
  abandon(): void {
    this.isAbandoned = true;
    for (const socket of this.sockets) socket.destroy(new Error(ABANDONED));
  }

  /** An endless retry of kafkajs cannot be stopped, but every one asks for the brokers first, and waits for the answer. */
  private nextAttempt(brokers: string[]): Promise<string[]> {
    return this.isAbandoned ? new Promise(() => undefined) : Promise.resolve(brokers);
  }

  private openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
    if (this.isAbandoned) throw new Error(ABANDONED);
    const name = isIP(host) ? {} : { servername: host };
    const to = { host, port };
    const socket = ssl ? connectTls({ ...to, ...name, ...ssl }, onConnect) : connectPlain(to, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.sockets.add(socket);
    socket.on(ANSWERS_LOST, (count: number) => this.isAbandoned || this.lost.add(count));
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }
}
