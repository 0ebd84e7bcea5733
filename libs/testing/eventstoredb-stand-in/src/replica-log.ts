import type {
  AppendResult,
  CatchUpOptions,
  EventBatch,
  EventStore,
  ExpectedRevision,
  NewEvent,
  Position,
  StoredEvent,
} from '@tracking/ports';

/** Position before the first event, for a copy that was paused while the log was empty. */
const LOG_START_POSITION: Position = '';

/**
 * The copy of the log that one node of a cluster has. Replication to the copy can be paused: reads then end at the last
 * event that the copy received. Appends go to the log of the leader.
 */
export class ReplicaEventLog implements EventStore {
  /** Position of the last event of a paused copy; undefined while the copy is complete. */
  private end: Position | undefined;
  private resumed = Promise.withResolvers<void>();

  constructor(private readonly log: EventStore) {}

  async pauseLogReplicationToNode(): Promise<void> {
    this.end ??= (await this.log.head()) ?? LOG_START_POSITION;
  }

  resumeReplication(): void {
    this.end = undefined;
    this.resumed.resolve();
    this.resumed = Promise.withResolvers<void>();
  }

  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult> {
    return this.log.append(stream, expected, events);
  }

  async read(
    stream: string,
    range?: { readonly from?: number; readonly to?: number },
  ): Promise<readonly StoredEvent[]> {
    const events = await this.log.read(stream, range);
    const { end } = this;
    return end === undefined ? events : events.filter(({ position }) => position <= end);
  }

  async readLastRevision(stream: string): Promise<number | undefined> {
    return this.end === undefined ? this.log.readLastRevision(stream) : (await this.read(stream)).at(-1)?.revision;
  }

  async *catchUp(options: CatchUpOptions): AsyncGenerator<EventBatch> {
    const { signal } = options;
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    for await (const batch of this.log.catchUp(options)) {
      let { events } = batch;
      while (this.end !== undefined && batch.position > this.end && !signal.aborted) {
        const { end, resumed } = this;
        const received = events.filter(({ position }) => position <= end);
        events = events.slice(received.length);
        yield { events: received, position: end, caughtUp: true };
        await Promise.race([resumed.promise, aborted]);
      }
      if (signal.aborted) return;
      yield { ...batch, events };
    }
  }

  async head(): Promise<Position | undefined> {
    const head = await this.log.head();
    if (this.end === undefined) return head;
    return this.end === LOG_START_POSITION ? undefined : this.end;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
