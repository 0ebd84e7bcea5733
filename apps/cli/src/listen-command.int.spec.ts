import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { eventually } from '@tracking/testing';
import { loadConfig } from './config.ts';
import { runCli } from './program.ts';

const SECRET = 'whsec_of-the-test';
const ENDPOINT = '/v1/webhook_endpoints/whe_a';
const refusal = (param: string, message: string): object => ({
  error: { message: 'The request has invalid fields.', details: [{ param, code: 'invalid_value', message }] },
});

/** The command against a service that makes endpoints and sends to them as it is told. */
describe('listen', () => {
  let server: Server;
  let url: string;
  /** Routes asked, in order. */
  let asked: string[];
  let keys: Set<string | undefined>;
  let created: { url: string; event_types: string[] };
  /** What is answered instead of success. */
  let refused: Readonly<Record<string, readonly [status: number, body: object]>>;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        const route = `${request.method} ${request.url}`;
        asked.push(route);
        keys.add(request.headers.authorization);
        if (route === 'POST /v1/webhook_endpoints') created = JSON.parse(text) as typeof created;
        void answer(route).then(([status, body]) => {
          response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    asked = [];
    keys = new Set();
    refused = {};
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function answer(route: string): Promise<readonly [number, object]> {
    const no = refused[route];
    if (no) return no;
    if (route === 'POST /v1/webhook_endpoints') {
      return [201, { id: 'whe_a', status: 'pending_verification', last_verification: null, secret: SECRET }];
    }
    if (route !== `POST ${ENDPOINT}/verify`) return [200, { id: 'whe_a', last_verification: null }];
    const challenge = { id: 'evt_c', type: 'endpoint.verification', data: { challenge: 'token-of-the-test' } };
    const reply = await send(challenge);
    const ok = reply.status === 200 && (await reply.text()) === 'token-of-the-test';
    return [200, { id: 'whe_a', last_verification: { ok, error: ok ? null : { code: 'mismatch', message: 'wrong' } } }];
  }
  function send(event: object, secret = SECRET): Promise<Response> {
    const body = JSON.stringify(event);
    const timestamp = Math.floor(Date.now() / 1_000);
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    return fetch(created.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'service-signature': `t=${timestamp},v1=${signature}` },
      body,
    });
  }

  interface Listening {
    readonly ended: Promise<number>;
    out(): string;
    err(): string;
    interrupt(): void;
  }
  function listen(line: readonly string[] = [], env: NodeJS.ProcessEnv = { API_KEY: 'sk_test_env' }): Listening {
    const interrupt = new AbortController();
    let out = '';
    let err = '';
    const ended = runCli(['listen', '--url', url, ...line], loadConfig(env), {
      out: { write: (text) => void (out += text) },
      err: { write: (text) => void (err += text) },
      input: Readable.from([]),
      signal: interrupt.signal,
    });
    return { ended, out: () => out, err: () => err, interrupt: () => interrupt.abort() };
  }
  const DELETED = `DELETE ${ENDPOINT}`;
  const event = {
    id: 'evt_1',
    type: 'milestone.recorded',
    data: { shipment_id: 'shp_a', external_id: 'PO-1', milestone: { code: 'vessel_departed' } },
  };

  it('registers itself, prints what comes, and deletes its endpoint in the end', async () => {
    const { ended, out, err, interrupt } = listen(['--events', 'milestone.recorded,shipment.created']);
    await eventually(() => expect(out()).toContain('Ctrl-C'));
    expect(out()).toMatch(
      /^whe_a listens at http:\/\/127\.0\.0\.1:\d+\/webhooks for milestone.recorded, shipment.created; Ctrl-C ends it\n$/,
    );
    expect(created).toEqual({
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
    expect(asked).toEqual([
      'POST /v1/webhook_endpoints',
      `POST ${ENDPOINT}/verify`,
      `POST ${ENDPOINT}/enable`,
      DELETED,
    ]);
    expect([...keys]).toEqual(['Bearer sk_test_env']);
    expect(out()).not.toContain(SECRET);
    await expect(send(event)).rejects.toThrow();
  });

  it('takes the key and the port from the command line, and prints JSON', async () => {
    const { ended, out, interrupt } = listen(['--key', 'sk_test_line', '--json']);
    await eventually(() => expect(asked).toContain(`POST ${ENDPOINT}/enable`));
    await send(event);
    await eventually(() => expect(out()).toContain('"verdict": "valid"'));
    interrupt();
    expect(await ended).toBe(0);
    expect([...keys]).toEqual(['Bearer sk_test_line']);
    expect(created.event_types).toEqual(['*']);
    expect(out()).toContain('"endpoint_id": "whe_a"');
  });

  it('survives what is no delivery', async () => {
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
      `POST ${ENDPOINT}/verify`,
      [
        200,
        {
          last_verification: { ok: false, error: { code: 'address_not_allowed', message: 'the host is this machine' } },
        },
      ],
      [DELETED],
    ],
  ] as const)('says how to allow receivers on this machine %s', async (_when, route, answered, last) => {
    refused = { [route]: answered };
    const { ended, out, err } = listen();
    expect(await ended).toBe(1);
    expect(out()).toBe('');
    expect(err()).toBe(
      'error: the service sends nothing to this machine (the host is this machine): start it with npm run dev to allow that\n',
    );
    expect(asked.slice(asked.indexOf(route) + 1)).toEqual(last);
  });

  it('fails in one line when it is not let in, nor answered', async () => {
    const unauthorized = { error: { message: 'The API key is not valid.', details: [] } };
    refused = { 'POST /v1/webhook_endpoints': [401, unauthorized] };
    let listening = listen();
    expect([await listening.ended, listening.err()]).toEqual([1, 'error: The API key is not valid.\n']);
    refused = { 'POST /v1/webhook_endpoints': [400, refusal('event_types[0]', 'Unknown event type.')] };
    listening = listen(['--events', 'x']);
    expect([await listening.ended, listening.err()]).toEqual([2, 'error: Unknown event type.\n']);
    listening = listen([], {});
    expect([await listening.ended, listening.err()]).toEqual([
      2,
      'error: give an API key with --key or API_KEY: see keys create\n',
    ]);
    listening = listen(['--url', 'http://127.0.0.1:1']);
    expect(await listening.ended).toBe(1);
    expect(listening.err()).toMatch(/^error: no answer from http:\/\/127\.0\.0\.1:1: [^\n]+\n$/);
    expect(listening.err()).not.toContain('sk_test_env');
  });

  it('says so when its endpoint stays', async () => {
    refused = { [DELETED]: [503, { error: { message: 'The document store does not answer.', details: [] } }] };
    const { ended, out, interrupt } = listen();
    await eventually(() => expect(out()).toContain('Ctrl-C'));
    interrupt();
    expect(await ended).toBe(0);
    expect(out()).toMatch(/whe_a could not be deleted, do it by hand: The document store does not answer\.\n$/);
  });

  it('needs no data folder', async () => {
    const { ended, out, interrupt } = listen([], { API_KEY: 'k', DATA_DIR: '/nonexistent/folder' });
    await eventually(() => expect(out()).toContain('Ctrl-C'));
    interrupt();
    expect(await ended).toBe(0);
  });
});
