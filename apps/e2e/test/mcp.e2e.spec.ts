import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  createTempFolder,
  eventually,
  findFreePort,
  ManagedProcess,
  scaleTimeout,
  type TempFolder,
} from '@tracking/testing';
import { findSharedStandaloneServer, REPOSITORY_ROOT, type SystemUnderTest } from './subject.ts';
import { createKey, createTestTenant, type TestTenant } from './tenant.ts';

const MAIN = join(REPOSITORY_ROOT, 'apps/mcp/dist/main.js');
const UNUSED_ADDRESS = 'http://127.0.0.1:1';
const LARGE_TEXT = 'x'.repeat(900);

/** Result of a tool, parsed from its text, which equals the structured content. */
type Json = Record<string, unknown>;
interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly request_id: string | null;
  readonly idempotency_key?: string;
}

let subject: SystemUnderTest;
let folder: TempFolder;
let tenant: TestTenant;
let other: TestTenant;
let viewer: Omit<TestTenant, 'workspace'>;
let shipmentId: string;
let exceptionId: string;
let clients: Client[] = [];
let servers: ManagedProcess[] = [];

beforeAll(async () => {
  subject = await findSharedStandaloneServer();
  folder = await createTempFolder();
  tenant = await createTestTenant(subject);
  other = await createTestTenant(subject);
  viewer = await createKey(subject, tenant.workspace, 'viewer');
  const ports = { origin_port: 'CNSHA', destination_port: 'NLRTM' };
  const times = { etd: '2026-01-02T08:00:00Z', eta: '2099-02-09T16:00:00Z' };
  const container_numbers = ['MSKU1234565'];
  const made = await tenant.client.shipments.upsert({
    external_id: 'MCP-1',
    mode: 'ocean',
    ...ports,
    ...times,
    container_numbers,
  });
  shipmentId = made.id;
  const departure = { code: 'vessel_departed', occurred_at: '2026-01-02T09:00:00Z', location: 'CNSHA' } as const;
  await tenant.client.milestones.record(shipmentId, departure);
  exceptionId = (await tenant.client.exceptions.open(shipmentId, { type: 'freight_hold' })).id;
}, scaleTimeout(120_000));

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await Promise.all(servers.map((server) => server.stopProcess()));
  clients = [];
  servers = [];
});
afterAll(() => folder.remove());

type Era = 'auto' | 'legacy';

async function connectStdio(
  key: string,
  { writes = false, url = subject.urls[0], era = 'auto' }: { writes?: boolean; url?: string; era?: Era } = {},
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN],
    env: {
      PATH: process.env['PATH'] ?? '',
      TRACKING_API_KEY: key,
      TRACKING_URL: String(url),
      MCP_ALLOW_WRITES: String(writes),
      LOG_LEVEL: 'warn',
    },
    stderr: 'pipe',
  });
  return connect(transport, era);
}

async function startHttp({ writes = false, url = subject.urls[0] } = {}): Promise<{
  readonly url: string;
  readonly process: ManagedProcess;
  readonly log: () => Promise<string>;
}> {
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  const logFile = join(folder.path, `mcp-${port}.log`);
  const server = new ManagedProcess({
    name: 'mcp',
    command: process.execPath,
    args: [MAIN],
    env: {
      PATH: process.env['PATH'] ?? '',
      MCP_TRANSPORT: 'http',
      MCP_ALLOW_WRITES: String(writes),
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
      TRACKING_URL: String(url),
      LOG_LEVEL: 'debug',
    },
    ready: /"msg":"listening"/,
    stopped: /"msg":"stopped"/,
    logFile,
  });
  servers.push(server);
  await server.startProcess();
  return { url: `http://127.0.0.1:${port}/mcp`, process: server, log: () => readFile(logFile, 'utf8') };
}

function connectHttp(url: string, key: string, era: Era = 'auto') {
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  return connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }), era);
}

async function connect(transport: StdioClientTransport | StreamableHTTPClientTransport, era: Era): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } });
  await client.connect(transport);
  clients.push(client);
  return client;
}

/** Starts a receiver of webhooks that passes the verification and refuses all events. */
async function startReceiver(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const receiver = createServer((request, response) => {
    void json(request).then((body) => {
      const { data } = body as { readonly data: { readonly challenge?: string } };
      response.writeHead(data.challenge === undefined ? 500 : 200).end(data.challenge);
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`,
    stop: () =>
      new Promise((resolve) => {
        receiver.close(() => resolve());
        receiver.closeAllConnections();
      }),
  };
}

/** Calls a tool that must succeed. */
async function call<T = Json>(client: Client, name: string, args: Json = {}): Promise<T> {
  const { isError, content, structuredContent } = (await client.callTool({ name, arguments: args })) as CallToolResult;
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  expect([name, isError ? text : 'ok']).toEqual([name, 'ok']);
  expect(JSON.parse(text)).toEqual(structuredContent);
  return structuredContent as T;
}

/** Calls a tool that must fail. Returns its error. */
async function callFailing(client: Client, name: string, args: Json = {}): Promise<ToolFailure> {
  const { isError, content } = (await client.callTool({ name, arguments: args })) as CallToolResult;
  const [first] = content;
  expect(isError).toBe(true);
  return (JSON.parse(first?.type === 'text' ? first.text : '') as { error: ToolFailure }).error;
}

const READ_TOOLS = [
  'find_shipments',
  'get_shipment',
  'explain_shipment',
  'get_timeline',
  'get_eta_history',
  'find_places',
  'list_milestone_codes',
  'get_access',
  'list_exceptions',
  'get_exception',
  'list_webhook_endpoints',
  'list_deliveries',
  'get_delivery',
  'summarize_dead_letters',
];
const WRITE_TOOLS = [
  'record_milestone',
  'acknowledge_exception',
  'resolve_exception',
  'retry_delivery',
  'replay_dead_letters',
];

interface Items<T = Json> {
  readonly items: readonly T[];
  readonly next_cursor: string | null;
}

const CONNECTIONS: readonly (readonly [string, (key: string) => Promise<Client>])[] = [
  ['stdio', (key) => connectStdio(key)],
  ['stdio, protocol of 2025', (key) => connectStdio(key, { era: 'legacy' })],
  ['HTTP', async (key) => connectHttp((await startHttp()).url, key)],
  ['HTTP, protocol of 2025', async (key) => connectHttp((await startHttp()).url, key, 'legacy')],
];

describe.each(CONNECTIONS)('over %s', (_transport, open) => {
  it('offers only tools that read, and each returns its data', async () => {
    const client = await open(tenant.key);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(READ_TOOLS);
    for (const { annotations, outputSchema, description } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(outputSchema?.type).toBe('object');
      expect(description).toMatch(/\w+ .*\./);
    }
    const shipment = { shipment_id: shipmentId };
    const found = await call<Items>(client, 'find_shipments', { q: 'MSKU1234565', has_open_exceptions: true });
    expect(found).toMatchObject({ items: [{ id: shipmentId, status: 'in_transit' }], next_cursor: null });
    expect(await call(client, 'get_shipment', shipment)).toMatchObject({
      external_id: 'MCP-1',
      containers: [{ number: 'MSKU1234565' }],
    });
    expect(await call(client, 'explain_shipment', shipment)).toMatchObject({
      status: { value: 'in_transit', rule: expect.any(String) },
      milestones: [{ code: 'vessel_departed' }],
    });
    expect(await call(client, 'get_timeline', shipment)).toMatchObject({ items: [{ code: 'vessel_departed' }] });
    expect(await call(client, 'get_eta_history', shipment)).toMatchObject({ items: [{ source: 'client' }] });
    expect(await call(client, 'find_places', { q: 'rotterdam' })).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ code: 'NLRTM' })]),
    });
    const { items: codes } = await call<Items<{ code: string }>>(client, 'list_milestone_codes');
    expect(codes.map(({ code }) => code)).toContain('vessel_departed');
    expect(await call(client, 'get_access')).toMatchObject({ role: 'admin', environment: 'live' });
    const { items: open_ } = await call<Items>(client, 'list_exceptions', { ...shipment, type: ['freight_hold'] });
    expect(open_).toMatchObject([{ id: exceptionId, status: 'open' }]);
    expect(await call(client, 'get_exception', { exception_id: exceptionId })).toMatchObject({ type: 'freight_hold' });
    expect(await call(client, 'list_webhook_endpoints')).toEqual({ items: [], next_cursor: null });
    expect(await call(client, 'list_deliveries')).toEqual({ items: [], next_cursor: null });
    expect(await callFailing(client, 'get_delivery', { delivery_id: 'dlv_unknown' })).toMatchObject({
      code: 'not_found',
      request_id: expect.stringMatching(/^req_/),
    });
    expect(await call(client, 'summarize_dead_letters')).toMatchObject({ count: 0 });
  });

  it('has the permissions of a viewer', async () => {
    const client = await open(viewer.key);
    expect(await call(client, 'get_access')).toMatchObject({ role: 'viewer' });
    expect((await call<Items>(client, 'find_shipments')).items).toHaveLength(1);
    expect(await callFailing(client, 'list_webhook_endpoints')).toMatchObject({
      code: expect.stringContaining('permission'),
      request_id: expect.stringMatching(/^req_/),
    });
  });

  it('reports a wrong key without repeating it', async () => {
    const key = 'sk_live_wrongwrongwrongwrong';
    const error = await callFailing(await open(key), 'find_shipments');
    expect(error).toMatchObject({ code: 'invalid_api_key', request_id: expect.stringMatching(/^req_/) });
    expect(JSON.stringify(error)).not.toContain(key);
  });

  it("does not find another workspace's data", async () => {
    const client = await open(other.key);
    expect((await call<Items>(client, 'find_shipments')).items).toEqual([]);
    for (const tool of ['get_shipment', 'explain_shipment', 'get_timeline', 'get_eta_history']) {
      expect(await callFailing(client, tool, { shipment_id: shipmentId })).toMatchObject({ code: 'not_found' });
    }
    expect(await callFailing(client, 'get_exception', { exception_id: exceptionId })).toMatchObject({
      code: 'not_found',
    });
  });

  it('refuses tools that write, and invalid arguments', async () => {
    const client = await open(tenant.key);
    for (const name of WRITE_TOOLS) await expect(client.callTool({ name, arguments: {} })).rejects.toThrow(name);
    for (const args of [{ unknown: 1 }, { limit: 0 }, { limit: 101 }, { status: ['lost'] }]) {
      expect(await client.callTool({ name: 'find_shipments', arguments: args })).toMatchObject({ isError: true });
    }
    const traversal = { name: 'get_shipment', arguments: { shipment_id: '../webhook_endpoints' } };
    expect(await client.callTool(traversal)).toMatchObject({ isError: true });
  });
});

describe('tools that write', () => {
  it.each([
    ['stdio', () => connectStdio(tenant.key, { writes: true })],
    ['HTTP', async () => connectHttp((await startHttp({ writes: true })).url, tenant.key)],
  ])('change data over %s, and their hints are set', async (_transport, open) => {
    const client = await open();
    const { tools } = await client.listTools();
    const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));
    expect([...hints.keys()]).toEqual([...READ_TOOLS, ...WRITE_TOOLS]);
    for (const name of WRITE_TOOLS) expect(hints.get(name)).toMatchObject({ readOnlyHint: false });
    expect(hints.get('resolve_exception')).toMatchObject({ destructiveHint: true, idempotentHint: true });

    const { id } = await tenant.client.shipments.upsert({ house_bill: 'MCP-2' });
    const milestone = { shipment_id: id, code: 'empty_picked_up', occurred_at: '2026-01-01T00:00:00Z' };
    const repeatable = { ...milestone, idempotency_key: `repeat-${id}` };
    const recorded = await call(client, 'record_milestone', repeatable);
    expect(await call(client, 'record_milestone', repeatable)).toEqual(recorded);
    expect((await call<Items>(client, 'get_timeline', { shipment_id: id })).items).toHaveLength(1);

    const exception = await tenant.client.exceptions.open(id, { type: 'terminal_hold' });
    const named = { exception_id: exception.id, note: 'seen' };
    expect(await call(client, 'acknowledge_exception', { ...named, assignee: 'Ann' })).toMatchObject({
      status: 'acknowledged',
      assignee: 'Ann',
    });
    expect(await call(client, 'resolve_exception', { ...named, code: 'fixed' })).toMatchObject({ status: 'resolved' });

    expect(await callFailing(client, 'retry_delivery', { delivery_id: 'dlv_unknown' })).toMatchObject({
      code: 'not_found',
    });
    expect(await callFailing(client, 'replay_dead_letters')).toMatchObject({ code: 'invalid_request' });
    expect(await call(client, 'replay_dead_letters', { all: true })).toMatchObject({ data: [], refused: [] });
  });

  it('are refused to a viewer', async () => {
    const client = await connectStdio(viewer.key, { writes: true });
    const error = await callFailing(client, 'acknowledge_exception', { exception_id: exceptionId });
    expect(error.code).toContain('permission');
  });
});

it('shows deliveries with their attempts, hides the headers of endpoints, and retries a delivery', async () => {
  const { client: api, key } = await createTestTenant(subject);
  const receiver = await startReceiver();
  const endpoint = await api.webhookEndpoints.create({
    url: receiver.url,
    event_types: ['*'],
    headers: { 'X-Receiver-Key': 'secret-of-the-receiver' },
  });
  await api.webhookEndpoints.verify(endpoint.id);
  await api.webhookEndpoints.test(endpoint.id, 'shipment.created');
  const client = await connectStdio(key, { writes: true });
  const endpoints = await call(client, 'list_webhook_endpoints');
  expect(endpoints).toMatchObject({ items: [{ id: endpoint.id, event_types: ['*'] }] });
  expect(JSON.stringify(endpoints)).not.toMatch(/receiver/i);
  const filter = { endpoint_id: endpoint.id };
  const delivery = await eventually(async () => {
    const { items } = await call<Items<{ id: string; attempts_count: number }>>(client, 'list_deliveries', filter);
    expect(items[0]?.attempts_count).toBeGreaterThan(0);
    return items[0];
  });
  const named = { delivery_id: delivery?.id };
  expect(await call(client, 'get_delivery', named)).toMatchObject({
    payload: { type: 'shipment.created' },
    attempts: expect.arrayContaining([expect.objectContaining({ error: expect.anything() })]),
  });
  expect(await call(client, 'retry_delivery', named)).toMatchObject({ id: delivery?.id });
  await receiver.stop();
});

it('returns large results in pages with every item once', async () => {
  const large = await createTestTenant(subject);
  const references = Array.from({ length: 3 }, (_, index) => ({ type: `type-${index}`, value: LARGE_TEXT }));
  const shipments = Array.from({ length: 120 }, (_, index) => ({
    external_id: `L-${index}`,
    house_bill: LARGE_TEXT,
    references,
  }));
  await large.client.shipments.upsertMany(shipments);
  const client = await connectStdio(large.key);
  const ids: string[] = [];
  let pages = 0;
  let cursor: string | null = null;
  do {
    const page: Items<{ external_id: string }> = await call(client, 'find_shipments', {
      limit: 100,
      ...(cursor !== null && { cursor }),
    });
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(32 * 1_024);
    ids.push(...page.items.map(({ external_id }) => external_id));
    pages += 1;
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(ids.sort()).toEqual(shipments.map(({ external_id }) => external_id).sort());
  expect(pages).toBeGreaterThan(3);
});

it('pages the containers and explanations of one large shipment', async () => {
  const container_numbers = Array.from({ length: 150 }, (_, index) => `ABCU${String(index).padStart(7, '0')}`);
  const { id } = await tenant.client.shipments.upsert({ mode: 'ocean', container_numbers });
  const client = await connectStdio(tenant.key);
  for (const tool of ['get_shipment', 'explain_shipment']) {
    const numbers: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { readonly containers: readonly { readonly number: string }[]; readonly next_cursor: string | null } =
        await call(client, tool, { shipment_id: id, ...(cursor !== null && { cursor }) });
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(32 * 1_024);
      numbers.push(...page.containers.map(({ number }) => number));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(numbers).toEqual(container_numbers);
  }
  const { next_cursor } = await call<Items>(client, 'get_shipment', { shipment_id: id });
  await tenant.client.shipments.patch(id, { booking_number: 'B-1' });
  expect(await callFailing(client, 'get_shipment', { shipment_id: id, cursor: next_cursor })).toMatchObject({
    code: 'resource_changed',
  });
});

it.each([
  ['stdio', () => connectStdio(tenant.key, { writes: true, url: UNUSED_ADDRESS })],
  ['HTTP', async () => connectHttp((await startHttp({ writes: true, url: UNUSED_ADDRESS })).url, tenant.key)],
])('reports over %s that the service is away, and does not name its address', async (_transport, open) => {
  const client = await open();
  const error = await callFailing(client, 'find_shipments');
  expect(error).toEqual({
    code: 'unavailable',
    message: expect.stringContaining('cannot be reached'),
    request_id: null,
  });
  expect((await client.listTools()).tools).toHaveLength(READ_TOOLS.length + WRITE_TOOLS.length);
});

describe('the HTTP server', () => {
  it('serves 50 clients of two workspaces at once, each with its own data, and logs no key', async () => {
    const { url, log } = await startHttp();
    const keys = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? tenant.key : other.key));
    const found = await Promise.all(
      keys.map(async (key) => {
        const client = await connectHttp(url, key);
        const { items } = await call<Items<{ external_id: string }>>(client, 'find_shipments', {
          external_id: 'MCP-1',
        });
        return items.map(({ external_id }) => external_id);
      }),
    );
    expect(found).toEqual(keys.map((key) => (key === tenant.key ? ['MCP-1'] : [])));
    const lines = await log();
    expect(lines).toContain('"msg":"request"');
    for (const key of [tenant.key, other.key]) expect(lines).not.toContain(key.slice(8));
  });

  it('serves other clients after a client has ended in the middle of its calls', async () => {
    const { url } = await startHttp();
    const ending = await connectHttp(url, tenant.key);
    const calls = Array.from({ length: 10 }, () => ending.callTool({ name: 'find_shipments', arguments: {} }));
    await ending.close();
    await Promise.allSettled(calls);
    const client = await connectHttp(url, tenant.key);
    expect((await call<Items>(client, 'find_shipments', { external_id: 'MCP-1' })).items).toHaveLength(1);
  });

  it('keeps no sessions, so that a client continues after a restart', async () => {
    const { url, process: server } = await startHttp();
    const client = await connectHttp(url, tenant.key);
    await call(client, 'get_access');
    await server.killProcess();
    await expect(client.callTool({ name: 'get_access', arguments: {} })).rejects.toThrow();
    await server.startProcess();
    expect(await call(client, 'get_access')).toMatchObject({ role: 'admin' });
  });
});

it('ends when the client closes the standard input, and when it is killed the client notices', async () => {
  const client = await connectStdio(tenant.key);
  const { pid } = client.transport as StdioClientTransport;
  await client.close();
  await eventually(() => expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH'));
  const killed = await connectStdio(tenant.key);
  process.kill(Number((killed.transport as StdioClientTransport).pid), 'SIGKILL');
  await expect(killed.callTool({ name: 'get_access', arguments: {} })).rejects.toThrow();
});
