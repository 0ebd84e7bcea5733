import { createHash } from 'node:crypto';
import type { ExpectedVersions } from '@tracking/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createInvalidRequestError } from '../errors/request-error.ts';
import { SAFE_METHODS } from '../server/route-bodies.ts';

/**
 * Conditional behaviour of an operation: `read` reads one resource with an `ETag`, `write` changes one resource, and
 * `upsert` changes or creates one resource.
 */
export type Conditional = 'read' | 'write' | 'upsert';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent if the operation does not concern one existing resource. */
    conditional?: Conditional;
  }
  interface FastifyRequest {
    /** Versions that a write expects; null if the write accepts any version. */
    expectedVersions: ExpectedVersions | null;
  }
}

/**
 * Reads the preconditions of a write into the request. The feature checks them when it runs the command. A precondition
 * that the operation would ignore is refused, because the client relies on it.
 * @throws RequestError 400
 */
export function readPreconditions(request: FastifyRequest): void {
  const { operation, conditional } = request.routeOptions.config;
  if (operation === undefined || SAFE_METHODS.has(request.method)) return;
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  if (ifNoneMatch !== undefined) {
    if (conditional !== 'upsert')
      throw createHeaderError('If-None-Match', 'Is allowed only for reads, and for writes that may create a resource.');
    if (ifNoneMatch.trim() !== '*')
      throw createHeaderError(
        'If-None-Match',
        'Must be * for a write, which then creates the resource only if it does not exist.',
      );
    if (ifMatch !== undefined) throw createHeaderError('If-None-Match', 'Must not be combined with If-Match.');
    request.expectedVersions = 'none';
  }
  if (ifMatch !== undefined) {
    if (conditional === undefined) throw createHeaderError('If-Match', 'Is not supported by this operation.');
    request.expectedVersions = parseIfMatch(ifMatch);
  }
}

function parseIfMatch(ifMatch: string): ExpectedVersions {
  const tags = parseEntityTags(ifMatch);
  if (tags === undefined)
    throw createHeaderError('If-Match', 'Must be * or a list of ETags, each in quotation marks: "3".');
  return tags === '*' ? 'any' : parseVersionsOfEntityTags(tags);
}

/** Returns the versions that `If-Match` names; undefined if the request accepts any version. */
export function getExpectedVersions({ expectedVersions }: FastifyRequest): readonly number[] | undefined {
  return typeof expectedVersions === 'string' || expectedVersions === null ? undefined : expectedVersions;
}

/** Returns the payload to send. Returns null, and sets status 304, if the client already has the current version. */
export function respondNotModifiedIfCurrent(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const { headers, method, routeOptions } = request;
  const etag = reply.getHeader('ETag');
  const known = headers['if-none-match'];
  if (known === undefined || routeOptions.config.conditional !== 'read' || reply.statusCode !== 200) return payload;
  if (etag === undefined || !matchesEtag(known, String(etag))) return payload;
  reply.code(304).removeHeader('Content-Type').removeHeader('Content-Length');
  // Return the payload for HEAD too: the framework measures the payload and sends only its length.
  return method === 'HEAD' ? payload : null;
}

function createHeaderError(param: string, message: string): Error {
  return createInvalidRequestError([{ param, code: 'invalid_value', message }]);
}

/** An entity tag in a request. */
interface EntityTag {
  readonly isWeak: boolean;
  /** The text between the quotation marks. */
  readonly value: string;
}

/** Matches one tag with its separator, after empty list elements. The pattern cannot backtrack. */
const ETAG_WITH_SEPARATOR_PATTERN = /[ \t,]*(W\/)?"([!#-~\x80-\xff]*)"[ \t]*(?:,|$)/y;
const EMPTY_ETAG_LIST_PATTERN = /^[ \t,]*$/;

/**
 * Parses `If-Match` or `If-None-Match`: `*`, or at least one tag; undefined if the header is malformed.
 * @see RFC 9110, 8.8.3 and 13.1
 */
export function parseEntityTags(header: string): '*' | readonly EntityTag[] | undefined {
  if (header.trim() === '*') return '*';
  const tags: EntityTag[] = [];
  let end = 0;
  for (;;) {
    ETAG_WITH_SEPARATOR_PATTERN.lastIndex = end;
    const found = ETAG_WITH_SEPARATOR_PATTERN.exec(header);
    if (found === null) break;
    tags.push({ isWeak: found[1] !== undefined, value: found[2] ?? '' });
    end = ETAG_WITH_SEPARATOR_PATTERN.lastIndex;
  }
  return tags.length > 0 && EMPTY_ETAG_LIST_PATTERN.test(header.slice(end)) ? tags : undefined;
}

/** Returns the ETag of a resource at a version. */
export function formatEtag(version: number): string {
  return `"${version}"`;
}

/** Returns the ETag of a resource without a version, computed from its content. */
export function computeContentEtag(content: object): string {
  return `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url')}"`;
}

/** Returns the versions that the tags name. Weak tags match no version, because `If-Match` compares strongly. */
export function parseVersionsOfEntityTags(tags: readonly EntityTag[]): readonly number[] {
  const strong = tags.filter(({ isWeak, value }) => !isWeak && /^[1-9]\d{0,14}$/.test(value));
  return strong.map(({ value }) => Number(value));
}

/** Returns true if the header names the tag. `If-None-Match` compares weakly. */
export function matchesEtag(header: string, etag: string): boolean {
  const tags = parseEntityTags(header);
  return tags === '*' || (tags?.some(({ value }) => `"${value}"` === etag) ?? false);
}
