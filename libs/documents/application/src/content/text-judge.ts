import type { DocumentContentType } from '@tracking/contracts';
import { UnsupportedDocumentType } from '../refusals.ts';
import { PageScanner, XmlScanner } from './markup-scanner.ts';

type TextType = Extract<DocumentContentType, `text/${string}` | 'application/xml'>;

/**
 * Declared type and name of a file. The hint only distinguishes CSV from other text. All other types are determined
 * from the bytes.
 */
export interface ContentHint {
  readonly contentType?: string | null;
  readonly fileName?: string | null;
}

/** Control characters that no text has. */
const BINARY_CHARACTERS = /[\0-\x08\x0b\x0e-\x1f]/;
const LEADING_BLANKS = /^[\t\n\f\r ]*/;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
const XML_DECLARATION = /^<\?xml[\t\n\r ][^>]*\?>/;
const XML_ELEMENT = /^<[a-z_\x80-\xff][^\s<>&/="']*[\t\n\r />]/i;
const DECLARED_ENCODING = /[\t\n\r ]encoding[\t\n\r ]*=[\t\n\r ]*["']([^"']*)["']/;
const ACCEPTED_ENCODINGS = ['utf-8', 'utf8', 'us-ascii', 'iso-8859-1', 'latin1', 'windows-1252'];

/**
 * Judges a text as it passes, in memory for one chunk. UTF-8 and Latin-1 are both read byte by byte, because only ASCII
 * matters here.
 */
export class TextJudge {
  private readonly contentType: TextType;
  private readonly markup: PageScanner | XmlScanner;
  private last = '';

  /**
   * @param head the first bytes, which are passed again with the rest
   * @throws UnsupportedDocumentType
   */
  constructor(head: Buffer, hint: ContentHint) {
    const start = head.toString('latin1');
    refuseOtherBeginnings(start);
    const opening = start
      .slice(start.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0)
      .replace(LEADING_BLANKS, '');
    const isMarkup = /^<[a-z_:!?/\x80-\xff]/i.test(opening);
    if (isMarkup) refuseUnlessXml(opening);
    this.contentType = isMarkup ? 'application/xml' : isDeclaredCsv(hint) ? 'text/csv' : 'text/plain';
    this.markup = isMarkup ? new XmlScanner() : new PageScanner();
  }

  /** @throws UnsupportedDocumentType */
  take(bytes: Buffer): void {
    const text = bytes.toString('latin1');
    if (BINARY_CHARACTERS.test(text))
      throw new UnsupportedDocumentType('the file is neither of an accepted type nor text');
    this.markup.take(text);
    this.last = text.trimEnd().at(-1) ?? this.last;
  }

  /** @throws UnsupportedDocumentType */
  end(): TextType {
    this.markup.end();
    const isCutOff = this.contentType === 'application/xml' && this.last !== '>';
    if (isCutOff) throw new UnsupportedDocumentType('the file begins like XML but is not complete XML');
    return this.contentType;
  }
}

function refuseOtherBeginnings(start: string): void {
  if (/^(?:\xff\xfe|\xfe\xff)/.test(start)) throw new UnsupportedDocumentType('text must be UTF-8 or Latin-1');
  if (start.startsWith('#!') || start.startsWith('%!')) throw new UnsupportedDocumentType('it is a program');
  if (start.startsWith('{\\rtf')) throw new UnsupportedDocumentType('it is application/rtf');
}

function refuseUnlessXml(opening: string): void {
  const declaration = XML_DECLARATION.exec(opening)?.[0];
  if (declaration !== undefined) {
    return refuseOtherEncodings(declaration);
  }
  if (HTML_BEGINNING.test(opening) || !XML_ELEMENT.test(opening))
    throw new UnsupportedDocumentType('the file begins with HTML markup');
}

/** @param declaration the XML declaration, `<?xml …?>` @throws UnsupportedDocumentType */
export function refuseOtherEncodings(declaration: string): void {
  const encoding = DECLARED_ENCODING.exec(declaration)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!ACCEPTED_ENCODINGS.includes(encoding)) throw new UnsupportedDocumentType('XML must be UTF-8 or Latin-1');
}

/** Returns the declared type if it is a text type; otherwise the type by the file name's ending. */
function isDeclaredCsv({ contentType, fileName }: ContentHint): boolean {
  const declared = contentType?.split(';')[0]?.trim().toLowerCase();
  if (declared === 'text/csv') return true;
  return declared !== 'text/plain' && /\.csv$/i.test(fileName ?? '');
}

const TAG_END_CHARACTERS = '[\\t\\n\\f\\r />]';

/**
 * Matches the beginning of HTML in otherwise binary content. Closing tags are excluded: PDF has names after a slash, as
 * in `<</Title`.
 */
export const PAGE_BEGINNING = new RegExp(
  `<(?:!doctype[\\t\\n\\f\\r ]|(?:html|head|body|script|iframe|svg)${TAG_END_CHARACTERS})`,
  'i',
);

/** Matches beginnings by which a reader treats a text without a declared type as HTML (WHATWG MIME Sniffing, 7.1). */
const HTML_BEGINNING = new RegExp(
  `^<(?:!--|!doctype|(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|svg|math)(?:${TAG_END_CHARACTERS}|$))`,
  'i',
);
