import type { StreamOptions, TrackingEvent } from '@tracking/client';

/** A stream of events with the id from which it can be resumed. */
interface Events extends AsyncIterable<TrackingEvent> {
  readonly lastEventId: string | undefined;
}

/** Pause before a stream that has ended is opened again. The client itself reconnects after a broken connection. */
const RETRY_MS = 5_000;
/** A connection that returns within this time does not count as lost. */
const AWAY_MS = 5_000;
/** Time out of sight after which the page closes its connection: browsers allow six connections per origin, over all tabs. */
const HIDDEN_MS = 5_000;
/** Time for which the stream resumes at its last event; after that it would have to deliver too many. */
const RESUME_MS = 300_000;

export interface LiveStreamParts {
  readonly stream: (query: object, options: StreamOptions) => Events;
  /** The document; `visibilitychange` reports when it comes into sight and out of it. */
  readonly sight: EventTarget & { readonly hidden: boolean };
  readonly onEvent: (event: TrackingEvent) => void;
  /** Called when the stream opens, and when it has been missing for a while. */
  readonly onState: (isOn: boolean) => void;
  /** Called when the stream opens with the page: what was read before may be older than its first event. */
  readonly onBeginning: () => void;
  /** Called when the stream opens after events that it does not deliver. */
  readonly onGap: () => void;
  /** Called with the reason each time that the stream is refused. */
  readonly onRefusal: (error: unknown) => void;
}

/** Delivers events while the page is in sight. Resumes at the last event, or reports a gap. */
export class LiveStream {
  private readonly ended = new AbortController();
  private place: string | undefined;
  /** The time, in milliseconds, up to which all events were delivered. */
  private deliveredUntil = Date.now();
  private isFirst = true;
  private away: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly parts: LiveStreamParts) {}

  stop(): void {
    this.ended.abort();
    clearTimeout(this.away);
  }

  /** Resolves when it is stopped. Never rejects. */
  async follow(): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      await this.untilVisible();
      if (signal.aborted) return;
      this.expectConnection();
      const hidden = new AbortController();
      const forget = this.whenHidden(() => hidden.abort());
      try {
        await this.deliver(AbortSignal.any([signal, hidden.signal]));
      } catch (error) {
        if (!signal.aborted && !hidden.signal.aborted) {
          // The resume position may be the reason for the refusal.
          this.place = undefined;
          this.parts.onRefusal(error);
        }
      }
      forget();
      if (!signal.aborted && !hidden.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  private async deliver(signal: AbortSignal): Promise<void> {
    const wait = Date.now() - this.deliveredUntil;
    const lastEventId = wait > RESUME_MS ? undefined : this.place;
    let isNew = true;
    const onConnection = (isOpen: boolean) => {
      if (isOpen && isNew && lastEventId === undefined) this.begin();
      [this.isFirst, isNew] = [false, false];
      this.connection(isOpen);
    };
    const stream = this.parts.stream({}, { signal, onConnection, ...(lastEventId !== undefined && { lastEventId }) });
    try {
      for await (const event of stream) this.parts.onEvent(event);
    } finally {
      this.place = stream.lastEventId;
    }
  }

  private begin(): void {
    if (this.isFirst && Date.now() - this.deliveredUntil < AWAY_MS) this.parts.onBeginning();
    else this.parts.onGap();
  }

  private connection(isOpen: boolean): void {
    if (isOpen) {
      clearTimeout(this.away);
      this.away = undefined;
      this.parts.onState(true);
      return;
    }
    this.deliveredUntil = Date.now();
    // Out of sight the page closes its connection itself.
    if (!this.ended.signal.aborted && !this.parts.sight.hidden) this.expectConnection();
  }

  private expectConnection(): void {
    this.away ??= setTimeout(() => this.parts.onState(false), AWAY_MS);
  }

  private async untilVisible(): Promise<void> {
    const { sight } = this.parts;
    const { signal } = this.ended;
    while (sight.hidden && !signal.aborted) {
      await new Promise((resolve) => {
        sight.addEventListener('visibilitychange', resolve, { once: true, signal });
        signal.addEventListener('abort', resolve, { once: true });
      });
    }
  }

  /** @returns a function that cancels it */
  private whenHidden(act: () => void): () => void {
    const { sight } = this.parts;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = () => {
      clearTimeout(timer);
      if (sight.hidden) timer = setTimeout(act, HIDDEN_MS);
    };
    sight.addEventListener('visibilitychange', check);
    return () => {
      clearTimeout(timer);
      sight.removeEventListener('visibilitychange', check);
    };
  }
}
