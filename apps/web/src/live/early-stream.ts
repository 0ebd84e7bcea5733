import type { StreamOptions, TrackingEvent } from '@tracking/client';

/** Events as they are told, and where that has got to. */
export interface Events extends AsyncIterable<TrackingEvent> {
  readonly lastEventId: string | undefined;
}
export type OpenEvents = (query: object, options: StreamOptions) => Events;

/** A page that has not come by then does not come. */
const WAIT_MS = 30_000;

/** A stream that is opened before the page that follows it: what the page reads is read when it has begun. */
export class EarlyStream {
  isOpen = false;
  private readonly ended = new AbortController();
  private readonly events: Events;
  private readonly told: AsyncIterator<TrackingEvent>;
  private readonly first: Promise<IteratorResult<TrackingEvent>>;
  private readonly waiting = setTimeout(() => this.stop(), WAIT_MS);
  private onConnection: (isOpen: boolean) => void;

  /** @param onOpen told where it opens before it is followed */
  constructor(open: OpenEvents, onOpen: () => void) {
    this.onConnection = (isOpen) => isOpen && onOpen();
    const onConnection = (isOpen: boolean) => {
      this.isOpen = isOpen;
      this.onConnection(isOpen);
    };
    this.events = open({}, { signal: this.ended.signal, onConnection });
    this.told = this.events[Symbol.asyncIterator]();
    this.first = this.told.next();
    // Whoever follows it is told.
    this.first.catch(() => undefined);
  }

  get isOver(): boolean {
    return this.ended.signal.aborted;
  }

  stop(): void {
    clearTimeout(this.waiting);
    this.ended.abort();
  }

  /** As if it were opened now. Once. */
  follow({ signal, onConnection = () => undefined }: StreamOptions): Events {
    clearTimeout(this.waiting);
    signal?.addEventListener('abort', () => this.ended.abort(signal.reason));
    const { events, told, first } = this;
    return {
      get lastEventId() {
        return events.lastEventId;
      },
      [Symbol.asyncIterator]: () => {
        this.onConnection = onConnection;
        if (this.isOpen) onConnection(true);
        let next: typeof first | undefined = first;
        return {
          next: () => {
            const now = next ?? told.next();
            next = undefined;
            return now;
          },
          return: async () => {
            this.stop();
            return { done: true, value: undefined };
          },
        };
      },
    };
  }
}
