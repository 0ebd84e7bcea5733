import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Logger, Metrics } from '@tracking/ports';
import {
  HttpConnectionLimiter,
  formatError,
  convertMachineErrorToConfigError,
  handleRequestsInOrder,
} from '@tracking/runtime';
import type { McpConfig } from './config.ts';
import { createMcpServer } from './mcp-server.ts';

const MCP_PATH = '/mcp';
const ALLOWED_METHODS = 'POST, OPTIONS';
/** Maximum bytes of a request body. The largest valid arguments have a few kilobytes. */
const MAX_BODY_BYTES = 256 * 1_024;
/** Maximum milliseconds until a request has arrived completely. */
const REQUEST_TIMEOUT_MS = 30_000;
const RETRY_AFTER_SECONDS = '1';
/** The scheme is case-insensitive (RFC 9110, 11.1), and the key has only characters that a header can contain. */
const BEARER_HEADER_PATTERN = /^Bearer +([\x21-\x7e]{1,500})$/i;

export interface McpHttpServer {
  readonly port: number;
  /** Refuses new requests, waits for those in progress for at most `drainMs`, and closes all connections. */
  close(): Promise<void>;
}

/** Dependencies of {@link startMcpHttpServer}. */
interface HttpServerDependencies {
  readonly config: McpConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Serves MCP over Streamable HTTP at `/mcp`. Each request has its own API key, client and MCP server, so nothing of a
 * caller remains after its request, and any replica can serve any request.
 * @throws ConfigError if the server cannot listen at the address
 */
export async function startMcpHttpServer({ config, logger, metrics }: HttpServerDependencies): Promise<McpHttpServer> {
  const { trackingUrl, allowWrites, connections, drainMs } = config;
  const requests = new ConcurrentRequestLimiter(config);
  metrics.createGauge('mcp_requests_in_progress', 'HTTP requests in progress.', [], () => requests.count);
  const calls = metrics.createCounter('mcp_tool_calls_total', 'Completed calls of tools.', ['tool', 'result']);
  const reportError = (error: Error) => logger.debug({ error: formatError(error) }, 'an MCP request was refused');
  const mcp = createMcpHandler(
    ({ authInfo }) =>
      createMcpServer({
        trackingUrl,
        allowWrites,
        logger,
        apiKey: authInfo?.token ?? '',
        onCall: (tool, result) => calls.add(1, { tool, result }),
      }),
    // The tools never change, so there is nothing to subscribe to.
    { maxRequestBodySize: MAX_BODY_BYTES, maxSubscriptions: 0, onerror: reportError },
  );
  const handleMcp = toNodeHandler(mcp, { maxRequestBodySize: MAX_BODY_BYTES, onerror: reportError });

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    logRequestWhenAnswered(logger, request, response);
    const apiKey = readApiKeyOrRespondWithError(request, response, config.allowedOrigins);
    if (apiKey === undefined) return;
    const refusal = requests.countRequestOrReturnRefusal(apiKey, response);
    if (refusal !== undefined) {
      response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
      return refuseRequest(response, refusal.status, refusal.message);
    }
    const authorized = Object.assign(request, { auth: { token: apiKey, clientId: '', scopes: [] } });
    handleMcp(authorized as Parameters<typeof handleMcp>[0], response).catch((error: unknown) => {
      logger.error({ error: formatError(error) }, 'a request failed');
      response.destroy();
    });
  };
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, handleRequestsInOrder(handle));
  new HttpConnectionLimiter({ ...connections, metrics, networkOf: (address) => address }).guardServerConnections(
    server,
  );
  await convertMachineErrorToConfigError(`HOST=${config.host} PORT=${config.port}`, startListening(server, config));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const late = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(late);
      await mcp.close();
    },
  };
}

/** Returns the API key of a request, or responds to the request and returns undefined. */
function readApiKeyOrRespondWithError(
  request: IncomingMessage,
  response: ServerResponse,
  allowedOrigins: readonly string[],
): string | undefined {
  if (request.url?.split('?')[0] !== MCP_PATH) return refuseRequest(response, 404, `The MCP endpoint is ${MCP_PATH}.`);
  const { origin } = request.headers;
  if (origin !== undefined) {
    // A browser sends this header. Without the check, any page could use a server on the user's machine or network.
    if (!allowedOrigins.includes(origin)) return refuseRequest(response, 403, 'Pages of this origin are not allowed.');
    response.setHeader('Access-Control-Allow-Origin', origin).setHeader('Vary', 'Origin');
  }
  if (request.method === 'OPTIONS') {
    const allowed = {
      'Access-Control-Allow-Methods': ALLOWED_METHODS,
      'Access-Control-Allow-Headers': 'Authorization, *',
    };
    response.writeHead(204, { Allow: ALLOWED_METHODS, ...allowed, 'Access-Control-Max-Age': '600' }).end();
    return undefined;
  }
  const [, apiKey] = BEARER_HEADER_PATTERN.exec(request.headers.authorization ?? '') ?? [];
  if (apiKey === undefined) {
    response.setHeader('WWW-Authenticate', 'Bearer');
    return refuseRequest(
      response,
      401,
      'Send an API key of the shipment tracking service: Authorization: Bearer sk_….',
    );
  }
  return apiKey;
}

/** Responds with a JSON-RPC error, and closes the connection if the request body has not arrived yet. */
function refuseRequest(response: ServerResponse, status: number, message: string): undefined {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null });
  const { req: request } = response;
  if (!request.complete && request.method === 'POST') response.setHeader('Connection', 'close');
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  request.resume();
  return undefined;
}

/** Limits the requests in progress, in total and for one API key. Knows a key only while its requests are in progress. */
class ConcurrentRequestLimiter {
  count = 0;
  private readonly byKey = new Map<string, number>();

  constructor(private readonly limits: Pick<McpConfig, 'maxRequests' | 'maxRequestsPerKey'>) {}

  /** Counts a request until its response is closed. Returns the refusal if a limit is reached. */
  countRequestOrReturnRefusal(
    apiKey: string,
    response: ServerResponse,
  ): { readonly status: number; readonly message: string } | undefined {
    const own = this.byKey.get(apiKey) ?? 0;
    if (own >= this.limits.maxRequestsPerKey) {
      return { status: 429, message: 'Too many requests of this API key are in progress.' };
    }
    if (this.count >= this.limits.maxRequests) return { status: 503, message: 'The MCP server is busy.' };
    this.count += 1;
    this.byKey.set(apiKey, own + 1);
    response.once('close', () => {
      this.count -= 1;
      const left = (this.byKey.get(apiKey) ?? 1) - 1;
      if (left === 0) this.byKey.delete(apiKey);
      else this.byKey.set(apiKey, left);
    });
    return undefined;
  }
}

function logRequestWhenAnswered(logger: Logger, { method, url }: IncomingMessage, response: ServerResponse): void {
  const start = performance.now();
  response.once('close', () => {
    const duration_ms = Math.round(performance.now() - start);
    const { statusCode: status, writableFinished: isComplete } = response;
    logger.info(
      { method, path: url?.split('?')[0]?.slice(0, 100), status, duration_ms, ...(!isComplete && { aborted: true }) },
      'request',
    );
  });
}

function startListening(server: Server, { port, host }: McpConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
