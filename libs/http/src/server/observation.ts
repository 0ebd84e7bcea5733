import type { Counter, Histogram, Logger, Metrics } from '@tracking/ports';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { principalFields, requestFields } from './request.ts';

/** Characters of a path that are logged: strangers send what they like. */
const MAX_PATH = 200;

/** One log line and two metrics per request. Neither a query string nor a header nor a body is ever logged. */
export class Observation {
  private readonly requests: Counter;
  private readonly durations: Histogram;

  constructor(
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    const labels = ['method', 'route', 'status'];
    this.requests = metrics.counter('http_requests_total', 'Requests answered', labels);
    this.durations = metrics.histogram(
      'http_request_duration_seconds',
      'From the request to the end of its answer',
      labels,
    );
  }

  answered(request: FastifyRequest, reply: FastifyReply): void {
    const labels = {
      method: request.method,
      // The pattern, not the path: a path would make a metric of every id.
      route: request.is404 ? 'none' : (request.routeOptions.url ?? 'none'),
      status: reply.statusCode,
    };
    this.requests.add(1, labels);
    this.durations.observe(reply.elapsedTime / 1_000, labels);
    this.logger.info(
      {
        ...requestFields(request),
        ...labels,
        path: loggedPath(request),
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        client: request.ip,
        ...principalFields(request.principal),
        ...request.about,
      },
      'request',
    );
  }
}

/**
 * What follows is a secret: of a one-time link, or a key that somebody took for an id; or is as long as the token of a
 * link, wherever it stands. Also where no route takes it.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(\/invitations\/).*/is, '$1…'],
  [/((?:sk_live|sk_test|whsec)_)[^/]+/gi, '$1…'],
  [/[0-9a-z]{43,}/gi, '…'],
];
const ENCODED = /%([2-6][0-9a-f]|7[0-9a-e])/gi;

/** Strangers send what they like, and secrets are not for the log. */
function loggedPath({ url, params, routeOptions }: FastifyRequest): string {
  // Whatever was encoded in it.
  if (typeof params === 'object' && params !== null && 'token' in params) return routeOptions.url ?? '';
  const [path = ''] = url.split('?', 1);
  // Where no route takes it nothing has decoded it; what is plain to read is enough to know a secret by.
  const plain = path.replace(ENCODED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return SECRETS.reduce((left, [secret, instead]) => left.replace(secret, instead), plain).slice(0, MAX_PATH);
}
