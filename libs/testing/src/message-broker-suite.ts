import { randomUUID } from 'node:crypto';
import {
  MessageRefusedError,
  UnavailableError,
  type BatchHandler,
  type BrokerMessage,
  type MessageBroker,
  type ReceivedBrokerMessage,
} from '@tracking/ports';
import { eventually as eventuallyWithin } from './eventually.ts';
import { type TestedAdapter, testIfSupported, CRASH_UNSUPPORTED_REASON } from './subject.ts';

const DAY_MS = 86_400_000;

export interface MessageBrokerSubject extends TestedAdapter<MessageBroker> {
  /**
   * Number of characters of a message that the broker refuses because of its size. Absent if the broker accepts any
   * size.
   */
  readonly tooLarge?: number;
}

/** Tests every guarantee of the `MessageBroker` port. */
export function declareMessageBrokerTests(name: string, subject: MessageBrokerSubject): void {
  describe(`message broker on ${name}`, () => {
    let broker: MessageBroker;
    let topic: string;
    let group: string;
    let consumers: AbortController;
    let consuming: Promise<void>[];

    beforeAll(async () => void (broker = await subject.openTestedAdapter()));
    afterAll(() => subject.close());
    beforeEach(async () => {
      topic = `topic-${randomUUID()}`;
      group = `group-${randomUUID()}`;
      consumers = new AbortController();
      consuming = [];
      await broker.ensureTopics([{ name: topic, partitions: 4, retentionMs: 7 * DAY_MS }]);
    });
    afterEach(async () => {
      consumers.abort();
      await Promise.all(consuming);
    });

    const eventually = (attempt: () => void | Promise<void>) => eventuallyWithin(attempt, subject);
    const message = (key: string, n: number): BrokerMessage => ({
      key,
      value: JSON.stringify({ n, text: 'Ærøskøbing 港 🚢' }),
      headers: { 'event-id': `${key}-${n}` },
    });
    const idOf = (received: ReceivedBrokerMessage) => received.headers['event-id'];

    /** Consumes messages into a list until the test ends. */
    function collectMessages(
      of = group,
      signal = consumers.signal,
      handler: BatchHandler = async () => {},
    ): ReceivedBrokerMessage[] {
      const received: ReceivedBrokerMessage[] = [];
      consuming.push(
        broker.consume({ topic, group: of, signal }, async (messages, ...tools) => {
          await handler(messages, ...tools);
          received.push(...messages);
        }),
      );
      return received;
    }

    it('the broker delivers all published messages, complete and in order per key', async () => {
      const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      const sent = Array.from({ length: 210 }, (_, n) => message(keys[n % keys.length] ?? '', n));
      for (let at = 0; at < sent.length; at += 30) await broker.publishMessages(topic, sent.slice(at, at + 30));
      const received = collectMessages();
      await eventually(() => expect(received).toHaveLength(sent.length));
      for (const key of keys) {
        const of = (messages: readonly BrokerMessage[]) => messages.filter((one) => one.key === key);
        expect(of(received)).toEqual(of(sent).map((one) => expect.objectContaining({ ...one })));
      }
      expect(new Set(received.map((one) => one.partition)).size).toBeGreaterThan(1);
    });

    it('the broker keeps the order of publishes that were not awaited', async () => {
      const received = collectMessages();
      await Promise.all(Array.from({ length: 100 }, (_, n) => broker.publishMessages(topic, [message('one', n)])));
      await eventually(() => expect(received).toHaveLength(100));
      expect(received.map(idOf)).toEqual(Array.from({ length: 100 }, (_, n) => `one-${n}`));
    });

    it('the broker starts a new group at the earliest message, independent of other groups', async () => {
      await broker.publishMessages(topic, [message('a', 1), message('b', 2)]);
      const first = collectMessages();
      const second = collectMessages(`${group}-other`);
      await eventually(() => expect([first.length, second.length]).toEqual([2, 2]));
    });

    it('the broker continues after the committed messages, not from the beginning', async () => {
      const stop = new AbortController();
      await broker.publishMessages(topic, [message('a', 1)]);
      const before = collectMessages(group, stop.signal);
      await eventually(async () => expect([before.length, await broker.readConsumerLag(topic, group)]).toEqual([1, 0]));
      stop.abort();
      await Promise.all(consuming);
      await broker.publishMessages(topic, [message('a', 2)]);
      const after = collectMessages();
      await eventually(() => expect(after.map(idOf)).toEqual(['a-2']));
    });

    it('the broker reports the number of messages that a group has not handled', async () => {
      await broker.publishMessages(topic, [message('a', 1), message('b', 2), message('a', 3)]);
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(3));
      collectMessages();
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0));
    });

    it('the broker delivers a batch again, in order, after its handler failed', async () => {
      await broker.publishMessages(topic, [message('a', 1), message('a', 2)]);
      const attempts: (string | undefined)[][] = [];
      const received = collectMessages(group, consumers.signal, async (messages) => {
        attempts.push(messages.map(idOf));
        if (attempts.length < 3) throw new Error('the handler does not accept the batch yet');
      });
      await eventually(() => expect(received.map(idOf)).toEqual(['a-1', 'a-2']));
      expect(attempts.flat().filter((id) => id === 'a-1').length).toBeGreaterThanOrEqual(3);
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0));
    });

    it('the broker does not commit before the handler has resolved', async () => {
      let release = (): void => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      let entered = false;
      const received = collectMessages(group, consumers.signal, async () => {
        entered = true;
        await held;
      });
      await broker.publishMessages(topic, [message('a', 1)]);
      await eventually(() => expect(entered).toBe(true));
      expect(await broker.readConsumerLag(topic, group)).toBe(1);
      release();
      await eventually(async () =>
        expect([received.length, await broker.readConsumerLag(topic, group)]).toEqual([1, 0]),
      );
    });

    it('the broker does not let a slow partition delay other partitions', async () => {
      let release = (): void => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      let isHeld = false;
      const received = collectMessages(group, consumers.signal, async (messages) => {
        if (!messages.some((one) => one.key === 'slow')) return;
        isHeld = true;
        await held;
      });
      await broker.publishMessages(topic, [message('slow', 0)]);
      await eventually(() => expect(isHeld).toBe(true));
      const keys = Array.from({ length: 40 }, (_, n) => `key-${n}`);
      await broker.publishMessages(
        topic,
        keys.map((key, n) => message(key, n)),
      );
      await eventually(() => expect(received.length).toBeGreaterThan(10));
      expect(received.some((one) => one.key === 'slow')).toBe(false);
      release();
      await eventually(() => expect(received).toHaveLength(41));
    });

    it('the broker divides a topic among the members of a group, each message once, and continues when a member leaves', async () => {
      const leaving = new AbortController();
      const first = collectMessages(group, leaving.signal);
      const second = collectMessages();
      const publish = async (from: number) => {
        for (let n = from; n < from + 200; n += 1) await broker.publishMessages(topic, [message(`key-${n % 20}`, n)]);
      };
      await publish(0);
      await eventually(() => expect(first.length + second.length).toBeGreaterThanOrEqual(200));
      leaving.abort();
      await publish(200);
      const ids = () => new Set([...first, ...second].map(idOf));
      await eventually(() => expect(ids().size).toBe(400));
    });

    it('the broker completes and commits current work before the consumer ends', async () => {
      const leaving = new AbortController();
      const held = Promise.withResolvers<void>();
      const begun: ReceivedBrokerMessage[] = [];
      const finished: ReceivedBrokerMessage[] = [];
      let isOver = false;
      const over = broker
        .consume({ topic, group, signal: leaving.signal }, async (messages) => {
          begun.push(...messages);
          await held.promise;
          finished.push(...messages);
        })
        .then(() => (isOver = true));
      await broker.publishMessages(topic, [message('a', 1)]);
      await eventually(() => expect(begun.map(idOf)).toEqual(['a-1']));
      leaving.abort();
      await new Promise(setImmediate);
      expect(isOver).toBe(false);
      held.resolve();
      await over;
      expect(finished.map(idOf)).toEqual(['a-1']);
      await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0));
    });

    it('the broker does not change an existing topic', async () => {
      await broker.publishMessages(topic, [message('a', 1)]);
      await broker.ensureTopics([{ name: topic, partitions: 1, retentionMs: 1 }]);
      const received = collectMessages();
      await eventually(() => expect(received.map(idOf)).toEqual(['a-1']));
    });

    it('the broker reports the number of published messages of a topic, even after a restart', async () => {
      const total = async () => (await broker.countPublishedMessages(topic)).reduce((sum, count) => sum + count, 0);
      const before = await eventuallyWithin(total, subject);
      await broker.publishMessages(topic, [message('a', 1), message('b', 2), message('c', 3)]);
      const after = await broker.countPublishedMessages(topic);
      expect(await total()).toBe(before + 3);
      await broker.ensureTopics([{ name: `${topic}-other`, partitions: 1, retentionMs: DAY_MS }]);
      broker = await subject.closeAndReopenAdapter();
      expect(await broker.countPublishedMessages(topic)).toEqual(after);
      await expect(broker.countPublishedMessages(`${topic}-none`)).rejects.toThrow(UnavailableError);
    });

    testIfSupported(subject.tooLarge !== undefined, 'this subject accepts messages of any size')(
      'the broker refuses a message that is too large and later messages with the same key, and publishes all other messages',
      async () => {
        const large = { ...message('a', 1), value: JSON.stringify('x'.repeat(subject.tooLarge ?? 0)) };
        const refusal = broker.publishMessages(topic, [message('a', 0), message('b', 0), large, message('a', 2)]);
        await expect(refusal).rejects.toBeInstanceOf(MessageRefusedError);
        await expect(refusal).rejects.toMatchObject({ topic, index: 2 });
        await broker.publishMessages(topic, [message('a', 3)]);
        const received = collectMessages();
        await eventually(async () => expect(await broker.readConsumerLag(topic, group)).toBe(0));
        const ofA = received.filter(({ key }) => key === 'a').map(idOf);
        expect(ofA.filter((id) => id !== 'a-0')).toEqual(['a-3']);
      },
    );

    it('the broker keeps messages and offsets after a restart', async () => {
      const stop = new AbortController();
      await broker.publishMessages(topic, [message('a', 1), message('a', 2)]);
      const before = collectMessages(group, stop.signal);
      await eventually(async () => expect([before.length, await broker.readConsumerLag(topic, group)]).toEqual([2, 0]));
      stop.abort();
      await Promise.all(consuming.splice(0));
      await broker.publishMessages(topic, [message('a', 3)]);
      broker = await subject.closeAndReopenAdapter();
      const after = collectMessages();
      await eventually(() => expect(after.map(idOf)).toEqual(['a-3']));
      const other = collectMessages(`${group}-other`);
      await eventually(() => expect(other.map(idOf)).toEqual(['a-1', 'a-2', 'a-3']));
    });

    testIfSupported(subject.simulateCrash !== undefined, CRASH_UNSUPPORTED_REASON)(
      'the broker loses no acknowledged message in a crash, and repeats only uncommitted messages',
      async () => {
        const sent = Array.from({ length: 300 }, (_, n) => message(`key-${n % 10}`, n));
        const acknowledged: string[] = [];
        const publishing = sent.map((one) =>
          broker.publishMessages(topic, [one]).then(() => acknowledged.push(one.headers['event-id'] ?? '')),
        );
        const before = collectMessages();
        await publishing[150];
        const known = [...acknowledged];
        broker = (await subject.simulateCrash?.()) ?? broker;
        const after = collectMessages();
        await eventually(() => {
          const ids = new Set([...before, ...after].map(idOf));
          expect(known.filter((id) => !ids.has(id))).toEqual([]);
        });
        await Promise.allSettled(publishing);
      },
    );
  });
}
