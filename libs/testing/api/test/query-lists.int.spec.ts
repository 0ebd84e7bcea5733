import type { JsonObject } from '@tracking/contracts';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import { parsedOpenApiDocument, resolveReferencesInPaths } from './described-responses.ts';
import { type Api, startApi } from './start-api.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly type?: string };
}
interface DescribedRead {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
}

const READS = Object.entries(resolveReferencesInPaths<DescribedRead>(parsedOpenApiDocument)).flatMap(
  ([path, { get }]) =>
    get === undefined
      ? []
      : [{ id: get.operationId, path, query: (get.parameters ?? []).filter((parameter) => parameter.in === 'query') }],
);
const LISTS = READS.filter(({ id }) => id.startsWith('list'));
const ARRAYS = READS.flatMap(({ path, query }) =>
  query.filter(({ schema }) => schema.type === 'array').map(({ name }) => [name, path] as const),
);

let api: Api;
let key: string;
let shipment: string;
beforeAll(async () => {
  api = await startApi();
  key = await api.key('admin');
  shipment = String((await api.call('POST', '/v1/shipments', { key, json: { house_bill: 'H-1' } })).body['id']);
});
afterAll(() => api.stop());

const get = (path: string, query: string) => api.call('GET', `${path.replace('{id}', shipment)}?${query}`, { key });

it.each(ARRAYS)('%s of %s hints at the comma when it is repeated', async (name, path) => {
  const { status, body } = await get(path, `${name}=a&${name}=b`);
  expect(status).toBe(400);
  expect((body['error'] as JsonObject)['details']).toContainEqual({
    param: name,
    code: 'invalid_value',
    message: `Must be given only once. Separate several values by commas, such as ${name}=VALUE,VALUE.`,
  });
});

it.each(LISTS.filter(({ id }) => id !== 'listSessions').map(({ id, path }) => [id, path]))(
  '%s accepts limits from 1 to 200',
  async (_, path) => {
    for (const limit of [1, 200]) expect((await get(path, `limit=${limit}`)).status).toBe(200);
    for (const limit of [0, 201]) expect((await get(path, `limit=${limit}`)).status).toBe(400);
  },
);

it('a response that creates a resource links to the operation that reads it', () => {
  const links = Object.values(
    resolveReferencesInPaths<{ responses: Record<string, { links?: object }> }>(parsedOpenApiDocument),
  ).flatMap(({ post }) => Object.keys(post?.responses['201']?.links ?? {}));
  expect(links.sort()).toEqual([
    ...['getApiKey', 'getMilestone', 'getServiceAccount', 'getShipment', 'getUser', 'getWebhookEndpoint'],
  ]);
});

it('every list has the parameter limit', () => {
  const without = LISTS.filter(({ query }) => !query.some(({ name }) => name === 'limit'));
  expect([LISTS.length > 15, without]).toEqual([true, []]);
});

it('deliveries are filtered by several event types and reasons', async () => {
  const receiver = await startClientReceiver();
  try {
    const owner = await api.key('developer', 'test', 'filtered');
    const { id } = await createEnabledEndpoint(api, owner, receiver.url);
    for (const type of ['shipment.created', 'shipment.updated', 'milestone.recorded'])
      await api.call('POST', `/v1/webhook_endpoints/${id}/test`, { key: owner, json: { type } });
    const types = async (query: string) => {
      const { body } = await api.call('GET', `/v1/webhook_deliveries?${query}`, { key: owner });
      return (body['data'] as JsonObject[]).map(({ event_type }) => event_type).sort();
    };
    expect(await types('event_type=milestone.recorded,SHIPMENT.CREATED')).toEqual([
      'milestone.recorded',
      'shipment.created',
    ]);
    expect(await types('event_type=shipment.updated')).toEqual(['shipment.updated']);
    expect(await types('reason=timeout,connection_refused')).toEqual([]);
  } finally {
    await receiver.close();
  }
});

it('the audit log is filtered by several types, newest first, page by page', async () => {
  const admin = await api.key('admin', 'live', 'audited');
  for (const name of ['a', 'b']) {
    const json = { name, role: 'viewer' };
    const { body } = await api.call('POST', '/v1/service_accounts', { key: admin, json });
    await api.call('PATCH', `/v1/service_accounts/${body['id']}`, { key: admin, json: { name: `${name}2` } });
    await api.call('POST', `/v1/service_accounts/${body['id']}/deactivate`, { key: admin });
  }
  const query = 'type=service_account.created,service_account.changed&limit=3';
  const first = await api.call('GET', `/v1/audit_log?${query}`, { key: admin });
  const second = await api.call('GET', `/v1/audit_log?${query}&cursor=${first.body['next_cursor']}`, { key: admin });
  const entries = [first, second].flatMap(({ body }) => body['data'] as { type: string; at: string }[]);
  expect(entries.map(({ type }) => type)).toEqual(
    ['changed', 'created', 'changed', 'created'].map((change) => `service_account.${change}`),
  );
  expect(second.body['has_more']).toBe(false);
});
