import type { StreamOptions, TrackingEvent } from '@tracking/client';

/** A stream of events with the id from which it can be resumed. */
interface Events extends AsyncIterable<TrackingEvent> {
  readonly lastEventId: string | undefined;
}

/** Before it is begun anew after it ended: the client itself comes again where only a connection broke. */
const AGAIN_MS = 5_000;
/** A connection that is back so soon was never away. */
const AWAY_MS = 5_000;
/** Out of sight for so long, a page gives its connection back: browsers have six for all tabs of an address. */
const UNSEEN_MS = 5_000;
/** For so long it goes on from its place; after that too much happened to be told event by event. */
const PLACE_MS = 300_000;

export interface LiveStreamParts {
  readonly stream: (query: object, options: StreamOptions) => Events;
  /** Of the page; `visibilitychange` tells when it comes into sight and out of it. */
  readonly sight: EventTarget & { readonly hidden: boolean };
  readonly onEvent: (event: TrackingEvent) => void;
  /** Told when it is on, and when it should be and has not been for a while. */
  readonly onState: (isOn: boolean) => void;
  /** Told when it begins with the page: what was read until then may be older than what it tells. */
  readonly onBeginning: () => void;
  /** Told when it goes on after something that it does not tell. */
  readonly onGap: () => void;
  /** Told why it was refused, each time. */
  readonly onRefusal: (error: unknown) => void;
}

/** Events as they happen, while somebody can see the page. It goes on where it was, or says that it does not. */
export class LiveStream {
  private readonly ended = new AbortController();
  private place: string | undefined;
  /** When everything until then was told, in milliseconds. */
  private toldUntil = Date.now();
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
      await this.untilSeen();
      if (signal.aborted) return;
      this.expectConnection();
      const unseen = new AbortController();
      const forget = this.whenUnseen(() => unseen.abort());
      try {
        await this.tell(AbortSignal.any([signal, unseen.signal]));
      } catch (error) {
        if (!signal.aborted && !unseen.signal.aborted) {
          // Its place may be what was refused.
          this.place = undefined;
          this.parts.onRefusal(error);
        }
      }
      forget();
      if (!signal.aborted && !unseen.signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  private async tell(signal: AbortSignal): Promise<void> {
    const wait = Date.now() - this.toldUntil;
    const lastEventId = wait > PLACE_MS ? undefined : this.place;
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
    if (this.isFirst && Date.now() - this.toldUntil < AWAY_MS) this.parts.onBeginning();
    else this.parts.onGap();
  }

  private connection(isOpen: boolean): void {
    if (isOpen) {
      clearTimeout(this.away);
      this.away = undefined;
      this.parts.onState(true);
      return;
    }
    this.toldUntil = Date.now();
    // Out of sight it gives its connection back itself.
    if (!this.ended.signal.aborted && !this.parts.sight.hidden) this.expectConnection();
  }

  private expectConnection(): void {
    this.away ??= setTimeout(() => this.parts.onState(false), AWAY_MS);
  }

  private async untilSeen(): Promise<void> {
    const { sight } = this.parts;
    const { signal } = this.ended;
    while (sight.hidden && !signal.aborted) {
      await new Promise((resolve) => {
        sight.addEventListener('visibilitychange', resolve, { once: true, signal });
        signal.addEventListener('abort', resolve, { once: true });
      });
    }
  }

  /** @returns what makes it forget that */
  private whenUnseen(act: () => void): () => void {
    const { sight } = this.parts;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (sight.hidden) timer = setTimeout(act, UNSEEN_MS);
    };
    sight.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      sight.removeEventListener('visibilitychange', look);
    };
  }
}
