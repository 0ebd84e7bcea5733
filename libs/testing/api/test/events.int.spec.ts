import type { JsonObject } from '@tracking/contracts';
import { createAdministrationHttpApi } from '@tracking/administration';
import { type Api, createResponseCheckingCaller, startApi, overrideOperations } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let key: string;
/** False if the list of events should be behind the writes. */
let complete: boolean;
/** Ids of two shipments. */
let shipments: readonly string[];
/** The envelopes of their events, in order. */
let all: readonly JsonObject[];

beforeAll(async () => {
  api = await startApi({
    settings: { readYourWritesWaitMs: 10 },
    override: ({ readModels }) => ({
      readModels: overrideOperations(readModels, {
        progress: {
          ...readModels.progress,
          reached: async (model, position, timeoutMs) =>
            model === 'published_events'
              ? (await readModels.progress.reached(model, position, 60_000)) && complete
              : readModels.progress.reached(model, position, timeoutMs),
        },
      }),
    }),
  });
  complete = true;
  key = await api.key('operator');
  shipments = [await create('A'), await create('B')];
  await record(shipments[0], 'gated_in');
  await record(shipments[0], 'vessel_departed');
  await create('A', await api.key('operator', 'live', 'elsewhere'));
  await create('A', await api.key('developer', 'test'));
  all = dataOf(await list());
});
afterAll(() => api.stop());

async function create(external_id: string, by = key): Promise<string> {
  return String((await api.call('POST', '/v1/shipments', { key: by, json: { external_id } })).body['id']);
}
async function record(shipment: string | undefined, code: string): Promise<void> {
  const json = { code, occurred_at: '2026-01-05T10:00:00Z' };
  expect((await api.call('POST', `/v1/shipments/${shipment}/milestones`, { key, json })).status).toBe(201);
}
const list = (query = '', by = key): Promise<ApiResponse> => api.call('GET', `/v1/events${query}`, { key: by });
const get = (id: unknown, by = key): Promise<ApiResponse> => api.call('GET', `/v1/events/${String(id)}`, { key: by });
const dataOf = ({ body }: ApiResponse): readonly JsonObject[] => body['data'] as JsonObject[];
const typesOf = (answer: ApiResponse): unknown[] => dataOf(answer).map(({ type }) => type);
const HAPPENED = [
  'shipment.created',
  'shipment.created',
  'milestone.recorded',
  'shipment.updated',
  'milestone.recorded',
  'shipment.updated',
];

describe('GET /v1/events', () => {
  it('lists the envelopes of the environment, oldest first', async () => {
    const { status, body } = await list();
    expect([status, body['next_cursor'], body['has_more']]).toEqual([200, null, false]);
    expect(all.map(({ type }) => type)).toEqual(HAPPENED);
    expect(all[2]).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f-]{36}$/),
      type: 'milestone.recorded',
      created_at: expect.any(String),
      api_version: '2026-11-01',
      environment: 'live',
      workspace_id: await api.workspace(),
      data: expect.objectContaining({
        shipment_id: shipments[0],
        external_id: 'A',
        shipment_version: expect.any(Number),
        milestone: expect.objectContaining({ code: 'gated_in' }),
      }),
    });
    const document = (await api.call('GET', '/openapi.json')).body;
    const { schemas } = document['components'] as { schemas: Record<string, { required: string[] }> };
    expect(Object.keys(all[2] ?? {}).sort()).toEqual(schemas['MilestoneRecordedEvent']?.required.sort());
  });

  it('contains the shipment as it was then, with its URL', async () => {
    const snapshots = all.map(({ data }) => (data as { shipment?: JsonObject }).shipment);
    expect(snapshots.map((shipment) => shipment?.['status'])).toEqual([
      'pending',
      'pending',
      undefined,
      'at_origin',
      undefined,
      'in_transit',
    ]);
    expect(snapshots[0]?.['url']).toBe(`https://app.example/shipments/${shipments[0]}`);
  });

  it('filters by type, shipment and time', async () => {
    expect(typesOf(await list('?type=shipment.created'))).toEqual(['shipment.created', 'shipment.created']);
    expect(typesOf(await list('?type=shipment.updated,milestone.recorded'))).toEqual(HAPPENED.slice(2));
    expect(dataOf(await list(`?shipment_id=${shipments[1]}`))).toEqual([all[1]]);
    expect(dataOf(await list(`?shipment_id=${shipments[0]}&type=shipment.created`))).toEqual([all[0]]);
    expect(dataOf(await list('?shipment_id=shp_aaaaaaaaaaaaaaaaaaaaaaaaaa'))).toEqual([]);
    const [first, last] = [String(all[0]?.['created_at']), String(all.at(-1)?.['created_at'])];
    expect(dataOf(await list(`?since=${first}&until=${last}`))).toEqual(all);
    expect(dataOf(await list(`?since=${last.replace('Z', '%2B00:00')}`))).toContainEqual(all.at(-1));
    expect(dataOf(await list('?until=2026-01-01T00:00:00Z'))).toEqual([]);
    expect(dataOf(await list('?since=2999-01-01T00:00:00Z'))).toEqual([]);
  });

  it('continues after the last event that a client has read', async () => {
    expect(dataOf(await list(`?after=${String(all[2]?.['id'])}`))).toEqual(all.slice(3));
    expect(dataOf(await list(`?after=${String(all[0]?.['id'])}&type=shipment.created`))).toEqual([all[1]]);
    expect(dataOf(await list(`?after=${String(all.at(-1)?.['id'])}`))).toEqual([]);
  });

  it('has pages, with cursors for the same filters', async () => {
    const first = await list('?limit=2&type=shipment.updated,shipment.created');
    const cursor = String(first.body['next_cursor']);
    const second = await list(`?limit=2&type=shipment.created,shipment.updated&cursor=${cursor}`);
    expect([...dataOf(first), ...dataOf(second)]).toEqual([all[0], all[1], all[3], all[5]]);
    expect([first.body['has_more'], second.body['has_more']]).toEqual([true, false]);
    expect((await list(`?cursor=${cursor}`)).body['error']).toMatchObject({ code: 'invalid_cursor' });
  });

  it("lists only events of the key's workspace and environment", async () => {
    for (const stranger of [await api.key('viewer', 'live', 'elsewhere'), await api.key('viewer', 'test')]) {
      const theirs = dataOf(await list('', stranger));
      expect(theirs.map(({ type }) => type)).toEqual(['shipment.created']);
      expect(dataOf(await list(`?shipment_id=${shipments[0]}`, stranger))).toEqual([]);
      expect((await get(all[0]?.['id'], stranger)).status).toBe(404);
      for (const [id, by] of [
        [all[0]?.['id'], stranger],
        [theirs[0]?.['id'], key],
        ['evt_none', key],
      ] as const) {
        const answer = await list(`?after=${String(id)}`, by);
        expect([answer.status, answer.body['error']]).toEqual([400, expect.objectContaining({ param: 'after' })]);
      }
    }
  });

  it("waits for events of the key's own writes", async () => {
    const other = await api.key('operator', 'live', 'own');
    const written = await api.call('POST', '/v1/shipments', { key: other, json: { external_id: 'OWN' } });
    expect(typesOf(await list('', other))).toEqual(['shipment.created']);
    complete = false;
    try {
      const behind = await list('', other);
      expect([behind.status, behind.body['error']]).toEqual([
        503,
        expect.objectContaining({ code: 'read_model_behind' }),
      ]);
      const viewer = await api.key('viewer');
      expect((await list('', viewer)).status).toBe(200);
      const headers = { 'consistency-token': String(written.headers.get('consistency-token')) };
      expect((await api.call('GET', '/v1/events', { key: viewer, headers })).status).toBe(503);
    } finally {
      complete = true;
    }
  });
});

describe('GET /v1/events/{id}', () => {
  it('returns an event of the environment', async () => {
    const { status, body } = await get(all[3]?.['id']);
    expect([status, body]).toEqual([200, all[3]]);
  });

  it.each([['evt_none'], ['x'], ['%00'], ['__proto__'], ['evt_00000000-0000-4000-8000-000000000000']])(
    '%s: 404',
    async (id) => {
      const answer = await get(id);
      expect([answer.status, answer.body['error']]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
    },
  );
});

describe('GET /administration/published_events', () => {
  let stop: () => Promise<void>;
  let operator: (query: string) => Promise<ApiResponse>;
  beforeAll(async () => {
    const { readModels, events: publishedEvents, logger } = api.dependencies;
    const app = await createAdministrationHttpApi({
      identity: api.identity,
      idempotency: api.dependencies.idempotency,
      appUrl: 'https://app.example',
      readModels,
      publishedEvents,
      logger,
    });
    await app.listen(0, '127.0.0.1');
    const call = createResponseCheckingCaller(await app.getUrl());
    operator = (query) => call('GET', `/administration/published_events?${query}`);
    stop = () => app.close();
  });
  afterAll(() => stop());

  it('lists the same events to operators, page by page', async () => {
    const whole = await operator('workspace=default&environment=live');
    expect([whole.status, whole.body]).toEqual([200, { data: all, next_cursor: null }]);
    const first = await operator('workspace=default&environment=live&limit=4');
    expect(dataOf(first)).toEqual(all.slice(0, 4));
    const cursor = String(first.body['next_cursor']);
    const second = await operator(`workspace=default&environment=live&limit=4&cursor=${cursor}`);
    expect([dataOf(second), second.body['next_cursor']]).toEqual([all.slice(4), null]);
  });

  it('filters by workspace and environment, and by the same filters', async () => {
    const created = async (query: string) => dataOf(await operator(query)).map(({ workspace_id }) => workspace_id);
    expect(await created('workspace=elsewhere&environment=live')).toEqual([await api.workspace('elsewhere')]);
    expect(await created('workspace=default&environment=test')).toEqual([await api.workspace()]);
    const recorded = await operator('workspace=default&environment=live&type=milestone.recorded');
    expect(dataOf(recorded)).toEqual(all.filter(({ type }) => type === 'milestone.recorded'));
    const since = String(all[3]?.['created_at']);
    const late = await operator(`workspace=default&environment=live&since=${since}`);
    expect(dataOf(late)).toEqual(all.filter(({ created_at }) => String(created_at) >= since));
  });

  it.each([
    ['environment=live', 400],
    ['workspace=default', 400],
    ['workspace=default&environment=live&cursor=x', 400],
    ['workspace=default&environment=live&types=x', 400],
    ['workspace=nowhere&environment=live', 404],
  ])('responds to %s with %i', async (query, status) => {
    const answer = await operator(query);
    expect([answer.status, answer.body['error']]).toEqual([
      status,
      expect.objectContaining({ code: expect.any(String) }),
    ]);
  });
});
