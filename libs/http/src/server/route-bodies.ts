import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../errors/request-error.ts';

/** A kind of body, with its parser. */
export interface BodyKind {
  /**
   * Media type of the body. Two kinds cannot share a media type, because Fastify has one parser for each media type.
   */
  readonly mediaType: string;
  /** True if the body is read as a stream, so that little of it is in memory at once. */
  readonly streams?: true;
  /**
   * Adds the parser. Fastify enforces the limit of the route for text and bytes. A parser that passes on a stream must
   * count the bytes itself, up to `request.routeOptions.bodyLimit`.
   */
  addBodyParser(fastify: FastifyInstance): void;
}

/** The body that a route accepts. */
export interface AcceptedRouteBody {
  readonly kind: BodyKind;
  /** Other kinds that the route accepts. */
  readonly also?: BodyKind;
  /** Size limit in bytes. */
  readonly limit: number;
  /** Time limits of a streamed body. Other bodies have a limit of one minute. */
  readonly time?: BodyTimeLimits;
}

/** Time limits of a body, in milliseconds. */
export interface BodyTimeLimits {
  /** Milliseconds to wait for the next bytes. */
  readonly idleMs: number;
  readonly overallMs: number;
}

/** Media type of a kind that accepts any media type. */
export const ANY_MEDIA_TYPE = '*';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Body that the route accepts. Present on every route that can have a body. */
    body?: AcceptedRouteBody;
  }
}

/**
 * Adds the parsers of these kinds, and gives each route the kinds that it declares. A route without a declaration is
 * refused.
 */
export function addRouteBodyParsers(fastify: FastifyInstance, kinds: readonly BodyKind[]): void {
  fastify.removeAllContentTypeParsers();
  for (const kind of kinds) kind.addBodyParser(fastify);
  fastify.addHook('onRoute', (route) => {
    if ([route.method].flat().every((method) => SAFE_METHODS.has(method))) return;
    const { body } = route.config ?? {};
    if (!body)
      throw new Error(`The route ${String(route.method)} ${route.url} does not declare the body that it accepts.`);
    const taken = listAcceptedBodyKinds(body);
    const unread = taken.find((kind) => !kinds.includes(kind));
    if (unread)
      throw new Error(`The route ${route.url} accepts ${unread.mediaType}, but no parser reads this media type.`);
    const mediaTypes = taken.map(({ mediaType }) => mediaType);
    route.bodyLimit = body.limit;
    route.preParsing = (request, _reply, _payload, done) => {
      refuseOtherMediaTypes(request, mediaTypes);
      done();
    };
  });
}

/** Methods that only read (RFC 9110, 9.2.1). Fastify does not parse their bodies. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns the kinds of a body, the preferred one first. */
export function listAcceptedBodyKinds({ kind, also }: AcceptedRouteBody): readonly BodyKind[] {
  return also === undefined ? [kind] : [kind, also];
}

/** Refuses media types that only other routes accept. @throws RequestError 415 */
function refuseOtherMediaTypes({ headers }: FastifyRequest, mediaTypes: readonly string[]): void {
  const sent = headers['content-type'];
  if (mediaTypes.includes(ANY_MEDIA_TYPE)) {
    // Refuse the media type here, because Fastify would use the parser of another route.
    delete headers['content-type'];
    return;
  }
  if (sent === undefined ? !hasRequestBody(headers) : mediaTypes.includes(sent)) return;
  const [mediaType = ''] = sent?.split(';', 1) ?? [];
  if (!mediaTypes.includes(mediaType.trim().toLowerCase())) {
    throw new RequestError('unsupported_media_type', `Send the body as ${mediaTypes.join(' or ')}.`);
  }
  checkMediaTypeParameters(mediaType, sent?.slice(mediaType.length) ?? '');
}

/** Refuses malformed parameters of a media type, and another `charset` than UTF-8. @throws RequestError 415 */
function checkMediaTypeParameters(mediaType: string, parameters: string): void {
  const isForm = mediaType.trim().toLowerCase().startsWith('multipart/');
  const isWellFormed = (isForm ? FORM_MEDIA_TYPE_PARAMETERS_PATTERN : MEDIA_TYPE_PARAMETERS_PATTERN).test(parameters);
  if (isWellFormed && parameters.split(';').every(isUtf8CharsetParameter)) return;
  const message = isWellFormed
    ? 'Send the body in UTF-8. Other values of charset are not supported.'
    : 'The Content-Type has a parameter that is not name=value.';
  throw new RequestError('unsupported_media_type', message);
}

const HTTP_TOKEN_PATTERN = "[\\w!#$%&'*+.^`|~-]+";
const QUOTED_STRING = String.raw`"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"`;
/** Matches the parameters of a media type (RFC 9110, 5.6.6). Blanks before a parameter match in one way only. */
const MEDIA_TYPE_PARAMETERS_PATTERN = createMediaTypeParametersPattern(HTTP_TOKEN_PATTERN);
/** The same for forms. Common clients do not quote boundaries that contain separators, such as `=`. */
const FORM_MEDIA_TYPE_PARAMETERS_PATTERN = createMediaTypeParametersPattern(String.raw`[^\s;"]+`);

function createMediaTypeParametersPattern(unquoted: string): RegExp {
  return new RegExp(`^(?:[ \\t]*;(?:[ \\t]*${HTTP_TOKEN_PATTERN}=(?:${unquoted}|${QUOTED_STRING}))?)*[ \\t]*$`);
}

/** Returns false for a `charset` other than UTF-8. */
function isUtf8CharsetParameter(parameter: string): boolean {
  const charset = /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/i.exec(parameter)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** Returns the error for a compressed body; undefined if the body is not compressed. */
export function findContentEncodingError({
  'content-encoding': encoding,
}: IncomingHttpHeaders): RequestError | undefined {
  if (encoding === undefined || encoding === 'identity') return undefined;
  return new RequestError('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.');
}

/** Returns true if a request has a body. */
export function hasRequestBody({
  'content-length': length = '0',
  'transfer-encoding': encoding,
}: IncomingHttpHeaders): boolean {
  return length !== '0' || encoding !== undefined;
}

export const BYTES_PER_MIB = 1_048_576;

/** Returns the size in words, such as `1 MiB`. */
export function formatSize(bytes: number): string {
  return bytes % BYTES_PER_MIB === 0 ? `${bytes / BYTES_PER_MIB} MiB` : `${bytes} bytes`;
}
