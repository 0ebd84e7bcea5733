import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { jest } from '@jest/globals';
import kafkajs, { Kafka, logLevel } from 'kafkajs';
import { BusyError, UnavailableError, type BatchHandler, type Logger } from '@tracking/ports';
import {
  rejectAfterDeadline,
  eventually,
  expectAssertionStaysTrue,
  findFreePort,
  noMetrics,
  silentLogger,
} from '@tracking/testing';
import { waitPastConsumerSession } from '../../test/kafka/slow-handler.ts';
import {
  CuttingProxy,
  FIND_COORDINATOR_API_KEY,
  OFFSET_COMMIT_API_KEY,
  PRODUCE_API_KEY,
  SYNC_GROUP_API_KEY,
} from '../../test/kafka/cutting-proxy.ts';
import { KafkaTestNode } from '../../test/kafka/kafka-engine.ts';
import { openKafkaMessageBrokerForTest } from '../../test/kafka/kafka-subject.ts';
import { MessageLossChecker, createBrokerMessage } from '../../test/kafka/ledger.ts';
import { KafkaMessageBroker } from './kafka-message-broker.ts';
import type { KafkaLimits } from './kafka-client.ts';

jest.setTimeout(180_000);

const enginesDir = process.env['ENGINES_DIR'];
const DEADLINE = { deadlineMs: 60_000 };

if (enginesDir === undefined || enginesDir === '') {
  it.skip('faults of Kafka [not tested: ENGINES_DIR is not set, and no other node can be killed]', () => undefined);
} else {
  describe('faults of Kafka', () => faults(enginesDir));
}

function faults(engines: string): void {
  /** A setting that an operator may have made for the topic. */
  async function takeAtMost(name: string, bytes: number): Promise<void> {
    const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const configEntries = [{ name: 'max.message.bytes', value: String(bytes) }];
    const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries }];
    await admin.alterConfigs({ validateOnly: false, resources });
    await admin.disconnect();
  }

  let topic: string;
  let group: string;
  let ledger: MessageLossChecker;
  let stop: AbortController;
  let consuming: Promise<void>[];
  let brokers: readonly string[];
  const opened: KafkaMessageBroker[] = [];

  beforeEach(() => {
    topic = `topic-${randomUUID()}`;
    group = `group-${randomUUID()}`;
    stop = new AbortController();
    ledger = new MessageLossChecker(stop.signal);
    consuming = [];
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(consuming);
    await Promise.all(opened.splice(0).map((broker) => broker.close()));
  });

  const open = (limits: Partial<KafkaLimits> = {}, at = brokers) => {
    const broker = openKafkaMessageBrokerForTest(at, limits);
    opened.push(broker);
    return broker;
  };
  const make = (broker: KafkaMessageBroker, partitions = 4) =>
    broker.ensureTopics([{ name: topic, partitions, retentionMs: 3_600_000 }]);
  const consume = (broker: KafkaMessageBroker, handler: BatchHandler = ledger.receive, signal = stop.signal) => {
    consuming.push(broker.consume({ topic, group, signal, maxBatch: 50 }, handler));
  };
  const publishFromFour = (broker: KafkaMessageBroker, batches: number) =>
    Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        ledger.publishTestBatchesUntilAcknowledged(broker, topic, { name, batches, perBatch: 10 }),
      ),
    );
  const expectAllDelivered = async () => {
    await eventually(() => expect(ledger.missing).toEqual([]), DEADLINE);
    expect(ledger.outOfOrder).toEqual([]);
  };

  describe('cut connections', () => {
    let engine: KafkaTestNode;
    let proxy: CuttingProxy;
    beforeAll(async () => {
      const [nodePort, proxyPort] = [await findFreePort(), await findFreePort()];
      proxy = new CuttingProxy(proxyPort, nodePort);
      await proxy.listenOnFreePort();
      const advertised = `advertised.listeners=PLAINTEXT://127.0.0.1:${proxyPort}`;
      engine = await KafkaTestNode.startEngine(engines, [advertised], nodePort);
      brokers = [`127.0.0.1:${proxyPort}`];
    });
    afterAll(async () => {
      await proxy.closeProxy();
      await engine.destroyTestNode();
    });
    afterEach(() => proxy.stopCuttingResponses());

    // One partition and one message per call, because wrongly reused sequence numbers show as losses only if counts
    // agree.
    const publishSingly = (broker: KafkaMessageBroker, writers: number, each: number) =>
      Promise.all(
        Array.from({ length: writers }, (_, n) =>
          ledger.publishTestBatchesUntilAcknowledged(broker, topic, { name: `w${n}`, batches: each, perBatch: 1 }),
        ),
      );

    it('lose no acknowledged message and keep the order when responses to publishes are cut', async () => {
      const broker = open();
      await make(broker, 1);
      consume(broker);
      proxy.cutEveryNthResponseOfType(PRODUCE_API_KEY, 4);
      await publishSingly(broker, 8, 30);
      proxy.stopCuttingResponses();
      expect(proxy.cuts).toBeGreaterThan(5);
      expect(ledger.acknowledged.size).toBe(240);
      await expectAllDelivered();
    });

    it('do not acknowledge messages of an abandoned publish as others', async () => {
      const broker = open({ publishTimeoutMs: 1_500 });
      await make(broker, 1);
      consume(broker);
      for (let n = 0; n < 3; n += 1) {
        proxy.cutEveryNthResponseOfType(PRODUCE_API_KEY, 1);
        await expect(broker.publishMessages(topic, [createBrokerMessage('given-up', n)])).rejects.toThrow(
          UnavailableError,
        );
        proxy.stopCuttingResponses();
        await ledger.publishTestBatchesUntilAcknowledged(broker, topic, {
          name: `after-${n}`,
          batches: 5,
          perBatch: 1,
        });
      }
      expect(ledger.acknowledged.size).toBe(15);
      await expectAllDelivered();
    });

    // An uncaught error fails the test, as it would end a process.
    it('end no process and no consumer when 3 in 10 responses are cut in the middle', async () => {
      const [publisher, ...consumers] = [open({ publishTimeoutMs: 5_000 }), open(), open()];
      await make(publisher);
      for (const broker of consumers) consume(broker);
      await ledger.publishTestBatchesUntilAcknowledged(publisher, topic, { name: 'before', batches: 1, perBatch: 10 });
      await expectAllDelivered();
      proxy.cutConnectionsDuringShareOfResponses(0.3);
      const before = proxy.cuts;
      await publishFromFour(publisher, 10);
      await eventually(() => expect(proxy.cuts).toBeGreaterThan(before + 100), DEADLINE);
      await eventually(() => expect(publisher.checkHealth(topic)).rejects.toThrow(UnavailableError), DEADLINE);
      await expectAllDelivered();
      proxy.stopCuttingResponses();
      await ledger.publishTestBatchesUntilAcknowledged(publisher, topic, { name: 'after', batches: 10, perBatch: 10 });
      await expectAllDelivered();
      await eventually(async () => expect(await publisher.readConsumerLag(topic, group)).toBe(0), DEADLINE);
      for (const broker of [publisher, ...consumers]) await eventually(() => broker.checkHealth(topic), DEADLINE);
    });

    it('commit no earlier offset after a later one', async () => {
      const broker = open({ requestTimeoutMs: 500 });
      await make(broker, 1);
      proxy.cutEveryNthResponseOfType(OFFSET_COMMIT_API_KEY, 1);
      consume(broker);
      await ledger.publishTestBatchesUntilAcknowledged(broker, topic, { name: 'a', batches: 20, perBatch: 10 });
      const before = proxy.cuts;
      await eventually(() => expect(proxy.cuts).toBeGreaterThan(before + 10), DEADLINE);
      proxy.stopCuttingResponses();
      await expectAllDelivered();
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0), DEADLINE);
      // Longer than the pause between two attempts of kafkajs.
      await expectAssertionStaysTrue(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0), 2_000);
    });

    it('leave no member working without an assignment', async () => {
      const [first, second] = [open(), open()];
      await make(first);
      consume(first);
      await publishFromFour(first, 2);
      await expectAllDelivered();
      const before = proxy.cuts;
      proxy.cutEveryNthResponseOfType(SYNC_GROUP_API_KEY, 1, 3);
      consume(second);
      await eventually(() => expect(proxy.cuts).toBe(before + 3), DEADLINE);
      await publishFromFour(first, 10);
      await expectAllDelivered();
      await eventually(async () => expect(await first.readConsumerLag(topic, group)).toBe(0), DEADLINE);
    });

    it('keep the membership of a consumer that crashes for good', async () => {
      const lines: string[] = [];
      const keep = (_fields: object, text: string) => void lines.push(text);
      const warn = (_fields: object, text: string) => void lines.push(`warning: ${text}`);
      const logger: Logger = { ...silentLogger, info: keep, warn };
      // A member that waits for another's session to time out would exceed this limit.
      const limits = { sessionTimeoutMs: 4 * DEADLINE.deadlineMs };
      const broker = new KafkaMessageBroker({ brokers, logger, metrics: noMetrics, limits });
      opened.push(broker);
      await make(broker);
      const leaving = new AbortController();
      const handled = new Set<string>();
      const handledBy =
        (name: string): BatchHandler =>
        async (messages) => {
          handled.add(name);
          await ledger.receive(messages);
        };
      consume(open(limits), handledBy('who leaves'), AbortSignal.any([leaving.signal, stop.signal]));
      await eventually(async () => {
        await publishFromFour(broker, 1);
        expect(handled).toContain('who leaves');
      }, DEADLINE);
      // The remaining member joins last: when it works, both are members.
      consume(broker, handledBy('who stays'));
      await eventually(async () => {
        await publishFromFour(broker, 1);
        expect(handled).toContain('who stays');
      }, DEADLINE);
      // The remaining member must join again.
      proxy.cutEveryNthResponseOfType(FIND_COORDINATOR_API_KEY, 1, 12);
      leaving.abort();
      await eventually(
        () => expect(lines).toContain('message broker: a consumer crashed; starting a new one'),
        DEADLINE,
      );
      await publishFromFour(broker, 10);
      await expectAllDelivered();
      expect(lines.filter((text) => text.startsWith('warning'))).toEqual([]);
    });
  });

  describe('the node', () => {
    let engine: KafkaTestNode;
    beforeAll(async () => void (engine = await KafkaTestNode.startEngine(engines)));
    beforeEach(() => void (brokers = engine.brokers));
    afterEach(() => engine.resumeNode());
    afterAll(() => engine.destroyTestNode());

    it('killed twice during work: nothing acknowledged is missing, in order', async () => {
      const publisher = open();
      const broker = open();
      await make(publisher);
      consume(broker);
      consume(open());
      const publishing = publishFromFour(publisher, 400);
      for (const share of [1_000, 6_000]) {
        await eventually(() => expect(ledger.acknowledged.size).toBeGreaterThan(share), DEADLINE);
        await engine.killAndRestart();
      }
      await publishing;
      await expectAllDelivered();
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0), DEADLINE);
    });

    it('killed under load: every member continues without waiting for a session timeout', async () => {
      const limits = { sessionTimeoutMs: 4 * DEADLINE.deadlineMs };
      const [publisher, ...members] = [open(), open(limits), open(limits), open(limits)];
      await make(publisher, 6);
      for (const broker of members) consume(broker);
      for (let restart = 0; restart < 3; restart += 1) {
        let isOver = false;
        const large = 'x'.repeat(20_000);
        const load = (async () => {
          for (let n = 0; !isOver; n += 1) {
            const messages = Array.from({ length: 30 }, (_, key) =>
              createBrokerMessage(`load-${restart}-${key}`, n, large),
            );
            await publisher.publishMessages(topic, messages).catch(() => undefined);
          }
        })();
        await eventually(
          async () => expect(await publisher.readConsumerLag(topic, group)).toBeGreaterThan(0),
          DEADLINE,
        );
        await engine.killAndRestart();
        isOver = true;
        await load;
        await ledger.publishTestBatchesUntilAcknowledged(publisher, topic, {
          name: `after-${restart}`,
          batches: 4,
          perBatch: 10,
        });
        await eventually(() => expect(ledger.missing).toEqual([]), DEADLINE);
      }
    });

    it('down at the start: refuses in time, and works once the node is up', async () => {
      await make(open());
      await engine.killNode();
      const broker = open({ publishTimeoutMs: 1_000, adminTimeoutMs: 1_000 });
      consume(broker);
      await expect(broker.publishMessages(topic, [createBrokerMessage('a', 0)])).rejects.toThrow(UnavailableError);
      await expect(broker.readConsumerLag(topic, group)).rejects.toThrow(/^message broker: [\w ]+$/);
      await expect(broker.ensureTopics([])).rejects.toThrow(UnavailableError);
      const publishing = publishFromFour(broker, 5);
      await engine.startNode();
      await publishing;
      await expectAllDelivered();
    });

    it('hung: refuses and closes in time; after it continues, nothing acknowledged is missing', async () => {
      const broker = open({ publishTimeoutMs: 2_000, requestTimeoutMs: 1_000 });
      const other = open({ closeTimeoutMs: 1_000, requestTimeoutMs: 1_000 });
      await make(broker);
      consume(broker);
      await publishFromFour(broker, 5);
      consume(other);
      await eventually(() => expect(ledger.missing).toEqual([]), DEADLINE);
      engine.suspendNode();
      const refused = expect(broker.publishMessages(topic, [createBrokerMessage('x', 0)])).rejects.toThrow(
        UnavailableError,
      );
      await rejectAfterDeadline(refused, 10_000);
      const publishing = publishFromFour(broker, 20);
      await rejectAfterDeadline(other.close(), 10_000);
      engine.resumeNode();
      await publishing;
      await expectAllDelivered();
    });

    it('keeps a member whose batch takes longer than its session, and delivers nothing twice', async () => {
      const broker = open({ sessionTimeoutMs: 6_000 });
      await make(broker, 1);
      await ledger.publishTestBatchesUntilAcknowledged(broker, topic, { name: 'a', batches: 2, perBatch: 10 });
      let isFenced = false;
      consume(broker, async (messages, fenced) => {
        if (ledger.deliveries.length === 0) await waitPastConsumerSession(6_000);
        isFenced ||= fenced.aborted;
        await ledger.receive(messages);
      });
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0), DEADLINE);
      expect([isFenced, ledger.repeated, ledger.missing]).toEqual([false, 0, []]);
    });

    it('loses nothing when members join and leave during long batches', async () => {
      const [first, second] = [open(), open()];
      await make(first);
      const leaving = new AbortController();
      let [inHand, fencings] = [0, 0];
      const slowly: BatchHandler = async (messages, fenced) => {
        inHand += 1;
        const over = AbortSignal.any([fenced, leaving.signal, stop.signal]);
        if (!over.aborted) await once(over, 'abort');
        if (fenced.aborted) fencings += 1;
        await ledger.receive(messages);
      };
      consume(first, slowly);
      await publishFromFour(first, 5);
      await eventually(() => expect(inHand).toBeGreaterThan(0), DEADLINE);
      consume(second, slowly, AbortSignal.any([leaving.signal, stop.signal]));
      await publishFromFour(first, 5);
      await eventually(() => expect(fencings).toBeGreaterThan(0), DEADLINE);
      // In the middle of all batches of both members.
      leaving.abort();
      await expectAllDelivered();
      await eventually(async () => expect(await first.readConsumerLag(topic, group)).toBe(0), DEADLINE);
    });

    it('commits nothing that a failing handler received, and lets it fail as long as it does', async () => {
      const broker = open({ sessionTimeoutMs: 6_000 });
      await make(broker, 2);
      await ledger.publishTestBatchesUntilAcknowledged(broker, topic, { name: 'a', batches: 1, perBatch: 10 });
      // With growing pauses, this takes about as long as a session.
      const most = 8;
      const failures = new Map<number, number>();
      consume(broker, async (messages) => {
        const { partition } = messages[0] ?? { partition: -1 };
        const before = failures.get(partition) ?? 0;
        if (before < most) {
          failures.set(partition, before + 1);
          throw new Error('not yet');
        }
        await ledger.receive(messages);
      });
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0), DEADLINE);
      expect(new Set(failures.values())).toEqual(new Set([most]));
      expect([ledger.repeated, ledger.missing]).toEqual([0, []]);
    });

    it('skips nothing that was being handled when its membership lapsed', async () => {
      const broker = open({ sessionTimeoutMs: 6_000 });
      await make(broker, 1);
      const done: string[] = [];
      let lapsed = false;
      consume(broker, async (messages, fenced) => {
        const fence = new Promise<void>((resolve) => fenced.addEventListener('abort', () => resolve()));
        if (!lapsed && messages.some(({ value }) => value === 'second')) {
          lapsed = true;
          // Like a hung machine, the process does not even send heartbeats.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 9_000);
          return fence;
        }
        done.push(...messages.map(({ value }) => value));
      });
      await broker.publishMessages(topic, [createBrokerMessage('a', 0, 'first')]);
      await eventually(() => expect(done).toEqual(['first']), DEADLINE);
      await broker.publishMessages(topic, [createBrokerMessage('a', 1, 'second')]);
      await eventually(() => expect(lapsed).toBe(true), DEADLINE);
      await broker.publishMessages(topic, [createBrokerMessage('a', 2, 'third')]);
      await eventually(() => expect(done).toEqual(['first', 'second', 'third']), DEADLINE);
    });

    it('permanently refuses messages that are too large, and temporarily refuses too many', async () => {
      const broker = open({ maxWaiting: 20 });
      await make(broker, 1);
      consume(broker);
      const messages = ['b#0', 'a#0', 'b#1', 'a#1', 'a#2'].map((id) => {
        const [key = '', n] = id.split('#');
        return createBrokerMessage(key, Number(n), id === 'a#1' ? 'x'.repeat(5_000_000) : id);
      });
      const refused = broker.publishMessages(topic, messages);
      await expect(refused).rejects.toMatchObject({ name: 'MessageRefused', topic, index: 3 });
      await eventually(() => expect(ledger.deliveries).toEqual(['b#0', 'a#0', 'b#1']), DEADLINE);
      const publishing = Array.from({ length: 30 }, (_, n) =>
        broker.publishMessages(topic, [createBrokerMessage('c', n)]),
      );
      const settled = await Promise.allSettled(publishing);
      const busy = settled.filter((one) => one.status === 'rejected');
      expect(busy).toHaveLength(10);
      expect(busy.every((one) => one.status === 'rejected' && one.reason instanceof BusyError)).toBe(true);
      await eventually(() => expect(ledger.deliveries).toHaveLength(23), DEADLINE);
    });

    it('limits the bytes of unacknowledged messages, except for a single call', async () => {
      const broker = open({ maxWaitingBytes: 2_000 });
      await make(broker);
      const large = Array.from({ length: 10 }, (_, n) => createBrokerMessage(`k-${n}`, 0, 'x'.repeat(1_000)));
      const first = broker.publishMessages(topic, large);
      await expect(broker.publishMessages(topic, [createBrokerMessage('a', 0)])).rejects.toThrow(BusyError);
      await first;
      await broker.publishMessages(topic, [createBrokerMessage('a', 0)]);
      expect((await broker.countPublishedMessages(topic)).reduce((sum, count) => sum + count, 0)).toBe(11);
    });

    it('adds partitions to a topic and never removes any; producers and consumers use them, in order', async () => {
      const broker = open();
      const keys = Array.from({ length: 20 }, (_, n) => `k-${n}`);
      let round = 0;
      const publishRound = async () => {
        round += 1;
        await broker.publishMessages(
          topic,
          keys.map((key) => createBrokerMessage(key, round)),
        );
        for (const key of keys) ledger.acknowledged.add(`${key}#${round}`);
        await expectAllDelivered();
      };
      await make(broker, 2);
      consume(broker);
      await publishRound();
      await Promise.allSettled([make(open(), 8), make(open(), 8)]);
      await make(broker, 4);
      await eventually(async () => expect(await broker.countPublishedMessages(topic)).toHaveLength(8), DEADLINE);
      await eventually(async () => {
        await publishRound();
        expect((await broker.countPublishedMessages(topic)).filter((count) => count > 0).length).toBeGreaterThan(2);
      }, DEADLINE);
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0), DEADLINE);
    });

    it('finds the oversized message among others if the cluster has a lower limit', async () => {
      const broker = open();
      await make(broker, 1);
      await takeAtMost(topic, 2_000);
      consume(broker);
      const sizes = [300, 300, 300, 300, 300, 300, 300, 300, 3_000, 300];
      const messages = sizes.map((size, n) => createBrokerMessage('a', n, 'x'.repeat(size)));
      const refused = broker.publishMessages(topic, messages);
      const behind = broker.publishMessages(topic, [createBrokerMessage('b', 0)]);
      await expect(refused).rejects.toMatchObject({ name: 'MessageRefused', index: 8 });
      await behind;
      await eventually(() => expect(ledger.deliveries).toHaveLength(9), DEADLINE);
      expect(ledger.deliveries).toEqual([...messages.slice(0, 8).map((_, n) => `a#${n}`), 'b#0']);
    });

    it('accepts a batch larger than one request', async () => {
      const broker = open();
      await make(broker, 1);
      consume(broker);
      await broker.publishMessages(
        topic,
        Array.from({ length: 300 }, (_, n) => createBrokerMessage('a', n, 'x'.repeat(10_000))),
      );
      await eventually(() => expect(ledger.deliveries).toHaveLength(300), DEADLINE);
      expect(ledger.outOfOrder).toEqual([]);
    });

    it('separates topics and groups of different prefixes', async () => {
      const options = { brokers, logger: silentLogger, metrics: noMetrics };
      const [ours, theirs] = ['ours.', 'theirs.'].map((topicPrefix) => {
        return new KafkaMessageBroker({ ...options, topicPrefix });
      }) as [KafkaMessageBroker, KafkaMessageBroker];
      opened.push(ours, theirs);
      await Promise.all([make(ours), make(theirs)]);
      await ours.publishMessages(topic, [createBrokerMessage('a', 1)]);
      await theirs.publishMessages(topic, [createBrokerMessage('a', 2)]);
      const names: string[] = [];
      consume(ours, async (messages) => {
        names.push(...messages.map((message) => message.topic));
        await ledger.receive(messages);
      });
      await eventually(async () => expect(await ours.readConsumerLag(topic, group)).toBe(0), DEADLINE);
      expect([ledger.deliveries, names, await theirs.readConsumerLag(topic, group)]).toEqual([['a#1'], [topic], 1]);
    });

    // Must run last, because it deletes the node's disk.
    it('with a new disk: reports fewer messages, and consumers continue with new ones', async () => {
      const broker = open();
      await make(broker);
      consume(broker);
      await publishFromFour(broker, 5);
      await expectAllDelivered();
      const before = await broker.countPublishedMessages(topic);
      expect(before.reduce((sum, count) => sum + count, 0)).toBe(200);
      await engine.killNode();
      await engine.deleteKafkaDataFolder();
      await engine.startNode();
      await expect(broker.countPublishedMessages(topic)).rejects.toThrow(UnavailableError);
      await make(broker);
      const after = await eventually(() => broker.countPublishedMessages(topic), DEADLINE);
      expect(after.some((count, partition) => count < (before[partition] ?? 0))).toBe(true);
      await ledger.publishTestBatchesUntilAcknowledged(broker, topic, { name: 'since', batches: 5, perBatch: 10 });
      await expectAllDelivered();
    });
  });
}
