import { argon2, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { JsonObject, Role } from '@tracking/contracts';
import { IdentityServices } from '@tracking/identity';
import { eventually } from '@tracking/testing';
import { startApi } from './start-api.ts';
import type { Api, ApiTestRequest } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

const PASSWORD = 'violet harbour crane';
const OWN = { 'x-requested-with': 'fetch' };
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';

const deriveKey = promisify(argon2);

let api: Api;
let users = 0;
let addresses = 0;
/** Everything that was answered. */
const answers: string[] = [];

beforeAll(async () => {
  api = await startApi({ settings: { trustedProxies: ['127.0.0.1'] } });
});
afterAll(() => api.stop());

/** A stranger each: tries are bounded by address. */
const newAddress = () => {
  addresses += 1;
  return { 'x-forwarded-for': `10.0.${Math.floor(addresses / 250)}.${addresses % 250}` };
};
async function newUser(role: Role = 'viewer', workspace = 'default') {
  users += 1;
  const email = `user-${users}@example.com`;
  const found =
    (await api.identity.workspaces.findWorkspaceByName(workspace)) ??
    (await api.identity.workspaces.createWorkspace(workspace));
  const actor = { type: 'system', id: 'test' } as const;
  const command = { id: randomUUID(), at: new Date().toISOString(), actor, workspace_id: found.id };
  const { after } = await api.identity.users.createUser(command, { email, role, password: PASSWORD });
  return { ...after, email, command: () => ({ ...command, id: randomUUID() }) };
}
async function call(method: string, path: string, options: ApiTestRequest = {}): Promise<ApiResponse> {
  const answer = await api.call(method, path, options);
  answers.push(answer.text);
  return answer;
}
const signIn = (
  email: string,
  fields: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiResponse> =>
  call('POST', '/v1/session', {
    json: { email, password: PASSWORD, ...fields },
    headers: { ...OWN, ...newAddress(), 'user-agent': FIREFOX, ...headers },
  });
/** The header of a browser that got this answer. */
const cookieOf = ({ headers }: ApiResponse) => ({ cookie: String(headers.get('set-cookie')).split(';', 1)[0] ?? '' });
async function signedIn(role: Role = 'viewer') {
  const user = await newUser(role);
  const answer = await signIn(user.email);
  expect(answer.status).toBe(200);
  return { user, cookie: cookieOf(answer), own: { ...OWN, ...cookieOf(answer) } };
}
const codeOf = ({ body }: ApiResponse) => (body['error'] as JsonObject | undefined)?.['code'];

describe('signing in', () => {
  it('answers who one is, and a cookie for this host alone that no script reads', async () => {
    const user = await newUser('operator');
    const { status, headers, body } = await signIn(user.email.toUpperCase());
    expect([status, body]).toEqual([
      200,
      {
        user: { id: user.id, name: null, email: user.email },
        service_account: null,
        workspace: { id: await api.workspace(), name: 'default' },
        role: 'operator',
        permissions: expect.arrayContaining(['shipments:write']),
        environment: 'live',
        expires_at: expect.any(String),
        warnings: [],
      },
    ]);
    const expires = new Date(String(body['expires_at'])).toUTCString();
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Expires=/,
    );
    const [session, device] = headers.getSetCookie();
    expect(session?.split('; Expires=')[1]).toBe(expires);
    expect(device).toMatch(/^__Host-device=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Expires=/);
    expect(headers.get('consistency-token')).not.toBeNull();
  });

  it('answers the same to a wrong password, and to an e-mail that nobody has', async () => {
    const user = await newUser();
    const wrong = [
      await signIn(user.email, { password: 'not the password' }),
      await signIn('nobody@example.com'),
      await signIn(user.email, { workspace: 'nowhere' }),
    ];
    const told = wrong.map(({ status, body, headers }) => {
      const { request_id: _, ...error } = body['error'] as JsonObject;
      return JSON.stringify([status, error, headers.get('set-cookie')]);
    });
    expect(new Set(told).size).toBe(1);
    expect([wrong[0]?.status, codeOf(wrong[0] as ApiResponse)]).toEqual([401, 'invalid_credentials']);
  });

  it('takes a password of blanks as any other, and none that is empty', async () => {
    const user = await newUser();
    const blanks = ' '.repeat(10);
    let own = { ...OWN, ...cookieOf(await signIn(user.email)) };
    const change = async (new_password: string, current_password = PASSWORD) => {
      const json = { current_password, new_password };
      const answer = await call('POST', '/v1/session/password', { headers: own, json });
      if (answer.status === 200) own = { ...OWN, ...cookieOf(answer) };
      return answer;
    };
    const short = await change(' '.repeat(9));
    expect([short.status, short.text]).toEqual([400, expect.stringContaining('at least 10 characters')]);
    expect((await change('')).status).toBe(400);
    expect((await change(blanks)).status).toBe(200);
    expect((await signIn(user.email, { password: blanks })).status).toBe(200);
    expect((await signIn(user.email, { password: '' })).status).toBe(400);
    expect((await change(PASSWORD, blanks)).status).toBe(200);
  });

  it('is refused to pages elsewhere, before anything is looked at', async () => {
    const { email } = await newUser();
    const foreign = await signIn(email, {}, { 'sec-fetch-site': 'cross-site' });
    const bare = await call('POST', '/v1/session', { json: { email, password: PASSWORD } });
    expect([foreign, bare].map((answer) => [answer.status, codeOf(answer)])).toEqual([
      [403, 'csrf'],
      [403, 'csrf'],
    ]);
  });

  it('is bounded by account, whether or not there is one, and ends no session', async () => {
    const { user, cookie } = await signedIn();
    for (const email of [user.email, 'nobody-at-all@example.com']) {
      const tries: ApiResponse[] = [];
      for (let each = 0; each < 12; each += 1) tries.push(await signIn(email, { password: 'wrong wrong wrong' }));
      const refused = tries.filter(({ status }) => status === 429);
      expect(tries.filter(({ status }) => status === 401).length + refused.length).toBe(12);
      expect(refused.length).toBeGreaterThanOrEqual(2);
      expect(codeOf(refused[0] as ApiResponse)).toBe('rate_limited');
      expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // Also the right one, however it is written.
    expect((await signIn(` ${user.email.toUpperCase()}`)).status).toBe(429);
    expect((await call('GET', '/v1/session', { headers: cookie })).status).toBe(200);
  });

  it('has an allowance of its own on a known device, so that strangers do not lock the user out', async () => {
    const { email } = await newUser();
    const deviceOf = ({ headers }: ApiResponse) => ({ cookie: headers.getSetCookie()[1]?.split(';', 1)[0] ?? '' });
    const known = deviceOf(await signIn(email));
    const exhaust = async (headers = {}) => {
      let tries = 0;
      while ((await signIn(email, { password: 'wrong wrong wrong' }, headers)).status === 401) tries += 1;
      return tries;
    };
    await exhaust();
    expect((await signIn(email)).status).toBe(429);
    const office = { 'x-forwarded-for': '198.51.100.77' };
    for (let n = 0; n < 31; n += 1) await signIn(`office-${n}@example.com`, {}, office);
    const another = await signIn(email, {}, { ...known, ...office });
    expect([another.status, cookieOf(another)]).toEqual([200, expect.anything()]);
    expect(deviceOf(another)).not.toEqual(known);

    const { email: other } = await newUser();
    while ((await signIn(other, { password: 'wrong wrong wrong' })).status === 401);
    expect((await signIn(other, {}, known)).status).toBe(429);
    // A device that guesses passwords uses up its allowance, not that of other devices.
    expect(await exhaust(known)).toBeLessThanOrEqual(10);
    expect((await signIn(email, {}, deviceOf(another))).status).toBe(200);
  });

  it('is bounded by address', async () => {
    const address = { 'x-forwarded-for': '198.51.100.9' };
    const tries: number[] = [];
    for (let each = 0; each < 32; each += 1) tries.push((await signIn(`n-${each}@example.com`, {}, address)).status);
    expect(tries.filter((status) => status === 401).length).toBeLessThanOrEqual(30);
    expect(tries.at(-1)).toBe(429);
  });

  it('is in the audit log once an hour if refused, and never with an unknown e-mail address', async () => {
    const user = await newUser();
    const key = await api.key('admin');
    for (const email of [user.email, user.email, 'unheard-of@example.com']) {
      expect((await signIn(email, { password: 'wrong wrong wrong' })).status).toBe(401);
    }
    const found = await eventually(async () => {
      const { body } = await call('GET', `/v1/audit_log?actor=${user.id}`, { key });
      expect((body['data'] as JsonObject[])[0]?.['outcome']).toBe('done');
      return body['data'] as JsonObject[];
    });
    // Two, if the hour has just changed.
    expect(found.length).toBeLessThanOrEqual(2);
    expect(found[0]).toMatchObject({ type: 'session.refused', target: { type: 'session', id: null } });
    expect((await call('GET', '/v1/audit_log?limit=200', { key })).text).not.toContain('unheard-of');
  });

  it('names what is missing, and never what was sent', async () => {
    const answer = await call('POST', '/v1/session', { json: { email: 7, passwort: PASSWORD }, headers: OWN });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'validation_failed']);
    expect(answer.text).not.toContain(PASSWORD);
  });

  it('repeated under an Idempotency-Key returns the cookie only for the current password', async () => {
    const { email } = await newUser();
    const under = { 'idempotency-key': randomUUID() };
    const first = await signIn(email, {}, under);
    const again = await signIn(email, {}, under);
    expect([again.status, cookieOf(again)]).toEqual([200, cookieOf(first)]);
    expect((await call('GET', '/v1/sessions', { headers: cookieOf(first) })).body['data']).toHaveLength(1);
    const json = { current_password: PASSWORD, new_password: 'another violet harbour' };
    const changed = await call('POST', '/v1/session/password', { json, headers: { ...OWN, ...cookieOf(first) } });
    expect(changed.status).toBe(200);
    const late = await signIn(email, {}, under);
    expect([late.status, codeOf(late), late.headers.get('set-cookie')]).toEqual([401, 'invalid_credentials', null]);
  });

  it('repeated under an Idempotency-Key does not begin the session again after sign-out', async () => {
    const { email } = await newUser();
    const under = { 'idempotency-key': randomUUID() };
    const first = cookieOf(await signIn(email, {}, under));
    expect((await call('DELETE', '/v1/session', { headers: { ...OWN, ...first } })).status).toBe(200);
    const late = await signIn(email, {}, under);
    expect([late.status, codeOf(late), late.headers.get('set-cookie')]).toEqual([401, 'invalid_credentials', null]);
    expect((await call('GET', '/v1/session', { headers: first })).status).toBe(401);
    expect((await signIn(email)).status).toBe(200);
  });

  it('in another environment is another request under the same Idempotency-Key', async () => {
    const { email } = await newUser('developer');
    const under = { 'idempotency-key': randomUUID() };
    const [live, test] = [await signIn(email, {}, under), await signIn(email, {}, { ...under, environment: 'test' })];
    expect([live.body['environment'], test.body['environment']]).toEqual(['live', 'test']);
  });

  it('reads no more of strangers than an e-mail and a password need', async () => {
    const answer = await signIn('jo@example.com', { more: 'x'.repeat(16_384) });
    expect([answer.status, codeOf(answer)]).toEqual([413, 'body_too_large']);
  });
});

describe('a session', () => {
  it('makes requests in the environment that they name, live unless told', async () => {
    const { cookie } = await signedIn('developer');
    const who = async (headers: Readonly<Record<string, string>>) => call('GET', '/v1/session', { headers });
    const [live, test] = [await who(cookie), await who({ ...cookie, environment: 'Test' })];
    expect([live.body['environment'], test.body['environment']]).toEqual(['live', 'test']);
    expect([live, test].map(({ body }) => (body['permissions'] as string[]).includes('shipments:write'))).toEqual([
      false,
      true,
    ]);
    const wrong = await who({ ...cookie, environment: 'prod' });
    expect([wrong.status, (wrong.body['error'] as JsonObject)['param']]).toEqual([400, 'Environment']);
    expect(live.headers.get('x-ratelimit-limit')).not.toBeNull();
  });

  it('writes from pages of ours alone, and reads whatever it may', async () => {
    const { cookie, own } = await signedIn('operator');
    const json = { external_id: randomUUID() };
    expect(codeOf(await call('POST', '/v1/shipments', { headers: cookie, json }))).toBe('csrf');
    const foreign = { ...own, origin: 'https://evil.example' };
    expect(codeOf(await call('POST', '/v1/shipments', { headers: foreign, json }))).toBe('csrf');
    expect((await call('POST', '/v1/shipments', { headers: own, json })).status).toBe(201);
    expect((await call('GET', '/v1/shipments', { headers: cookie })).status).toBe(200);
    expect((await call('GET', '/v1/audit_log', { headers: cookie })).status).toBe(403);
  });

  it('is not looked at where a key is sent', async () => {
    const { own } = await signedIn('admin');
    const headers = { ...own, environment: 'nonsense' };
    const { body } = await call('GET', '/v1/session', { headers, key: await api.key('viewer', 'test') });
    expect([body['user'], body['role'], body['environment'], body['expires_at']]).toEqual([
      null,
      'viewer',
      'test',
      null,
    ]);
    expect(body['service_account']).toEqual({ id: expect.stringMatching(/^sva_/), name: 'viewer' });
    const wrong = await call('GET', '/v1/session', { headers: { ...own, authorization: 'Bearer nonsense' } });
    expect([wrong.status, codeOf(wrong)]).toEqual([401, 'invalid_api_key']);
  });

  it('that is none answers 401, and so does one that was signed out', async () => {
    const none = await call('GET', '/v1/session', { headers: { cookie: `__Host-session=${'a'.repeat(43)}` } });
    expect([none.status, codeOf(none), none.headers.get('www-authenticate')]).toEqual([
      401,
      'invalid_session',
      'Bearer',
    ]);
    const { own } = await signedIn();
    const { status, body, headers } = await call('DELETE', '/v1/session', { headers: own });
    expect([status, body]).toEqual([200, { id: expect.stringMatching(/^ses_/), deleted: true, warnings: [] }]);
    expect(headers.get('set-cookie')).toMatch(/^__Host-session=; .*Expires=Thu, 01 Jan 1970/);
    expect(codeOf(await call('GET', '/v1/session', { headers: own }))).toBe('invalid_session');
    const key = await api.key('admin');
    expect((await call('DELETE', '/v1/session', { key })).status).toBe(403);
  });

  it('lists and ends the sessions of its user', async () => {
    const { user, own } = await signedIn();
    const other = cookieOf(await signIn(user.email));
    const { body } = await call('GET', '/v1/sessions', { headers: own });
    const data = body['data'] as JsonObject[];
    expect(data.map(({ device, current }) => [device, current])).toEqual([
      ['Firefox on Windows', false],
      ['Firefox on Windows', true],
    ]);
    expect(data[0]?.['address']).toMatch(/^10\.0\./);
    const path = `/v1/sessions/${String(data[0]?.['id'])}`;
    const stranger = await signedIn();
    expect((await call('DELETE', path, { headers: stranger.own })).status).toBe(404);
    expect((await call('GET', '/v1/session', { headers: other })).status).toBe(200);
    expect((await call('DELETE', path, { headers: own })).body).toEqual({
      id: data[0]?.['id'],
      deleted: true,
      warnings: [],
    });
    expect((await call('GET', '/v1/session', { headers: other })).status).toBe(401);
    expect((await call('DELETE', path, { headers: own })).status).toBe(404);
    const log = `/v1/audit_log?type=session.ended&actor=${user.id}`;
    const entries = (await call('GET', log, { key: await api.key('admin') })).body['data'];
    expect(entries).toEqual([
      expect.objectContaining({
        actor: { type: 'user', id: user.id, name: null },
        target: { type: 'session', id: data[0]?.['id'] },
        outcome: 'done',
      }),
    ]);
  });

  it('that signs out is in the audit log', async () => {
    const { user, own } = await signedIn();
    const { body } = await call('DELETE', '/v1/session', { headers: own });
    const { items } = await api.identity.auditLog.listAuditEntries(user.workspace_id, {
      filter: { actor: user.id },
      limit: 10,
    });
    expect(items).toMatchObject([
      {
        type: 'session.ended',
        target: { type: 'session', id: body['id'] },
        changes: { device: { from: 'Firefox on Windows', to: null } },
        outcome: 'done',
      },
      {
        type: 'session.started',
        target: { type: 'session', id: body['id'] },
        changes: { device: { from: null, to: 'Firefox on Windows' } },
        outcome: 'done',
        request_id: expect.stringMatching(/^req_/),
        address: expect.stringMatching(/^10\.0\./),
      },
    ]);
  });

  it('has an ETag of what it shows, for who asks again', async () => {
    const { own } = await signedIn();
    const ask = (headers = {}) => call('GET', '/v1/session', { headers: { ...own, ...headers } });
    const etag = String((await ask()).headers.get('etag'));
    expect((await ask({ 'if-none-match': etag })).status).toBe(304);
    const renamed = await call('PATCH', '/v1/session', { headers: own, json: { name: 'Jo Visser' } });
    const after = await ask({ 'if-none-match': etag });
    expect([after.status, after.headers.get('etag')]).toEqual([200, renamed.headers.get('etag')]);
  });

  it('changes what its user is called, and nothing of what they may do', async () => {
    const { user, own } = await signedIn('viewer');
    const changed = await call('PATCH', '/v1/session', { headers: own, json: { name: ' Jo Visser ', role: 'admin' } });
    expect([changed.status, changed.body['role']]).toEqual([200, 'viewer']);
    expect(changed.body['user']).toEqual({ id: user.id, name: 'Jo Visser', email: user.email });
    expect(changed.body['warnings']).toHaveLength(1);
    const { body } = await call('GET', '/v1/session', { headers: own });
    expect(body['user']).toMatchObject({ name: 'Jo Visser' });
    const { items } = await api.identity.auditLog.listAuditEntries(user.workspace_id, {
      filter: { actor: user.id },
      limit: 10,
    });
    expect(items.map(({ type, changes }) => [type, changes])).toEqual([
      ['user.changed', { name: { from: null, to: 'Jo Visser' } }],
      ['session.started', expect.anything()],
    ]);
    for (const json of [{}, { name: null }, { name: '' }, { name: 'x'.repeat(101) }]) {
      const refused = await call('PATCH', '/v1/session', { headers: own, json });
      expect([refused.status, codeOf(refused)]).toEqual([400, 'validation_failed']);
    }
  });

  it('changes the password, which ends all others and replaces its own cookie', async () => {
    const { user, own } = await signedIn();
    const before = await call('GET', '/v1/sessions', { headers: own });
    const other = cookieOf(await signIn(user.email));
    const change = (fields: object) =>
      call('POST', '/v1/session/password', {
        headers: own,
        json: { current_password: PASSWORD, new_password: 'another harbour crane', ...fields },
      });
    const wrong = await change({ current_password: 'wrong wrong wrong' });
    expect([wrong.status, (wrong.body['error'] as JsonObject)['param']]).toEqual([400, 'current_password']);
    const short = await change({ new_password: 'short' });
    expect([short.status, (short.body['error'] as JsonObject)['param']]).toEqual([400, 'new_password']);
    expect((await call('GET', '/v1/session', { headers: other })).status).toBe(200);

    const changed = await change({});
    const { status, body } = changed;
    expect([status, body]).toEqual([200, { changed_at: expect.any(String), warnings: [] }]);
    expect(changed.headers.get('set-cookie')).toMatch(
      /^__Host-session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Expires=/,
    );
    for (const ended of [own, other]) expect((await call('GET', '/v1/session', { headers: ended })).status).toBe(401);
    const after = await call('GET', '/v1/sessions', { headers: cookieOf(changed) });
    const [session] = before.body['data'] as JsonObject[];
    expect(after.body['data']).toEqual([{ ...session, last_seen_at: expect.any(String) }]);
    // The response was lost: the former cookie does not authenticate a repeat either.
    expect(codeOf(await change({}))).toBe('invalid_session');
    expect((await signIn(user.email)).status).toBe(401);
    expect((await signIn(user.email, { password: 'another harbour crane' })).status).toBe(200);
    const key = await api.key('admin');
    const entries = (await call('GET', `/v1/audit_log?actor=${user.id}&type=user.password_changed`, { key })).body[
      'data'
    ];
    expect(entries).toEqual([
      expect.objectContaining({ type: 'user.password_changed', target: { type: 'user', id: user.id }, changes: {} }),
    ]);
  });

  it('is told in log lines by its id, never by its cookie; no password is in any', async () => {
    const { user, cookie } = await signedIn();
    await call('GET', '/v1/session', { headers: cookie });
    const line = await eventually(() => {
      const found = api.lines.find(({ fields }) => fields['route'] === '/v1/session' && fields['method'] === 'GET');
      expect(found?.fields['session_id']).toMatch(/^ses_/);
      return found;
    });
    expect(line?.fields['workspace_id']).toBe(user.workspace_id);
    const [, token = ''] = String(cookie.cookie).split('=');
    expect(token).toHaveLength(43);
    const said = answers.join('\n') + JSON.stringify(api.lines);
    for (const secret of [token, PASSWORD, 'wrong wrong wrong', 'another harbour crane'])
      expect(said).not.toContain(secret);
    const told = (await api.identity.auditLog.listAuditEntries(user.workspace_id, { filter: {}, limit: 200 })).items;
    for (const secret of [token, PASSWORD, 'argon2id']) expect(JSON.stringify(told)).not.toContain(secret);
  });
});

describe('a thousand wrong passwords', () => {
  it('from as many addresses keep one core busy at most, and nobody out of a session', async () => {
    let underWay = 0;
    let most = 0;
    let hashes = 0;
    const { user, cookie } = await signedIn();
    // The same store, with hashes that are counted.
    const counted = await IdentityServices.openIdentity({
      ...api.identityOptions,
      passwords: {
        cost: { memory: 8, passes: 1, parallelism: 1 },
        derive: async () => {
          underWay += 1;
          hashes += 1;
          most = Math.max(most, underWay);
          await new Promise(setImmediate);
          underWay -= 1;
          return new Uint8Array(32);
        },
      },
    });
    const flooded = await startApi({
      settings: { trustedProxies: ['127.0.0.1'] },
      override: () => ({ identity: counted }),
    });
    const emails = (n: number) => (n % 2 === 0 ? user.email : `guessed-${n}@example.com`);
    const flood = Array.from({ length: 1_000 }, (_, n) =>
      flooded.inject({
        method: 'POST',
        url: '/v1/session',
        payload: { email: emails(n), password: `guess number ${n}` },
        headers: { ...OWN, ...newAddress() },
      }),
    );
    const reads = await Promise.all(
      Array.from({ length: 20 }, () => flooded.call('GET', '/v1/session', { headers: cookie })),
    );
    expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
    const statuses = (await Promise.all(flood)).map(({ statusCode }) => statusCode);
    expect([...new Set(statuses)].filter((status) => ![401, 429, 503].includes(status))).toEqual([]);
    const wrong = statuses.filter((status) => status === 401).length;
    expect(wrong).toBeGreaterThan(0);
    // A place in the queue is for all hashes of a sign-in.
    expect(hashes).toBe(3 * wrong);
    expect(hashes).toBeLessThan(3_000);
    expect(most).toBe(1);
    expect((await flooded.call('GET', '/v1/session', { headers: cookie })).status).toBe(200);
    await flooded.stop();
    await counted.closeIdentityAfterPendingWrites();
  });
});

describe('sign-ins of nobody', () => {
  /** A gateway whose hashes wait until they are released. */
  async function heldGateway() {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const identity = await IdentityServices.openIdentity({
      ...api.identityOptions,
      passwords: {
        cost: { memory: 8, passes: 1, parallelism: 1 },
        derive: async (text, cost, salt) => {
          await released;
          return deriveKey('argon2id', { ...cost, message: text, nonce: salt, tagLength: 32 });
        },
      },
    });
    let begun = 0;
    let refused = 0;
    const signInThere = identity.signIn.bind(identity);
    identity.signIn = (...input) => {
      begun += 1;
      return signInThere(...input);
    };
    const gateway = await startApi({ settings: { trustedProxies: ['127.0.0.1'] }, override: () => ({ identity }) });
    const post = (email: string, headers: object) =>
      gateway.inject({
        method: 'POST',
        url: '/v1/session',
        payload: { email, password: PASSWORD },
        headers: { ...OWN, ...headers },
      });
    const attack = async (addresses: readonly string[]) => {
      const all = addresses.map(async (address, n) => {
        const { statusCode } = await post(`nobody-${n % 500}@example.com`, { 'x-forwarded-for': address });
        if (statusCode === 503) refused += 1;
        return statusCode;
      });
      await eventually(() => expect(refused).toBeGreaterThan(0));
      return all;
    };
    const stop = async () => {
      await gateway.stop();
      await identity.closeIdentityAfterPendingWrites();
    };
    const hasBegun = (count: number) => eventually(() => expect(begun).toBe(count));
    return { post, attack, hasBegun, release, stop };
  }

  it('from 130 addresses of one /48 leave the right password from elsewhere its place', async () => {
    const { email } = await newUser();
    const { post, attack, hasBegun, release, stop } = await heldGateway();
    const one48 = (n: number) => `2001:db8:77:${(n % 130).toString(16)}00::1`;
    const attacks = await attack(Array.from({ length: 260 }, (_, n) => one48(n)));
    const owner = post(email, { 'x-forwarded-for': '198.51.100.20' });
    const owner6 = post(email, { 'x-forwarded-for': '2001:db8:78::1' });
    await hasBegun(262);
    release();
    expect([(await owner).statusCode, (await owner6).statusCode]).toEqual([200, 200]);
    const statuses = await Promise.all(attacks);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    await stop();
  });

  it('from 130 networks leave a place for a device that signed in before', async () => {
    const { email } = await newUser();
    const { post, release, stop } = await heldGateway();
    const first = post(email, { 'x-forwarded-for': '198.51.100.20' });
    release();
    const { headers, statusCode } = await first;
    expect(statusCode).toBe(200);
    const device = String([headers['set-cookie']].flat()[1]).split(';', 1)[0] ?? '';
    await stop();

    const again = await heldGateway();
    const attacks = await again.attack(Array.from({ length: 130 }, (_, n) => `2001:db8:${n.toString(16)}::1`));
    const stranger = again.post(email, { 'x-forwarded-for': '198.51.100.21' });
    const known = again.post(email, { 'x-forwarded-for': '198.51.100.22', cookie: device });
    expect((await stranger).statusCode).toBe(503);
    await again.hasBegun(132);
    again.release();
    expect((await known).statusCode).toBe(200);
    expect((await Promise.all(attacks)).filter((status) => status === 401)).toHaveLength(80);
    await again.stop();
  });
});
