import { randomUUID } from 'node:crypto';
import type { EventEnvelope, WorkspaceScope } from '@tracking/contracts';
import { UnavailableError } from '@tracking/ports';
import type { MakeEvents } from '@tracking/shipments-domain';
import { eventually, waitForSimulatedDelay } from '@tracking/testing';
import {
  ACME_LIVE_SCOPE,
  ACME_TEST_SCOPE,
  OTHER_WORKSPACE,
  createNthTestShipmentToken,
} from '../../test/shipment-events.ts';
import { ReadModelsTestBed, waitUntilCaughtUp, rebuildReadModelAndWait } from '../../test/world.ts';
import type { SortValues } from '../read-model.ts';
import type { ReadModels } from '../read-models.ts';
import type { PublishedEventFeed, EventFeedOptions, FollowedEventFilter } from './event-feed.ts';
import type { PublishedEventFollower } from './followed-events.ts';
import { PublishedEventReader } from './published-events.ts';

/** Builds the smallest body that these tests need, and records how often each is built. */
class Bodies {
  made: string[] = [];
  failures = 0;
  /** Maximum number of events per response. */
  most = Infinity;
  /** Fails for more references than this, with all engines available. */
  bearable = Infinity;

  readonly make: MakeEvents = async (references) => {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new UnavailableError('event store', 'away');
    }
    if (references.length > this.bearable) throw new Error('the answer is larger than it may be');
    const some = references.slice(0, this.most);
    this.made.push(...some.map(({ id }) => id));
    const type = 'milestone.recorded' as const;
    const events = some.map(({ id }) => ({
      id,
      type,
      created_at: '',
      api_version: '2026-11-01' as const,
      ...ACME_LIVE_SCOPE,
      data: {},
    }));
    return { events, covered: some.length };
  };
}

/** Pseudorandom numbers from a seed, so that a failing test can report its seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const idOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('following the events', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  let bodies: Bodies;
  let feeds: PublishedEventFeed[];
  let failures: number;
  beforeEach(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels();
    await models.ready;
    bodies = new Bodies();
    feeds = [];
    failures = 0;
  });
  afterEach(async () => {
    for (const feed of feeds) feed.endFollowers();
    await world.close();
  });

  /** Each process has its own feed. */
  function feedOf(readModels = models, options: Partial<EventFeedOptions> = {}): PublishedEventFeed {
    const encode = ({ id }: EventEnvelope) => Buffer.from(id);
    const onFailure = () => void (failures += 1);
    const feed = new PublishedEventReader(readModels, bodies.make).createPublishedEventFeed({
      encode,
      onFailure,
      ...options,
    });
    feeds.push(feed);
    return feed;
  }

  async function follow(
    feed: PublishedEventFeed,
    after?: string,
    filter: FollowedEventFilter = {},
    scope: WorkspaceScope = ACME_LIVE_SCOPE,
  ) {
    const followed = await feed.followEvents(
      scope,
      filter,
      after === undefined || after === 'beginning' ? after : { id: after },
    );
    if (followed === undefined) throw new Error(`nothing comes after ${after}`);
    return followed;
  }

  /** Returns the next `count` events, in as many batches as needed. */
  async function next(followed: PublishedEventFollower, count: number): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.push(...(await followed.readNextEvents()).map(({ bytes }) => idOf(bytes)));
    return ids;
  }

  async function all(filter: FollowedEventFilter = {}, scope: WorkspaceScope = ACME_LIVE_SCOPE): Promise<string[]> {
    await waitUntilCaughtUp(models);
    const page = await models.queries.published_events.listEvents(scope, { filter, limit: 100_000 });
    return page.items.map(({ id }) => id);
  }

  /** Appends the given number of milestones of one shipment at once. */
  const milestones = (n: number, count: number) => {
    const ids = Array.from({ length: count }, () => randomUUID());
    const data = (id: string) => ({
      milestone: { id, classifier: 'actual' },
      supersedes: [],
      last: { containers: [] },
    });
    return world.writer.appendEventsWithBodies(
      n,
      ...ids.map((id) => ({ type: 'milestone.recorded.v1', data: data(id) })),
    );
  };

  it('delivers new events once to each follower, and builds each body once', async () => {
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(models);
    const [before] = await all();
    const feed = feedOf();
    const [first, second] = [await follow(feed), await follow(feed)];
    expect([first.startedAfter, second.startedAfter]).toEqual([before, before]);
    for (let n = 2; n < 6; n += 1) await world.writer.createShipment(n);
    const expected = (await all()).slice(1);
    expect([await next(first, 4), await next(second, 4)]).toEqual([expected, expected]);
    expect(bodies.made).toEqual(expected);
  });

  it('delivers only matching events of the scope', async () => {
    await waitUntilCaughtUp(models);
    const feed = feedOf();
    const ofType = await follow(feed, undefined, { type: ['milestone.recorded'] });
    const ofShipment = await follow(feed, undefined, { shipment_id: `shp_${createNthTestShipmentToken(2)}` });
    const ofTest = await follow(feed, undefined, {}, ACME_TEST_SCOPE);
    expect([ofType.startedAfter, ofTest.startedAfter]).toEqual(['beginning', 'beginning']);
    await world.writer.createShipment(1);
    await world.writer.createShipment(3, {}, ACME_TEST_SCOPE);
    await world.writer.createShipment(4, {}, OTHER_WORKSPACE);
    await milestones(1, 1);
    await world.writer.createShipment(2);
    await milestones(2, 1);
    await milestones(3, 1);
    expect(await next(ofType, 2)).toEqual(await all({ type: ['milestone.recorded'] }));
    expect(await next(ofShipment, 2)).toEqual(await all({ shipment_id: `shp_${createNthTestShipmentToken(2)}` }));
    expect(await next(ofTest, 2)).toEqual(await all({}, ACME_TEST_SCOPE));
    // Events of scopes without followers are not built.
    expect(bodies.made).toHaveLength(6);
  });

  it('continues after an event or from the beginning, and refuses unknown events', async () => {
    for (let n = 1; n < 4; n += 1) await world.writer.createShipment(n);
    await milestones(1, 100);
    await world.writer.createShipment(9, {}, OTHER_WORKSPACE);
    const ids = await all();
    const feed = feedOf();
    expect(await next(await follow(feed, 'beginning'), 103)).toEqual(ids);
    expect(await next(await follow(feed, ids[1]), 101)).toEqual(ids.slice(2));
    const [theirs = ''] = await all({}, OTHER_WORKSPACE);
    for (const id of [theirs, 'evt_none', ''])
      expect(await feed.followEvents(ACME_LIVE_SCOPE, {}, { id })).toBeUndefined();
  });

  it('reports an event to resume after, even if few events match', async () => {
    const feed = feedOf();
    const few = await follow(feed, undefined, { type: ['exception.opened'] });
    const ended = few.readNextEvents();
    expect(few.resumeAfter).toBeUndefined();
    await world.writer.createShipment(1);
    await milestones(1, 3);
    const ids = await all();
    await eventually(() => expect(few.resumeAfter).toBe(ids.at(-1)));
    few.stopFollowing();
    expect(await ended).toEqual([]);
  });

  it('resumes reading after an engine failure', async () => {
    const feed = feedOf();
    const followed = await follow(feed);
    bodies.failures = 3;
    await world.writer.createShipment(1);
    await milestones(1, 2);
    expect(await next(followed, 3)).toEqual(await all());
    expect(failures).toBe(3);
  });

  /** Read models whose visibility the test controls. */
  const shownBy = (allReached: ReadModels['waitForAllReadModels']) =>
    ({
      ...models,
      queries: models.queries,
      progress: models.progress,
      waitForAllReadModels: allReached,
    }) as unknown as ReadModels;

  it('delivers an event only after all read models contain it', async () => {
    const madeAtLook: number[] = [];
    const isShownAt = 4;
    const partly = shownBy(() => {
      madeAtLook.push(bodies.made.length);
      return Promise.resolve(madeAtLook.length >= isShownAt);
    });
    const followed = await follow(feedOf(partly));
    await world.writer.createShipment(1);
    expect(await next(followed, 1)).toEqual(await all());
    expect(madeAtLook).toEqual(Array.from({ length: isShownAt }, () => 0));
  });

  it('continues without read models that do not advance', async () => {
    const partly = shownBy(async (_, timeoutMs) => {
      await waitForSimulatedDelay(Math.min(timeoutMs, 5));
      return false;
    });
    const impatient = await follow(feedOf(partly, { visibilityTimeoutMs: 0 }));
    await world.writer.createShipment(1);
    expect(await next(impatient, 1)).toEqual(await all());
  });

  it.each([
    { what: 'hold few of them', trouble: { most: 7 } },
    { what: 'fail on many', trouble: { bearable: 5 } },
  ])('delivers all events live, in catch-up and in lists if responses $what', async ({ trouble }) => {
    const feed = feedOf();
    const live = await follow(feed);
    Object.assign(bodies, trouble);
    for (let n = 1; n < 4; n += 1) await world.writer.createShipment(n);
    for (let times = 0; times < 3; times += 1) await milestones(2, 30);
    const expected = await all();
    expect(await next(live, 93)).toEqual(expected);
    expect(await next(await follow(feedOf(), 'beginning'), 93)).toEqual(expected);
    expect(failures).toBe(0);

    const events = new PublishedEventReader(models, bodies.make);
    const listed: string[] = [];
    for (let after: SortValues | undefined; ;) {
      const page = await events.listEvents(ACME_LIVE_SCOPE, { filter: {}, limit: 40, after });
      listed.push(...page.items.map(({ id }) => id));
      if (page.next === undefined) break;
      after = page.next;
    }
    expect(listed).toEqual(expected);
    const rows = (await models.queries.published_events.listEvents(ACME_LIVE_SCOPE, { filter: {}, limit: 100 })).items;
    expect((await events.log.makeEvents(rows)).map(({ id }) => id)).toEqual(expected);
  });

  it('does not read without followers, and resumes reading for the next one', async () => {
    const feed = feedOf();
    const first = await follow(feed);
    first.stopFollowing();
    await world.writer.createShipment(1);
    await waitUntilCaughtUp(models);
    const second = await follow(feed);
    expect(second.startedAfter).toBe((await all())[0]);
    await world.writer.createShipment(2);
    expect(await next(second, 1)).toEqual((await all()).slice(1));
    expect(bodies.made).toHaveLength(1);
  });

  it('continues through a rebuild, after a restart and in another process', async () => {
    const feed = feedOf();
    const followed = await follow(feed);
    await world.writer.createShipment(1);
    const told = await next(followed, 1);
    const writing = (async () => {
      for (let times = 0; times < 50; times += 1) await milestones(1, 2);
    })();
    await rebuildReadModelAndWait(models, 'published_events');
    await writing;
    told.push(...(await next(followed, 100)));
    feed.endFollowers();
    await models.stop();

    models = await world.startReadModels({ leases: world.createLeasesOfNextProcess() });
    const reader = await world.startReadModels({ project: false });
    await reader.ready;
    const elsewhere = await follow(feedOf(reader), told.at(-1));
    await milestones(1, 2);
    told.push(...(await next(elsewhere, 2)));
    expect(told).toEqual(await all());
  });

  it.each([1, 2, 3])('neither skips nor repeats events while followers come and go (seed %i)', async (seed) => {
    const chance = random(seed);
    const upTo = (most: number) => Math.floor(chance() * most);
    const processes = [feedOf(models, { maxBytes: 400 }), feedOf(await world.startReadModels({ project: false }))];
    const filters: FollowedEventFilter[] = [
      {},
      { type: ['shipment.created'] },
      { shipment_id: `shp_${createNthTestShipmentToken(2)}` },
    ];
    for (let n = 0; n < 4; n += 1) await world.writer.createShipment(n);
    await waitUntilCaughtUp(models);
    let complete: readonly number[] | undefined = undefined;

    /** Follows, disconnects and resumes until all events are delivered; returns them. */
    const follower = async (n: number) => {
      const told: string[] = [];
      let last = 'beginning';
      const isComplete = () => complete !== undefined && told.length >= (complete[n % 3] ?? 0);
      while (!isComplete()) {
        const followed = await follow(processes[upTo(2)]!, last, filters[n % 3]);
        let coming = followed.readNextEvents();
        for (let times = upTo(5); times >= 0 && !isComplete(); times -= 1) {
          const events = await Promise.race([coming, waitForSimulatedDelay(30).then(() => undefined)]);
          for (const { id } of events ?? []) told.push((last = id));
          if (events === undefined) continue;
          last = followed.resumeAfter ?? last;
          coming = followed.readNextEvents();
        }
        followed.stopFollowing();
      }
      return told;
    };
    const followers = Array.from({ length: 9 }, (_, n) => follower(n));
    for (let times = 0; times < 120; times += 1) {
      if (chance() < 0.1) await world.writer.createShipment(4 + times);
      else await milestones(upTo(4), 1 + upTo(6));
      if (chance() < 0.3) await waitForSimulatedDelay(upTo(20));
      if (times === 60) await models.rebuild('published_events');
    }
    const expected = await Promise.all(filters.map((filter) => all(filter)));
    complete = expected.map(({ length }) => length);
    for (const [n, told] of (await Promise.all(followers)).entries()) expect(told).toEqual(expected[n % 3]);
  });
});
