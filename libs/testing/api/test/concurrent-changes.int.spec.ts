import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@tracking/contracts';
import { eventually, hostileReceiverBehaviours, delayStoreReads } from '@tracking/testing';
import { WorkspaceSettingsStore } from '@tracking/workspace-settings';
import { createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ClientWebhookTestReceiver } from './client-endpoint.ts';
import type { ApiResponse } from './described-responses.ts';
import { startApi } from './start-api.ts';
import type { Api } from './start-api.ts';

const REQUESTS = 30;

let api: Api;
let receiver: ClientWebhookTestReceiver;
let workspace: string;
let key: string;

beforeAll(async () => {
  api = await startApi({ store: (store) => delayStoreReads(store, 20) });
  receiver = await startClientReceiver();
});
beforeEach(async () => {
  workspace = randomUUID();
  key = await api.key('admin', 'live', workspace);
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
});

const send = (method: string, path: string, json?: object, call = api.call): Promise<ApiResponse> =>
  call(method, path, { key, ...(json && { json }) });

/** Sends the requests at the same time and returns the number of responses with each status. */
async function countStatuses(request: (index: number) => Promise<ApiResponse>): Promise<Record<string, number>> {
  const responses = await Promise.all(Array.from({ length: REQUESTS }, (_, index) => request(index)));
  const byStatus = Object.groupBy(responses, ({ status }) => status);
  return Object.fromEntries(Object.entries(byStatus).map(([status, some = []]) => [status, some.length]));
}

const changeSettings = (index: number, call = api.call) =>
  send('PATCH', '/v1/settings', { exceptions: { eta_slip: { after_hours: 10 + index } } }, call);
const idOf = ({ body, status, text }: ApiResponse): string => {
  if (status >= 300) throw new Error(`${status} ${text}`);
  return String(body['id']);
};

async function failedDelivery(): Promise<string> {
  receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(503, '', { 'retry-after': '3600' }));
  await createEnabledEndpoint(api, key, receiver.url);
  const about = { created_at: new Date().toISOString(), api_version: '2026-11-01', environment: 'live' } as const;
  const workspace_id = await api.workspace(workspace);
  const id = `evt_${randomUUID()}`;
  await api.publish({ id, type: 'shipment.created', ...about, workspace_id, data: { shipment_id: 'shp_a' } });
  return eventually(async () => {
    const { body } = await send('GET', '/v1/webhook_deliveries');
    const [delivery] = body['data'] as JsonObject[];
    expect(delivery).toBeDefined();
    return String(delivery?.['id']);
  });
}

/** Creates a resource and returns a function that changes it, differently for each index. */
const CHANGES: Readonly<Record<string, () => Promise<(index: number) => Promise<ApiResponse>>>> = {
  'the settings': () => Promise.resolve((index) => changeSettings(index)),
  'a service account': async () => {
    const id = idOf(await send('POST', '/v1/service_accounts', { name: 'one', role: 'viewer' }));
    return (index) => send('PATCH', `/v1/service_accounts/${id}`, { name: `name ${index}` });
  },
  'a user': async () => {
    const id = idOf(await send('POST', '/v1/users', { email: `${workspace}@example.com`, role: 'viewer' }));
    return (index) => send('PATCH', `/v1/users/${id}`, { role: index % 2 === 0 ? 'operator' : 'viewer' });
  },
  'the status of a service account': async () => {
    const id = idOf(await send('POST', '/v1/service_accounts', { name: 'one', role: 'viewer' }));
    const actions = ['deactivate', 'reactivate'];
    return (index) => send('POST', `/v1/service_accounts/${id}/${String(actions[index % 2])}`);
  },
  'a key': async () => {
    const account = idOf(await send('POST', '/v1/service_accounts', { name: 'one', role: 'viewer' }));
    const request = { name: 'one', environment: 'live', service_account_id: account };
    const id = idOf(await send('POST', '/v1/api_keys', request));
    return () => send('POST', `/v1/api_keys/${id}/revoke`);
  },
  'an endpoint': async () => {
    const id = idOf(await send('POST', '/v1/webhook_endpoints', { url: receiver.url, event_types: ['*'] }));
    return (index) => send('PATCH', `/v1/webhook_endpoints/${id}`, { description: `text ${index}` });
  },
  'the status of an endpoint': async () => {
    const { id } = await createEnabledEndpoint(api, key, receiver.url);
    const actions = ['disable', 'enable'];
    return (index) => send('POST', `/v1/webhook_endpoints/${String(id)}/${String(actions[index % 2])}`);
  },
  'a delivery': async () => {
    const id = await failedDelivery();
    return () => send('POST', `/v1/webhook_deliveries/${id}/retry`);
  },
  'a shipment': async () => {
    const id = idOf(await send('POST', '/v1/shipments', { external_id: randomUUID() }));
    return (index) => send('PATCH', `/v1/shipments/${id}`, { title: `text ${index}` });
  },
};

describe.each(Object.keys(CHANGES))('30 concurrent changes of %s', (name) => {
  it('all succeed', async () => {
    const change = await CHANGES[name]!();
    const { 200: changed = 0, 202: accepted = 0, ...refused } = await countStatuses(change);
    expect(refused).toEqual({});
    expect(changed + accepted).toBe(REQUESTS);
  });
});

describe('30 concurrent requests', () => {
  it('all change the settings, even if two gateways receive them', async () => {
    const documentStore = api.storage.documentStore;
    const workspaceSettings = await WorkspaceSettingsStore.openWorkspaceSettings({ documentStore });
    const other = await api.gateway({ workspaceSettings });
    const statuses = await countStatuses((index) => changeSettings(index, index % 2 === 0 ? api.call : other));
    expect(statuses).toEqual({ 200: REQUESTS });
    expect((await send('GET', '/v1/settings')).body['version']).toBe(REQUESTS + 1);
  });

  it('all create endpoints', async () => {
    const create = () => send('POST', '/v1/webhook_endpoints', { url: receiver.url, event_types: ['*'] });
    expect(await countStatuses(create)).toEqual({ 201: REQUESTS });
  });

  it('create as many keys as one owner may have', async () => {
    const account = idOf(await send('POST', '/v1/service_accounts', { name: 'one', role: 'viewer' }));
    const create = (index: number) =>
      send('POST', '/v1/api_keys', { name: `key ${index}`, environment: 'live', service_account_id: account });
    expect(await countStatuses(create)).toEqual({ 201: 25, 409: REQUESTS - 25 });
  });

  it('deactivate all admins but one', async () => {
    const invitations = Array.from({ length: REQUESTS }, (_, index) => `${index}-${workspace}@example.com`);
    const command = { at: new Date().toISOString(), actor: { type: 'system', id: 'test' } } as const;
    const users = invitations.map((email) =>
      api
        .workspace(workspace)
        .then((workspace_id) =>
          api.identity.users.createUser(
            { ...command, id: randomUUID(), workspace_id },
            { email, role: 'admin', password: 'correct horse battery' },
          ),
        ),
    );
    const ids = (await Promise.all(users)).map(({ after }) => after.id);
    const statuses = await countStatuses((index) => send('POST', `/v1/users/${String(ids[index])}/deactivate`));
    expect(statuses).toEqual({ 200: REQUESTS - 1, 409: 1 });
  });
});
