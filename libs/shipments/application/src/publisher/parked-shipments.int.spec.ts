import type { EventStore, StoredEvent } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { toShipmentStreamName } from '@tracking/shipments-domain';
import { PublishingTestHarness } from '../../test/publishing-test-harness.ts';

/** A store as an older release sees it that does not know some events: from a revision on, by shipment. */
class FaultyStore implements EventStore {
  readonly faults = new Map<string, number>();

  constructor(private readonly inner: EventStore) {}

  append: EventStore['append'] = (...args) => this.inner.append(...args);
  readLastRevision: EventStore['readLastRevision'] = (stream) => this.inner.readLastRevision(stream);
  head: EventStore['head'] = () => this.inner.head();
  close: EventStore['close'] = () => this.inner.close();
  read: EventStore['read'] = async (stream, range) => (await this.inner.read(stream, range)).map(this.seen);
  async *catchUp(options: Parameters<EventStore['catchUp']>[0]) {
    for await (const batch of this.inner.catchUp(options)) yield { ...batch, events: batch.events.map(this.seen) };
  }

  private readonly seen = (event: StoredEvent): StoredEvent => {
    const from =
      [...this.faults].find(([shipment]) => toShipmentStreamName(shipment) === event.stream)?.[1] ?? Infinity;
    return event.revision >= from ? { ...event, type: 'shipment.teleported.v9' } : event;
  };
}

describe('a shipment with an event that cannot be published', () => {
  let harness: PublishingTestHarness;
  let store: FaultyStore;
  let broken: string;
  let sound: string;
  beforeEach(async () => {
    harness = await PublishingTestHarness.openPublishingHarness(1);
    store = new FaultyStore(harness.eventStore);
    broken = await harness.createShipment();
    sound = await harness.createShipment();
  });
  afterEach(() => harness.closePublishingHarness());

  const start = () => harness.startPublisher({ eventStore: store });
  const of = async (shipment: string) =>
    (await harness.readMessages()).filter(({ key }) => key === shipment).map(({ value }) => value);
  const expected = async (shipment: string) =>
    (await harness.computeAnnouncementsOfStoredEvents())
      .filter(({ data }) => data['shipment_id'] === shipment)
      .map((event) => JSON.stringify(event));
  const soundIsPublished = async () => {
    await harness.recordMilestone(sound);
    const all = await expected(sound);
    await eventually(async () => expect(await of(sound)).toEqual(all));
  };
  /** Events published with it may arrive before it. */
  const isParked = ({ publisher }: ReturnType<typeof start>) =>
    eventually(async () => expect(await publisher.listParkedStreams()).toHaveLength(1));

  it('is parked after its earlier events are published, and all others continue', async () => {
    store.faults.set(broken, 1);
    const started = start();
    const { publisher, metrics } = started;
    await harness.recordMilestone(broken);
    await harness.recordMilestone(broken);
    await soundIsPublished();
    await isParked(started);
    expect(await of(broken)).toEqual((await expected(broken)).slice(0, 1));
    expect(await publisher.listParkedStreams()).toEqual([
      expect.objectContaining({
        subscriber: 'publisher',
        stream: toShipmentStreamName(broken),
        revision: 1,
        event_type: 'shipment.teleported.v9',
        error: 'UnknownEventType: unknown type of shipment event: shipment.teleported.v9',
        attempts: 1,
      }),
    ]);
    expect(metrics.getMetricValue('publisher_parked_streams')).toBe(1);
  });

  it('is retried on request, with all waiting events', async () => {
    store.faults.set(broken, 1);
    const started = start();
    const { publisher, metrics } = started;
    for (let n = 0; n < 5; n += 1) await harness.recordMilestone(broken);
    await soundIsPublished();
    await isParked(started);
    const [document] = await publisher.listParkedStreams();
    expect(await publisher.retryParkedStream(document?.id ?? '')).toBe('parked');
    expect(await publisher.listParkedStreams()).toMatchObject([{ attempts: 2, retry: false }]);

    store.faults.clear();
    const writing = Promise.all(Array.from({ length: 50 }, () => harness.recordMilestone(broken)));
    expect(await publisher.retryParkedStream(document?.id ?? '')).toBe('applied');
    await writing;
    await harness.recordMilestone(broken);
    const all = await expected(broken);
    await eventually(async () => expect(await of(broken)).toEqual(all));
    expect(await publisher.listParkedStreams()).toEqual([]);
    expect(metrics.getMetricValue('publisher_parked_streams')).toBe(0);
    expect(await publisher.retryParkedStream('nothing')).toBe('not_found');
  });

  it('stays parked across a restart, and is then retried, because a new release may fix it', async () => {
    store.faults.set(broken, 1);
    const first = start();
    await harness.recordMilestone(broken);
    await soundIsPublished();
    await isParked(first);
    await first.publisher.stop();
    const second = start();
    await eventually(async () => expect(await second.publisher.listParkedStreams()).toMatchObject([{ attempts: 2 }]));
    await harness.recordMilestone(broken);
    await soundIsPublished();
    expect(await of(broken)).toHaveLength(1);
    await second.publisher.stop();
    store.faults.clear();
    const third = start();
    await eventually(async () => expect(await third.publisher.listParkedStreams()).toEqual([]));
    expect(await of(broken)).toEqual(await expected(broken));
  });

  it('is also parked if an already published event is faulty', async () => {
    const first = start();
    await soundIsPublished();
    await first.publisher.stop();
    store.faults.set(broken, 0);
    const second = start();
    await harness.recordMilestone(broken);
    await soundIsPublished();
    await eventually(async () =>
      expect(await second.publisher.listParkedStreams()).toMatchObject([
        { stream: toShipmentStreamName(broken), revision: 1 },
      ]),
    );
    store.faults.clear();
    expect(await second.publisher.retryParkedStream((await second.publisher.listParkedStreams())[0]?.id ?? '')).toBe(
      'applied',
    );
    expect(await of(broken)).toEqual(await expected(broken));
  });
});
