import type { ApiCaller, QueryOf, TrackingEvent } from './api.ts';
import type { ReadOptions, RequestOptions } from './call.ts';
import { waitUnlessAborted } from './http/requester.ts';

const IDLE_TIMEOUT_MS = 45_000;
/** Milliseconds before reconnecting. A wait time that the API sends takes precedence. */
const RECONNECT_DELAY_MS = 2_000;
/** Maximum number of consecutive attempts to reconnect. With the longest waits, the attempts take some minutes. */
const MAX_RECONNECTS = 20;

export class Events {
  constructor(private readonly api: ApiCaller) {}

  /**
   * Lists events, oldest first by default, whether or not a webhook endpoint received them. Events are kept for 30 days
   * by default.
   */
  list(query: QueryOf<'listEvents'> = {}, options?: RequestOptions) {
    return this.api.list('listEvents', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getEvent', { path: { id } }, options);
  }

  /** Streams events as they happen: `for await (const event of client.events.stream()) …`. */
  stream(query: Omit<QueryOf<'streamEvents'>, 'after'> = {}, options?: StreamOptions): EventStream {
    return new EventStream(this.api, query, options);
  }
}

type StreamChunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

export interface StreamOptions extends Omit<RequestOptions, 'deadline'> {
  /** ID of the event after which the stream continues. If it is absent, the stream starts with the next event. */
  readonly lastEventId?: string;
  /** Milliseconds without data before reconnecting, 45,000 by default. The API sends a heartbeat every 15 s. */
  readonly idle?: number;
  /** Callback with true when a connection opens, and with false when a connection ends before a reconnection. */
  readonly onConnection?: (isOpen: boolean) => void;
}

/**
 * A stream of events. Iteration connects, and reconnects after the last received event, so that no event is missed or
 * repeated. The stream ends when you leave the loop. Iteration throws the errors of the API, the signal's reason, or
 * `ConnectionError` if the API is unavailable for minutes.
 */
export class EventStream implements AsyncIterable<TrackingEvent> {
  /**
   * ID of the last event that the stream returned. To continue in another process, store the `id` of the last event
   * that you have processed.
   */
  lastEventId: string | undefined;
  private retryMs = RECONNECT_DELAY_MS;

  constructor(
    private readonly api: ApiCaller,
    private readonly query: QueryOf<'streamEvents'>,
    private readonly options: StreamOptions = {},
  ) {
    this.lastEventId = options.lastEventId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TrackingEvent, void, undefined> {
    const given = this.options.signal;
    const signal = given ?? new AbortController().signal;
    for (;;) {
      yield* this.readEventsOfOneConnection(signal);
      await waitUnlessAborted(this.retryMs * (1 + Math.random() / 10), signal);
    }
  }

  /** Reads one connection until it ends, breaks or times out. */
  private async *readEventsOfOneConnection(signal: AbortSignal): AsyncGenerator<TrackingEvent, void, undefined> {
    const connectionEnd = new AbortController();
    let isOpen = false;
    try {
      const stream = await this.openEventStreamResponse(AbortSignal.any([signal, connectionEnd.signal]));
      this.options.onConnection?.(true);
      isOpen = true;
      const reader = stream.getReader();
      const [events, decoder] = [new ServerSentEventParser(), new TextDecoder()];
      for (;;) {
        const { done, value } = await this.readChunk(reader, signal);
        if (done) return;
        yield* this.parseEvents(events.parseServerSentEventChunk(decoder.decode(value, { stream: true })));
        this.retryMs = events.retry ?? this.retryMs;
      }
    } finally {
      connectionEnd.abort();
      if (isOpen) this.options.onConnection?.(false);
    }
  }

  private *parseEvents(events: readonly ServerSentEvent[]): Generator<TrackingEvent, void, undefined> {
    for (const { data, id } of events) {
      this.lastEventId = id;
      if (data !== '') yield JSON.parse(data) as TrackingEvent;
    }
  }

  private async openEventStreamResponse(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { lastEventId: _, idle: __, onConnection: ___, headers, ...options } = this.options;
    const place = this.lastEventId;
    const { data } = await this.api.send<ReadableStream<Uint8Array>>('streamEvents', undefined, {
      ...options,
      query: this.query as Record<string, unknown>,
      headers: { Accept: 'text/event-stream', ...headers, ...(place !== undefined && { 'Last-Event-ID': place }) },
      retries: options.retries ?? MAX_RECONNECTS,
      deadline: 0,
      answer: 'stream',
      signal,
    });
    return data;
  }

  /** Returns the next bytes, or the end if the connection breaks or times out. */
  private async readChunk(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal): Promise<StreamChunk> {
    const over = { done: true, value: undefined } as const;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<typeof over>((resolve) => {
      timer = setTimeout(() => resolve(over), this.options.idle ?? IDLE_TIMEOUT_MS);
    });
    try {
      return await Promise.race([reader.read(), silence]);
    } catch {
      signal.throwIfAborted();
      return over;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** One message of the stream: an event with its data, or only a position. */
interface ServerSentEvent {
  /** Data of the event; empty if the message contains only a position. */
  readonly data: string;
  /** Position in the stream after the message. */
  readonly id: string;
}

/** Parses server-sent events from pieces of any size (WHATWG HTML, 9.2.6). */
export class ServerSentEventParser {
  /** Milliseconds before reconnecting that the server requested. */
  retry: number | undefined;
  private rest = '';
  private data: string[] = [];
  private id = '';
  private hasPosition = false;

  /** @returns the messages that this piece completes */
  parseServerSentEventChunk(text: string): ServerSentEvent[] {
    // A CR at the end of a piece may be the first half of a CRLF.
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.parseServerSentEventLine(line));
  }

  private parseServerSentEventLine(line: string): ServerSentEvent[] {
    if (line === '') return this.takeCompletedServerSentEvent();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.data.push(value);
    if (field === 'id' && !value.includes('\0')) [this.id, this.hasPosition] = [value, true];
    if (field === 'retry' && /^\d+$/.test(value)) this.retry = Number(value);
    return [];
  }

  private takeCompletedServerSentEvent(): ServerSentEvent[] {
    if (this.data.length === 0 && !this.hasPosition) return [];
    const event = { data: this.data.join('\n'), id: this.id };
    [this.data, this.hasPosition] = [[], false];
    return [event];
  }
}
