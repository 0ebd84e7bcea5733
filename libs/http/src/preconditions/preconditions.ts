import { createHash } from 'node:crypto';
import type { ExpectedVersions } from '@tracking/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalidRequest } from '../errors/request-error.ts';
import { SAFE_METHODS } from '../server/route-bodies.ts';

/**
 * The kind of operation for preconditions: it reads one resource with an `ETag`, writes one, or writes one that it creates if
 * there is none.
 */
export type Conditional = 'read' | 'write' | 'upsert';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent for operations that do not concern one existing resource. */
    conditional?: Conditional;
  }
  interface FastifyRequest {
    /** The versions that a write expects; null if it accepts any. */
    expectedVersions: ExpectedVersions | null;
  }
}

/**
 * Reads the preconditions of a write into the request. The feature checks them when it runs the command. A precondition that
 * would be ignored is refused, because the client relies on it.
 * @throws RequestError 400
 */
export function readPreconditions(request: FastifyRequest): void {
  const { operation, conditional } = request.routeOptions.config;
  if (operation === undefined || SAFE_METHODS.has(request.method)) return;
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  if (ifNoneMatch !== undefined) {
    if (conditional !== 'upsert')
      throw refused('If-None-Match', 'Is for reads, and for writes that may make a resource.');
    if (ifNoneMatch.trim() !== '*') throw refused('If-None-Match', 'Must be * with a write: that there is none yet.');
    if (ifMatch !== undefined) throw refused('If-None-Match', 'Is the opposite of If-Match.');
    request.expectedVersions = 'none';
  }
  if (ifMatch !== undefined) {
    if (conditional === undefined) throw refused('If-Match', 'This operation looks at no condition.');
    request.expectedVersions = parseIfMatch(ifMatch);
  }
}

function parseIfMatch(ifMatch: string): ExpectedVersions {
  const tags = parseEntityTags(ifMatch);
  if (tags === undefined) throw refused('If-Match', 'Must be * or a list of ETags, each in quotation marks: "3".');
  return tags === '*' ? 'any' : versionsOf(tags);
}

/** Returns the versions that `If-Match` names; undefined if the request accepts any. */
export function expectedVersionsOf({ expectedVersions }: FastifyRequest): readonly number[] | undefined {
  return typeof expectedVersions === 'string' || expectedVersions === null ? undefined : expectedVersions;
}

/** Returns the payload to send: none, with status 304, if the client has the present version. */
export function applyIfNoneMatch(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const { headers, method, routeOptions } = request;
  const etag = reply.getHeader('ETag');
  const known = headers['if-none-match'];
  if (known === undefined || routeOptions.config.conditional !== 'read' || reply.statusCode !== 200) return payload;
  if (etag === undefined || !matchesTag(known, String(etag))) return payload;
  reply.code(304).removeHeader('Content-Type').removeHeader('Content-Length');
  // For a HEAD, the framework measures the payload and omits it.
  return method === 'HEAD' ? payload : null;
}

function refused(param: string, message: string): Error {
  return invalidRequest([{ param, code: 'invalid_value', message }]);
}

/** An entity tag in a request. */
interface EntityTag {
  readonly isWeak: boolean;
  /** The text between the quotation marks. */
  readonly value: string;
}

/** Matches one tag with its separator, after empty list elements. It cannot backtrack. */
const TAG_AND_SEPARATOR = /[ \t,]*(W\/)?"([!#-~\x80-\xff]*)"[ \t]*(?:,|$)/y;
const EMPTY_ELEMENTS = /^[ \t,]*$/;

/**
 * Parses `If-Match` or `If-None-Match`: `*`, or at least one tag; undefined if it is malformed.
 * @see RFC 9110, 8.8.3 and 13.1
 */
export function parseEntityTags(header: string): '*' | readonly EntityTag[] | undefined {
  if (header.trim() === '*') return '*';
  const tags: EntityTag[] = [];
  let end = 0;
  for (;;) {
    TAG_AND_SEPARATOR.lastIndex = end;
    const found = TAG_AND_SEPARATOR.exec(header);
    if (found === null) break;
    tags.push({ isWeak: found[1] !== undefined, value: found[2] ?? '' });
    end = TAG_AND_SEPARATOR.lastIndex;
  }
  return tags.length > 0 && EMPTY_ELEMENTS.test(header.slice(end)) ? tags : undefined;
}

/** Returns the tag of a resource at a version. */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** Returns the tag of a resource without a version, from its content. */
export function etagOfContent(content: object): string {
  return `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url')}"`;
}

/** Returns the versions of these tags. Weak tags match no version, because `If-Match` compares strongly. */
export function versionsOf(tags: readonly EntityTag[]): readonly number[] {
  const strong = tags.filter(({ isWeak, value }) => !isWeak && /^[1-9]\d{0,14}$/.test(value));
  return strong.map(({ value }) => Number(value));
}

/** Returns true if the header names the tag. `If-None-Match` compares weakly. */
export function matchesTag(header: string, etag: string): boolean {
  const tags = parseEntityTags(header);
  return tags === '*' || (tags?.some(({ value }) => `"${value}"` === etag) ?? false);
}
