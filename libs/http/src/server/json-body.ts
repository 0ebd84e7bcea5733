import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import jsonc from 'jsonc-parser';
import { RequestError } from '../errors/request-error.ts';
import { type BodyKind, MIB, type RouteBody } from './route-bodies.ts';

/** Of a JSON body, unless the route says otherwise, in bytes. */
export const JSON_LIMIT = MIB;
/** Where no credentials are asked for: enough for every e-mail, name and password. */
export const STRANGERS_BODY_LIMIT = 16_384;

export const JSON_KIND = jsonKind('application/json');
/** RFC 7396. */
export const MERGE_PATCH_KIND = jsonKind('application/merge-patch+json');

function jsonKind(mediaType: string): BodyKind {
  return {
    mediaType,
    addParser(fastify: FastifyInstance): void {
      // Keys as `__proto__` are keys like any other: only declared fields are looked at.
      const parse = fastify.getDefaultJsonParser('ignore', 'ignore');
      fastify.addContentTypeParser<Buffer>(mediaType, { parseAs: 'buffer' }, (request, body, done) => {
        const refused = unreadable(request, body);
        if (refused) {
          done(refused);
          return;
        }
        const text = body.toString();
        void parse(request, text, (error, value) => {
          // The parser's own message quotes the body, and tells the place of some faults only.
          if (error) done(new RequestError('malformed_json', `The body is not a JSON document${firstFault(text)}.`));
          else done(null, value);
        });
      });
    },
  };
}

/** @param limit in bytes */
export function json(limit = JSON_LIMIT): RouteBody {
  return { kind: JSON_KIND, limit };
}

/** Of what is merged into a resource: a merge patch by its name, or as any JSON. */
export function mergePatch(): RouteBody {
  return { ...json(), also: MERGE_PATCH_KIND };
}

function unreadable({ headers }: FastifyRequest, body: Buffer): RequestError | undefined {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return new RequestError('unsupported_media_type', 'Send the body without a Content-Encoding.');
  }
  return isUtf8(body) ? undefined : new RequestError('malformed_json', 'The body is not UTF-8.');
}

/** Where it ceases to be JSON, and what is wrong there; empty where nobody can tell. */
function firstFault(text: string): string {
  let fault = '';
  const onError: jsonc.JSONVisitor['onError'] = (code, ...[, , line, column]) => {
    fault ||= `: line ${line + 1}, column ${column + 1}: ${wordsOf(jsonc.printParseErrorCode(code))}`;
  };
  try {
    jsonc.visit(text.replace(/^\ufeff/, ''), { onError }, { disallowComments: true });
  } catch (error) {
    // It goes as deep as the document does.
    if (!(error instanceof RangeError)) throw error;
  }
  return fault;
}

/** `PropertyNameExpected` as `property name expected`. */
function wordsOf(name: string): string {
  return name.replaceAll(/(?<!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

/**
 * Whether a value that was read from JSON has more bytes than these when written again. Counts without a stack, as JSON is
 * read: a few kilobytes can be nested more deeply than a stack holds.
 */
export function isLargerThan(bytes: number, value: unknown): boolean {
  let size = 0;
  const waiting = [value];
  while (waiting.length > 0 && size <= bytes) {
    const one = waiting.pop();
    if (Array.isArray(one)) {
      size += punctuation(one.length);
      for (const element of one) waiting.push(element);
    } else if (typeof one === 'object' && one !== null) {
      const members = Object.entries(one);
      size += punctuation(members.length);
      for (const [name, member] of members) {
        size += bytesOf(name) + COLON;
        waiting.push(member);
      }
    } else {
      size += bytesOf(one);
    }
  }
  return size > bytes;
}

const COLON = 1;

/** Brackets, and commas between what they hold. */
function punctuation(held: number): number {
  return 2 + Math.max(0, held - 1);
}

function bytesOf(plain: unknown): number {
  return Buffer.byteLength(JSON.stringify(plain));
}
