import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { eventually } from '@tracking/testing';
import {
  ENDPOINT_PATH,
  WEBHOOK_ENDPOINT_LIST_STUB_ROUTE,
  SIGNING_SECRET,
  StubApi,
  runListenCommandForTest as listenTo,
} from '../test/stub-api.ts';

const refusal = (param: string, message: string): object => ({
  error: {
    code: 'validation_failed',
    message: 'The request has invalid fields.',
    details: [{ param, code: 'invalid_value', message }],
  },
});

/** Another server that listens on this machine. */
async function server(): Promise<Server> {
  const made = createServer();
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return made;
}
const portNow = (of: Server): number => (of.address() as AddressInfo).port;
/** The port is free afterwards. */
async function portOf(of: Server): Promise<number> {
  const port = portNow(of);
  await new Promise((resolve) => of.close(resolve));
  return port;
}

describe('listen', () => {
  let api: StubApi;
  beforeAll(async () => {
    api = await StubApi.startStubApi();
  });
  beforeEach(() => api.resetStubApi());
  afterAll(() => api.stopStubApi());

  const listen = (line?: readonly string[], env?: NodeJS.ProcessEnv) => listenTo(api, line, env);
  const send = (...parameters: Parameters<StubApi['sendEvent']>) => api.sendEvent(...parameters);
  const DELETED = `DELETE ${ENDPOINT_PATH}`;
  const event = {
    id: 'evt_1',
    type: 'milestone.recorded',
    data: { shipment_id: 'shp_a', external_id: 'PO-1', milestone: { code: 'vessel_departed' } },
  };

  it('registers an endpoint, prints deliveries, and deletes the endpoint when it ends', async () => {
    const { ended, out, err, interrupt } = listen(['--events', 'milestone.recorded,shipment.created']);
    await eventually(() => expect(out()).toContain('Ctrl-C'));
    expect(out()).toMatch(
      /^whe_a listens at http:\/\/127\.0\.0\.1:\d+\/webhooks for milestone.recorded, shipment.created; press Ctrl-C to stop\n$/,
    );
    expect(api.created).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/webhooks$/),
      event_types: ['milestone.recorded', 'shipment.created'],
      description: 'cli listen',
    });

    expect((await send(event)).status).toBe(204);
    expect((await send(event)).status).toBe(204);
    expect((await send(event, 'whsec_other')).status).toBe(400);
    await eventually(() => expect(out().trim().split('\n')).toHaveLength(4));
    const [, first, second, third] = out().split('\n');
    expect(first).toMatch(/^\S+Z {2}milestone.recorded {4}evt_1 {2}PO-1 vessel_departed {2}\(signature valid\)$/);
    expect(second).toMatch(/\(signature valid, repeated\)$/);
    expect(third).toMatch(/^\S+Z {2}refused {2}\(signature wrong_signature\)$/);

    interrupt();
    expect([await ended, err()]).toEqual([0, '']);
    expect(api.requests).toEqual([
      'POST /v1/webhook_endpoints',
      `POST ${ENDPOINT_PATH}/verify`,
      `POST ${ENDPOINT_PATH}/enable`,
      WEBHOOK_ENDPOINT_LIST_STUB_ROUTE,
      DELETED,
    ]);
    expect([...api.keys]).toEqual(['Bearer sk_test_env']);
    expect(out()).not.toContain(SIGNING_SECRET);
    await expect(send(event)).rejects.toThrow();
  });

  it('reads the key and the port from the command line, and prints JSON', async () => {
    const { ended, out, interrupt } = listen(['--key', 'sk_test_line', '--json']);
    await eventually(() => expect(api.requests).toContain(`POST ${ENDPOINT_PATH}/enable`));
    await send(event);
    await eventually(() => expect(out()).toContain('"verdict": "valid"'));
    interrupt();
    expect(await ended).toBe(0);
    expect([...api.keys]).toEqual(['Bearer sk_test_line']);
    expect(api.created.event_types).toEqual(['*']);
    expect(out()).toContain('"endpoint_id": "whe_a"');
    expect(out()).toMatch(/"received_at": "[\d-]+T[\d:.]+Z"/);
  });

  it('ignores requests that are not deliveries', async () => {
    const { ended, out, interrupt } = listen();
    await eventually(() => expect(out()).toContain('Ctrl-C'));
    expect((await send({ data: null }, 'whsec_other')).status).toBe(400);
    expect((await send(event)).status).toBe(204);
    await eventually(() => expect(out()).toContain('evt_1'));
    interrupt();
    expect(await ended).toBe(0);
  });

  it.each([
    ['when the URL is refused', 'POST /v1/webhook_endpoints', [400, refusal('url', 'the host is this machine')], []],
    [
      'when the address is refused',
      `POST ${ENDPOINT_PATH}/verify`,
      [
        200,
        {
          last_verification: { ok: false, error: { code: 'address_not_allowed', message: 'the host is this machine' } },
        },
      ],
      [DELETED],
    ],
  ] as const)('reports how to allow receivers on this machine %s', async (_when, route, answered, last) => {
    api.responses = { [route]: answered };
    const { ended, out, err } = listen();
    expect(await ended).toBe(1);
    expect(out()).toBe('');
    expect(err()).toBe(
      'error: the service does not deliver to this machine (the host is this machine): start it with npm run dev to allow that\n',
    );
    expect(api.requests.slice(api.requests.indexOf(route) + 1)).toEqual(last);
  });

  it('fails in one line if the API refuses it or does not respond', async () => {
    const unauthorized = { error: { code: 'invalid_api_key', message: 'The API key is not valid.', details: [] } };
    api.responses = { 'POST /v1/webhook_endpoints': [401, unauthorized] };
    let listening = listen();
    expect([await listening.ended, listening.err()]).toEqual([1, 'error: The API key is not valid.\n']);
    api.responses = { 'POST /v1/webhook_endpoints': [400, refusal('event_types[0]', 'Unknown event type.')] };
    listening = listen(['--events', 'x']);
    expect([await listening.ended, listening.err()]).toEqual([2, 'error: Unknown event type.\n']);
    listening = listen([], {});
    expect([await listening.ended, listening.err()]).toEqual([
      2,
      'error: specify an API key with --key or API_KEY; create one with keys create\n',
    ]);
    listening = listen(['--url', 'http://127.0.0.1:1']);
    expect(await listening.ended).toBe(1);
    expect(listening.err()).toMatch(/^error: no response from http:\/\/127\.0\.0\.1:1: [^\n]+\n$/);
    expect(listening.err()).not.toContain('sk_test_env');
  });

  it('reports that its endpoint could not be deleted', async () => {
    api.responses = {
      [DELETED]: [
        503,
        { error: { code: 'unavailable', message: 'The document store does not respond.', details: [] } },
      ],
    };
    const { ended, out, interrupt } = listen();
    await eventually(() => expect(out()).toContain('Ctrl-C'));
    interrupt();
    expect(await ended).toBe(0);
    expect(out()).toMatch(/whe_a could not be deleted; delete it yourself: The document store does not respond\.\n$/);
    const asJson = listen(['--json']);
    await eventually(() => expect(api.requests.filter((each) => each.endsWith('/enable'))).toHaveLength(2));
    asJson.interrupt();
    expect(await asJson.ended).toBe(0);
    expect(asJson.out()).toContain('"error": "The document store does not respond."');
  });

  it('deletes the endpoint of a killed listen, and any at its own port, but no others', async () => {
    const free = await portOf(await server());
    const taken = await server();
    const own = await portOf(await server());
    const at = (port: number, host = '127.0.0.1') => `http://${host}:${port}/webhooks`;
    const left = [
      { id: 'whe_killed', description: 'cli listen', url: at(free) },
      { id: 'whe_own', description: 'cli listen', url: at(own) },
      { id: 'whe_running', description: 'cli listen', url: at(portNow(taken)) },
      { id: 'whe_elsewhere', description: 'cli listen', url: at(free, 'tms.example.com') },
      { id: 'whe_mine', description: 'TMS', url: at(free) },
      { id: 'whe_a', description: 'cli listen', url: at(own) },
      { id: 'whe_gone', description: 'cli listen', url: at(free) },
    ];
    api.responses = {
      [WEBHOOK_ENDPOINT_LIST_STUB_ROUTE]: [200, { data: left, next_cursor: null, has_more: false }],
      'DELETE /v1/webhook_endpoints/whe_gone': [
        404,
        { error: { code: 'not_found', message: 'Another listen was first.', details: [] } },
      ],
    };
    const { ended, out, interrupt } = listen(['--port', String(own)]);
    await eventually(() => expect(out()).toContain('Ctrl-C'));
    expect(api.requests.slice(2)).toEqual([
      `POST ${ENDPOINT_PATH}/enable`,
      WEBHOOK_ENDPOINT_LIST_STUB_ROUTE,
      ...['whe_killed', 'whe_own', 'whe_gone'].map((id) => `DELETE /v1/webhook_endpoints/${id}`),
    ]);
    expect(out()).toContain(
      ['whe_killed', 'whe_own']
        .map((id) => `${id} is deleted: the listen command that created it ended without deleting it\n`)
        .join(''),
    );
    interrupt();
    expect(await ended).toBe(0);
    await portOf(taken);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with its endpoint when the npm process that runs it gets %s',
    async (signal) => {
      const npm = spawn('npm', ['run', '--silent', 'listen', '--', '--url', api.url, '--key', 'sk_test_npm'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let printed = '';
      npm.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part));
      // The output closes when npm and all its children have ended.
      const closed = once(npm, 'close');
      await eventually(() => expect(printed).toContain('Ctrl-C'));
      npm.kill(signal);
      await closed;
      expect(api.requests.at(-1)).toBe(DELETED);
      await expect(send(event)).rejects.toThrow();
    },
  );

  it('needs no data folder', async () => {
    const { ended, out, interrupt } = listen([], { API_KEY: 'k', DATA_DIR: '/nonexistent/folder' });
    await eventually(() => expect(out()).toContain('Ctrl-C'));
    interrupt();
    expect(await ended).toBe(0);
  });
});
