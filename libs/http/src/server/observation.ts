import type { Counter, Histogram, Logger, Metrics } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createCallerLogFields, createRequestLogFields } from './request.ts';

/** Maximum number of characters of a path that are logged. Unauthenticated callers can send long paths. */
const MAX_LOGGED_PATH_CHARS = 200;

/** Writes one log line and two metrics per request. Never logs query strings, headers or bodies. */
export class RequestLogAndMetrics {
  private readonly requests: Counter;
  private readonly durations: Histogram;

  constructor(
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    const labels = ['method', 'route', 'status'];
    this.requests = metrics.createCounter('http_requests_total', 'Number of requests with a response', labels);
    this.durations = metrics.createHistogram(
      'http_request_duration_seconds',
      'Seconds from the request to the end of its response',
      labels,
    );
  }

  recordResponseMetrics(request: FastifyRequest, reply: FastifyReply): void {
    const labels = {
      method: request.method,
      // Use the route's pattern as label: with the path, every id would create a metric of its own.
      route: request.is404 ? 'none' : (request.routeOptions.url ?? 'none'),
      status: reply.statusCode,
    };
    this.requests.add(1, labels);
    this.durations.observe(reply.elapsedTime / 1_000, labels);
    this.logger.info(
      {
        ...createRequestLogFields(request),
        ...labels,
        path: redactPath(request),
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        client: request.ip,
        ...createCallerLogFields(request.principal),
        ...request.resourceIds,
      },
      'request',
    );
  }
}

/**
 * Patterns of secrets in a path, each with its replacement: tokens of one-time links, keys sent in place of ids, and
 * any text as long as a token. Secrets also appear in paths without a route.
 */
const SECRET_REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/(\/invitations\/).*/is, '$1…'],
  [/((?:sk_live|sk_test|whsec)_)[^/]+/gi, '$1…'],
  [/[0-9a-z]{43,}/gi, '…'],
];
const PERCENT_ENCODED_PATTERN = /%([2-6][0-9a-f]|7[0-9a-e])/gi;

/** Returns the path without secrets, shortened. */
function redactPath({ url, params, routeOptions }: FastifyRequest): string {
  // Secrets may be percent-encoded.
  if (typeof params === 'object' && params !== null && 'token' in params) return routeOptions.url ?? '';
  const [path = ''] = url.split('?', 1);
  // Decode the path of a request without a route, at least the plain characters that secrets consist of.
  const plain = path.replace(PERCENT_ENCODED_PATTERN, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return SECRET_REPLACEMENTS.reduce((left, [secret, instead]) => left.replace(secret, instead), plain).slice(
    0,
    MAX_LOGGED_PATH_CHARS,
  );
}
