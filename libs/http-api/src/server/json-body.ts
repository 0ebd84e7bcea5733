import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import jsonc from 'jsonc-parser';
import { RequestError } from '../errors/request-error.ts';

/** One parser, for `application/json`; every other media type is answered 415 by Fastify. */
export function acceptJsonOnly(fastify: FastifyInstance): void {
  // Keys as `__proto__` are keys like any other: only declared fields are looked at, and nothing is merged into anything.
  const parse = fastify.getDefaultJsonParser('ignore', 'ignore');
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') {
      done(new RequestError('unsupported_media_type', 'Send the body without a Content-Encoding.'));
      return;
    }
    if (!isUtf8(body)) {
      done(new RequestError('malformed_json', 'The body is not UTF-8.'));
      return;
    }
    const text = body.toString();
    void parse(request, text, (error, value) => {
      // The parser's own message quotes the body, and tells the place of some faults only.
      if (error) done(new RequestError('malformed_json', `The body is not a JSON document${firstFault(text)}.`));
      else done(null, value);
    });
  });
}

/** Where it ceases to be JSON, and what is wrong there; empty where nobody can tell. */
function firstFault(text: string): string {
  let fault = '';
  const onError: jsonc.JSONVisitor['onError'] = (code, _offset, _length, line, column) => {
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
