import { setTimeout as pause } from 'node:timers/promises';
import { PartitionAssigners, type Consumer, type EachBatchPayload, type KafkaMessage } from 'kafkajs';
import {
  Unavailable,
  retryCounter,
  type BatchHandler,
  type CountRetry,
  type Logger,
  type Metrics,
  type ReceivedMessage,
} from '@tracking/ports';
import { PATIENT, type KafkaClient } from './kafka-client.ts';
import { ENGINE, reasonOf, within } from './kafka-errors.ts';
import type { KafkaLimits } from './kafka-options.ts';
import { joinAs, type MemberName } from './member-name.ts';
import { PartitionWork } from './partition-work.ts';
import { Trouble } from './trouble.ts';

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 1_000;
/** A partition that was left to its handler is fetched again at most so much later; heartbeats go out as often. */
const FETCH_WAIT_MS = 250;
/** Long enough to tell a broker that answers; one that does not will see the session lapse. */
const LEAVE_MS = 3_000;
const CONCURRENT_PARTITIONS = 128;
const LOOK_EVERY_MS = 1_000;
/** The group gave the member's place away. */
const UNKNOWN_MEMBER = 'UNKNOWN_MEMBER_ID';

export interface Membership {
  /** As the caller knows it, and as the cluster does. */
  readonly topic: string;
  readonly clusterTopic: string;
  readonly clusterGroup: string;
  readonly maxBatch: number;
  readonly handler: BatchHandler;
  readonly leaving: AbortSignal;
}

/**
 * A member of a group for as long as it is wanted. kafkajs fetches nothing more from a broker while any batch of it is in
 * hand, and sends no heartbeat then. So a handler has `patienceMs`; after that its partition is paused and the loop goes
 * on: the other partitions are served and the member keeps its place however long the handler takes.
 */
export class GroupMember {
  /** What messages were handed over of each partition. */
  private readonly inHand = new Map<number, PartitionWork>();
  /** Also those of which only what was put aside is under way. */
  private readonly works = new Set<PartitionWork>();
  private consumer: Consumer | undefined;
  private crash: (reason: unknown) => void = () => undefined;
  private client: KafkaClient | undefined;
  /** Of the consumer that stands for it now. */
  private name: MemberName = { id: '', leaves: false };
  /** Under which it was told its partitions; empty until then. */
  private memberId = '';
  private readonly logger: Logger;
  private readonly countRetry: CountRetry;
  /** When its group last heard of it, on the monotonic clock. */
  private heardAt = performance.now();
  /** When the broker last did not answer. */
  private awayAt = -Infinity;
  private readonly trouble: Trouble;

  constructor(
    private readonly membership: Membership,
    private readonly open: () => KafkaClient,
    /** Rejects where it does not. */
    private readonly brokerAnswers: () => Promise<unknown>,
    private readonly limits: KafkaLimits,
    { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  ) {
    this.logger = logger;
    this.countRetry = retryCounter(metrics);
    this.trouble = new Trouble('message broker: a consumer is made anew', { topic: membership.topic }, logger);
  }

  /** Its group has not heard of it for so long that it may have lost its place. */
  get isOut(): boolean {
    return performance.now() - this.heardAt > this.limits.sessionTimeoutMs;
  }

  /** Takes part until told to leave and the batches in hand are done; a consumer that crashed is followed by a new one. */
  async run(): Promise<void> {
    const { leaving } = this.membership;
    for (let wait = FIRST_PAUSE_MS; !leaving.aborted; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
      this.client = this.open();
      this.memberId = '';
      try {
        await this.takePart(this.client);
      } catch (error) {
        if (this.memberId !== '') wait = FIRST_PAUSE_MS;
        this.countRetry('consuming');
        this.trouble.goesOn(reasonOf(error));
        for (const work of this.works) work.fence();
      } finally {
        this.client.abandon();
      }
      await pause(wait, undefined, { signal: leaving }).catch(() => undefined);
    }
    await this.finish();
  }

  /** Leaves at once, whatever is in hand. */
  abandon(): void {
    this.client?.abandon();
  }

  private async takePart({ kafka }: KafkaClient): Promise<void> {
    const { clusterGroup, leaving } = this.membership;
    const { sessionTimeoutMs } = this.limits;
    // One that was given up may still believe that it has a name.
    const name: MemberName = { id: this.name.id, leaves: false };
    this.name = name;
    const consumer = kafka.consumer({
      groupId: clusterGroup,
      sessionTimeout: sessionTimeoutMs,
      // No longer than for one that has gone does the group wait for one that does not join again.
      rebalanceTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.min(1_000, sessionTimeoutMs / 6),
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
      partitionAssigners: [
        (config) => {
          joinAs(name, config.cluster);
          return PartitionAssigners.roundRobin(config);
        },
      ],
      // Whether kafkajs revives a crashed consumer depends on the error: it never does, `run` always.
      retry: { ...PATIENT, restartOnFailure: () => Promise.resolve(false) },
    });
    this.consumer = consumer;
    const since = performance.now();
    const looking = setInterval(() => void this.lookForSilence(since), LOOK_EVERY_MS);
    await new Promise<void>((leave, crash) => {
      leaving.addEventListener('abort', () => leave(), { once: true });
      if (leaving.aborted) leave();
      consumer.on(consumer.events.CRASH, ({ payload }) => crash(payload.error));
      consumer.on(consumer.events.HEARTBEAT, () => this.heard());
      this.crash = crash;
      this.start(consumer).catch(crash);
    }).finally(() => clearInterval(looking));
    await this.finish();
    name.leaves = true;
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
    this.heardAt = performance.now();
    this.trouble.isOver();
  }

  /**
   * A consumer that the group has not heard of for two sessions, in which the broker answered, waits for what never comes.
   * @param since when it was made
   */
  private async lookForSilence(since: number): Promise<void> {
    const { crash } = this;
    const { sessionTimeoutMs } = this.limits;
    const silentMs = () => performance.now() - Math.max(since, this.heardAt, this.awayAt);
    if (silentMs() < sessionTimeoutMs) return;
    try {
      await this.brokerAnswers();
      if (this.crash === crash && silentMs() > 2 * sessionTimeoutMs) crash(new Unavailable(ENGINE, 'silent'));
    } catch {
      this.awayAt = performance.now();
    }
  }

  /** Under another name the partitions may have been another's in between. */
  private joined(memberId: string, partitions: readonly number[]): void {
    for (const work of this.works) {
      if (memberId !== this.memberId || !partitions.includes(work.partition)) work.fence();
      // kafkajs begins again at what is committed.
      else if (this.inHand.get(work.partition) !== work) work.goOn();
    }
    this.memberId = memberId;
    this.heard();
  }

  private async take(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const { batch, pause: pausePartition, resolveOffset: resolve } = payload;
    const { partition } = batch;
    const { topic, clusterTopic, leaving, handler, maxBatch } = this.membership;
    // Fetched again once what is in hand is done; nothing of it counts as read.
    if (leaving.aborted || this.inHand.has(partition)) return void pausePartition();
    const commit = async (of: number, offset: string) => {
      const { memberId } = this;
      const committing = consumer.commitOffsets([{ topic: clusterTopic, partition: of, offset }]);
      await within(this.limits.requestTimeoutMs, committing).catch((error: unknown) => {
        // It will never be taken; and kafkajs itself may not learn of it.
        if (reasonOf(error) === UNKNOWN_MEMBER && memberId === this.memberId) this.failed(error);
        throw error;
      });
    };
    const messages = batch.messages.map((message) => receivedMessage(topic, partition, message));
    const before = [...this.works].findLast((work) => work.partition === partition);
    // Not `seek`: that would outlive the assignment, and pass over what was put aside and then fenced.
    const failed = (reason: unknown) => this.failed(reason);
    const tools = { handler, maxBatch, leaving, commit, resolve, failed, countRetry: this.countRetry };
    const work = new PartitionWork(partition, messages, before, tools, this.logger);
    this.inHand.set(partition, work);
    this.works.add(work);
    const done = work.done.then(() => this.release(work));
    const patience = new AbortController();
    const impatient = pause(this.limits.patienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([done, impatient]);
    patience.abort();
    if (this.inHand.get(partition) === work) pausePartition();
  }

  /** The next consumer begins at what is committed. */
  private failed(reason: unknown): void {
    for (const work of this.works) work.fence();
    this.crash(reason);
  }

  private release(work: PartitionWork): void {
    const { partition } = work;
    this.inHand.delete(partition);
    void Promise.resolve(work.unfinished).then(() => this.works.delete(work));
    try {
      work.goOn();
      // Of the present consumer, which may have met it in hand.
      this.consumer?.resume([{ topic: this.membership.clusterTopic, partitions: [partition] }]);
    } catch {
      // The consumer has gone; the next one begins at the committed offset.
    }
  }

  private async finish(): Promise<void> {
    await Promise.all([...this.works].map((work) => work.done.then(() => work.unfinished)));
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
