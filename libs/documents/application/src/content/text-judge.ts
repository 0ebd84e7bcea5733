import type { DocumentContentType } from '@tracking/contracts';
import { UnsupportedDocumentTypeError } from '../refusals.ts';
import { HtmlPageScanner, ActiveXmlContentScanner } from './markup-scanner.ts';

type TextType = Extract<DocumentContentType, `text/${string}` | 'application/xml' | 'message/rfc822'>;

/**
 * Declared type and name of a file. The hint only distinguishes CSV and e-mails from other text. All other types are
 * determined from the bytes.
 */
export interface DeclaredFileTypeAndName {
  readonly contentType?: string | null;
  readonly fileName?: string | null;
}

/** Control characters that no text has. */
const BINARY_CHARACTER_PATTERN = /[\0-\x08\x0b\x0e-\x1f]/;
const LEADING_BLANKS_PATTERN = /^[\t\n\f\r ]*/;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
const XML_DECLARATION_PATTERN = /^<\?xml[\t\n\r ][^>]*\?>/;
const XML_ELEMENT_START_PATTERN = /^<[a-z_\x80-\xff][^\s<>&/="']*[\t\n\r />]/i;
const DECLARED_XML_ENCODING_PATTERN = /[\t\n\r ]encoding[\t\n\r ]*=[\t\n\r ]*["']([^"']*)["']/;
const ACCEPTED_TEXT_ENCODINGS = ['utf-8', 'utf8', 'us-ascii', 'iso-8859-1', 'latin1', 'windows-1252'];

/** Judges a text as it passes, in memory for one chunk. */
export interface StreamingTextChecker {
  /** @throws UnsupportedDocumentTypeError */
  checkContentBytes(bytes: Buffer): void;
  /** @throws UnsupportedDocumentTypeError */
  determineFileType(): TextType;
}

/**
 * Creates the checker for a text file.
 * @param head the first bytes. The content that is checked later contains them too
 * @throws UnsupportedDocumentTypeError
 */
export function createStreamingTextChecker(head: Buffer, hint: DeclaredFileTypeAndName): StreamingTextChecker {
  const start = head.toString('latin1');
  if (start.startsWith('\xff\xfe')) return new Utf16TextMarkupChecker('utf-16le', hint);
  if (start.startsWith('\xfe\xff')) return new Utf16TextMarkupChecker('utf-16be', hint);
  return isTextTypeDeclared(hint, 'message/rfc822', 'eml') && beginsWithMailHeaders(start)
    ? new MailFileChecker()
    : new TextFileChecker(head, hint);
}

/**
 * Judges a text in UTF-16, which must begin with a byte order mark. Its bytes and its characters must both be without
 * markup, because a reader may ignore the encoding.
 */
class Utf16TextMarkupChecker implements StreamingTextChecker {
  private readonly decoder: InstanceType<typeof TextDecoder>;
  private readonly contentType: TextType;
  private readonly scanners = { bytes: new HtmlPageScanner(), characters: new HtmlPageScanner() };

  constructor(encoding: 'utf-16le' | 'utf-16be', hint: DeclaredFileTypeAndName) {
    this.decoder = new TextDecoder(encoding, { fatal: true });
    this.contentType = chooseCsvOrPlainTextByDeclaration(hint);
  }

  checkContentBytes(bytes: Buffer): void {
    this.scanners.bytes.scanMarkupText(bytes.toString('latin1'));
    this.scanUtf16Bytes(bytes);
  }

  determineFileType(): TextType {
    this.scanUtf16Bytes();
    this.scanners.bytes.finishMarkupScan();
    this.scanners.characters.finishMarkupScan();
    return this.contentType;
  }

  private scanUtf16Bytes(bytes?: Buffer): void {
    const text = this.decodeUtf16Bytes(bytes);
    if (BINARY_CHARACTER_PATTERN.test(text)) throw new UnsupportedDocumentTypeError(UNRECOGNIZED_TYPE_MESSAGE);
    this.scanners.characters.scanMarkupText(text);
  }

  /** @param bytes absent at the end */
  private decodeUtf16Bytes(bytes?: Buffer): string {
    try {
      return bytes === undefined ? this.decoder.decode() : this.decoder.decode(bytes, { stream: true });
    } catch {
      throw new UnsupportedDocumentTypeError('the text is not valid UTF-16');
    }
  }
}

/** Judges an e-mail. Its parts may have any content, which mail programs show without running it. */
class MailFileChecker implements StreamingTextChecker {
  checkContentBytes(bytes: Buffer): void {
    if (bytes.includes(0)) throw new UnsupportedDocumentTypeError(UNRECOGNIZED_TYPE_MESSAGE);
  }

  determineFileType(): TextType {
    return 'message/rfc822';
  }
}

/** Fields of which the beginning of an e-mail has one (RFC 5322, section 3.6, and RFC 2045, section 4). */
const MAIL_HEADER_FIELD_PATTERN =
  /^(?:from|date|received|return-path|message-id|mime-version|delivered-to|subject|to):/im;
const MAIL_HEADER_LINE_PATTERN = /^[\x21-\x39\x3b-\x7e]+[\t ]*:|^[\t ]/;

/** Returns true if a text begins with the header of an e-mail, in which no markup makes readers treat it as a page. */
function beginsWithMailHeaders(start: string): boolean {
  const text = start.startsWith(BYTE_ORDER_MARK) ? start.slice(BYTE_ORDER_MARK.length) : start;
  const end = text.search(/\r?\n\r?\n/);
  const header = end < 0 ? text : text.slice(0, end);
  // If the header is longer than the first bytes, its last line may be incomplete.
  const lines = header.split(/\r?\n/).slice(0, end < 0 ? -1 : undefined);
  const isHeader =
    lines.length > 0 && !/^[\t ]/.test(lines[0] ?? '') && lines.every((line) => MAIL_HEADER_LINE_PATTERN.test(line));
  return isHeader && MAIL_HEADER_FIELD_PATTERN.test(header) && !HTML_IN_BINARY_PATTERN.test(header);
}

const UNRECOGNIZED_TYPE_MESSAGE = 'the file is neither of an accepted type nor text';

/**
 * Judges a text as it passes, in memory for one chunk. UTF-8 and Latin-1 are both read byte by byte, because only ASCII
 * matters here.
 */
class TextFileChecker implements StreamingTextChecker {
  private readonly contentType: TextType;
  private readonly markup: HtmlPageScanner | ActiveXmlContentScanner;
  private last = '';

  /**
   * @param head the first bytes, which are passed again with the rest
   * @throws UnsupportedDocumentTypeError
   */
  constructor(head: Buffer, hint: DeclaredFileTypeAndName) {
    const start = head.toString('latin1');
    refuseForeignTextBeginning(start);
    const opening = start
      .slice(start.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0)
      .replace(LEADING_BLANKS_PATTERN, '');
    const isMarkup = /^<[a-z_:!?/\x80-\xff]/i.test(opening);
    if (isMarkup) refuseUnlessXml(opening);
    this.contentType = isMarkup ? 'application/xml' : chooseCsvOrPlainTextByDeclaration(hint);
    this.markup = isMarkup ? new ActiveXmlContentScanner() : new HtmlPageScanner();
  }

  /** @throws UnsupportedDocumentTypeError */
  checkContentBytes(bytes: Buffer): void {
    const text = bytes.toString('latin1');
    if (BINARY_CHARACTER_PATTERN.test(text)) throw new UnsupportedDocumentTypeError(UNRECOGNIZED_TYPE_MESSAGE);
    this.markup.scanMarkupText(text);
    this.last = text.trimEnd().at(-1) ?? this.last;
  }

  /** @throws UnsupportedDocumentTypeError */
  determineFileType(): TextType {
    this.markup.finishMarkupScan();
    const isCutOff = this.contentType === 'application/xml' && this.last !== '>';
    if (isCutOff) throw new UnsupportedDocumentTypeError('the file begins like XML but is not complete XML');
    return this.contentType;
  }
}

function refuseForeignTextBeginning(start: string): void {
  if (start.startsWith('#!') || start.startsWith('%!'))
    throw new UnsupportedDocumentTypeError('the content is a script or a PostScript program');
  if (start.startsWith('{\\rtf')) throw new UnsupportedDocumentTypeError('the content is application/rtf');
}

function refuseUnlessXml(opening: string): void {
  const declaration = XML_DECLARATION_PATTERN.exec(opening)?.[0];
  if (declaration !== undefined) {
    return refuseForeignXmlEncoding(declaration);
  }
  if (HTML_BEGINNING_PATTERN.test(opening) || !XML_ELEMENT_START_PATTERN.test(opening))
    throw new UnsupportedDocumentTypeError('the file begins with HTML markup');
}

/** @param declaration the XML declaration, `<?xml …?>` @throws UnsupportedDocumentTypeError */
export function refuseForeignXmlEncoding(declaration: string): void {
  const encoding = DECLARED_XML_ENCODING_PATTERN.exec(declaration)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!ACCEPTED_TEXT_ENCODINGS.includes(encoding))
    throw new UnsupportedDocumentTypeError('XML must be UTF-8 or Latin-1');
}

/** Returns the type of a text that is neither XML nor an e-mail. */
function chooseCsvOrPlainTextByDeclaration(hint: DeclaredFileTypeAndName): TextType {
  return isTextTypeDeclared(hint, 'text/csv', 'csv') ? 'text/csv' : 'text/plain';
}

/** Returns true if the type is declared, or if the name has its extension and no other type of text is declared. */
function isTextTypeDeclared(
  { contentType, fileName }: DeclaredFileTypeAndName,
  type: TextType,
  extension: string,
): boolean {
  const declared = contentType?.split(';')[0]?.trim().toLowerCase();
  if (declared === type) return true;
  return declared !== 'text/plain' && (fileName ?? '').toLowerCase().endsWith(`.${extension}`);
}

const TAG_END_CHARACTERS = '[\\t\\n\\f\\r />]';

/**
 * Matches the beginning of HTML in otherwise binary content. Closing tags are excluded: PDF has names after a slash, as
 * in `<</Title`.
 */
export const HTML_IN_BINARY_PATTERN = new RegExp(
  `<(?:!doctype[\\t\\n\\f\\r ]|(?:html|head|body|script|iframe|svg)${TAG_END_CHARACTERS})`,
  'i',
);

/** Matches beginnings by which a reader treats a text without a declared type as HTML (WHATWG MIME Sniffing, 7.1). */
const HTML_BEGINNING_PATTERN = new RegExp(
  `^<(?:!--|!doctype|(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|svg|math)(?:${TAG_END_CHARACTERS}|$))`,
  'i',
);
