import { decodeXML } from 'entities';
import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { UnsupportedDocumentTypeError } from '../refusals.ts';

/** Maximum number of characters of a section that the rules check, such as an instruction. */
const MAX_MARKUP_SECTION_CHARS = 1_024;
/** Number of characters before a chunk that are kept, so that a section can begin in one chunk and end in the next. */
const CHARS_KEPT_FROM_PREVIOUS_CHUNK = 2 * MAX_MARKUP_SECTION_CHARS;

export function createMarkupError(found: string): UnsupportedDocumentTypeError {
  return new UnsupportedDocumentTypeError(
    `the content contains HTML markup: ${JSON.stringify(found.trim().slice(0, 40))}`,
  );
}

/** Base of scanners that split text into tags, attributes and declarations. Memory does not grow with the text. */
abstract class MarkupScanner implements TokenizerCallbacks {
  private readonly tokenizer: Tokenizer;
  private text = '';
  /** Offset of the first kept character. */
  private start = 0;

  constructor(xmlMode: boolean) {
    // Without decoding, the tokenizer skips text quickly. Entities do not create tags.
    this.tokenizer = new Tokenizer({ xmlMode, decodeEntities: false }, this);
  }

  /** @param text one character for each byte @throws UnsupportedDocumentTypeError */
  scanMarkupText(text: string): void {
    const kept = this.text.slice(-CHARS_KEPT_FROM_PREVIOUS_CHUNK);
    this.start += this.text.length - kept.length;
    this.text = kept + text;
    this.tokenizer.write(text);
  }

  /** @throws UnsupportedDocumentTypeError */
  finishMarkupScan(): void {
    this.tokenizer.end();
  }

  /** Returns a section of the text; undefined if the section is too long. */
  protected readMarkupSectionWithinLimit(start: number, end: number): string | undefined {
    if (end - start > MAX_MARKUP_SECTION_CHARS) return undefined;
    return this.text.slice(start - this.start, end - this.start);
  }

  abstract onopentagname(start: number, end: number): void;
  abstract onattribname(start: number, end: number): void;
  abstract onclosetag(start: number, end: number): void;
  abstract oncomment(start: number, end: number, endMarkChars: number): void;
  abstract oncdata(): void;
  abstract ondeclaration(start: number, end: number): void;
  abstract onprocessinginstruction(start: number, end: number): void;
  onattribdata(_start: number, _end: number): void {}
  onattribentity(): void {}
  onattribend(_quote: QuoteType): void {}
  onopentagend(): void {}
  onselfclosingtag(): void {}
  ontext(): void {}
  ontextentity(): void {}
  onend(): void {}
}

/** HTML elements that make a page, load code, or contain raw text, in which browsers read no tags. */
const HTML_PAGE_ELEMENTS = new Set(
  (
    'html head body title base link meta style script noscript template iframe frame frameset object embed applet form ' +
    'svg math textarea xmp plaintext noembed noframes'
  ).split(' '),
);

/** Attributes that load or show other content. Attributes that begin with `on` run scripts on any element. */
const ATTRIBUTES_LOADING_EXTERNAL_CONTENT = new Set(
  'src srcset srcdoc href xlink:href action formaction data poster background style is'.split(' '),
);

/**
 * Refuses HTML markup anywhere in a text that is not XML, even if the outer elements of a page are missing. Also
 * refuses markup that browsers may end at another place than the tokenizer, because it can hide other markup: comments,
 * CDATA sections, and closing tags with attributes.
 */
export class HtmlPageScanner extends MarkupScanner {
  private attribute = '';

  constructor() {
    super(false);
  }

  onopentagname(start: number, end: number): void {
    const name = this.readMarkupSectionWithinLimit(start, end);
    if (name !== undefined && HTML_PAGE_ELEMENTS.has(name.toLowerCase()))
      throw createMarkupError(`<${name}${this.readMarkupSectionWithinLimit(end, end + 1) ?? ''}`);
  }

  onattribname(start: number, end: number): void {
    this.attribute = this.readMarkupSectionWithinLimit(start, end) ?? '';
  }

  override onattribend(quote: QuoteType): void {
    // Without a value, words of a text are read as attributes too: `a <b only c`.
    if (quote === QuoteType.NoValue) return;
    const name = this.attribute.toLowerCase();
    if (/^on[a-z]/.test(name) || ATTRIBUTES_LOADING_EXTERNAL_CONTENT.has(name))
      throw createMarkupError(`${this.attribute}=`);
  }

  onclosetag(start: number, end: number): void {
    const name = this.readMarkupSectionWithinLimit(start, end) ?? '';
    const after = this.readMarkupSectionWithinLimit(end, end + 1) ?? '';
    if (after !== '>' || HTML_PAGE_ELEMENTS.has(name.toLowerCase())) throw createMarkupError(`</${name}${after}`);
  }

  oncomment(start: number, end: number): void {
    const text = this.readMarkupSectionWithinLimit(start, end);
    if (text === undefined || this.readMarkupSectionWithinLimit(start - 4, start) === '<!--')
      throw createMarkupError('<!--');
    if (/^\?php/i.test(text)) throw createMarkupError('<?php');
    if (/^\[cdata\[/i.test(text)) throw createMarkupError('<![CDATA[');
  }

  oncdata(): void {
    throw createMarkupError('<![CDATA[');
  }

  ondeclaration(): void {
    throw createMarkupError('<!DOCTYPE');
  }

  onprocessinginstruction(): void {}

  override finishMarkupScan(): void {
    // Reports an incomplete tag or declaration at the end like a complete one.
    this.scanMarkupText('>');
    super.finishMarkupScan();
  }
}

/** Elements that only pages have. Names such as `body` and `object` are common in XML. */
const XML_PAGE_ELEMENTS = new Set('html svg script iframe embed applet'.split(' '));
/** Matches the XML namespaces of pages, pictures, formulas and stylesheets. */
const MARKUP_NAMESPACES_PATTERN =
  /^http:\/\/www\.w3\.org\/(?:1999\/xhtml|2000\/svg|1998\/math\/mathml|1999\/xsl\/transform|tr\/wd-xsl)$/i;
/** Instructions that make a browser apply a stylesheet, or Windows open the file in an Office program. */
const ACTIVE_XML_INSTRUCTION_PATTERN = /^(?:xml-stylesheet|mso-application)(?![\w.:-])/i;
const MAX_NAME_CHARS = 256;

/**
 * Refuses XML that a browser shows as a web page or that runs a program. Refuses internal subsets of document types
 * too: their entities and default attributes change the content, and let a few bytes grow to any size.
 */
export class ActiveXmlContentScanner extends MarkupScanner {
  /** Value of the current attribute if it declares a namespace. */
  private namespace: string | undefined;

  constructor() {
    super(true);
  }

  onopentagname(start: number, end: number): void {
    const name = this.readXmlName(start, end);
    if (XML_PAGE_ELEMENTS.has(name.slice(name.lastIndexOf(':') + 1).toLowerCase()))
      throw createMarkupError(`<${name}${this.readMarkupSectionWithinLimit(end, end + 1) ?? ''}`);
  }

  onattribname(start: number, end: number): void {
    this.namespace = /^xmlns(?::|$)/.test(this.readXmlName(start, end)) ? '' : undefined;
  }

  override onattribdata(start: number, end: number): void {
    if (this.namespace === undefined || start === end) return;
    this.namespace += this.readMarkupSectionWithinLimit(start, end) ?? ' '.repeat(MAX_MARKUP_SECTION_CHARS + 1);
    if (this.namespace.length > MAX_MARKUP_SECTION_CHARS)
      throw new UnsupportedDocumentTypeError('the name of a namespace is too long');
  }

  override onattribend(): void {
    const namespace = decodeXML(this.namespace ?? '').trim();
    if (MARKUP_NAMESPACES_PATTERN.test(namespace)) throw createMarkupError(namespace);
  }

  onclosetag(): void {}

  oncomment(_start: number, _end: number, endMarkChars: number): void {
    // Only HTML ends comments at `--!>`. XML readers that do not fail there would read on.
    if (endMarkChars > 2) throw new UnsupportedDocumentTypeError('the file has a comment that XML does not allow');
  }

  oncdata(): void {}

  ondeclaration(start: number, end: number): void {
    const text = this.readMarkupSectionWithinLimit(start, end);
    if (text === undefined || !/^DOCTYPE\s/.test(text)) throw createMarkupError(`<!${text ?? ''}`);
    // The tokenizer ends at the first `>`, even in a quoted part.
    if (!/^(?:[^"'[\]]|"[^"]*"|'[^']*')*$/.test(text))
      throw new UnsupportedDocumentTypeError('the document type has an internal subset');
  }

  onprocessinginstruction(start: number, end: number): void {
    const text = this.readMarkupSectionWithinLimit(start, end);
    if (text === undefined) throw new UnsupportedDocumentTypeError('a processing instruction is too long');
    const [active] = ACTIVE_XML_INSTRUCTION_PATTERN.exec(text) ?? [];
    if (active !== undefined) throw createMarkupError(`<?${active}`);
  }

  private readXmlName(start: number, end: number): string {
    const name = this.readMarkupSectionWithinLimit(start, end);
    if (name === undefined || name.length > MAX_NAME_CHARS)
      throw new UnsupportedDocumentTypeError(`a name in the content is longer than ${MAX_NAME_CHARS} characters`);
    return name;
  }
}
