import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { eventually } from '@tracking/testing';

export interface EventStreamTestRequest {
  readonly key: string;
  /** Session cookie, which the client sends instead of a key. */
  readonly cookie?: string;
  readonly query?: string;
  readonly lastEventId?: string;
}

/** Client that reads one event stream line by line, as the SSE standard describes. */
export class EventStreamReader {
  /** Received envelopes with their ids. */
  readonly events: { readonly id: string; readonly data: string }[] = [];
  heartbeats = 0;
  /** Id of the event after which the client would resume the stream. */
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
    response.on('data', (text: string) => this.parseEventStreamText(text));
    response.on('close', () => (this.ended = true));
    // The event `close` occurs for broken connections as well.
    response.on('error', () => undefined);
  }

  /** Opens the stream. Resolves when the response has begun, with any status. */
  static async openStream(
    url: string,
    { key, cookie, query = '', lastEventId }: EventStreamTestRequest,
  ): Promise<EventStreamReader> {
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

  /** Waits for this many events and returns their ids. */
  async waitForEvents(count: number): Promise<string[]> {
    await eventually(() => {
      if (this.events.length < count)
        throw new Error(`${this.events.length} of ${count} expected events were received`);
    });
    return this.ids;
  }

  /** Waits until the server ends the stream. */
  async waitForStreamEnd(): Promise<void> {
    await eventually(() => {
      if (!this.ended) throw new Error('the stream has not ended');
    });
  }

  /** Stops reading from the socket. */
  pauseReading(): void {
    this.response.pause();
  }

  resumeReading(): void {
    this.response.resume();
  }

  closeSocket(): void {
    this.outgoing.destroy();
  }

  private parseEventStreamText(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.parseEventStreamLine(line);
  }

  private parseEventStreamLine(line: string): void {
    if (line === '') {
      this.appendParsedSseEvent();
      return;
    }
    const colon = line.indexOf(':');
    const [field, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    if (colon === 0) this.heartbeats += 1;
    if (field === 'id') this.id = value;
    if (field === 'data') this.data.push(value);
    if (field === 'retry') this.retryMs = Number(value);
  }

  private appendParsedSseEvent(): void {
    this.lastEventId = this.id;
    if (this.data.length > 0) this.events.push({ id: this.id, data: this.data.join('\n') });
    this.data = [];
  }
}
