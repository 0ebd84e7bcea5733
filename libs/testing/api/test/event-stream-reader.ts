import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { eventually } from '@tracking/testing';

export interface StreamRequest {
  readonly key: string;
  /** Of a browser, by which it says who it is, instead of the key. */
  readonly cookie?: string;
  readonly query?: string;
  readonly lastEventId?: string;
}

/** One client of an event stream, which reads it as the standard says, line by line. */
export class EventStreamReader {
  /** Envelopes as they came, and their ids. */
  readonly events: { readonly id: string; readonly data: string }[] = [];
  heartbeats = 0;
  /** What it would go on after. */
  lastEventId = '';
  retryMs: number | undefined;
  ended = false;
  private rest = '';
  private data: string[] = [];
  private id = '';

  private constructor(
    private readonly outgoing: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.read(text));
    response.on('close', () => (this.ended = true));
    // A broken connection is told by `close`, too.
    response.on('error', () => undefined);
  }

  /** Resolves when the answer has begun, whatever its status. */
  static async open(url: string, { key, cookie, query = '', lastEventId }: StreamRequest): Promise<EventStreamReader> {
    const headers = {
      ...(cookie === undefined ? { authorization: `Bearer ${key}` } : { cookie }),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const outgoing = request(`${url}/v1/events/stream${query}`, { headers, agent: false });
    outgoing.on('error', () => undefined);
    const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
    return new EventStreamReader(outgoing, response);
  }

  get ids(): string[] {
    return this.events.map(({ id }) => id);
  }

  /** Resolves when so many events have come, with their ids. */
  async told(count: number): Promise<string[]> {
    await eventually(() => {
      if (this.events.length < count) throw new Error(`${this.events.length} of ${count} events have come`);
    });
    return this.ids;
  }

  /** Resolves when the server ended it. */
  async untilEnded(): Promise<void> {
    await eventually(() => {
      if (!this.ended) throw new Error('the stream goes on');
    });
  }

  /** Takes nothing more out of the socket. */
  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  break(): void {
    this.outgoing.destroy();
  }

  private read(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.readLine(line);
  }

  private readLine(line: string): void {
    if (line === '') {
      this.dispatch();
      return;
    }
    const colon = line.indexOf(':');
    const [field, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    if (colon === 0) this.heartbeats += 1;
    if (field === 'id') this.id = value;
    if (field === 'data') this.data.push(value);
    if (field === 'retry') this.retryMs = Number(value);
  }

  private dispatch(): void {
    this.lastEventId = this.id;
    if (this.data.length > 0) this.events.push({ id: this.id, data: this.data.join('\n') });
    this.data = [];
  }
}
