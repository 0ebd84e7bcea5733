import { randomUUID } from 'node:crypto';
import type { EventType, PublishedEvent, WorkspaceScope, ShipmentRecord } from '@tracking/contracts';
import {
  type EventReference,
  type RecreatedEvents,
  evolveShipmentRecord,
  toPublicEvent,
  upcastStoredShipmentEvent,
} from '@tracking/shipments-domain';
import {
  ACME_LIVE_SCOPE,
  ACME_TEST_SCOPE,
  OTHER_WORKSPACE,
  createSampleMilestone,
  createShipmentEventForTest,
  createSampleShipmentRecord,
  createNthTestShipmentToken,
} from '../../test/shipment-events.ts';
import { ReadModelsTestBed, expectEqualToRebuild } from '../../test/world.ts';
import type { SortValues } from '../read-model.ts';
import type { ReadModels } from '../read-models.ts';
import type { EventListQuery } from './event-queries.ts';
import { PublishedEventReader } from './published-events.ts';

const ADDRESSES = { appUrl: 'https://app', baseUrl: 'https://api' };

const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour)).toISOString();
const DAY = 24;

describe('published events', () => {
  let world: ReadModelsTestBed;
  let models: ReadModels;
  let events: PublishedEventReader;
  beforeAll(async () => {
    world = await ReadModelsTestBed.open();
    models = await world.startReadModels();
    await models.ready;
    events = new PublishedEventReader(models, bodies);
    await given();
  });
  afterAll(() => world.close());

  /** Bodies in the form that the publisher builds. */
  async function bodies(references: readonly EventReference[]): Promise<RecreatedEvents> {
    const made: PublishedEvent[] = [];
    for (const { stream, revision } of references) {
      const scope = scopes.get(stream) ?? ACME_LIVE_SCOPE;
      let record: ShipmentRecord | undefined;
      for (const stored of await world.engine.eventStore.read(stream, { to: revision })) {
        const event = upcastStoredShipmentEvent(stored);
        record = evolveShipmentRecord(record, event);
        const body = toPublicEvent(stored.id, event, { ...scope, record, exceptions: [] }, ADDRESSES);
        if (event.revision === revision && body) made.push(body);
      }
    }
    return { events: made, covered: references.length };
  }

  const ids = new Map<string, string>();
  const scopes = new Map<string, WorkspaceScope>();

  /** Appends one event, recorded at that hour. Its name is its id in the tests. */
  async function append(name: string, n: number, revision: number, hour: number, type: string, data: object) {
    const event = createShipmentEventForTest({ type, data });
    const stored = { ...event, id: randomUUID(), metadata: { ...event.metadata, recorded_at: at(hour) } };
    ids.set(`evt_${stored.id}`, name);
    const stream = world.writer.getShipmentStreamName(n);
    return world.engine.eventStore.append(stream, revision === 0 ? 'no_stream' : revision - 1, [stored]);
  }

  function create(name: string, n: number, hour: number, scope: WorkspaceScope = ACME_LIVE_SCOPE) {
    scopes.set(world.writer.getShipmentStreamName(n), scope);
    const sent = { etd: null, eta: null, legs: [] };
    return append(name, n, 0, hour, 'shipment.created.v1', { ...scope, shipment: createSampleShipmentRecord(n), sent });
  }

  function record(name: string, n: number, revision: number, hour: number) {
    const data = { milestone: createSampleMilestone(n, name), supersedes: [], last: { containers: [] } };
    return append(name, n, revision, hour, 'milestone.recorded.v1', data);
  }

  /** Listed in store order. `late` was repeated one day after it was first sent. */
  async function given(): Promise<void> {
    await create('a1', 1, 0);
    await create('test', 3, 0, ACME_TEST_SCOPE);
    await record('a2', 1, 1, 1);
    await create('b1', 2, 40);
    await create('other', 4, 40, OTHER_WORKSPACE);
    await record('a3', 1, 2, 41);
    await append('quiet', 1, 3, 41, 'shipment.updated.v1', { fields: {}, sent: {}, last: { containers: [] } });
    await record('late', 2, 1, 41 - DAY);
    await append('a4', 1, 4, 42, 'shipment.changed.v1', { changes: { house_bill: { from: null, to: 'HB' } } });
    const { position } = await create('c1', 5, 80);
    expect(await models.waitForAllReadModels(position, 5_000)).toBe(true);
  }
  const ALL = ['a1', 'a2', 'b1', 'a3', 'late', 'a4', 'c1'];

  function list(
    filter: EventListQuery['filter'] = {},
    limit = 100,
    scope: WorkspaceScope = ACME_LIVE_SCOPE,
  ): Promise<string[][]> {
    return read({ filter, limit }, scope);
  }

  async function read(query: Omit<EventListQuery, 'after'>, scope: WorkspaceScope): Promise<string[][]> {
    const pages: string[][] = [];
    for (let after: SortValues | undefined; ;) {
      const { items, next } = await events.listEvents(scope, { ...query, after });
      pages.push(items.map(({ id }) => ids.get(id) ?? id));
      if (next === undefined) return pages;
      after = next;
    }
  }
  const idOf = (name: string) => [...ids].find(([, each]) => each === name)?.[0] ?? '';

  it('are listed in the order of publication, page by page', async () => {
    expect(await list()).toEqual([ALL]);
    expect(await list({}, 3)).toEqual([['a1', 'a2', 'b1'], ['a3', 'late', 'a4'], ['c1']]);
    expect(await list({}, 1)).toEqual(ALL.map((name) => [name]));
    expect(await list({}, 7)).toEqual([ALL]);
  });

  it('equal the envelopes that webhooks deliver', async () => {
    const created = await events.getEvent(ACME_LIVE_SCOPE, idOf('a1'));
    expect(Object.entries(created ?? {}).map(([name]) => name)).toEqual([
      ...['id', 'type', 'created_at', 'api_version', 'environment', 'workspace_id', 'data'],
    ]);
    expect(created).toMatchObject({
      type: 'shipment.created',
      created_at: at(0),
      api_version: '2026-11-01',
      ...ACME_LIVE_SCOPE,
      data: {
        shipment_id: `shp_${createNthTestShipmentToken(1)}`,
        shipment_version: 1,
        shipment: { house_bill: null },
      },
    });
    expect(await events.getEvent(ACME_LIVE_SCOPE, idOf('a4'))).toMatchObject({
      type: 'shipment.updated',
      data: { shipment_version: 5, shipment: { house_bill: 'HB' }, changes: { house_bill: { to: 'HB' } } },
    });
  });

  it('return nothing of another scope', async () => {
    expect(await list({}, 9, ACME_TEST_SCOPE)).toEqual([['test']]);
    expect(await list({}, 9, OTHER_WORKSPACE)).toEqual([['other']]);
    expect(await list({ shipment_id: `shp_${createNthTestShipmentToken(4)}` })).toEqual([[]]);
    expect(await list({ after: idOf('test') })).toEqual([[]]);
    for (const id of [idOf('other'), idOf('test'), idOf('quiet'), 'evt_unknown']) {
      expect(await events.getEvent(ACME_LIVE_SCOPE, id)).toBeUndefined();
    }
  });

  it.each<[string, EventListQuery['filter'], string[]]>([
    ['one type', { type: ['milestone.recorded'] }, ['a2', 'a3', 'late']],
    ['two types', { type: ['milestone.recorded', 'shipment.updated'] }, ['a2', 'a3', 'late', 'a4']],
    ['no type', { type: [] }, []],
    ['a type that nothing has', { type: ['exception.opened'] }, []],
    ['a shipment', { shipment_id: `shp_${createNthTestShipmentToken(2)}` }, ['b1', 'late']],
    [
      'a shipment and a type',
      { shipment_id: `shp_${createNthTestShipmentToken(1)}`, type: ['milestone.recorded'] },
      ['a2', 'a3'],
    ],
    ['an earliest time', { since: at(1) }, ALL.slice(1)],
    ['a latest time', { until: at(40) }, ['a1', 'a2', 'b1', 'late']],
    ['both times', { since: at(41), until: at(42) }, ['a3', 'a4']],
    ['a time of one that was stored late', { since: at(10), until: at(20) }, ['late']],
    ['a time when there was nothing', { since: at(50), until: at(60) }, []],
    ['times beyond all measure', { since: '0001-01-01T00:00:00.000Z', until: '9999-12-31T23:59:59.999Z' }, ALL],
    ['a shipment and a time', { shipment_id: `shp_${createNthTestShipmentToken(1)}`, since: at(41) }, ['a3', 'a4']],
  ])('can be filtered by %s, page by page', async (_, filter, expected) => {
    expect((await list(filter)).flat()).toEqual(expected);
    expect((await list(filter, 1)).flat()).toEqual(expected);
    expect((await list(filter, 2)).flat()).toEqual(expected);
    for (const limit of [1, 2, 9]) {
      const newestFirst = await read({ filter, limit, newestFirst: true }, ACME_LIVE_SCOPE);
      expect(newestFirst.flat()).toEqual(expected.toReversed());
    }
  });

  it.each<[string, EventListQuery['filter'], string[]]>([
    ['everything', {}, ['late', 'a4', 'c1']],
    ['a type', { type: ['milestone.recorded' satisfies EventType] }, ['late']],
    ['a time', { since: at(42) }, ['a4', 'c1']],
  ])('continue after the last event seen, of %s', async (_, filter, expected) => {
    for (const limit of [1, 2, 9]) {
      expect((await list({ ...filter, after: idOf('a3') }, limit)).flat()).toEqual(expected);
    }
  });

  it('that were imported are found by time at any position', async () => {
    const scope = { workspace_id: 'wsp_moved', environment: 'live' } as const;
    const put = async (n: number, revision: number, day: number, imported = true) => {
      const stream = world.writer.getShipmentStreamName(n);
      const sent = { etd: null, eta: null, legs: [] };
      const body =
        revision === 0
          ? { type: 'shipment.created.v1', data: { ...scope, shipment: createSampleShipmentRecord(n), sent } }
          : { type: 'shipment.changed.v1', data: { changes: { house_bill: { from: null, to: 'HB' } } } };
      const event = createShipmentEventForTest(body);
      const metadata = { ...event.metadata, recorded_at: at(DAY * day), ...(imported && { imported: true as const }) };
      const stored = { ...event, id: randomUUID(), metadata };
      scopes.set(stream, scope);
      ids.set(`evt_${stored.id}`, `day ${day}`);
      return world.engine.eventStore.append(stream, revision === 0 ? 'no_stream' : revision - 1, [stored]);
    };
    // Imported stream by stream, followed by events written here.
    for (const [n, revision, day] of [
      [10, 0, 1],
      [10, 1, 20],
      [11, 0, 2],
      [11, 1, 10],
    ] as const) {
      await put(n, revision, day);
    }
    await put(12, 0, 30, false);
    const { position } = await put(13, 0, 35, false);
    expect(await models.waitForAllReadModels(position, 5_000)).toBe(true);
    for (const limit of [1, 2, 9]) {
      const found = async (filter: EventListQuery['filter']) => (await list(filter, limit, scope)).flat();
      expect(await found({ since: at(DAY * 15) })).toEqual(['day 20', 'day 30', 'day 35']);
      expect(await found({ until: at(DAY * 5) })).toEqual(['day 1', 'day 2']);
      expect(await found({ since: at(DAY * 2), until: at(DAY * 12) })).toEqual(['day 2', 'day 10']);
      expect(await found({ since: at(DAY * 33) })).toEqual(['day 35']);
      expect(await found({ until: at(DAY * 32) })).toEqual(['day 1', 'day 20', 'day 2', 'day 10', 'day 30']);
      const newestFirst = await read({ filter: { until: at(DAY * 5) }, limit, newestFirst: true }, scope);
      expect(newestFirst.flat()).toEqual(['day 2', 'day 1']);
    }
  });

  it('after an unknown event are empty', async () => {
    expect(await list({ after: 'evt_unknown' })).toEqual([[]]);
    expect(await list({ after: idOf('c1') })).toEqual([[]]);
  });

  it('report their progress', async () => {
    expect(await events.waitUntilPositionReached((await world.engine.eventStore.head()) ?? '', 0)).toBe(true);
    expect(await events.waitUntilPositionReached('f'.repeat(16), 0)).toBe(false);
  });

  it('omit events that cannot be built', async () => {
    const none = new PublishedEventReader(models, ({ length }) => Promise.resolve({ events: [], covered: length }));
    expect(await none.getEvent(ACME_LIVE_SCOPE, idOf('a1'))).toBeUndefined();
    expect((await none.listEvents(ACME_LIVE_SCOPE, { filter: {}, limit: 2 })).items).toEqual([]);
  });

  it('are the same after a rebuild', async () => {
    await expectEqualToRebuild(models);
    expect(await list()).toEqual([ALL]);
  });
});
