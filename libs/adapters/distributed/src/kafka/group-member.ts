import { type Consumer, type EachBatchPayload, type KafkaMessage, PartitionAssigners } from 'kafkajs';
import {
  type BatchHandler,
  type CountRetry,
  type Logger,
  type Metrics,
  type ReceivedMessage,
  retryCounter,
  Unavailable,
} from '@tracking/ports';
import { pause, retry } from '@tracking/resilience';
import {
  ENDLESS_RETRIES,
  ENGINE,
  type KafkaClient,
  type KafkaLimits,
  reasonOf,
  RetryReporter,
  within,
} from './kafka-client.ts';
import { joinAs, type MemberIdentity } from './kafkajs-patches.ts';
import { PartitionWork } from './partition-work.ts';

const PAUSES = { firstPauseMs: 200, longestPauseMs: 1_000 };
/** A partition that was paused for its handler is fetched again at most so much later; heartbeats go out as often. */
const FETCH_WAIT_MS = 250;
/** Long enough to tell a broker that answers; one that does not will see the session lapse. */
const LEAVE_MS = 3_000;
const CONCURRENT_PARTITIONS = 128;
/** The group gave the member's place away. */
const UNKNOWN_MEMBER = 'UNKNOWN_MEMBER_ID';
const CHECK_INTERVAL_MS = 1_000;

interface Membership {
  /** As the caller knows it, and as the cluster does. */
  readonly topic: string;
  readonly clusterTopic: string;
  readonly clusterGroup: string;
  readonly maxBatch: number;
  readonly handler: BatchHandler;
  readonly leaving: AbortSignal;
}

interface GroupMemberOptions {
  readonly membership: Membership;
  openClient(): KafkaClient;
  /** Rejects where the broker does not answer. */
  pingBroker(): Promise<unknown>;
  readonly limits: KafkaLimits;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * A member of a group for as long as it is wanted. kafkajs fetches nothing more from a broker while any batch of it is in
 * hand, and sends no heartbeat then. So after `pausePartitionAfterMs` in a handler its partition is paused and the loop
 * goes on: the other partitions are served and the member keeps its place however long the handler takes.
 */
export class GroupMember {
  /** By partition: the work whose messages are with the handler. */
  private readonly inHand = new Map<number, PartitionWork>();
  private consumer: Consumer | undefined;
  private crash: (reason: unknown) => void = () => undefined;
  private client: KafkaClient | undefined;
  /** Identity of the present consumer. */
  private identity: MemberIdentity = { id: '', leaves: false };
  /** The member id under which its partitions were assigned; empty until then. */
  private assignedAs = '';
  private readonly membership: Membership;
  private readonly limits: KafkaLimits;
  private readonly countRetry: CountRetry;
  private readonly heartbeats: HeartbeatMonitor;
  private readonly reporter: RetryReporter;

  constructor(private readonly options: GroupMemberOptions) {
    const { membership, limits, logger, metrics, pingBroker } = options;
    this.membership = membership;
    this.limits = limits;
    this.countRetry = retryCounter(metrics);
    this.heartbeats = new HeartbeatMonitor(limits.sessionTimeoutMs, pingBroker);
    const { topic } = membership;
    this.reporter = new RetryReporter('message broker: a consumer is made anew', { topic }, logger);
  }

  /** Its group has not heard of it for so long that it may have lost its partitions. */
  get isOutOfGroup(): boolean {
    return this.heartbeats.isOutOfGroup;
  }

  /** Takes part until told to leave and the batches in hand are done; a consumer that crashed is followed by a new one. */
  async run(): Promise<void> {
    const { leaving } = this.membership;
    while (!leaving.aborted) {
      // Fails on `leaving` only. After a consumer that had its partitions, pauses are short again.
      await retry(() => this.runConsumer(), { ...PAUSES, signal: leaving }).catch(() => undefined);
      await pause(PAUSES.firstPauseMs, leaving);
    }
    await this.finish();
  }

  /** Leaves at once, whatever is in hand. */
  destroy(): void {
    this.client?.destroy();
  }

  /** @throws why a consumer crashed before it had its partitions */
  private async runConsumer(): Promise<void> {
    const client = this.options.openClient();
    this.client = client;
    this.assignedAs = '';
    try {
      await this.takePart(client);
    } catch (error) {
      this.countRetry('consuming');
      this.reporter.failed(reasonOf(error));
      for (const work of this.inHand.values()) work.fence();
      if (this.assignedAs === '') throw error;
    } finally {
      client.destroy();
    }
  }

  private async takePart({ kafka, destroyed }: KafkaClient): Promise<void> {
    const { clusterGroup, leaving } = this.membership;
    const { sessionTimeoutMs } = this.limits;
    // A consumer before that was destroyed may still change its own.
    const identity: MemberIdentity = { id: this.identity.id, leaves: false };
    this.identity = identity;
    const consumer = kafka.consumer({
      groupId: clusterGroup,
      sessionTimeout: sessionTimeoutMs,
      // In a rebalance the group waits no longer for a member than its session lasts.
      rebalanceTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.min(1_000, sessionTimeoutMs / 6),
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
      partitionAssigners: [
        (config) => {
          joinAs(identity, config.cluster, destroyed);
          return PartitionAssigners.roundRobin(config);
        },
      ],
      // Whether kafkajs restarts a crashed consumer depends on the error: it never does, `run` always.
      retry: { ...ENDLESS_RETRIES, restartOnFailure: () => Promise.resolve(false) },
    });
    this.consumer = consumer;
    let endWatch = () => {};
    await new Promise<void>((leave, crash) => {
      leaving.addEventListener('abort', () => leave(), { once: true });
      if (leaving.aborted) leave();
      consumer.on(consumer.events.CRASH, ({ payload }) => crash(payload.error));
      consumer.on(consumer.events.HEARTBEAT, () => this.heard());
      endWatch = this.heartbeats.watch(() => crash(new Unavailable(ENGINE, 'silent')));
      this.crash = crash;
      this.start(consumer).catch(crash);
    }).finally(() => endWatch());
    await this.finish();
    identity.leaves = true;
    await within(LEAVE_MS, consumer.disconnect()).catch(() => undefined);
  }

  private async start(consumer: Consumer): Promise<void> {
    const { clusterTopic } = this.membership;
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      this.joined(payload.memberId, payload.memberAssignment[clusterTopic] ?? []);
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [clusterTopic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_PARTITIONS,
      eachBatch: (payload) => this.take(consumer, payload),
    });
  }

  private heard(): void {
    this.heartbeats.heard();
    this.reporter.succeeded();
  }

  /** Under another member id the partitions may have been another's in between. */
  private joined(memberId: string, partitions: readonly number[]): void {
    for (const work of this.inHand.values()) {
      if (memberId !== this.assignedAs || !partitions.includes(work.partition)) work.fence();
    }
    this.assignedAs = memberId;
    this.heard();
  }

  private async take(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const { batch, pause: pausePartition, resolveOffset: resolve } = payload;
    const { partition } = batch;
    const { topic, clusterTopic, leaving, handler, maxBatch } = this.membership;
    // Fetched again once what is in hand is done; nothing of it counts as read.
    if (leaving.aborted || this.inHand.has(partition)) return void pausePartition();
    const commit = async (of: number, offset: string) => {
      const { assignedAs } = this;
      const committing = consumer.commitOffsets([{ topic: clusterTopic, partition: of, offset }]);
      await within(this.limits.requestTimeoutMs, committing).catch((error: unknown) => {
        // It will never be taken; and kafkajs itself may not learn of it.
        if (reasonOf(error) === UNKNOWN_MEMBER && assignedAs === this.assignedAs) this.failed(error);
        throw error;
      });
    };
    const messages = batch.messages.map((message) => receivedMessage(topic, partition, message));
    // Not `seek`: that would outlive the assignment, and pass over what was in hand and then fenced.
    const { countRetry } = this;
    const { logger } = this.options;
    const tools = { handler, maxBatch, leaving, commit, resolve, countRetry, logger };
    const work = new PartitionWork({ partition, messages, ...tools });
    this.inHand.set(partition, work);
    const done = work.done.then(() => this.release(work));
    const waited = new AbortController();
    await Promise.race([done, pause(this.limits.pausePartitionAfterMs, waited.signal)]);
    waited.abort();
    if (this.inHand.get(partition) === work) pausePartition();
  }

  /** The next consumer begins at what is committed. */
  private failed(reason: unknown): void {
    for (const work of this.inHand.values()) work.fence();
    this.crash(reason);
  }

  private release(work: PartitionWork): void {
    const { partition } = work;
    this.inHand.delete(partition);
    try {
      work.fetchNext();
      // The present consumer may have fetched this partition while it was in hand.
      this.consumer?.resume([{ topic: this.membership.clusterTopic, partitions: [partition] }]);
    } catch {
      // The consumer has gone; the next one begins at the committed offset.
    }
  }

  private async finish(): Promise<void> {
    await Promise.all([...this.inHand.values()].map((work) => work.done));
  }
}

function receivedMessage(
  topic: string,
  partition: number,
  { key, value, headers, offset }: KafkaMessage,
): ReceivedMessage {
  const texts = Object.entries(headers ?? {}).map(([name, text]) => [name, String(text ?? '')] as const);
  return {
    topic,
    partition,
    offset,
    key: key?.toString() ?? '',
    value: value?.toString() ?? '',
    headers: Object.fromEntries(texts),
  };
}

/**
 * Whether the group still hears of a member. A consumer whose heartbeats stop for two sessions although the broker answers
 * waits for what never comes.
 */
class HeartbeatMonitor {
  /** On the monotonic clock. */
  private heardAt = performance.now();
  /** When the broker last did not answer. */
  private brokerAwayAt = -Infinity;

  constructor(
    private readonly sessionTimeoutMs: number,
    /** Rejects where the broker does not answer. */
    private readonly pingBroker: () => Promise<unknown>,
  ) {}

  /** The group took a heartbeat, or let the member join. */
  heard(): void {
    this.heardAt = performance.now();
  }

  /** The group has not heard of the member for so long that it may have given its partitions away. */
  get isOutOfGroup(): boolean {
    return performance.now() - this.heardAt > this.sessionTimeoutMs;
  }

  /**
   * Watches a consumer that begins now.
   * @param onSilence called where the group does not hear of it
   * @returns ends the watch
   */
  watch(onSilence: () => void): () => void {
    const began = performance.now();
    let isOver = false;
    const silentMs = () => performance.now() - Math.max(began, this.heardAt, this.brokerAwayAt);
    const look = async () => {
      if (silentMs() < this.sessionTimeoutMs) return;
      try {
        await this.pingBroker();
        if (!isOver && silentMs() > 2 * this.sessionTimeoutMs) onSilence();
      } catch {
        this.brokerAwayAt = performance.now();
      }
    };
    const looking = setInterval(() => void look(), CHECK_INTERVAL_MS);
    return () => {
      isOver = true;
      clearInterval(looking);
    };
  }
}
