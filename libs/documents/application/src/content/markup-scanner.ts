import { decodeXML } from 'entities';
import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { UnsupportedDocumentType } from '../refusals.ts';

/** Maximum number of characters of a section that the rules check, such as an instruction. */
const MAX_SECTION_CHARS = 1_024;
/** Number of characters before a chunk that are kept, so that a section can begin in one chunk and end in the next. */
const CHARS_KEPT_BEFORE_CHUNK = 2 * MAX_SECTION_CHARS;

export function hasMarkup(found: string): UnsupportedDocumentType {
  return new UnsupportedDocumentType(`the content contains HTML markup: ${JSON.stringify(found.trim().slice(0, 40))}`);
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

  /** @param text one character for each byte @throws UnsupportedDocumentType */
  scanText(text: string): void {
    const kept = this.text.slice(-CHARS_KEPT_BEFORE_CHUNK);
    this.start += this.text.length - kept.length;
    this.text = kept + text;
    this.tokenizer.write(text);
  }

  /** @throws UnsupportedDocumentType */
  finishMarkupText(): void {
    this.tokenizer.end();
  }

  /** Returns a section of the text; undefined if the section is too long. */
  protected extractSection(start: number, end: number): string | undefined {
    if (end - start > MAX_SECTION_CHARS) return undefined;
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
const PAGE_ELEMENTS = new Set(
  (
    'html head body title base link meta style script noscript template iframe frame frameset object embed applet form ' +
    'svg math textarea xmp plaintext noembed noframes'
  ).split(' '),
);

/** Attributes that load or show other content. Attributes that begin with `on` run scripts on any element. */
const ACTIVE_ATTRIBUTES = new Set(
  'src srcset srcdoc href xlink:href action formaction data poster background style is'.split(' '),
);

/**
 * Refuses HTML markup anywhere in a text that is not XML, even if the outer elements of a page are missing. Also refuses
 * markup that browsers may end at another place than the tokenizer, because it can hide other markup: comments, CDATA
 * sections, and closing tags with attributes.
 */
export class HtmlPageScanner extends MarkupScanner {
  private attribute = '';

  constructor() {
    super(false);
  }

  onopentagname(start: number, end: number): void {
    const name = this.extractSection(start, end);
    if (name !== undefined && PAGE_ELEMENTS.has(name.toLowerCase()))
      throw hasMarkup(`<${name}${this.extractSection(end, end + 1) ?? ''}`);
  }

  onattribname(start: number, end: number): void {
    this.attribute = this.extractSection(start, end) ?? '';
  }

  override onattribend(quote: QuoteType): void {
    // Without a value, words of a text are read as attributes too: `a <b only c`.
    if (quote === QuoteType.NoValue) return;
    const name = this.attribute.toLowerCase();
    if (/^on[a-z]/.test(name) || ACTIVE_ATTRIBUTES.has(name)) throw hasMarkup(`${this.attribute}=`);
  }

  onclosetag(start: number, end: number): void {
    const name = this.extractSection(start, end) ?? '';
    const after = this.extractSection(end, end + 1) ?? '';
    if (after !== '>' || PAGE_ELEMENTS.has(name.toLowerCase())) throw hasMarkup(`</${name}${after}`);
  }

  oncomment(start: number, end: number): void {
    const text = this.extractSection(start, end);
    if (text === undefined || this.extractSection(start - 4, start) === '<!--') throw hasMarkup('<!--');
    if (/^\?php/i.test(text)) throw hasMarkup('<?php');
    if (/^\[cdata\[/i.test(text)) throw hasMarkup('<![CDATA[');
  }

  oncdata(): void {
    throw hasMarkup('<![CDATA[');
  }

  ondeclaration(): void {
    throw hasMarkup('<!DOCTYPE');
  }

  onprocessinginstruction(): void {}

  override finishMarkupText(): void {
    // Reports an incomplete tag or declaration at the end like a complete one.
    this.scanText('>');
    super.finishMarkupText();
  }
}

/** Elements that only pages have. Names such as `body` and `object` are common in XML. */
const XML_PAGE_ELEMENTS = new Set('html svg script iframe embed applet'.split(' '));
/** Namespaces of pages, pictures, formulas and stylesheets. */
const PAGE_NAMESPACES =
  /^http:\/\/www\.w3\.org\/(?:1999\/xhtml|2000\/svg|1998\/math\/mathml|1999\/xsl\/transform|tr\/wd-xsl)$/i;
/** Instructions that make a browser apply a stylesheet, or Windows open the file in an Office program. */
const ACTIVE_INSTRUCTION_PATTERN = /^(?:xml-stylesheet|mso-application)(?![\w.:-])/i;
const MAX_NAME_CHARS = 256;

/**
 * Refuses XML that a browser shows as a web page or that runs a program. Refuses internal subsets of document types too:
 * their entities and default attributes change the content, and let a few bytes grow to any size.
 */
export class XmlScanner extends MarkupScanner {
  /** Value of the current attribute if it declares a namespace. */
  private namespace: string | undefined;

  constructor() {
    super(true);
  }

  onopentagname(start: number, end: number): void {
    const name = this.readName(start, end);
    if (XML_PAGE_ELEMENTS.has(name.slice(name.lastIndexOf(':') + 1).toLowerCase()))
      throw hasMarkup(`<${name}${this.extractSection(end, end + 1) ?? ''}`);
  }

  onattribname(start: number, end: number): void {
    this.namespace = /^xmlns(?::|$)/.test(this.readName(start, end)) ? '' : undefined;
  }

  override onattribdata(start: number, end: number): void {
    if (this.namespace === undefined || start === end) return;
    this.namespace += this.extractSection(start, end) ?? ' '.repeat(MAX_SECTION_CHARS + 1);
    if (this.namespace.length > MAX_SECTION_CHARS)
      throw new UnsupportedDocumentType('the name of a namespace is too long');
  }

  override onattribend(): void {
    const namespace = decodeXML(this.namespace ?? '').trim();
    if (PAGE_NAMESPACES.test(namespace)) throw hasMarkup(namespace);
  }

  onclosetag(): void {}

  oncomment(_start: number, _end: number, endMarkChars: number): void {
    // Only HTML ends comments at `--!>`. XML readers that do not fail there would read on.
    if (endMarkChars > 2) throw new UnsupportedDocumentType('the file has a comment that XML does not allow');
  }

  oncdata(): void {}

  ondeclaration(start: number, end: number): void {
    const text = this.extractSection(start, end);
    if (text === undefined || !/^DOCTYPE\s/.test(text)) throw hasMarkup(`<!${text ?? ''}`);
    // The tokenizer ends at the first `>`, even in a quoted part.
    if (!/^(?:[^"'[\]]|"[^"]*"|'[^']*')*$/.test(text))
      throw new UnsupportedDocumentType('the document type has an internal subset');
  }

  onprocessinginstruction(start: number, end: number): void {
    const text = this.extractSection(start, end);
    if (text === undefined) throw new UnsupportedDocumentType('a processing instruction is too long');
    const [active] = ACTIVE_INSTRUCTION_PATTERN.exec(text) ?? [];
    if (active !== undefined) throw hasMarkup(`<?${active}`);
  }

  private readName(start: number, end: number): string {
    const name = this.extractSection(start, end);
    if (name === undefined || name.length > MAX_NAME_CHARS)
      throw new UnsupportedDocumentType(`a name in the content is longer than ${MAX_NAME_CHARS} characters`);
    return name;
  }
}
