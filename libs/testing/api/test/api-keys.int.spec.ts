import { randomUUID } from 'node:crypto';
import type { JsonObject, Role } from '@tracking/contracts';
import { ACCESS_TO_ALL_KEYS } from '@tracking/identity';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

const KEYS = '/v1/api_keys';
let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

interface Person {
  readonly id: string;
  readonly key: string;
}

/** An active user of the workspace `default`, and a key of theirs. */
async function person(role: Role, environment: 'live' | 'test' = 'live'): Promise<Person> {
  const workspace_id = await api.workspace();
  const actor = { type: 'system', id: 'test' } as const;
  const command = { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id };
  const user = { email: `${command.id}@example.com`, role, password: 'some long password' };
  const { id } = (await api.identity.users.createUser(command, user)).after;
  const owner = { type: 'user', id } as const;
  const { key } = (
    await api.identity.keys.createKey(command, ACCESS_TO_ALL_KEYS, { name: 'first', environment, owner })
  ).after;
  return { id, key };
}
const create = (key: string, fields: object = {}): Promise<ApiResponse> =>
  api.call('POST', KEYS, { key, json: { name: 'TMS', environment: 'live', ...fields } });
const post = (key: string, id: unknown, action: string, json?: object): Promise<ApiResponse> =>
  api.call('POST', `${KEYS}/${String(id)}/${action}`, { key, ...(json && { json }) });
const get = (key: string, id: unknown): Promise<ApiResponse> => api.call('GET', `${KEYS}/${String(id)}`, { key });
const listed = async (key: string): Promise<readonly JsonObject[]> =>
  (await api.call('GET', `${KEYS}?limit=200`, { key })).body['data'] as JsonObject[];
const status = async (key: unknown): Promise<number> =>
  (await api.call('GET', '/v1/milestone_codes', { key: String(key) })).status;
const errorOf = ({ status: code, body }: ApiResponse) => [code, (body['error'] as JsonObject | undefined)?.['code']];

async function account(role: Role): Promise<string> {
  const json = { name: role, role };
  return String((await api.call('POST', '/v1/service_accounts', { key: await api.key('admin'), json })).body['id']);
}

describe('a personal key', () => {
  it.each(['viewer', 'operator', 'feed', 'developer', 'admin'] as const)(
    'is created with a key of a %s',
    async (role) => {
      const { id, key } = await person(role);
      const made = await create(key, { environment: 'test', expires_at: '2999-01-01T00:00:00+01:00' });
      expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
      expect(made.headers.get('location')).toBe(`https://api.example${KEYS}/${String(made.body['id'])}`);
      const { key: secret, warnings, ...shown } = made.body;
      expect(secret).toMatch(/^sk_test_[0-9A-Za-z]{43}$/);
      expect(warnings).toEqual([]);
      expect(shown).toEqual({
        id: expect.stringMatching(/^key_/),
        workspace_id: await api.workspace(),
        name: 'TMS',
        environment: 'test',
        prefix: String(secret).slice(0, 12),
        last_four: String(secret).slice(-4),
        owner: { type: 'user', id },
        role,
        max_role: null,
        created_by: { type: 'user', id },
        created_at: expect.any(String),
        expires_at: '2998-12-31T23:00:00.000Z',
        last_used_at: null,
        revoked_at: null,
        rotated_to: null,
        version: 1,
      });
      expect(await status(secret)).toBe(200);
      const got = await get(key, shown['id']);
      expect([got.headers.get('etag'), { ...got.body, last_used_at: null }]).toEqual(['"1"', shown]);
    },
  );

  it('cannot belong to a service account', async () => {
    expect((await create(await api.key('developer'))).body['error']).toMatchObject({
      code: 'validation_failed',
      param: 'service_account_id',
    });
  });

  it('is the only kind that viewers, operators and feeds see', async () => {
    await api.key('admin');
    for (const role of ['viewer', 'operator', 'feed'] as const) {
      const { id, key } = await person(role);
      await create(key);
      expect((await listed(key)).map(({ owner }) => owner)).toEqual([1, 2].map(() => ({ type: 'user', id })));
    }
  });
});

describe('keys of service accounts', () => {
  it('are created, listed and revoked by developers, except for admins', async () => {
    const { key } = await person('developer');
    const made = await create(key, { environment: 'test', service_account_id: await account('feed') });
    expect(made.body).toMatchObject({ role: 'feed', max_role: 'developer', owner: { type: 'service_account' } });
    expect(await listed(key)).toContainEqual(expect.objectContaining({ id: made.body['id'] }));
    expect((await post(key, made.body['id'], 'revoke')).status).toBe(200);

    const admins = await account('admin');
    expect(errorOf(await create(key, { service_account_id: admins }))).toEqual([403, 'permission_denied']);
    const by = await person('admin');
    const theirs = (await create(by.key, { service_account_id: admins })).body['id'];
    for (const answer of [
      await get(key, theirs),
      await post(key, theirs, 'revoke'),
      await post(key, theirs, 'rotate'),
    ]) {
      expect(errorOf(answer)).toEqual([404, 'not_found']);
    }
    expect((await listed(key)).map(({ role, owner }) => [(owner as JsonObject)['type'], role])).not.toContainEqual([
      'service_account',
      'admin',
    ]);
  });

  it('of a developer do not gain rights when the account is promoted', async () => {
    const [{ key: developer }, { key: admin }] = [await person('developer'), await person('admin')];
    const id = await account('viewer');
    const [theirs, own] = [
      await create(admin, { service_account_id: id }),
      await create(developer, { service_account_id: id }),
    ];
    expect([theirs.body['max_role'], own.body['max_role']]).toEqual([null, 'developer']);
    const rotated = await post(admin, own.body['id'], 'rotate', { grace_seconds: 60 });
    expect(rotated.body['max_role']).toBe('developer');
    await api.call('PATCH', `/v1/service_accounts/${id}`, { key: admin, json: { role: 'admin' } });
    const permissions = async ({ body }: ApiResponse) =>
      (await api.call('GET', '/v1/session', { key: String(body['key']) })).body['permissions'];
    const users = async ({ body }: ApiResponse) =>
      (await api.call('GET', '/v1/users', { key: String(body['key']) })).status;
    expect([await users(theirs), await users(own), await users(rotated)]).toEqual([200, 403, 403]);
    expect(await permissions(theirs)).toContain('workspace:admin');
    expect(await permissions(own)).toEqual(['shipments:read', 'documents:read', 'webhooks:manage', 'keys:manage']);
  });

  it('are neither created nor rotated by a developer if the role of the account exceeds the own one', async () => {
    const [{ key: developer }, { key: admin }] = [await person('developer'), await person('admin')];
    for (const role of ['operator', 'feed'] as const) {
      const service_account_id = await account(role);
      expect(errorOf(await create(developer, { service_account_id }))).toEqual([403, 'permission_denied']);
      const { id } = (await create(admin, { service_account_id })).body;
      expect(errorOf(await post(developer, id, 'rotate'))).toEqual([403, 'permission_denied']);
      expect((await post(developer, id, 'revoke')).status).toBe(200);
    }
  });

  it.each(['viewer', 'operator', 'feed'] as const)('are not available to a %s', async (role) => {
    const { key } = await person(role);
    const id = await account('viewer');
    const theirs = (await create((await person('admin')).key, { service_account_id: id })).body['id'];
    expect(errorOf(await create(key, { service_account_id: id }))).toEqual([403, 'permission_denied']);
    expect(errorOf(await get(key, theirs))).toEqual([404, 'not_found']);
    expect(errorOf(await post(key, theirs, 'rotate', { grace_seconds: 0 }))).toEqual([404, 'not_found']);
    expect(errorOf(await post(key, theirs, 'revoke'))).toEqual([404, 'not_found']);
  });

  it('are not created for a deactivated or missing service account', async () => {
    const { key } = await person('admin');
    const id = await account('feed');
    await api.call('POST', `/v1/service_accounts/${id}/deactivate`, { key });
    expect(errorOf(await create(key, { service_account_id: id }))).toEqual([409, 'user_not_active']);
    expect(errorOf(await create(key, { service_account_id: 'sva_none' }))).toEqual([404, 'not_found']);
  });
});

describe('keys of other users', () => {
  it('are listed and revoked by admins, and rotated only by their users', async () => {
    const [admin, ann] = [await person('admin'), await person('viewer')];
    const { id, key } = (await create(ann.key)).body;
    expect(await listed(admin.key)).toContainEqual(expect.objectContaining({ id }));
    expect(errorOf(await post(admin.key, id, 'rotate', { grace_seconds: 0 }))).toEqual([403, 'permission_denied']);
    expect(await status(key)).toBe(200);
    expect((await post(admin.key, id, 'revoke')).status).toBe(200);
    expect(await status(key)).toBe(401);
  });

  it('are not found by other users or other workspaces', async () => {
    const ann = await person('operator');
    const { id } = (await create(ann.key)).body;
    const others = [(await person('developer')).key, (await person('operator')).key, await api.key('developer')];
    for (const key of [...others, await api.key('admin', 'live', 'elsewhere')]) {
      expect((await get(key, id)).status).toBe(404);
      expect((await post(key, id, 'rotate')).status).toBe(404);
      expect((await post(key, id, 'revoke')).status).toBe(404);
      expect((await listed(key)).map((one) => one['id'])).not.toContain(id);
    }
  });
});

describe('a test key', () => {
  it('cannot create a live key', async () => {
    const ann = await person('admin', 'test');
    expect(errorOf(await create(ann.key))).toEqual([403, 'permission_denied']);
    const made = await create(ann.key, { environment: 'test' });
    expect(made.status).toBe(201);
    const live = (await create((await person('admin')).key)).body;
    expect((await get(ann.key, live['id'])).status).toBe(404);
    expect((await post(ann.key, live['id'], 'revoke')).status).toBe(404);
    expect(new Set((await listed(ann.key)).map(({ environment }) => environment))).toEqual(new Set(['test']));
  });
});

describe('rotation', () => {
  it('returns the new key once, and keeps the old key valid during the grace period', async () => {
    const { key } = await person('operator');
    const old = (await create(key)).body;
    const rotated = await post(key, old['id'], 'rotate', { grace_seconds: 604_800 });
    expect([rotated.status, rotated.headers.get('etag')]).toEqual([201, '"1"']);
    expect(rotated.headers.get('location')).toContain(String(rotated.body['id']));
    expect(rotated.body).toMatchObject({ name: 'TMS', owner: old['owner'], environment: 'live', warnings: [] });
    expect([await status(old['key']), await status(rotated.body['key'])]).toEqual([200, 200]);
    const after = (await get(key, old['id'])).body;
    const created = Date.parse(String(rotated.body['created_at']));
    expect(after).toMatchObject({ rotated_to: rotated.body['id'], version: 2 });
    expect(Date.parse(String(after['expires_at'])) - created).toBe(604_800_000);
    expect(errorOf(await post(key, old['id'], 'rotate'))).toEqual([409, 'key_not_active']);
    expect(JSON.stringify(await listed(key))).not.toContain(String(rotated.body['key']).slice(12, -4));
  });

  it('ends the old key immediately without a grace period', async () => {
    const { key } = await person('operator');
    const old = (await create(key)).body;
    const rotated = await post(key, old['id'], 'rotate');
    expect([await status(old['key']), await status(rotated.body['key'])]).toEqual([401, 200]);
  });

  it('accepts null for no grace period', async () => {
    const { key } = await person('operator');
    const old = (await create(key)).body;
    const rotated = await post(key, old['id'], 'rotate', { grace_seconds: null });
    expect([rotated.status, await status(old['key'])]).toEqual([201, 401]);
  });

  it.each([-1, 604_801, 0.5, '60'])('refuses a grace period of %j', async (grace_seconds) => {
    const { key } = await person('operator');
    const { id } = (await create(key)).body;
    const answer = await post(key, id, 'rotate', { grace_seconds } as object);
    expect(answer.body['error']).toMatchObject({ code: 'validation_failed', param: 'grace_seconds' });
  });

  it('is refused if If-Match does not match', async () => {
    const { key } = await person('operator');
    const { id } = (await create(key)).body;
    const rotate = (etag: string) =>
      api.call('POST', `${KEYS}/${String(id)}/rotate`, { key, json: {}, headers: { 'if-match': etag } });
    const refused = await rotate('"7"');
    expect([refused.status, refused.headers.get('etag')]).toEqual([412, '"1"']);
    expect((await rotate('"1"')).status).toBe(201);
  });
});

describe('revocation', () => {
  it('ends a key permanently, and returns the same result again', async () => {
    const { key } = await person('operator');
    const made = (await create(key)).body;
    const [first, again] = [await post(key, made['id'], 'revoke'), await post(key, made['id'], 'revoke')];
    expect([first.status, again.status, await status(made['key'])]).toEqual([200, 200, 401]);
    expect(first.body).toMatchObject({ revoked_at: expect.any(String), version: 2, warnings: [] });
    expect(again.body).toEqual(first.body);
    expect(errorOf(await post(key, made['id'], 'rotate'))).toEqual([409, 'key_not_active']);
  });

  it('can revoke the key of the request itself', async () => {
    const { key } = await person('viewer');
    const [own] = await listed(key);
    expect((await post(key, own?.['id'], 'revoke')).status).toBe(200);
    const refused = await get(key, own?.['id']);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });
});

describe('creation', () => {
  it.each<[object, string]>([
    [{ name: undefined }, 'name'],
    [{ environment: 'prod' }, 'environment'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ service_account_id: 'usr_1' }, 'service_account_id'],
  ])('refuses %j', async (fields, param) => {
    const { key } = await person('admin');
    expect((await create(key, fields)).body['error']).toMatchObject({ code: 'validation_failed', param });
  });
});

it('every change of a key is in the audit log, without the key', async () => {
  const [admin, ann] = [await person('admin'), await person('feed')];
  const old = (await create(ann.key)).body;
  const next = (await post(ann.key, old['id'], 'rotate', { grace_seconds: 60 })).body;
  await post(admin.key, next['id'], 'revoke');
  const { body, text } = await api.call('GET', '/v1/audit_log', { key: admin.key });
  const entries = (body['data'] as JsonObject[]).slice(0, 3);
  expect(
    entries.map(({ type, target, actor }) => [type, (target as JsonObject)['id'], (actor as JsonObject)['id']]),
  ).toEqual([
    ['api_key.revoked', next['id'], admin.id],
    ['api_key.rotated', old['id'], ann.id],
    ['api_key.created', old['id'], ann.id],
  ]);
  expect(entries[1]?.['changes']).toMatchObject({ rotated_to: { from: null, to: next['id'] } });
  for (const { key } of [old, next]) expect(text).not.toContain(String(key).slice(12, -4));
});

it('a key has the current permissions of its user', async () => {
  const { id, key } = await person('viewer');
  const command = { id: randomUUID(), at: new Date().toISOString(), actor: { type: 'system', id: 'test' } as const };
  const workspace_id = await api.workspace();
  const upsert = async () =>
    (await api.call('POST', '/v1/shipments', { key, json: { external_id: randomUUID() } })).status;
  expect(await upsert()).toBe(403);
  await api.identity.users.changeUser({ ...command, workspace_id }, id, { role: 'operator' });
  expect(await upsert()).toBe(201);
  await api.identity.users.deactivateUser({ ...command, id: randomUUID(), workspace_id }, id);
  expect(await upsert()).toBe(401);
});
