import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import jsonc from 'jsonc-parser';
import { RequestError } from '../errors/request-error.ts';
import { type BodyKind, BYTES_PER_MIB, findContentEncodingError, type AcceptedRouteBody } from './route-bodies.ts';
import { readWholeBody } from './whole-bodies.ts';

/** Default limit of a JSON body, in bytes. */
export const DEFAULT_JSON_BODY_BYTES = BYTES_PER_MIB;
/** Limit of a body without credentials, in bytes: enough for every e-mail address, name and password. */
export const ANONYMOUS_JSON_BODY_BYTES = 16_384;

export const JSON_BODY_KIND = createJsonBodyKind('application/json');
/** JSON merge patch (RFC 7396). */
export const MERGE_PATCH_BODY_KIND = createJsonBodyKind('application/merge-patch+json');

function createJsonBodyKind(mediaType: string): BodyKind {
  return {
    mediaType,
    addBodyParser(fastify: FastifyInstance): void {
      // Keys such as `__proto__` are harmless, because only declared fields are read.
      const parse = fastify.getDefaultJsonParser('ignore', 'ignore');
      fastify.addContentTypeParser(mediaType, (request, payload, done) => {
        readWholeBody(request, payload, (failure, body = Buffer.alloc(0)) => {
          const refused = failure ?? findUnreadableBodyError(request, body);
          if (refused) {
            done(refused);
            return;
          }
          // A chunked body may be empty, which is the same as no body.
          if (body.length === 0) {
            done(null, undefined);
            return;
          }
          const text = body.toString();
          void parse(request, text, (error, value) => {
            // Replace the parser's message, because it quotes the body and often lacks the position.
            if (error)
              done(
                new RequestError('malformed_json', `The body is not a JSON document${describeFirstSyntaxError(text)}.`),
              );
            else done(null, value);
          });
        });
      });
    },
  };
}

/** @param limit in bytes */
export function createJsonBodyRule(limit = DEFAULT_JSON_BODY_BYTES): AcceptedRouteBody {
  return { kind: JSON_BODY_KIND, limit };
}

/** Body that is merged into a resource. Accepts the media type of merge patches and plain JSON. */
export function createMergePatchBodyRule(): AcceptedRouteBody {
  return { ...createJsonBodyRule(), also: MERGE_PATCH_BODY_KIND };
}

function findUnreadableBodyError({ headers }: FastifyRequest, body: Buffer): RequestError | undefined {
  const refused = findContentEncodingError(headers);
  if (refused || isUtf8(body)) return refused;
  return new RequestError('malformed_json', 'The body is not UTF-8.');
}

/** Returns the position and kind of the first syntax error; an empty text if unknown. */
function describeFirstSyntaxError(text: string): string {
  let fault = '';
  const onError: jsonc.JSONVisitor['onError'] = (code, ...[, , line, column]) => {
    fault ||= `: line ${line + 1}, column ${column + 1}: ${separatePascalCaseWords(jsonc.printParseErrorCode(code))}`;
  };
  try {
    jsonc.visit(text.replace(/^\ufeff/, ''), { onError }, { disallowComments: true });
  } catch (error) {
    // Ignore a RangeError: the parser recurses for each level, so a deeply nested body exceeds the stack.
    if (!(error instanceof RangeError)) throw error;
  }
  return fault;
}

/** Turns `PropertyNameExpected` into `property name expected`. */
function separatePascalCaseWords(name: string): string {
  return name.replaceAll(/(?<!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

/**
 * Returns true if a value that was read from JSON takes more bytes as JSON. Counts without recursion, because a few
 * kilobytes can be nested more deeply than the stack allows.
 */
export function isLargerAsJsonThan(bytes: number, value: unknown): boolean {
  let size = 0;
  const waiting = [value];
  while (waiting.length > 0 && size <= bytes) {
    const one = waiting.pop();
    if (Array.isArray(one)) {
      size += countPunctuationBytes(one.length);
      for (const element of one) waiting.push(element);
    } else if (typeof one === 'object' && one !== null) {
      const members = Object.entries(one);
      size += countPunctuationBytes(members.length);
      for (const [name, member] of members) {
        size += computeJsonBytes(name) + COLON_BYTE_LENGTH;
        waiting.push(member);
      }
    } else {
      size += computeJsonBytes(one);
    }
  }
  return size > bytes;
}

const COLON_BYTE_LENGTH = 1;

/** Returns the number of bytes of the brackets and commas of an array or object. */
function countPunctuationBytes(held: number): number {
  return 2 + Math.max(0, held - 1);
}

function computeJsonBytes(plain: unknown): number {
  return Buffer.byteLength(JSON.stringify(plain));
}
