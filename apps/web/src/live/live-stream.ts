import type { StreamOptions, TrackingEvent } from '@tracking/client';

/** Event stream with the id from which it can be resumed. */
interface ResumableEvents extends AsyncIterable<TrackingEvent> {
  readonly lastEventId: string | undefined;
}

/** Pause before a stream that has ended is opened again. The client itself reconnects after a broken connection. */
const REOPEN_DELAY_MS = 5_000;
/** Time within which a connection may return without counting as lost. */
const DISCONNECT_TOLERANCE_MS = 5_000;
/** Time after which a hidden page closes its connection. Browsers allow six connections per origin across all tabs. */
const HIDDEN_PAGE_TIMEOUT_MS = 5_000;
/**
 * Maximum age of the last event from which the stream resumes. After a longer pause it would have to deliver too many
 * events.
 */
const MAX_RESUME_AGE_MS = 300_000;

export interface LiveStreamOptions {
  readonly stream: (query: object, options: StreamOptions) => ResumableEvents;
  /** The document, whose `visibilitychange` event reports when the page is hidden or shown. */
  readonly visibility: EventTarget & { readonly hidden: boolean };
  readonly onEvent: (event: TrackingEvent) => void;
  /** Called with true when the stream opens and with false when it has been disconnected for a while. */
  readonly onState: (isOn: boolean) => void;
  /** Called when the first connection opens. Data that was read earlier may be older than the first event. */
  readonly onFirstOpen: () => void;
  /** Called when the stream opens after missing events. */
  readonly onGap: () => void;
  /** Called with the reason each time the service rejects the stream. */
  readonly onRejected: (error: unknown) => void;
}

/** Delivers events while the page is visible. Resumes at the last event, or reports a gap. */
export class LiveStream {
  private readonly ended = new AbortController();
  private resumeId: string | undefined;
  /** Epoch milliseconds up to which all events were delivered. */
  private deliveredUntil = Date.now();
  private isFirst = true;
  private disconnectTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly parts: LiveStreamOptions) {}

  stop(): void {
    this.ended.abort();
    clearTimeout(this.disconnectTimer);
  }

  /** Resolves when the stream is stopped. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      await this.waitUntilVisible();
      if (signal.aborted) return;
      this.startDisconnectTimer();
      const hidden = new AbortController();
      const forget = this.onPageHidden(() => hidden.abort());
      try {
        await this.deliverEvents(AbortSignal.any([signal, hidden.signal]));
      } catch (error) {
        if (!signal.aborted && !hidden.signal.aborted) {
          // The service may have rejected the resume position.
          this.resumeId = undefined;
          this.parts.onRejected(error);
        }
      }
      forget();
      if (!signal.aborted && !hidden.signal.aborted)
        await new Promise((resolve) => setTimeout(resolve, REOPEN_DELAY_MS));
    }
  }

  private async deliverEvents(signal: AbortSignal): Promise<void> {
    const wait = Date.now() - this.deliveredUntil;
    const lastEventId = wait > MAX_RESUME_AGE_MS ? undefined : this.resumeId;
    let isNew = true;
    const onConnection = (isOpen: boolean) => {
      if (isOpen && isNew && lastEventId === undefined) this.reportFirstOpenOrGap();
      [this.isFirst, isNew] = [false, false];
      this.handleConnectionChange(isOpen);
    };
    const stream = this.parts.stream({}, { signal, onConnection, ...(lastEventId !== undefined && { lastEventId }) });
    try {
      for await (const event of stream) this.parts.onEvent(event);
    } finally {
      this.resumeId = stream.lastEventId;
    }
  }

  private reportFirstOpenOrGap(): void {
    if (this.isFirst && Date.now() - this.deliveredUntil < DISCONNECT_TOLERANCE_MS) this.parts.onFirstOpen();
    else this.parts.onGap();
  }

  private handleConnectionChange(isOpen: boolean): void {
    if (isOpen) {
      clearTimeout(this.disconnectTimer);
      this.disconnectTimer = undefined;
      this.parts.onState(true);
      return;
    }
    this.deliveredUntil = Date.now();
    // A hidden page closes its connection itself.
    if (!this.ended.signal.aborted && !this.parts.visibility.hidden) this.startDisconnectTimer();
  }

  private startDisconnectTimer(): void {
    this.disconnectTimer ??= setTimeout(() => this.parts.onState(false), DISCONNECT_TOLERANCE_MS);
  }

  private async waitUntilVisible(): Promise<void> {
    const { visibility } = this.parts;
    const { signal } = this.ended;
    while (visibility.hidden && !signal.aborted) {
      await new Promise((resolve) => {
        visibility.addEventListener('visibilitychange', resolve, { once: true, signal });
        signal.addEventListener('abort', resolve, { once: true });
      });
    }
  }

  /** @returns a function that cancels the callback */
  private onPageHidden(act: () => void): () => void {
    const { visibility } = this.parts;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = () => {
      clearTimeout(timer);
      if (visibility.hidden) timer = setTimeout(act, HIDDEN_PAGE_TIMEOUT_MS);
    };
    visibility.addEventListener('visibilitychange', check);
    return () => {
      clearTimeout(timer);
      visibility.removeEventListener('visibilitychange', check);
    };
  }
}
