import type { StreamOptions, TrackingEvent } from '@tracking/client';

/** Event stream of the API client. `lastEventId` is the event after which a new stream can resume. */
interface ResumableEventStream extends AsyncIterable<TrackingEvent> {
  readonly lastEventId: string | undefined;
}

/** Milliseconds before an ended stream is opened again. After a broken connection, the API client itself reconnects. */
const STREAM_REOPEN_DELAY_MS = 5_000;
/**
 * Milliseconds after which a broken connection is reported as lost. If the connection returns earlier, nothing is
 * reported.
 */
const DISCONNECT_TOLERANCE_MS = 5_000;
/**
 * Milliseconds after which a hidden page closes its connection. Browsers allow only six connections per origin across
 * all tabs.
 */
const HIDDEN_PAGE_DISCONNECT_DELAY_MS = 5_000;
/**
 * Maximum age in milliseconds of the event after which the stream resumes. After a longer pause, the stream starts with
 * new events, because too many events would be delivered.
 */
const MAX_RESUME_AGE_MS = 300_000;

export interface LiveStreamOptions {
  readonly stream: (query: object, options: StreamOptions) => ResumableEventStream;
  /** Source of the `visibilitychange` events: the document of the page. */
  readonly visibility: EventTarget & { readonly hidden: boolean };
  readonly onEvent: (event: TrackingEvent) => void;
  /** Callback that receives true when the stream opens, and false when it has been disconnected for a few seconds. */
  readonly onState: (isOn: boolean) => void;
  /**
   * Callback that runs when the first connection opens. Data that the page read earlier may be older than the first
   * event.
   */
  readonly onFirstOpen: () => void;
  /** Callback that runs when the stream opens again and events were missed. */
  readonly onGap: () => void;
  /** Callback that receives the error each time the service rejects the stream. */
  readonly onRejected: (error: unknown) => void;
}

/**
 * Delivers events while the page is visible. After a pause, the stream resumes after the last event, or reports that
 * events were missed.
 */
export class LiveStream {
  private readonly ended = new AbortController();
  private resumeId: string | undefined;
  /** Epoch milliseconds until which all events have been delivered. */
  private deliveredUntil = Date.now();
  private isFirst = true;
  private disconnectTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly parts: LiveStreamOptions) {}

  stopStream(): void {
    this.ended.abort();
    clearTimeout(this.disconnectTimer);
  }

  /** Runs the stream until `stopStream` is called. The promise never rejects. */
  async runLiveEventStream(): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      await this.waitUntilPageVisible();
      if (signal.aborted) return;
      this.startDisconnectReportTimer();
      const hidden = new AbortController();
      const forget = this.callWhenPageHidden(() => hidden.abort());
      try {
        await this.openStreamAndDeliverEvents(AbortSignal.any([signal, hidden.signal]));
      } catch (error) {
        if (!signal.aborted && !hidden.signal.aborted) {
          // The id after which the stream resumes is cleared, because the service may have rejected it.
          this.resumeId = undefined;
          this.parts.onRejected(error);
        }
      }
      forget();
      if (!signal.aborted && !hidden.signal.aborted)
        await new Promise((resolve) => setTimeout(resolve, STREAM_REOPEN_DELAY_MS));
    }
  }

  private async openStreamAndDeliverEvents(signal: AbortSignal): Promise<void> {
    const wait = Date.now() - this.deliveredUntil;
    const lastEventId = wait > MAX_RESUME_AGE_MS ? undefined : this.resumeId;
    let isNew = true;
    const onConnection = (isOpen: boolean) => {
      if (isOpen && isNew && lastEventId === undefined) this.reportFirstConnectionOrGap();
      [this.isFirst, isNew] = [false, false];
      this.updateConnectionState(isOpen);
    };
    const stream = this.parts.stream({}, { signal, onConnection, ...(lastEventId !== undefined && { lastEventId }) });
    try {
      for await (const event of stream) this.parts.onEvent(event);
    } finally {
      this.resumeId = stream.lastEventId;
    }
  }

  private reportFirstConnectionOrGap(): void {
    if (this.isFirst && Date.now() - this.deliveredUntil < DISCONNECT_TOLERANCE_MS) this.parts.onFirstOpen();
    else this.parts.onGap();
  }

  private updateConnectionState(isOpen: boolean): void {
    if (isOpen) {
      clearTimeout(this.disconnectTimer);
      this.disconnectTimer = undefined;
      this.parts.onState(true);
      return;
    }
    this.deliveredUntil = Date.now();
    // A hidden page closes its own connection, so this is not reported as a lost connection.
    if (!this.ended.signal.aborted && !this.parts.visibility.hidden) this.startDisconnectReportTimer();
  }

  private startDisconnectReportTimer(): void {
    this.disconnectTimer ??= setTimeout(() => this.parts.onState(false), DISCONNECT_TOLERANCE_MS);
  }

  private async waitUntilPageVisible(): Promise<void> {
    const { visibility } = this.parts;
    const { signal } = this.ended;
    while (visibility.hidden && !signal.aborted) {
      await new Promise((resolve) => {
        visibility.addEventListener('visibilitychange', resolve, { once: true, signal });
        signal.addEventListener('abort', resolve, { once: true });
      });
    }
  }

  /**
   * Calls the callback when the page has been hidden for a few seconds. @returns a function that cancels the callback
   */
  private callWhenPageHidden(act: () => void): () => void {
    const { visibility } = this.parts;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = () => {
      clearTimeout(timer);
      if (visibility.hidden) timer = setTimeout(act, HIDDEN_PAGE_DISCONNECT_DELAY_MS);
    };
    visibility.addEventListener('visibilitychange', check);
    return () => {
      clearTimeout(timer);
      visibility.removeEventListener('visibilitychange', check);
    };
  }
}
