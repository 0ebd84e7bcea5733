import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { eventually } from '@tracking/testing';
import { runCommandLineForTest } from '../test/run.ts';
import { ENDPOINT_PATH, SIGNING_SECRET, StubApi, runListenCommandForTest } from '../test/stub-api.ts';
import type { RunningListenCommand } from '../test/stub-api.ts';
import { loadConfig } from './config.ts';

const OWN_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const EVENT = { id: 'evt_1', type: 'shipment.created', data: { shipment_id: 'shp_a', note: 'Göteborg 上海' } };
const DELIVERIES = 'GET /v1/webhook_deliveries?endpoint_id=whe_a&event_id=evt_1&limit=1';
const RETRY = 'POST /v1/webhook_deliveries/dlv_a/retry';
const SENT_BEFORE = { [DELIVERIES]: [200, { data: [{ id: 'dlv_a' }], next_cursor: null, has_more: false }] as const };

describe('listen --forward-to', () => {
  let api: StubApi;
  /** The developer's own server. */
  let server: Server;
  let address: string;
  let came: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[];
  /** Undefined: the server never responds. */
  let answer: readonly [status: number, headers: OutgoingHttpHeaders, body: string] | undefined;
  let waiting: ServerResponse[];
  let listening: RunningListenCommand;

  beforeAll(async () => {
    api = await StubApi.startStubApi();
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        came.push({ url: request.url, headers: request.headers, body });
        if (answer === undefined) waiting.push(response);
        else response.writeHead(answer[0], answer[1]).end(answer[2]);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `127.0.0.1:${(server.address() as AddressInfo).port}/hooks?of=test`;
  });
  beforeEach(() => {
    api.resetStubApi();
    [came, waiting, answer] = [[], [], [204, {}, '']];
  });
  afterEach(async () => {
    listening.interrupt();
    expect(await listening.ended).toBe(0);
    expect(api.requests.at(-1)).toBe(`DELETE ${ENDPOINT_PATH}`);
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await api.stopStubApi();
  });

  async function forward(line: readonly string[] = [], input?: NodeJS.ReadableStream): Promise<void> {
    listening = runListenCommandForTest(api, ['--forward-to', address, ...line], undefined, input);
    await eventually(() => expect(listening.out()).toMatch(/Ctrl-C|forward_to/));
  }
  const printed = async (text: string | RegExp) => eventually(() => expect(listening.out()).toMatch(text));

  it('forwards body and headers unchanged, and prints status and latency', async () => {
    await forward();
    expect(listening.out()).toBe(
      `whe_a forwards to http://${address} events of type *; press Ctrl-C to stop\nYour server checks signatures with ${SIGNING_SECRET}\n`,
    );
    expect((await api.sendEvent(EVENT)).status).toBe(204);
    const [delivery] = came;
    expect([delivery?.url, delivery?.body]).toEqual(['/hooks?of=test', JSON.stringify(EVENT)]);
    const [t, v1] = /^t=(\d+),v1=(\w+)$/.exec(String(delivery?.headers['service-signature']))?.slice(1) ?? [];
    expect(v1).toBe(createHmac('sha256', SIGNING_SECRET).update(`${t}.${delivery?.body}`).digest('hex'));
    expect(delivery?.headers).toMatchObject({ 'service-event-id': 'evt_1', 'content-type': 'application/json' });
    expect(delivery?.headers.host).toBe(address.split('/')[0]);
    expect(delivery?.headers['user-agent']).not.toMatch(/axios/);
    await printed(/\n\S+Z {2}shipment\.created {6}evt_1 {2}shp_a {2}→ 204 in \d+ ms\n$/);
    await api.sendEvent(EVENT);
    await printed(/→ 204 in \d+ ms {2}\(repeated\)\n$/);
  });

  it.each<[number, OutgoingHttpHeaders, RegExp]>([
    [200, { 'x-own': 'yes' }, /→ 200 in \d+ ms\n$/],
    [500, {}, /→ 500 in \d+ ms: failed\n$/],
    [503, { 'retry-after': '7' }, /→ 503 in \d+ ms: failed\n$/],
    [302, { location: '/elsewhere' }, /→ 302 in \d+ ms: failed \(redirects are not followed\)\n$/],
    [410, {}, /→ 410 in \d+ ms: the service disables the endpoint and sends nothing more; start listen again\n$/],
  ])('returns the %i that the server responded', async (status, headers, line) => {
    answer = [status, headers, 'of the server'];
    await forward();
    const answered = await api.sendEvent(EVENT);
    expect([answered.status, await answered.text()]).toEqual([status, 'of the server']);
    expect(Object.fromEntries(answered.headers)).toMatchObject(headers);
    expect(came).toHaveLength(1);
    await printed(line);
  });

  it('does not report a disabled endpoint after 410 to a sandbox event', async () => {
    answer = [410, {}, ''];
    await forward();
    await api.sendEvent({ ...EVENT, sandbox: true });
    await printed(/→ 410 in \d+ ms: failed\n$/);
  });

  it('returns a compressed response unchanged', async () => {
    // The content encoding is not checked.
    answer = [200, { 'content-encoding': 'br' }, ''];
    await forward();
    const answered = await api.sendEvent(EVENT);
    expect([answered.status, answered.headers.get('content-encoding')]).toEqual([200, 'br']);
  });

  it('forwards nothing without a valid signature', async () => {
    await forward();
    expect((await api.sendEvent(EVENT, 'whsec_other')).status).toBe(400);
    await printed('refused  (signature wrong_signature)');
    expect(came).toEqual([]);
  });

  it('reports that nothing listens at the address, also to the service', async () => {
    listening = runListenCommandForTest(api, ['--forward-to', 'http://127.0.0.1:1/hooks']);
    await printed('Ctrl-C');
    const answered = await api.sendEvent(EVENT);
    const why = 'no server listens at this address (ECONNREFUSED)';
    expect([answered.status, await answered.text()]).toEqual([
      502,
      `listen: no response from http://127.0.0.1:1/hooks: ${why}`,
    ]);
    await printed(
      /→ no response from http:\/\/127\.0\.0\.1:1\/hooks after \d+ ms: no server listens at this address \(ECONNREFUSED\)\n$/,
    );
  });

  it('does not wait longer than the service', async () => {
    answer = undefined;
    await forward();
    const patience = new AbortController();
    const sent = api.sendEvent(EVENT, SIGNING_SECRET, patience.signal);
    await eventually(() => expect(waiting).toHaveLength(1));
    patience.abort();
    await expect(sent).rejects.toThrow();
    await printed(
      /→ no response from \S+ after \d+ ms: the service stopped waiting for the response \(ERR_CANCELED\)\n$/,
    );
    await eventually(() => expect(waiting[0]?.destroyed).toBe(true));
  });

  it('replaces the signatures in both formats with those of a secret that the server keeps', async () => {
    await forward(['--secret', OWN_SECRET]);
    expect(listening.out()).not.toMatch(/whsec_/);
    expect((await api.sendEvent(EVENT)).status).toBe(204);
    const { headers, body } = came[0] ?? { headers: {} as IncomingHttpHeaders, body: '' };
    const t = headers['webhook-timestamp'];
    const hex = createHmac('sha256', OWN_SECRET)
      .update(`${String(t)}.${body}`)
      .digest('hex');
    const base64 = createHmac('sha256', Buffer.alloc(32, 9))
      .update(`evt_1.${String(t)}.${body}`)
      .digest('base64');
    expect(headers).toMatchObject({
      'service-signature': `t=${String(t)},v1=${hex}`,
      'webhook-id': 'evt_1',
      'webhook-signature': `v1,${base64}`,
    });
  });

  it('prints JSON, with the secret first and then each result', async () => {
    answer = [500, {}, ''];
    await forward(['--json']);
    const first = JSON.parse(listening.out()) as object;
    expect(first).toMatchObject({ endpoint_id: 'whe_a', forward_to: `http://${address}`, secret: SIGNING_SECRET });
    const before = listening.out().length;
    await api.sendEvent(EVENT);
    await eventually(() =>
      expect(JSON.parse(listening.out().slice(before))).toMatchObject({
        event: EVENT,
        forwarded: { status_code: 500, duration_ms: expect.any(Number), error: null },
      }),
    );
  });

  it('sends an event again when the user types resend, and continues after invalid input', async () => {
    const typed = new PassThrough();
    await forward([], typed);
    typed.write('resend\nresend evt_0\nnonsense\n\n');
    await eventually(() => expect(listening.err().split('\n')).toHaveLength(4));
    expect(listening.err()).toMatch(/no event received yet[^]*unknown command nonsense; available: resend, test\n$/);
    api.responses = SENT_BEFORE;
    await api.sendEvent(EVENT);
    typed.write('resend\ntest shipment.created\n');
    await printed('evt_1 is sent to whe_a again');
    await eventually(() => expect(api.requests.slice(-3)).toEqual([DELIVERIES, RETRY, `POST ${ENDPOINT_PATH}/test`]));
    typed.end();
    await api.sendEvent(EVENT);
    await printed(/\(repeated\)\n$/);
  });
});

describe('events resend', () => {
  let api: StubApi;
  beforeAll(async () => {
    api = await StubApi.startStubApi();
  });
  beforeEach(() => api.resetStubApi());
  afterAll(() => api.stopStubApi());
  const LIST = 'GET /v1/webhook_endpoints';
  const endpoints = (...statuses: string[]) => ({
    [LIST]: [
      200,
      {
        data: [
          { id: 'whe_other', description: null, status: 'enabled' },
          ...statuses.map((status) => ({ id: 'whe_a', description: 'cli listen', status })),
        ],
        next_cursor: null,
        has_more: false,
      },
    ] as const,
  });
  const resend = (...line: string[]) =>
    runCommandLineForTest(loadConfig({ API_KEY: 'sk_test_env' }), [
      'events',
      'resend',
      'evt_1',
      '--url',
      api.url,
      ...line,
    ]);

  it('sends the event to every running listen', async () => {
    api.responses = { ...endpoints('enabled'), ...SENT_BEFORE };
    expect(await resend()).toEqual({ code: 0, out: 'evt_1 is sent to whe_a again\n', err: '' });
    expect(api.requests).toEqual([LIST, DELIVERIES, RETRY]);
  });

  it('or to the specified endpoint', async () => {
    api.responses = SENT_BEFORE;
    expect((await resend('--endpoint', 'whe_a', '--json')).out).toContain('"delivery_id": "dlv_a"');
    expect(api.requests).toEqual([DELIVERIES, RETRY]);
  });

  const NEVER = { [DELIVERIES]: [200, { data: [], next_cursor: null, has_more: false }] as const };
  const REPLAY = `POST ${ENDPOINT_PATH}/replay`;
  const created_at = '2026-11-21T09:30:00.000Z';
  const replay = (status: string, matched: number) => [200, { id: 'rpl_a', status, matched }] as const;

  it('replays the millisecond of an event that was never sent to the endpoint', async () => {
    api.responses = {
      ...NEVER,
      'GET /v1/events/evt_1': [200, { id: 'evt_1', type: 'shipment.created', created_at }],
      [REPLAY]: [202, { id: 'rpl_a', status: 'running', matched: 0 }],
      'GET /v1/webhook_replays/rpl_a': replay('running', 1),
    };
    const { code, out } = await resend('--endpoint', 'whe_a');
    expect([code, out]).toEqual([0, 'evt_1 is sent to whe_a by rpl_a\n']);
    expect(api.bodies.get(REPLAY)).toEqual({
      since: created_at,
      until: created_at,
      event_types: ['shipment.created'],
      statuses: ['missed'],
    });
    api.responses = { ...api.responses, 'GET /v1/webhook_replays/rpl_a': replay('completed', 0) };
    expect((await resend('--endpoint', 'whe_a')).err).toBe(
      'error: evt_1 has a type to which whe_a is not subscribed\n',
    );
  });

  it('continues with the others if one endpoint is not subscribed to the type', async () => {
    const of = (id: string) => ({ id, description: 'cli listen', status: 'enabled' });
    const page = (...data: object[]) => [200, { data, next_cursor: null, has_more: false }] as const;
    api.responses = {
      [LIST]: page(of('whe_b'), of('whe_a')),
      [DELIVERIES.replace('whe_a', 'whe_b')]: page(),
      'GET /v1/events/evt_1': [200, { id: 'evt_1', type: 'shipment.created', created_at }],
      [REPLAY.replace('whe_a', 'whe_b')]: [202, { id: 'rpl_b', status: 'running', matched: 0 }],
      'GET /v1/webhook_replays/rpl_b': replay('completed', 0),
      ...SENT_BEFORE,
    };
    expect(await resend()).toEqual({ code: 0, out: 'evt_1 is sent to whe_a again\n', err: '' });
  });

  it('reports that no listen is running', async () => {
    api.responses = endpoints('disabled');
    expect(await resend()).toEqual({
      code: 1,
      out: '',
      err: 'error: no listen is running with a key of this workspace and environment: start one, or specify --endpoint\n',
    });
  });
});
