import type { Api, QueryOf, TrackingEvent } from './api.ts';
import type { ReadOptions, RequestOptions } from './call.ts';
import { pause } from './http/requester.ts';

const IDLE_MS = 45_000;
/** Before it comes again, where the API does not say. */
const RETRY_MS = 2_000;
/** How often in a row it tries to come again: with the longest waits, some minutes. */
const RETRIES = 20;

export class Events {
  constructor(private readonly api: Api) {}

  /** Lists events, oldest first by default, whether or not an endpoint received them; they are kept for 30 days. */
  list(query: QueryOf<'listEvents'> = {}, options?: RequestOptions) {
    return this.api.list('listEvents', { query }, options);
  }

  get(id: string, options?: ReadOptions) {
    return this.api.call('getEvent', { path: { id } }, options);
  }

  /** Events as they happen: `for await (const event of client.events.stream()) …`. */
  stream(query: Omit<QueryOf<'streamEvents'>, 'after'> = {}, options?: StreamOptions): EventStream {
    return new EventStream(this.api, query, options);
  }
}

type Piece = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

export interface StreamOptions extends Omit<RequestOptions, 'deadline'> {
  /** Goes on after this event. Without it, it begins now. */
  readonly lastEventId?: string;
  /** Milliseconds without a sign of life after which it comes again; 45,000 unless told: the API gives one every 15 s. */
  readonly idle?: number;
  /** Told when a connection is open, and when it has ended and is to come again. */
  readonly onConnection?: (isOpen: boolean) => void;
}

/**
 * Events as they happen. Iterated, it connects, and comes again by itself after the last event where the connection ends:
 * nothing is missed and nothing told twice. It ends when the loop is left; it throws what the API refuses, the signal's
 * reason, and `ConnectionError` when the API is away for minutes.
 */
export class EventStream implements AsyncIterable<TrackingEvent> {
  /** Where it has got to. To go on another time, keep the `id` of the last event that you are done with. */
  lastEventId: string | undefined;
  private retryMs = RETRY_MS;

  constructor(
    private readonly api: Api,
    private readonly query: QueryOf<'streamEvents'>,
    private readonly options: StreamOptions = {},
  ) {
    this.lastEventId = options.lastEventId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TrackingEvent, void, undefined> {
    const given = this.options.signal;
    const signal = given ?? new AbortController().signal;
    for (;;) {
      yield* this.connection(signal);
      await pause(this.retryMs * (1 + Math.random() / 10), signal);
    }
  }

  /** One connection, until it ends, breaks or falls silent. */
  private async *connection(signal: AbortSignal): AsyncGenerator<TrackingEvent, void, undefined> {
    const over = new AbortController();
    let isOpen = false;
    try {
      const stream = await this.open(AbortSignal.any([signal, over.signal]));
      this.options.onConnection?.(true);
      isOpen = true;
      const reader = stream.getReader();
      const [events, decoder] = [new ServerSentEvents(), new TextDecoder()];
      for (;;) {
        const { done, value } = await this.piece(reader, signal);
        if (done) return;
        yield* this.heard(events.read(decoder.decode(value, { stream: true })));
        this.retryMs = events.retry ?? this.retryMs;
      }
    } finally {
      over.abort();
      if (isOpen) this.options.onConnection?.(false);
    }
  }

  private *heard(told: readonly ServerSentEvent[]): Generator<TrackingEvent, void, undefined> {
    for (const { data, id } of told) {
      this.lastEventId = id;
      if (data !== '') yield JSON.parse(data) as TrackingEvent;
    }
  }

  private async open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { lastEventId: _, idle: __, onConnection: ___, headers, ...options } = this.options;
    const place = this.lastEventId;
    const { data } = await this.api.send<ReadableStream<Uint8Array>>('streamEvents', undefined, {
      ...options,
      query: this.query as Record<string, unknown>,
      headers: { Accept: 'text/event-stream', ...headers, ...(place !== undefined && { 'Last-Event-ID': place }) },
      retries: options.retries ?? RETRIES,
      deadline: 0,
      answer: 'stream',
      signal,
    });
    return data;
  }

  /** The next bytes; the end where the connection broke, or gave no sign of life. */
  private async piece(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal): Promise<Piece> {
    const over = { done: true, value: undefined } as const;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<typeof over>((resolve) => {
      timer = setTimeout(() => resolve(over), this.options.idle ?? IDLE_MS);
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

/** One dispatch of a stream: an event with its data, or only a place. */
interface ServerSentEvent {
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
