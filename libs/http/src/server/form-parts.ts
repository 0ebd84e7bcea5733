import type { EventEmitter } from 'node:events';
import type { BusboyInstance } from '@fastify/busboy';
import { parse } from 'content-disposition';
import { RequestError } from '../errors/request-error.ts';

/** Headers of a part of a form, with names in lower case. */
export type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * Calls back with the headers of each part, immediately before the parser emits the part. The parser itself passes on
 * neither `filename*` nor other headers.
 */
export function observeFormPartHeaders(parser: BusboyInstance, observe: (headers: PartHeaders) => void): void {
  const { _parser: form } = parser as unknown as { readonly _parser: { readonly parser: EventEmitter } };
  form.parser.prependListener('part', (part: EventEmitter) => part.on('header', observe));
}

/**
 * Returns the file name in the parameter `filename*` of a part (RFC 5987); undefined if there is none or it is invalid.
 * RFC 7578 does not allow it, but some clients send it for names that are not ASCII.
 */
export function parseExtendedFileName({ 'content-disposition': values }: PartHeaders): string | undefined {
  const [disposition = ''] = values ?? [];
  if (!/;\s*filename\*\s*=/i.test(disposition)) return undefined;
  try {
    return parse(disposition).parameters['filename'];
  } catch {
    return undefined;
  }
}

/** Transfer encodings that do not change the bytes (RFC 2045, section 6.2). */
const BYTE_PRESERVING_TRANSFER_ENCODINGS: readonly string[] = ['7bit', '8bit', 'binary'];
const BLANK_CHARACTERS_PATTERN = /[\t\n\r ]+/g;
const BASE64_PATTERN = /^[A-Za-z0-9+/]*={0,2}$/;

/** Returns true if the part is encoded in base64. @throws RequestError `malformed_multipart` for another encoding */
export function isBase64TransferEncoding(transferEncoding: string): boolean {
  const encoding = transferEncoding.trim().toLowerCase();
  if (encoding === 'base64') return true;
  if (BYTE_PRESERVING_TRANSFER_ENCODINGS.includes(encoding)) return false;
  throw createMalformedFormError(
    'the Content-Transfer-Encoding of a part must be base64, binary, 7bit or 8bit; send the bytes as they are',
  );
}

/**
 * Decodes bytes in base64 as they pass. Line breaks and spaces are ignored.
 * @throws RequestError `malformed_multipart` if the bytes are not valid base64
 */
export async function* decodeBase64(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let rest = '';
  let isPadded = false;
  for await (const bytes of source) {
    const text = rest + Buffer.from(bytes).toString('latin1').replaceAll(BLANK_CHARACTERS_PATTERN, '');
    const groups = text.slice(0, text.length - (text.length % 4));
    rest = text.slice(groups.length);
    if (text === '') continue;
    // Nothing may follow the padding.
    if (isPadded) throw invalidBase64Error();
    isPadded = groups.endsWith('=');
    if (isPadded && rest !== '') throw invalidBase64Error();
    if (groups !== '') yield decodeBase64Groups(groups);
  }
  if (rest !== '') throw invalidBase64Error();
}

/** Decodes a text in base64, which contains UTF-8. @throws RequestError `malformed_multipart` */
export function decodeBase64Text(encoded: string): string {
  const text = encoded.replaceAll(BLANK_CHARACTERS_PATTERN, '');
  if (text.length % 4 !== 0) throw invalidBase64Error();
  return decodeBase64Groups(text).toString();
}

/** @param text a multiple of four characters */
function decodeBase64Groups(text: string): Buffer {
  if (!BASE64_PATTERN.test(text)) throw invalidBase64Error();
  return Buffer.from(text, 'base64');
}

function invalidBase64Error(): RequestError {
  return createMalformedFormError('a part is not encoded in base64, as its Content-Transfer-Encoding declares');
}

export function createMalformedFormError(why: string): RequestError {
  return new RequestError('malformed_multipart', `The body is not valid multipart/form-data: ${why}.`);
}
