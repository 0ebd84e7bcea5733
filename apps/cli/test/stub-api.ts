import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { loadConfig } from '../src/config.ts';
import { runCli } from '../src/program.ts';

export const SIGNING_SECRET = 'whsec_b2Ytb3VyLXRlc3RzLWFsb25l';
export const ENDPOINT_PATH = '/v1/webhook_endpoints/whe_a';
export const WEBHOOK_ENDPOINT_LIST_STUB_ROUTE = 'GET /v1/webhook_endpoints';
const JSON_HEADERS = { 'content-type': 'application/json' };

type StubResponse = readonly [status: number, body: object];

/** A stub of the public API that creates endpoints and sends events to the created endpoint. */
export class StubApi {
  /** Requested routes in order, with their queries. */
  requests: string[] = [];
  keys = new Set<string | undefined>();
  /** Last request body by route. */
  readonly bodies = new Map<string, unknown>();
  created: { url: string; event_types: string[] } = { url: '', event_types: [] };
  /** Responses by route that replace the default success. */
  responses: Readonly<Record<string, StubResponse>> = {};

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {
    server.on('request', (request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => (text += part));
      request.on('end', () => {
        const route = `${request.method} ${request.url}`;
        this.requests.push(route);
        if (text !== '') this.bodies.set(route, JSON.parse(text));
        this.keys.add(request.headers.authorization);
        if (route === 'POST /v1/webhook_endpoints') this.created = this.bodies.get(route) as typeof this.created;
        void this.findStubResponse(route).then(([status, body]) => {
          response.writeHead(status, JSON_HEADERS).end(JSON.stringify(body));
        });
      });
    });
  }

  static async startStubApi(): Promise<StubApi> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new StubApi(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  resetStubApi(): void {
    this.requests = [];
    this.keys = new Set();
    this.responses = {};
  }

  async stopStubApi(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Sends an event to the created endpoint. */
  sendEvent(event: object, secret = SIGNING_SECRET, signal: AbortSignal | null = null): Promise<Response> {
    const body = JSON.stringify(event);
    const timestamp = Math.floor(Date.now() / 1_000);
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    const { id = '' } = event as { id?: string };
    const signatureHeaders = { 'service-event-id': id, 'service-signature': `t=${timestamp},v1=${signature}` };
    return fetch(this.created.url, {
      method: 'POST',
      headers: { ...JSON_HEADERS, ...signatureHeaders },
      body,
      signal,
      redirect: 'manual',
    });
  }

  private async findStubResponse(route: string): Promise<StubResponse> {
    const configured = this.responses[route];
    if (configured) return configured;
    if (route === 'POST /v1/webhook_endpoints') {
      return [201, { id: 'whe_a', status: 'pending_verification', last_verification: null, secret: SIGNING_SECRET }];
    }
    if (route === WEBHOOK_ENDPOINT_LIST_STUB_ROUTE) return [200, { data: [], next_cursor: null, has_more: false }];
    if (route !== `POST ${ENDPOINT_PATH}/verify`) return [200, { id: 'whe_a', last_verification: null }];
    const challenge = { id: 'evt_c', type: 'endpoint.verification', data: { challenge: 'token-of-the-test' } };
    const reply = await this.sendEvent(challenge);
    const isEchoed = reply.status === 200 && (await reply.text()) === 'token-of-the-test';
    return [
      200,
      {
        id: 'whe_a',
        last_verification: { ok: isEchoed, error: isEchoed ? null : { code: 'mismatch', message: 'wrong' } },
      },
    ];
  }
}

export interface RunningListenCommand {
  readonly ended: Promise<number>;
  out(): string;
  err(): string;
  interrupt(): void;
}

/** Runs `listen` with the stub in this process. */
export function runListenCommandForTest(
  { url }: StubApi,
  line: readonly string[] = [],
  env: NodeJS.ProcessEnv = { API_KEY: 'sk_test_env' },
  input: NodeJS.ReadableStream = Readable.from([]),
): RunningListenCommand {
  const interrupt = new AbortController();
  let out = '';
  let err = '';
  const ended = runCli(['listen', '--url', url, ...line], loadConfig(env), {
    out: { write: (text) => void (out += text) },
    err: { write: (text) => void (err += text) },
    input,
    signal: interrupt.signal,
  });
  return { ended, out: () => out, err: () => err, interrupt: () => interrupt.abort() };
}
