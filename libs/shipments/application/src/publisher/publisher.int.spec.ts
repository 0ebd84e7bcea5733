import {
  BusyError,
  type EventStore,
  type BrokerMessage,
  type MessageBroker,
  MessageRefusedError,
  type Position,
  UnavailableError,
} from '@tracking/ports';
import { CHECKPOINTS_COLLECTION_SPEC, type CheckpointDocument } from '@tracking/subscriptions';
import { eventually, waitForSimulatedDelay } from '@tracking/testing';
import { createUpsertCommand } from '../../test/builders.ts';
import { SimulatedKillableProcess } from '../../test/killable-process.ts';
import type { PublisherOptions } from './publisher.ts';
import {
  SAMPLE_PUBLIC_URLS,
  PublishingTestHarness,
  type RunningPublisherWithMetrics,
} from '../../test/publishing-test-harness.ts';

const texts = (messages: readonly { readonly value: string }[]) => messages.map(({ value }) => value);
const ids = (messages: readonly { readonly headers: Readonly<Record<string, string>> }[]) =>
  messages.map(({ headers }) => headers['event-id']);

interface PublishedLog {
  readonly id: string;
  readonly generation: number;
  readonly produced: readonly number[];
}

describe('the publisher', () => {
  let harness: PublishingTestHarness;
  beforeEach(async () => {
    // One partition shows the order of all messages, not only that of each shipment.
    harness = await PublishingTestHarness.openPublishingHarness(1);
  });
  afterEach(() => harness.closePublishingHarness());

  const announced = async () =>
    (await harness.computeAnnouncementsOfStoredEvents()).map((event) => JSON.stringify(event));
  const checkpoint = async (): Promise<CheckpointDocument | undefined> =>
    (await harness.documentStore.collection<CheckpointDocument>(CHECKPOINTS_COLLECTION_SPEC)).get(
      'publisher/1/shipment-',
    );

  /** The broker with overridden methods. */
  const brokerThat = (otherwise: Partial<MessageBroker>): MessageBroker => ({
    ensureTopics: (topics) => harness.broker.ensureTopics(topics),
    consume: (options, handler) => harness.broker.consume(options, handler),
    readConsumerLag: (topic, group) => harness.broker.readConsumerLag(topic, group),
    countPublishedMessages: (topic) => harness.broker.countPublishedMessages(topic),
    publishMessages: (topic, messages) => harness.broker.publishMessages(topic, messages),
    close: () => harness.broker.close(),
    ...otherwise,
  });

  const remembered = async () => {
    const spec = { name: 'published_log', indexes: [], durability: 'derived' as const };
    return (await harness.documentStore.collection<PublishedLog>(spec)).get('shipment-events');
  };

  /** A journey with every kind of event, including those that announce nothing. */
  async function journey(): Promise<string> {
    const id = await harness.createShipment(undefined, { destination_port: 'USLAX', eta: '2026-03-20T00:00:00.000Z' });
    await harness.recordMilestone(id, { code: 'gated_in' });
    const occurred_at = '2026-03-20T12:00:00.000Z';
    await harness.recordMilestone(id, {
      code: 'vessel_arrived',
      occurred_at,
      classifier: 'estimated',
      source: 'carrier',
    });
    await harness.recordMilestone(id, { code: 'customs_hold' });
    await harness.recordMilestone(id, { code: 'import_customs_cleared' });
    await harness.createShipment(
      (await harness.computeAnnouncementsOfStoredEvents()).at(-1)?.data['external_id'] as string,
      {
        house_bill: 'HB-1',
      },
    );
    return id;
  }

  it('publishes announcements once, in order', async () => {
    await journey();
    const { metrics } = harness.startPublisher();
    await journey();
    const messages = await harness.waitForPublishedAnnouncements();
    expect(texts(messages)).toEqual(await announced());
    const events = await harness.computeAnnouncementsOfStoredEvents();
    expect(messages.map(({ key, headers }) => ({ key, ...headers }))).toMatchObject(
      events.map(({ id, type, data }) => ({ key: data['shipment_id'], 'event-id': id, 'event-type': type })),
    );
    expect(new Set(events.map(({ type }) => type)).size).toBe(5);
    // Counts stored messages, because consumers receive messages earlier.
    await eventually(() =>
      expect(metrics.getMetricValue('publisher_events_published_total{type="exception.opened"}')).toBe(2),
    );
  });

  it('sends position and request of each event in headers, the same each time, not in the event', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await harness.shipments.upsertShipment(
      createUpsertCommand({ house_bill: 'HB-1' }, { request_id: 'req_traced', traceparent }),
    );
    await harness.createShipment();
    const { publisher } = harness.startPublisher();
    const [first, second] = await harness.waitForPublishedAnnouncements();
    const [created, other] = await harness.readStoredEvents();
    expect([first, second]).toMatchObject([
      { headers: { position: created?.position, 'request-id': 'req_traced', traceparent } },
      { headers: { position: other?.position, 'request-id': 'req_1' } },
    ]);
    expect(second?.headers).not.toHaveProperty('traceparent');
    expect(first?.value).not.toContain('req_traced');
    await publisher.stop();
    await harness.documentStore.dropCollection(CHECKPOINTS_COLLECTION_SPEC.name);
    await harness.reopenEngine();
    harness.startPublisher();
    const again = await eventually(async () => {
      const messages = await harness.readMessages();
      expect(messages).toHaveLength(4);
      return messages;
    });
    expect(again.slice(2).map(({ headers }) => headers)).toEqual([first?.headers, second?.headers]);
  });

  it('keeps the order of each shipment while many are written concurrently', async () => {
    harness.startPublisher();
    const shipments = await Promise.all(Array.from({ length: 10 }, () => harness.createShipment()));
    await Promise.all(shipments.flatMap((id) => Array.from({ length: 20 }, () => harness.recordMilestone(id))));
    expect(texts(await harness.waitForPublishedAnnouncements())).toEqual(await announced());
  });

  it('continues from its position', async () => {
    const { publisher } = harness.startPublisher();
    const id = await harness.createShipment();
    const before = ids(await harness.waitForPublishedAnnouncements());
    await publisher.stop();
    await harness.reopenEngine();
    await harness.recordMilestone(id);
    harness.startPublisher();
    expect(ids(await harness.waitForPublishedAnnouncements()).slice(0, before.length + 1)).toEqual([
      ...before,
      (await harness.computeAnnouncementsOfStoredEvents())[before.length]?.id,
    ]);
  });

  it('recreates the same bytes from the first event on', async () => {
    const { publisher } = harness.startPublisher();
    await Promise.all([journey(), journey(), journey()]);
    const first = texts(await harness.waitForPublishedAnnouncements());
    await publisher.stop();
    await harness.documentStore.dropCollection(CHECKPOINTS_COLLECTION_SPEC.name);
    await harness.reopenEngine();
    // A tiny cache, so that shipments must be read again in between.
    harness.startPublisher({ cachedShipments: 1, addresses: SAMPLE_PUBLIC_URLS });
    await eventually(async () => expect(await harness.readMessages()).toHaveLength(2 * first.length));
    expect(texts(await harness.readMessages()).slice(first.length)).toEqual(first);
  });

  it('keeps the latest shipment in memory, even if it is larger than the cache', async () => {
    const id = await harness.createShipment(undefined, { metadata: { note: 'x'.repeat(5_000) } });
    let reads = 0;
    const eventStore = Object.assign(Object.create(harness.eventStore) as EventStore, {
      read: (...range: Parameters<EventStore['read']>) => {
        reads += 1;
        return harness.eventStore.read(...range);
      },
    });
    harness.startPublisher({ eventStore, cachedShipments: 2 });
    for (let recorded = 0; recorded < 3; recorded += 1) {
      await harness.recordMilestone(id);
      await harness.waitForPublishedAnnouncements();
    }
    expect(reads).toBe(0);
  });

  it('publishes nothing that the read models do not contain', async () => {
    let shown: Position = '';
    const asked: Position[] = [];
    const { metrics } = harness.startPublisher({
      readModelsContain: async (events, timeoutMs) => {
        const position = events.at(-1)?.position ?? '';
        asked.push(position);
        const reached = eventually(() => expect(shown >= position).toBe(true), { deadlineMs: timeoutMs });
        return reached.then(
          () => true,
          () => false,
        );
      },
    });
    const id = await harness.createShipment();
    await eventually(() => expect(asked).not.toEqual([]));
    await harness.recordMilestone(id, { code: 'gated_in' });
    expect(await harness.readMessages()).toEqual([]);
    expect(metrics.getMetricValue('publisher_lag_seconds')).toBeGreaterThan(0);
    const stored = await harness.readStoredEvents();
    shown = stored[0]?.position ?? '';
    await eventually(async () => expect(await harness.readMessages()).toHaveLength(1));
    shown = stored.at(-1)?.position ?? '';
    expect(texts(await harness.waitForPublishedAnnouncements())).toEqual(await announced());
    await eventually(() => expect(metrics.getMetricValue('publisher_lag_seconds')).toBe(0));
    expect(metrics.getMetricValue('publisher_ahead_of_read_models_total')).toBe(0);
  });

  it('waits only for the read models of the types of the events', async () => {
    const asked: string[][] = [];
    const readModelsContain: PublisherOptions['readModelsContain'] = (events) => {
      asked.push(events.map(({ type }) => type));
      return Promise.resolve(true);
    };
    harness.startPublisher({ readModelsContain });
    const id = await harness.createShipment();
    await harness.waitForPublishedAnnouncements();
    await harness.recordMilestone(id, { code: 'gated_in' });
    await harness.waitForPublishedAnnouncements();
    expect(asked.flat().toSorted()).toEqual(
      [...new Set((await harness.computeAnnouncementsOfStoredEvents()).map(({ type }) => type))].toSorted(),
    );
    expect(asked[0]).toEqual(['shipment.created']);
  });

  it('continues without stalled read models until they catch up', async () => {
    let isStill = true;
    const asked: number[] = [];
    const readModelsContain: PublisherOptions['readModelsContain'] = (_events, timeoutMs) => {
      asked.push(timeoutMs);
      if (isStill && asked.length % 2 === 0) throw new BusyError('read models', 'too many wait');
      return waitForSimulatedDelay(isStill ? timeoutMs : 0).then(() => !isStill);
    };
    const { metrics } = harness.startPublisher({ readModelsContain, patienceMs: 100 });
    for (let n = 0; n < 5; n += 1) await harness.createShipment();
    expect(texts(await harness.waitForPublishedAnnouncements())).toEqual(await announced());
    expect(metrics.getMetricValue('publisher_ahead_of_read_models_total')).toBe(5);
    // After one timeout, the publisher does not wait again at every event.
    asked.splice(0);
    await harness.createShipment();
    await harness.waitForPublishedAnnouncements();
    expect(asked).toEqual([0]);
    isStill = false;
    await harness.createShipment();
    await harness.waitForPublishedAnnouncements();
    expect(metrics.getMetricValue('publisher_ahead_of_read_models_total')).toBe(6);
    asked.splice(0);
    await harness.createShipment();
    await harness.waitForPublishedAnnouncements();
    expect(asked.every((timeoutMs) => timeoutMs > 0)).toBe(true);
  });

  it('waits for an unavailable or busy broker without moving the checkpoint', async () => {
    let failures = 0;
    let isAway = true;
    const { metrics } = harness.startPublisher({
      broker: brokerThat({
        publishMessages: async (topic, messages) => {
          if (!isAway) return harness.broker.publishMessages(topic, messages);
          failures += 1;
          // An unknown outcome: the broker has accepted the message.
          if (failures % 3 === 0) await harness.broker.publishMessages(topic, messages);
          throw failures % 2 === 0 ? new BusyError('broker', 'too much waits') : new UnavailableError('broker', 'away');
        },
      }),
    });
    await eventually(async () => expect((await checkpoint())?.complete).toBe(true));
    await journey();
    await eventually(() => expect(failures).toBeGreaterThan(4));
    // An empty log may have a position or none, depending on when it was checked.
    const [first] = await harness.readStoredEvents();
    expect(((await checkpoint())?.position ?? '') < (first?.position ?? '')).toBe(true);
    expect(metrics.getMetricValue('retries_total{what="publishing"}')).toBeGreaterThan(0);
    isAway = false;
    const messages = await harness.waitForPublishedAnnouncements();
    const expected = await announced();
    expect([...new Set(texts(messages))]).toEqual(expected);
    const end = (await harness.readStoredEvents()).at(-1)?.position;
    await eventually(async () => expect((await checkpoint())?.position).toBe(end));
  });

  it('publishes everything again if the log of the broker became shorter before the start', async () => {
    const { publisher } = harness.startPublisher({ logCheckIntervalMs: 5 });
    await journey();
    const first = texts(await harness.waitForPublishedAnnouncements());
    await eventually(async () => expect(await remembered()).toMatchObject({ generation: 1, produced: [first.length] }));
    await publisher.stop();
    harness.startPublisher({ broker: brokerThat({ countPublishedMessages: async () => [0] }) });
    await eventually(async () => expect(await harness.readMessages()).toHaveLength(2 * first.length));
    expect(texts(await harness.readMessages())).toEqual([...first, ...first]);
    await journey();
    expect([...new Set(texts(await harness.waitForPublishedAnnouncements()))]).toEqual(await announced());
  });

  it('publishes everything again once if the log becomes shorter, whichever process notices it first', async () => {
    let lost = 0;
    const asked: number[] = [];
    const broker = brokerThat({
      countPublishedMessages: async (topic) => {
        const produced = (await harness.broker.countPublishedMessages(topic)).map((count) => count - lost);
        asked.push(...produced);
        return produced;
      },
    });
    const options = { broker, logCheckIntervalMs: 5, leases: harness.createLeasesOfNextProcess() };
    const both = [harness.startPublisher(options), harness.startPublisher(options)];
    await journey();
    const first = texts(await harness.waitForPublishedAnnouncements());
    await eventually(async () => expect(await remembered()).toMatchObject({ generation: 1, produced: [first.length] }));
    lost = first.length;
    await eventually(async () => expect(await harness.readMessages()).toHaveLength(2 * first.length));
    // The log did not become shorter again, so it is not published a third time.
    await eventually(async () => expect(await remembered()).toMatchObject({ generation: 2, produced: [first.length] }));
    asked.splice(0);
    await eventually(() => expect(asked.length).toBeGreaterThan(4));
    await harness.createShipment();
    expect((await harness.waitForPublishedAnnouncements()).length).toBe(2 * first.length + 1);
    await Promise.all(both.map(({ publisher }) => publisher.stop()));
  });

  it('continues if the broker does not report the length of its log', async () => {
    const broker = brokerThat({ countPublishedMessages: () => Promise.reject(new UnavailableError('broker', 'away')) });
    const { metrics } = harness.startPublisher({ broker, logCheckIntervalMs: 1 });
    await journey();
    expect(texts(await harness.waitForPublishedAnnouncements())).toEqual(await announced());
    await eventually(() => expect(metrics.getMetricValue('retries_total{what="publishing"}')).toBeGreaterThan(1));
  });

  it('parks a shipment with a message that the broker always refuses, and all others continue', async () => {
    const [large, other] = [await harness.createShipment(), await harness.createShipment()];
    for (let n = 0; n < 3; n += 1)
      for (const id of [large, other]) await harness.recordMilestone(id, { code: 'gated_in' });
    const own = (await harness.computeAnnouncementsOfStoredEvents()).filter(
      ({ data }) => data['shipment_id'] === large,
    );
    let refused: string | undefined = own[2]?.id;
    const isRefused = (message: BrokerMessage) => message.headers['event-id'] === refused;
    const broker = brokerThat({
      publishMessages: async (topic, messages) => {
        const index = messages.findIndex(isRefused);
        if (index === -1) return harness.broker.publishMessages(topic, messages);
        // The broker may accept or refuse the others.
        await harness.broker.publishMessages(topic, messages.slice(0, 1));
        throw new MessageRefusedError(topic, index, 'too large');
      },
    });
    const { publisher } = harness.startPublisher({ broker });
    await eventually(async () => expect(await publisher.listParkedStreams()).toHaveLength(1));
    await harness.recordMilestone(large);
    await harness.recordMilestone(other);
    const of = async (id: string) => [
      ...new Set((await harness.readMessages()).filter(({ key }) => key === id).map(({ value }) => value)),
    ];
    const expected = async (id: string) =>
      (await harness.computeAnnouncementsOfStoredEvents())
        .filter(({ data }) => data['shipment_id'] === id)
        .map((event) => JSON.stringify(event));
    const allOfOther = await expected(other);
    await eventually(async () => expect(await of(other)).toEqual(allOfOther));
    expect(await of(large)).toEqual((await expected(large)).slice(0, 2));
    const [parked] = await publisher.listParkedStreams();
    expect(parked).toMatchObject({
      error: 'MessageRefused: shipment-events: the broker permanently refuses a message: too large',
    });
    expect(await publisher.retryParkedStream(parked?.id ?? '')).toBe('parked');
    refused = undefined;
    expect(await publisher.retryParkedStream(parked?.id ?? '')).toBe('applied');
    const allOfLarge = await expected(large);
    await eventually(async () => expect(await of(large)).toEqual(allOfLarge));
  });

  it('loses nothing and keeps the order across crashes at every step', async () => {
    for (let at = 1; at <= 24; at += 1) {
      const process = new SimulatedKillableProcess((at >> 1) + 1, at % 2 === 0);
      harness.startPublisher({}, process);
      const id = await harness.createShipment();
      while (!process.dead) await harness.recordMilestone(id);
    }
    const all = await harness.readStoredEvents();
    harness.startPublisher();
    const messages = texts(await harness.waitForPublishedAnnouncements());
    // Repeated are only whole runs from some point on: each event for the first time in its order, as the same bytes.
    expect([...new Set(messages)]).toEqual(await announced());
    expect(messages.length).toBeLessThan(2 * all.length);
    expect(messages.length).toBeGreaterThan(new Set(messages).size);
  }, 30_000);

  it('runs in one process at a time, and another takes over', async () => {
    const leases = harness.createLeasesOfNextProcess();
    const both = [harness.startPublisher({ leases }), harness.startPublisher({ leases })];
    const published =
      (type: string) =>
      ({ metrics }: RunningPublisherWithMetrics) =>
        metrics.getMetricValue(`publisher_events_published_total{type="${type}"}`);
    const id = await harness.createShipment();
    await harness.waitForPublishedAnnouncements();
    const created = published('shipment.created');
    await eventually(() => expect(both.map(created).toSorted()).toEqual([0, 1]));
    const [holder, other] = created(both[0] as RunningPublisherWithMetrics) === 1 ? both : both.toReversed();
    if (holder === undefined || other === undefined) throw new Error('two were started');
    await Promise.all([holder.publisher.stop(), ...Array.from({ length: 20 }, () => harness.recordMilestone(id))]);
    await harness.recordMilestone(id);
    expect(texts(await harness.waitForPublishedAnnouncements())).toEqual(await announced());
    await eventually(() => expect(published('milestone.recorded')(other)).toBeGreaterThan(0));
  });

  it('tolerates two processes that both hold the lease', async () => {
    const older = harness.startPublisher();
    const id = await harness.createShipment();
    await harness.waitForPublishedAnnouncements();
    const newer = harness.startPublisher();
    for (let n = 0; n < 20; n += 1) await harness.recordMilestone(id);
    expect([...new Set(texts(await harness.waitForPublishedAnnouncements()))]).toEqual(await announced());
    const end = (await harness.readStoredEvents()).at(-1)?.position;
    await eventually(async () => expect((await checkpoint())?.position).toBe(end));
    await Promise.all([older.publisher.stop(), newer.publisher.stop()]);
  });

  it('distributes the shipments over partitions', async () => {
    harness.startPublisher({ partitions: 16 });
    const shipments = await Promise.all(Array.from({ length: 30 }, () => harness.createShipment()));
    await Promise.all(shipments.map((id) => harness.recordMilestone(id)));
    const messages = await harness.waitForPublishedAnnouncements();
    expect(texts(messages).sort()).toEqual((await announced()).sort());
    const expected = await harness.computeAnnouncementsOfStoredEvents();
    for (const id of shipments) {
      const own = expected.filter(({ data }) => data['shipment_id'] === id).map((event) => event.id);
      expect(ids(messages.filter(({ key }) => key === id))).toEqual(own);
    }
  });
});
