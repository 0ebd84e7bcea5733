import { getEventListeners } from 'node:events';
import type { Consumer, ConsumerRunConfig, EachBatchHandler } from 'kafkajs';
import type { BatchHandler } from '@tracking/ports';
import { eventually, noMetrics, silentLogger } from '@tracking/testing';
import { KafkaGroupMember } from './group-member.ts';
import { DEFAULT_KAFKA_LIMITS, type KafkaClient } from './kafka-client.ts';

const EVENTS = { CRASH: 'crash', HEARTBEAT: 'heartbeat', GROUP_JOIN: 'group_join' };

/** A consumer of kafkajs whose group and messages a test provides. */
class SimulatedConsumer {
  readonly events = EVENTS;
  readonly paused: number[] = [];
  readonly committed: unknown[] = [];
  eachBatch: EachBatchHandler | undefined;
  private readonly listeners = new Map<string, (event: { readonly payload: unknown }) => void>();

  constructor(private readonly connecting: () => Promise<void>) {}

  on(event: string, listener: (event: { readonly payload: unknown }) => void): void {
    this.listeners.set(event, listener);
  }
  connect(): Promise<void> {
    return this.connecting();
  }
  async subscribe(): Promise<void> {}
  async disconnect(): Promise<void> {}
  resume(): void {}
  async run({ eachBatch }: ConsumerRunConfig): Promise<void> {
    this.eachBatch = eachBatch;
  }
  async commitOffsets(offsets: unknown): Promise<void> {
    this.committed.push(offsets);
  }

  joinGroupWithPartitions(partitions: readonly number[]): void {
    this.listeners.get(EVENTS.GROUP_JOIN)?.({ payload: { memberId: 'm', memberAssignment: { things: partitions } } });
  }

  async receiveMessage(partition: number): Promise<void> {
    const messages = [{ key: Buffer.from('k'), value: Buffer.from('v'), headers: {}, offset: '7' }];
    const payload = { batch: { partition, messages }, pause: () => this.paused.push(partition), resolveOffset() {} };
    await this.eachBatch?.(payload as unknown as Parameters<EachBatchHandler>[0]);
  }
}

describe('a member of a consumer group', () => {
  let leaving: AbortController;
  let consuming: Promise<void>;
  let consumers: SimulatedConsumer[];
  beforeEach(() => {
    leaving = new AbortController();
    consumers = [];
  });
  afterEach(async () => {
    leaving.abort();
    await consuming;
  });

  function consume(connecting: () => Promise<void>, handler: BatchHandler = () => Promise.resolve()): void {
    const createConsumer = () => {
      const consumer = new SimulatedConsumer(connecting);
      consumers.push(consumer);
      return consumer as unknown as Consumer;
    };
    const createKafkaClient = () => {
      const destruction = new AbortController();
      const destroyKafkaClient = () => destruction.abort();
      const client = { kafka: { consumer: createConsumer }, destroyed: destruction.signal, destroyKafkaClient };
      return client as unknown as KafkaClient;
    };
    const member = new KafkaGroupMember({
      membership: {
        ...{ topic: 'things', clusterTopic: 'things', clusterGroup: 'group', maxBatch: 10 },
        ...{ handler, leaving: leaving.signal },
      },
      createKafkaClient,
      pingBroker: () => Promise.resolve(),
      ...{ limits: DEFAULT_KAFKA_LIMITS, logger: silentLogger, metrics: noMetrics },
    });
    consuming = member.consumeUntilLeavingGroup();
  }

  it('keeps nothing of consumers that crashed', async () => {
    consume(() => Promise.reject(new Error('not authorized')));
    await eventually(() => expect(consumers.length).toBeGreaterThan(5));
    // The present consumer and the pause before the next one.
    expect(getEventListeners(leaving.signal, 'abort').length).toBeLessThanOrEqual(2);
  });

  it('does not handle messages that arrive after their partition was assigned to another member', async () => {
    const handled: number[] = [];
    consume(
      () => Promise.resolve(),
      ([message]) => Promise.resolve(void handled.push(message?.partition ?? -1)),
    );
    await eventually(() => expect(consumers[0]?.eachBatch).toBeDefined());
    const [consumer] = consumers;
    consumer?.joinGroupWithPartitions([0, 1]);
    await consumer?.receiveMessage(1);
    consumer?.joinGroupWithPartitions([0]);
    await consumer?.receiveMessage(1);
    await consumer?.receiveMessage(0);
    expect(handled).toEqual([1, 0]);
    expect(consumer?.committed).toHaveLength(2);
    // A paused partition would stay paused when it is assigned to this member again.
    expect(consumer?.paused).toEqual([]);
  });
});
