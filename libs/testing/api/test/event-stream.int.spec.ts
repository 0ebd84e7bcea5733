import { randomUUID } from 'node:crypto';
import type { KeyOwner } from '@tracking/contracts';
import { ACCESS_TO_ALL_KEYS } from '@tracking/identity';
import type { EventStreamSettings } from '@tracking/shipments-http';
import { eventually } from '@tracking/testing';
import { UnavailableError } from '@tracking/ports';
import { resolveReferencesInPaths } from './described-responses.ts';
import { EventStreamReader, type EventStreamTestRequest } from './event-stream-reader.ts';
import { type Api, type TestApiStartOptions, startApi } from './start-api.ts';

let shared: Api;
let api: Api;
let workspace: string;
let key: string;
let readers: EventStreamReader[] = [];

beforeAll(async () => void (shared = await startApi()));
afterAll(() => shared.stop());
beforeEach(() => begin(shared));
afterEach(async () => {
  for (const reader of readers) reader.closeSocket();
  if (api !== shared) await api.stop();
});

/** A workspace of the test's own. */
async function begin(there: Api): Promise<void> {
  [api, workspace, readers] = [there, randomUUID(), []];
  key = await api.key('operator', 'live', workspace);
}

/** For what no other test may feel. */
async function start(eventStreams: Partial<EventStreamSettings> = {}, override?: TestApiStartOptions['override']) {
  await begin(await startApi({ settings: { eventStreams }, ...(override && { override }) }));
}

async function open(request: Partial<EventStreamTestRequest> = {}): Promise<EventStreamReader> {
  const reader = await EventStreamReader.openStream(api.url, { key, ...request });
  readers.push(reader);
  return reader;
}

async function create(external_id: string, by = key, fields: object = {}): Promise<string> {
  const json = { external_id, ...fields };
  const { status, body } = await api.call('POST', '/v1/shipments', { key: by, json });
  expect(status).toBe(201);
  return String(body['id']);
}

/** The text of each envelope in `GET /v1/events`. */
async function listed(query = '', by = key): Promise<string[]> {
  const { text } = await api.call('GET', `/v1/events?limit=200${query}`, { key: by });
  return (JSON.parse(text) as { data: object[] }).data.map((envelope) => JSON.stringify(envelope));
}
const idsOf = (envelopes: readonly string[]) => envelopes.map((text) => (JSON.parse(text) as { id: string }).id);

describe('GET /v1/events/stream', () => {
  it('sends the envelopes of GET /v1/events, byte for byte, as they happen', async () => {
    await create('before');
    const before = idsOf(await listed());
    const reader = await open();
    const { statusCode, headers } = reader.response;
    expect([statusCode, headers['content-type'], headers['cache-control'], headers['x-accel-buffering']]).toEqual([
      200,
      'text/event-stream',
      'no-store, no-transform',
      'no',
    ]);
    expect(headers).toMatchObject({
      'request-id': expect.stringMatching(/^req_/),
      'x-ratelimit-limit': '100000',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-encoding']).toBeUndefined();
    await eventually(() => expect([reader.retryMs, reader.lastEventId]).toEqual([2_000, before[0]]));
    const shipment = await create('A');
    const json = { code: 'vessel_departed', occurred_at: '2026-01-05T10:00:00Z', note: 'line\nbreak\u2028' };
    await api.call('POST', `/v1/shipments/${shipment}/milestones`, { key, json });
    await reader.waitForEvents(3);
    const expected = (await listed()).slice(1);
    expect(reader.events).toEqual(expected.map((data, index) => ({ id: idsOf(expected)[index], data })));
    expect(reader.lastEventId).toBe(idsOf(expected).at(-1));
  });

  it('sends only events of the workspace that match the filters', async () => {
    const stranger = await api.key('operator', 'live', `not ${workspace}`);
    const tester = await api.key('developer', 'test', workspace);
    const [theirs, tests] = [await open({ key: stranger }), await open({ key: tester })];
    const created = await open({ query: '?type=SHIPMENT.created' });
    const first = await create('A');
    const ofFirst = await open({ query: `?shipment_id=${first}&after=beginning` });
    const foreign = await open({ query: `?shipment_id=${first}&after=beginning`, key: stranger });
    await create('B');
    await api.call('POST', `/v1/shipments/${first}/cancel`, { key });
    await create('C', stranger);
    await create('D', tester);
    expect(await theirs.waitForEvents(1)).toEqual(idsOf(await listed('', stranger)));
    expect(await tests.waitForEvents(1)).toEqual(idsOf(await listed('', tester)));
    expect(await created.waitForEvents(2)).toEqual(idsOf(await listed('&type=shipment.created')));
    expect(await ofFirst.waitForEvents(2)).toEqual(idsOf(await listed(`&shipment_id=${first}`)));
    expect(foreign.events).toEqual([]);
  });

  it('continues after the last event that was read; the header takes precedence', async () => {
    const first = await open();
    await create('A');
    await create('B');
    await first.waitForEvents(2);
    first.closeSocket();
    await create('C');
    const ids = idsOf(await listed());
    const second = await open({ lastEventId: first.lastEventId, query: '?after=beginning' });
    await create('D');
    expect([...first.ids, ...(await second.waitForEvents(2))]).toEqual([...ids, ...idsOf(await listed()).slice(3)]);
    expect(await (await open({ query: `?after=${ids[0]}` })).waitForEvents(3)).toEqual(idsOf(await listed()).slice(1));
    expect(await (await open({ query: '?after=beginning', lastEventId: '' })).waitForEvents(4)).toEqual(
      idsOf(await listed()),
    );
  });

  it('loses nothing between a connection without events and the next one', async () => {
    const nothing = await open();
    await eventually(() => expect(nothing.lastEventId).toBe('beginning'));
    nothing.closeSocket();
    await create('A');
    const again = await open({ lastEventId: nothing.lastEventId });
    expect(await again.waitForEvents(1)).toEqual(idsOf(await listed()));
  });

  it('refuses invalid requests before it starts, like any operation', async () => {
    const stranger = await api.key('operator', 'live', `not ${workspace}`);
    await create('X', stranger);
    const [foreign] = idsOf(await listed('', stranger));
    const refused = async (path: string, by: string | undefined, headers = {}) => {
      const answer = await api.call('GET', `/v1/events/stream${path}`, { key: by, headers });
      return [answer.status, (answer.body['error'] as { param: unknown }).param];
    };
    expect(await refused('', undefined)).toEqual([401, null]);
    expect(await refused('?types=x', key)).toEqual([400, 'types']);
    expect(await refused('?type=x', key)).toEqual([400, 'type']);
    expect(await refused('?shipment_id=x', key)).toEqual([400, 'shipment_id']);
    expect(await refused(`?after=${foreign}`, key)).toEqual([400, 'after']);
    expect(await refused('?after=evt_none', key)).toEqual([400, 'after']);
    expect(await refused('', key, { 'last-event-id': `${foreign}` })).toEqual([400, 'Last-Event-ID']);
    expect((await api.call('POST', '/v1/events/stream', { key })).status).toBe(405);
    expect((await api.call('HEAD', '/v1/events/stream', { key })).status).toBe(200);
  });

  it('matches its description, including errors', async () => {
    const { body } = await api.call('GET', '/openapi.json');
    const paths = resolveReferencesInPaths<{ parameters: object[]; responses: object }>(body);
    const { parameters, responses } = paths['/v1/events/stream']?.['get'] ?? { parameters: [], responses: {} };
    const contents = Object.entries(responses).map(([status, { content }]) => [status, ...Object.keys(content)]);
    expect(contents[0]).toEqual(['200', 'text/event-stream']);
    const forms = contents.slice(1).map(([, ...types]) => types.join());
    expect(new Set(forms)).toEqual(new Set(['application/json']));
    const own = parameters.flatMap((one) => ('name' in one ? [String(one.name)] : []));
    expect(own.sort()).toEqual(['Last-Event-ID', 'after', 'shipment_id', 'traceparent', 'type']);
  });

  it('sends heartbeats with the last event that did not match', async () => {
    await start({ heartbeatMs: 1 });
    const reader = await open({ query: '?type=exception.opened' });
    await eventually(() => expect(reader.heartbeats).toBeGreaterThan(1));
    await create('A');
    const [passed] = idsOf(await listed());
    await eventually(() => expect(reader.lastEventId).toBe(passed));
    expect(reader.events).toEqual([]);
  });

  it('ends when the key is revoked or loses its permission', async () => {
    const lost = new Set<string>();
    await start({ admissionMs: 1 }, ({ authenticateKey }) => ({
      authenticateKey: async (given) => {
        const principal = await authenticateKey(given);
        return principal && lost.has(given) ? { ...principal, permissions: new Set(['documents:read']) } : principal;
      },
    }));
    const [demoted, revoked] = [await api.key('viewer', 'live', workspace), await api.key('feed', 'live', workspace)];
    const ending = [await open({ key: demoted }), await open({ key: revoked })];
    const going = await open();
    lost.add(demoted);
    const workspace_id = await api.workspace(workspace);
    const page = await api.identity.keys.listKeys(workspace_id, ACCESS_TO_ALL_KEYS, { limit: 100 });
    const { id = '' } = page.items.find(({ role }) => role === 'feed') ?? {};
    const actor = { type: 'system', id: 'test' } as const;
    const command = { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id };
    await api.identity.keys.revokeKey(command, ACCESS_TO_ALL_KEYS, id);
    for (const reader of ending) await reader.waitForStreamEnd();
    await create('A');
    await going.waitForEvents(1);
    expect(going.ended).toBe(false);
    expect(api.counts.get('event_streams_ended_total{reason="refused"}')).toBe(2);
  });

  it('ends when its session ends or its user is deactivated', async () => {
    await start({ admissionMs: 1 });
    const actor = { type: 'system', id: 'test' } as const;
    const command = async () => {
      return { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id: await api.workspace(workspace) };
    };
    const password = 'violet harbour crane';
    const signIn = async (email: string) => {
      const { after } = await api.identity.users.createUser(await command(), { email, role: 'viewer', password });
      const headers = { 'x-requested-with': 'fetch' };
      const answer = await api.call('POST', '/v1/session', { json: { email, password }, headers });
      return { id: after.id, cookie: String(answer.headers.get('set-cookie')).split(';', 1)[0] ?? '' };
    };
    const [leaving, dismissed, staying] = [await signIn('a@x.org'), await signIn('b@x.org'), await signIn('c@x.org')];
    const ending = [await open(leaving), await open(dismissed)];
    const going = await open(staying);
    await create('A');
    await Promise.all([...ending, going].map((reader) => reader.waitForEvents(1)));
    const headers = { cookie: leaving.cookie, 'x-requested-with': 'fetch' };
    expect((await api.call('DELETE', '/v1/session', { headers })).status).toBeLessThan(300);
    await api.identity.users.deactivateUser(await command(), dismissed.id);
    for (const reader of ending) await reader.waitForStreamEnd();
    await create('B');
    await going.waitForEvents(2);
    expect((await open(leaving)).response.statusCode).toBe(401);
  });

  it('ends when the key cannot be checked for too long', async () => {
    let isAway = false;
    await start({ admissionMs: 1, admittedForMs: 1 }, ({ authenticateKey }) => ({
      authenticateKey: async (given) => {
        if (isAway) throw new UnavailableError('document store', 'away');
        return authenticateKey(given);
      },
    }));
    const reader = await open();
    isAway = true;
    await reader.waitForStreamEnd();
    expect((await open()).response.statusCode).toBe(503);
  });

  it('has limits per key and in total', async () => {
    await start({ maxPerCredential: 2, maxOpen: 3 });
    const [first] = [await open(), await open()];
    const third = await api.call('GET', '/v1/events/stream', { key });
    expect([third.status, third.headers.get('retry-after'), third.body['error']]).toEqual([
      429,
      '5',
      expect.objectContaining({ type: 'rate_limit', code: 'too_many_streams' }),
    ]);
    const other = await api.key('viewer', 'live', workspace);
    await open({ key: other });
    const fourth = await api.call('GET', '/v1/events/stream', { key: other });
    expect([fourth.status, fourth.body['error']]).toEqual([503, expect.objectContaining({ code: 'busy' })]);
    first?.closeSocket();
    await eventually(async () => expect((await open()).response.statusCode).toBe(200));
  });

  it('has limits for all keys of an owner and for a workspace, and names the one that is reached', async () => {
    await start({ maxPerCredential: 2, maxPerOwner: 3, maxPerWorkspace: 4 });
    const workspace_id = await api.workspace(workspace);
    const keyOf = async (owner: KeyOwner) => {
      const actor = { type: 'system', id: 'test' } as const;
      const command = { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id };
      const request = { name: 'another', environment: 'live', owner } as const;
      return (await api.identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, request)).after.key;
    };
    const [{ owner } = { owner: { type: 'user', id: '' } as KeyOwner }] =
      await api.identity.keys.listWorkspaceKeys(workspace_id);
    const second = await keyOf(owner);
    const refused = async (by: string) => {
      const { status, body } = await api.call('GET', '/v1/events/stream', { key: by });
      const { code, message } = body['error'] as { code: string; message: string };
      return [status, code, message];
    };
    const streams = [await open(), await open(), await open({ key: second })];
    expect(await refused(second)).toEqual([
      429,
      'too_many_streams',
      'All keys of the service account together have 3 open event streams already. Close one first.',
    ]);
    const other = await api.key('viewer', 'test', workspace);
    await open({ key: other });
    expect(await refused(other)).toEqual([
      429,
      'too_many_streams',
      'The workspace has 4 open event streams already. Close one first.',
    ]);
    const elsewhere = await api.key('viewer', 'live', randomUUID());
    expect((await open({ key: elsewhere })).response.statusCode).toBe(200);
    streams[0]?.closeSocket();
    await eventually(async () => expect((await open({ key: second })).response.statusCode).toBe(200));
  });

  it('ends immediately when the server stops, with a retry time', async () => {
    await start();
    const stopped = [await open(), await open()];
    await create('A');
    await Promise.all(stopped.map((reader) => reader.waitForEvents(1)));
    await api.stop();
    for (const reader of stopped) {
      await reader.waitForStreamEnd();
      expect(reader.retryMs).toBeGreaterThanOrEqual(1_000);
      expect(reader.retryMs).toBeLessThanOrEqual(3_000);
    }
    await begin(shared);
  });

  it('logs one line per stream, even if the client disconnects', async () => {
    await start();
    const reader = await open();
    reader.closeSocket();
    await eventually(() =>
      expect(api.lines.filter(({ fields }) => fields['path'] === '/v1/events/stream')).toEqual([
        expect.objectContaining({ fields: expect.objectContaining({ status: 200 }), message: 'request' }),
      ]),
    );
  });
});
