import type { JsonObject } from '@tracking/contracts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';
import type { ApiResponse } from './described-responses.ts';

let api: Api;
let admin: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.key('admin');
});
afterAll(() => api.stop());

const ACCOUNTS = '/v1/service_accounts';
const create = (fields: object = {}, key = admin): Promise<ApiResponse> =>
  api.call('POST', ACCOUNTS, { key, json: { name: 'TMS', role: 'feed', ...fields } });
const post = (id: unknown, action: string, key = admin): Promise<ApiResponse> =>
  api.call('POST', `${ACCOUNTS}/${String(id)}/${action}`, { key });
const keyOf = async (service_account_id: unknown): Promise<string> => {
  const json = { name: 'x', environment: 'live', service_account_id };
  return String((await api.call('POST', '/v1/api_keys', { key: admin, json })).body['key']);
};

describe('service accounts', () => {
  it('are made, got, and listed to whoever manages keys, the newest first', async () => {
    const made = await create({ name: ' ERP ' });
    const { warnings, ...account } = made.body;
    expect([made.status, made.headers.get('etag'), warnings]).toEqual([201, '"1"', []]);
    expect(made.headers.get('location')).toBe(`https://api.example${ACCOUNTS}/${String(account['id'])}`);
    expect(account).toEqual({
      id: expect.stringMatching(/^sva_/),
      workspace_id: await api.workspace(),
      name: 'ERP',
      role: 'feed',
      status: 'active',
      created_by: { type: 'service_account', id: expect.stringMatching(/^sva_/) },
      created_at: expect.any(String),
      version: 1,
    });
    const developer = await api.key('developer');
    const got = await api.call('GET', `${ACCOUNTS}/${String(account['id'])}`, { key: developer });
    expect([got.status, got.headers.get('etag'), got.body]).toEqual([200, '"1"', account]);
    const listed = await api.call('GET', ACCOUNTS, { key: developer });
    expect(listed.body['data']).toContainEqual(account);
  });

  it('are paged', async () => {
    const key = await api.key('admin', 'live', 'paged');
    for (const name of ['a', 'b', 'c']) await create({ name }, key);
    const first = await api.call('GET', `${ACCOUNTS}?limit=2`, { key });
    const next = await api.call('GET', `${ACCOUNTS}?limit=2&cursor=${String(first.body['next_cursor'])}`, { key });
    const names = [first, next].flatMap(({ body }) => (body['data'] as JsonObject[]).map(({ name }) => name));
    expect(names).toHaveLength(4);
    expect(new Set(names)).toEqual(new Set(['a', 'b', 'c', 'admin']));
    expect([first.body['has_more'], next.body['has_more']]).toEqual([true, false]);
  });

  it('are changed where they are as If-Match says', async () => {
    const { id } = (await create()).body;
    const patch = (json: object, etag?: string) =>
      api.call('PATCH', `${ACCOUNTS}/${String(id)}`, { key: admin, json, headers: etag ? { 'if-match': etag } : {} });
    const changed = await patch({ name: 'ERP', role: 'Operator' }, '"1"');
    expect(changed.body).toMatchObject({ name: 'ERP', role: 'operator', version: 2, warnings: [] });
    expect(changed.headers.get('etag')).toBe('"2"');
    const late = await patch({ name: 'late' }, '"1"');
    expect([late.status, late.headers.get('etag')]).toEqual([412, '"2"']);
    expect(late.body['error']).toMatchObject({ code: 'precondition_failed' });
    expect((await patch({ name: 'third' })).body).toMatchObject({ name: 'third', role: 'operator', version: 3 });
  });

  it.each<[object, string]>([
    [{ name: null }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ role: null }, 'role'],
    [{ role: 'root' }, 'role'],
  ])('refuse the change %j', async (json, param) => {
    const { id } = (await create()).body;
    const answer = await api.call('PATCH', `${ACCOUNTS}/${String(id)}`, { key: admin, json });
    expect([answer.status, (answer.body['error'] as JsonObject)['param']]).toEqual([400, param]);
  });

  it('end their keys while they are deactivated', async () => {
    const { id } = (await create()).body;
    const key = await keyOf(id);
    const status = async () => (await api.call('GET', '/v1/shipments', { key })).status;
    expect(await status()).toBe(200);
    expect((await post(id, 'deactivate')).body).toMatchObject({ status: 'deactivated', version: 2 });
    expect(await status()).toBe(401);
    expect((await post(id, 'deactivate')).body).toMatchObject({ status: 'deactivated', version: 2 });
    expect((await post(id, 'reactivate')).body).toMatchObject({ status: 'active', version: 3 });
    expect(await status()).toBe(200);
  });

  it('of another workspace do not exist', async () => {
    const { id } = (await create()).body;
    const foreign = await api.key('admin', 'live', 'other');
    const answers = await Promise.all([
      api.call('GET', `${ACCOUNTS}/${String(id)}`, { key: foreign }),
      api.call('PATCH', `${ACCOUNTS}/${String(id)}`, { key: foreign, json: { name: 'mine' } }),
      post(id, 'deactivate', foreign),
      post(id, 'reactivate', foreign),
      api.call('POST', '/v1/api_keys', {
        key: foreign,
        json: { name: 'x', environment: 'live', service_account_id: id },
      }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  });

  it('and every change of them are in the audit log', async () => {
    const { id } = (await create({ name: 'audited' })).body;
    await api.call('PATCH', `${ACCOUNTS}/${String(id)}`, { key: admin, json: { role: 'viewer' } });
    await post(id, 'deactivate');
    const entries = (await api.call('GET', '/v1/audit_log', { key: admin })).body['data'] as JsonObject[];
    const about = entries.filter(({ target }) => (target as JsonObject)['id'] === id).reverse();
    expect(about.map(({ type, outcome }) => [type, outcome])).toEqual([
      ['service_account.created', 'done'],
      ['service_account.changed', 'done'],
      ['service_account.deactivated', 'done'],
    ]);
    expect(about[1]?.['changes']).toEqual({ role: { from: 'feed', to: 'viewer' } });
  });
});
