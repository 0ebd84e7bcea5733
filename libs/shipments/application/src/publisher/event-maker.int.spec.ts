import { type MakeEvents, type EventReference, toPublicEventId } from '@tracking/shipments-domain';
import { SAMPLE_PUBLIC_URLS, PublishingTestHarness } from '../../test/publishing-test-harness.ts';
import { createPublicEventRecreator } from './event-maker.ts';

describe('recreated public events', () => {
  let harness: PublishingTestHarness;
  let makeEvents: MakeEvents;
  beforeAll(async () => {
    harness = await PublishingTestHarness.openPublishingHarness(1);
    const shipments = await Promise.all(Array.from({ length: 5 }, () => harness.createShipment()));
    for (let n = 0; n < 6; n += 1)
      await Promise.all(shipments.map((id) => harness.recordMilestone(id, { code: 'gated_in' })));
  });
  beforeEach(() => {
    makeEvents = createPublicEventRecreator({ eventStore: harness.eventStore, addresses: SAMPLE_PUBLIC_URLS });
  });
  afterAll(() => harness.closePublishingHarness());

  /** References of all stored events, including those without announcements. */
  const references = async (): Promise<EventReference[]> =>
    (await harness.readStoredEvents()).map(({ id, stream, revision }) => ({
      id: toPublicEventId(id),
      stream,
      revision,
    }));
  const text = (events: readonly object[]) => events.map((event) => JSON.stringify(event));
  const eventsOf = async (wanted: readonly EventReference[], make = makeEvents) => {
    const { events, covered } = await make(wanted, Infinity);
    expect(covered).toBe(wanted.length);
    return events;
  };

  it('have the bytes that were published', async () => {
    harness.startPublisher();
    const published = (await harness.waitForPublishedAnnouncements()).map(({ value }) => value);
    expect(text(await eventsOf(await references()))).toEqual(published);
  });

  it('come in the requested order, also page by page, back and forth, and without a cache', async () => {
    const all = await references();
    const expected = text(await harness.computeAnnouncementsOfStoredEvents());
    const backwards = text(await eventsOf([...all].reverse()));
    expect(backwards).toEqual([...expected].reverse());
    for (const cachedShipments of [1_000, 1]) {
      const paged = createPublicEventRecreator({
        eventStore: harness.eventStore,
        addresses: SAMPLE_PUBLIC_URLS,
        cachedShipments,
      });
      const pages: string[] = [];
      for (let at = 0; at < all.length; at += 7) pages.push(...text(await eventsOf(all.slice(at, at + 7), paged)));
      expect(pages).toEqual(expected);
    }
  });

  it('do not include unknown references', async () => {
    const [first] = await references();
    if (first === undefined) throw new Error('nothing is stored');
    const nowhere = { ...first, id: 'evt_nowhere', stream: 'shipment-nowhere' };
    for (const wrong of [nowhere, { ...first, id: 'evt_unknown' }, { ...first, revision: 1_000 }]) {
      expect(await eventsOf([wrong])).toEqual([]);
    }
    expect(text(await eventsOf([nowhere, first]))).toEqual(
      text((await harness.computeAnnouncementsOfStoredEvents()).slice(0, 1)),
    );
    expect(await eventsOf([])).toEqual([]);
  });

  it('end before the maximum number of bytes, with at least one event', async () => {
    const all = await references();
    const published = text(await harness.computeAnnouncementsOfStoredEvents());
    for (const maxBytes of [1, 5_000, 40_000, Infinity]) {
      const made: string[] = [];
      for (let at = 0; at < all.length;) {
        const { events, covered } = await makeEvents(all.slice(at), maxBytes);
        expect(covered).toBeGreaterThan(0);
        const bytes = Buffer.byteLength(text(events).join(''));
        expect(events.length === 1 || bytes <= maxBytes).toBe(true);
        made.push(...text(events));
        at += covered;
      }
      expect(made).toEqual(published);
    }
  });

  it('omit a stream that cannot be folded', async () => {
    const stream = 'shipment-broken';
    const event = { id: '5f6a2b86-37ac-4b5c-9d53-5a0c4f1d2b11', type: 'shipment.changed.v1', data: {}, metadata: {} };
    await harness.eventStore.append(stream, 'no_stream', [event]);
    const [first] = await references();
    const made = await eventsOf([{ id: toPublicEventId(event.id), stream, revision: 0 }, ...(first ? [first] : [])]);
    expect(made.map(({ id }) => id)).toEqual([first?.id]);
  });
});
