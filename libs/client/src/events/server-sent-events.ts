/** One dispatch of a stream: an event with its data, or only a place. */
export interface ServerSentEvent {
  /** Empty where it has none. */
  readonly data: string;
  /** Where the stream has got to. */
  readonly id: string;
}

/** Reads server-sent events, however they are cut into pieces (WHATWG HTML, 9.2.6). */
export class ServerSentEvents {
  /** Milliseconds that the server asks to wait before coming again. */
  retry: number | undefined;
  private rest = '';
  private data: string[] = [];
  private id = '';
  private hasPlace = false;

  /** @returns what this piece completed */
  read(text: string): ServerSentEvent[] {
    // A CR at the end may be the first half of a CRLF.
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.line(line));
  }

  private line(line: string): ServerSentEvent[] {
    if (line === '') return this.dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.data.push(value);
    if (field === 'id' && !value.includes('\0')) [this.id, this.hasPlace] = [value, true];
    if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value);
    return [];
  }

  private dispatch(): ServerSentEvent[] {
    if (this.data.length === 0 && !this.hasPlace) return [];
    const event = { data: this.data.join('\n'), id: this.id };
    [this.data, this.hasPlace] = [[], false];
    return [event];
  }
}
