import type { StreamOptions, TrackingEvent } from '@tracking/client';

/** A stream, for tests, whose connections are opened, told and ended by hand. */
export class Streams {
  readonly begun: Connection[] = [];
  readonly open = (_query: object, options: StreamOptions) => {
    const connection = new Connection(options);
    this.begun.push(connection);
    return connection;
  };
  get last(): Connection {
    const last = this.begun.at(-1);
    if (last === undefined) throw new Error('nothing was begun');
    return last;
  }
}

class Connection implements AsyncIterable<TrackingEvent> {
  lastEventId: string | undefined;
  private readonly failed: Promise<never>;
  private fail: (error: unknown) => void = () => undefined;
  private told: (event: TrackingEvent) => void = () => undefined;

  constructor(readonly options: StreamOptions) {
    this.lastEventId = options.lastEventId;
    this.failed = new Promise((_, reject) => (this.fail = reject));
    options.signal?.addEventListener('abort', () => this.end(options.signal?.reason));
  }

  opens(): void {
    this.options.onConnection?.(true);
  }

  tells(id: string): void {
    this.lastEventId = id;
    this.told({ id } as TrackingEvent);
  }

  end(error: unknown): void {
    this.options.onConnection?.(false);
    this.fail(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TrackingEvent, void, undefined> {
    for (;;) yield await Promise.race([this.failed, new Promise<TrackingEvent>((resolve) => (this.told = resolve))]);
  }
}
