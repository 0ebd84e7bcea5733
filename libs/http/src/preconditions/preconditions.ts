import { createHash } from 'node:crypto';
import type { ExpectedVersions } from '@tracking/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalidRequest } from '../errors/request-error.ts';

/**
 * What an operation is, for requests with a condition: it reads one resource that has an `ETag`, writes one, or writes one
 * that it may make as well.
 */
export type Conditional = 'read' | 'write' | 'upsert';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Operations without read no single resource, and write none that is there. */
    conditional?: Conditional;
  }
  interface FastifyRequest {
    /** What a write insists on; null where on nothing. */
    expectedVersions: ExpectedVersions | null;
  }
}

const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads the conditions of a write, for the command to carry: whether they hold is decided where it is carried out. One that
 * would be ignored is refused, for a client that sends it relies on it.
 * @throws RequestError 400
 */
export function readPreconditions(request: FastifyRequest): void {
  const { operation, conditional } = request.routeOptions.config;
  if (operation === undefined || READING.has(request.method)) return;
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
    request.expectedVersions = expectedBy(ifMatch);
  }
}

function expectedBy(ifMatch: string): ExpectedVersions {
  const tags = parseEntityTags(ifMatch);
  if (tags === undefined) throw refused('If-Match', 'Must be * or a list of ETags, each in quotation marks: "3".');
  return tags === '*' ? 'any' : versionsOf(tags);
}

/** For what exists or is not found in any case: undefined where the request does not insist on a version. */
export function ifMatchOf({ expectedVersions }: FastifyRequest): readonly number[] | undefined {
  return typeof expectedVersions === 'string' || expectedVersions === null ? undefined : expectedVersions;
}

/** The payload to send: none, with 304, where the client has what it would be answered. */
export function unlessNotModified(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const { headers, method, routeOptions } = request;
  const etag = reply.getHeader('ETag');
  const known = headers['if-none-match'];
  if (known === undefined || routeOptions.config.conditional !== 'read' || reply.statusCode !== 200) return payload;
  if (etag === undefined || !names(known, String(etag))) return payload;
  reply.code(304).removeHeader('Content-Type').removeHeader('Content-Length');
  // Of a HEAD the framework measures the payload, and leaves it out.
  return method === 'HEAD' ? payload : null;
}

function refused(param: string, message: string): Error {
  return invalidRequest([{ param, code: 'invalid_value', message }]);
}

/** An entity tag as a client names it. */
interface EntityTag {
  readonly isWeak: boolean;
  /** What stands between the quotation marks. */
  readonly value: string;
}

/** A tag and what ends it, behind commas that end nothing. Each character can be read in one way only. */
const NEXT = /[ \t,]*(W\/)?"([!#-~\x80-\xff]*)"[ \t]*(?:,|$)/y;
const NOTHING_MORE = /^[ \t,]*$/;

/**
 * What `If-Match` or `If-None-Match` names: `*`, or at least one tag; undefined where it is malformed.
 * @see RFC 9110, 8.8.3 and 13.1
 */
export function parseEntityTags(header: string): '*' | readonly EntityTag[] | undefined {
  if (header.trim() === '*') return '*';
  const tags: EntityTag[] = [];
  let end = 0;
  for (;;) {
    NEXT.lastIndex = end;
    const found = NEXT.exec(header);
    if (found === null) break;
    tags.push({ isWeak: found[1] !== undefined, value: found[2] ?? '' });
    end = NEXT.lastIndex;
  }
  return tags.length > 0 && NOTHING_MORE.test(header.slice(end)) ? tags : undefined;
}

/** The tag of a resource at a version, which grows with every change. */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** The tag of what has no version of its own: it differs where the content does. */
export function etagOfContent(content: object): string {
  return `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url')}"`;
}

/** Versions whose tags these are: a weak one is none, as `If-Match` compares them. */
export function versionsOf(tags: readonly EntityTag[]): readonly number[] {
  const strong = tags.filter(({ isWeak, value }) => !isWeak && /^[1-9]\d{0,14}$/.test(value));
  return strong.map(({ value }) => Number(value));
}

/** Whether the header names the tag, as `If-None-Match` compares: a weak one like a strong one. */
export function names(header: string, etag: string): boolean {
  const tags = parseEntityTags(header);
  return tags === '*' || (tags?.some(({ value }) => `"${value}"` === etag) ?? false);
}
