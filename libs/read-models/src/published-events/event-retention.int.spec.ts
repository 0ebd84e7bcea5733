import type { EventReference } from '@tracking/shipments-domain';
import { eventually, expectAssertionStaysTrue } from '@tracking/testing';
import {
  ACME_LIVE_SCOPE,
  ACME_TEST_SCOPE,
  OTHER_WORKSPACE,
  createNthTestShipmentToken,
} from '../../test/shipment-events.ts';
import { ReadModelsTestBed, waitUntilCaughtUp, rebuildReadModelAndWait } from '../../test/world.ts';
import type { ReadModels, ReadModelsOptions } from '../read-models.ts';
import { PublishedEventReader } from './published-events.ts';

const DAY_MS = 86_400_000;
const NEVER_MS = 2 ** 31 - 1;

describe('the retention of published events', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  let offsetMs: number;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    offsetMs = 0;
  });
  afterEach(() => world.close());

  /** Sweeps only at its start unless the test triggers it. */
  async function start(options: Partial<ReadModelsOptions> = {}): Promise<void> {
    const clock = () => new Date(Date.now() + offsetMs);
    const retention = { eventRetentionMs: 30 * DAY_MS, sweepEveryMs: NEVER_MS, graceMs: 100 };
    models = await world.startReadModels({ clock, ...retention, ...options });
    await models.ready;
  }

  /** Ids of the stored rows of all scopes. */
  const stored = async () => (await models.digestRows('published_events')).rows;
  const ids = async (filter = {}, scope = ACME_LIVE_SCOPE) =>
    (await models.queries.published_events.listEvents(scope, { filter, limit: 100 })).items.map(({ id }) => id);

  it('returns no expired event, whether or not its row is deleted', async () => {
    await start();
    await world.writer.createShipment(1);
    await world.writer.writeShipmentChangedEvent(1, { house_bill: 'HB' });
    await waitUntilCaughtUp(models);
    const all = await ids();
    const [first = '', last = ''] = all;
    offsetMs = 29 * DAY_MS;
    expect(await ids()).toEqual(all);
    offsetMs = 31 * DAY_MS;
    for (const filter of [
      {},
      { shipment_id: `shp_${createNthTestShipmentToken(1)}` },
      { since: '2020-01-01T00:00:00.000Z' },
    ]) {
      expect(await ids(filter)).toEqual([]);
    }
    const { published_events: events } = models.queries;
    expect([await events.getEvent(ACME_LIVE_SCOPE, last), await ids({ after: first })]).toEqual([undefined, []]);
    const bodies = async (references: readonly EventReference[]) => ({
      covered: references.length,
      events: references.map(({ id }) => ({
        id,
        type: 'shipment.created' as const,
        created_at: '',
        api_version: '2026-11-01' as const,
        ...ACME_LIVE_SCOPE,
        data: {},
      })),
    });
    const encode = ({ id }: { readonly id: string }) => Buffer.from(id);
    const feed = new PublishedEventReader(models, bodies).createPublishedEventFeed({
      encode,
      onFailure: () => undefined,
    });
    expect(await feed.followEvents(ACME_LIVE_SCOPE, {}, { id: first })).toBeUndefined();
    const followed = await feed.followEvents(ACME_LIVE_SCOPE, {}, 'beginning');
    const now = await feed.followEvents(ACME_LIVE_SCOPE, {});
    expect(now?.startedAfter).toBe('beginning');
    const told = followed?.readNextEvents();
    followed?.stopFollowing();
    expect(await told).toEqual([]);
    feed.endFollowers();
    expect(await stored()).toBe(2);
  });

  it('deletes expired events of every workspace and environment, and keeps younger ones', async () => {
    await start({ sweepEveryMs: 5 });
    await world.writer.createShipment(1);
    await world.writer.createShipment(2, {}, ACME_TEST_SCOPE);
    await world.writer.createShipment(3, {}, OTHER_WORKSPACE);
    for (let times = 0; times < 450; times += 50) {
      const change = { type: 'shipment.changed.v1', data: { changes: {} } };
      await world.writer.appendEventsWithBodies(3, ...Array.from({ length: 50 }, () => change));
    }
    await waitUntilCaughtUp(models);
    offsetMs = 29 * DAY_MS;
    await expectAssertionStaysTrue(async () => expect(await stored()).toBe(453), 50);
    offsetMs = 31 * DAY_MS;
    await eventually(async () => expect(await stored()).toBe(0));
    offsetMs = 0;
    await world.writer.createShipment(4);
    await waitUntilCaughtUp(models);
    expect(await ids()).toHaveLength(1);
  });

  it('applies to a rebuild, which stores no expired event', async () => {
    await start();
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(models);
    offsetMs = 31 * DAY_MS;
    expect(await stored()).toBe(1);
    await rebuildReadModelAndWait(models, 'published_events');
    expect(await stored()).toBe(0);
    offsetMs = 0;
    await rebuildReadModelAndWait(models, 'published_events');
    expect(await stored()).toBe(1);
  });

  it('is swept by processes that project, and observed by the others', async () => {
    await start();
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(models);
    const projecting = models;
    await start({ project: false, sweepEveryMs: 1 });
    offsetMs = 31 * DAY_MS;
    expect(await ids()).toEqual([]);
    await expectAssertionStaysTrue(
      async () => expect((await projecting.digestRows('published_events')).rows).toBe(1),
      50,
    );
  });
});
