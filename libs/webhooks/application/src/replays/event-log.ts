import type { PublishedEvent, Scope, Timestamp } from '@tracking/contracts';
import type { Position } from '@tracking/ports';

/** An event of the log, without its data. */
export interface LoggedEventRow {
  readonly id: string;
  readonly type: string;
  readonly created_at: Timestamp;
  /** In the order of the log; as texts they sort as that does. */
  readonly position: string;
  /** The whole is made again from here. */
  readonly stream: string;
  readonly revision: number;
}

export interface EventLogQuery {
  /** Any of these. */
  readonly types: readonly string[];
  /** Bounds of `created_at`, inclusive; none where null. */
  readonly since: Timestamp | null;
  readonly until: Timestamp | null;
  /** Only those up to this position in the event store. */
  readonly upTo: Position;
  /** Only those behind this position; null at the beginning. */
  readonly after: string | null;
  readonly limit: number;
}

/** The published events of a scope, whether or not an endpoint wanted them, for as long as they are kept. */
export interface EventLog {
  /**
   * In the order in which they were published; `next` is null after the last.
   * @throws Unavailable, Busy, also where events up to that position may still be lacking
   */
  page(
    scope: Scope,
    query: EventLogQuery,
  ): Promise<{ readonly events: readonly LoggedEventRow[]; readonly next: string | null }>;
  /** In the order asked for; those that cannot be made are left out. @throws Unavailable */
  make(events: readonly LoggedEventRow[]): Promise<readonly PublishedEvent[]>;
  /** Those of the ids that are kept, as {@link page} answers them. @throws Unavailable */
  find(scope: Scope, ids: readonly string[]): Promise<readonly LoggedEventRow[]>;
}
