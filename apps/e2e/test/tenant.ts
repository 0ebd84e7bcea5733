import { randomBytes } from 'node:crypto';
import { TrackingClient } from '@tracking/client';
import type { EventEnvelope } from '@tracking/contracts';
import { scaleTimeout } from '@tracking/testing';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import { runCli, type SystemUnderTest } from './subject.ts';

/** Timeout of requests. It is long, because a request of a large list takes long on a busy machine. */
const REQUEST_TIMEOUT_MS = scaleTimeout(60_000);

/** Workspace of one journey with an API key. */
export interface TestTenant {
  readonly workspace: string;
  readonly key: string;
  /** Client that sends each request to the next gateway. */
  readonly api: AxiosInstance;
  /** Clients with the same key, one per gateway. */
  readonly gateways: readonly AxiosInstance[];
  /** Published client that sends each request to the next gateway. */
  readonly client: TrackingClient;
  /** Published clients, one for each gateway. No client knows the writes of the others. */
  readonly clients: readonly TrackingClient[];
}

export type Role = 'viewer' | 'operator' | 'feed' | 'developer' | 'admin';

/** Creates a workspace. Returns its name, which is unique in a system that suites share. */
export async function createWorkspace(subject: SystemUnderTest, name: string): Promise<string> {
  const workspace = `${name}-${randomBytes(4).toString('hex')}`;
  await runCli(subject, 'workspaces', 'create', '--name', workspace);
  return workspace;
}

export async function createTestTenant(subject: SystemUnderTest, role: Role = 'admin'): Promise<TestTenant> {
  const workspace = await createWorkspace(subject, 'journey');
  return { workspace, ...(await createKey(subject, workspace, role)) };
}

export async function createKey(
  subject: SystemUnderTest,
  workspace: string,
  role: Role,
  environment: 'live' | 'test' = 'live',
): Promise<Omit<TestTenant, 'workspace'>> {
  const options = { name: role, environment, role, workspace };
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const key = await runCli(subject, 'keys', 'create', ...words);
  const { urls } = subject;
  return {
    key,
    api: createKeyClient(urls, key),
    gateways: urls.map((url) => createKeyClient([url], key)),
    client: createTrackingClient(urls, key),
    clients: urls.map((url) => createTrackingClient([url], key)),
  };
}

/** Creates a published client that sends each request to the next of these addresses. */
function createTrackingClient(urls: readonly string[], apiKey: string): TrackingClient {
  const [baseUrl = ''] = urls;
  const send = axios.getAdapter('http');
  let turn = 0;
  const adapter: typeof send = (config) => {
    turn += 1;
    return send({ ...config, url: String(config.url).replace(baseUrl, urls[turn % urls.length] ?? '') });
  };
  return new TrackingClient({ baseUrl, apiKey, transport: { proxy: false, adapter } });
}

/** Creates a client that does not throw on error statuses and sends each request to the next of these addresses. */
export function createKeyClient(urls: readonly string[], key: string, timeout = REQUEST_TIMEOUT_MS): AxiosInstance {
  return createHttpClient(urls, { authorization: `Bearer ${key}` }, timeout);
}

/** Creates a client of several addresses that sends these headers with each request. */
export function createHttpClient(
  urls: readonly string[],
  headers: Readonly<Record<string, string>>,
  timeout = REQUEST_TIMEOUT_MS,
): AxiosInstance {
  const api = axios.create({
    headers: { ...headers },
    validateStatus: () => true,
    timeout,
    proxy: false,
  });
  let turn = 0;
  api.interceptors.request.use((config) => {
    turn += 1;
    return { ...config, baseURL: urls[turn % urls.length] ?? '' };
  });
  return api;
}

/** Returns headers with which a read at any gateway includes the write. */
export function createReadAfterWriteHeaders(write: AxiosResponse): Record<string, string> {
  return { 'Consistency-Token': String(write.headers['consistency-token']) };
}

/** Creates a shipment. Returns its event. @throws Error if the shipment is not created */
export async function createShipmentReturningEvent(
  api: AxiosInstance,
  external_id: string,
  headers = {},
): Promise<EventEnvelope> {
  const made = await api.post<{ readonly id: string }>('/v1/shipments', { external_id }, { headers });
  if (made.status !== 201) throw new Error(`${made.status} ${JSON.stringify(made.data)}`);
  const [created] = await listAllItems<EventEnvelope>(
    api,
    '/v1/events',
    { shipment_id: made.data.id },
    createReadAfterWriteHeaders(made),
  );
  return created as EventEnvelope;
}

/** Returns every item of a list, page by page. @throws Error if a page is not returned */
export async function listAllItems<T>(
  api: AxiosInstance,
  path: string,
  params: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<T[]> {
  const items: T[] = [];
  for await (const page of readListPages<T>(api, path, params, headers)) items.push(...page.data.data);
  return items;
}

/**
 * Returns every item of a list that includes all acknowledged writes.
 * @throws Error if a page is not returned, or states an age and may therefore lack writes, as after kill -9 of
 *   projections
 */
export async function listItemsAfterAllWrites<T>(
  api: AxiosInstance,
  path: string,
  params: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<T[]> {
  const items: T[] = [];
  for await (const page of readListPages<T>(api, path, params, headers)) {
    expect(page.headers['read-model-age']).toBeUndefined();
    items.push(...page.data.data);
  }
  return items;
}

interface PagedListAnswer<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

async function* readListPages<T>(
  api: AxiosInstance,
  path: string,
  params: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>>,
): AsyncGenerator<AxiosResponse<PagedListAnswer<T>>> {
  for (let cursor: string | null = null; ;) {
    const page: AxiosResponse<PagedListAnswer<T>> = await api.get(path, {
      params: { limit: 200, ...params, ...(cursor !== null && { cursor }) },
      headers: { ...headers },
    });
    if (page.status !== 200) throw new Error(`${path}: ${page.status} ${JSON.stringify(page.data)}`);
    yield page;
    cursor = page.data.next_cursor;
    if (cursor === null) return;
  }
}
