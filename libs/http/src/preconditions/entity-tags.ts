import { createHash } from 'node:crypto';

/** An entity tag as a client names it. */
export interface EntityTag {
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
