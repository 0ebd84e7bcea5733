import type { DocumentContentType } from '@tracking/contracts';
import { UnsupportedDocumentType } from '../refusals.ts';

type TextType = Extract<DocumentContentType, `text/${string}` | 'application/xml'>;

/** What the sender says of a file. Only ever tells CSV from other text: of all else the bytes tell. */
export interface ContentHint {
  readonly contentType?: string | null;
  readonly fileName?: string | null;
}

/** Control characters that no text has. */
const BINARY = /[\0-\x08\x0b\x0e-\x1f]/;
const BLANK = /^[\t\n\f\r ]*/;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';
const XML_DECLARATION = /^<\?xml[\t\n\r ][^>]*\?>/;
const XML_ELEMENT = /^<[a-z_\x80-\xff][^\s<>&/="']*[\t\n\r />]/i;
const DECLARED_ENCODING = /[\t\n\r ]encoding[\t\n\r ]*=[\t\n\r ]*["']([^"']*)["']/;
const ENCODINGS = ['utf-8', 'utf8', 'us-ascii', 'iso-8859-1', 'latin1', 'windows-1252'];

/**
 * Judges a text as it passes: the whole of it, in memory of one piece. UTF-8 and Latin-1 are both looked at byte by byte,
 * since all that matters here is ASCII in either.
 */
export class TextJudge {
  private readonly contentType: TextType;
  private readonly markup: RegExp;
  private carried = '';
  private last = '';

  /**
   * @param head the first bytes, which are taken again with the rest
   * @throws UnsupportedDocumentType
   */
  constructor(head: Buffer, hint: ContentHint) {
    const start = head.toString('latin1');
    refuseOtherBeginnings(start);
    const opening = start.slice(start.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0).replace(BLANK, '');
    const isMarkup = /^<[a-z_:!?/\x80-\xff]/i.test(opening);
    if (isMarkup) refuseUnlessXml(opening);
    this.contentType = isMarkup ? 'application/xml' : isCsv(hint) ? 'text/csv' : 'text/plain';
    this.markup = isMarkup ? XML_MARKUP : PAGE_MARKUP;
  }

  /** @throws UnsupportedDocumentType */
  take(bytes: Buffer): void {
    const text = bytes.toString('latin1');
    if (BINARY.test(text)) throw new UnsupportedDocumentType('it is of no type that is accepted, nor text');
    // What begins in one piece may end in the next.
    const looked = this.carried + text;
    const found = this.markup.exec(looked);
    if (found !== null) throw new UnsupportedDocumentType(`it has markup of a page: ${printable(found[0])}`);
    this.carried = looked.slice(-(LONGEST_MARKUP - 1));
    this.last = text.trimEnd().at(-1) ?? this.last;
  }

  /** @throws UnsupportedDocumentType */
  end(): TextType {
    const isCutOff = this.contentType === 'application/xml' && this.last !== '>';
    if (isCutOff) throw new UnsupportedDocumentType('it begins as XML and does not end as such');
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
    const encoding = DECLARED_ENCODING.exec(declaration)?.[1]?.toLowerCase() ?? 'utf-8';
    if (!ENCODINGS.includes(encoding)) throw new UnsupportedDocumentType('XML must be UTF-8 or Latin-1');
    return;
  }
  if (BEGINS_PAGE.test(opening) || !XML_ELEMENT.test(opening))
    throw new UnsupportedDocumentType('it begins with the markup of a page');
}

/** The type that was declared, where it is one of text; else the name's ending. */
function isCsv({ contentType, fileName }: ContentHint): boolean {
  const declared = contentType?.split(';')[0]?.trim().toLowerCase();
  if (declared === 'text/csv') return true;
  return declared !== 'text/plain' && /\.csv$/i.test(fileName ?? '');
}

function printable(text: string): string {
  return JSON.stringify(text.trim().slice(0, 40));
}

/** Elements that make a page or bring code into one. */
const PAGE_ELEMENTS =
  'html|head|body|title|base|link|meta|style|script|noscript|template|iframe|frame|frameset|object|embed|applet|form|svg|math';
const TAG_ENDS = '[\\t\\n\\f\\r />]';

/** Markup of a page anywhere in a text that is no XML: also where a page was cut out of its frame. */
const PAGE_MARKUP = new RegExp(`<(?:/?(?:${PAGE_ELEMENTS})${TAG_ENDS}|!doctype|\\?php)`, 'i');

/** What begins a page, in what is otherwise no text. Not closing tags: PDF has names behind a slash, as in `<</Title`. */
export const PAGE_BEGINNING = new RegExp(
  `<(?:!doctype[\\t\\n\\f\\r ]|(?:html|head|body|script|iframe|svg)${TAG_ENDS})`,
  'i',
);

/**
 * In XML names like `body` and `object` are anybody's. What makes a page of it, or runs: elements of pages that nothing
 * else is called like, whatever their prefix; the namespaces of pages, pictures and stylesheets; entities, which also let a
 * few bytes grow to any size.
 */
const XML_MARKUP = new RegExp(
  `<(?:(?:[^\\s<>&/:="']{1,64}:)?(?:html|svg|script|iframe|embed|applet)${TAG_ENDS}|!entity)` +
    '|http://www\\.w3\\.org/(?:1999/xhtml|2000/svg|1999/XSL/Transform)',
  'i',
);

/** No match of page or XML markup is longer. */
const LONGEST_MARKUP = 96;

/** With these a reader takes a text for a page that does not say what it is (WHATWG MIME Sniffing, 7.1). */
const BEGINS_PAGE = new RegExp(
  `^<(?:!--|!doctype|(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|svg|math)(?:${TAG_ENDS}|$))`,
  'i',
);
