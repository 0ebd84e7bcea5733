import type { JsonObject } from '@tracking/contracts';
import type { EventStore, MessageBroker, StoredEvent } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { PublishingTestHarness } from '../../test/publishing-test-harness.ts';

describe('the publisher of large shipments', () => {
  let harness: PublishingTestHarness;
  beforeEach(async () => {
    harness = await PublishingTestHarness.openPublishingHarness(1);
  });
  afterEach(() => harness.closePublishingHarness());

  it('keeps only a few of them in memory before it publishes their events', async () => {
    const COUNT = 100;
    const id = await harness.createShipment();
    for (const code of ['gated_in', 'loaded_on_vessel'] as const) await harness.recordMilestone(id, { code });
    const [created, ...recorded] = await harness.readStoredEvents();
    const token = id.replace('shp_', '');
    /** Returns the event as one of another shipment. */
    const copyEvent = (event: StoredEvent | undefined, n: number) =>
      JSON.parse(JSON.stringify(event).replaceAll(token, `${token}${n}`)) as StoredEvent;
    const containers = Array.from({ length: 1_000 }, () => ({}));
    const numbers = Array.from({ length: COUNT }, (_, n) => n);
    // Each of these events happens to all shipments before the next one does.
    const events = recorded.flatMap((event) => numbers.map((n) => copyEvent(event, n)));
    const inMemory = new Set<string>();
    const read: EventStore['read'] = (stream, { from = 0, to = 0 } = {}) => {
      inMemory.add(stream);
      const n = events.findIndex((event) => event.stream === stream);
      const first = copyEvent(created, n);
      const shipment = { ...(first.data['shipment'] as JsonObject), containers };
      const own = events.filter((event) => event.stream === stream);
      return Promise.resolve([{ ...first, data: { ...first.data, shipment } }, ...own].slice(from, to + 1));
    };
    const catchUp: EventStore['catchUp'] = async function* ({ signal }) {
      yield { events, position: events.at(-1)?.position ?? '', caughtUp: true };
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const published: string[] = [];
    let most = 0;
    const publishMessages: MessageBroker['publishMessages'] = (_topic, messages) => {
      most = Math.max(most, inMemory.size);
      inMemory.clear();
      published.push(...messages.map(({ key }) => key));
      return Promise.resolve();
    };
    harness.startPublisher({
      eventStore: Object.assign(Object.create(harness.eventStore) as EventStore, { read, catchUp }),
      broker: Object.assign(Object.create(harness.broker) as MessageBroker, { publishMessages }),
      cachedShipments: 1,
    });
    await eventually(() => expect(published).toEqual(recorded.flatMap(() => numbers.map((n) => `${id}${n}`))));
    expect(most).toBeLessThanOrEqual(32);
  });
});
