import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../errors/request-error.ts';

/** A way to read bodies. */
export interface BodyKind {
  /** Fastify has one parser for each, so two kinds cannot share one. */
  readonly mediaType: string;
  /** Whether what reads it hands on a stream, so that little of it is held at a time. */
  readonly streams?: true;
  /**
   * Adds the parser. Fastify holds a parser of text or bytes to the route's limit; one that hands on a stream has to
   * count itself, up to `request.routeOptions.bodyLimit`.
   */
  addParser(fastify: FastifyInstance): void;
}

/** What a route takes as its body. */
export interface RouteBody {
  readonly kind: BodyKind;
  /** Taken as well. */
  readonly also?: BodyKind;
  /** In bytes. */
  readonly limit: number;
  /** Of one that is streamed; any other must have come within a minute. */
  readonly time?: BodyTime;
}

/** How long a body may take, in milliseconds. */
export interface BodyTime {
  /** Until the next bytes come, where they are waited for. */
  readonly idleMs: number;
  readonly overallMs: number;
}

/** The media type of a kind that takes all. */
export const ANY_TYPE = '*';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of every route that can have a body. */
    body?: RouteBody;
  }
}

/** Reads bodies of these kinds alone, each route's as the route declares it. A route that declares none is refused. */
export function readRouteBodies(fastify: FastifyInstance, kinds: readonly BodyKind[]): void {
  fastify.removeAllContentTypeParsers();
  for (const kind of kinds) kind.addParser(fastify);
  fastify.addHook('onRoute', (route) => {
    if ([route.method].flat().every((method) => WITHOUT_BODY.has(method))) return;
    const { body } = route.config ?? {};
    if (!body) throw new Error(`${String(route.method)} ${route.url} does not declare its body`);
    const taken = kindsOf(body);
    const unread = taken.find((kind) => !kinds.includes(kind));
    if (unread) throw new Error(`${route.url}: nothing reads ${unread.mediaType}`);
    const mediaTypes = taken.map(({ mediaType }) => mediaType);
    route.bodyLimit = body.limit;
    route.preParsing = (request, _reply, _payload, done) => {
      refuseOtherKinds(request, mediaTypes);
      done();
    };
  });
}

/** Fastify parses none of theirs. */
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The one to be named first. */
export function kindsOf({ kind, also }: RouteBody): readonly BodyKind[] {
  return also === undefined ? [kind] : [kind, also];
}

/** A parser that another route has is not one for this route. @throws RequestError 415 */
function refuseOtherKinds({ headers }: FastifyRequest, mediaTypes: readonly string[]): void {
  const sent = headers['content-type'];
  if (mediaTypes.includes(ANY_TYPE)) {
    // By its name another route's parser would read it.
    delete headers['content-type'];
    return;
  }
  if (sent === undefined ? !hasBody(headers) : mediaTypes.includes(sent)) return;
  const [mediaType = '', ...parameters] = sent?.split(';') ?? [];
  if (!mediaTypes.includes(mediaType.trim().toLowerCase())) {
    throw new RequestError('unsupported_media_type', `Send the body as ${mediaTypes.join(' or ')}.`);
  }
  if (parameters.every(isUtf8)) return;
  throw new RequestError('unsupported_media_type', 'Send the body in UTF-8: it is read as that whatever charset says.');
}

/** False for a `charset` other than UTF-8. */
function isUtf8(parameter: string): boolean {
  const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** Whether a request tells of a body. */
export function hasBody({
  'content-length': length = '0',
  'transfer-encoding': encoding,
}: IncomingHttpHeaders): boolean {
  return length !== '0' || encoding !== undefined;
}

export const MIB = 1_048_576;

/** For people. */
export function sizeOf(bytes: number): string {
  return bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes} bytes`;
}
