import { randomUUID } from 'node:crypto';
import { createAdministrationHttpApi } from '@tracking/administration';
import type { Environment } from '@tracking/contracts';
import { ACCESS_TO_ALL_KEYS } from '@tracking/identity';
import { createResponseCheckingCaller, startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

const PASSWORD = 'a long password for tests';
const OTHER = 'two horses in the sun';
const NO_LINK = 'x'.repeat(43);

let api: Api;
let admin: string;
let operator: ReturnType<typeof createResponseCheckingCaller>;
let closeAdministration: () => Promise<void>;
beforeAll(async () => {
  api = await startApi();
  admin = await api.key('admin');
  const { readModels, logger } = api.dependencies;
  const administration = await createAdministrationHttpApi({
    identity: api.identity,
    idempotency: api.dependencies.idempotency,
    appUrl: 'https://app.example',
    readModels,
    logger,
  });
  await administration.listen(0, '127.0.0.1');
  operator = createResponseCheckingCaller(await administration.getUrl());
  closeAdministration = () => administration.close();
});
afterAll(async () => {
  await closeAdministration();
  await api.stop();
});

let made = 0;
const newEmail = () => `jo${(made += 1)}@example.com`;
const invite = (fields: object = {}, key = admin): Promise<ApiResponse> =>
  api.call('POST', '/v1/users', { key, json: { email: newEmail(), role: 'operator', ...fields } });
const post = (id: unknown, action: string, key = admin): Promise<ApiResponse> =>
  api.call('POST', `/v1/users/${String(id)}/${action}`, { key });
const tokenIn = (url: unknown): string => {
  const [address, token] = String(url).split('#');
  expect(address).toBe('https://app.example/invitation');
  return String(token);
};
const use = (token: string, json: object = {}): Promise<ApiResponse> =>
  api.call('POST', `/v1/invitations/${token}`, { json: { name: 'Jo', password: PASSWORD, ...json } });
/** An active user. */
async function join(role = 'operator') {
  const { body } = await invite({ role });
  const token = tokenIn(body['invitation_url']);
  return { ...(await use(token)).body, token } as {
    readonly id: string;
    readonly email: string;
    readonly token: string;
  };
}

describe('users', () => {
  it('are invited, join by the link once, are got and listed', async () => {
    const email = newEmail();
    const invited = await invite({ email, role: 'viewer' });
    expect([invited.status, invited.headers.get('etag')]).toEqual([201, '"1"']);
    const { invitation_url, invitation_expires_at, warnings, ...user } = invited.body;
    expect(invited.headers.get('location')).toBe(`https://api.example/v1/users/${String(user['id'])}`);
    expect(warnings).toEqual([]);
    expect(user).toEqual({
      id: expect.stringMatching(/^usr_/),
      workspace_id: await api.workspace(),
      name: null,
      email,
      role: 'viewer',
      status: 'invited',
      created_by: { type: 'service_account', id: expect.stringMatching(/^sva_/) },
      created_at: expect.any(String),
      last_seen_at: null,
      version: 1,
    });
    const token = tokenIn(invitation_url);
    const told = await api.call('GET', `/v1/invitations/${token}`);
    expect([told.status, told.body]).toEqual([
      200,
      {
        purpose: 'invitation',
        email,
        workspace: { id: await api.workspace(), name: 'default' },
        role: 'viewer',
        expires_at: invitation_expires_at,
      },
    ]);
    const joined = await use(token);
    expect([joined.status, joined.body]).toEqual([
      200,
      { ...user, name: 'Jo', status: 'active', version: 2, warnings: [] },
    ]);
    expect(joined.headers.get('etag')).toBe('"2"');
    expect(joined.headers.get('consistency-token')).not.toBeNull();
    const again = await Promise.all([use(token), api.call('GET', `/v1/invitations/${token}`), use(NO_LINK), use('x')]);
    expect(again.map(({ status, body }) => [status, (body['error'] as { code?: string }).code])).toEqual(
      Array.from({ length: 4 }, () => [404, 'not_found']),
    );
    const got = await api.call('GET', `/v1/users/${String(user['id'])}`, { key: admin });
    expect([got.headers.get('etag'), got.body['status']]).toEqual(['"2"', 'active']);
    const { body: listed } = await api.call('GET', '/v1/users?limit=200', { key: admin });
    expect(listed['data']).toContainEqual(got.body);
  });

  it('are refused with every fault of the invitation at once', async () => {
    const wrong = await invite({ email: 'jo', role: 'root' });
    expect(wrong.status).toBe(400);
    expect(wrong.body).toMatchObject({ error: { details: [{ param: 'email' }, { param: 'role' }] } });
    const half = await invite({ email: '\ud800@example.com' });
    expect([half.status, half.body]).toMatchObject([400, { error: { param: 'email' } }]);
    const { body } = await invite();
    const twice = await invite({ email: String(body['email']).toUpperCase() });
    expect([twice.status, twice.body]).toMatchObject([409, { error: { code: 'user_exists' } }]);
    const elsewhere = await invite({ email: body['email'] }, await api.key('admin', 'live', 'elsewhere'));
    expect(elsewhere.status).toBe(201);
  });

  it('name what is wrong with a password, and keep the link good', async () => {
    const { body } = await invite();
    const token = tokenIn(body['invitation_url']);
    for (const password of ['short', 'Password123', String(body['email'])]) {
      const refused = await use(token, { password });
      expect([refused.status, refused.body]).toMatchObject([400, { error: { param: 'password' } }]);
      expect(refused.text).not.toContain(password);
    }
    expect((await use(token, { name: undefined })).body).toMatchObject({ error: { param: 'name' } });
    expect((await use(token)).status).toBe(200);
  });

  it('are changed where they are as If-Match says', async () => {
    const { id } = await join();
    const patch = (json: object, etag?: string) =>
      api.call('PATCH', `/v1/users/${id}`, { key: admin, json, headers: etag ? { 'if-match': etag } : {} });
    const changed = await patch({ name: 'Johanna', role: 'developer' }, '"2"');
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, '"3"']);
    expect(changed.body).toMatchObject({ name: 'Johanna', role: 'developer', version: 3 });
    const late = await patch({ role: 'viewer' }, '"2"');
    expect([late.status, late.headers.get('etag'), late.body]).toMatchObject([
      412,
      '"3"',
      { error: { code: 'precondition_failed' } },
    ]);
    expect((await patch({ role: null })).status).toBe(400);
    expect((await patch({ email: 'new@example.com' })).body['warnings']).toMatchObject([{ param: 'email' }]);
  });

  it('are deactivated and reactivated', async () => {
    const { id } = await join();
    const ended = await post(id, 'deactivate');
    expect([ended.status, ended.body['status']]).toEqual([200, 'deactivated']);
    expect((await post(id, 'reset_password')).body).toMatchObject({ error: { code: 'user_not_active' } });
    expect((await post(id, 'reactivate')).body).toMatchObject({ status: 'active', invitation_url: null });
  });

  it('are invited again where they are reactivated before they ever set a password', async () => {
    const { body: invited } = await invite();
    await post(invited['id'], 'deactivate');
    const { body } = await post(invited['id'], 'reactivate');
    expect(body).toMatchObject({ status: 'invited', invitation_expires_at: expect.any(String) });
    expect((await use(tokenIn(invited['invitation_url']))).status).toBe(404);
    expect((await use(tokenIn(body['invitation_url']))).body).toMatchObject({ id: invited['id'], status: 'active' });
  });

  it('get a link for a forgotten password, or another invitation', async () => {
    const { id, email } = await join();
    const reset = await post(id, 'reset_password');
    expect(reset.body).toEqual({
      reset_url: expect.any(String),
      expires_at: expect.any(String),
      revoked_api_keys_count: 0,
      warnings: [],
    });
    const token = tokenIn(reset.body['reset_url']);
    const told = await api.call('GET', `/v1/invitations/${token}`);
    expect(told.body).toMatchObject({ purpose: 'password_reset', email });
    expect((await use(token, { name: undefined, password: OTHER })).body).toMatchObject({ id, name: 'Jo' });
    const { body } = await invite();
    const another = tokenIn((await post(body['id'], 'reset_password')).body['reset_url']);
    expect((await api.call('GET', `/v1/invitations/${another}`)).body['purpose']).toBe('invitation');
    expect((await use(tokenIn(body['invitation_url']))).status).toBe(404);
  });

  it('lose their keys with a password reset that asks for it, each with an entry in the audit log', async () => {
    const { id, email } = await join('developer');
    const command = async () => ({
      id: randomUUID(),
      at: new Date().toISOString(),
      actor: { type: 'user', id } as const,
      workspace_id: await api.workspace(),
    });
    const newKey = async (environment: Environment) => {
      const owner = { type: 'user', id } as const;
      const reach = { ...ACCESS_TO_ALL_KEYS, user_id: id };
      return (await api.identity.keys.createKey(await command(), reach, { name: 'script', environment, owner })).after;
    };
    const works = async ({ key }: { readonly key: string }) => (await api.call('GET', '/v1/session', { key })).status;
    const keys = [await newKey('live'), await newKey('test')];
    const count = async (json?: object, headers = {}) => {
      const path = `/v1/users/${id}/reset_password`;
      const { status, body } = await api.call('POST', path, { key: admin, ...(json && { json }), headers });
      return [status, body['revoked_api_keys_count']];
    };
    expect([await count(), await count({}), await count({ revoke_api_keys: false })]).toEqual(
      [1, 2, 3].map(() => [200, 0]),
    );
    expect(await Promise.all(keys.map(works))).toEqual([200, 200]);
    expect((await count({ revoke_api_keys: 'yes' }))[0]).toBe(400);
    const { headers } = await api.call('GET', `/v1/users/${id}`, { key: admin });
    expect(await count({ revoke_api_keys: true }, { 'if-match': headers.get('etag') ?? '' })).toEqual([200, 2]);
    expect(await Promise.all(keys.map(works))).toEqual([401, 401]);
    expect(await count({ revoke_api_keys: true })).toEqual([200, 0]);
    const { body } = await api.call('GET', '/v1/audit_log?type=api_key.revoked', { key: admin });
    const entries = body['data'] as unknown as { target: { id: string }; outcome: string }[];
    expect(entries.map(({ target, outcome }) => [target.id, outcome]).sort()).toEqual(
      keys.map((key) => [key.id, 'done']).sort(),
    );

    const another = await newKey('live');
    const reset = { workspace: 'default', email, revoke_api_keys: true };
    const { body: done } = await operator('POST', '/administration/users/reset_password', { json: reset });
    expect([done['revoked_api_keys_count'], await works(another)]).toEqual([1, 401]);
  });

  it('lose their other keys if one no longer exists when it is revoked', async () => {
    const { id } = await join('developer');
    const { keys } = api.identity;
    const owner = { type: 'user', id } as const;
    const command = {
      id: randomUUID(),
      at: new Date().toISOString(),
      actor: owner,
      workspace_id: await api.workspace(),
    };
    const reach = { ...ACCESS_TO_ALL_KEYS, user_id: id };
    const { after: key } = await keys.createKey(command, reach, { name: 'script', environment: 'live', owner });
    keys.listKeyIdsOfOwnerToRevoke = () => Promise.resolve(['key_gone', key.id]);
    try {
      const reset = { key: admin, json: { revoke_api_keys: true } };
      const { status, body } = await api.call('POST', `/v1/users/${id}/reset_password`, reset);
      expect([status, body['revoked_api_keys_count']]).toEqual([200, 1]);
    } finally {
      Reflect.deleteProperty(keys, 'revocable');
    }
    expect((await api.call('GET', '/v1/session', { key: key.key })).status).toBe(401);
    const path = '/v1/audit_log?type=user.password_reset_requested&limit=1';
    const { body: log } = await api.call('GET', path, { key: admin });
    expect(log['data']).toEqual([expect.objectContaining({ target: { type: 'user', id }, outcome: 'done' })]);
  });

  it('keep an admin', async () => {
    const key = await api.key('admin', 'live', 'small');
    const { body } = await invite({ role: 'admin' }, key);
    await use(tokenIn(body['invitation_url']));
    const path = `/v1/users/${String(body['id'])}`;
    const demoted = await api.call('PATCH', path, { key, json: { role: 'viewer' } });
    expect([demoted.status, demoted.body]).toMatchObject([409, { error: { code: 'last_admin' } }]);
    const ended = await api.call('POST', `${path}/deactivate`, { key });
    expect([ended.status, ended.body]).toMatchObject([409, { error: { code: 'last_admin' } }]);
    expect((await api.call('GET', path, { key })).body).toMatchObject({ role: 'admin', status: 'active', version: 2 });
  });

  it('of another workspace do not exist', async () => {
    const { id } = await join();
    const key = await api.key('admin', 'live', 'elsewhere');
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/deactivate'],
      ['POST', '/reactivate'],
      ['POST', '/reset_password'],
    ] as const) {
      const answer = await api.call(method, `/v1/users/${id}${path}`, { key, ...(method !== 'GET' && { json: {} }) });
      expect([method, path, answer.status]).toEqual([method, path, 404]);
    }
  });
});

describe('what is secret about users', () => {
  it('is in no log line and in no entry of the audit log', async () => {
    const { id, token } = await join();
    const reset = tokenIn((await post(id, 'reset_password')).body['reset_url']);
    await use(reset, { password: OTHER });
    await Promise.all([
      api.call('DELETE', `/v1/invitations/${token}`),
      api.call('GET', `/v1/invitations/${token}/more?x=1`),
      api.call('GET', `/v1/invit%61tions/${token}`),
      api.call('GET', `/v1/invitations/${token}?unknown=1`),
      api.call('GET', `/v1//invitations/${token}`),
      api.call('GET', `/v1/%69nvitations/${token}`),
      api.call('GET', `/v1/invitations%2F${token}`),
      api.call('GET', `/v1/invitation/${token}`),
      api.call('GET', `/v1/users/${token}`, { key: admin }),
    ]);
    const { text: audit } = await api.call('GET', '/v1/audit_log?limit=200', { key: admin });
    const logged = JSON.stringify(api.lines);
    expect(logged).toContain('/v1/invitations/:token');
    for (const secret of [token, reset, PASSWORD, OTHER]) {
      expect(logged).not.toContain(secret);
      expect(audit).not.toContain(secret);
    }
    expect(audit).not.toContain('argon2');
  });

  it('changes with an entry each in the audit log, by who did it', async () => {
    const { id } = await join('viewer');
    await api.call('PATCH', `/v1/users/${id}`, { key: admin, json: { role: 'developer' } });
    await use(tokenIn((await post(id, 'reset_password')).body['reset_url']), { password: OTHER });
    await post(id, 'deactivate');
    const { body } = await api.call('GET', '/v1/audit_log?limit=200', { key: admin });
    const entries = (body['data'] as unknown as { type: string; target: object; actor: { type: string; id: string } }[])
      .filter(({ target }) => JSON.stringify(target).includes(id))
      .map(({ type, actor }) => [type, actor.id === id ? 'themselves' : actor.type]);
    expect(entries).toEqual([
      ['user.deactivated', 'service_account'],
      ['user.password_changed', 'themselves'],
      ['user.password_reset_requested', 'service_account'],
      ['user.changed', 'service_account'],
      ['user.joined', 'themselves'],
      ['user.invited', 'service_account'],
    ]);
  });
});

describe('the first admin', () => {
  it('tells an e-mail with the link', async () => {
    const { token = '' } = (await api.identity.firstAdmin.getFirstAdminLink()) ?? {};
    const told = await api.call('GET', `/v1/invitations/${token}`);
    expect(told.body).toMatchObject({
      purpose: 'first_admin',
      email: null,
      role: 'admin',
      workspace: { name: 'default' },
    });
    expect((await use(token)).body).toMatchObject({ error: { param: 'email' } });
    const email = newEmail();
    expect((await use(token, { email: 'jo' })).body).toMatchObject({ error: { param: 'email' } });
    expect((await use(token, { email })).body).toMatchObject({ email, role: 'admin', status: 'active' });
    expect((await use(token, { email })).status).toBe(404);
  });
});

describe('operators', () => {
  const ask = (action: string, json: object) =>
    operator('POST', `/administration/users${action}`, { json: { workspace: 'default', ...json } });

  it('create users who are active at once, or invited', async () => {
    const email = newEmail();
    const created = await ask('', { email, role: 'developer', password: PASSWORD });
    expect([created.status, created.body]).toMatchObject([201, { email, status: 'active', invitation_url: null }]);
    const invited = await ask('', { email: newEmail(), role: 'viewer' });
    expect(invited.body).toMatchObject({ status: 'invited', invitation_expires_at: expect.any(String) });
    expect((await use(tokenIn(invited.body['invitation_url']))).body).toMatchObject({ status: 'active' });
    const refused = await ask('', { email: newEmail(), role: 'viewer', password: 'password123' });
    expect([refused.status, refused.body]).toMatchObject([400, { error: { param: 'password' } }]);
    expect((await ask('', { email, role: 'viewer' })).body).toMatchObject({ error: { code: 'user_exists' } });
    const { body } = await operator('GET', '/administration/users?workspace=default');
    expect(body['data']).toContainEqual(expect.objectContaining({ email, role: 'developer' }));
  });

  it('set roles, deactivate and reset passwords by e-mail', async () => {
    const { email, id } = await join();
    const named = { email: email.toUpperCase() };
    expect((await ask('/set_role', { ...named, role: 'viewer' })).body).toMatchObject({ id, role: 'viewer' });
    const reset = await ask('/reset_password', named);
    expect((await use(tokenIn(reset.body['reset_url']))).body).toMatchObject({ id });
    expect((await ask('/deactivate', named)).body).toMatchObject({ id, status: 'deactivated' });
    const nobody = await ask('/deactivate', { email: 'nobody@example.com' });
    expect([nobody.status, nobody.text]).toEqual([404, expect.stringContaining('nobody@example.com')]);
  });

  it('can name a stored address with a hidden character, but not create one', async () => {
    const email = 'j\u200bo@example.com';
    for (const action of ['/set_role', '/deactivate', '/reset_password']) {
      const json = { email, ...(action === '/set_role' && { role: 'viewer' }) };
      expect([action, (await ask(action, json)).status]).toEqual([action, 404]);
    }
    for (const more of [{}, { password: PASSWORD }]) {
      const refused = await ask('', { email, role: 'viewer', ...more });
      expect([refused.status, refused.body]).toMatchObject([400, { error: { param: 'email' } }]);
    }
  });
});
