import type { CatchUpOptions, EventBatch, EventStore, Position } from '@tracking/ports';
import { pauseFor } from '@tracking/resilience';

/** A common read begins when no further partition has joined for this time in milliseconds. */
const WAIT_FOR_PARTITIONS_JOINING_COMMON_READ_MS = 500;

/**
 * Reads the stored events once for all partitions of a subscriber that start at the same position, as those of a
 * rebuild do. Otherwise, the event store would search the whole log once for each partition. When the common read has
 * reached the end of the log, each partition continues by itself.
 */
export class SharedPartitionCatchUp {
  /** Reads that have not started, by the position where they will start; an empty text is the start of the log. */
  private readonly forming = new Map<Position, SharedLogRead>();

  /** @param waitForJoins resolves when further partitions have had time to join */
  constructor(
    private readonly eventStore: Pick<EventStore, 'catchUp'>,
    private readonly waitForJoins = () => pauseFor(WAIT_FOR_PARTITIONS_JOINING_COMMON_READ_MS),
  ) {}

  /** Iterates like {@link EventStore.catchUp}. Until the end of the log, the slowest partition delays the others. */
  async *catchUp(options: CatchUpOptions): AsyncGenerator<EventBatch> {
    const { signal } = options;
    let { after } = options;
    const reader = new SharedReadParticipant(options.streamPrefixes);
    const leave = () => reader.leaveSharedCatchUp();
    signal.addEventListener('abort', leave);
    try {
      if (signal.aborted) return;
      this.joinOrOpenSharedRead(after).addSharedLogReader(reader);
      for (let batch = await reader.readNextBatch(); batch !== undefined; batch = await reader.readNextBatch()) {
        after = batch.position;
        yield batch;
      }
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
    if (!signal.aborted) yield* this.eventStore.catchUp({ ...options, after });
  }

  private joinOrOpenSharedRead(after: Position | undefined): SharedLogRead {
    const key = after ?? '';
    const known = this.forming.get(key);
    if (known !== undefined) return known;
    const read = new SharedLogRead();
    this.forming.set(key, read);
    void read.waitUntilNoFurtherReaderJoins(this.waitForJoins).then(() => {
      this.forming.delete(key);
      return read.readLogForAllReaders(this.eventStore, after);
    });
    return read;
  }
}

/** One read of the log for several readers. */
class SharedLogRead {
  private readonly readers: SharedReadParticipant[] = [];

  addSharedLogReader(reader: SharedReadParticipant): void {
    this.readers.push(reader);
  }

  /**
   * Waits until no further reader joins. On a busy machine, partitions can begin seconds after each other. Each of them
   * joins once.
   */
  async waitUntilNoFurtherReaderJoins(waitForJoins: () => Promise<void>): Promise<void> {
    for (let joined = -1; joined < this.readers.length;) {
      joined = this.readers.length;
      await waitForJoins();
    }
  }

  /** Reads until the end of the log, or until all readers have left. Never rejects. */
  async readLogForAllReaders(eventStore: Pick<EventStore, 'catchUp'>, after: Position | undefined): Promise<void> {
    if (this.readers.every(({ hasEnded }) => hasEnded)) return;
    const ending = new AbortController();
    const streamPrefixes = this.readers.flatMap((reader) => reader.streamPrefixes);
    void Promise.all(this.readers.map((reader) => reader.left)).then(() => ending.abort());
    try {
      for await (const batch of eventStore.catchUp({ after, streamPrefixes, signal: ending.signal })) {
        await Promise.all(this.readers.map((reader) => reader.deliverBatchToReader(batch)));
        if (batch.caughtUp) break;
      }
      for (const reader of this.readers) reader.endSharedLogRead();
    } catch (error) {
      for (const reader of this.readers) reader.passErrorToReader(error);
    }
  }
}

/** A partition that takes part in a common read. */
class SharedReadParticipant {
  private asked = Promise.withResolvers<void>();
  private answer = Promise.withResolvers<EventBatch | undefined>();
  private readonly leaving = Promise.withResolvers<void>();
  hasEnded = false;

  constructor(readonly streamPrefixes: readonly string[]) {}

  get left(): Promise<void> {
    return this.leaving.promise;
  }

  /** Returns the next batch; undefined if the common read has ended or the reader has left. */
  readNextBatch(): Promise<EventBatch | undefined> {
    const { promise } = this.answer;
    this.asked.resolve();
    return promise;
  }

  /** Resolves when the reader has asked for the batch and received it, or has left. */
  async deliverBatchToReader({ events, ...batch }: EventBatch): Promise<void> {
    await this.asked.promise;
    if (this.hasEnded) return;
    const { answer } = this;
    this.asked = Promise.withResolvers();
    this.answer = Promise.withResolvers();
    const isOwn = (stream: string) => this.streamPrefixes.some((prefix) => stream.startsWith(prefix));
    answer.resolve({ ...batch, events: events.filter(({ stream }) => isOwn(stream)) });
  }

  endSharedLogRead(): void {
    this.hasEnded = true;
    this.answer.resolve(undefined);
  }

  /** The reader receives the error with its next call. */
  passErrorToReader(error: unknown): void {
    this.answer.promise.catch(() => undefined);
    this.answer.reject(error);
  }

  leaveSharedCatchUp(): void {
    this.endSharedLogRead();
    this.asked.resolve();
    this.leaving.resolve();
  }
}
