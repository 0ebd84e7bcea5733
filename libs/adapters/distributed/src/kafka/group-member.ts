import { type Consumer, type EachBatchPayload, PartitionAssigners } from 'kafkajs';
import {
  type BatchHandler,
  type CountRetry,
  type Logger,
  type Metrics,
  createRetryCounter,
  UnavailableError,
} from '@tracking/ports';
import { pauseFor, retry } from '@tracking/resilience';
import {
  UNLIMITED_KAFKA_RETRY_OPTIONS,
  ENGINE_NAME,
  type KafkaClient,
  type KafkaLimits,
  METADATA_MAX_AGE_MS,
  describeKafkaFailure,
  RetryLogger,
  rejectAfterTimeout,
} from './kafka-client.ts';
import { makeConsumerReuseMemberId, type KafkaMemberIdentity } from './kafkajs-patches.ts';
import { OffsetCommits, PartitionMessageHandler, toReceivedMessage } from './partition-work.ts';

const RETRY_BACKOFF_LIMITS = { firstPauseMs: 200, maxPauseMs: 1_000 };
/**
 * Maximum milliseconds until a resumed partition is fetched again. The consumer sends heartbeats at the same interval.
 */
const MAX_FETCH_WAIT_MS = 250;
/**
 * Maximum milliseconds that a LeaveGroup request may take. If the request fails, the group waits until the session
 * times out.
 */
const LEAVE_TIMEOUT_MS = 3_000;
const CONCURRENT_PARTITIONS = 128;
/** Type of the error that a member gets after the group removed it. */
const UNKNOWN_MEMBER_ERROR_TYPE = 'UNKNOWN_MEMBER_ID';
const HEARTBEAT_CHECK_INTERVAL_MS = 1_000;

interface KafkaGroupMemberSettings {
  /** Name of the topic that the caller uses. The prefixed name is used in the cluster. */
  readonly topic: string;
  readonly clusterTopic: string;
  readonly clusterGroup: string;
  readonly maxBatch: number;
  readonly handler: BatchHandler;
  readonly leaving: AbortSignal;
}

interface KafkaGroupMemberOptions {
  readonly membership: KafkaGroupMemberSettings;
  createKafkaClient(): KafkaClient;
  /** Pings the broker. Rejects if it does not respond. */
  pingBroker(): Promise<unknown>;
  readonly limits: KafkaLimits;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * A member of a consumer group that runs until its signal aborts. While a batch from a broker is being handled, kafkajs
 * fetches nothing from that broker and sends no heartbeat. So a partition is paused after `pausePartitionAfterMs` in a
 * handler: the other partitions are served, and the member stays in the group, however long the handler takes.
 */
export class KafkaGroupMember {
  /** Messages that are being handled, by partition. */
  private readonly inHand = new Map<number, PartitionMessageHandler>();
  private consumer: Consumer | undefined;
  /** Commits of the current consumer. */
  private commits = new OffsetCommits(() => Promise.reject(new UnavailableError(ENGINE_NAME, 'there is no consumer')));
  private crash: (reason: unknown) => void = () => undefined;
  private client: KafkaClient | undefined;
  /** Group identity that the current consumer uses. */
  private identity: KafkaMemberIdentity = { id: '', leaves: false };
  /** Member id at the last assignment of partitions; empty before the first. */
  private assignedAs = '';
  /** Partitions of the last assignment. */
  private assigned: readonly number[] = [];
  private readonly membership: KafkaGroupMemberSettings;
  private readonly limits: KafkaLimits;
  private readonly countRetry: CountRetry;
  private readonly heartbeats: HeartbeatMonitor;
  private readonly reporter: RetryLogger;

  constructor(private readonly options: KafkaGroupMemberOptions) {
    const { membership, limits, logger, metrics, pingBroker } = options;
    this.membership = membership;
    this.limits = limits;
    this.countRetry = createRetryCounter(metrics);
    this.heartbeats = new HeartbeatMonitor(limits.sessionTimeoutMs, pingBroker);
    const { topic } = membership;
    this.reporter = new RetryLogger('message broker: a consumer crashed; starting a new one', { topic }, logger);
  }

  /** True if the group received no heartbeat for so long that it may have reassigned the partitions. */
  get isOutOfGroup(): boolean {
    return this.heartbeats.isOutOfGroup;
  }

  /** Runs until `leaving` aborts and started batches are done. A crashed consumer is replaced. */
  async consumeUntilLeavingGroup(): Promise<void> {
    const { leaving } = this.membership;
    while (!leaving.aborted) {
      // The promise rejects only if `leaving` aborts. The pauses between consumers start from the shortest again when a
      // consumer had partitions.
      await retry(() => this.runConsumer(), { ...RETRY_BACKOFF_LIMITS, signal: leaving }).catch(() => undefined);
      await pauseFor(RETRY_BACKOFF_LIMITS.firstPauseMs, leaving);
    }
    await this.waitForBatchesInHand();
  }

  /** Leaves the group immediately, without waiting for started batches. */
  leaveGroupImmediately(): void {
    this.client?.destroyKafkaClient();
  }

  /** Runs one consumer until it ends. @throws the error with which the consumer crashed before partitions were assigned to it */
  private async runConsumer(): Promise<void> {
    const client = this.options.createKafkaClient();
    this.client = client;
    this.assignedAs = '';
    try {
      await this.joinGroup(client);
    } catch (error) {
      this.countRetry('consuming');
      this.reporter.reportRetryFailure(describeKafkaFailure(error));
      for (const work of this.inHand.values()) work.stopOffsetCommitsOfLostPartition();
      if (this.assignedAs === '') throw error;
    } finally {
      client.destroyKafkaClient();
    }
  }

  private async joinGroup({ kafka, destroyed }: KafkaClient): Promise<void> {
    const { clusterGroup, leaving } = this.membership;
    const { sessionTimeoutMs } = this.limits;
    // Each consumer gets a new object, because the previous consumer may still change its own object.
    const identity: KafkaMemberIdentity = { id: this.identity.id, leaves: false };
    this.identity = identity;
    const consumer = kafka.consumer({
      groupId: clusterGroup,
      sessionTimeout: sessionTimeoutMs,
      // During a rebalance, the group waits for a member until the member's session times out.
      rebalanceTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.min(1_000, sessionTimeoutMs / 6),
      maxWaitTimeInMs: MAX_FETCH_WAIT_MS,
      metadataMaxAge: METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      partitionAssigners: [
        (config) => {
          makeConsumerReuseMemberId(identity, config.cluster, destroyed);
          return PartitionAssigners.roundRobin(config);
        },
      ],
      // kafkajs would restart a consumer only after some errors. `run` replaces the consumer after any error.
      retry: { ...UNLIMITED_KAFKA_RETRY_OPTIONS, restartOnFailure: () => Promise.resolve(false) },
    });
    this.consumer = consumer;
    this.commits = new OffsetCommits((offsets) => this.commitOffsets(consumer, offsets));
    let endWatch = () => {};
    await new Promise<void>((leave, crash) => {
      leaving.addEventListener('abort', () => leave(), { once: true, signal: destroyed });
      if (leaving.aborted) leave();
      consumer.on(consumer.events.CRASH, ({ payload }) => crash(payload.error));
      consumer.on(consumer.events.HEARTBEAT, () => this.reportConsumerSuccess());
      endWatch = this.heartbeats.watchHeartbeats(() => crash(new UnavailableError(ENGINE_NAME, 'silent')));
      this.crash = crash;
      this.startConsumer(consumer).catch(crash);
    }).finally(() => endWatch());
    await this.waitForBatchesInHand();
    identity.leaves = true;
    await rejectAfterTimeout(LEAVE_TIMEOUT_MS, consumer.disconnect()).catch(() => undefined);
  }

  private async startConsumer(consumer: Consumer): Promise<void> {
    const { clusterTopic } = this.membership;
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      this.onGroupJoined(payload.memberId, payload.memberAssignment[clusterTopic] ?? []);
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [clusterTopic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: CONCURRENT_PARTITIONS,
      eachBatch: (payload) => this.handleBatch(payload),
    });
  }

  private reportConsumerSuccess(): void {
    this.heartbeats.recordKafkaHeartbeatTime();
    this.reporter.reportRetrySuccess();
  }

  /** A changed member id means that other members may have owned the partitions meanwhile. */
  private onGroupJoined(memberId: string, partitions: readonly number[]): void {
    for (const work of this.inHand.values()) {
      if (memberId !== this.assignedAs || !partitions.includes(work.partition)) work.stopOffsetCommitsOfLostPartition();
    }
    this.assignedAs = memberId;
    this.assigned = partitions;
    this.reportConsumerSuccess();
  }

  private async handleBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, pause: pausePartition, resolveOffset: resolve } = payload;
    const { partition } = batch;
    const { topic, leaving, handler, maxBatch } = this.membership;
    // kafkajs can join the group again while it fetches from other brokers, and then still delivers their messages.
    if (!this.assigned.includes(partition)) return;
    // Unhandled messages are not marked as read. They are fetched again after the current batch.
    if (leaving.aborted || this.inHand.has(partition)) return void pausePartition();
    const { commits } = this;
    const commit = (of: number, offset: string): Promise<void> =>
      commits.addOffsetToCommit(of, offset, () => !work.isFenced);
    const messages = batch.messages.map((message) => toReceivedMessage(topic, partition, message));
    // The code does not use `seek`, whose offset would outlive the assignment and skip messages that this member may no
    // longer handle.
    const { countRetry } = this;
    const { logger } = this.options;
    const tools = { handler, maxBatch, leaving, commit, resolve, countRetry, logger };
    const work = new PartitionMessageHandler({ partition, messages, ...tools });
    this.inHand.set(partition, work);
    const done = work.done.then(() => this.releasePartition(work));
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, this.limits.pausePartitionAfterMs);
    await Promise.race([done, late.promise]);
    clearTimeout(timer);
    if (this.inHand.get(partition) === work) pausePartition();
  }

  /** @param offsets offset of the next message, by partition */
  private async commitOffsets(consumer: Consumer, offsets: ReadonlyMap<number, string>): Promise<void> {
    const { assignedAs } = this;
    const { clusterTopic: topic } = this.membership;
    const committing = consumer.commitOffsets(
      [...offsets].map(([partition, offset]) => ({ topic, partition, offset })),
    );
    await rejectAfterTimeout(this.limits.requestTimeoutMs, committing).catch((error: unknown) => {
      // Restarts the consumer, because no later commit can succeed and kafkajs may not notice.
      if (describeKafkaFailure(error) === UNKNOWN_MEMBER_ERROR_TYPE && assignedAs === this.assignedAs)
        this.endFailedConsumer(error);
      throw error;
    });
  }

  /** Ends the consumer. The next one starts at the committed offsets. */
  private endFailedConsumer(reason: unknown): void {
    for (const work of this.inHand.values()) work.stopOffsetCommitsOfLostPartition();
    this.crash(reason);
  }

  private releasePartition(work: PartitionMessageHandler): void {
    const { partition } = work;
    this.inHand.delete(partition);
    try {
      work.allowFetchOfNextMessages();
      // Resumes the partition, because the current consumer may have paused it.
      this.consumer?.resume([{ topic: this.membership.clusterTopic, partitions: [partition] }]);
    } catch {
      // The consumer is gone. The next one starts at the committed offset.
    }
  }

  private async waitForBatchesInHand(): Promise<void> {
    await Promise.all([...this.inHand.values()].map((work) => work.done));
  }
}

/**
 * Monitors the heartbeats of a member. A consumer without heartbeats for two session timeouts, although the broker
 * responds, is stuck.
 */
class HeartbeatMonitor {
  /** Monotonic time in milliseconds. */
  private lastHeartbeatAt = performance.now();
  /** Monotonic time of the last failed ping of the broker. */
  private brokerAwayAt = -Infinity;

  constructor(
    private readonly sessionTimeoutMs: number,
    /** Pings the broker. Rejects if it does not respond. */
    private readonly pingBroker: () => Promise<unknown>,
  ) {}

  /** Records the current time. Call it when the group accepts a heartbeat or a join. */
  recordKafkaHeartbeatTime(): void {
    this.lastHeartbeatAt = performance.now();
  }

  /** True if the group received no heartbeat for so long that it may have reassigned the partitions. */
  get isOutOfGroup(): boolean {
    return performance.now() - this.lastHeartbeatAt > this.sessionTimeoutMs;
  }

  /**
   * Watches the heartbeats of a consumer that starts now.
   * @param onSilence called if the heartbeats stop
   * @returns a function that ends the watch
   */
  watchHeartbeats(onSilence: () => void): () => void {
    const began = performance.now();
    let isOver = false;
    const silentMs = () => performance.now() - Math.max(began, this.lastHeartbeatAt, this.brokerAwayAt);
    const look = async () => {
      if (silentMs() < this.sessionTimeoutMs) return;
      try {
        await this.pingBroker();
        if (!isOver && silentMs() > 2 * this.sessionTimeoutMs) onSilence();
      } catch {
        this.brokerAwayAt = performance.now();
      }
    };
    const looking = setInterval(() => void look(), HEARTBEAT_CHECK_INTERVAL_MS);
    return () => {
      isOver = true;
      clearInterval(looking);
    };
  }
}
