const LINE_FEED_BYTE = 0x0a;
/** Maximum bytes of a status line or framing header that are buffered. Longer lines are not changed. */
const MAX_BUFFERED_LINE_BYTES = 256;
const STATUS_LINE_PATTERN = /^HTTP\/1\.[01] (\d{3})[ \r]/;
/** Text that matches every beginning of a status line, up to its status. */
const HTTP_STATUS_LINE_COMPARISON_TEMPLATE = 'HTTP/1.1 000 ';
const FRAMING_HEADER_PREFIXES = ['content-length:', 'transfer-encoding:'] as const;
/** One length, or a list of lengths that a proxy joined. */
const CONTENT_LENGTH_LINE_PATTERN = /^content-length:[ \t]*(\d+(?:[ \t]*,[ \t]*\d+)*)[ \t]*\r\n$/i;
const CHUNKED_HEADER_LINE_PATTERN = /^transfer-encoding:(?:.*[ \t,])?chunked[ \t]*\r\n$/i;

type Part = 'status' | 'header' | 'other-header' | 'body';

/**
 * Removes from the head of a response what common servers and proxies send in error, and what a strict parser would
 * refuse although the outcome is clear:
 * - a `100 Continue` for which the request did not ask
 * - repeated equal lengths, as several headers or as a list in one header
 * - the length of a response that has no body: 1xx, 204 and 304
 * - the length of a chunked response (RFC 9112, section 6.3: the chunks count)
 *
 * All other bytes, including invalid ones, pass unchanged and without delay. The parser that reads them decides whether
 * they are valid. Only lines with a length are withheld, until the end of the head.
 */
export class ResponseHeadFilter {
  #part: Part = 'body';
  /** Beginning of the current line, as Latin-1. */
  #line = '';
  /** Lines with a length. They are withheld until the end of the head shows whether they apply. */
  #lengths: string[] = [];
  #status = 0;
  #isChunked = false;
  #isAmbiguous = false;

  /**
   * True if the body's end in the response to the current request is ambiguous. The connection must not be used again:
   * bytes after the response could be part of the body.
   */
  get isAmbiguous(): boolean {
    return this.#isAmbiguous;
  }

  /** Filters the next response, which begins with the next byte. */
  startFilteringNextResponseHead(): void {
    this.#isAmbiguous = false;
    this.#resetResponseHeadState();
  }

  /** Returns the bytes for the parser. The result may be empty. */
  filterResponseHeadBytes(bytes: Buffer): Buffer {
    if (this.#part === 'body') return bytes;
    let out = '';
    let at = 0;
    while (at < bytes.length && !this.#isReadingBody()) {
      const end = bytes.indexOf(LINE_FEED_BYTE, at) + 1 || bytes.length;
      out += this.#filterResponseHeadText(bytes.toString('latin1', at, end));
      at = end;
    }
    return Buffer.concat([Buffer.from(out, 'latin1'), bytes.subarray(at)]);
  }

  #isReadingBody(): boolean {
    return this.#part === 'body';
  }

  #resetResponseHeadState(): void {
    this.#part = 'status';
    this.#line = '';
    this.#lengths = [];
    this.#status = 0;
    this.#isChunked = false;
  }

  /** @param text the rest of a line or a part of it, with at most one line feed, at its end */
  #filterResponseHeadText(text: string): string {
    const endsLine = text.endsWith('\n');
    if (this.#part === 'other-header') {
      if (endsLine) this.#part = 'header';
      return this.#status === 100 ? '' : text;
    }
    this.#line += text;
    return this.#part === 'status' ? this.#readStatusLine(endsLine) : this.#filterHeaderLine(endsLine);
  }

  #readStatusLine(endsLine: boolean): string {
    const status = STATUS_LINE_PATTERN.exec(this.#line)?.[1];
    if (status !== undefined) {
      this.#status = Number(status);
      return this.#forwardCurrentResponseHeaderLine(endsLine);
    }
    // Parsers skip empty lines before a response.
    const isEmptyLine = this.#line === '\r\n' || this.#line === '\n';
    if (!isEmptyLine && !endsLine && isStatusLineBeginning(this.#line)) return '';
    if (!isEmptyLine) this.#part = 'body';
    return this.#takeHeaderLine();
  }

  #filterHeaderLine(endsLine: boolean): string {
    const line = this.#line;
    if (line === '\r\n' || line === '\n') return this.#finishResponseHeadWithLengthLines();
    if (!endsLine && line.length <= MAX_BUFFERED_LINE_BYTES && mayBeFramingHeaderLine(line)) return '';
    // A line that begins with a space would continue the line before it, so the order of lines must not change.
    if (/^[ \t]/.test(line)) return this.#takeContentLengthLines() + this.#forwardCurrentResponseHeaderLine(endsLine);
    if (endsLine && line.toLowerCase().startsWith(FRAMING_HEADER_PREFIXES[0])) {
      this.#lengths.push(this.#takeHeaderLine());
      return '';
    }
    if (endsLine && line.toLowerCase().startsWith(FRAMING_HEADER_PREFIXES[1]))
      this.#isChunked = CHUNKED_HEADER_LINE_PATTERN.test(line);
    return this.#forwardCurrentResponseHeaderLine(endsLine);
  }

  /** Passes the current line, or the part of it that has arrived. */
  #forwardCurrentResponseHeaderLine(endsLine: boolean): string {
    this.#part = endsLine ? 'header' : 'other-header';
    const line = this.#takeHeaderLine();
    return this.#status === 100 ? '' : line;
  }

  #finishResponseHeadWithLengthLines(): string {
    const end = this.#takeHeaderLine();
    if (this.#status === 100) {
      this.#resetResponseHeadState();
      return '';
    }
    const isInformational = this.#status < 200 && this.#status !== 101;
    const lengths = this.#resolveContentLengthLines(isInformational || this.#status === 204 || this.#status === 304);
    if (isInformational) this.#resetResponseHeadState();
    else this.#part = 'body';
    return lengths + end;
  }

  /** Returns the withheld lines that apply to the response. */
  #resolveContentLengthLines(hasNoBody: boolean): string {
    const lists = this.#lengths.map((line) => CONTENT_LENGTH_LINE_PATTERN.exec(line)?.[1]);
    // The parser refuses a line that is not valid.
    if (lists.includes(undefined)) return this.#takeContentLengthLines();
    const values = new Set(lists.flatMap((list) => list?.split(',').map((value) => value.trim()) ?? []));
    if (hasNoBody) {
      const isEmpty = !this.#isChunked && [...values].every((value) => Number(value) === 0);
      this.#isAmbiguous ||= !isEmpty;
      return '';
    }
    if (this.#isChunked) {
      this.#isAmbiguous ||= values.size > 0;
      return '';
    }
    const isRepeated = values.size === 1 && (lists.length > 1 || lists[0]?.includes(','));
    return isRepeated ? `Content-Length: ${[...values].join('')}\r\n` : this.#takeContentLengthLines();
  }

  #takeHeaderLine(): string {
    const line = this.#line;
    this.#line = '';
    return line;
  }

  #takeContentLengthLines(): string {
    const lengths = this.#lengths.join('');
    this.#lengths = [];
    return lengths;
  }
}

function isStatusLineBeginning(line: string): boolean {
  return line === '\r' || STATUS_LINE_PATTERN.test(line + HTTP_STATUS_LINE_COMPARISON_TEMPLATE.slice(line.length));
}

function mayBeFramingHeaderLine(line: string): boolean {
  const beginning = line.toLowerCase();
  return (
    line === '\r' || FRAMING_HEADER_PREFIXES.some((name) => name.startsWith(beginning) || beginning.startsWith(name))
  );
}
