import { setImmediate } from 'node:timers/promises';
import { ACME_LIVE_SCOPE, OTHER_WORKSPACE } from '../../test/shipment-events.ts';
import { PublishedEventFeed, type EventLog } from './event-feed.ts';
import type { PublishedEventRow } from './published-event-rows.ts';

const LATE = '0020.0000000000000001.0000000001';
/** Size of one batch to a follower. */
const LARGE = Buffer.alloc(65_536);

function row(id: string, position: string): PublishedEventRow {
  const type = 'shipment.updated';
  return { id, ...ACME_LIVE_SCOPE, type, created_at: '', stream: 'shipment-1', revision: 1, position };
}

describe('a feed of events', () => {
  it('follows a late event to its position in the next generation', async () => {
    let rows = [row('evt_late', LATE)];
    const unused = () => Promise.reject(new Error('not asked for'));
    const log: EventLog = {
      handledPosition: () => Promise.resolve(LATE),
      hasEventsAfter: () => new Promise(() => undefined),
      areReadModelsAt: () => Promise.resolve(true),
      positionOfEvent: unused,
      newestEvent: unused,
      readRange: (_scope, _filter, { after, upTo }) =>
        Promise.resolve(rows.filter(({ position }) => position > after && position <= upTo)),
      readRangeOfAllScopes: unused,
      envelopes: (made) => {
        const events = made.map(({ id, type, created_at }) => ({
          id,
          type,
          created_at,
          api_version: '2026-11-01' as const,
          ...ACME_LIVE_SCOPE,
          data: {},
        }));
        return Promise.resolve({ events, covered: made.length });
      },
    };
    const feed = new PublishedEventFeed(log, { encode: () => LARGE, onFailure: () => undefined });
    const first = await feed.followEvents(ACME_LIVE_SCOPE, {}, 'beginning');
    expect((await first?.readNextEvents())?.map(({ id }) => id)).toEqual(['evt_late']);

    rows = [row('evt_late', '0001'), row('evt_next', '0010')];
    const second = await feed.followEvents(ACME_LIVE_SCOPE, {}, 'beginning');
    const seen = (await second?.readNextEvents())?.map(({ id }) => id) ?? [];
    const more = second?.readNextEvents().then((events) => seen.push(...events.map(({ id }) => id)));
    for (let turns = 0; turns < 20; turns += 1) await setImmediate();
    expect(seen).toEqual(['evt_late', 'evt_next']);
    first?.stopFollowing();
    second?.stopFollowing();
    await more;
    feed.endFollowers();
  });

  it('lets workspaces take turns in catching up', async () => {
    const unused = () => Promise.reject(new Error('not asked for'));
    const reads: string[] = [];
    const finishReads: (() => void)[] = [];
    const log: EventLog = {
      handledPosition: () => Promise.resolve(LATE),
      hasEventsAfter: () => new Promise(() => undefined),
      areReadModelsAt: () => Promise.resolve(true),
      positionOfEvent: unused,
      newestEvent: unused,
      readRange: async ({ workspace_id }) => {
        reads.push(workspace_id);
        await new Promise<void>((resolve) => finishReads.push(resolve));
        return [];
      },
      readRangeOfAllScopes: unused,
      envelopes: unused,
    };
    const feed = new PublishedEventFeed(log, { encode: () => LARGE, onFailure: () => undefined });
    const scopes = [...Array.from({ length: 40 }, () => ACME_LIVE_SCOPE), OTHER_WORKSPACE];
    const followers = await Promise.all(scopes.map((scope) => feed.followEvents(scope, {}, 'beginning')));
    const reading = followers.map(async (follower) => follower?.readNextEvents());
    const finishOneRead = async () => {
      for (let turns = 0; turns < 20; turns += 1) await setImmediate();
      finishReads.shift()?.();
    };
    for (let n = 0; n < scopes.length; n += 1) await finishOneRead();
    expect(reads).toHaveLength(scopes.length);
    // The first four reads start at once, and the turn after one more read is that of the other workspace.
    expect(reads.indexOf(OTHER_WORKSPACE.workspace_id)).toBeLessThanOrEqual(5);
    for (const follower of followers) follower?.stopFollowing();
    await Promise.all(reading);
    feed.endFollowers();
  });
});
