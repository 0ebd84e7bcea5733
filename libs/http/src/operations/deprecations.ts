import type { FastifyInstance } from 'fastify';
import type { Headers } from '../server/response-headers.ts';
import type { OperationId } from './operations.ts';

/** An operation that goes. */
export interface Deprecation {
  /** Since when it is to be used no more: a date or time of ISO 8601. */
  readonly since: string;
  /** From when on it may not answer; not earlier. */
  readonly sunset?: string;
  /** Where people read what to use instead. */
  readonly link: string;
}
export type Deprecations = Readonly<Partial<Record<OperationId, Deprecation>>>;

/** The operations that go: all their answers say so, and their descriptions. */
export const DEPRECATIONS: Deprecations = {};

/** Every answer of a deprecated operation says so, refusals too. */
export function announceDeprecations(fastify: FastifyInstance, deprecations: Deprecations): void {
  const headers = new Map<string | undefined, Headers>(
    Object.entries(deprecations).map(([operation, deprecation]) => [operation, deprecationHeaders(deprecation)]),
  );
  if (headers.size === 0) return;
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const found = headers.get(request.routeOptions.config?.operation);
    if (found) reply.headers(found);
    done(null, payload);
  });
}

/**
 * The headers of a deprecated operation's answers (RFC 9745, RFC 8594).
 * @throws Error where the times make no sense
 */
export function deprecationHeaders({ since, sunset, link }: Deprecation): Headers {
  const from = Date.parse(since);
  const until = sunset === undefined ? Infinity : Date.parse(sunset);
  if (!(from <= until))
    throw new Error(`deprecated since ${since}, gone from ${sunset ?? 'never'}: not a time, or too early`);
  return {
    Deprecation: `@${Math.floor(from / 1_000)}`,
    ...(sunset !== undefined && { Sunset: new Date(until).toUTCString() }),
    Link: `<${link}>; rel="deprecation"; type="text/html"`,
  };
}
