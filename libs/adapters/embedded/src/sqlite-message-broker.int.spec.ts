import { UnavailableError } from '@tracking/ports';
import {
  eventually,
  noMetrics,
  createRecordingLogger,
  createTempFolder,
  type LogLine,
  type TempFolder,
} from '@tracking/testing';
import { EmbeddedSqliteEngine } from './index.ts';
import type { SqliteMessageBroker } from './sqlite-message-broker.ts';

describe('the broker of a single process', () => {
  let folder: TempFolder;
  let engine: EmbeddedSqliteEngine;
  let lines: LogLine[];
  beforeEach(async () => {
    folder = await createTempFolder();
    lines = [];
    engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: createRecordingLogger(lines),
      metrics: noMetrics,
    });
  });
  afterEach(async () => {
    await engine.closeEngine();
    await folder.remove();
  });

  it('delivers a message while it is being stored', async () => {
    const broker = engine.messageBroker;
    await broker.ensureTopics([{ name: 't', partitions: 1, retentionMs: 60_000 }]);
    const steps: string[] = [];
    const stop = new AbortController();
    const over = broker.consume({ topic: 't', group: 'group', signal: stop.signal }, async ([message]) => {
      steps.push(`${message?.value} handed over`);
    });
    for (const value of ['1', '2']) {
      await broker.publishMessages('t', [{ key: 'a', value, headers: {} }]);
      steps.push(`${value} stored`);
      await eventually(() => expect(steps).toContain(`${value} handed over`));
    }
    // The first message may have arrived before the consumer was ready.
    expect(steps.slice(2)).toEqual(['2 handed over', '2 stored']);
    stop.abort();
    await over;
  });

  it('reads a backlog of large messages in small batches', async () => {
    await engine.closeEngine();
    const live = { items: 2, characters: 1_000 };
    engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      ...{ dataDir: folder.path, logger: createRecordingLogger(lines), metrics: noMetrics },
      limits: { live },
    });
    const broker = engine.messageBroker;
    await broker.ensureTopics([{ name: 't', partitions: 1, retentionMs: 60_000 }]);
    const values = Array.from({ length: 9 }, (_, n) => String(n).repeat(n === 4 ? 2_000 : 400));
    await broker.publishMessages(
      't',
      values.map((value) => ({ key: 'a', value, headers: {} })),
    );
    const batches: string[][] = [];
    const stop = new AbortController();
    const over = broker.consume({ topic: 't', group: 'group', signal: stop.signal }, async (messages) => {
      batches.push(messages.map(({ value }) => value));
    });
    await eventually(() => expect(batches.flat()).toEqual(values));
    // The message that exceeds the limit is the last one of its batch.
    expect(batches.map(({ length }) => length).slice(0, 2)).toEqual([3, 2]);
    stop.abort();
    await over;
  });

  it('never reuses the position of a message that was handled but not stored', async () => {
    const broker = engine.messageBroker;
    await broker.ensureTopics([{ name: 't', partitions: 1, retentionMs: 60_000 }]);
    const offsets: string[] = [];
    const consume = (from: EmbeddedSqliteEngine) => {
      const stop = new AbortController();
      const options = { topic: 't', group: 'group', signal: stop.signal };
      const over = from.messageBroker.consume(options, async (messages) => {
        offsets.push(...messages.map(({ offset }) => offset));
      });
      return () => (stop.abort(), over);
    };
    const end = consume(engine);
    // Not a text: SQLite stores it as NULL.
    const refused = { key: 'a', value: { length: 1 } as unknown as string, headers: {} };
    await expect(broker.publishMessages('t', [refused])).rejects.toThrow();
    await eventually(() => expect(offsets).toEqual(['1']));
    await end();
    await engine.closeEngine();

    engine = await EmbeddedSqliteEngine.openEmbeddedEngine({
      dataDir: folder.path,
      logger: createRecordingLogger(lines),
      metrics: noMetrics,
    });
    expect(await engine.messageBroker.countPublishedMessages('t')).toEqual([1]);
    const endAgain = consume(engine);
    await engine.messageBroker.publishMessages('t', [{ key: 'a', value: '2', headers: {} }]);
    await eventually(() => expect(offsets).toEqual(['1', '2']));
    await endAgain();
  });

  it('deletes messages after their retention, and never reuses a position', async () => {
    const broker = engine.messageBroker as SqliteMessageBroker;
    await broker.ensureTopics([{ name: 'short', partitions: 1, retentionMs: 1_000 }]);
    await broker.publishMessages('short', [{ key: 'a', value: '1', headers: {} }]);
    await broker.deleteExpiredMessages(Date.now());
    expect(await broker.readConsumerLag('short', 'group')).toBe(1);
    await broker.deleteExpiredMessages(Date.now() + 2_000);
    expect(await broker.readConsumerLag('short', 'group')).toBe(0);

    const offsets: string[] = [];
    const stop = new AbortController();
    const over = broker.consume({ topic: 'short', group: 'group', signal: stop.signal }, async (messages) => {
      offsets.push(...messages.map((message) => message.offset));
    });
    await broker.publishMessages('short', [{ key: 'a', value: '2', headers: {} }]);
    await eventually(() => expect(offsets).toEqual(['2']));
    stop.abort();
    await over;
  });

  it('keeps messages that a group has not handled, however old', async () => {
    const broker = engine.messageBroker as SqliteMessageBroker;
    await broker.ensureTopics([{ name: 'short', partitions: 1, retentionMs: 1_000 }]);
    const handled: string[] = [];
    const consume = async (until: number) => {
      const stop = new AbortController();
      const over = broker.consume({ topic: 'short', group: 'group', signal: stop.signal }, async (messages) => {
        handled.push(...messages.map(({ value }) => value));
      });
      await eventually(() => expect(handled).toHaveLength(until));
      stop.abort();
      await over;
    };
    await broker.publishMessages('short', [{ key: 'a', value: '1', headers: {} }]);
    await consume(1);
    // The consumer's process is stopped now.
    await broker.publishMessages(
      'short',
      ['2', '3'].map((value) => ({ key: 'a', value, headers: {} })),
    );
    await broker.deleteExpiredMessages(Date.now() + 10_000);
    expect(await broker.readConsumerLag('short', 'group')).toBe(2);
    await consume(3);
    expect(handled).toEqual(['1', '2', '3']);
    await broker.deleteExpiredMessages(Date.now() + 10_000);
    expect(await broker.readConsumerLag('short', 'another group')).toBe(0);
  });

  it('deletes all expired messages at once, and none of other partitions and topics', async () => {
    const broker = engine.messageBroker as SqliteMessageBroker;
    await broker.ensureTopics([
      { name: 'short', partitions: 3, retentionMs: 1_000 },
      { name: 'long', partitions: 1, retentionMs: 60_000 },
    ]);
    const messages = Array.from({ length: 4_500 }, (_, i) => ({ key: `k${i}`, value: String(i), headers: {} }));
    await broker.publishMessages('short', messages);
    await broker.publishMessages('long', messages.slice(0, 10));
    await broker.deleteExpiredMessages(Date.now() + 2_000);
    expect(await broker.readConsumerLag('short', 'group')).toBe(0);
    expect(await broker.readConsumerLag('long', 'group')).toBe(10);

    const received: string[] = [];
    const stop = new AbortController();
    const consumed = ['short', 'long'].map((topic) =>
      broker.consume({ topic, group: 'group', signal: stop.signal }, async (batch) => {
        received.push(...batch.map(({ value }) => `${topic} ${value}`));
      }),
    );
    await eventually(() => expect(received).toHaveLength(10));
    expect(new Set(received.map((text) => text.split(' ')[0]))).toEqual(new Set(['long']));
    stop.abort();
    await Promise.all(consumed);
  });

  it('backs off further while nothing is committed', async () => {
    const broker = engine.messageBroker;
    await broker.ensureTopics([{ name: 't', partitions: 1, retentionMs: 60_000 }]);
    let handled = 0;
    const stop = new AbortController();
    const over = broker.consume({ topic: 't', group: 'group', signal: stop.signal }, async () => {
      handled += 1;
      if (![4, 6].includes(handled)) throw new Error('not this time');
    });
    await broker.publishMessages('t', [{ key: 'a', value: '1', headers: {} }]);
    await eventually(async () => expect(await broker.readConsumerLag('t', 'group')).toBe(0));
    await broker.publishMessages('t', [{ key: 'a', value: '2', headers: {} }]);
    await eventually(async () => expect(await broker.readConsumerLag('t', 'group')).toBe(0));
    // Handling restarts at the second message, because the first one was committed.
    expect(lines.map(({ fields }) => fields['tries'])).toEqual([1, 2, 3, 1]);
    stop.abort();
    await over;
  });

  it('refuses a topic that was not created', async () => {
    await expect(engine.messageBroker.publishMessages('none', [{ key: 'a', value: '1', headers: {} }])).rejects.toThrow(
      UnavailableError,
    );
  });
});
