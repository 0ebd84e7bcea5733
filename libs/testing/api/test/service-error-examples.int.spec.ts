import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ERROR_CODES, type JsonObject } from '@tracking/contracts';
import { BusyError, type Document, UnavailableError } from '@tracking/ports';
import { eventually, hostileReceiverBehaviours } from '@tracking/testing';
import { INDEXED_WEBHOOK_COLLECTIONS } from '@tracking/webhooks';
import { type ClientWebhookTestReceiver, createEnabledEndpoint, startClientReceiver } from './client-endpoint.ts';
import type { ApiResponse } from './described-responses.ts';
import { DocumentApiTestClient, sendRawRequest, SMALL_PDF } from './document-calls.ts';
import { expectErrorToEqualDocumentedExample } from './documented-examples.ts';
import { type Api, type ApiTestRequest, startApi, overrideOperations } from './start-api.ts';

type Refusal = Pick<ApiResponse, 'status' | 'body'>;

let api: Api;
let page: string;
let admin: string;
let receiver: ClientWebhookTestReceiver;
beforeAll(async () => {
  api = await startApi({ storagePerWorkspace: 4 * SMALL_PDF.length });
  page = (await api.call('GET', '/docs/errors')).text;
  admin = await api.key('admin', 'test');
});
afterAll(() => api.stop());
beforeEach(async () => {
  receiver = await startClientReceiver();
});
afterEach(() => receiver.close());

const post = (path: string, json: object = {}, options: ApiTestRequest = {}) =>
  api.call('POST', path, { key: admin, json, ...options });
const idOf = ({ body }: ApiResponse) => String(body['id']);
const endpoint = async () => String((await createEnabledEndpoint(api, admin, receiver.url))['id']);

/** Returns the response to the text of a request. */
async function refuseRaw(text: string): Promise<Refusal> {
  const [head = '', body = ''] = (await sendRawRequest(api, text)).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) as JsonObject };
}

/** Calls a gateway on which looking up an API key, or storing a shipment, fails. */
async function callFailing(error: Error, part: 'authenticateKey' | 'upsertShipment'): Promise<ApiResponse> {
  const fail = () => Promise.reject(error);
  const { shipments } = api.dependencies;
  const failing =
    part === 'authenticateKey'
      ? { authenticateKey: fail }
      : { shipments: overrideOperations(shipments, { upsertShipment: fail }) };
  const call = await api.gateway(failing);
  return call('POST', '/v1/shipments', { key: admin, json: { external_id: 'PO-1' } });
}

async function openStreams(count: number): Promise<Refusal> {
  const ending = new AbortController();
  const headers = { authorization: `Bearer ${await api.key('viewer', 'test', randomUUID())}` };
  const open = () => fetch(`${api.url}/v1/events/stream`, { headers, signal: ending.signal });
  try {
    for (let n = 0; n < count; n += 1) expect((await open()).status).toBe(200);
    const refused = await open();
    return { status: refused.status, body: (await refused.json()) as JsonObject };
  } finally {
    ending.abort();
  }
}

/** Provokes the error of each code. */
const ERRORS: Readonly<Record<string, () => Promise<Refusal>>> = {
  storage_quota_exceeded: async () => {
    const documents = new DocumentApiTestClient(api, await api.key('operator', 'test', 'full'));
    const shipment = await documents.createShipment();
    for (let n = 0; n < 4; n += 1) await documents.uploadDocument(shipment);
    return documents.sendUpload(shipment);
  },
  storage_full: async () => {
    const full = await startApi({ disk: { reserveBytes: 1_000, freeBytes: () => Promise.resolve(0) } });
    try {
      const documents = new DocumentApiTestClient(full, await full.key('operator'));
      return await documents.sendUpload(await documents.createShipment());
    } finally {
      await full.stop();
    }
  },
  document_damaged: async () => {
    const documents = new DocumentApiTestClient(api, await api.key('operator', 'test', 'damaged'));
    const folder = join(api.dataDir, 'objects');
    const before = await readdir(folder);
    const { id } = await documents.uploadDocument(await documents.createShipment());
    const stored = (await readdir(folder)).filter((name) => !before.includes(name));
    for (const name of stored) await writeFile(join(folder, name), Buffer.from(SMALL_PDF).fill('y', 9));
    return documents.sendApiGetRequest(`/v1/documents/${String(id)}/download`);
  },
  method_not_implemented: () => refuseRaw('FETCH / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
  expectation_failed: () =>
    refuseRaw('GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n'),
  headers_too_large: () => refuseRaw(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`),
  // Node.js reports the error after minutes, so the test reports it instead.
  request_timeout: () => {
    const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    api.server.once('connection', (socket: Socket) => {
      socket.once('data', () => setImmediate(() => api.server.emit('clientError', late, socket)));
    });
    return refuseRaw('GET / HTTP/1.1\r\nHost: x\r\n');
  },
  csrf: () => post('/v1/session', { email: 'ann@example.com', password: 'a quiet harbour' }, { key: undefined }),
  // Only operators create workspaces.
  workspace_exists: async () => {
    await api.identity.workspaces.createWorkspace('acme');
    const error = await api.identity.workspaces.createWorkspace('acme').catch((reason: unknown) => reason);
    const { code, message } = error as { readonly code: keyof typeof ERROR_CODES; readonly message: string };
    const body = { type: ERROR_CODES[code], code, message, param: null, details: [], request_id: 'req_x' };
    return { status: 409, body: { error: body } };
  },
  last_admin: async () => {
    const key = await api.key('admin', 'live', 'small');
    const invited = await post('/v1/users', { email: 'ann@example.com', role: 'admin' }, { key });
    const token = String(invited.body['invitation_url']).split('#')[1] ?? '';
    await post(`/v1/invitations/${token}`, { name: 'Ann', password: 'a quiet harbour' }, { key: undefined });
    return post(`/v1/users/${idOf(invited)}/deactivate`, {}, { key });
  },
  idempotency_in_progress: async () => {
    const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { shipments } = api.dependencies;
    const call = await api.gateway({
      idempotency: await api.claims({ takeOverAfterMs: 15_000 }),
      shipments: overrideOperations(shipments, {
        upsertShipment: async (command) => {
          begun.resolve();
          await held.promise;
          return shipments.upsertShipment(command);
        },
      }),
    });
    const headers = { 'idempotency-key': randomUUID() };
    const send = () => call('POST', '/v1/shipments', { key: admin, json: { external_id: 'PO-2' }, headers });
    const first = send();
    await begun.promise;
    const second = await send();
    held.resolve();
    await first;
    return second;
  },
  secret_unreadable: async () => {
    const id = await endpoint();
    const spec = INDEXED_WEBHOOK_COLLECTIONS.find(({ name }) => name === 'webhook_endpoints');
    const endpoints = await api.storage.documentStore.collection<Document & { secrets: object }>(spec!);
    await endpoints.claim({ filter: { id } }, { secrets: [{ sealed: 'x', expires_at: null }] });
    return post(`/v1/webhook_endpoints/${id}/reveal_secret`);
  },
  delivery_succeeded: async () => {
    const delivery = idOf(await post(`/v1/webhook_endpoints/${await endpoint()}/test`, { type: 'shipment.created' }));
    return eventually(async () => {
      const { body } = await api.call('GET', `/v1/webhook_deliveries/${delivery}`, { key: admin });
      expect(body['status']).toBe('succeeded');
      return post(`/v1/webhook_deliveries/${delivery}/discard`);
    });
  },
  replay_running: async () => {
    await post('/v1/shipments', { external_id: 'PO-3' });
    receiver.setReceiverBehaviour(hostileReceiverBehaviours.answers(503, '', { 'retry-after': '3600' }));
    const path = `/v1/webhook_endpoints/${await endpoint()}/replay`;
    await post(path, { since: '2026-01-01T00:00:00Z' });
    return post(path, { since: '2026-01-01T00:00:00Z' });
  },
  replay_completed: async () => {
    const replay = idOf(await post(`/v1/webhook_endpoints/${await endpoint()}/replay`, { statuses: ['succeeded'] }));
    const path = `/v1/webhook_replays/${replay}`;
    await eventually(async () =>
      expect((await api.call('GET', path, { key: admin })).body['status']).toBe('completed'),
    );
    return post(`${path}/resume`);
  },
  rate_limited: async () => {
    const call = await api.gateway({ settings: { ...api.dependencies.settings, rateLimitPerMinute: 10 } });
    const key = await api.key('viewer', 'test', randomUUID());
    for (let n = 0; n < 10; n += 1) await call('GET', '/v1/shipments', { key });
    return call('GET', '/v1/shipments', { key });
  },
  too_many_streams: () => openStreams(20),
  busy: () => callFailing(new BusyError('shipments', 'too many commands are queued'), 'upsertShipment'),
  unavailable: () => callFailing(new UnavailableError('event store', 'gone'), 'upsertShipment'),
  internal_error: () => callFailing(new Error('unexpected'), 'authenticateKey'),
  read_model_behind: async () => {
    const behind = await startApi({ project: false, settings: { readYourWritesWaitMs: 0 } });
    try {
      const key = await behind.key('operator');
      await behind.call('POST', '/v1/shipments', { key, json: { external_id: 'PO-4' } });
      return await behind.call('GET', '/v1/shipments', { key });
    } finally {
      await behind.stop();
    }
  },
};

it.each(Object.keys(ERRORS))('the example of %s is the response to a real request', async (code) => {
  expectErrorToEqualDocumentedExample(page, code, (await ERRORS[code]?.()) as Refusal);
});
