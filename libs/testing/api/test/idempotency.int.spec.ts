import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { InProcessLeases, InMemoryRequestQuota } from '@tracking/embedded';
import { IDEMPOTENCY_CLAIMS_COLLECTION_SPEC } from '@tracking/http';
import type { IdempotencyClaim, IdempotencyClaims } from '@tracking/http';
import { BusyError, UnavailableError } from '@tracking/ports';
import { eventually } from '@tracking/testing';
import { startApi, overrideOperations } from './start-api.ts';
import type { Api, ApiTestRequest } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

let api: Api;
let key: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.key('admin');
});
afterAll(() => api.stop());

type Call = Api['call'];
/** Sends a POST under an `Idempotency-Key`. */
const under = (name: string, path: string, json?: unknown, rest: ApiTestRequest & { readonly by?: Call } = {}) => {
  const { by = api.call, headers, ...call } = rest;
  return by('POST', path, { key, json, ...call, headers: { 'idempotency-key': name, ...headers } });
};
const SHIPMENTS = '/v1/shipments';
/** No external_id: but for its key, each would make a shipment of its own. */
const fields = () => ({ house_bill: `HB-${randomUUID()}`, mode: 'ocean' });
/** The fields of an answer that a replay repeats. */
const told = ({ status, headers, text }: ApiResponse) => ({
  status,
  text,
  headers: ['content-type', 'location', 'etag'].map((name) => headers.get(name)),
});
const tokenOf = ({ headers }: ApiResponse) => String(headers.get('consistency-token'));
const replayed = ({ headers }: ApiResponse) => headers.get('idempotency-replayed');
const storedClaims = () => api.storage.documentStore.collection<IdempotencyClaim>(IDEMPOTENCY_CLAIMS_COLLECTION_SPEC);
const codeOf = ({ status, body }: ApiResponse) => [status, (body['error'] as { code?: string } | undefined)?.code];

describe('a POST with an Idempotency-Key', () => {
  it('is carried out once, and a repeat gets the same response byte for byte', async () => {
    const [name, json] = [randomUUID(), fields()];
    const first = await under(name, SHIPMENTS, json);
    expect([first.status, replayed(first)]).toEqual([201, null]);
    expect(first.headers.get('location')).toContain(String(first.body['id']));
    const head = await api.head();
    const id = String(first.body['id']);
    // Whatever becomes of the resource meanwhile.
    await api.call('POST', `${SHIPMENTS}/${id}/cancel`, { key });
    const changed = await api.head();
    expect(changed).not.toBe(head);

    const again = await under(name, SHIPMENTS, json);
    expect(told(again)).toEqual(told(first));
    expect(replayed(again)).toBe('true');
    expect(again.headers.get('request-id')).toMatch(/^req_/);
    expect(again.headers.get('request-id')).not.toBe(first.headers.get('request-id'));
    expect(Number(again.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
    expect(await api.head()).toBe(changed);
  });

  it('returns a repeated response with the newest token that the client knows', async () => {
    const [name, json] = [randomUUID(), fields()];
    const first = await under(name, SHIPMENTS, json);
    const elsewhere = await api.gateway({});
    const later = await under(randomUUID(), SHIPMENTS, fields(), { by: elsewhere });
    expect(tokenOf(await under(name, SHIPMENTS, json))).toBe(tokenOf(first));
    const sent = { 'consistency-token': `${tokenOf(first)}, ${tokenOf(later)}` };
    expect(tokenOf(await under(name, SHIPMENTS, json, { headers: sent }))).toBe(tokenOf(later));
    // This one remembers the later write of the key.
    expect(tokenOf(await under(name, SHIPMENTS, json, { by: elsewhere }))).toBe(tokenOf(later));
  });

  it('is remembered as a write by the gateway that answers it again', async () => {
    const other = await api.key('admin');
    const [name, json] = [randomUUID(), fields()];
    const first = await under(name, SHIPMENTS, json, { key: other });
    const elsewhere = await api.gateway({});
    await under(name, SHIPMENTS, json, { key: other, by: elsewhere });
    const webhook = { url: 'https://receiver.example/', event_types: ['*'] };
    const next = await elsewhere('POST', '/v1/webhook_endpoints', { key: other, json: webhook });
    expect([next.status, tokenOf(next)]).toEqual([201, tokenOf(first)]);
  });

  it('ignores the JSON whitespace of the request', async () => {
    const name = randomUUID();
    const first = await under(name, SHIPMENTS, undefined, { raw: '{"house_bill":"HB-S","mode":"ocean"}' });
    const again = await under(name, SHIPMENTS, undefined, { raw: '{ "house_bill": "HB-S",\n"mode": "ocean" }' });
    expect([told(again), replayed(again)]).toEqual([told(first), 'true']);
  });

  it('refuses another path, query or body', async () => {
    const [name, json] = [randomUUID(), fields()];
    const { body } = await under(name, SHIPMENTS, json);
    const head = await api.head();
    const others = [
      await under(name, SHIPMENTS, fields()),
      await under(name, SHIPMENTS),
      await under(name, `${SHIPMENTS}/${String(body['id'])}/cancel`, json),
    ];
    expect(others.map(codeOf)).toEqual(others.map(() => [409, 'idempotency_key_reused']));
    expect(await api.head()).toBe(head);
    expect(replayed(await under(name, SHIPMENTS, json))).toBe('true');
  });

  it('is separate for each API key and environment', async () => {
    const [name, json] = [randomUUID(), fields()];
    const keys = [key, await api.key('admin'), await api.key('admin', 'test'), await api.key('admin', 'live', 'other')];
    const answers: ApiResponse[] = [];
    for (const one of keys) answers.push(await under(name, SHIPMENTS, json, { key: one }));
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 201));
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(keys.length);
  });

  it('is refused with an invalid Idempotency-Key, without effect', async () => {
    const head = await api.head();
    for (const name of ['', 'k'.repeat(256), 'clé', 'tab\tbed']) {
      const answer = await under(name, SHIPMENTS, fields());
      expect([name, ...codeOf(answer)]).toEqual([name, 400, 'validation_failed']);
      expect(answer.text).toContain('Idempotency-Key');
    }
    const twice = request(`${api.url}${SHIPMENTS}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    twice.setHeader('Authorization', `Bearer ${key}`).setHeader('Idempotency-Key', ['k', 'k']);
    twice.end(JSON.stringify(fields()));
    const [refused] = (await once(twice, 'response')) as [IncomingMessage];
    expect([refused.resume().statusCode, await api.head()]).toEqual([400, head]);
    for (const name of ['k', 'k'.repeat(255), '{"a b": ~}']) {
      expect((await under(`${name}`, SHIPMENTS, { external_id: 'K' })).status).toBeLessThan(300);
    }
  });

  it('is refused if its body is nested too deeply to compare, without effect', async () => {
    const raw = `{"mode": "ocean", "external_id": "deep", "x": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const deep = await under(randomUUID(), SHIPMENTS, undefined, { raw });
    expect([...codeOf(deep), replayed(deep)]).toEqual([400, 'validation_failed', null]);
    const { body } = await api.call('GET', `${SHIPMENTS}?external_id=deep`, { key });
    expect(body['data']).toEqual([]);
  });

  it('keeps what the command came to: also that there is no such resource, and conflicts', async () => {
    const missing = randomUUID();
    const path = `${SHIPMENTS}/shp_${'a'.repeat(26)}/cancel`;
    const first = await under(missing, path);
    expect(codeOf(first)).toEqual([404, 'not_found']);
    const again = await under(missing, path);
    expect([told(again), replayed(again)]).toEqual([told(first), 'true']);

    const json = { url: 'https://example.com/hook', event_types: ['*'] };
    const { body } = await api.call('POST', '/v1/webhook_endpoints', { key, json });
    const enable = `/v1/webhook_endpoints/${String(body['id'])}/enable`;
    const conflict = randomUUID();
    const refused = await under(conflict, enable);
    expect(codeOf(refused)).toEqual([409, 'endpoint_not_verified']);
    expect(told(await under(conflict, enable))).toEqual(told(refused));
  });

  it('does not store a validation error, so a corrected request can use the same key', async () => {
    const name = randomUUID();
    const bodies = [{ mode: 'ocean' }, { ...fields(), mode: 'balloon' }];
    for (const json of bodies) expect((await under(name, SHIPMENTS, json)).status).toBe(400);
    expect((await under(name, SHIPMENTS, undefined, { raw: '{' })).status).toBe(400);
    expect(
      (await under(name, SHIPMENTS, undefined, { raw: 'a', headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(415);
    const feed = { code: 'gated_in', occurred_at: '2026-01-01T00:00:00Z', source: 'carrier' };
    const { body } = await api.call('POST', SHIPMENTS, { key, json: fields() });
    const operator = await api.key('operator');
    const path = `${SHIPMENTS}/${String(body['id'])}/milestones`;
    expect((await under('m', path, feed, { key: operator })).status).toBe(403);
    expect((await under('m', path, { ...feed, source: 'manual' }, { key: operator })).status).toBe(201);
    expect((await under(name, SHIPMENTS, fields())).status).toBe(201);
  });

  it('stores nothing for unauthenticated callers', async () => {
    const name = randomUUID();
    const claims = await storedClaims();
    const before = await claims.count({ expires_at: { gte: '' } });
    for (const stranger of [undefined, 'sk_live_nobody']) {
      const answer = await api.call('POST', SHIPMENTS, {
        ...(stranger !== undefined && { key: stranger }),
        json: fields(),
        headers: { 'idempotency-key': name },
      });
      expect(answer.status).toBe(401);
    }
    expect((await under(name, SHIPMENTS, fields(), { key: await api.key('viewer') })).status).toBe(403);
    expect((await under(name, '/v1/nowhere', fields())).status).toBe(404);
    const use = { name: 'Ann', password: 'correct horse battery' };
    expect((await under(name, '/v1/invitations/none', use, { key: undefined })).status).toBe(404);
    expect(await claims.count({ expires_at: { gte: '' } })).toBe(before);
  });

  it('is written down for strangers only so often', async () => {
    const claims = await storedClaims();
    const before = await claims.count({ expires_at: { gte: '' } });
    const use = { name: 'Ann', password: 'correct horse battery' };
    // From an address of their own.
    const by = await api.gateway({ quota: new InMemoryRequestQuota(() => new Date()) });
    const answers = await Promise.all(
      Array.from({ length: 70 }, () => under(randomUUID(), '/v1/invitations/none', use, { key: undefined, by })),
    );
    const codes = answers.map((answer) => codeOf(answer).join(' '));
    expect(codes.filter((code) => code === '404 not_found')).toHaveLength(60);
    expect(codes.filter((code) => code === '429 rate_limited')).toHaveLength(10);
    expect(answers.every(({ status, headers }) => (status === 429) === headers.has('retry-after'))).toBe(true);
    expect(await claims.count({ expires_at: { gte: '' } })).toBe(before);
  });

  it('is answered again to whoever sends the same without credentials, to nobody else', async () => {
    const invited = await api.call('POST', '/v1/users', { key, json: { email: 'ann@example.com', role: 'viewer' } });
    const link = `/v1/invitations/${String(invited.body['invitation_url']).split('#')[1]}`;
    const name = randomUUID();
    const send = (password: string) => under(name, link, { name: 'Ann', password }, { key: undefined });
    const first = await send('correct horse battery');
    const again = await send('correct horse battery');
    expect([first.status, told(again), replayed(again)]).toEqual([200, told(first), 'true']);
    const other = await send('battery horse correct');
    expect([codeOf(other), replayed(other)]).toEqual([[404, 'not_found'], null]);
  });

  it('returns no stored admin key after the caller was demoted', async () => {
    const account = async (role: string) => {
      const { body } = await api.call('POST', '/v1/service_accounts', { key, json: { name: randomUUID(), role } });
      return String(body['id']);
    };
    const [own, admin] = [await account('admin'), await account('admin')];
    const newKey = (service_account_id: string) => ({ name: 'k', environment: 'live', service_account_id });
    const caller = String((await api.call('POST', '/v1/api_keys', { key, json: newKey(own) })).body['key']);
    const name = randomUUID();
    const create = () => under(name, '/v1/api_keys', newKey(admin), { key: caller });
    const setRole = (role: string) => api.call('PATCH', `/v1/service_accounts/${own}`, { key, json: { role } });
    const made = await create();
    expect([made.status, replayed(await create())]).toEqual([201, 'true']);
    await setRole('developer');
    const refused = await create();
    expect(codeOf(refused)).toEqual([403, 'permission_denied']);
    expect(refused.text).not.toContain(String(made.body['key']));
    await setRole('viewer');
    expect(codeOf(await create())).toEqual([403, 'permission_denied']);
    await setRole('admin');
    expect((await create()).body['key']).toBe(made.body['key']);
  });

  it('returns the same response after the caller lost a permission that the operation does not need', async () => {
    const { body } = await api.call('POST', '/v1/service_accounts', { key, json: { name: 'TMS', role: 'admin' } });
    const json = { name: 'k', environment: 'live', service_account_id: body['id'] };
    const caller = String((await api.call('POST', '/v1/api_keys', { key, json })).body['key']);
    const [name, shipment] = [randomUUID(), fields()];
    const first = await under(name, SHIPMENTS, shipment, { key: caller });
    await api.call('PATCH', `/v1/service_accounts/${String(body['id'])}`, { key, json: { role: 'operator' } });
    const again = await under(name, SHIPMENTS, shipment, { key: caller });
    expect([told(again), replayed(again)]).toEqual([told(first), null]);
    expect(replayed(await under(name, SHIPMENTS, shipment, { key: caller }))).toBe('true');
  });

  it('returns 409 while the first request is in progress', async () => {
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { shipments } = api.dependencies;
    const by = await api.gateway({
      shipments: overrideOperations(shipments, {
        upsertShipment: async (command) => {
          begun.resolve();
          await held.promise;
          return shipments.upsertShipment(command);
        },
      }),
    });
    const [name, json] = [randomUUID(), fields()];
    const first = under(name, SHIPMENTS, json, { by });
    await begun.promise;
    for (const sender of [by, api.call]) {
      const second = await under(name, SHIPMENTS, json, { by: sender });
      expect([...codeOf(second), second.headers.get('retry-after')]).toEqual([409, 'idempotency_in_progress', '1']);
    }
    held.resolve();
    const answer = await first;
    expect(answer.status).toBe(201);
    expect(told(await under(name, SHIPMENTS, json, { by }))).toEqual(told(answer));
  });

  it('repeats the same command after a server error', async () => {
    const { shipments } = api.dependencies;
    const ids: string[] = [];
    const times = new Set<string>();
    const by = await api.gateway({
      shipments: overrideOperations(shipments, {
        upsertShipment: async (command) => {
          ids.push(command.id);
          times.add(command.at);
          const written = await shipments.upsertShipment(command);
          if (ids.length < 3) throw new UnavailableError('event store', 'its answer is lost');
          return written;
        },
      }),
    });
    const [name, json] = [randomUUID(), fields()];
    const head = await api.head();
    expect(codeOf(await under(name, SHIPMENTS, json, { by }))).toEqual([503, 'unavailable']);
    const written = await api.head();
    expect(written).not.toBe(head);
    // By any gateway.
    expect(codeOf(await under(name, SHIPMENTS, json, { by }))).toEqual([503, 'unavailable']);
    const answer = await under(name, SHIPMENTS, json);
    expect([answer.status, replayed(answer)]).toEqual([201, null]);
    expect([new Set(ids).size, times.size, await api.head()]).toEqual([1, 1, written]);
  });

  it('is of the time of its repeat where nothing was done before: the past does not change', async () => {
    const { shipments } = api.dependencies;
    const commands: { readonly id: string; readonly at: string }[] = [];
    const by = await api.gateway({
      shipments: overrideOperations(shipments, {
        upsertShipment: async (command) => {
          commands.push(command);
          if (commands.length === 1) throw new BusyError('shipments', 'too much to do');
          return shipments.upsertShipment(command);
        },
      }),
    });
    const [name, json] = [randomUUID(), fields()];
    expect(codeOf(await under(name, SHIPMENTS, json, { by }))).toEqual([503, 'busy']);
    const refusedAt = new Date().toISOString();
    await eventually(() => expect(new Date().toISOString() > refusedAt).toBe(true));
    const { status, body } = await under(name, SHIPMENTS, json, { by });
    expect(status).toBe(201);
    expect(String(body['created_at']) > refusedAt).toBe(true);
    expect(new Set(commands.map(({ id }) => id)).size).toBe(1);
  });

  it('stays the same command where a repeat of it is refused', async () => {
    const [dead, alive] = [await api.claims(), await api.claims()];
    const request = { scope: ['key_1'], key: randomUUID(), content: '{}', permissions: [] };
    const taken = async (by: IdempotencyClaims) => {
      const taking = await by.claimIdempotencyKey(request);
      if (taking.kind !== 'taken') throw new Error(`${taking.kind} in place of taken`);
      return taking.claim;
    };
    const first = await taken(dead);
    const repeat = await taken(alive);
    await alive.deleteIdempotencyClaim(repeat);
    const last = await taken(alive);
    expect([repeat.command_id, last.command_id]).toEqual([first.command_id, first.command_id]);
    await alive.releaseIdempotencyClaim(last);
  });

  it('responds only after the response is stored', async () => {
    const claims = await api.claims();
    const { storeResponseOfClaim: storeResponse } = claims;
    claims.storeResponseOfClaim = async (...args) => {
      claims.storeResponseOfClaim = storeResponse;
      await Promise.reject(new UnavailableError('document store', 'away'));
      return storeResponse.apply(claims, args);
    };
    const by = await api.gateway({ idempotency: claims });
    const [name, json] = [randomUUID(), fields()];
    const first = await under(name, SHIPMENTS, json, { by });
    expect([...codeOf(first), first.headers.get('retry-after')]).toEqual([503, 'unavailable', '5']);
    expect(first.text).toContain('Whether the write took effect is unknown; send it again.');
    for (const name of ['location', 'etag', 'consistency-token']) expect(first.headers.get(name)).toBeNull();
    const written = await api.head();
    const again = await under(name, SHIPMENTS, json);
    expect([again.status, await api.head()]).toEqual([201, written]);
    expect(told(await under(name, SHIPMENTS, json, { by }))).toEqual(told(again));
  });

  it('does not start if its claim cannot be stored', async () => {
    const claims = await api.claims();
    claims.claimIdempotencyKey = () => Promise.reject(new UnavailableError('document store', 'away'));
    const by = await api.gateway({ idempotency: claims });
    const head = await api.head();
    const answer = await under(randomUUID(), SHIPMENTS, fields(), { by });
    expect(codeOf(answer)).toEqual([503, 'unavailable']);
    expect(answer.text).toContain('Nothing was changed');
    expect(await api.head()).toBe(head);
  });

  it('completes even if the client disconnects', async () => {
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { shipments } = api.dependencies;
    const claims = await api.claims();
    const by = await api.gateway({
      idempotency: claims,
      shipments: overrideOperations(shipments, {
        upsertShipment: async (command) => {
          begun.resolve();
          await held.promise;
          return shipments.upsertShipment(command);
        },
      }),
    });
    const leaving = new AbortController();
    const [name, json] = [randomUUID(), fields()];
    const first = under(name, SHIPMENTS, json, { by, signal: leaving.signal }).catch((error: Error) => error.name);
    await begun.promise;
    leaving.abort();
    expect(await first).toBe('AbortError');
    held.resolve();
    const again = await eventually(async () => {
      const answer = await under(name, SHIPMENTS, json, { by });
      expect(answer.status).toBe(201);
      return answer;
    });
    expect(replayed(again)).toBe('true');
  });

  it('expires after 24 hours, even if its claim was not deleted', async () => {
    let now = Date.now();
    const clock = () => new Date(now);
    const claims = await api.claims({ clock });
    const by = await api.gateway({ idempotency: claims });
    const [name, json] = [randomUUID(), fields()];
    const first = await under(name, SHIPMENTS, json, { by });
    now += DAY_MS - 1;
    expect(told(await under(name, SHIPMENTS, json, { by }))).toEqual(told(first));
    now += 1;
    const later = await under(name, SHIPMENTS, json, { by });
    expect([later.status, replayed(later)]).toEqual([201, null]);
    expect(later.body['id']).not.toBe(first.body['id']);
    expect(told(await under(name, SHIPMENTS, json, { by }))).toEqual(told(later));

    now += DAY_MS;
    const stored = await storedClaims();
    const old = { filter: { expires_at: { lte: clock().toISOString() } }, limit: 1 };
    expect(await stored.find(old)).toHaveLength(1);
    // Its own, as the sweeper of this API has the other.
    const sweeper = await api.claims({ clock, leases: new InProcessLeases(1) });
    await eventually(async () => expect(await stored.find(old)).toEqual([]));
    // To it, every key of this API is a day old.
    await sweeper.stopClaimSweeper();
  });

  it('stores nothing in plain text', async () => {
    const [name, secretBill] = [`order-${randomUUID()}`, `HB-${randomUUID()}`];
    const answer = await under(name, SHIPMENTS, { house_bill: secretBill });
    const claims = await storedClaims();
    const stored = JSON.stringify(await claims.find({ filter: {}, limit: 1_000 }));
    for (const secret of [name, secretBill, String(answer.body['id']), SHIPMENTS, key]) {
      expect(stored).not.toContain(secret);
    }
  });

  it('makes one shipment and one answer when it is sent fifty times at once over two gateways', async () => {
    const differing = { takeOverAfterMs: 15_000 };
    const gateways = await Promise.all(
      [1, 2].map(async () => api.gateway({ idempotency: await api.claims(differing) })),
    );
    const [name, json] = [randomUUID(), fields()];
    const send = (turn: number): Promise<ApiResponse> =>
      under(name, SHIPMENTS, json, { by: gateways[turn % 2] ?? api.call });
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, turn) =>
        eventually(async () => {
          const answer = await send(turn);
          expect(codeOf(answer)).not.toEqual([409, 'idempotency_in_progress']);
          return answer;
        }),
      ),
    );
    expect([...new Set(answers.map((answer) => JSON.stringify(told(answer))))]).toEqual([
      expect.stringMatching(/^."status":201,/),
    ]);
    expect(answers.filter((answer) => replayed(answer) === null)).toHaveLength(1);
    const listed = await api.call('GET', `${SHIPMENTS}?limit=200`, { key });
    const made = (listed.body['data'] as { house_bill: string }[]).filter((one) => one.house_bill === json.house_bill);
    expect(made).toHaveLength(1);
  });
});

describe('an Idempotency-Key on anything but a POST', () => {
  it('is ignored', async () => {
    const headers = { 'idempotency-key': 'é'.repeat(300).slice(0, 1) + 'x'.repeat(300) };
    expect((await api.call('GET', SHIPMENTS, { key, headers })).status).toBe(200);
    const json = { url: 'https://example.com/hook', event_types: ['*'] };
    const { body } = await api.call('POST', '/v1/webhook_endpoints', { key, json });
    const path = `/v1/webhook_endpoints/${String(body['id'])}`;
    const named = { 'idempotency-key': 'one' };
    for (const description of ['a', 'b']) {
      const changed = await api.call('PATCH', path, { key, json: { description }, headers: named });
      expect([changed.status, changed.body['description']]).toEqual([200, description]);
    }
    expect((await api.call('DELETE', path, { key, headers: named })).status).toBe(200);
  });
});

describe('the description of the API', () => {
  it('names the Idempotency-Key of every POST, of nothing else', async () => {
    const { body } = await api.call('GET', '/openapi.json');
    const paths = body['paths'] as Record<string, Record<string, { parameters?: { $ref?: string }[] }>>;
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { parameters = [] }] of Object.entries(operations)) {
        const takesKey = parameters.some(({ $ref }) => $ref === '#/components/parameters/Idempotency-Key');
        expect([method, path, takesKey]).toEqual([method, path, method === 'post']);
      }
    }
    expect(body).toMatchObject({
      components: { parameters: { 'Idempotency-Key': { in: 'header', required: false } } },
    });
  });
});
