import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SHIPMENT_EVENTS_TOPIC } from '@tracking/contracts';
import type { Environment, JsonObject } from '@tracking/contracts';
import { createAdministrationHttpApi } from '@tracking/administration';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import { createResponseCheckingCaller, startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let administration: NestFastifyApplication;
let call: ReturnType<typeof createResponseCheckingCaller>;
/** A receiver that responds with 410, so that every delivery is a dead letter after its first attempt. */
let gone: ClientWebhookTestReceiver;

beforeAll(async () => {
  api = await startApi();
  const { webhooks, logger } = api.dependencies;
  const readModels = {
    listReadModelStates: () => Promise.resolve([]),
    rebuild: () => Promise.reject(new Error('not here')),
    listParkedShipments: () => Promise.resolve([]),
    retryParkedStream: () => Promise.resolve('not_found' as const),
  };
  administration = await createAdministrationHttpApi({
    identity: api.identity,
    idempotency: api.dependencies.idempotency,
    appUrl: 'https://app.example',
    readModels,
    webhooks,
    logger,
  });
  await administration.listen(0, '127.0.0.1');
  call = createResponseCheckingCaller(await administration.getUrl());
  gone = await startClientReceiver(hostileReceiverBehaviours.answers(410));
});
afterAll(async () => {
  await administration.close();
  await api.stop();
  await gone.close();
});

const get = (path: string): Promise<ApiResponse> => call('GET', `/administration/${path}`);
const post = (path: string, json: unknown = {}): Promise<ApiResponse> =>
  call('POST', `/administration/${path}`, { json });
const dataOf = ({ body }: ApiResponse): JsonObject[] => body['data'] as JsonObject[];
const idsOf = (answer: ApiResponse): unknown[] => dataOf(answer).map(({ id }) => id);

/** Creates a dead letter, whose endpoint is then disabled. @returns the dead letter as the list shows it */
async function deadLetter(workspace = 'default', environment: Environment = 'live'): Promise<JsonObject> {
  const key = await api.key('developer', environment, workspace);
  const endpoint = await createEnabledEndpoint(api, key, gone.url);
  const id = `evt_${randomUUID()}`;
  await api.publish({
    id,
    type: 'milestone.recorded',
    created_at: new Date().toISOString(),
    api_version: '2026-11-01' as const,
    environment,
    workspace_id: await api.workspace(workspace),
    data: { shipment_id: 'shp_a' },
  });
  return eventually(async () => {
    const found = dataOf(await get(`deliveries?endpoint_id=${String(endpoint['id'])}`));
    expect(found).toEqual([expect.objectContaining({ event_id: id, status: 'dead_lettered' })]);
    const { body } = await api.call('GET', `/v1/webhook_endpoints/${String(endpoint['id'])}`, { key });
    expect(body).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    // Its version changes when its event is published.
    return { ...found[0], version: expect.any(Number) } as unknown as JsonObject;
  });
}

describe('deliveries, for operators', () => {
  it('lists those of the workspace in both environments, with their endpoints', async () => {
    const live = await deadLetter('one');
    const test = await deadLetter('one', 'test');
    await deadLetter('two');
    const listed = await get('deliveries?workspace=one');
    expect([listed.status, listed.body]).toEqual([200, { data: [test, live], workspaces: ['one'], next_cursor: null }]);
    expect(live).toMatchObject({ workspace: 'one', environment: 'live', event_type: 'milestone.recorded' });
    expect(idsOf(await get('deliveries?workspace=one&environment=test'))).toEqual([test['id']]);
  });

  it('lists those of all workspaces if none is named, newest first, in pages', async () => {
    const made = [await deadLetter('three'), await deadLetter('four', 'test'), await deadLetter('three', 'test')];
    const first = await get('deliveries?limit=2');
    expect(idsOf(first)).toEqual([made[2]?.['id'], made[1]?.['id']]);
    expect(first.body['workspaces']).toEqual(expect.arrayContaining(['default', 'three', 'four']));
    const second = await get(`deliveries?limit=2&cursor=${encodeURIComponent(String(first.body['next_cursor']))}`);
    expect(idsOf(second)[0]).toBe(made[0]?.['id']);
    const all: unknown[] = [];
    for (let cursor: unknown = '', rounds = 0; cursor !== null && rounds < 50; rounds++) {
      const page = await get(
        `deliveries?limit=1${cursor === '' ? '' : `&cursor=${encodeURIComponent(String(cursor))}`}`,
      );
      all.push(...idsOf(page));
      cursor = page.body['next_cursor'];
    }
    expect(all).toEqual(idsOf(await get('deliveries?limit=200')));
    expect(new Set(all).size).toBe(all.length);
  });

  it('filters by endpoint, event, type, status and time', async () => {
    const letter = await deadLetter('five');
    const mine = `workspace=five&endpoint_id=${String(letter['endpoint_id'])}`;
    const later = new Date(Date.now() + 60_000).toISOString();
    for (const query of [
      mine,
      `${mine}&status=dead_lettered`,
      `${mine}&event_type=milestone.recorded&event_id=${String(letter['event_id'])}`,
      `${mine}&since=2026-01-01T00:00:00Z&until=${later}`,
    ]) {
      expect(idsOf(await get(`deliveries?${query}`))).toEqual([letter['id']]);
    }
    for (const query of [`${mine}&status=pending`, `${mine}&event_type=shipment.created`, `${mine}&since=${later}`]) {
      expect(idsOf(await get(`deliveries?${query}`))).toEqual([]);
    }
  });

  it('returns one with its attempts, and retries it', async () => {
    const letter = await deadLetter('six');
    const path = `deliveries/${String(letter['id'])}`;
    const shown = await get(`${path}?workspace=six`);
    expect([shown.status, shown.body]).toEqual([
      200,
      {
        ...letter,
        payload: expect.objectContaining({ id: letter['event_id'] }),
        attempts: [expect.objectContaining({ number: 1, status_code: 410 })],
      },
    ]);
    // Its event may be published in between.
    expect((await get(path)).body).toEqual({ ...shown.body, version: expect.any(Number) });

    const disabled = await post(`${path}/retry`, { workspace: 'six' });
    expect([disabled.status, disabled.body['error']]).toEqual([
      409,
      expect.objectContaining({ code: 'endpoint_not_enabled' }),
    ]);
    const key = await api.key('developer', 'live', 'six');
    await api.call('POST', `/v1/webhook_endpoints/${String(letter['endpoint_id'])}/enable`, { key });
    expect(await post(`${path}/retry`)).toMatchObject({ status: 202, body: { id: letter['id'], workspace: 'six' } });
    await eventually(async () => expect((await get(path)).body['attempts']).toHaveLength(2));
  });

  it('does not find those of another workspace', async () => {
    const letter = await deadLetter('seven');
    await api.key('viewer', 'live', 'eight');
    const path = `deliveries/${String(letter['id'])}`;
    for (const answer of [
      await get(`${path}?workspace=eight`),
      await get(`${path}?workspace=seven&environment=test`),
      await post(`${path}/retry`, { workspace: 'eight' }),
    ]) {
      expect(answer.status).toBe(404);
      expect((answer.body['error'] as JsonObject)['message']).toMatch(
        /^No such delivery in workspace (eight|seven)\.$/,
      );
    }
    expect((await get('deliveries?workspace=eight')).body).toEqual({
      data: [],
      workspaces: ['eight'],
      next_cursor: null,
    });
    expect((await get('deliveries?workspace=nowhere')).body['error']).toMatchObject({
      code: 'not_found',
      message: 'There is no workspace nowhere.',
    });
  });
});

describe('dead letters, for operators', () => {
  const settled = async (how: string, json: unknown) => {
    const { status, body } = await post(`dead_letters/${how}`, json);
    return { status, ...(body as { data: JsonObject[]; refused: JsonObject[]; workspaces: string[] }) };
  };

  it('counts them over all workspaces, by endpoint with its workspace', async () => {
    const one = await deadLetter('nine');
    await deadLetter('ten', 'test');
    const { body } = await get('dead_letters/summary?workspace=nine&reason=unexpected_status');
    expect(body).toEqual({
      count: 1,
      is_exact: true,
      by_reason: [{ reason: 'unexpected_status', count: 1, is_exact: true }],
      by_endpoint: [
        {
          endpoint_id: one['endpoint_id'],
          url: gone.url,
          status: 'disabled',
          count: 1,
          is_exact: true,
          workspace: 'nine',
          environment: 'live',
        },
      ],
      by_event_type: [{ event_type: 'milestone.recorded', count: 1, is_exact: true }],
      workspaces: ['nine'],
    });
    const all = (await get('dead_letters/summary')).body;
    expect(all['workspaces']).toEqual(expect.arrayContaining(['nine', 'ten']));
    const whose = (all['by_endpoint'] as JsonObject[]).map(({ workspace, environment }) => [workspace, environment]);
    expect(whose).toEqual(
      expect.arrayContaining([
        ['nine', 'live'],
        ['ten', 'test'],
      ]),
    );
    expect(all['count']).toBe((all['by_reason'] as { count: number }[])[0]?.count);
    expect((await get('dead_letters/summary?workspace=nine&reason=timeout')).body).toMatchObject({ count: 0 });
  });

  it('replays them to enabled endpoints, by filter or id', async () => {
    const letters = [await deadLetter('nine'), await deadLetter('nine'), await deadLetter('nine')];
    const [first, second, third] = letters;
    const key = await api.key('developer', 'live', 'nine');
    for (const letter of [first, second]) {
      await api.call('POST', `/v1/webhook_endpoints/${String(letter?.['endpoint_id'])}/enable`, { key });
    }
    const named = await settled('replay', { delivery_ids: [first?.['id']] });
    expect([named.status, named.data]).toEqual([
      202,
      [expect.objectContaining({ endpoint_id: first?.['endpoint_id'], action: 'replay', workspace: 'nine' })],
    ]);
    const matching = await settled('replay', { workspace: 'nine', endpoint_id: second?.['endpoint_id'] });
    expect(matching.data).toEqual([
      expect.objectContaining({ endpoint_id: second?.['endpoint_id'], environment: 'live' }),
    ]);
    for (const letter of [first, second]) {
      // Refused with 410 again.
      const path = `deliveries/${String(letter?.['id'])}`;
      await eventually(async () => expect((await get(path)).body['attempts']).toHaveLength(2));
    }
    const { refused } = await settled('replay', { workspace: 'nine', reasons: ['unexpected_status'] });
    expect(refused).toContainEqual(
      expect.objectContaining({ endpoint_id: third?.['endpoint_id'], code: 'endpoint_not_enabled', workspace: 'nine' }),
    );
    expect((await post('dead_letters/replay', { endpoint_id: third?.['endpoint_id'] })).status).toBe(409);
  });

  it('discards them, in all workspaces if none is named', async () => {
    const letters = [await deadLetter('ten'), await deadLetter('eleven', 'test')];
    const { data, refused } = await settled('discard', { delivery_ids: letters.map(({ id }) => id) });
    expect([data.map(({ workspace }) => workspace), refused]).toEqual([['ten', 'eleven'], []]);
    const progress = `replays/${String(data[0]?.['id'])}`;
    await eventually(async () => {
      expect((await get(progress)).body).toMatchObject({ status: 'completed', done: 1, workspace: 'ten' });
    });
    expect((await get(`${progress}?workspace=eleven`)).status).toBe(404);
    for (const { id } of letters) {
      const path = `deliveries/${String(id)}`;
      await eventually(async () => expect((await get(path)).body).toMatchObject({ status: 'discarded' }));
    }
  });

  it('does not find those of another workspace', async () => {
    const { id, endpoint_id } = await deadLetter('eleven');
    for (const how of ['replay', 'discard']) {
      for (const which of [{ delivery_ids: [id] }, { endpoint_id }]) {
        const { status, body } = await post(`dead_letters/${how}`, { workspace: 'ten', ...which });
        expect([status, (body['error'] as JsonObject)['message']]).toEqual([
          404,
          expect.stringMatching(/^No such (delivery|endpoint) in workspace ten\.$/),
        ]);
      }
    }
    expect((await get(`deliveries/${String(id)}`)).body).toMatchObject({ status: 'dead_lettered' });
  });
});

describe('the audit log of replays and discards by operators', () => {
  const entriesOf = async (workspace: string): Promise<JsonObject[]> => {
    const key = await api.key('admin', 'live', workspace);
    const answer = await api.call('GET', '/v1/audit_log?actor=administration', { key });
    return dataOf(answer);
  };
  const to = (value: unknown) => ({ from: null, to: value });

  it('has an entry only in each affected workspace', async () => {
    const letters = [await deadLetter('twelve'), await deadLetter('twelve', 'test'), await deadLetter('thirteen')];
    await api.key('viewer', 'live', 'fourteen');
    const { body } = await post('dead_letters/discard', { reasons: ['unexpected_status'] });
    const jobs = body['data'] as JsonObject[];
    for (const [workspace, environments] of [
      ['twelve', ['test', 'live']],
      ['thirteen', ['live']],
      ['fourteen', []],
    ] as const) {
      const entries = await entriesOf(workspace);
      expect(new Set(entries.map(({ changes }) => (changes as JsonObject)['environment']))).toEqual(
        new Set(environments.map(to)),
      );
      for (const entry of entries) {
        const { environment } = entry['changes'] as { environment: { to: string } };
        const ids = jobs
          .filter((job) => job['workspace'] === workspace && job['environment'] === environment.to)
          .map(({ id }) => id);
        expect(entry).toMatchObject({
          type: 'webhook_dead_letters.discarded',
          actor: { type: 'system', id: 'administration', name: null },
          target: { type: 'webhook_dead_letters', id: null },
          changes: { reasons: to(['unexpected_status']), matched: to(1), replay_ids: to(ids) },
          outcome: 'done',
          address: null,
        });
      }
    }
    expect(letters).toHaveLength(3);
  });

  it('records started, canceled and resumed replays', async () => {
    const { endpoint_id } = await deadLetter('fifteen', 'test');
    const path = `webhook_endpoints/${String(endpoint_id)}/replay`;
    expect((await post(path)).status).toBe(409);
    expect((await post(path, { workspace: 'fourteen' })).status).toBe(404);
    expect(await entriesOf('fifteen')).toEqual([]);
    const key = await api.key('developer', 'test', 'fifteen');
    await api.call('POST', `/v1/webhook_endpoints/${String(endpoint_id)}/enable`, { key });
    const begun = await post(path, { statuses: ['succeeded'] });
    expect([begun.status, begun.body]).toMatchObject([202, { workspace: 'fifteen', environment: 'test' }]);
    const target = { type: 'webhook_endpoint', id: endpoint_id };
    const changes = { environment: to('test'), statuses: to(['succeeded']), replay_id: to(begun.body['id']) };
    expect(await entriesOf('fifteen')).toMatchObject([{ type: 'webhook_endpoint.replayed', target, changes }]);
    expect((await post(`replays/${String(begun.body['id'])}/cancel`)).status).toBe(200);
  });
});

describe('messages that are not valid events', () => {
  it('are parked, listed and retried', async () => {
    const { name } = SHIPMENT_EVENTS_TOPIC;
    await api.publish({ broken: 'SECRET' } as never);
    const listed = await eventually(async () => {
      const answer = await get('parked');
      expect(dataOf(answer)).toHaveLength(1);
      return answer;
    });
    const id = String(dataOf(listed)[0]?.['id']);
    expect(listed.body).toEqual({
      data: [
        {
          id: expect.stringMatching(new RegExp(`^${name}\\.\\d+\\.\\d+$`)),
          topic: name,
          partition: expect.any(Number),
          offset: expect.any(String),
          key: 'shipment',
          error: 'id is missing',
          parked_at: expect.any(String),
        },
      ],
    });
    expect(await post(`parked/${id}/retry`)).toMatchObject({ status: 200, body: { id, outcome: 'parked' } });
    expect((await post('parked/none/retry')).status).toBe(404);
  });
});

describe('invalid requests of operators', () => {
  it.each([
    ['deliveries?limit=0&status=x&since=x&until=x&endpoint_id=x&event_id=x&event_type=x&environment=x&workspace=', 9],
    ['deliveries?cursor=x', 1],
    ['deliveries?colour=red', 1],
    ['deliveries/x?environment=prod', 1],
    ['dead_letters/summary?reason=luck&event_type=x&since=x&endpoint_id=x', 4],
  ])('GET %s names %i invalid parameters', async (path, count) => {
    const { status, body } = await get(path);
    expect([status, (body['error'] as JsonObject)['details']]).toEqual([400, expect.any(Array)]);
    expect((body['error'] as { details: unknown[] }).details).toHaveLength(count);
  });

  it.each([
    [{ delivery_ids: 'dlv_a' }],
    [{ delivery_ids: [5] }],
    [{ delivery_ids: Array.from({ length: 201 }, () => 'dlv_a') }],
    [{ delivery_ids: ['dlv_a'], status: 'pending' }],
    [{ reasons: ['bad luck'] }],
    [{ event_types: [] }],
    [{ since: '2026-11-22T00:00:00Z', until: '2026-11-21T00:00:00Z' }],
  ])('refuses dead letters of %j', async (json) => {
    expect((await post('dead_letters/replay', json)).status).toBe(400);
    expect((await post('dead_letters/discard', json)).status).toBe(400);
  });

  it('no response has status 500', () => {
    const parked = 'webhooks: a message was parked';
    expect(api.lines.filter(({ level, message }) => level === 'error' && message !== parked)).toEqual([]);
    expect(JSON.stringify(api.lines)).not.toContain('SECRET');
  });
});
