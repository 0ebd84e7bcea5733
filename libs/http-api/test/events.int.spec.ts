import type { EventEnvelope, EventType, JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Answer, Api } from './start-api.ts';

const SHIPMENTS = ['shp_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'shp_eeeeeeeeeeeeeeeeeeeeeeeeee'] as const;

let api: Api;
let key: string;
let workspace_id: string;

beforeAll(async () => {
  api = await startApi({ settings: { ownWriteWaitMs: 10 } });
  key = await api.key('viewer');
  workspace_id = await api.workspace();
  api.events.given.push(
    event(1, 'shipment.created', SHIPMENTS[0]),
    event(2, 'shipment.created', SHIPMENTS[1]),
    event(3, 'milestone.recorded', SHIPMENTS[0]),
    event(4, 'shipment.updated', SHIPMENTS[0]),
    { ...event(5, 'shipment.created', SHIPMENTS[0]), environment: 'test' },
    { ...event(6, 'shipment.created', SHIPMENTS[0]), workspace_id: 'wsp_other' },
  );
});
afterAll(() => api.stop());

function event(number: number, type: EventType, shipment_id: string): EventEnvelope {
  const created_at = `2026-11-21T10:00:0${number}.000Z`;
  const data = { shipment_id, external_id: null, shipment_version: number };
  return { id: `evt_${number}`, type, created_at, api_version: '2026-11-01', environment: 'live', workspace_id, data };
}
const list = (query = '', by = key): Promise<Answer> => api.call('GET', `/v1/events${query}`, { key: by });
const ids = ({ body }: Answer): unknown[] => (body['data'] as JsonObject[]).map(({ id }) => id);

describe('GET /v1/events', () => {
  it('shows the envelopes of the environment, the oldest first', async () => {
    const { status, body } = await list();
    expect([status, body]).toEqual([200, { data: api.events.given.slice(0, 4), next_cursor: null, has_more: false }]);
    const document = (await api.call('GET', '/openapi.json')).body;
    const { schemas } = document['components'] as { schemas: Record<string, { properties: JsonObject }> };
    expect(Object.keys(api.events.given[0] ?? {}).sort()).toEqual(
      Object.keys(schemas['Event']?.properties ?? {}).sort(),
    );
  });

  it.each([
    ['?type=shipment.created', [1, 2]],
    ['?type=shipment.updated,milestone.recorded', [3, 4]],
    [`?shipment_id=${SHIPMENTS[1]}`, [2]],
    ['?since=2026-11-21T10:00:03Z', [3, 4]],
    ['?since=2026-11-21T18:00:02.500%2B08:00', [3, 4]],
    ['?until=2026-11-21T10:00:02Z', [1, 2]],
    ['?since=2026-11-21T10:00:02Z&until=2026-11-21T10:00:03Z', [2, 3]],
    ['?after=evt_2', [3, 4]],
    [`?after=evt_1&type=shipment.created&shipment_id=${SHIPMENTS[1]}`, [2]],
    ['?shipment_id=shp_iiiiiiiiiiiiiiiiiiiiiiiiii', []],
  ])('%s shows %j', async (query, expected) => {
    expect(ids(await list(query))).toEqual(expected.map((number) => `evt_${number}`));
  });

  it('is paged, with cursors of these filters', async () => {
    const first = await list('?limit=2&type=shipment.updated,shipment.created');
    const cursor = String(first.body['next_cursor']);
    const second = await list(`?limit=2&type=shipment.created,shipment.updated&cursor=${cursor}`);
    expect([ids(first), ids(second)]).toEqual([['evt_1', 'evt_2'], ['evt_4']]);
    expect((await list(`?cursor=${cursor}`)).body['error']).toMatchObject({ code: 'invalid_cursor' });
  });

  it.each([['evt_none'], ['evt_5'], ['evt_6']])('cannot go on after %s, which is not there', async (id) => {
    const answer = await list(`?after=${id}`);
    expect([answer.status, answer.body['error']]).toEqual([400, expect.objectContaining({ param: 'after' })]);
  });

  it('waits for the events of the key’s own writes', async () => {
    const operator = await api.key('operator');
    const written = await api.call('POST', '/v1/shipments', { key: operator, json: { external_id: 'OWN' } });
    expect((await list('', operator)).status).toBe(200);
    expect(api.events.waitedFor).toBe(await api.head());
    api.events.complete = false;
    try {
      const behind = await list('', operator);
      expect([behind.status, behind.body['error']]).toEqual([
        503,
        expect.objectContaining({ code: 'read_model_behind' }),
      ]);
      expect((await list()).status).toBe(200);
      const token = String(written.headers.get('consistency-token'));
      const other = await api.call('GET', '/v1/events/evt_1', { key, headers: { 'consistency-token': token } });
      expect(other.status).toBe(503);
    } finally {
      api.events.complete = true;
    }
  });
});

describe('GET /v1/events/{id}', () => {
  it('shows an event of the environment', async () => {
    const { status, body } = await api.call('GET', '/v1/events/evt_3', { key });
    expect([status, body]).toEqual([200, api.events.given[2]]);
  });

  it.each([['evt_none'], ['evt_5'], ['evt_6'], ['x'], ['%00'], ['__proto__']])('%s: 404', async (id) => {
    const answer = await api.call('GET', `/v1/events/${id}`, { key });
    expect([answer.status, answer.body['error']]).toEqual([404, expect.objectContaining({ code: 'not_found' })]);
  });
});
